"""Lines over time: what is sent as they grow, the window, the merging of points."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.document import Document
from bokeh.document.events import DocumentChangedEvent

from dask_diag_lab.views.look import DARK, LIGHT
from dask_diag_lab.views.palette import data_colors
from dask_diag_lab.views.series import LIVE_S, MAX_POINTS, Line, Points, SeriesChart

T0 = 1_795_000_000.0
NAN = np.nan


def points(n: int, last: float = 0.0) -> Points:
    """Return ``n`` points of 50, one a second; the last one has ``last`` more."""
    mean = np.full(n, 50.0)
    if n:
        mean[-1] += last
    return Points(T0 + np.arange(n, dtype=np.float64), mean, mean - 10, mean + 20)


def drawn(n: int) -> tuple[SeriesChart, list[DocumentChangedEvent]]:
    """Return a chart with ``n`` points, and what it sends from now on."""
    chart = SeriesChart(LIGHT, [Line("cpu", "CPU", "load_normal")], unit="percent")
    chart.set([points(n)])
    document, events = Document(), list[DocumentChangedEvent]()
    document.add_root(chart.model)
    document.on_change(events.append)
    return chart, events


def window(chart: SeriesChart) -> tuple[Any, Any]:
    times: Any = chart.model.x_range  # of kinds without common attributes
    return times.start, times.end


def test_equal_data_sends_nothing() -> None:
    chart, events = drawn(10)
    chart.set([points(10)])
    assert events == []


def test_young_run_stands_still_and_an_old_one_shows_the_last_minutes_or_all() -> None:
    chart, _ = drawn(3)
    assert window(chart) == (0, 10)
    chart.set([points(9)])
    assert window(chart) == (0, 10)
    for verb, expected in (("live", (1999 - LIVE_S, 1999)), ("fit", (0, 1999))):
        chart.command(verb)
        chart.set([points(2000)])
        assert window(chart) == expected


def test_chart_that_the_reader_moved_stays_and_tells_how_far_it_is_behind() -> None:
    chart, _ = drawn(1000)
    chart.model.x_range.update(start=100, end=200)
    chart.set([points(1001)])
    assert window(chart) == (100, 200)
    assert chart.behind_s == 800
    chart.command("live")
    chart.set([points(1001)])
    assert chart.behind_s == 0


def test_long_history_is_merged_and_keeps_its_extremes() -> None:
    chart, _ = drawn(20)
    long = points(7000)
    long.high[1234] = 99.0
    chart.command("fit")
    chart.set([long])
    data = chart.source.model.data
    assert len(data["x"]) <= MAX_POINTS
    assert max(data["high0"]) == 99.0


def test_unknown_values_are_gaps_and_not_zero() -> None:
    chart, _ = drawn(0)
    long = points(2 * MAX_POINTS)
    long.mean[:3] = NAN
    chart.command("fit")
    chart.set([long])
    mean = chart.source.model.data["mean0"]
    assert np.isnan(mean[0])
    assert mean[1] == 50


def test_lines_of_different_times_share_one_axis() -> None:
    chart = SeriesChart(LIGHT, [Line("a", "A", "incoming"), Line("b", "B", "outgoing")])
    one, other = points(3), points(5)
    chart.set(
        [
            one,
            Points(
                *(column[2:] for column in (other.times, other.mean)),
                *(column[2:] for column in (other.low, other.high)),
            ),
        ]
    )
    data = chart.source.model.data
    assert list(data["x"]) == [0, 1, 2, 3, 4]
    assert np.isnan(data["mean0"][3:]).all()
    assert np.isnan(data["mean1"][:2]).all()


def test_colours_follow_the_look_and_a_legend_tells_lines_and_band() -> None:
    chart, _ = drawn(3)
    chart.restyle(DARK)
    items = chart.legend(DARK)
    assert [item.label for item in items] == ["CPU", "lowest to highest"]
    assert items[0].color == data_colors(DARK).load_normal
