"""How wide text is, about, and how much of it fits: the browser alone knows its fonts.

Pure; knows neither Bokeh nor the store. Widths are on the wide side of common fonts, so that what
is said to fit does.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import lru_cache
from itertools import accumulate
from typing import Final

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.shown_name import shown_name

_USUAL_PX: Final = 12.0
_FEW: Final = 8
_NARROW: Final = frozenset("ijlftrI|!.,:;'()[]{} /\\-·")
_WIDE: Final = frozenset("mwMWGOQ@%—…&")
_FULL: Final = frozenset("WF")
"""Of Unicode's East Asian widths."""


def font_px(size: str) -> float:
    """Return a CSS size in pixels; the usual one where it is in another unit."""
    try:
        return float(size.removesuffix("px"))
    except ValueError:
        return _USUAL_PX


def text_px(text: str, font_px: float) -> float:
    """Return about how many pixels wide a text is."""
    return sum(map(_width, text)) * font_px


@lru_cache(maxsize=4096)
def _width(character: str) -> float:
    """Return the width of a character in sizes of the font."""
    if character in _NARROW:
        return 0.39
    if character in _WIDE:
        return 0.92
    if character.isascii():
        return 0.71 if character.isupper() else 0.6
    if unicodedata.combining(character):
        return 0.0
    return 1.05 if unicodedata.east_asian_width(character) in _FULL else 0.7


def fitting_name(name: str, room_px: float, font_px: float, n_lines: int = 1) -> str:
    """Return a name as visible text that fits, in so many lines at most; see `shown_name`."""
    lines = []
    for _ in range(n_lines - 1):
        n = _n_fitting(name, room_px / font_px)
        if n == len(name):
            break
        lines.append(shown_name(name[:n]))
        name = name[n:]
    lines.append(_fitting(lambda n: _elided(name, n), len(name), room_px, font_px))
    return "\n".join(lines)


def _elided(name: str, n: int) -> str:
    """Return a name in so many characters: of a few only the beginning tells something."""
    if n >= min(_FEW, len(name)):
        return shown_name(name, n)
    return f"{shown_name(name)[: n - 1]}…"


def _n_fitting(text: str, room: float) -> int:
    """Return how many of the first characters fit, at least 1; ``room`` in sizes of the font."""
    widths = accumulate(map(_width, text))
    return max(sum(width <= room for width in widths), 1)


def fitting_text(text: str, room_px: float, font_px: float) -> str:
    """Return a text that fits; the middle of a longer one gives way to an ellipsis."""
    return _fitting(lambda n: fmt.elide(text, n), len(text), room_px, font_px)


def _fitting(elided: Callable[[int], str], length: int, room_px: float, font_px: float) -> str:
    """Return what ``elided`` makes of the largest number of characters that fits, at least 1."""
    if text_px(whole := elided(max(length, 1)), font_px) <= room_px:
        return whole
    fits, too_many = 1, max(length, 1)
    while too_many - fits > 1:
        n = (fits + too_many) // 2
        if text_px(elided(n), font_px) <= room_px:
            fits = n
        else:
            too_many = n
    return elided(fits)
