"""The names in the boxes of groups: as much as fits, and what tells them apart.

Pure; knows neither Bokeh nor the store.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import islice, takewhile
from typing import Final

from dask_diag_lab.views.shown_name import shown_name
from dask_diag_lab.views.text_room import fitting_name, text_px

_ELLIPSIS: Final = "…"
_DIGITS: Final = "0123456789"
_SEPARATORS: Final = "-_.: "
_TELLING: Final = 4
"""Letters that a part of a name has at least: fewer are crumbs, and the hover has the name."""


def fitting_names(
    names: Sequence[str], rooms_px: Sequence[float], font_px: float, n_lines: int
) -> list[str]:
    """Return names as they fit; what could stand for several keeps the end in which these differ.

    '' where there is no room for enough of a name to tell it from the others.

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
        if start is not None:
            label = _with_its_end(name, start, room_px, font_px, n_lines)
        labels.append(label)
    named = Counter(label for _, label in set(zip(names, labels, strict=True)))
    return [label if named[label] == 1 else "" for label in labels]


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


def _with_its_end(name: str, start: int, room_px: float, font_px: float, n_lines: int) -> str:
    """Return a name with as much of what precedes ``start`` as fits before what follows it.

    Where not all of that fits, its beginning; '' where even that would be a crumb.
    """
    rest = name[start:].lstrip(_SEPARATORS)
    if rest:
        head, end = shown_name(name[:start]), shown_name(name[start:])
        tries = [f"{head[:n]}{_ELLIPSIS}{end}" for n in range(len(head), -1, -1)]
        fits = (text for text in [*tries, shown_name(rest)] if text_px(text, font_px) <= room_px)
        if found := next(fits, ""):
            return found
    label = fitting_name(rest or name, room_px, font_px, n_lines)
    is_cut = _ELLIPSIS in label
    return "" if is_cut and sum(map(str.isalnum, label)) < _TELLING else label
