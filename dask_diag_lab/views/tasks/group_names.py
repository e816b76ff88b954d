"""The names in the boxes of groups: as much as fits, and what tells them apart.

Pure; knows neither Bokeh nor the store.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Sequence
from itertools import islice, takewhile
from typing import Final

from dask_diag_lab.views.shown_name import shown_name
from dask_diag_lab.views.text_room import fitting_name, fitting_text, text_px

_ELLIPSIS: Final = "…"
_DIGITS: Final = "0123456789"


def fitting_names(
    names: Sequence[str], rooms_px: Sequence[float], font_px: float, n_lines: int
) -> list[str]:
    """Return names as they fit; what could stand for several keeps the end in which these differ.

    Parameters
    ----------
    names : sequence of str
    rooms_px : sequence of float
        Width of a line for each name.
    font_px : float
    n_lines : int
        Lines that a name may take.
    """
    ordered = sorted(set(names))
    starts: dict[str, int | None] = {}
    labels = []
    for name, room_px in zip(names, rooms_px, strict=True):
        label = fitting_name(name, room_px, font_px, n_lines)
        if label not in starts:
            alike = _alike(label, ordered) if _ELLIPSIS in label else []
            starts[label] = _common_start(alike) if len(alike) > 1 else None
        start = starts[label]
        labels.append(label if start is None else _with_its_end(name, start, room_px, font_px))
    return labels


def _alike(label: str, ordered: Sequence[str]) -> list[str]:
    """Return which of the ``ordered`` names a shortened one may stand for."""
    head, _, tail = label.replace("\n", "").partition(_ELLIPSIS)
    first = bisect_left(ordered, head)
    same_head = takewhile(lambda name: name.startswith(head), islice(ordered, first, None))
    return [name for name in same_head if name.endswith(tail)]


def _common_start(names: Collection[str]) -> int:
    """Return how many first characters all names share, without a part of a number."""
    first, last = min(names), max(names)
    pairs = enumerate(zip(first, last, strict=False))
    same = next((n for n, (one, other) in pairs if one != other), min(len(first), len(last)))
    return len(first[:same].rstrip(_DIGITS))


def _with_its_end(name: str, start: int, room_px: float, font_px: float) -> str:
    """Return a name with as much of what precedes ``start`` as fits before what follows it."""
    head, end = shown_name(name[:start]), shown_name(name[start:]) if name[start:] else ""
    tries = [f"{head[:n]}{_ELLIPSIS}{end}" for n in range(len(head), -1, -1)]
    fits = (text for text in [*tries, end] if text_px(text, font_px) <= room_px)
    return next(fits, "") or fitting_text(end or name, room_px, font_px)
