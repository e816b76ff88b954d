"""How numbers become words: 3 significant digits, binary units for memory, SI for rates.

Knows no colours and no models; every function is pure.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from datetime import UTC, datetime, tzinfo
from typing import Final

_BINARY: Final = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_SI: Final = ("", "k", "M", "G", "T", "P")
_THIN: Final = "\u202f"
"""Narrow no-break space, between groups of three digits."""

READER_ZONE: Final[ContextVar[tzinfo | None]] = ContextVar("READER_ZONE", default=None)
"""Time zone of the browser that is drawn for; None in files, and where it is not known."""

_ALL_BUT: Final = 1e-7
"""Percent that the sum of parts may lack of the whole: they are floats."""
_UNKNOWN: Final = "unknown"


_SHORT: Final = ((0.9995e-3, 1e6, "µs"), (0.9995, 1e3, "ms"), (59.95, 1.0, "s"))
_LONG: Final = (("d", "h", 86400, 3600), ("h", "min", 3600, 60), ("min", "s", 60, 1))


def significant(value: float) -> str:
    """Return ``value`` in 3 significant digits, a larger one as a whole number."""
    if not math.isfinite(value):
        return _UNKNOWN
    if value == 0:
        return "0"
    return f"{value:#.3g}".rstrip(".") if abs(value) < 999.5 else f"{value:.0f}"


def count(number: float) -> str:
    """Return a whole number, with groups of three digits set apart from 10 000 on."""
    if not math.isfinite(number):
        return _UNKNOWN
    whole = round(number)
    return f"{whole:,}".replace(",", _THIN) if abs(whole) >= 10_000 else str(whole)


def binary(nbytes: float) -> str:
    """Return a number of bytes in binary units, e.g. ``1.50 GiB``; whole bytes stay whole."""
    if not math.isfinite(nbytes):
        return _UNKNOWN
    value, unit = float(nbytes), 0
    while abs(value) >= 999.5 and unit < len(_BINARY) - 1:
        value, unit = value / 1024, unit + 1
    return f"{value:.0f} B" if unit == 0 else f"{significant(value)} {_BINARY[unit]}"


def si(value: float, unit: str) -> str:
    """Return ``value`` in SI steps of 1000, e.g. ``12.3 MB/s`` for a rate."""
    if not math.isfinite(value):
        return _UNKNOWN
    step = 0
    while abs(value) >= 999.5 and step < len(_SI) - 1:
        value, step = value / 1000, step + 1
    return f"{significant(value)} {_SI[step]}{unit}"


def percent(share: float) -> str:
    """Return a share (1.0 is everything) in percent: a decimal only below 10 %.

    ``0 %`` is nothing and ``100 %`` is all: what lacks a little of it is ``99 %``.
    """
    if not math.isfinite(share):
        return _UNKNOWN
    value = share * 100
    if 99 < value < 100 - _ALL_BUT:
        return "99 %"
    if 0 < value < 0.05:
        return "<0.1 %"
    return f"{value:.0f} %" if abs(value) >= 9.95 or value == 0 else f"{value:.1f} %"


def shares(parts: Sequence[float]) -> list[str]:
    """Return parts of one whole (1.0 together) in whole percents that add up to 100.

    The largest remainders are rounded up.
    """
    percents = [part * 100 for part in parts]
    whole = [math.floor(each + 1e-9) for each in percents]
    by_remainder = sorted(range(len(whole)), key=lambda index: whole[index] - percents[index])
    for index in by_remainder[: max(round(sum(percents)) - sum(whole), 0)]:
        whole[index] += 1
    return [f"{each} %" for each in whole]


def duration(seconds: float) -> str:
    """Return a duration in the unit that suits it, from ``12.3 ms`` to ``3 d 4 h``."""
    if not math.isfinite(seconds):
        return _UNKNOWN
    if seconds < 0:
        return f"-{duration(-seconds)}"
    if seconds == 0:
        return "0 s"
    for below, times, unit in _SHORT:
        if seconds < below:
            return f"{significant(seconds * times)} {unit}"
    whole = round(seconds)
    # A minute or more as its two largest units, the second one left out when 0.
    big, small, big_s, small_s = next(units for units in _LONG if whole >= units[2])
    rest = whole % big_s // small_s
    return f"{whole // big_s} {big}" + (f" {rest} {small}" if rest else "")


def signed(seconds: float) -> str:
    """Return a difference of durations, which has a sign: ``+3.20 s``."""
    sign = "+" if seconds > 0 else "−" if seconds < 0 else "±"
    return f"{sign}{duration(abs(seconds))}"


def elide(text: str, width: int) -> str:
    """Return ``text`` in at most ``width`` characters; the middle gives way to an ellipsis."""
    if len(text) <= width:
        return text
    if width <= 1:
        return "…"[:width]
    tail = (width - 1) // 3
    return f"{text[: width - 1 - tail]}…{text[len(text) - tail :] if tail else ''}"


def write(unit: str, value: float) -> str:
    """Return a value in one of the units of `data.Unit`; the browser writes it alike."""
    return _WRITERS.get(unit, _some)(value) if math.isfinite(value) else _UNKNOWN


def plural(number: int, noun: str) -> str:
    """Return ``1 worker``, ``2 workers``."""
    return f"{count(number)} {noun}{'' if number == 1 else 's'}"


def clock(time_s: float) -> str:
    """Return a moment, in seconds since the epoch, as time of day: ``14:02:10``.

    By the reader's clock; where that is not known by this computer's, with its time zone.
    """
    zone = READER_ZONE.get()
    written = "%H:%M:%S" if zone else "%H:%M:%S %Z"
    return datetime.fromtimestamp(time_s, UTC).astimezone(zone).strftime(written)


def _some(number: float) -> str:
    return count(number) if float(number).is_integer() else significant(number)


_WRITERS: Final[Mapping[str, Callable[[float], str]]] = {
    "bytes": binary,
    "rate": lambda rate: si(rate, "B/s"),
    "seconds": duration,
    "percent": lambda points: percent(points / 100),
    "time": clock,
}
