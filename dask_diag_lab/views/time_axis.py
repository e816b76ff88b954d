"""A time axis in seconds of a run: "0 s", "10 s", "1 min", "1 h 5 min"; knows no plot."""

from __future__ import annotations

import math
from typing import Final

from bokeh.models import (
    AdaptiveTicker,
    CompositeTicker,
    NoOverlap,
    Range1d,
    Ticker,
    TickFormatter,
)
from bokeh.plotting import figure

from dask_diag_lab.views.figure import set_properties
from dask_diag_lab.views.scripted import RunTimeTickFormatter

MOST_TICKS: Final = 6
LEAST_TICK_PX: Final = 85
"""Of the frame for each tick that is wished: with more a picture looks crowded."""
EDGE_PX: Final = 32
"""Half of "10 min 30 s", which the word of a tick at the end needs beside the frame."""
LEAST_EDGE_PX: Final = 20
"""Half of "20 min", which there is in the narrowest pane as well."""

_NAMES_PX: Final = 60
"""What is beside the frame, about."""
_SURPLUS: Final = 1.43
"""Of `run_time_ticker` Bokeh draws up to so many ticks for each that is wished."""
_CHARACTER_PX: Final = 6.0
_AIR_PX: Final = 12
_UNITS: Final = (("d", 86400, math.inf), ("h", 3600, 86400), ("min", 60, 3600), ("s", 1, 60))
"""Each with its seconds, and the distance of ticks from which on it is not needed."""


def run_time_ticker() -> Ticker:
    """Return ticks at round seconds, minutes, hours and days of an axis in seconds."""
    return CompositeTicker(
        tickers=[
            AdaptiveTicker(
                base=10,
                mantissas=[1, 2, 5],
                min_interval=0,
                max_interval=0.5,
                num_minor_ticks=0,
            ),
            AdaptiveTicker(
                base=60,
                mantissas=[1, 2, 5, 10, 15, 20, 30],
                min_interval=1,
                max_interval=30 * 60,
                num_minor_ticks=0,
            ),
            AdaptiveTicker(
                base=24,
                mantissas=[1, 2, 4, 6, 8, 12],
                min_interval=3600,
                max_interval=12 * 3600,
                num_minor_ticks=0,
            ),
            AdaptiveTicker(
                base=10,
                mantissas=[1, 2, 5],
                min_interval=86400,
                max_interval=None,
                num_minor_ticks=0,
            ),
        ],
        desired_num_ticks=MOST_TICKS,
    )


def run_time_formatter() -> TickFormatter:
    """Return the words of such ticks, with as many digits as their distance needs."""
    return RunTimeTickFormatter()


def make_time_axis(plot: figure) -> None:
    """Give a plot's axis of time, in seconds, the ticks and words of a run's time."""
    plot.xaxis[0].update(
        ticker=run_time_ticker(),
        formatter=run_time_formatter(),
        # The page pans and zooms before `fit_time_axis` hears of it.
        major_label_policy=NoOverlap(min_distance=_AIR_PX // 2),
    )


def fit_time_axis(plot: figure, width: int) -> None:
    """Give a plot of this width as many ticks of time as their words leave room for."""
    ticker, times = plot.xaxis[0].ticker, plot.x_range
    if isinstance(ticker, CompositeTicker) and isinstance(times, Range1d):
        ends = float(times.start), float(times.end)  # type: ignore[arg-type]  # no dates here
        set_properties(ticker, desired_num_ticks=ticks_that_fit(*ends, width))
    # In a narrow pane it is the data that needs the room.
    set_properties(plot, min_border_right=min(EDGE_PX, max(width // 12, LEAST_EDGE_PX)))


def ticks_that_fit(start: float, end: float, width: int) -> int:
    """Return how many ticks to wish for between two times, in a figure of this width."""
    room_px = width - _NAMES_PX
    most = min(max(room_px // LEAST_TICK_PX, 1), MOST_TICKS)
    for n in range(most, 1, -1):
        if n * _SURPLUS * (_word_px(start, end, n) + _AIR_PX) <= room_px:
            return n
    return 1


def _word_px(start: float, end: float, n_ticks: int) -> float:
    """Return how long the longest word gets that the formatter writes at so many ticks."""
    step_s, reach_s = (end - start) / n_ticks, max(abs(start), abs(end), 1.0)
    units = [unit for unit, seconds, until_s in _UNITS if seconds <= reach_s and step_s < until_s]
    words = [f"00 {unit}" for unit in units]
    decimals = "." + "0" * math.ceil(-math.log10(step_s)) if 0 < step_s < 1 else ""
    before = " before" if start <= -step_s else ""
    return len(" ".join(words) + decimals + before) * _CHARACTER_PX
