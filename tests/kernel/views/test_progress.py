"""Progress: what is done, in memory, failed and waiting, by prefix or group."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dask_diag_lab.records import STATES
from dask_diag_lab.views.base import ArgumentError
from dask_diag_lab.views.look import DARK, LIGHT, Look
from dask_diag_lab.views.palette import data_colors, prefix_color
from dask_diag_lab.views.tasks.progress import Progress
from dask_diag_lab.views.tasks.progress_bars import SEGMENTS, segment_edges
from tests.kernel.views.situations import GIB, MIB, Page, batch, group, prefix, store_of


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
        group("load-1", "load", memory=5),
        group("sum-1", "sum", ["load-1"], waiting=50),
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


def test_a_prefix_that_runs_again_goes_on_from_what_was_done() -> None:
    store = store_of(prefixes=[prefix("abs", forgotten=300)])
    view = Progress(store)
    page = Page(view)
    assert view.cells.model.data["value"] == ["300 / 300"]
    store.apply(batch(prefixes=[prefix("abs", waiting=100, forgotten=300)]))
    page.sent()
    assert view.cells.model.data["value"] == ["300 / 400"]
    assert shares(view) == pytest.approx([0.75] * len(SEGMENTS))


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
