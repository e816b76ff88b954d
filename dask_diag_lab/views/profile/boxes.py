"""The columns of a flame graph: edges, colours, labels and hover text of each box.

Pure: from frames, their places and a look to plain columns; the figure is `flames`'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.figure import ColumnData
from dask_diag_lab.views.look import Look
from dask_diag_lab.views.profile.files import is_own, short_file
from dask_diag_lab.views.profile.frames import Flags, Frames
from dask_diag_lab.views.profile.icicle import Icicle
from dask_diag_lab.views.profile.inks import dimmed, file_color, quiet_color, text_on

BOX_COLUMNS: Final = (
    *("left", "right", "top", "bottom", "fill", "line", "line_width", "hatch"),
    *("title", "where", "source", "whole", "itself"),
)
LABEL_COLUMNS: Final = ("x", "y", "text", "color", "style")
_NUMBERS: Final = frozenset({"left", "right", "top", "bottom", "line_width", "x", "y"})

CALLER_ROW: Final = 0.85
"""Height of the thin row of a caller above the picture, in rows."""
MAX_CALLERS: Final = 4
"""Callers that have a row of their own; more share one."""
LOW_CALLERS: Final = 2
"""The same where there is little room."""
CHARACTER_PX: Final = 6.5
LEAST_CHARACTERS: Final = 3

Columns = dict[str, ColumnData]
_Lists = dict[str, list[Any]]  # numbers and text, by column


@dataclass(frozen=True, slots=True)
class Scene:
    """All that decides what is drawn.

    Attributes
    ----------
    frames : Frames
    icicle : Icicle
    callers : sequence of int
        Frames above the picture's, the root first.
    interval_s : float
        Seconds that one sample stands for.
    is_match : ndarray of bool, or None
        Frames that are searched for; None without a search.
    width_px : float
        Width of the picture.
    is_zoomed : bool
        Whether another frame fills the width than would by itself.
    is_low : bool
        Whether there is room for few rows only.
    """

    frames: Frames
    icicle: Icicle
    callers: Sequence[int]
    interval_s: float
    is_match: Flags | None
    width_px: float
    is_zoomed: bool
    is_low: bool

    @property
    def caller_rows(self) -> Sequence[tuple[int, int]]:
        """Frame of each thin row and how many more callers it stands for."""
        callers = self.callers
        extra = len(callers) - MAX_CALLERS
        if self.is_low and len(callers) > LOW_CALLERS:
            return [(callers[0], 0), (callers[-1], len(callers) - LOW_CALLERS)]
        if extra <= 0:
            return [(node, 0) for node in callers]
        first, *rest = callers[-(MAX_CALLERS - 1) :]
        return [(callers[0], 0), (callers[extra], extra), (first, 0), *((n, 0) for n in rest)]

    @property
    def focus(self) -> int:
        """The frame that fills the width."""
        return int(self.icicle.node[0])

    @property
    def top(self) -> float:
        """Height of the thin rows together, in rows."""
        return CALLER_ROW * len(self.caller_rows)

    def node_at(self, x: float, y: float) -> int:
        """Return the frame at a place of the picture; -1 where there is none or merged ones."""
        if not 0 <= x < 1 or y < 0:
            return -1
        if y < self.top:
            return self.caller_rows[int(y / CALLER_ROW)][0]
        box = self.icicle.at(x, int(y - self.top))
        if box < 0 or self.icicle.merged[box]:
            return -1
        return int(self.icicle.node[box])


def columns(scene: Scene, look: Look) -> tuple[Columns, Columns]:
    """Return the columns of the boxes and of their labels."""
    boxes: _Lists = {name: [] for name in BOX_COLUMNS}
    labels: _Lists = {name: [] for name in LABEL_COLUMNS}
    for at, (node, extra) in enumerate(scene.caller_rows):
        y = at * CALLER_ROW
        _add_caller(scene, look, (node, extra), y, boxes, labels)
    for box in range(len(scene.icicle)):
        _add_box(scene, look, box, boxes, labels)
    return _sendable(boxes), _sendable(labels)


def _sendable(lists: _Lists) -> Columns:
    """Return columns as arrays: Bokeh looks at each item of a list, once and again."""
    return {
        name: np.array(values, dtype=np.float64 if name in _NUMBERS else np.str_)
        for name, values in lists.items()
    }


def _add_caller(
    scene: Scene, look: Look, caller: tuple[int, int], y: float, boxes: _Lists, labels: _Lists
) -> None:
    node, extra = caller
    name = scene.frames.place(node).name
    text = f"{name} and {fmt.plural(extra, 'caller')} more" if extra else name
    fill = quiet_color(look)
    _append(boxes, left=0.0, right=1.0, top=y, bottom=y + CALLER_ROW, fill=fill)
    _append(boxes, line=look.background, line_width=1.0, hatch=" ", **_hover(scene, node))
    _label(labels, scene.width_px, (0.0, 1.0), y + CALLER_ROW / 2, [f"‹ {text}"], fill, False)


def _add_box(scene: Scene, look: Look, box: int, boxes: _Lists, labels: _Lists) -> None:
    icicle, frames = scene.icicle, scene.frames
    node, merged = int(icicle.node[box]), int(icicle.merged[box])
    left, right = float(icicle.left[box]), float(icicle.right[box])
    y = scene.top + float(icicle.row[box])
    place = frames.place(node)
    is_quiet = bool(merged or frames.is_unclear[node])
    fill = quiet_color(look) if is_quiet else file_color(look, place.filename)
    is_dim = scene.is_match is not None and (bool(merged) or not scene.is_match[node])
    if is_dim:
        fill = dimmed(look, fill)
    is_mine = not is_quiet and is_own(place.filename)
    edge = look.foreground if is_mine and not is_dim else look.background
    _append(boxes, left=left, right=right, top=y, bottom=y + 1, fill=fill, line=edge)
    hatch = "right_diagonal_line" if frames.is_unclear[node] and not merged else " "
    _append(boxes, line_width=1.5 if is_mine else 1.0, hatch=hatch)
    if merged:
        _append(boxes, **_merged_hover(scene, box))
        words = [f"{merged} more"]
    else:
        _append(boxes, **_hover(scene, node))
        words = [place.name, _at(place.filename, place.line_number), _share(scene, node)]
    _label(labels, scene.width_px, (left, right), y + 0.5, words, fill, is_mine)


def _append(columns: _Lists, **values: object) -> None:
    for name, value in values.items():
        columns[name].append(value)


def _label(
    labels: _Lists,
    width_px: float,
    span: tuple[float, float],
    y: float,
    words: Sequence[str],
    fill: str,
    is_bold: bool,
) -> None:
    """Write as many of `words` as fit between the edges; nothing where not even some letters do."""
    left, right = span
    room = int(((right - left) * width_px - 8) / (CHARACTER_PX * (1.15 if is_bold else 1.0)))
    if room < LEAST_CHARACTERS:
        return
    # Functions of one file begin differently more often than they end so.
    text = words[0] if len(words[0]) <= room else f"{words[0][: room - 1]}…"
    for more in filter(None, words[1:]):
        if len(text) + len(more) + 2 <= room:
            text = f"{text}  {more}"
    _append(labels, x=left, y=y, text=text, color=text_on(fill))
    _append(labels, style="bold" if is_bold else "normal")


def _share(scene: Scene, node: int) -> str:
    return fmt.percent(scene.frames.total[node] / max(scene.frames.samples, 1))


def _at(filename: str, line_number: int) -> str:
    if not filename:
        return ""
    return fmt.elide(short_file(filename), 120) + (f":{line_number}" if line_number else "")


def _hover(scene: Scene, node: int) -> dict[str, str]:
    frames = scene.frames
    place, whole, own = frames.place(node), int(frames.total[node]), int(frames.own[node])
    samples = max(frames.samples, 1)
    where = _at(place.filename, place.line_number)
    whose = f"{where} (your code)" if is_own(place.filename) else where
    if frames.is_unclear[node]:
        title = f"One of: {place.name.removeprefix('in ')}"
        whose = "Dask has counted these samples at their caller. Choose a task to see more."
    else:
        title = place.name
    return {
        "title": fmt.elide(title, 200),
        "where": whose,
        "source": fmt.elide(place.line, 160),
        "whole": (
            f"{fmt.duration(whole * scene.interval_s)} · {fmt.percent(whole / samples)}"
            f" · {fmt.plural(whole, 'sample')}"
        ),
        "itself": (
            f"Itself: {fmt.duration(own * scene.interval_s)} · {fmt.percent(own / samples)}"
            if own and not frames.is_unclear[node]
            else ""
        ),
    }


def _merged_hover(scene: Scene, box: int) -> dict[str, str]:
    icicle = scene.icicle
    number, whole = int(icicle.merged[box]), int(icicle.samples[box])
    caller = scene.frames.place(int(icicle.node[box])).name
    return {
        "title": f"{fmt.plural(number, 'more function')} called by {fmt.elide(caller, 80)}",
        "where": f"Each is below {fmt.percent(icicle.least)} of the width; click {caller} to zoom",
        "source": "",
        "whole": (
            f"{fmt.duration(whole * scene.interval_s)} · "
            f"{fmt.percent(whole / max(scene.frames.samples, 1))} · {fmt.plural(whole, 'sample')}"
        ),
        "itself": "",
    }
