"""How numbers become words: 3 significant digits, binary units for memory, SI for rates.

Knows no colours and no models; every function is pure.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

Writer = Callable[[float], str]
"""Turns a number into words."""

_BINARY: Final = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_SI: Final = ("", "k", "M", "G", "T", "P")
_THIN: Final = "\u202f"
"""Narrow no-break space, between groups of three digits."""

_LEAST_SHARE: Final = 0.0005
"""What is less of a whole is nothing, in tenths of a percent."""
_ALL_BUT: Final = 1e-7
"""Percent that the sum of parts may lack of the whole: they are floats."""
_UNKNOWN: Final = "unknown"
_ROUND_STEPS: Final = (1.0, 2.0, 2.5, 5.0, 10.0)
_BINARY_STEPS: Final = tuple(float(1 << power) for power in range(10))
"""Powers of two alone: with any other step a tick near the next unit is no round number."""
_TIME_STEPS: Final = tuple(
    float(step)
    for step in (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200)
)
_DAY_S: Final = 86400.0


def significant(value: float) -> str:
    """Return ``value`` in 3 significant digits, without an exponent below a million."""
    if not math.isfinite(value):
        return _UNKNOWN
    if value == 0:
        return "0"
    if 1e-4 <= abs(value) < 999.5:  # nearly all there is, in a quarter of the time
        return f"{value:#.3g}".rstrip(".")
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    text = f"{value:.{digits}f}"
    if len(text.lstrip("-").replace(".", "").lstrip("0")) > 3 and digits:
        text = f"{value:.{digits - 1}f}"  # 9.996 rounds to 10.0, not to 10.00
    return text


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


def whole_binary(nbytes: float) -> str:
    """Return a round number of bytes without zeros behind the point, e.g. ``100 KiB``."""
    return _short(binary(nbytes))


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
    """Return parts of one whole (1.0 together) in percent, so that the figures add up to 100.

    Whole percents, or tenths where a part that is not nothing has less than one percent; the
    largest remainders are rounded up. What is less than half a tenth is ``0 %``, so ``100 %``
    never stands beside anything else.
    """
    is_fine = any(_LEAST_SHARE <= part < 0.01 for part in parts)
    units = [part * (1000 if is_fine else 100) for part in parts]
    whole = [math.floor(unit + 1e-9) for unit in units]
    by_remainder = sorted(range(len(units)), key=lambda index: whole[index] - units[index])
    for index in by_remainder[: max(round(sum(units)) - sum(whole), 0)]:
        whole[index] += 1
    if is_fine and max(whole) < 1000:
        return [f"{unit / 10:.1f} %" if unit else "0 %" for unit in whole]
    return [f"{unit // 10 if is_fine else unit} %" for unit in whole]


def duration(seconds: float) -> str:
    """Return a duration in the unit that suits it, from ``12.3 ms`` to ``3 d 4 h``."""
    if not math.isfinite(seconds):
        return _UNKNOWN
    if seconds < 0:
        return f"-{duration(-seconds)}"
    if seconds == 0:
        return "0 s"
    if seconds < 0.9995e-3:
        return f"{significant(seconds * 1e6)} µs"
    if seconds < 0.9995:
        return f"{significant(seconds * 1e3)} ms"
    if seconds < 59.95:
        return f"{significant(seconds)} s"
    return _long_duration(round(seconds))


def _long_duration(seconds: int) -> str:
    """Return a minute or more as its two largest units, the second one left out when 0."""
    for big, small, big_s, small_s in (
        ("d", "h", 86400, 3600),
        ("h", "min", 3600, 60),
        ("min", "s", 60, 1),
    ):
        if seconds >= big_s:
            rest = seconds % big_s // small_s
            return f"{seconds // big_s} {big}" + (f" {rest} {small}" if rest else "")
    return f"{seconds} s"


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
    writers: Mapping[str, Writer] = {
        "bytes": binary,
        "rate": lambda rate: si(rate, "B/s"),
        "seconds": duration,
        "percent": lambda points: percent(points / 100),
        "count": lambda number: (
            count(number) if float(number).is_integer() else significant(number)
        ),
        "time": clock,
    }
    return writers.get(unit, significant)(value) if math.isfinite(value) else _UNKNOWN


def plural(number: int, noun: str) -> str:
    """Return ``1 worker``, ``2 workers``."""
    return f"{count(number)} {noun}{'' if number == 1 else 's'}"


def binary_ticks(end: float, wanted: int = 5) -> list[float]:
    """Return round numbers of bytes from 0 to ``end``, about ``wanted`` of them."""
    if not end > 0:
        return [0.0]
    unit = 1024.0 ** max(0, math.floor(math.log(end, 1024)))
    if end / unit < 2 and unit > 1:
        unit /= 1024
    return _ticks(end, wanted, [step * unit for step in _BINARY_STEPS])


def duration_ticks(end: float, wanted: int = 5) -> list[float]:
    """Return round durations in seconds from 0 to ``end``, about ``wanted`` of them."""
    if end < 5:
        return number_ticks(end, wanted)
    days = [step * _DAY_S for step in (1, 2, 5, 10, 20, 50, 100, 250, 500, 1000)]
    return _ticks(end, wanted, [*_TIME_STEPS, *days])


def number_ticks(end: float, wanted: int = 5, *, whole: bool = False) -> list[float]:
    """Return round numbers from 0 to ``end``; only whole ones where ``whole``."""
    if not end > 0:
        return [0.0]
    base = 10.0 ** math.floor(math.log10(end / wanted))
    steps = [step * scale for scale in (base, base * 10) for step in _ROUND_STEPS]
    return _ticks(end, wanted, [s for s in steps if not whole or (s >= 1 and s == round(s))])


def _ticks(end: float, wanted: int, steps: Sequence[float]) -> list[float]:
    """Return the multiples of the smallest of ``steps`` that needs at most ``wanted`` + 1.

    More of them where 0 would be alone: that is no scale.
    """
    step = next((s for s in steps if end / s <= wanted), end / wanted)
    if step > end:
        step = max((s for s in steps if s <= end), default=step)
    return [index * step for index in range(math.floor(end / step * (1 + 1e-9)) + 1)]


def tick_labels(ticks: Sequence[float], kind: str) -> dict[float, str]:
    """Return the words of ``ticks``; ``kind`` is bytes, rate, seconds, percent or number."""
    kinds = {"bytes": binary, "rate": _rate, "seconds": duration, "percent": _percent_points}
    write = kinds.get(kind, significant)
    return {tick: _short(write(tick)) if tick else "0" for tick in ticks}


def _rate(value: float) -> str:
    return si(value, "B/s")


def _percent_points(value: float) -> str:
    return f"{count(value)} %"


def _short(text: str) -> str:
    """Return ``4 GiB`` for ``4.00 GiB``: a tick needs no digits that are zero."""
    number, _, unit = text.partition(" ")
    if "." in number:
        number = number.rstrip("0").rstrip(".")
    return f"{number} {unit}".rstrip()


def clock(time_s: float) -> str:
    """Return a moment, in seconds since the epoch, as this computer's time of day: ``14:02:10``."""
    return time.strftime("%H:%M:%S", time.localtime(time_s))
