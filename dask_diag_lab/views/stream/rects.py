"""From actions to the columns that a browser draws: small types, classes apart, shares of time.

Pure NumPy: knows neither Bokeh nor a colour, only colour codes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.records import Kind, Outcome

if TYPE_CHECKING:
    from dask_diag_lab.store.lod import LevelOfDetail, Query

PREFIX_CODES: Final = 216
"""Codes below this are prefixes: a multiple of both palettes' lengths, so the order repeats."""
TRANSFER_CODE: Final = 216
DISK_CODE: Final = 217
DESERIALIZE_CODE: Final = 218
ERRED_CODE: Final = 219
KILLED_CODE: Final = 220
N_CODES: Final = 221
NO_CODE: Final = N_CODES
"""Of words in the legend that stand for no colour."""

MAX_RECTS: Final = 7000
"""What Chromium redraws in one or two frames without a GPU, when it draws no outlines."""
FLANK_RECTS: Final = 1000
"""Of these, at most so many for each side of the window, where only panning leads."""

FULL_HEIGHT: Final = 0.8
MOVE_HEIGHT: Final = 0.4
"""Of transfers: what is not computing is told by its height as well as by its colour."""
DISK_HEIGHT: Final = 0.22
"""Of disk accesses and (de)serialization."""
LEAST_FILL: Final = 0.15
"""Merged tasks are as high as they are busy, but never lower than this share."""

_CODE_OF_KIND: Final = np.array(
    [0, TRANSFER_CODE, DISK_CODE, DISK_CODE, DESERIALIZE_CODE], dtype=np.uint8
)

Columns = dict[str, npt.NDArray[Any]]  # dtypes differ from column to column


@dataclass(frozen=True, slots=True)
class Rects:
    """Rectangles in three classes that are drawn differently.

    Attributes
    ----------
    work : dict of str to ndarray
        Tasks that computed and went well: full height.
    moves : dict of str to ndarray
        Transfers, half as high, and disk and (de)serialization, lower still.
    erred, killed : dict of str to ndarray
        Tasks that failed, and those that died with their worker.
    """

    work: Columns
    moves: Columns
    erred: Columns
    killed: Columns


@dataclass(frozen=True, slots=True)
class Share:
    """What the threads did with their time inside a window, as shares that add up to all of it.

    Attributes
    ----------
    busy, moving, disk, idle : float
        Computing; of the rest transfers and (de)serialization, and reading and writing spilled
        data; what is left. NaN without any thread time.
    """

    busy: float = np.nan
    moving: float = np.nan
    disk: float = np.nan
    idle: float = np.nan


def gather(centre: Query, *flanks: Query) -> list[LevelOfDetail]:
    """Return what to draw of a window, then of its flanks; the window has what these leave."""
    beside = [flank.answer() for flank in flanks]
    left = max(MAX_RECTS - sum(map(len, beside)), MAX_RECTS // 2)
    return [replace(centre, max_rects=left).answer(), *beside]


def to_columns(
    parts: list[LevelOfDetail],
    cut: tuple[float, float],
    row_of: npt.NDArray[np.int64],
    colors: npt.NDArray[np.int64],
) -> Columns:
    """Return one set of columns of a window (first part) and its flanks, without duplicates.

    What reaches over the window's edge is in its own part already; a merged rectangle of a
    flank is cut there instead, for it may hold more.

    Parameters
    ----------
    parts : list of LevelOfDetail
    cut : (begin, end)
        The window's edges, seconds since the epoch.
    row_of : ndarray of int64
        Where each lane is shown; -1 where it is not.
    colors : ndarray of int64
        Number of each prefix in the palette, by its string id.
    """
    pieces = [_piece(parts[0]), *(_flank(_piece(part), cut) for part in parts[1:])]
    joined = {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}
    joined["lane"] = row_of[joined["lane"]]
    if joined["lane"].min(initial=0) < 0:
        joined = {name: column[joined["lane"] >= 0] for name, column in joined.items()}
    joined["code"] = _codes(joined, colors[joined["prefix"]])
    return joined


def _flank(piece: Columns, cut: tuple[float, float]) -> Columns:
    """Return what of a flank lies outside the window; none of single ones that reach into it."""
    reaches_in = (piece["start"] < cut[1]) & (piece["stop"] > cut[0])
    keep = ~reaches_in | (piece["count"] > 1)
    is_before = piece["start"] < cut[0]
    stop = np.where(reaches_in & is_before, cut[0], piece["stop"])
    start = np.where(reaches_in & ~is_before, cut[1], piece["start"])
    keep &= stop >= start
    outside = {**piece, "start": start, "stop": stop}
    return {name: column[keep] for name, column in outside.items()}


def _codes(columns: Columns, colors: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
    """Return the colour code of each rectangle, whose prefix is ``colors`` in the palette."""
    is_work = columns["kind"] == Kind.COMPUTE
    prefix = np.maximum(colors, 0) % PREFIX_CODES
    code = np.where(is_work, prefix, _CODE_OF_KIND[columns["kind"]])
    code[is_work & (columns["outcome"] == Outcome.ERRED)] = ERRED_CODE
    code[is_work & (columns["outcome"] == Outcome.KILLED)] = KILLED_CODE
    return code.astype(np.uint8)


def _piece(part: LevelOfDetail) -> Columns:
    names = ("start", "stop", "lane", "kind", "outcome", "prefix", "task", "nbytes", "source")
    return {name: getattr(part, name) for name in (*names, "count", "busy_s", "longest_s")}


def to_rects(columns: Columns, zero: float, reach_s: float, pixel_s: float) -> Rects:
    """Split columns by how they are drawn, in the smallest types that show no difference.

    Parameters
    ----------
    columns : dict of str to ndarray
        From `to_columns`.
    zero : float
        Moment that the picture's axis calls 0.
    reach_s : float
        How far from it the picture reaches.
    pixel_s : float
        Seconds to a pixel: decides how exact the edges must be.
    """
    is_work = columns["kind"] == Kind.COMPUTE
    is_erred = is_work & (columns["outcome"] == Outcome.ERRED)
    is_killed = is_work & (columns["outcome"] == Outcome.KILLED)
    is_ok = is_work & ~is_erred & ~is_killed
    edge: type[np.floating[Any]] = np.float32  # either precision
    if reach_s * 2.0**-23 > pixel_s / 8:
        edge = np.float64
    wire = _wire(columns, zero, edge)
    work, moves, erred, killed = (
        {name: column[rows] for name, column in wire.items()}
        for rows in map(np.flatnonzero, (is_ok, ~is_work, is_erred, is_killed))
    )
    height = np.where(moves["kind"] == Kind.TRANSFER, MOVE_HEIGHT, DISK_HEIGHT) / FULL_HEIGHT
    moves["height"] *= height.astype(np.float32)
    moves["y"] = (moves["lane"] + (FULL_HEIGHT - moves["height"]) / 2).astype(np.float32)
    return Rects(work, moves, erred, killed)


def _wire(
    some: Columns,
    zero: float,
    edge: type[np.floating[Any]],  # either precision
) -> Columns:
    span = np.maximum(some["stop"] - some["start"], 1e-12)
    # What is not computing takes no more of the picture than of the time.
    least = np.where(some["kind"] == Kind.COMPUTE, LEAST_FILL, 0.0)
    fill = np.where(some["count"] > 1, np.clip(some["busy_s"] / span, least, 1.0), 1.0)
    return {
        "left": (some["start"] - zero).astype(edge),
        "right": (some["stop"] - zero).astype(edge),
        "lane": _narrow(some["lane"]),
        "code": some["code"],
        "height": (FULL_HEIGHT * fill).astype(np.float32),
        "kind": some["kind"],
        "prefix": _narrow(some["prefix"]),
        "nbytes": some["nbytes"].astype(np.float32),
        "task": some["task"].astype(np.int32),
        # float32 edges blur short durations far from zero: the duration travels on its own.
        "busy": some["busy_s"].astype(np.float32),
        "longest": some["longest_s"].astype(np.float32),
        "count": some["count"].astype(np.int32),
        "source": some["source"].astype(np.int32),
    }


def _narrow(values: npt.NDArray[np.int64]) -> npt.NDArray[np.unsignedinteger[Any]]:
    """Return ids in two bytes where they fit, else in four."""
    small = values.size == 0 or int(values.max()) < 1 << 16
    return values.astype(np.uint16 if small else np.uint32)


def share_of_time(
    centre: LevelOfDetail,
    lanes: npt.NDArray[np.int64],
    running: npt.NDArray[np.float64],
    thread_s: float,
    begin: float,
    end: float,
) -> Share:
    """Return what threads did between ``begin`` and ``end``.

    Parameters
    ----------
    centre : LevelOfDetail
        Of a window that holds the two times.
    lanes : ndarray of int64
        Which rows of the lane table count.
    running : ndarray of float64
        Starts of tasks that run until ``end``.
    thread_s : float
        Seconds that the visible threads existed in that time, added up.
    begin, end : float
        Seconds since the epoch.
    """
    if thread_s <= 0 or end <= begin:
        return Share()
    span = np.maximum(centre.stop - centre.start, 1e-12)
    inside = np.minimum(centre.stop, end) - np.maximum(centre.start, begin)
    seconds = centre.busy_s * np.clip(inside / span, 0.0, 1.0)
    is_counted = np.zeros(int(max(centre.lane.max(initial=-1), lanes.max(initial=-1))) + 1, bool)
    is_counted[lanes] = True
    seconds = seconds * is_counted[centre.lane]
    is_work = centre.kind == Kind.COMPUTE
    is_disk = (centre.kind == Kind.DISK_READ) | (centre.kind == Kind.DISK_WRITE)
    still = np.clip(end - np.maximum(running, begin), 0.0, None).sum()
    busy = min((float(seconds[is_work].sum()) + float(still)) / thread_s, 1.0)
    # A thread may compute while data moves for the next task: that time counts once.
    disk = min(float(seconds[is_disk].sum()) / thread_s, 1.0 - busy)
    moving = min(float(seconds[~is_work & ~is_disk].sum()) / thread_s, 1.0 - busy - disk)
    return Share(busy, moving, disk, max(1.0 - busy - moving - disk, 0.0))
