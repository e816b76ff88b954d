"""Every data colour of every plot, for light and dark canvases.

Knows nothing of the store or of Bokeh. Text, axes and canvas colours belong to `look`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from dask_diag_lab.views.look import Look

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

_PREFIXES: Final = {
    ("viridis", False): VIRIDIS_LIGHT,
    ("viridis", True): VIRIDIS_DARK,
    ("okabe-ito", False): OKABE_ITO_LIGHT,
    ("okabe-ito", True): OKABE_ITO_DARK,
}


@dataclass(frozen=True, slots=True)
class DataColors:
    """Colours with a fixed meaning; the meaning is never told by the colour alone.

    Attributes
    ----------
    transfer, disk, deserialize : str
        What a thread did when it did not compute.
    erred, erred_mark : str
        Fill of an erred task, and the outline or hatch that keeps it visible on any canvas.
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

    transfer: str
    disk: str
    deserialize: str
    erred: str
    erred_mark: str
    killed: str
    killed_mark: str
    gone: str
    track: str
    waiting: str
    queued: str
    no_worker: str
    memory_ok: str
    memory_near: str
    memory_over: str
    spilled: str
    load_normal: str
    load_saturated: str
    load_idle: str
    incoming: str
    outgoing: str
    states: Mapping[str, str]


MANAGED_ALPHA: Final = 1.0
UNMANAGED_OLD_ALPHA: Final = 0.7
UNMANAGED_RECENT_ALPHA: Final = 0.4

_LIGHT: Final = DataColors(
    transfer="#ff4d4d",
    disk="#ffa500",
    deserialize="#9e9e9e",
    erred="#000000",
    erred_mark="#ffffff",
    killed="#6d1b1b",
    killed_mark="#ffb3b3",
    gone="#9e9e9e",
    track="#eeeeee",
    waiting="#bdbdbd",
    queued="#bdbdbd",
    no_worker="#e57373",
    memory_ok="#3b78e7",
    memory_near="#d97706",
    memory_over="#d93025",
    spilled="#8a8a8a",
    load_normal="#3b78e7",
    load_saturated="#2e9e4f",
    load_idle="#d93025",
    incoming="#d93025",
    outgoing="#3b78e7",
    states={
        "released": "#3b78e7",
        "waiting": "#9e9e9e",
        "no-worker": "#f06292",
        "queued": "#fbc02d",
        "processing": "#2e9e4f",
        "memory": "#d93025",
        "erred": "#000000",
        "forgotten": "#e0e0e0",
    },
)

_DARK: Final = DataColors(
    transfer="#ff5c5c",
    disk="#ffb030",
    deserialize="#9e9e9e",
    erred="#000000",
    erred_mark="#f5f5f5",
    killed="#5c1a1a",
    killed_mark="#ff9e9e",
    gone="#757575",
    track="#2a2a2a",
    waiting="#616161",
    queued="#757575",
    no_worker="#e57373",
    memory_ok="#6ba4ff",
    memory_near="#ffb74d",
    memory_over="#ff6b5e",
    spilled="#9e9e9e",
    load_normal="#6ba4ff",
    load_saturated="#5fc97f",
    load_idle="#ff6b5e",
    incoming="#ff6b5e",
    outgoing="#6ba4ff",
    states={
        "released": "#6ba4ff",
        "waiting": "#8a8a8a",
        "no-worker": "#f48fb1",
        "queued": "#ffd54f",
        "processing": "#5fc97f",
        "memory": "#ff6b5e",
        "erred": "#000000",
        "forgotten": "#424242",
    },
)


# Blue, amber and vermilion, which differ in lightness as well: under protanopia, deuteranopia and
# tritanopia (Machado 2009) each pair of one meaning stays 0.1 apart in OKLab; red and green do not.
_SAFE_LIGHT: Final = replace(
    _LIGHT,
    transfer="#d55e00",
    disk="#e69f00",
    no_worker="#cc79a7",
    memory_ok="#0072b2",
    memory_near="#c08400",
    memory_over="#a33200",
    load_normal="#0072b2",
    load_saturated="#c08400",
    load_idle="#a33200",
    incoming="#d55e00",
    outgoing="#0072b2",
    states={
        **_LIGHT.states,
        "released": "#56b4e9",
        "no-worker": "#cc79a7",
        "queued": "#f0e442",
        "processing": "#e69f00",
        "memory": "#0072b2",
    },
)

_SAFE_DARK: Final = replace(
    _DARK,
    transfer="#e8702a",
    disk="#f0b429",
    no_worker="#d68ab3",
    memory_ok="#3d9bd6",
    memory_near="#f0b429",
    memory_over="#e85a1a",
    load_normal="#3d9bd6",
    load_saturated="#f0b429",
    load_idle="#e85a1a",
    incoming="#e8702a",
    outgoing="#3d9bd6",
    states={
        **_DARK.states,
        "released": "#7cc6f2",
        "no-worker": "#d68ab3",
        "queued": "#f0e442",
        "processing": "#e69f00",
        "memory": "#3d9bd6",
    },
)

_DATA: Final = {
    ("viridis", False): _LIGHT,
    ("viridis", True): _DARK,
    ("okabe-ito", False): _SAFE_LIGHT,
    ("okabe-ito", True): _SAFE_DARK,
}


def prefix_palette(look: Look) -> tuple[str, ...]:
    """Return the colours of task prefixes, in the order in which prefixes appear."""
    return _PREFIXES[look.palette, look.is_dark]


def prefix_color(index: int, look: Look) -> str:
    """Return the colour of the prefix with this index in ``store.palette``.

    No two prefixes are alike until the palette is used up; then it starts again.
    """
    colors = prefix_palette(look)
    return colors[index % len(colors)]


def data_colors(look: Look) -> DataColors:
    """Return the colours with a fixed meaning for the canvas and the palette of this look."""
    return _DATA[look.palette, look.is_dark]


def mixed(color: str, other: str, share: float) -> str:
    """Return ``#rrggbb`` with ``share`` of another ``#rrggbb`` in it, channel by channel."""
    pairs = [(int(color[i : i + 2], 16), int(other[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def quiet_color(look: Look) -> str:
    """Return a grey between canvas and secondary text, for what stands for many or for nothing."""
    return mixed(look.background, look.muted, 0.45)
