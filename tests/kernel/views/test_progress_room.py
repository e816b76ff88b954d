"""Progress: which bars have room, how one gets to the others, and how much of a name."""

from __future__ import annotations

from dataclasses import replace

import pytest
from bokeh.document.events import ModelChangedEvent

from dask_diag_lab.views.look import LIGHT
from dask_diag_lab.views.tasks.progress import Progress
from dask_diag_lab.views.tasks.progress_bars import fit_grid
from dask_diag_lab.views.text_room import text_px
from tests.kernel.views.browser_pane import Pane, losses
from tests.kernel.views.situations import Page, prefix, store_of


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


@pytest.mark.parametrize("number", [5, 17, 46, 120])
def test_more_room_never_shows_fewer_bars(number: int) -> None:
    rows = [prefix(f"func_{i:02d}", memory=3) for i in range(number)]
    view = Progress(store_of(prefixes=rows))
    widths, heights = (280, 400, 420, 470, 480, 560, 640, 900), range(160, 701, 10)
    assert losses(Pane(view), lambda: len(in_sight(view)), widths, heights) == []


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


@pytest.mark.parametrize("name", ["LOAD_AND_NORMALIZE_" * 4, "读取数据" * 12, "wm" * 40])
@pytest.mark.parametrize(("size", "font"), [((800, 420), 12), ((420, 300), 16), ((300, 200), 12)])
def test_a_long_name_ends_before_its_count(name: str, size: tuple[int, int], font: int) -> None:
    rows = [prefix(name, memory=8_000, erred=3, waiting=9_000)]
    rows += [prefix(f"{name}{i}", memory=10_000) for i in range(12)]
    view = Progress(store_of(prefixes=rows), replace(LIGHT, font_size=f"{font}px"))
    Page(view, *size)
    data = view.cells.model.data
    for label, value, x0, x1 in zip(
        *(data[column] for column in ("label", "value", "x0", "x1")), strict=True
    ):
        assert text_px(label, font) + text_px(value, font) < x1 - x0
        assert label.startswith(name[:1])
    assert name in data["hover0"]
