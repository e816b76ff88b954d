"""What a task stream draws of a window: blocks as columns, gathered off the loop.

Pure NumPy: knows neither Bokeh nor a colour, only colour codes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.schema import Kind, Outcome

if TYPE_CHECKING:
    from dask_diag_lab.store import Store
    from dask_diag_lab.store.lod import LevelOfDetail, WindowQuery
    from dask_diag_lab.views.stream.rows import Rows
    from dask_diag_lab.views.stream.window import TimeWindow

PREFIX_CODES: Final = 216
"""Codes below this are prefixes: a multiple of both palettes' lengths, so the order repeats."""
TRANSFER_CODE: Final = 216
DISK_CODE: Final = 217
DESERIALIZE_CODE: Final = 218
ERRED_CODE: Final = 219
KILLED_CODE: Final = 220

BUCKETS: Final = 2000
"""What is closer than one of so many parts of the window is merged: less than a pixel each."""
MAX_BLOCKS: Final = 7000
"""What Chromium redraws in one or two frames without a GPU, when it draws no outlines."""
FLANK_BLOCKS: Final = 1000
"""Of these, at most so many for each side of the window, where only panning leads."""

FULL_HEIGHT: Final = 0.8
LEAST_FILL: Final = 0.15
"""Merged tasks are as high as they are busy, but never lower than this share."""
HEIGHTS: Final = np.array(
    [{Kind.COMPUTE: FULL_HEIGHT, Kind.TRANSFER: 0.4}.get(kind, 0.22) for kind in Kind]
)
"""Of a row, by kind: what is not computing differs in height as well as in colour."""
_CODES: Final = np.array([0, TRANSFER_CODE, DISK_CODE, DISK_CODE, DESERIALIZE_CODE], dtype=np.uint8)
_NAMES: Final = (
    *("start", "stop", "slot", "kind", "outcome", "prefix", "task", "nbytes", "source"),
    *("count", "busy_s", "longest_s"),
)

Columns = dict[str, npt.NDArray[Any]]  # dtypes differ from column to column


@dataclass(frozen=True, slots=True)
class Frame:
    """What is drawn, and the axes that it belongs to.

    Attributes
    ----------
    start, end, zero : float
        The window, and the moment that its axis calls 0, seconds since the epoch.
    rows : Rows
    asked : slice
        The rows whose blocks are here.
    centre : LevelOfDetail
        What the window shows, without its flanks.
    blocks : dict of str to ndarray
        The columns of `LevelOfDetail` of window and flanks together, ``slot`` being the row of
        the picture; and ``code``, the number of the colour.
    sent : dict of str to ndarray
        The same for the browser, see `to_sent`.
    """

    start: float
    end: float
    zero: float
    rows: Rows
    asked: slice
    centre: LevelOfDetail
    blocks: Columns
    sent: Columns

    def covers(self, window: TimeWindow) -> bool:
        """Return whether its blocks will do for a window, at about its level of detail."""
        width = self.end - self.start
        is_inside = self.start - width <= window.start and window.end <= self.end + width
        return is_inside and 0.5 * width < window.width < 1.5 * width


def frame_job(
    store: Store, window: TimeWindow, rows: Rows, asked: slice, buckets: int = BUCKETS
) -> tuple[Hashable, Callable[[], Frame]]:
    """Return what equal frames have in common, and what makes one, in any thread."""
    start, end, zero = window.start, window.end, window.zero
    width, slots = end - start, None
    if rows.n_hidden or asked != slice(0, rows.count):
        slots = rows.slots[asked]
    ask = store.actions.query
    queries = (
        ask(start, end, slots, buckets, MAX_BLOCKS),
        ask(start - width, start, slots, buckets // 2, FLANK_BLOCKS),
        ask(end, end + width, slots, buckets // 2, FLANK_BLOCKS),
    )
    colors = store.palette.indices(np.arange(len(store.strings)))

    def make() -> Frame:
        centre, *flanks = _answers(*queries)
        blocks = _blocks([centre, *flanks], (start, end), rows.row_of, colors)
        sent = to_sent(blocks, zero, max(abs(start - zero), abs(end - zero)) + width, width)
        return Frame(start, end, zero, rows, asked, centre, blocks, sent)

    questions = tuple(query.question for query in queries)
    return (questions, zero, id(rows), len(store.palette)), make


def _answers(centre: WindowQuery, *flanks: WindowQuery) -> list[LevelOfDetail]:
    """Return what to draw of a window, then of its flanks; the window has what these leave."""
    beside = [flank.answer() for flank in flanks]
    left = max(MAX_BLOCKS - sum(map(len, beside)), MAX_BLOCKS // 2)
    return [replace(centre, max_rects=left).answer(), *beside]


def _blocks(
    parts: Sequence[LevelOfDetail],
    cut: tuple[float, float],
    row_of: npt.NDArray[np.int64],
    colors: npt.NDArray[np.int64],
) -> Columns:
    """Return the blocks of a window (first part) and its flanks, without duplicates.

    What reaches over the window's edge is in its own part already; a merged block of a flank is
    cut there instead, for it may hold more.
    """
    pieces = [{name: getattr(part, name) for name in _NAMES} for part in parts]
    pieces[1:] = [_outside(piece, cut) for piece in pieces[1:]]
    blocks: Columns = {n: np.concatenate([piece[n] for piece in pieces]) for n in _NAMES}
    blocks["slot"] = row_of[blocks["slot"]]
    blocks = {name: column[blocks["slot"] >= 0] for name, column in blocks.items()}
    is_work, outcome = blocks["kind"] == Kind.COMPUTE, blocks["outcome"]
    prefix = np.maximum(colors[blocks["prefix"]], 0) % PREFIX_CODES
    code = np.where(is_work, prefix, _CODES[blocks["kind"]])
    code[is_work & (outcome == Outcome.ERRED)] = ERRED_CODE
    code[is_work & (outcome == Outcome.KILLED)] = KILLED_CODE
    return blocks | {"code": code.astype(np.uint8)}


def _outside(piece: Columns, cut: tuple[float, float]) -> Columns:
    """Return what of a flank lies outside the window; none of single ones that reach into it."""
    reaches_in = (piece["start"] < cut[1]) & (piece["stop"] > cut[0])
    is_before = piece["start"] < cut[0]
    stop = np.where(reaches_in & is_before, cut[0], piece["stop"])
    start = np.where(reaches_in & ~is_before, cut[1], piece["start"])
    keep = (~reaches_in | (piece["count"] > 1)) & (stop >= start)
    return {name: col[keep] for name, col in {**piece, "start": start, "stop": stop}.items()}


def to_sent(blocks: Columns, zero: float, reach_s: float, width_s: float) -> Columns:
    """Return blocks in the smallest types that show no difference.

    Parameters
    ----------
    blocks : dict of str to ndarray
    zero : float
        Moment that the picture's axis calls 0.
    reach_s : float
        How far from it the blocks reach.
    width_s : float
        Of the window: decides how exact the edges must be.
    """
    # A float32 has 23 bits; an edge may be off by an eighth of a pixel of a very wide picture.
    edge = np.float64 if reach_s * 2.0**-23 > width_s / 32_000 else np.float32
    kind, is_merged = blocks["kind"], blocks["count"] > 1
    # What is not computing takes no more of the picture than of the time.
    least = np.where(kind == Kind.COMPUTE, LEAST_FILL, 0.0)
    span = np.maximum(blocks["stop"] - blocks["start"], 1e-12)
    fill = np.where(is_merged, np.clip(blocks["busy_s"] / span, least, 1.0), 1.0)
    to_middle = (FULL_HEIGHT - HEIGHTS[kind]) / 2  # what is no task is at the bottom of its row
    is_small = max(blocks["prefix"].max(initial=0), blocks["source"].max(initial=0)) < 1 << 16
    text_id = np.uint16 if is_small else np.uint32
    return {
        "left": (blocks["start"] - zero).astype(edge),
        "right": (blocks["stop"] - zero).astype(edge),
        "y": (blocks["slot"] + to_middle).astype(np.float32),
        "height": (fill * HEIGHTS[kind]).astype(np.float32),
        "code": blocks["code"].copy(),
        "kind": kind.copy(),
        "prefix": blocks["prefix"].astype(text_id),
        "nbytes": blocks["nbytes"].astype(np.float32),
        "task": blocks["task"].astype(np.int32),
        # float32 edges blur short durations far from zero: the duration travels on its own.
        "busy": blocks["busy_s"].astype(np.float32),
        "longest": blocks["longest_s"].astype(np.float32),
        "count": blocks["count"].astype(np.int32),
        "source": blocks["source"].astype(text_id),
    }


def share_of_time(
    frame: Frame, running: npt.NDArray[np.float64], begin: float, end: float
) -> list[float]:
    """Return what threads did between two times within the window of a frame.

    These are shares that add up to 1: computing; of the rest transfers and (de)serialization;
    reading and writing spilled data; what is left. None without any thread time.

    Parameters
    ----------
    frame : Frame
    running : ndarray of float64
        Starts of tasks that run until ``end``, in the frame's rows.
    begin, end : float
        Seconds since the epoch.
    """
    thread_s, centre = frame.rows.thread_s(begin, end, frame.asked), frame.centre
    if thread_s <= 0 or end <= begin:
        return []
    span = np.maximum(centre.stop - centre.start, 1e-12)
    inside = np.minimum(centre.stop, end) - np.maximum(centre.start, frame.start)
    seconds = centre.busy_s * np.clip(inside / span, 0.0, 1.0)
    is_work = centre.kind == Kind.COMPUTE
    is_disk = (centre.kind == Kind.DISK_READ) | (centre.kind == Kind.DISK_WRITE)
    still = np.clip(end - np.maximum(running, begin), 0.0, None).sum()
    busy = min((float(seconds[is_work].sum()) + float(still)) / thread_s, 1.0)
    # A thread may compute while data moves for the next task: that time counts once.
    disk = min(float(seconds[is_disk].sum()) / thread_s, 1.0 - busy)
    moving = min(float(seconds[~is_work & ~is_disk].sum()) / thread_s, 1.0 - busy - disk)
    return [busy, moving, disk, max(1.0 - busy - moving - disk, 0.0)]


@dataclass(frozen=True, slots=True)
class Target:
    """The block or running task under the pointer, or the chosen one.

    Attributes
    ----------
    prefix : int
        String id; of a merged block the one of its longest task, as is ``task``.
    task : int
        Ordinal of the task; -1 for one that runs.
    key : str
        Key of a task that runs, else ''.
    kind, row : int
    start, stop : float
        Seconds since the epoch.
    """

    prefix: int
    task: int
    key: str
    kind: int
    row: int
    start: float
    stop: float

    @property
    def bottom(self) -> float:
        """Lower edge on the axis of rows."""
        return self.row + FULL_HEIGHT / 2

    @property
    def top(self) -> float:
        """Upper edge on the axis of rows."""
        return self.bottom - float(HEIGHTS[self.kind])

    def is_same(self, other: Target) -> bool:
        """Return whether both are the same action of the same task."""
        return (self.task, self.key, self.kind) == (other.task, other.key, other.kind)


def block_at(blocks: Columns, moment: float, position: float, reach_s: float) -> Target | None:
    """Return the block at a moment and a position on the axis of rows; None where none is.

    One ``reach_s`` away still counts, as many are thinner than a pointer: the nearest one, of
    these the one on top.
    """
    row = round(position)
    to_bottom = row + FULL_HEIGHT / 2 - position
    is_near = (blocks["slot"] == row) & (to_bottom >= 0) & (to_bottom <= HEIGHTS[blocks["kind"]])
    is_near &= (blocks["start"] <= moment + reach_s) & (blocks["stop"] >= moment - reach_s)
    near = {name: column[is_near] for name, column in blocks.items()}
    if not len(near["start"]):
        return None
    away = np.maximum(np.maximum(near["start"] - moment, moment - near["stop"]), 0.0)
    outcome = near["outcome"].astype(np.int64)
    level = np.where(outcome != Outcome.OK, 2 + outcome, near["kind"] != Kind.COMPUTE)
    best = int(np.lexsort((-level, away))[0])
    prefix, task, kind = (int(near[name][best]) for name in ("prefix", "task", "kind"))
    return Target(
        prefix, task, "", kind, row, float(near["start"][best]), float(near["stop"][best])
    )


def running_at(
    tasks: Columns, moment: float, position: float, reach_s: float, now: float
) -> Target | None:
    """Return the running task at a moment and a position; None where none is.

    Parameters
    ----------
    tasks : dict of str to ndarray
        ``key``, ``prefix``, ``slot`` (row of the picture), ``start``; may be empty.
    moment, position, reach_s : float
    now : float
        Up to when they are drawn.
    """
    row = round(position)
    if not tasks or abs(position - row) > FULL_HEIGHT / 2 or moment > now + reach_s:
        return None
    hits = np.flatnonzero((tasks["slot"] == row) & (tasks["start"] <= moment + reach_s))
    if not len(hits):
        return None
    key, prefix, start = (tasks[name][hits[0]] for name in ("key", "prefix", "start"))
    return Target(int(prefix), -1, str(key), int(Kind.COMPUTE), row, float(start), now)
