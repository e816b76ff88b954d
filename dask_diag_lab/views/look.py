"""How a plot looks: colours and font of the page it is drawn in, set by that page at run time."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Final, Self

PALETTES: Final = ("viridis", "okabe-ito")
"""Choices of `Look.palette`."""

_COLORS: Final = ("foreground", "muted", "grid", "background", "accent")


@dataclass(frozen=True, slots=True)
class Look:
    """Colours and font that a view draws its text, axes and marks with.

    Attributes
    ----------
    name : str
        ``light``, ``dark`` or ``high-contrast``; views choose data colours by `is_dark`.
    foreground, muted, grid, background, accent : str
        CSS colours (``#rrggbb``): text, secondary text, quiet lines, canvas, links and marks.
    font, font_size : str
        CSS font family and size.
    palette : str
        Colours of task prefixes: ``viridis`` (Dask's) or ``okabe-ito`` (safe with colour
        blindness, fewer colours).
    """

    name: str = "light"
    foreground: str = "#212121"
    muted: str = "#616161"
    grid: str = "#e0e0e0"
    background: str = "#ffffff"
    accent: str = "#1976d2"
    font: str = "system-ui, sans-serif"
    font_size: str = "12px"
    palette: str = "viridis"

    @property
    def is_dark(self) -> bool:
        return self.name != "light"

    @classmethod
    def of(cls, given: Mapping[str, str]) -> Self:
        """Return the look that a page sent, with defaults for what it left out."""
        base = DARK if given.get("name", "light") != "light" else LIGHT
        values = {f.name: given.get(f.name) or getattr(base, f.name) for f in fields(cls)}
        for name in _COLORS:
            values[name] = _hex(values[name]) or getattr(base, name)
        if values["palette"] not in PALETTES:
            values["palette"] = base.palette
        return cls(**values)


def _hex(color: str) -> str:
    """Return ``#rgb``, ``#rrggbb`` and ``rgb(r, g, b)`` as ``#rrggbb``; '' for all else."""
    text = color.strip().lower()
    if re.fullmatch(r"#[0-9a-f]{6}", text):
        return text
    if re.fullmatch(r"#[0-9a-f]{3}", text):
        return "#" + "".join(2 * digit for digit in text[1:])
    found = re.fullmatch(r"rgba?\((\d{1,3}),? *(\d{1,3}),? *(\d{1,3})(?:[,/ ].*)?\)", text)
    if found is None or any(int(part) > 255 for part in found.groups()):
        return ""
    return "#" + "".join(f"{int(part):02x}" for part in found.groups())


LIGHT = Look()
DARK = Look(
    name="dark",
    foreground="#e0e0e0",
    muted="#9e9e9e",
    grid="#424242",
    background="#111111",
    accent="#64b5f6",
)
