"""How a plot looks: colours and font of the page it is drawn in, which sets them at run time.

Also every data colour of every plot, for light and dark canvases. Knows nothing of histories or of
Bokeh.
"""

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


# --- colours of data

VIRIDIS_LIGHT: Final = (
    *("#1e978a", "#440154", "#fde724", "#355d8c", "#45bf6f", "#afdc2e"),
    *("#433c84", "#287a8e", "#d7e219", "#88d547", "#3c4d8a", "#23898d"),
    *("#64cb5d", "#20a585", "#472a79", "#2eb27c", "#2e6c8e", "#471669"),
)
"""The 18 viridis samples of Dask's own dashboard.

In an order of which each beginning has its colours far apart in CIELAB, here and in the dark: by a
search for the order whose smallest distances, of CIE 1976 and of CIEDE2000, are the greatest share
of the best there is for so many, up to eight above all, then up to twelve. Two of the first six are
30 apart at least, of the first eight 22, of the first twelve 11.
"""

VIRIDIS_DARK: Final = (
    *("#4ab8aa", "#9a4ab0", "#fde724", "#608abc", "#5ed584", "#b8e63c"),
    *("#716acc", "#53a1b6", "#dce725", "#95e356", "#637bcd", "#4fadb1"),
    *("#76dd6f", "#49c2a1", "#7d59c4", "#4fcc94", "#5996ba", "#8f55c0"),
)
"""The same colours with OKLab lightness compressed to 0.50–0.92: at least 3:1 on ``#111111``."""

OKABE_ITO_LIGHT: Final = (
    *("#0072b2", "#e69f00", "#009e73", "#cc79a7"),
    *("#56b4e9", "#d55e00", "#f0e442", "#7f7f7f"),
)
"""Okabe and Ito's colours, told apart with every common colour blindness.

https://jfly.uni-koeln.de/color/ ; their black is replaced by grey: black means erred here.
"""

OKABE_ITO_DARK: Final = (
    *("#3d9bd6", "#e69f00", "#1fb88c", "#d68ab3"),
    *("#7cc6f2", "#e8702a", "#f0e442", "#a6a6a6"),
)


class Shades:
    """A colour with a meaning: on light canvases, on dark ones, and those of the safe palette."""

    def __init__(self, light: str, dark: str = "", safe: str = "", safe_dark: str = "") -> None:
        dark = dark or light
        self._of = {
            ("viridis", False): light,
            ("viridis", True): dark,
            ("okabe-ito", False): safe or light,
            ("okabe-ito", True): safe_dark or safe or dark,
        }

    def __get__(self, colors: DataColors, _owner: type[DataColors]) -> str:
        return self.on(colors.look)

    def on(self, look: Look) -> str:
        """Return the colour for the canvas and the palette of this look."""
        return self._of[look.palette, look.is_dark]


class DataColors:
    """Colours with a fixed meaning; the meaning is never shown by the colour alone.

    Parameters
    ----------
    look : Look

    Attributes
    ----------
    transfer, disk, deserialize : str
        What a thread did when it did not compute.
    erred, erred_mark : str
        Fill of an erred task, and the outline or hatch that keeps it visible on any canvas.
    retried : str
        An attempt that failed, of a task that was run again; marked as an erred one.
    killed, killed_mark : str
        The same for a task that died with its worker.
    gone : str
        Where a worker that left had its rows.
    track : str
        Quiet fill of an empty bar, behind the data.
    waiting, queued, no_worker : str
        Tasks that cannot run yet; ``queued`` and ``no_worker`` carry a hatch as well.
    memory_ok, memory_near, memory_over, spilled : str
        Memory below the target, near spilling, over its limit or paused; bytes on disk.
    load_normal, load_saturated, load_idle : str
        A worker's share of the work.
    incoming, outgoing : str
        Data that comes in or is read, and data that goes out or is written.
    states : mapping of str to str
        One colour for each task state of the task graph.
    """

    # Safe are blue, amber and vermilion, which differ in lightness as well: under protanopia,
    # deuteranopia and tritanopia (Machado 2009) each pair of one meaning stays 0.1 apart in OKLab;
    # red and green do not.
    transfer = Shades("#ff4d4d", "#ff5c5c", "#d55e00", "#e8702a")
    disk = Shades("#ffa500", "#ffb030", "#e69f00", "#f0b429")
    deserialize = Shades("#9e9e9e")
    erred = Shades("#000000")
    erred_mark = Shades("#ffffff", "#f5f5f5")
    retried = Shades("#757575", "#4d4d4d")
    killed = Shades("#6d1b1b", "#5c1a1a")
    killed_mark = Shades("#ffb3b3", "#ff9e9e")
    gone = Shades("#9e9e9e", "#757575")
    track = Shades("#eeeeee", "#2a2a2a")
    waiting = Shades("#bdbdbd", "#616161")
    queued = Shades("#bdbdbd", "#757575")
    no_worker = Shades("#e57373", "#e57373", "#cc79a7", "#d68ab3")
    memory_ok = load_normal = outgoing = Shades("#3b78e7", "#6ba4ff", "#0072b2", "#3d9bd6")
    memory_near = Shades("#d97706", "#ffb74d", "#c08400", "#f0b429")
    memory_over = load_idle = Shades("#d93025", "#ff6b5e", "#a33200", "#e85a1a")
    incoming = Shades("#d93025", "#ff6b5e", "#d55e00", "#e8702a")
    spilled = Shades("#8a8a8a", "#9e9e9e")
    load_saturated = Shades("#2e9e4f", "#5fc97f", "#c08400", "#f0b429")

    def __init__(self, look: Look) -> None:
        self.look = look
        self.states = {state: shades.on(look) for state, shades in _STATES.items()}


_STATES: Final = {
    "released": Shades("#8fb8f5", "#4a6a9c", "#56b4e9", "#7cc6f2"),
    "waiting": Shades("#9e9e9e", "#8a8a8a"),
    "no-worker": Shades("#f06292", "#f48fb1", "#cc79a7", "#d68ab3"),
    "queued": Shades("#fbc02d", "#ffd54f", "#f0e442"),
    "processing": Shades("#2e9e4f", "#5fc97f", "#e69f00"),
    "memory": Shades("#2f6fe0", "#7db0ff", "#0072b2", "#3d9bd6"),
    "erred": Shades("#000000"),
    "forgotten": Shades("#e0e0e0", "#424242"),
}


def prefix_palette(look: Look) -> tuple[str, ...]:
    """Return the colours of task prefixes, in the order in which prefixes appear."""
    if look.palette == "okabe-ito":
        return OKABE_ITO_DARK if look.is_dark else OKABE_ITO_LIGHT
    return VIRIDIS_DARK if look.is_dark else VIRIDIS_LIGHT


def prefix_color(index: int, look: Look) -> str:
    """Return the colour of the prefix with this index in ``history.prefix_index``.

    No two prefixes are alike until the palette is used up; then it starts again.
    """
    colors = prefix_palette(look)
    return colors[index % len(colors)]


def data_colors(look: Look) -> DataColors:
    """Return the colours with a fixed meaning for the canvas and the palette of this look."""
    return DataColors(look)


def shade(look: Look, color: str) -> str:
    """Return the colour of an attribute of `DataColors`; others, such as ``#rrggbb``, as it is."""
    return getattr(data_colors(look), color, color)


def mixed(color: str, other: str, share: float) -> str:
    """Return ``#rrggbb`` with ``share`` of another ``#rrggbb`` in it, channel by channel."""
    pairs = [(int(color[i : i + 2], 16), int(other[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def faint_color(look: Look) -> str:
    """Return a grey between canvas and secondary text, for what stands for many or for nothing."""
    return mixed(look.background, look.muted, 0.45)
