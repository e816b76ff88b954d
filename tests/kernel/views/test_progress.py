"""Progress: what is done, in memory, failed and waiting, by prefix."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dask_diag_lab.records import STATES
from dask_diag_lab.views.look import DARK, LIGHT, Look
from dask_diag_lab.views.palette import data_colors, prefix_color
from dask_diag_lab.views.progress import Progress
from dask_diag_lab.views.progress_bars import SEGMENTS, estimate_s, fit_grid, segment_edges
from tests.kernel.views.situations import GIB, Page, batch, prefix, store_of, worker


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
    assert view._segments[2].fill_color == data_colors(look).erred
    assert view._segments[2].line_color == data_colors(look).erred_mark


def test_prefix_without_errors_draws_none() -> None:
    view = Progress(store_of(prefixes=[prefix("inc", memory=5)]))
    Page(view)
    assert math.isnan(view.cells.model.data["erred"][0])


def test_states_that_are_not_done_differ_by_more_than_colour() -> None:
    view = Progress(store_of(prefixes=[prefix("inc", queued=5)]))
    Page(view)
    patterns = {n: g.hatch_pattern for n, g in zip(SEGMENTS, view._segments, strict=True)}
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


def test_hidden_prefixes_are_counted() -> None:
    rows = [prefix(f"p{i}", memory=100 - i) for i in range(60)]
    view = Progress(store_of(prefixes=rows))
    page = Page(view, 1200, 800)
    shown = len(view.cells.model.data["y"])
    assert 24 <= shown <= 40
    assert f"{60 - shown} prefixes" in view.notice.note
    page.resize(300, 200)
    assert 4 <= len(view.cells.model.data["y"]) <= 6
    page.resize(3840, 2160)
    assert len(view.cells.model.data["y"]) == 40


def test_what_runs_is_shown_before_larger_prefixes_that_ended_long_ago() -> None:
    rows = [prefix(f"old{i}", forgotten=1000 + i) for i in range(60)]
    view = Progress(store_of(prefixes=[*rows, prefix("now", processing=2, waiting=1)]))
    Page(view, 300, 200)
    assert view.cells.model.data["label"][0] == "now"
    assert "unfinished ones first" in view.notice.note
    view.command("order-topological")
    assert "now" in view.cells.model.data["label"]


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
    assert page.title.startswith("89 tasks · 17 % done · 2 erred")


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
    assert "estimate" not in page.title


def test_unknown_duration_of_what_is_done_does_not_matter() -> None:
    states = np.array([prefix("a", memory=3)["states"], prefix("b", waiting=4)["states"]])
    assert estimate_s(states, np.array([math.nan, 2.0]), 4) == 2.0


def test_edges_of_a_prefix_without_tasks_are_finite() -> None:
    assert np.isfinite(segment_edges(np.zeros((1, len(STATES)), dtype=np.int64), 0.01)).all()


@pytest.mark.parametrize("look", [LIGHT, DARK])
def test_text_has_a_contrast_of_at_least_four_and_a_half(look: Look) -> None:
    view = Progress(store_of(prefixes=[prefix("a", memory=3)]), look)
    Page(view)
    assert view._value.text_color == look.foreground
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
