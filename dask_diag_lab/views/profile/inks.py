"""Colours of the boxes of a flame graph and of the text on them, for any canvas."""

from __future__ import annotations

from functools import lru_cache

from dask_diag_lab.views.look import Look
from dask_diag_lab.views.palette import mixed, prefix_palette
from dask_diag_lab.views.profile.files import color_index, is_own


def luminance(color: str) -> float:
    """Return the relative luminance of ``#rrggbb``, by WCAG 2.2."""
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@lru_cache(maxsize=1024)
def text_on(fill: str) -> str:
    """Return black or white, whichever is read better on `fill`; always at least 4.5:1."""
    # Both have the same contrast, 4.58:1, at this luminance.
    return "#000000" if luminance(fill) > 0.1791 else "#ffffff"


def file_color(look: Look, filename: str) -> str:
    """Return the colour of a file or library; grey of what is in no file."""
    if not filename:
        return quiet_color(look)
    # The user's files and libraries share no colour, however their names fall.
    colors = prefix_palette(look)[0 if is_own(filename) else 1 :: 2]
    return colors[color_index(filename) % len(colors)]


def quiet_color(look: Look) -> str:
    """Return the grey of the root, of merged frames and of callers above the picture."""
    return mixed(look.background, look.muted, 0.45)


def dimmed(look: Look, color: str) -> str:
    """Return a colour of what is not searched for."""
    return mixed(color, look.background, 0.8)
