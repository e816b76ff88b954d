"""Which costs have a bar of their own where there is no room for all: the largest.

Pure; knows neither Bokeh nor the store.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.scheduler.part_bars import Bar, Part


def fitting_bars(
    bars: Sequence[Bar], room: int, color: str, said: Callable[[float], str]
) -> list[Bar]:
    """Return the bars in their order, the smallest ones as one, the last, with its number.

    Parameters
    ----------
    bars : sequence of Bar
    room : int
        How many there may be, at least 2.
    color : str
        Of the bar of the smallest ones.
    said : callable
        Returns what is written beside a bar of some length.
    """
    if len(bars) <= room:
        return list(bars)
    by_size = sorted(bars, key=lambda bar: bar.length, reverse=True)
    rest = by_size[room - 1 :]
    name, total = f"{fmt.count(len(rest))} others", sum(bar.length for bar in rest)
    names = ", ".join(bar.name for bar in rest)
    others = Bar(name, [Part(total, color, (name, said(total), names))], said(total))
    return [*(bar for bar in bars if bar not in rest), others]
