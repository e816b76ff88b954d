"""The units of lines over time: how values are written, ticks and least ends of an axis."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final, Literal

from dask_diag_lab.views import format as fmt

Unit = Literal["bytes", "rate", "percent", "number", "count", "seconds"]

WRITE: Final[Mapping[str, Callable[[float], str]]] = {
    "bytes": fmt.binary,
    "rate": lambda value: fmt.si(value, "B/s"),
    "percent": lambda value: f"{fmt.significant(value)} %",
    "number": fmt.significant,
    "count": fmt.significant,  # the mean of several need not be whole
    "seconds": fmt.duration,
}
TICKS: Final[Mapping[str, Callable[[float, int], list[float]]]] = {
    "bytes": fmt.binary_ticks,
    "count": partial(fmt.number_ticks, whole=True),
    "seconds": fmt.duration_ticks,
}
SMALLEST: Final = {"bytes": 1024.0**2, "rate": 1000.0, "percent": 5.0, "seconds": 1e-3}
"""Least end of the axis: noise near zero does not fill the picture."""
