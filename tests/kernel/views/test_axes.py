"""Axes: quantities of home-made plots begin at 0, and a narrow time axis has fewer ticks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from bokeh.models import Axis, ColumnDataSource, CompositeTicker, DataRange1d, NoOverlap, Range1d
from bokeh.models import Plot as BokehPlot
from bokeh.plotting import figure

from dask_diag_lab import FigureView
from dask_diag_lab.store import Store
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.plot import Plot
from dask_diag_lab.views.registry import PLOTS
from dask_diag_lab.views.scripted import WordedTickFormatter
from dask_diag_lab.views.stream.task_stream import TaskStream
from dask_diag_lab.views.time_axis import run_times, ticks_that_fit, zero_words
from tests.kernel.store.batches import worker_row
from tests.kernel.views.conftest import Feed
from tests.kernel.views.situations import Page, batch, store_of, worker


class Bars(FigureView):
    """Bars of the CPU of each worker."""

    options: Mapping[str, Any] = {"y_range": []}

    def columns(self) -> Mapping[str, Any]:
        return {"worker": list(self.store.workers.name), "cpu": self.store.workers.cpu}

    def draw(self, source: ColumnDataSource) -> figure:
        picture = self.new_figure(**self.options)
        picture.hbar("worker", right="cpu", height=0.8, source=source)
        return picture


class OwnRange(Bars):
    options: Mapping[str, Any] = {"y_range": [], "x_range": (-5, 5)}


class Lines(FigureView):
    """A line of the CPU against the time of the last heartbeat."""

    def columns(self) -> Mapping[str, Any]:
        return {"x": self.store.workers.last_seen, "cpu": self.store.workers.cpu}

    def draw(self, source: ColumnDataSource) -> figure:
        picture = self.new_figure()
        picture.line("x", "cpu", source=source)
        return picture


@pytest.mark.parametrize("rows", [[], [worker(0), worker(1)]])
def test_bars_begin_at_zero_while_nothing_runs(rows: list[dict[str, Any]]) -> None:
    plot = Page(Bars(store_of(workers=rows))).plot
    assert isinstance(plot.x_range, DataRange1d)
    assert plot.x_range.start == 0


def test_lines_begin_at_zero_and_their_times_do_not() -> None:
    plot = Page(Lines(store_of(workers=[worker(0, cpu=3.0)]))).plot
    assert isinstance(plot.y_range, DataRange1d)
    assert plot.y_range.start == 0
    assert "start" not in plot.x_range.properties_with_values(include_defaults=False)


def test_axis_of_negative_values_is_left_to_bokeh() -> None:
    store = store_of(workers=[worker(0, cpu=3.0)])
    page = Page(Bars(store))
    store.apply(batch(workers=[worker(0, cpu=-3.0)]))
    page.view.update()
    assert isinstance(page.plot.x_range, DataRange1d)
    assert "start" not in page.plot.x_range.properties_with_values(include_defaults=False)


def test_range_of_the_authors_own_stays() -> None:
    plot = Page(OwnRange(store_of(workers=[worker(0)]))).plot
    assert isinstance(plot.x_range, Range1d)
    assert (plot.x_range.start, plot.x_range.end) == (-5, 5)


@pytest.mark.parametrize(("width", "ticks"), [(190, 2), (250, 2), (860, 6)])
def test_task_stream_has_as_many_ticks_of_time_as_fit(feed: Feed, width: int, ticks: int) -> None:
    feed.maker.action(0, 1)
    feed.send(2)
    plot = Page(TaskStream(feed.store), width, 220).plot
    ticker = plot.xaxis[0].ticker
    assert isinstance(ticker, CompositeTicker)
    assert ticker.desired_num_ticks == ticks
    assert isinstance(plot.xaxis[0].major_label_policy, NoOverlap)


def n_ticks(start: float, end: float, width: int) -> int:
    """Return how many ticks are drawn of those that fit."""
    return len(run_times(start, end, ticks_that_fit(start, end, width)))


def test_long_words_of_time_leave_room_for_fewer_ticks() -> None:
    seconds, with_hours = n_ticks(0, 60, 560), n_ticks(7200, 7260, 560)
    before = n_ticks(-60, 0, 560)
    assert seconds == 7
    assert with_hours < seconds
    assert before < seconds
    assert n_ticks(7200, 7201, 560) < with_hours
    assert n_ticks(7200, 7201, 100) == 2


@pytest.mark.parametrize("width", [160, 190, 260, 320, 700])
def test_an_axis_of_time_has_two_ticks_in_any_pane_and_window(width: int) -> None:
    for span_s in np.geomspace(1e-3, 1e6, 200).tolist():
        for start in (0.0, -0.01 * span_s, 0.37 * span_s, 12.3 * span_s):
            assert n_ticks(start, start + span_s, width) >= 2


@pytest.mark.parametrize(
    ("start", "end", "wanted", "ticks"),
    [
        # As BokehJS 3.9 draws them.
        (0, 710, 2, [0, 300, 600]),
        (-0.24, 24, 2, [0, 15]),
        (150, 450, 2, [240, 360]),
        (0, 60, 6, [0, 10, 20, 30, 40, 50, 60]),
        (0, 7200, 2, [0, 3600, 7200]),
        (0, 3, 6, [0, 0.5, 1, 1.5, 2, 2.5, 3]),
        (5, 5, 2, []),
    ],
)
def test_ticks_of_time_are_known_beforehand(
    start: float, end: float, wanted: int, ticks: list[float]
) -> None:
    assert run_times(start, end, wanted) == ticks


def test_an_axis_of_time_says_what_its_zero_is_where_there_is_room() -> None:
    at = fmt.clock(1_795_000_000.0)
    said = [zero_words(1_795_000_000.0, "the first task", room_px) for room_px in (400, 100, 50)]
    assert said == [f"0 s is {at}, the first task", f"0 s is {at}", ""]
    assert zero_words(1_795_000_000.0, "", 400) == f"0 s is {at}"


@pytest.mark.parametrize(("height", "is_told"), [(220, False), (400, True)])
def test_task_stream_says_when_its_burst_began(feed: Feed, height: int, is_told: bool) -> None:
    feed.maker.action(0, 1)
    feed.send(2)
    view = TaskStream(feed.store)
    label = Page(view, 700, height).plot.xaxis[0].axis_label
    began = f"0 s is {fmt.clock(view.window.zero)}, when this burst of work began"
    assert label == (began if is_told else None)


def test_words_of_ticks_need_no_second_painting() -> None:
    for axis in (Page(Bars(Store())).plot.xaxis[0], Page(TaskStream(Store())).plot.yaxis[0]):
        assert isinstance(axis.formatter, WordedTickFormatter)


@pytest.mark.parametrize(("width", "edge_px"), [(860, 32), (240, 20)])
def test_the_last_word_of_a_time_axis_has_room_beside_the_frame(
    feed: Feed, width: int, edge_px: int
) -> None:
    feed.maker.action(0, 1)
    feed.send(2)
    assert Page(TaskStream(feed.store), width, 220).plot.min_border_right == edge_px


def test_title_of_the_task_stream_counts_threads_that_are_there(feed: Feed) -> None:
    feed.maker.action(0, 1, worker="tcp://w0:1").action(0, 1, worker="tcp://w1:1")
    feed.send(2)
    view = TaskStream(feed.store)
    page = Page(view)
    assert "4 threads" in page.title
    feed.send(4, workers=[worker_row("tcp://w0:1")], removed_workers=["tcp://w1:1"])
    view.update()
    assert "2 threads" in page.title


@pytest.mark.parametrize("plot", PLOTS, ids=lambda plot: plot.name)
@pytest.mark.parametrize("workers", [(), (worker(0), worker(1))], ids=["nothing", "workers"])
def test_words_for_an_empty_plot_lie_over_no_axis(plot: Plot, workers: Sequence[Any]) -> None:
    view = plot.load()(store_of(workers=list(workers)) if workers else Store())
    root = view.build()
    for picture in root.select({"type": BokehPlot}):
        picture.set_from_json("outer_width", 320)
        picture.set_from_json("outer_height", 120)
    view.update()
    assert not (view.notice.empty and shown_axes(root))
    view.close()


def shown_axes(part: Any) -> list[Axis]:  # any layout or plot
    """Return the axes that are seen: with ticks, of plots in layouts that are visible."""
    if not part.visible:
        return []
    if isinstance(part, BokehPlot):
        beside = (*part.left, *part.right, *part.above, *part.below)
        axes = [each for each in beside if isinstance(each, Axis) and each.visible]
        return [axis for axis in axes if getattr(axis.ticker, "ticks", True)]
    return [axis for child in getattr(part, "children", ()) for axis in shown_axes(child)]
