"""Progress: what is done, in memory, failed and waiting, by prefix."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from bokeh.document.events import ModelChangedEvent

from dask_diag_lab.records import STATES, ExtraChange
from dask_diag_lab.views.base import ArgumentError
from dask_diag_lab.views.look import DARK, LIGHT, Look
from dask_diag_lab.views.palette import data_colors, prefix_color
from dask_diag_lab.views.tasks.progress import Progress
from dask_diag_lab.views.tasks.progress_bars import SEGMENTS, fit_grid, segment_edges
from dask_diag_lab.views.tasks.progress_estimate import MAX_OVERHEAD_S, Begun, estimate
from tests.kernel.views.conftest import Feed
from tests.kernel.views.situations import GIB, MIB, Page, batch, group, prefix, store_of, worker


def shares(view: Progress, row: int = 0) -> list[float]:
    """Return where each segment of a bar ends, as a share of it."""
    data = view.cells.model.data
    x0, x1 = float(data["x0"][row]), float(data["x1"][row])
    return [(float(data[f"edge{i}"][row]) - x0) / (x1 - x0) for i in range(len(SEGMENTS))]


def test_segments_come_in_the_order_of_the_stock_dashboard() -> None:
    row = prefix("inc", released=10, memory=20, erred=10, processing=20, queued=10, no_worker=10)
    row["states"][STATES.index("waiting")] = 20
    view = Progress(store_of(prefixes=[row]))
    Page(view)
    assert SEGMENTS == ("released", "memory", "erred", "processing", "queued", "no-worker")
    assert shares(view) == pytest.approx([0.1, 0.3, 0.4, 0.6, 0.7, 0.8])


def test_forgotten_tasks_stay_counted_as_done() -> None:
    store = store_of(prefixes=[prefix("inc", memory=10)])
    view = Progress(store)
    page = Page(view)
    assert view.cells.model.data["value"] == ["10 / 10"]
    store.apply(batch(prefixes=[prefix("inc", forgotten=10)]))
    page.sent()
    assert view.cells.model.data["value"] == ["10 / 10"]
    assert shares(view)[0] == pytest.approx(1)
    assert "10 released, 10 of them forgotten" in view.cells.model.data["hover1"]


@pytest.mark.parametrize("look", [LIGHT, DARK])
def test_one_error_in_a_million_is_visible(look: Look) -> None:
    view = Progress(store_of(prefixes=[prefix("inc", memory=999_999, erred=1)]), look)
    Page(view)
    data = view.cells.model.data
    assert float(data["edge2"][0]) - float(data["erred"][0]) >= 2.9
    assert data["edge2"][0] <= data["x1"][0] + 1e-6
    assert data["value"][0].startswith("1 erred")
    assert view.glyphs.segments[2].fill_color == data_colors(look).erred
    assert view.glyphs.segments[2].line_color == data_colors(look).erred_mark


def test_prefix_without_errors_draws_none() -> None:
    view = Progress(store_of(prefixes=[prefix("inc", memory=5)]))
    Page(view)
    assert math.isnan(view.cells.model.data["erred"][0])


def test_states_that_are_not_done_differ_by_more_than_colour() -> None:
    view = Progress(store_of(prefixes=[prefix("inc", queued=5)]))
    Page(view)
    patterns = {n: g.hatch_pattern for n, g in zip(SEGMENTS, view.glyphs.segments, strict=True)}
    assert patterns["processing"] is None
    assert patterns["queued"] == patterns["no-worker"] == "right_diagonal_line"


def test_prefixes_are_ordered_by_their_number_of_tasks_or_by_flow() -> None:
    groups = [
        {**prefix("load-1", memory=5), "prefix": "load", "start": 1.0, "stop": 2.0}
        | {"dependencies": []},
        {**prefix("sum-1", waiting=50), "prefix": "sum", "start": 1.0, "stop": 2.0}
        | {"dependencies": ["load-1"]},
    ]
    rows = [prefix("load", memory=5), prefix("sum", waiting=50)]
    view = Progress(store_of(prefixes=rows, groups=groups))
    Page(view)
    assert view.cells.model.data["label"] == ["sum", "load"]
    view.command("order-topological")
    assert view.cells.model.data["label"] == ["load", "sum"]
    view.command("order-size")
    assert view.cells.model.data["label"] == ["sum", "load"]
    view.command("fit")


def in_sight(view: Progress) -> list[str]:
    """Return the names of the bars that are seen whole."""
    data, (top, bottom) = view.cells.model.data, view._sight()
    cells = zip(data["hover0"], data["y"], data["end"], strict=True)
    return [name for name, y, end in cells if y >= top - 0.5 and end <= bottom + 0.5]


def test_hidden_prefixes_are_counted_and_can_be_scrolled_to() -> None:
    rows = [prefix(f"p{i}", memory=1000 - i) for i in range(300)]
    view = Progress(store_of(prefixes=rows))
    page = Page(view, 1200, 800)
    shown = len(in_sight(view))
    assert shown == 100
    assert in_sight(view)[0] == "p0"
    in_sight_tasks = sum(1000 - i for i in range(100))
    assert "prefixes 1–100 of 300, " in view.notice.note
    assert f"{in_sight_tasks:,}".replace(",", "\u202f") + " of all tasks" in view.notice.note
    top, bottom = view._sight()
    bounds = view._y.bounds
    assert isinstance(bounds, tuple)
    whole = float(str(bounds[1]))
    view._y.update(start=whole, end=whole - (bottom - top))
    page.sent()
    assert in_sight(view)[-1] == "p299"
    assert "–300 of 300, " in view.notice.note
    assert len(view.cells.model.data["y"]) < 200
    view.command("fit")
    assert in_sight(view)[0] == "p0"
    page.resize(300, 200)
    assert 14 <= len(in_sight(view)) <= 18
    page.resize(3840, 2400)
    assert len(in_sight(view)) == 300


@pytest.mark.parametrize(("size", "shown"), [((300, 140), 10), ((220, 90), 3), ((220, 60), 1)])
def test_a_tiny_pane_uses_its_room_and_says_in_a_few_words_what_is_out_of_sight(
    size: tuple[int, int], shown: int
) -> None:
    view = Progress(store_of(prefixes=[prefix(f"p{i}", memory=100 - i) for i in range(11)]))
    Page(view, *size)
    assert len(in_sight(view)) == shown
    which = "prefix 1" if shown == 1 else f"prefixes 1–{shown}"
    assert view.notice.note == f"{which} of 11, scroll for more"


def test_a_pane_that_grows_gets_its_new_bounds_before_its_range() -> None:
    view = Progress(store_of(prefixes=[prefix(f"p{i}", memory=9) for i in range(8)]))
    page = Page(view, 320, 120)
    page.events.clear()
    page.resize(320, 300)
    changes = [e for e in page.events if isinstance(e, ModelChangedEvent)]
    changed = [change.attr for change in changes if change.model is view._y]
    assert changed.index("bounds") < changed.index("start")


def test_rows_that_fit_do_not_scroll() -> None:
    view = Progress(store_of(prefixes=[prefix("a", memory=1)]))
    Page(view)
    assert view.figure.toolbar.active_scroll is None
    assert view.notice.note == ""


def test_what_runs_is_shown_before_larger_prefixes_that_ended_long_ago() -> None:
    rows = [prefix(f"old{i}", forgotten=1000 + i) for i in range(60)]
    view = Progress(store_of(prefixes=[*rows, prefix("now", processing=2, waiting=1)]))
    Page(view, 300, 200)
    assert view.cells.model.data["label"][0] == "now"


def test_a_prefix_that_runs_again_starts_at_nothing() -> None:
    store = store_of(prefixes=[prefix("abs", forgotten=300)])
    view = Progress(store)
    page = Page(view)
    assert view.cells.model.data["value"] == ["300 / 300"]
    store.apply(batch(prefixes=[prefix("abs", waiting=100, forgotten=300)]))
    page.sent()
    assert view.cells.model.data["value"] == ["0 / 100"]
    assert shares(view) == pytest.approx([0] * len(SEGMENTS))


@pytest.mark.parametrize("number", [1, 5, 14, 15, 60])
def test_bars_never_overlap_nor_leave_the_pane(number: int) -> None:
    grid, shown = fit_grid(number, 900, 450)
    x, y = grid.places(shown)
    assert len({*zip(x.tolist(), y.tolist(), strict=True)}) == shown
    assert x.max() + grid.column_px <= 900 + 1e-6
    assert y.max() + grid.row_px <= 450 + 1e-6


def test_long_name_is_elided_and_whole_in_the_hover() -> None:
    name = "a-function-with-a-very-long-name-" * 5
    view = Progress(store_of(prefixes=[prefix(name, memory=1)]))
    Page(view, 300, 200)
    data = view.cells.model.data
    assert len(data["label"][0]) < 45
    assert "…" in data["label"][0]
    assert data["hover0"] == [name]


def test_title_has_all_states_and_an_estimate() -> None:
    rows = [
        prefix("a", 2.0, waiting=40, processing=8, memory=10),
        prefix("b", 1.0, queued=24, released=5, erred=2),
    ]
    view = Progress(store_of(prefixes=rows, workers=[worker(0)], nthreads=8))
    page = Page(view, 1200, 420)
    assert page.title == (
        "89 tasks · 40 waiting · 24 queued · 8 processing · 10 in memory · 2 erred"
        " · about 15.0 s left (estimate)"
    )
    page.resize(300, 200)
    assert page.title == "17 % done · 2 erred · ≈ 15.0 s left"


@pytest.mark.parametrize(
    ("row", "nthreads"),
    [
        (prefix("a", math.nan, waiting=4), 8),
        (prefix("a", 1.0, waiting=4), 0),
        (prefix("a", 1.0, memory=4), 8),
        (prefix("a", 1.0, waiting=4, no_worker=1), 8),
    ],
)
def test_no_estimate_without_grounds_for_one(row: dict[str, object], nthreads: int) -> None:
    view = Progress(store_of(prefixes=[row], nthreads=nthreads))
    page = Page(view)
    assert " left" not in page.title


def states_of(*rows: dict[str, object]) -> np.ndarray:
    return np.array([row["states"] for row in rows])


NO_RATE = np.array([math.nan, math.nan])


def test_unknown_duration_of_what_is_done_does_not_matter() -> None:
    states = states_of(prefix("a", memory=3), prefix("b", waiting=4))
    found = estimate(states, np.array([math.nan, 2.0]), NO_RATE, 4)
    assert (found.seconds, found.n_unknown) == (2.0, 0)


def test_prefixes_that_have_not_begun_make_it_a_lower_bound() -> None:
    rows = [prefix("a", 2.0, waiting=40), prefix("b", math.nan, waiting=9)]
    page = Page(Progress(store_of(prefixes=rows, nthreads=8)), 1200, 420)
    assert page.title.endswith("at least 10.0 s left (estimate; speed of 1 prefix unknown)")


def test_tasks_of_microseconds_are_reckoned_by_how_fast_they_end() -> None:
    states = states_of(prefix("a", waiting=100_000), prefix("b", memory=1))
    duration = np.array([10e-6, 1.0])
    slow = estimate(states, duration, np.array([1000.0, math.nan]), 8)
    assert slow.seconds == pytest.approx(100.0)
    assert estimate(states, duration, NO_RATE, 8).seconds < 1.0


def test_threads_that_are_busy_with_long_tasks_have_no_overhead() -> None:
    states = states_of(prefix("a", waiting=80), prefix("b", memory=1))
    found = estimate(states, np.array([4.0, 1.0]), np.array([2.0, 0.0]), 8)
    assert found.seconds == pytest.approx(40.0)


def test_what_runs_has_some_of_its_time_behind_it() -> None:
    states = np.zeros((2, len(STATES)), dtype=np.int64)
    states[0, [STATES.index("processing"), STATES.index("memory")]] = (4, 4)
    states[1, STATES.index("memory")] = 1
    grounds = (states, np.array([30.0, 1.0]), np.array([np.nan, np.nan]), 4)
    assert estimate(*grounds).seconds == 30
    elapsed = np.array([25.0, 20.0, 22.0, 24.0])
    one_wave = estimate(*grounds, Begun(np.zeros(4, dtype=np.int64), elapsed))
    assert one_wave.seconds == pytest.approx(10)  # that of the task that began last
    late = estimate(*grounds, Begun(np.zeros(4, dtype=np.int64), elapsed + 100))
    assert late.seconds == pytest.approx(3)  # late ones are not taken to be done
    states[0, STATES.index("waiting")] = 4
    two_waves = estimate(*grounds, Begun(np.zeros(4, dtype=np.int64), elapsed))
    assert two_waves.seconds == pytest.approx((8 * 30 - elapsed.sum()) / 4)


def test_running_tasks_of_unknown_duration_are_left_out_without_a_warning() -> None:
    states = np.zeros((2, len(STATES)), dtype=np.int64)
    states[:, STATES.index("processing")] = (2, 1)
    begun = Begun(np.array([0, 0, 1]), np.array([1.0, 4.0, 9.0]))
    told = estimate(states, np.array([10.0, np.nan]), np.array([np.nan, np.nan]), 2, begun)
    assert (told.seconds, told.n_unknown) == (9, 1)


def test_time_left_goes_down_while_tasks_run(feed: Feed) -> None:
    rows = [prefix("inc", processing=1, memory=3, duration=30.0)]
    feed.send(5.0, running=[("inc-a", "tcp://w0:1", "inc", 0.0)], prefixes=rows)
    page = Page(Progress(feed.store))
    assert "25.0 s left" in page.title
    assert page.sent() == []
    feed.now += 15.0
    page.sent()
    assert "10.0 s left" in page.title


def test_want_of_work_is_not_taken_for_overhead() -> None:
    states = states_of(prefix("a", waiting=10), prefix("b", memory=1))
    found = estimate(states, np.array([0.5, 1.0]), np.array([0.1, 0.0]), 100)
    assert found.seconds <= max(10 * (0.5 + MAX_OVERHEAD_S) / 100, 0.5)


def test_bars_by_group_have_the_colour_of_their_prefix() -> None:
    groups = [group("x-1", "x", memory=4), group("x-2", "x", ["x-1"], waiting=9)]
    store = store_of(prefixes=[prefix("x", memory=4, waiting=9)], groups=groups)
    view = Progress(store)
    Page(view)
    assert view.cells.model.data["hover0"] == ["x"]
    view.command("by-group")
    data = view.cells.model.data
    assert data["hover0"] == ["x-2", "x-1"]
    assert data["value"] == ["0 / 9", "4 / 4"]
    assert set(data["color"]) == {prefix_color(store.palette.index("x"), LIGHT)}
    view.command("order-topological")
    assert view.cells.model.data["hover0"] == ["x-1", "x-2"]
    assert view.table().columns["group"] == ["x-1", "x-2"]
    assert view._kinds.value == "group"
    assert view._orders.value == "topological"


def test_a_group_that_the_scheduler_dropped_stays_as_done_and_of_more_it_is_said() -> None:
    groups = [group("x-1", "x", memory=4), group("x-2", "x", ["x-1"], waiting=9)]
    store = store_of(prefixes=[prefix("x", memory=4, waiting=9)], groups=groups)
    view = Progress(store, arguments={"by": "group", "order": "topological"})
    Page(view)
    assert view.notice.note == ""
    gone = [group("x-1", "x", forgotten=4)]
    store.apply(batch(groups=gone, left_out={"groups": 2}))
    view.update()
    data = view.cells.model.data
    assert (data["hover0"], data["value"]) == (["x-1", "x-2"], ["4 / 4", "0 / 9"])
    assert view.notice.note == "2 older groups that ended not kept"
    view.command("by-prefix")
    assert view.notice.note == ""


def spans(*rows: tuple[str, float, dict[str, int]]) -> dict[str, ExtraChange]:
    """Return the extra table of spans: name, start and tasks by state."""
    counts = [tuple(given.get(state, 0) for state in STATES) for _, _, given in rows]
    n = len(rows)
    columns: dict[str, list[Any]] = {  # columns differ in type
        "id": [str(i) for i in range(n)],
        "name": [name for name, _, _ in rows],
        "parent": [""] * n,
        "start": [start for _, start, _ in rows],
        "stop": [math.nan] * n,
        "states": counts,
        "nbytes": [MIB] * n,
        "seconds": [10.0] * n,
        "groups": [()] * n,
    }
    return {"spans": ExtraChange(columns)}


def test_arguments_choose_bars_and_order() -> None:
    store = store_of(prefixes=[prefix("inc", memory=3)], groups=[group("inc-1", "inc", memory=3)])
    view = Progress(store, LIGHT, {"by": "group", "order": "topological"})
    Page(view)
    assert (view.kind, view.order) == ("group", "topological")
    assert view.cells.model.data["label"] == ["inc-1"]
    view.show({"by": "prefix"})
    view.update()
    assert (view.kind, view.order) == ("prefix", "topological")
    assert view.cells.model.data["label"] == ["inc"]
    with pytest.raises(ArgumentError, match="“order” is one of “size”, “topological”, not “x”"):
        view.show({"order": "x"})


def test_bars_by_span_come_by_tasks_or_by_begin() -> None:
    known = spans(("first", 1.0, {"memory": 5}), ("later", math.nan, {"waiting": 9}))
    view = Progress(store_of(prefixes=[prefix("x", memory=5, waiting=9)], extras=known))
    page = Page(view)
    view._kinds.value = "span"
    page.sent()
    assert view.cells.model.data["hover0"] == ["later", "first"]
    assert view.cells.model.data["hover8"] == ["", "2.00 s a task on average"]
    view.command("order-topological")
    assert view.cells.model.data["hover0"] == ["first", "later"]


def test_spans_that_are_not_there_are_told_from_those_that_have_not_come() -> None:
    store = store_of(prefixes=[prefix("x", memory=5)])
    view = Progress(store)
    page = Page(view)
    view.command("by-span")
    assert view.notice.empty.startswith("Waiting")
    store.apply(batch(extras=spans()))
    page.sent()
    assert "distributed.span" in view.notice.empty
    view.command("by-prefix")
    assert view.notice.empty == ""


def test_odd_names_are_visible() -> None:
    rows = [prefix("a\nb", memory=9), prefix(" ", memory=8), prefix("<i>x</i>", memory=7)]
    view = Progress(store_of(prefixes=rows))
    Page(view)
    assert view.cells.model.data["label"] == ["a␤b", "(blank)", "<i>x</i>"]


def test_bytes_in_memory_are_told_with_the_results() -> None:
    view = Progress(store_of(prefixes=[prefix("a", memory=1, released=3, nbytes=MIB)]))
    Page(view)
    assert view.cells.model.data["hover6"] == ["1 in memory: 1.00 MiB"]


def test_edges_of_a_prefix_without_tasks_are_finite() -> None:
    assert np.isfinite(segment_edges(np.zeros((1, len(STATES)), dtype=np.int64), 0.01)).all()


@pytest.mark.parametrize("look", [LIGHT, DARK])
def test_text_has_a_contrast_of_at_least_four_and_a_half(look: Look) -> None:
    view = Progress(store_of(prefixes=[prefix("a", memory=3)]), look)
    Page(view)
    assert view.glyphs.value.text_color == look.foreground
    assert contrast(look.foreground, look.background) >= 4.5


def test_colour_is_that_of_the_prefix_everywhere() -> None:
    store = store_of(prefixes=[prefix("a", memory=3), prefix("b", memory=9)])
    view = Progress(store)
    Page(view)
    expected = [prefix_color(store.palette.index(name), LIGHT) for name in ("b", "a")]
    assert view.cells.model.data["color"] == expected
    view.look = DARK
    view.restyle()
    dark = [prefix_color(store.palette.index(name), DARK) for name in ("b", "a")]
    assert view.cells.model.data["color"] == dark


def test_nothing_is_sent_when_nothing_changed() -> None:
    rows = [prefix("a", memory=3, nbytes=GIB)]
    store = store_of(prefixes=rows)
    page = Page(Progress(store))
    assert page.sent() == []
    store.apply(batch(prefixes=rows))
    assert page.sent() == []
    store.apply(batch(prefixes=[prefix("a", memory=4, nbytes=GIB)]))
    assert page.sent()


def test_no_tasks_is_explained() -> None:
    store = store_of()
    page = Page(Progress(store))
    assert page.view.notice.empty.startswith("No tasks yet")
    store.apply(batch(prefixes=[prefix("a", memory=4)]))
    page.sent()
    assert page.view.notice.empty == ""


def test_table_has_every_state() -> None:
    table = Progress(store_of(prefixes=[prefix("a", memory=3, forgotten=2)])).table()
    assert table.columns["done"] == [5]
    assert table.columns["total"] == [5]
    assert table.columns["duration"] == [None]
    assert set(STATES) <= set(table.columns)


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of WCAG 2."""
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def luminance(color: str) -> float:
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
