"""Plots of workers, hardware and the scheduler in small panes: figures and counts stay."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from bokeh.models import Plot
from bokeh.models.annotations import Title

from dask_diag_lab.store import Store
from dask_diag_lab.views.base import View
from dask_diag_lab.views.scheduler.contention import NO_ROOM, Contention
from dask_diag_lab.views.scheduler.scheduler_system import SchedulerSystem
from dask_diag_lab.views.scheduler.stealing import Stealing
from dask_diag_lab.views.tasks.memory_by_key import MemoryByKey
from dask_diag_lab.views.tasks.named_bars import NamedBars
from dask_diag_lab.views.tasks.time_by_prefix import ComputeTimePerKey
from dask_diag_lab.views.workers.bar_measure import Measure
from dask_diag_lab.views.workers.gpu import GpuMemory
from dask_diag_lab.views.workers.worker_bars import WorkerBars
from dask_diag_lab.views.workers.worker_page import WorkerPage
from dask_diag_lab.views.workers.worker_series import CpuSeries, MemorySeries
from dask_diag_lab.views.workers.workers_memory import WorkersMemory
from tests.kernel.views.browser_pane import ROUNDS, Pane, figure_px, losses
from tests.kernel.views.scheduler_tables import T0, change, drawn, names_shown
from tests.kernel.views.situations import GIB, MIB, Page, prefix, store_of, worker

NAN = float("nan")


def resize(figure: Plot, width: int, height: int) -> None:
    """Report a size, as a browser does."""
    figure.set_from_json("outer_width", width)
    figure.set_from_json("outer_height", height)


def title_of(figure: Plot) -> str:
    """Return what stands above a figure."""
    assert isinstance(figure.title, Title)
    return str(figure.title.text)


def durations_of_46() -> NamedBars:
    rows = [(f"func_{i:02d}", "compute", 1.0 + i) for i in range(46)]
    return ComputeTimePerKey(store_of(extras=change("durations", rows)))


def memory_of_46() -> NamedBars:
    rows = [prefix(f"func_{i:02d}", memory=1 + i, nbytes=(1 + i) * MIB) for i in range(46)]
    return MemoryByKey(store_of(prefixes=rows))


@pytest.mark.parametrize("made", [durations_of_46, memory_of_46])
def test_controls_take_no_bar_away(made: Callable[[], NamedBars]) -> None:
    view = made()
    widths = (190, 300, 415, 419, 420, 425, 500, 900)
    heights = (*range(140, 330, 4), *range(340, 800, 30))
    assert losses(Pane(view), lambda: len(view.bars.model.data["y"]), widths, heights) == []


@pytest.mark.parametrize(
    ("width", "title"),
    [
        (1200, "CPU over time: 50.0 % CPU · mean of 1000 workers, band from lowest to highest"),
        (420, "CPU over time: 50.0 % CPU · mean of 1000 workers"),
        (300, "Mean of 1000 workers: 50.0 % CPU"),
        (190, "Mean: 50.0 % CPU"),
    ],
)
def test_a_mean_is_not_taken_for_a_sum_in_a_narrow_pane(width: int, title: str) -> None:
    store = store_of(workers=[worker(n, cpu=50.0) for n in range(1000)])
    assert Page(CpuSeries(store), width, 300).title == title


def test_of_two_lines_the_longest_words_go_before_that_it_is_a_mean() -> None:
    rows = [worker(n, managed=GIB, spilled=2 * GIB) for n in range(2)]
    page = Page(MemorySeries(store_of(workers=rows)), 320, 300)
    assert page.title == "Mean: 1.00 GiB, 2.00 GiB spilled"


@pytest.mark.parametrize(
    ("width", "title"), [(240, "Mean: 1.00 GiB, 2.00 GiB"), (190, "Mean: 1.00 GiB")]
)
def test_that_it_is_a_mean_goes_after_figures(width: int, title: str) -> None:
    rows = [worker(n, managed=GIB, spilled=2 * GIB) for n in range(2)]
    assert Page(MemorySeries(store_of(workers=rows)), width, 140).title == title


def test_one_worker_is_no_mean() -> None:
    page = Page(CpuSeries(store_of(workers=[worker(0, cpu=50.0)])), 1200, 300)
    assert page.title == "CPU over time: 50.0 % CPU"


def test_workers_without_a_gpu_are_counted_where_the_title_has_no_room() -> None:
    gpu = {"gpu_memory_used": GIB, "gpu-memory-total": 16 * GIB}
    rows = [worker(n, metrics=gpu if n % 10 else {}) for n in range(1000)]
    page = Page(GpuMemory(store_of(workers=rows)), 300, 200)
    assert "100 workers without a value" in page.view.notice.note
    page.resize(900, 400)
    assert page.title.endswith("900 of 1000 workers")
    assert "without" not in page.view.notice.note


def test_workers_without_a_gpu_are_counted_without_measuring_again() -> None:
    measured = []

    class Counted(GpuMemory):
        def measure(self) -> Measure:
            measured.append(self.look)
            return super().measure()

    gpu = {"gpu_memory_used": GIB, "gpu-memory-total": 16 * GIB}
    page = Page(Counted(store_of(workers=[worker(0), worker(1, metrics=gpu)])), 300, 200)
    measured.clear()
    page.resize(310, 200)
    assert "1 worker without a value" in page.view.notice.note
    assert len(measured) == 1


@pytest.mark.parametrize("plot", [GpuMemory, WorkersMemory])
def test_axes_leave_a_figure_that_has_room_for_bars_alone(plot: type[WorkerBars]) -> None:
    gpu = {"gpu_memory_used": GIB, "gpu-memory-total": 16 * GIB}
    rows = [worker(n, managed=GIB, metrics=gpu) for n in range(24)]
    page = Page(plot(store_of(workers=rows)), 190, 60)
    assert not any(axis.visible for axis in page.plot.axis)
    assert page.title.strip()
    page.resize(190, 140)
    assert all(axis.visible for axis in page.plot.axis)


def test_a_note_that_takes_all_height_stays() -> None:
    rows = [worker(n, managed=GIB) for n in range(24)]
    page = Page(WorkersMemory(store_of(workers=rows)), 190, 60)
    note = page.view.notice.note
    assert note
    page.resize(190, 0)
    assert page.view.notice.note == note


def test_controls_of_a_page_leave_it_only_for_what_is_below_them() -> None:
    view = WorkerPage(store_of(workers=[worker(0)]))
    drawn(view)
    assert any("@container" in str(sheet) for sheet in view._bar.stylesheets)
    assert any("container-type: size" in str(sheet) for sheet in view.model.stylesheets)
    empty = WorkerPage(store_of())
    drawn(empty)
    assert empty.notice.empty
    assert empty.model.stylesheets == []


def test_charts_of_the_scheduler_keep_their_figures_in_small_panes() -> None:
    row = (T0, 65.1, 903 * MIB, 9e7, 8e7, 1e6, 1e6, 299.0, 0.02, NAN)
    view = SchedulerSystem(store_of(extras=change("system", [row])))
    drawn(view)
    figures = [chart.model for chart in view._charts]
    for figure in figures:
        resize(figure, 95, 70)
    view.update()
    assert [title_of(figure) for figure in figures] == ["65.1 %", "903 MiB", "90.0 MB/s", "299"]
    assert not any(figure.yaxis[0].visible for figure in figures)
    for figure in figures:
        resize(figure, 210, 150)
    view.update()
    assert all(figure.yaxis[0].visible for figure in figures)


def test_slowest_workers_say_of_how_many_they_are() -> None:
    rows = [worker(n, metrics={"event_loop_interval": 0.02}) for n in range(1000)]
    view = Contention(store_of(workers=rows))
    drawn(view)
    assert "10 of 1000 workers, slowest first" in view.notice.note
    resize(view._loops.figure, 300, 130)
    view.update()
    assert "3 of 1000 workers, slowest first" in view.notice.note
    assert names_shown(view._loops)[0] == "Mean of 1000"


def test_a_low_pane_leaves_out_the_lock_and_says_so() -> None:
    metrics = {"event_loop_interval": 0.02, "gil_contention": 0.5}
    view = Contention(store_of(workers=[worker(0, metrics=metrics)]))
    drawn(view)
    for bars in (view._loops, view._gils):
        resize(bars.figure, 300, 60)
    view.update()
    assert not view._gils.figure.visible
    assert view.notice.note == NO_ROOM
    resize(view._loops.figure, 300, 200)
    view.update()
    assert view._gils.figure.visible
    assert view.notice.note == ""


def moved(n: int) -> Store:
    """Return a store of moves of one second between ``n`` workers."""
    address = [f"tcp://10.0.0.{at}:4000" for at in range(n)]
    rows = [
        (T0, "confirmed", f"k-{at}", 1, address[at], address[at - 1], 2.0, 0.0) for at in range(n)
    ]
    return store_of(workers=[worker(at) for at in range(n)], extras=change("stealing", rows))


def test_moves_of_one_second_are_seen() -> None:
    view = Stealing(moved(8))
    drawn(view)
    data = view._series.source.model.data
    assert list(data["mean0"]) == [0.0, 8.0]
    assert list(data["x"]) == [0.0, 1.0]


def test_a_low_pane_leaves_out_the_workers_and_says_so() -> None:
    view = Stealing(moved(8))
    drawn(view)
    for figure in (view._series.model, view._bars.figure):
        resize(figure, 190, 50)
    view.update()
    assert not view._bars.figure.visible
    assert "no room for workers" in view.notice.note
    resize(view._series.model, 190, 200)
    view.update()
    assert view._bars.figure.visible
    resize(view._bars.figure, 190, 100)
    resize(view._series.model, 190, 100)
    view.update()
    assert set(view._bars.values.model.data["value"]) <= {"1, 1", "14", "12"}


def two_measures(n: int) -> tuple[View, tuple[Plot, Plot]]:
    metrics = {"event_loop_interval": 0.02, "gil_contention": 0.5}
    view = Contention(store_of(workers=[worker(at, metrics=metrics) for at in range(n)]))
    drawn(view)
    return view, (view._loops.figure, view._gils.figure)


def moves_and_workers(n: int) -> tuple[View, tuple[Plot, Plot]]:
    view = Stealing(moved(n))
    drawn(view)
    return view, (view._series.model, view._bars.figure)


@pytest.mark.parametrize("made", [two_measures, moves_and_workers])
@pytest.mark.parametrize("n", [8, 30])
def test_what_a_low_pane_leaves_out_stays_so_from_tick_to_tick(
    made: Callable[[int], tuple[View, tuple[Plot, Plot]]], n: int
) -> None:
    view, figures = made(n)
    heights = [*range(100, 280, 4)]
    shown_at: set[bool] = set()
    for width in (190, 300, 420):
        for height in (*heights, *heights[::-1]):
            seen = []
            for _ in range(ROUNDS):
                left = figure_px(view, None, width, height)
                shown = [figure for figure in figures if figure.visible]
                for figure in shown:
                    resize(figure, width, left // len(shown))
                view.update()
                seen.append(figures[1].visible)
            assert len(set(seen[1:])) == 1, (width, height, seen)
            shown_at.add(seen[-1])
    assert shown_at == {True, False}
