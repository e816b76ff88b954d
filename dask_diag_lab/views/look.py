"""How a plot looks: colours and font of the page it is drawn in, set by that page at run time."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import tzinfo
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

PALETTES: Final = ("viridis", "okabe-ito")
"""Choices of `Look.palette`."""

_COLORS: Final = ("foreground", "muted", "grid", "background", "accent")
_FIELDS: Final = {
    "name": re.compile("light|dark|high-contrast"),
    **dict.fromkeys(_COLORS, re.compile("#[0-9a-f]{6}")),
    "font": re.compile(r"[^<>{};\\]{1,300}"),
    "font_size": re.compile(r"[0-9]{1,4}(\.[0-9]{1,6})?px"),
    "palette": re.compile("|".join(PALETTES)),
    "zone": re.compile(r"[A-Za-z0-9_+/-]{1,64}"),
}
"""What a page may send as the fields of `Look`."""


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
    zone : str
        The reader's time zone, such as ``Europe/Berlin``; '' where it is not known.
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
    zone: str = ""

    @property
    def is_dark(self) -> bool:
        return self.name != "light"

    @property
    def time_zone(self) -> tzinfo | None:
        """The reader's time zone, None where this computer does not know it."""
        try:
            return ZoneInfo(self.zone)
        except (OSError, ValueError, ZoneInfoNotFoundError):
            return None

    @property
    def style(self) -> dict[str, str]:
        """Colours and font by name, as charts and style sheets take them."""
        return {f.name: getattr(self, f.name) for f in fields(self)[1:-2]}

    @staticmethod
    def of(given: Mapping[str, object]) -> Look:
        """Return the look that a page sent, with defaults for what is missing or unusable."""
        sent = {name: str(given.get(name, "")) for name in _FIELDS}
        usable = {name: text for name, text in sent.items() if _FIELDS[name].fullmatch(text)}
        return replace(LIGHT if usable.get("name", "light") == "light" else DARK, **usable)


LIGHT = Look()
DARK = Look(
    name="dark",
    foreground="#e0e0e0",
    muted="#9e9e9e",
    grid="#424242",
    background="#111111",
    accent="#64b5f6",
)
