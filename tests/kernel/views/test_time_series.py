"""Lines over time: what is sent as they grow, the window, the merging of points."""

from __future__ import annotations

import numpy as np
import pytest
from bokeh.document import Document
from bokeh.document.events import ColumnsPatchedEvent, ColumnsStreamedEvent, DocumentChangedEvent
from bokeh.models import CompositeTicker
from bokeh.models.annotations import Label

from dask_diag_lab.views.line_points import MAX_POINTS
from dask_diag_lab.views.look import DARK, LIGHT
from dask_diag_lab.views.time_axis import ticks_that_fit
from dask_diag_lab.views.time_points import Points, merged_points
from dask_diag_lab.views.time_series import LIVE_S, TimeLine, TimeSeries

LINE = TimeLine("cpu", "CPU", "#3b78e7")
T0 = 1_795_000_000.0


def series(n: int, unit: str = "percent") -> TimeSeries:
    """Return a picture with ``n`` points, one a second."""
    made = TimeSeries(LIGHT, [LINE], unit=unit)  # type: ignore[arg-type]  # one of the units
    feed(made, n)
    return made


def feed(picture: TimeSeries, n: int, last: float = 0.0) -> None:
    """Give it ``n`` points of 50; the last one has ``last`` more."""
    times = T0 + np.arange(n, dtype=np.float64)
    mean = np.full(n, 50.0)
    if n:
        mean[-1] += last
    picture.set("cpu", times, mean, mean - 10, mean + 20)


def test_growing_data_is_patched_at_its_end_and_streamed() -> None:
    picture = series(10)
    document, events = Document(), list[DocumentChangedEvent]()
    document.add_root(picture.model)
    feed(picture, 10, last=1.0)
    document.on_change(events.append)
    feed(picture, 12, last=2.0)
    kinds = {type(event) for event in events}
    assert {ColumnsPatchedEvent, ColumnsStreamedEvent} <= kinds
    streamed = next(event for event in events if isinstance(event, ColumnsStreamedEvent))
    assert len(streamed.data["x"]) == 2
    assert list(picture.source.model.data["mean0"]) == [50.0] * 11 + [52.0]


def test_equal_data_sends_nothing() -> None:
    picture = series(10)
    document, events = Document(), list[DocumentChangedEvent]()
    document.add_root(picture.model)
    document.on_change(events.append)
    feed(picture, 10)
    assert events == []


def test_ticks_are_those_that_fit_into_the_window_that_is_drawn() -> None:
    picture, width = series(3), 400
    picture.model.set_from_json("outer_width", width)
    picture.model.set_from_json("outer_height", 300)
    picture.draw()
    before = ticks_that_fit(0, 10, width)
    feed(picture, 9000)
    fitting = ticks_that_fit(8999 - LIVE_S, 8999, width)
    assert before != fitting
    ticker = picture.model.xaxis[0].ticker
    assert isinstance(ticker, CompositeTicker)
    assert ticker.desired_num_ticks == fitting


@pytest.mark.parametrize(("width", "is_inside"), [(160, True), (300, False)])
def test_a_narrow_chart_has_the_end_of_its_scale_inside(width: int, is_inside: bool) -> None:
    picture = series(10)
    picture.model.set_from_json("outer_width", width)
    picture.model.set_from_json("outer_height", 130)
    picture.draw()
    reach = picture.model.select_one({"type": Label})
    assert isinstance(reach, Label)
    assert reach.visible is is_inside
    assert picture.model.yaxis[0].visible is not is_inside
    assert (reach.y, reach.text) == (50, "50 %")
    assert picture.model.ygrid[0].visible


def test_young_run_stands_still_while_it_fills_up() -> None:
    picture = series(3)
    before = picture.place
    feed(picture, 9)
    assert picture.place == before == (0, 10)


def test_old_run_shows_the_last_minutes_and_all_on_wish() -> None:
    picture = series(2000)
    places = [picture.place]
    for verb in ("fit", "live"):
        picture.command(verb)
        places.append(picture.place)
    live = (1999 - LIVE_S, 1999)
    assert places == [live, (0, 1999), live]


def test_what_did_not_change_is_not_drawn_again() -> None:
    picture = series(2000)
    sent = picture.source.sent_rows
    title = picture.model.title
    picture.draw()
    assert picture.source.sent_rows == sent
    picture.say("another title")
    picture.draw()
    assert title is not None
    assert picture.model.title.text == "another title"  # type: ignore[union-attr]  # a Title


def test_picture_that_the_reader_moved_stays_and_tells_how_far_it_is_behind() -> None:
    picture = series(1000)
    picture.model.x_range.update(start=100, end=200)
    feed(picture, 1001)
    assert picture.place == (100, 200)
    assert picture.behind_s == 800
    picture.command("live")
    assert picture.behind_s == 0


def test_long_history_is_merged_and_keeps_its_extremes() -> None:
    picture = series(20)
    times = T0 + np.arange(7000, dtype=np.float64)
    mean = np.full(7000, 1.0)
    high = mean.copy()
    high[1234] = 99.0
    picture.set("cpu", times, mean, mean, high)
    picture.command("fit")
    data = picture.source.model.data
    assert len(data["x"]) <= MAX_POINTS
    assert max(data["high0"]) == 99.0


def test_unknown_values_are_gaps_and_not_zero() -> None:
    nan = np.nan
    values = np.array([nan, nan, 1.0, 3.0])
    merged = merged_points(Points(np.arange(4.0), values, values, values), np.array([0, 2]))
    assert np.isnan(merged.mean[0])
    assert (merged.mean[1], merged.low[1], merged.high[1]) == (2.0, 1.0, 3.0)


def test_lines_of_different_times_share_one_axis() -> None:
    picture = TimeSeries(LIGHT, [LINE, TimeLine("mem", "memory", "#d93025")])
    picture.set("cpu", np.array([T0, T0 + 1]), np.array([1.0, 2.0]))
    picture.set("mem", np.array([T0 + 1, T0 + 2]), np.array([5.0, 6.0]))
    data = picture.source.model.data
    assert list(data["x"]) == [0, 1, 2]
    assert np.isnan(data["mean0"][2])
    assert np.isnan(data["mean1"][0])


@pytest.mark.parametrize(
    ("unit", "label"), [("percent", "50 %"), ("rate", "50 B/s"), ("bytes", "512 KiB")]
)
def test_axis_is_written_in_the_unit(unit: str, label: str) -> None:
    labels = series(5, unit).model.yaxis[0].major_label_overrides.values()
    assert "0" in labels
    texts = [str(text) for text in labels]
    assert any(text.split(" ")[1] in label or text == label for text in texts if " " in text)


def test_hover_says_mean_and_band() -> None:
    assert series(2).source.model.data["text0"][0] == "CPU 50.0 % (40.0 % to 70.0 %)"


def test_no_data_is_an_empty_picture() -> None:
    picture = series(5)
    feed(picture, 0)
    assert len(picture.source.model.data["x"]) == 0


def test_another_look_recolours_lines() -> None:
    picture = series(2)
    picture.restyle(DARK, [TimeLine("cpu", "CPU", "#6ba4ff")])
    assert picture._glyphs[0][1].line_color == "#6ba4ff"
    assert picture.model.background_fill_color == DARK.background
