"""A time axis in seconds of a run: "0 s", "10 s", "1 min", "1 h 5 min"; knows no plot.

In the narrowest pane it has two ticks as well: one alone is no scale.
"""

from __future__ import annotations

import math
from typing import Final

from bokeh.models import (
    AdaptiveTicker,
    CompositeTicker,
    FixedTicker,
    NoOverlap,
    Range1d,
    Ticker,
    TickFormatter,
)
from bokeh.plotting import figure

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.figure import set_properties
from dask_diag_lab.views.pane_size import PaneSize
from dask_diag_lab.views.scripted import RunTimeTickFormatter

MOST_TICKS: Final = 6
LEAST_TICK_PX: Final = 85
"""Of the frame for each tick that is wished: with more a picture looks crowded."""
EDGE_PX: Final = 32
"""Half of "10 min 30 s", which the word of a tick at the end needs beside the frame."""
LEAST_EDGE_PX: Final = 20
"""Half of "20 min", which there is in the narrowest pane as well."""

LEAST_TOLD_PX: Final = 300
"""In a lower plot the data needs the room of a line below the axis."""

_NAMES_PX: Final = 60
"""What is beside the frame, about."""
_STEPS: Final = (
    # Base, mantissas, least and largest distance in seconds.
    (10, (1, 2, 5), 0, 0.5),
    (60, (1, 2, 5, 10, 15, 20, 30), 1, 30 * 60),
    (24, (1, 2, 4, 6, 8, 12), 3600, 12 * 3600),
    (10, (1, 2, 5), 86400, None),
)
_CHARACTER_PX: Final = 6.0
_AIR_PX: Final = 12
_UNITS: Final = (("d", 86400, math.inf), ("h", 3600, 86400), ("min", 60, 3600), ("s", 1, 60))
"""Each with its seconds, and the distance of ticks from which on it is not needed."""


def run_time_ticker() -> Ticker:
    """Return ticks at round seconds, minutes, hours and days of an axis in seconds."""
    return CompositeTicker(
        tickers=[
            AdaptiveTicker(
                base=base,
                mantissas=list(mantissas),
                min_interval=least_s,
                max_interval=largest_s,
                num_minor_ticks=0,
            )
            for base, mantissas, least_s, largest_s in _STEPS
        ],
        desired_num_ticks=MOST_TICKS,
    )


def run_times(start: float, end: float, wanted: int) -> list[float]:
    """Return where `run_time_ticker` puts its ticks when so many are wished for.

    As BokehJS computes it in ``CompositeTicker.get_best_ticker`` and
    ``AdaptiveTicker.get_interval``; there may be fewer or more than ``wanted``.
    """
    span_s = end - start
    if not (span_s > 0 and math.isfinite(span_s)):
        return []

    def error(step_s: float) -> float:
        return abs(wanted - span_s / step_s) if step_s else math.inf

    ideal_s = span_s / wanted
    largest = [math.inf if step[3] is None else step[3] for step in _STEPS]
    below = sum(step[2] < ideal_s for step in _STEPS) - 1
    above = sum(most < ideal_s for most in largest)
    is_above = error(largest[above]) < error(_STEPS[below][2])
    base, mantissas, least_s, most_s = _STEPS[above if is_above else below]
    unit_s = least_s or 1.0
    magnitude_s = base ** math.floor(math.log(ideal_s / unit_s, base)) * unit_s
    tries = (mantissas[-1] / base, *mantissas, mantissas[0] * base)
    step_s = min((mantissa * magnitude_s for mantissa in tries), key=error)
    step_s = min(max(step_s, least_s), most_s or math.inf)
    numbers = range(math.floor(start / step_s), math.ceil(end / step_s) + 1)
    return [number * step_s for number in numbers if start <= number * step_s <= end]


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
    """Give a plot of this width as many ticks of time as their words leave room for.

    Fixed ones where the plot has such: nobody can move it.
    """
    ticker, times = plot.xaxis[0].ticker, plot.x_range
    if isinstance(times, Range1d):
        ends = float(times.start), float(times.end)  # type: ignore[arg-type]  # no dates here
        n_ticks = ticks_that_fit(*ends, width)
        if isinstance(ticker, CompositeTicker):
            set_properties(ticker, desired_num_ticks=n_ticks)
        elif isinstance(ticker, FixedTicker):
            set_properties(ticker, ticks=run_times(*ends, n_ticks))
    # In a narrow pane it is the data that needs the room.
    set_properties(plot, min_border_right=min(EDGE_PX, max(width // 12, LEAST_EDGE_PX)))


def tell_zero(plot: figure, size: PaneSize, zero_s: float, what: str) -> None:
    """Say below a plot's axis of time which moment its 0 is, where there is room.

    Parameters
    ----------
    plot : figure
    size : PaneSize
    zero_s : float
        Seconds since the epoch.
    what : str
        What happened then; '' where that is not known.
    """
    words = zero_words(zero_s, what, size.width - _NAMES_PX)
    is_told = bool(words) and size.height >= LEAST_TOLD_PX
    set_properties(plot.xaxis[0], axis_label=words if is_told else None)


def zero_words(zero_s: float, what: str, room_px: float) -> str:
    """Return which moment 0 is, with ``what`` it was where that fits; '' where nothing does."""
    short = f"0 s is {fmt.clock(zero_s)}"
    tries = [f"{short}, {what}", short] if what else [short]
    return next((words for words in tries if len(words) * _CHARACTER_PX <= room_px), "")


def ticks_that_fit(start: float, end: float, width: int) -> int:
    """Return how many ticks to wish for between two times, in a figure of this width.

    At least two are drawn; where their words have no room, those that are furthest apart.
    """
    room_px = width - _NAMES_PX
    most = min(max(room_px // LEAST_TICK_PX, 2), MOST_TICKS)
    scales = {n: run_times(start, end, n) for n in range(MOST_TICKS, 0, -1)}
    scales = {n: ticks for n, ticks in scales.items() if len(ticks) > 1}
    for n, ticks in scales.items():
        step_s = ticks[1] - ticks[0]
        apart_px = step_s / (end - start) * room_px
        if n <= most and _word_px(start, end, step_s) + _AIR_PX <= apart_px:
            return n
    return min(scales, default=1)


def _word_px(start: float, end: float, step_s: float) -> float:
    """Return how long the longest word gets that the formatter writes at such a distance."""
    reach_s = max(abs(start), abs(end), 1.0)
    units = [unit for unit, seconds, until_s in _UNITS if seconds <= reach_s and step_s < until_s]
    words = [f"00 {unit}" for unit in units]
    decimals = "." + "0" * math.ceil(-math.log10(step_s)) if 0 < step_s < 1 else ""
    before = " before" if start <= -step_s else ""
    return len(" ".join(words) + decimals + before) * _CHARACTER_PX
