"""Parts of a graph beside each other: in the shape of the pane, and without overlap."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from dask_diag_lab.views.tasks.layout.packing import packed, rounded_shape

Size = tuple[int, float]


def cells(sizes: Sequence[Size], shape: float, taken: Sequence[float] = ()) -> list[Size]:
    """Return all cells that parts take; none may be taken twice."""
    corners = packed(sizes, shape, taken)
    return [
        (column + x, row + y)
        for (column, row), (columns, rows) in zip(corners, sizes, strict=True)
        for x in range(columns)
        for y in range(int(rows))
    ]


def extent(taken: Sequence[Size]) -> tuple[int, float]:
    return max(x for x, _ in taken) + 1, max(y for _, y in taken) + 1


@pytest.mark.parametrize("shape", [0.25, 1.0, 4.0])
@pytest.mark.parametrize("n", [1, 7, 100, 900, 5000])
def test_equal_parts_fill_the_shape(n: int, shape: float) -> None:
    columns, rows = extent(cells([(1, 1)] * n, shape))
    assert columns * rows <= 1.3 * n + 3
    assert columns / rows == pytest.approx(shape, rel=0.5) or n < 10


@pytest.mark.parametrize("n", [200, 2000])
def test_parts_never_overlap_and_fill_most_of_the_room(n: int) -> None:
    rng = random.Random(3)
    sizes = [(rng.randint(1, 5), rng.randint(1, 9)) for _ in range(n)]
    taken = cells(sizes, 1.6)
    assert len(set(taken)) == len(taken)
    columns, rows = extent(taken)
    assert columns * rows < 1.4 * len(taken)


def test_what_is_taken_already_stays_free_of_others() -> None:
    taken = [6.0, 3.0, 3.0]
    for column, row in cells([(2, 1)] * 9, 1.0, taken):
        assert column >= 3 or row >= taken[column]


def test_small_parts_go_beside_a_high_one_and_not_below_it() -> None:
    first, high, last = packed([(2, 1), (4, 60), (2, 1)], 1.5)
    assert list(high) == [0, 0]
    assert min(first[0], last[0]) >= 4
    assert max(first[1], last[1]) < 60


def test_a_narrow_pane_has_all_in_one_column() -> None:
    assert {column for column, _ in packed([(1, 1)] * 5, 0.1)} == {0}


def test_equal_input_has_equal_places() -> None:
    sizes: list[Size] = [(3, 2), (1, 1), (2, 5), (1, 1)]
    assert packed(sizes, 1.4) == packed(sizes, 1.4)
    assert packed([], 1.0) == []


def test_shape_is_told_in_coarse_steps() -> None:
    assert rounded_shape(800, 400) == rounded_shape(830, 410) == 2
    assert rounded_shape(400, 800) == 0.5


def one_by_one(sizes: Sequence[Size], width: int) -> list[Size]:
    """Return corners in so many columns: each part as far up, then as far left as it can."""
    heights = [0.0] * width
    corners = []
    for columns, rows in sizes:
        tops = [max(heights[at : at + columns]) for at in range(width - columns + 1)]
        column = tops.index(min(tops))
        corners.append((column, tops[column]))
        heights[column : column + columns] = [tops[column] + rows] * columns
    return corners


@pytest.mark.parametrize("seed", range(5))
def test_equal_parts_that_are_placed_at_once_lie_as_if_placed_one_by_one(seed: int) -> None:
    rng = random.Random(seed)
    sizes: list[Size] = [rng.choice([(1, 2), (3, 2), (2, 2)]) for _ in range(400)]
    sizes.sort(key=lambda size: size[0])
    corners = packed(sizes, 1.0)
    width = max(column + columns for (column, _), (columns, _) in zip(corners, sizes, strict=True))
    assert corners == one_by_one(sizes, width)


def test_many_parts_fill_the_height_of_a_high_one() -> None:
    corners = packed([(4, 400), *[(1, 10)] * 1500], 1.5)
    assert max(row for _, row in corners) > 250
    assert max(column for column, _ in corners) < 60
