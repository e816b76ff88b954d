"""What comes and goes beside a figure: it settles at every size of the pane."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dask_diag_lab.records import ExtraChange
from dask_diag_lab.views import controls
from dask_diag_lab.views.bar_figure import ROW_MIN_PX
from dask_diag_lab.views.base import View
from dask_diag_lab.views.look import LIGHT
from dask_diag_lab.views.room import note_px
from dask_diag_lab.views.scheduler.fine_metrics import FineMetrics
from dask_diag_lab.views.tasks.progress import Progress
from dask_diag_lab.views.tasks.time_by_prefix import ComputeTimePerKey
from tests.kernel.views.browser_pane import Pane
from tests.kernel.views.situations import prefix, store_of

N_PREFIXES = 46


def progress() -> Progress:
    """Return the bars of many prefixes that are done."""
    return Progress(
        store_of(prefixes=[prefix(f"func_{i:02d}", memory=3) for i in range(N_PREFIXES)])
    )


def compute_time() -> ComputeTimePerKey:
    """Return the times of many prefixes."""
    names: list[object] = [f"func_{i:02d}" for i in range(N_PREFIXES)]
    columns: dict[str, list[object]] = {
        "prefix": names,
        "action": ["compute"] * N_PREFIXES,
        "seconds": [1.0] * N_PREFIXES,
    }
    return ComputeTimePerKey(store_of(extras={"durations": ExtraChange(columns)}))


def few_compute_times() -> ComputeTimePerKey:
    """Return the times of about as many prefixes as there is room for."""
    columns: dict[str, list[object]] = {
        "prefix": list("abcdefghijk"),
        "action": ["compute"] * 11,
        "seconds": [1.0] * 11,
    }
    return ComputeTimePerKey(store_of(extras={"durations": ExtraChange(columns)}))


def fine_metrics() -> FineMetrics:
    """Return the costs of many functions."""
    n = N_PREFIXES
    columns: dict[str, list[object]] = {
        "context": ["execute"] * n,
        "span": [""] * n,
        "label": [f"func_{i:02d}" for i in range(n)],
        "activity": ["thread-cpu"] * n,
        "unit": ["seconds"] * n,
        "value": [1.0] * n,
    }
    return FineMetrics(store_of(extras={"fine": ExtraChange(columns)}))


@pytest.mark.parametrize("width", [300, 420, 500, 640])
@pytest.mark.parametrize("make", [progress, compute_time, few_compute_times, fine_metrics])
def test_controls_settle_at_every_height(make: Callable[[], View], width: int) -> None:
    pane = Pane(make())
    sizes = [(height, pane.shown_in(width, height)[-3:]) for height in range(200, 421, 5)]
    assert [height for height, shown in sizes if len(set(shown)) > 1] == []


@pytest.mark.parametrize("make", [progress, compute_time, fine_metrics])
def test_controls_are_there_where_there_is_room_for_them(make: Callable[[], View]) -> None:
    pane = Pane(make())
    assert pane.shown_in(500, 400)[-1] is True
    assert pane.shown_in(500, 240)[-1] is False
    assert pane.shown_in(300, 400)[-1] is False


@pytest.mark.parametrize("size", [(500, 120), (300, 200)])
@pytest.mark.parametrize("make", [progress, compute_time, fine_metrics])
def test_controls_without_room_come_when_they_are_asked_for_and_go_again(
    make: Callable[[], Progress | ComputeTimePerKey | FineMetrics], size: tuple[int, int]
) -> None:
    view = make()
    pane = Pane(view)
    for is_asked_for in (False, True, False):
        view.controls.opener.active = is_asked_for
        assert set(pane.shown_in(*size)) == {is_asked_for}
        assert view.controls.opener.visible


def test_bars_give_way_to_controls_that_are_shown_without_room() -> None:
    view = compute_time()
    pane = Pane(view)
    pane.shown_in(500, 160)
    n_before = len(view.bars.model.data["y"])
    view.controls.opener.active = True
    pane.shown_in(500, 160)
    row_px = view.size.rows_px / len(view.bars.model.data["y"])
    assert len(view.bars.model.data["y"]) < n_before
    assert row_px >= ROW_MIN_PX


@pytest.mark.parametrize("make", [progress, compute_time, fine_metrics])
def test_controls_with_room_need_no_button(
    make: Callable[[], Progress | ComputeTimePerKey | FineMetrics],
) -> None:
    view = make()
    Pane(view).shown_in(500, 400)
    assert not view.controls.opener.visible


def test_spans_that_there_are_not_leave_a_way_back_in_a_small_pane() -> None:
    view = progress()
    pane = Pane(view)
    view.command("by-span")
    pane.shown_in(300, 200)
    assert view.notice.empty
    assert view.controls.opener.visible


def test_a_note_is_never_taken_for_lower_than_its_lines() -> None:
    assert note_px("", 420, LIGHT.font_size) == 0
    one, two = (note_px("word " * n, 420, LIGHT.font_size) for n in (5, 20))
    assert 21 <= one < 30
    assert two > one + 14


def test_controls_that_wrap_are_higher() -> None:
    fields = [controls.select(LIGHT, "", ["a"], "a", lambda _: None, width=200) for _ in range(2)]
    bar = controls.bar(*fields)
    assert controls.bar_px(bar, 500) == controls.HEIGHT_PX + 6
    assert controls.bar_px(bar, 400) == 2 * controls.HEIGHT_PX + 10
    fields[1].visible = False
    assert controls.bar_px(bar, 400) == controls.HEIGHT_PX + 6
