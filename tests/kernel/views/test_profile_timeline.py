"""Activity over time: few enough bars, and no sample lost on the way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from bokeh.models import FixedTicker

from dask_diag_lab.views.look import LIGHT
from dask_diag_lab.views.palette import prefix_color
from dask_diag_lab.views.profile.inks import quiet_color
from dask_diag_lab.views.profile.timeline import MAX_BINS, MAX_PREFIXES, Bins, Timeline
from dask_diag_lab.views.scripted import RunTimeTickFormatter
from tests.kernel.views.profiles import activity

INDEX = {"inc": 0, "load": 1}


def _shown(bins: Bins, prefix: str = "") -> Timeline:
    timeline = Timeline(LIGHT, lambda _start, _stop: None)
    timeline.show(bins, LIGHT, lambda name: INDEX.get(name, 2), prefix)
    return timeline


def test_bars_are_as_wide_as_the_time_between_samples() -> None:
    bins = Bins(activity({"inc": [3, 4, 5]}))
    assert bins.width_s == 1.0
    assert list(bins.counts) == [3, 4, 5]
    assert bins.stop == 1003.0


def test_many_bars_are_added_up_without_losing_a_sample() -> None:
    bins = Bins(activity({"inc": list(range(1000))}))
    assert len(bins.start) <= MAX_BINS
    assert bins.counts.sum() == sum(range(1000))
    assert bins.prefixes["inc"].sum() == sum(range(1000))


def test_a_pause_in_between_is_empty() -> None:
    answer = {"times": [0.0, 1.0, 5.0], "counts": [2, 2, 2], "prefixes": {}, "missing": {}}
    assert list(Bins(answer).counts) == [2, 2, 0, 0, 0, 2]


def test_a_single_cycle_is_a_bar() -> None:
    bins = Bins(activity({"inc": [7]}))
    assert (list(bins.counts), bins.width_s) == ([7], 1.0)


def test_tasks_stand_on_each_other_in_their_colours() -> None:
    data = _shown(Bins(activity({"inc": [6], "load": [2]}))).bars.model.data
    assert list(data["top"]) == [6, 8]
    assert list(data["fill"]) == [prefix_color(0, LIGHT), prefix_color(1, LIGHT)]
    assert list(data["rate"]) == ["6.00 samples/s", "2.00 samples/s"]


def test_a_chosen_task_alone_has_a_colour() -> None:
    data = _shown(Bins(activity({"inc": [6], "load": [2]})), "load").bars.model.data
    assert list(data["fill"]) == [prefix_color(1, LIGHT), quiet_color(LIGHT)]
    assert list(data["what"]) == ["load", "other tasks"]


def test_more_tasks_than_colours_share_one_grey() -> None:
    rows = {f"p{i}": [i + 1] for i in range(MAX_PREFIXES + 5)}
    data = _shown(Bins(activity(rows))).bars.model.data
    assert len(data["fill"]) == MAX_PREFIXES + 1
    assert max(data["top"]) == pytest.approx(sum(row[0] for row in rows.values()))


def test_the_same_samples_again_are_not_sent() -> None:
    timeline = _shown(Bins(activity({"inc": [6]})))
    before = timeline.bars.sent_bytes
    timeline.show(Bins(activity({"inc": [6]})), LIGHT, lambda _name: 0)
    assert timeline.bars.sent_bytes == before


def test_ticks_stand_inside_after_hours() -> None:
    timeline = _shown(Bins(activity({"inc": [1] * 1000}, start=1000.0)))
    for second in range(0, 9000, 500):
        bins = Bins(activity({"inc": [1] * 1000}, start=1000.0 + second))
        timeline.show(bins, LIGHT, lambda _name: 0)
    ticker = timeline.figure.xaxis[0].ticker
    x_range: Any = timeline.figure.x_range  # its ends are declared as dates as well
    assert isinstance(ticker, FixedTicker)
    ticks = list(ticker.ticks)
    assert len(ticks) >= 2
    assert (x_range.start, x_range.end) == pytest.approx((8500.0, 9500.0), abs=10)
    assert 8500.0 <= ticks[0] < ticks[-1] <= 9500.0


@pytest.mark.parametrize("width", [260, 700])
def test_all_ticks_of_time_have_words_with_a_unit(width: int) -> None:
    timeline = Timeline(LIGHT, lambda _start, _stop: None)
    timeline.figure.set_from_json("outer_width", width)  # as a browser reports them
    timeline.figure.set_from_json("outer_height", 78)
    timeline.show(Bins(activity({"inc": [1] * 710})), LIGHT, lambda _name: 0)
    axis = timeline.figure.xaxis[0]
    assert isinstance(axis.formatter, RunTimeTickFormatter)
    assert isinstance(axis.ticker, FixedTicker)
    assert list(axis.ticker.ticks)[:3] == ([0, 300, 600] if width == 260 else [0, 120, 240])


def test_another_run_begins_at_zero_again() -> None:
    timeline = _shown(Bins(activity({"inc": [1, 2, 3]}, start=1000.0)))
    timeline.show(Bins(activity({"inc": [1, 2, 3]}, start=5000.0)), LIGHT, lambda _name: 0)
    assert np.min(timeline.bars.model.data["left"]) == 0.0


def test_times_keep_their_place_when_old_cycles_go() -> None:
    timeline = _shown(Bins(activity({"inc": [1, 2, 3]}, start=1000.0)))
    timeline.show(Bins(activity({"inc": [2, 3, 4]}, start=1001.0)), LIGHT, lambda _name: 0)
    assert np.min(timeline.bars.model.data["left"]) == 1.0
