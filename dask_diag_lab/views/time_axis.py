"""A time axis in seconds of a run: "0 s", "10 s", "1 min", "1 h 5 min"; knows no plot."""

from __future__ import annotations

from typing import Final

from bokeh.models import (
    AdaptiveTicker,
    Axis,
    CompositeTicker,
    CustomJSTickFormatter,
    Ticker,
    TickFormatter,
)

_FORMAT_JS: Final = """
const step = ticks.length > 1 ? Math.abs(ticks[1] - ticks[0]) : Math.abs(tick) || 1
const most = Math.max(...ticks.map(Math.abs))
const sign = tick < 0 ? "-" : ""
let s = Math.abs(tick)
if (s < step / 1e6) return "0 s"
const units = [["s", 1], ["ms", 1e3], ["µs", 1e6]]
const [unit, times] = most >= 1 ? units[0] : most >= 1e-3 ? units[1] : units[2]
const digits = Math.max(0, Math.ceil(-Math.log10(step * times) - 1e-6))
if (s < 60 - step / 1e6) return sign + (s * times).toFixed(digits) + " " + unit
const rest = (s % 60).toFixed(digits)
const carry = Number(rest) >= 60 ? 1 : 0
let minutes = Math.floor(s / 60) + carry
const parts = []
if (minutes >= 1440) parts.push(Math.floor(minutes / 1440) + " d")
if (minutes >= 60) parts.push(Math.floor(minutes % 1440 / 60) + " h")
parts.push(minutes % 60 + " min")
if (!carry && Number(rest) > 0) parts.push(rest + " s")
return sign + parts.filter(part => !part.startsWith("0 ")).join(" ")
"""


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
        desired_num_ticks=6,
    )


def run_time_formatter() -> TickFormatter:
    """Return the words of such ticks, with as many digits as their distance needs."""
    return CustomJSTickFormatter(code=_FORMAT_JS)


def make_time_axis(axis: Axis) -> None:
    """Give an axis in seconds the ticks and words of a run's time."""
    axis.update(ticker=run_time_ticker(), formatter=run_time_formatter())
