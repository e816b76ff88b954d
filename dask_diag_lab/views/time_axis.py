"""A time axis in seconds of a run: "0 s", "10 s", "1 min", "1 h 5 min"; knows no plot."""

from __future__ import annotations

from typing import Final

from bokeh.models import (
    AdaptiveTicker,
    Axis,
    CompositeTicker,
    Ticker,
    TickFormatter,
)

from dask_diag_lab.views.figure import set_properties
from dask_diag_lab.views.scripted import RunTimeTickFormatter

MOST_TICKS: Final = 6
TICK_PX: Final = 85
"""Room for "10 min 30 s" and some air; Bokeh may draw half as many ticks again as are wished."""


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


def fit_time_axis(axis: Axis, width: int) -> None:
    """Give the axis of a figure of this width as many ticks as their words leave room for."""
    wanted = min(max((width - 60) // TICK_PX, 1), MOST_TICKS)
    if isinstance(axis.ticker, CompositeTicker):
        set_properties(axis.ticker, desired_num_ticks=wanted)


def make_time_axis(axis: Axis) -> None:
    """Give an axis in seconds the ticks and words of a run's time."""
    axis.update(ticker=run_time_ticker(), formatter=run_time_formatter())
