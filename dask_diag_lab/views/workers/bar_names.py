"""The names beside the bars of a plot: short in a narrow one, of every n-th bar when thin.

Pure; knows no Bokeh model and not the store.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from dask_diag_lab.views.pane_size import CHARACTER_PX, PaneSize
from dask_diag_lab.views.worker_names import name_in_words, readable_name, short_names

LEAST_PX: Final = 140
"""Narrower panes have room for bars alone."""

LEAST_HEIGHT_PX: Final = 74
"""Lower ones too: axes would take what title and bars need."""

TITLE_PX: Final = 18
"""Width of the axis' own title."""

_CHARACTERS: Final = (5, 20)
_SHARE: Final = 0.22
"""Share of the width that names may take."""
_ROW_PX: Final = 13
_STEPS: Final = (1, 2, 5)


class BarNames:
    """Shortens the names of all bars together, so that they stay while the picture is scrolled.

    Remembers what it made last: heartbeats come several times a second, names hardly ever change.
    """

    def __init__(self) -> None:
        self._read: tuple[Sequence[str], list[str]] = ((), [])
        self._in_words: tuple[Sequence[str], list[str]] = ((), [])
        self._last: tuple[tuple[Sequence[str], int], list[str]] = (((), 0), [])

    def readable(self, names: Sequence[str]) -> Sequence[str]:
        """Return the names of workers as people read them."""
        if self._read[0] != names:
            self._read = (names, list(map(readable_name, names)))
        return self._read[1]

    def of_workers(self, names: Sequence[str], width_px: int) -> list[str]:
        """Return the names of workers as `short`, and ``worker 0`` for ``0`` where all fit so."""
        if self._in_words[0] != names:
            self._in_words = (names, list(map(name_in_words, names)))
        words = self._in_words[1]
        has_room = max(map(len, words), default=0) <= characters(width_px)
        return self.short(words if has_room else names, width_px)

    def short(self, names: Sequence[str], width_px: int) -> list[str]:
        """Return the names as they are written in a picture of this width."""
        asked = (names, characters(width_px))
        if self._last[0] != asked:
            self._last = (asked, short_names(*asked))
        return self._last[1]


def characters(width_px: int) -> int:
    """Return how long a name may be in a picture of this width."""
    least, most = _CHARACTERS
    return min(max(int(width_px * _SHARE / CHARACTER_PX), least), most)


def axis_title(named: Iterable[tuple[str, str]]) -> str | None:
    """Return what the axis says of workers that are called by bare numbers: what these count.

    Parameters
    ----------
    named : iterable of (name, label)
        What a worker is called in full, for a number may be what is left of an address; and what
        is written beside the bar, with ``worker`` in it where there was room.
    """
    in_words = ((name, name_in_words(name), label) for name, label in named)
    is_bare = any(words != name and words not in label for name, words, label in in_words)
    return "worker" if is_bare else None


def has_room(size: PaneSize) -> bool:
    """Tell whether a figure is large enough for names beside its bars."""
    return size.width >= LEAST_PX and size.height >= LEAST_HEIGHT_PX


def is_cramped(n_rows: int, size: PaneSize) -> bool:
    """Tell whether rows are too thin for words of their own."""
    return size.rows_px / max(n_rows, 1) < _ROW_PX - 2


def step_of(row_px: float) -> int:
    """Return that every so many rows of this height have their name."""
    return next((step for step in _STEPS if step * row_px >= _ROW_PX), 10)
