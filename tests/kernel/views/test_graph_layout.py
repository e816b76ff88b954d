"""The layout: layers by depth, few crossings, what is placed stays, nothing overlaps."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest

from dask_diag_lab.views.tasks.layout.free_rows import FreeRows
from dask_diag_lab.views.tasks.layout.growth import no_places
from dask_diag_lab.views.tasks.layout.laid_out import laid_out
from dask_diag_lab.views.tasks.layout.named_layout import Place, place_nodes
from dask_diag_lab.views.tasks.layout.part_layout import spread

Edges = npt.NDArray[np.int64]


def as_edges(pairs: Sequence[tuple[int, int]]) -> Edges:
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def tree(n_leaves: int, rng: random.Random) -> tuple[list[str], Edges]:
    """Return a binary reduction whose leaves come in a random order."""
    names = [f"leaf-{i}" for i in range(n_leaves)]
    rng.shuffle(names)
    index = {name: i for i, name in enumerate(names)}
    level = [f"leaf-{i}" for i in range(n_leaves)]
    pairs: list[tuple[int, int]] = []
    while len(level) > 1:
        above = []
        for left, right in zip(level[::2], level[1::2], strict=True):
            index[f"({left} {right})"] = len(names)
            names.append(f"({left} {right})")
            pairs += [(index[left], len(names) - 1), (index[right], len(names) - 1)]
            above.append(names[-1])
        level = above
    return names, as_edges(pairs)


def crossings(names: Sequence[str], edges: Edges, places: dict[str, Place]) -> int:
    lines = [(places[names[a]], places[names[b]]) for a, b in edges.tolist()]
    return sum(
        (a[1] - c[1]) * (b[1] - d[1]) < 0
        for i, (a, b) in enumerate(lines)
        for c, d in lines[:i]
        if a[0] == c[0] and b[0] == d[0]
    )


def assert_no_overlap(places: dict[str, Place]) -> None:
    layers: dict[float, list[float]] = {}
    for x, y in places.values():
        layers.setdefault(x, []).append(y)
    for rows in layers.values():
        assert all(b - a >= 1 - 1e-6 for a, b in pairwise(sorted(rows)))


def test_depth_is_one_more_than_that_of_the_deepest_dependency() -> None:
    places = place_nodes("abcd", as_edges([(0, 1), (1, 2), (0, 3), (2, 3)]), {})
    assert [places[name][0] for name in "abcd"] == [0, 1, 2, 3]


def test_reduction_is_drawn_without_crossings_whatever_the_order_of_its_leaves() -> None:
    names, edges = tree(64, random.Random(4))
    places = place_nodes(names, edges, {})
    assert crossings(names, edges, places) == 0
    assert_no_overlap(places)


def test_placed_nodes_stay_when_others_come() -> None:
    names, edges = tree(32, random.Random(1))
    before = place_nodes(names, edges, {})
    more = [*names, *(f"new-{i}" for i in range(200)), *(f"alone-{i}" for i in range(50))]
    added = as_edges([(i % 32, len(names) + i) for i in range(200)])
    after = place_nodes(more, np.vstack([edges, added]), before)
    assert {name: after[name] for name in names} == before
    assert len(after) == len(more)
    assert_no_overlap(after)


def test_placed_nodes_stay_when_others_go() -> None:
    before = place_nodes("abc", as_edges([(0, 1), (1, 2)]), {})
    assert place_nodes("bc", as_edges([(0, 1)]), before) == {"b": before["b"], "c": before["c"]}


def test_unconnected_newcomers_go_below_what_is_there() -> None:
    before = place_nodes("ab", as_edges([(0, 1)]), {})
    after = place_nodes("abcd", as_edges([(0, 1), (2, 3)]), before)
    assert after["c"][1] > after["a"][1]
    assert after["d"] == (1.0, after["c"][1])


def test_new_computation_starts_at_the_origin() -> None:
    before = place_nodes("ab", as_edges([(0, 1)]), {})
    assert place_nodes("c", as_edges([]), before) == {"c": (0.0, 0.0)}


def test_dependency_that_returns_goes_left_of_its_dependents() -> None:
    before = place_nodes("ab", as_edges([]), {})
    after = place_nodes("abz", as_edges([(2, 0)]), before)
    assert after["z"][0] == before["a"][0] - 1


def test_room_of_what_is_gone_closes_up_where_it_is_most_of_the_picture() -> None:
    before = {"a": (0.0, 0.0), "b": (9.0, 10_000.0), "c": (3.0, 10_000.5), "d": (9.0, 10_002.0)}
    after = place_nodes("abcd", as_edges([]), before, may_close=True)
    assert after == {"a": (0.0, 0.0), "b": (2.0, 1.0), "c": (1.0, 1.5), "d": (2.0, 2.5)}
    assert_no_overlap(after)


def test_few_gaps_leave_everything_where_it_is() -> None:
    before = {"a": (0.0, 0.0), "b": (1.0, 2.0), "c": (1.0, 3.0)}
    assert place_nodes("abc", as_edges([]), before, may_close=True) == before


def test_what_is_looked_at_does_not_close_up() -> None:
    before = {"a": (0.0, 0.0), "b": (0.0, 10_000.0)}
    after = place_nodes("abc", as_edges([]), before)
    assert {name: after[name] for name in before} == before


def test_unconnected_newcomers_begin_at_the_leftmost_layer() -> None:
    after = place_nodes("abc", as_edges([(1, 2)]), {"a": (9.0, 0.0)})
    assert [after[name][0] for name in "bc"] == [9.0, 10.0]


def test_dependents_of_one_node_are_centred_on_it() -> None:
    places = place_nodes(range(6), as_edges([(0, i) for i in range(1, 6)]), {})
    assert sorted(places[i][1] for i in range(1, 6)) == [0, 1, 2, 3, 4]
    assert places[0][1] == pytest.approx(2)


def test_spread_keeps_order_and_distance() -> None:
    assert spread([0, 0, 0]) == pytest.approx([-1, 0, 1])
    assert spread([0, 5, 5.5]) == pytest.approx([0, 4.75, 5.75])
    assert spread([]) == []


def test_free_rows_gives_the_nearest_and_fills_up() -> None:
    rows = FreeRows([0.0, 1.0, 4.0])
    assert rows.take(10.0) == 10.0
    assert rows.take(0.2) == -1.0
    assert rows.take(1.4) == 2.0
    taken = sorted(rows.take(3.0) for _ in range(50))
    assert len(set(taken)) == 50


def chains(n: int, *, first: int = 0) -> Edges:
    """Return edges of ``n`` pairs: of node i and node n + i, from ``first`` on."""
    return as_edges([(first + i, first + n + i) for i in range(n)])


def test_parts_that_nothing_connects_lie_beside_each_other_as_the_pane_is() -> None:
    for shape in (0.5, 2.0):
        places = place_nodes(range(100), chains(50), {}, shape=shape)
        x, y = zip(*places.values(), strict=True)
        assert (max(x) + 1) / (max(y) + 1) == pytest.approx(shape, rel=0.4)
        assert all(places[50 + i] == (places[i][0] + 1, places[i][1]) for i in range(50))
        assert len(set(places.values())) == 100


def test_newcomers_without_a_neighbour_fill_the_shape_and_move_nothing() -> None:
    before = place_nodes(range(30), as_edges([]), {}, shape=1.0)
    after = place_nodes(range(120), as_edges([]), before, shape=1.0, may_close=True)
    assert {name: after[name] for name in before} == before
    x, y = zip(*after.values(), strict=True)
    assert len(set(after.values())) == 120
    assert (max(x) + 1) / (max(y) + 1) == pytest.approx(1.0, rel=0.5)


def test_parts_side_by_side_that_grow_together_are_laid_out_anew() -> None:
    names = [*range(40), "sum"]
    edges = as_edges([(i, 40) for i in range(40)])
    before = place_nodes(names[:-1], as_edges([]), {}, shape=2.0)
    assert len({x for x, _ in before.values()}) > 3
    after = place_nodes(names, edges, before, shape=2.0, may_close=True)
    assert {after[name][0] for name in names[:-1]} == {0}
    assert after["sum"][0] == 1
    held = place_nodes(names, edges, before, shape=2.0)
    assert {name: held[name] for name in before} == before


def test_parts_side_by_side_that_grow_into_each_other_are_laid_out_anew() -> None:
    before = place_nodes(range(100), as_edges([]), {}, shape=1.0)
    after = place_nodes(range(200), chains(100), before, shape=1.0, may_close=True)
    assert all(after[100 + i] == (after[i][0] + 1, after[i][1]) for i in range(100))


def pair_sums(n: int) -> list[tuple[int, int, int]]:
    """Return the sums of pairs, then those of two sums: (number, of, and of), in order."""
    level = list(range(n))
    sums: list[tuple[int, int, int]] = []
    while len(level) > 1:
        pairs = zip(level[::2], level[1::2], strict=True)
        above = [(n + len(sums) + i, *pair) for i, pair in enumerate(pairs)]
        level = [number for number, _, _ in above]
        sums += above
    return sums


def running_sum(n: int) -> list[tuple[int, int, int]]:
    """Return sums of all before and one more each: (number, of, and of), in order."""
    return [(n + i, n + i - 1 if i else n - 1, i) for i in range(n - 1)]


@pytest.mark.parametrize("sums_of", [pair_sums, running_sum])
@pytest.mark.parametrize("n_ticks", [16, 127])
def test_parts_that_grow_together_slowly_seldom_move_what_is_there(
    sums_of: Callable[[int], list[tuple[int, int, int]]], n_ticks: int
) -> None:
    n = 512
    sums = sums_of(n)
    per_tick = -(-len(sums) // n_ticks)
    places = place_nodes(range(n), as_edges([]), {}, shape=1.4)
    n_moved = 0
    for count in range(per_tick, len(sums) + per_tick, per_tick):
        edges = as_edges([(of, node) for node, *both in sums[:count] for of in both])
        names = range(n + len(sums[:count]))
        after = place_nodes(names, edges, places, shape=1.4, may_close=True)
        n_moved += any(after[name] != place for name, place in places.items())
        places = after
        assert len(set(places.values())) == len(places)
        assert len(places.astray) < len(places) / 4
    assert 1 <= n_moved <= 1.5 * np.log2(n)


def test_the_smaller_of_two_joined_parts_is_astray_until_it_is_gone() -> None:
    names = [*range(40)]
    before = place_nodes(names, chains(3), {}, shape=1.0)
    edges = as_edges([*chains(3).tolist(), (3, 40), (39, 40)])
    after = place_nodes([*names, 40], edges, before, shape=1.0, may_close=True)
    assert {name: after[name] for name in names} == before
    assert 39 in after.astray
    assert 3 not in after.astray
    assert 39 not in place_nodes(names[:-1], chains(3), after, shape=1.0).astray


def test_chains_lie_in_one_row_and_equal_parts_are_alike() -> None:
    edges = as_edges([*chains(2).tolist(), (4, 6), (5, 6), (7, 9), (8, 9)])
    places = place_nodes(range(10), edges, {}, shape=1.0)
    assert all(places[i][1] == places[2 + i][1] for i in range(2))
    steps = {
        (places[b][0] - places[a][0], places[b][1] - places[a][1]) for a, b in ((4, 7), (6, 9))
    }
    assert len(steps) == 1
    assert places[6][1] - places[4][1] == 0.5
    assert len(set(places.values())) == 10


def test_only_newcomers_and_what_they_touch_are_looked_at() -> None:
    asked: list[list[int]] = []

    def ranks(nodes: npt.NDArray[np.intp]) -> Sequence[int]:
        asked.append(nodes.tolist())
        return range(len(nodes))

    before = laid_out(no_places(500), as_edges([]), ranks, shape=1.4)
    stays = before.of(np.array([*range(500), -1]))
    after = laid_out(stays, as_edges([(7, 500), (90, 500)]), ranks, shape=1.4, may_close=True)
    assert asked == [list(range(500)), [7, 90, 500]]
    assert (after.places[:500] == before.places).all()
    assert after.places[500, 0] == before.places[[7, 90], 0].max() + 1
