"""What a task stream draws of a window, and lists in its table: rows, and blocks as columns.

A worker has rows where the picture shows some of its life. In a picture that follows the cluster
those that are alive have theirs in any case, so nothing moves while time passes. Pure NumPy,
worked out off the loop: knows neither Bokeh nor a colour, only colour codes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from dask_diag_lab.schema import Kind, Outcome
from dask_diag_lab.store.arrays import Bools, Columns, Floats, Ints
from dask_diag_lab.views.data import MOMENT
from dask_diag_lab.views.format import count
from dask_diag_lab.views.names import name_label
from dask_diag_lab.views.view import Table

if TYPE_CHECKING:
    from dask_diag_lab.store import History, LiveSession
    from dask_diag_lab.store.lod import LevelOfDetail
    from dask_diag_lab.store.slots import SlotRows
    from dask_diag_lab.views.time_axis import TimeWindow

PAGE_ROWS: Final = 128
"""Of many rows only the visible pages and one on each side are asked for: the blocks of 4000
threads would have to be too coarse to be of use."""


@dataclass(frozen=True, slots=True)
class WorkerRows:
    """Adjacent rows of one worker; ``ended`` is NaN while it is there."""

    label: str
    address: str
    first: int
    count: int
    ended: float

    @property
    def is_gone(self) -> bool:
        return not isnan(self.ended)


class Rows:
    """The rows of one picture, in the order of the slot table.

    Parameters
    ----------
    history : History
    is_shown : ndarray of bool
        Which rows of its slot table are shown.

    Attributes
    ----------
    slots : ndarray of int64
        Row of the slot table that each row of the picture shows.
    row_of : ndarray of int64
        Row of the picture of each row of the slot table; -1 where there is none. One more at the
        end, of what is in no slot.
    workers, gone : list of WorkerRows
        Those that have rows; of these the ones that are not there any more.
    """

    def __init__(self, history: History, is_shown: Bools) -> None:
        table = history.slots
        self.slots: Ints = np.flatnonzero(is_shown)
        self.row_of: Ints = np.full(len(is_shown) + 1, -1, dtype=np.int64)
        self.row_of[self.slots] = np.arange(len(self.slots))
        self._joined: Floats = np.asarray(table.joined)[self.slots]
        ended = np.asarray(table.ended)[self.slots]
        self._ended: Floats = np.where(np.isnan(ended), np.inf, ended)
        shown = np.asarray(table.worker)[self.slots]
        firsts = np.flatnonzero(np.diff(shown, prepend=-1))
        counts = np.diff(firsts, append=len(shown))
        self.workers = [
            WorkerRows(
                name_label(table.label[self.slots[first]].removesuffix(" · 1" * (count > 1))),
                history.strings[int(shown[first])],
                first,
                count,
                float(ended[first]),
            )
            for first, count in zip(firsts.tolist(), counts.tolist(), strict=True)
        ]
        n_slots = np.repeat(counts, counts)  # where tasks left their threads, more than threads
        self._threads: Floats = np.minimum(np.asarray(table.threads)[self.slots] / n_slots, 1.0)
        self.gone = [worker for worker in self.workers if worker.is_gone]

    @property
    def count(self) -> int:
        """Rows there are."""
        return len(self.slots)

    def near(self, top: float, bottom: float) -> slice:
        """Return the rows to ask for when those between two positions are visible."""
        first = max(int(max(top, 0) // PAGE_ROWS) - 1, 0) * PAGE_ROWS
        stop = (int(max(bottom, 0) // PAGE_ROWS) + 2) * PAGE_ROWS
        return slice(min(first, self.count), min(stop, self.count))

    def n_there(self, moment: float, rows: slice = slice(None)) -> int:
        """Return how many threads of some rows were still there after a moment."""
        return round(float(self._threads[rows][self._ended[rows] > moment].sum()))

    def thread_s(self, begin: float, end: float, rows: slice) -> float:
        """Return the seconds that the threads of some rows existed between two times, summed."""
        existed = np.minimum(self._ended[rows], end) - np.maximum(self._joined[rows], begin)
        return float((np.maximum(existed, 0.0) * self._threads[rows]).sum())

    def worker_at(self, position: float) -> WorkerRows | None:
        """Return the worker whose rows hold a position on the axis."""
        at = round(position)
        found = (one for one in self.workers if one.first <= at < one.first + one.count)
        return next(found, None)


def shown_slots(table: SlotRows, begin: float, end: float, *, is_live: bool) -> Bools:
    """Return which slots have a row: those of workers that were there in some of the time.

    In a picture that follows the cluster those that are alive have theirs in any case.
    """
    is_gone = np.asarray(table.ended) < begin  # NaN of those that are alive is not
    lived = ~is_gone & (np.asarray(table.joined) <= end)
    return lived | (np.asarray(table.is_alive) & is_live)


PREFIX_CODES: Final = 216
"""Codes below this are prefixes: a multiple of both palettes' lengths, so the order repeats."""
TRANSFER_CODE: Final = 216
DISK_CODE: Final = 217
DESERIALIZE_CODE: Final = 218
ERRED_CODE: Final = 219
KILLED_CODE: Final = 220
RETRIED_CODE: Final = 221


class Detail(NamedTuple):
    """How much is drawn.

    Attributes
    ----------
    buckets : int
        What is closer than such a part of the window is merged; the browser adds up what it must.
    max_blocks : int
        As many as Chromium redraws in one or two frames without a GPU, without outlines.
    beside : float
        Of the window's width: so far panning leads on each side before anything is fetched.
    max_keys : int
        Keys are there where no more single tasks than this are visible.
    has_all_rows : bool
        Whether rows that are not visible are drawn, too.
    """

    buckets: int = 2000
    max_blocks: int = 7000
    beside: float = 0.5
    max_keys: int = 1000
    has_all_rows: bool = False


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
    resolution_s : float
        What is closer is merged; 0 when nothing was.
    blocks : dict of str to ndarray
        The columns of `LevelOfDetail` of the window and what is beside it, ``slot`` being
        the row of the picture; and ``code``, the number of the colour.
    inside : ndarray of bool
        Which blocks the window shows.
    sent : dict of str to ndarray
        The same for the browser, see `to_sent`.
    """

    start: float
    end: float
    zero: float
    rows: Rows
    asked: slice
    resolution_s: float
    blocks: Columns
    inside: Bools
    sent: Columns

    def covers(self, window: TimeWindow) -> bool:
        """Return whether its blocks will do for a window, at about its level of detail."""
        width = self.end - self.start
        moved = abs(window.start - self.start) + abs(window.end - self.end)
        return moved <= 2 * Detail().beside * width and 0.5 * width < window.width < 1.5 * width


def frame_job(
    history: History,
    window: TimeWindow,
    rows: Rows,
    asked: slice,
    detail: Detail,
    until: float,
) -> tuple[Hashable, Callable[[], Frame]]:
    """Return what equal frames have in common, and what makes one, in any thread.

    Nothing that began after ``until`` is in it.
    """
    start, end, zero, beside = window.start, window.end, window.zero, detail.beside * window.width
    slots = None if asked == slice(0, history.slots.count) else rows.slots[asked]
    width_px = int(detail.buckets * (1 + 2 * detail.beside))
    last = min(end + beside, until)
    query = history.actions.query(start - beside, last, slots, width_px, detail.max_blocks)
    colors = history.prefix_index.indices(np.arange(len(history.strings)))

    def make() -> Frame:
        found = query.answer()
        blocks = _blocks(found, rows.row_of, colors)
        inside = (blocks["start"] < end) & (blocks["stop"] > start)
        sent = to_sent(blocks, zero)
        return Frame(start, end, zero, rows, asked, found.resolution_s, blocks, inside, sent)

    return (query.question, zero, id(rows), len(history.prefix_index)), make


def _blocks(found: LevelOfDetail, row_of: Ints, colors: Ints) -> Columns:
    """Return the blocks that have a row, and the colour of each."""
    shown = row_of[found.slot] >= 0
    blocks: Columns = {name: getattr(found, name)[shown] for name in _NAMES}
    blocks["slot"] = row_of[blocks["slot"]]
    is_work, outcome = blocks["kind"] == Kind.COMPUTE, blocks["outcome"]
    prefix = np.maximum(colors[blocks["prefix"]], 0) % PREFIX_CODES
    code = np.where(is_work, prefix, _CODES[blocks["kind"]])
    code[is_work & (outcome == Outcome.ERRED)] = ERRED_CODE
    code[is_work & (outcome == Outcome.KILLED)] = KILLED_CODE
    code[is_work & (outcome == Outcome.RETRIED)] = RETRIED_CODE
    return blocks | {"code": code.astype(np.uint8)}


def to_sent(blocks: Columns, zero: float) -> Columns:
    """Return blocks in small types, with times in seconds since ``zero``."""
    kind, is_merged = blocks["kind"], blocks["count"] > 1
    # What is not computing takes no more of the picture than of the time.
    least = np.where(kind == Kind.COMPUTE, LEAST_FILL, 0.0)
    span = np.maximum(blocks["stop"] - blocks["start"], 1e-12)
    fill = np.where(is_merged, np.clip(blocks["busy_s"] / span, least, 1.0), 1.0)
    to_middle = (FULL_HEIGHT - HEIGHTS[kind]) / 2  # what is no task is at the bottom of its row
    return {
        "left": blocks["start"] - zero,
        "right": blocks["stop"] - zero,
        "y": (blocks["slot"] + to_middle).astype(np.float32),
        # A thousandth of a row is not seen, and need not be sent again.
        "height": np.round(fill * HEIGHTS[kind], 3).astype(np.float32),
        "code": blocks["code"].copy(),
        "kind": kind.copy(),
        "prefix": blocks["prefix"].astype(np.uint32),
        "nbytes": blocks["nbytes"].astype(np.float32),
        "task": blocks["task"].astype(np.int32),
        "busy": blocks["busy_s"].astype(np.float32),
        "longest": blocks["longest_s"].astype(np.float32),
        "count": blocks["count"].astype(np.int32),
        "source": blocks["source"].astype(np.uint32),
    }


@dataclass(frozen=True, slots=True)
class Pointed:
    """The block or running task under the pointer, or the chosen one.

    Attributes
    ----------
    prefix : int
        String id; of a merged block the one that it has the colour of, as is ``task``.
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

    def is_same(self, other: Pointed) -> bool:
        """Return whether both are the same action of the same task."""
        return (self.task, self.key, self.kind) == (other.task, other.key, other.kind)


def running_blocks(live: LiveSession) -> Columns:
    """Return what runs as columns of blocks that end now, with its ``key``."""
    now = live.time
    rows: Columns = dict(live.history.running.rows(now))  # type: ignore[arg-type]  # arrays alone
    same = {"stop": now, "kind": Kind.COMPUTE, "outcome": Outcome.RUNNING, "task": -1}
    same |= {"nbytes": -1, "source": 0}
    n = len(rows["start"])
    return rows | {name: np.full(n, value) for name, value in same.items()}


def block_at(blocks: Columns, moment: float, position: float, reach_s: float) -> Pointed | None:
    """Return the block at a moment and a position on the axis of rows; None where none is.

    One ``reach_s`` away still counts, as many are thinner than a pointer: the nearest one, of
    these the one on top. Running tasks have a ``key``.
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
    start, stop = (float(near[name][best]) for name in ("start", "stop"))
    key = str(near["key"][best]) if "key" in near else ""
    return Pointed(prefix, task, key, kind, row, start, stop)


MAX_ROWS: Final = 1_000_000

_KINDS: Final = np.array([kind.name.lower().replace("_", "-") for kind in Kind], dtype=object)
_OUTCOMES: Final = np.array([outcome.name.lower() for outcome in Outcome], dtype=object)
_COLUMNS: Final = ("start", "stop", "slot", "kind", "outcome", "prefix", "nbytes", "source")
_MOMENTS: Final = ("ready", "assigned")
_UNITS: Final = {
    "t": "s since the first action",
    **dict.fromkeys(("start", "stop", *_MOMENTS), MOMENT),
    "duration": "s",
    "nbytes": "B",
}


def history_job(
    live: LiveSession, begin: float, end: float, tasks: slice | None = None
) -> Callable[[], tuple[Table, str]]:
    """Return what makes a table of the actions between two times, in any thread.

    What runs comes last, its duration so far. Of too many actions the newest are in it, and how
    many are left out is returned beside it.

    Parameters
    ----------
    live : LiveSession
    begin, end : float
        Seconds since the epoch; infinite ones for all.
    tasks : slice, optional
        Of the tasks that have ended, in the order in which they did, those that are wanted. Then
        what runs is not in it.
    """
    log, running = live.history.actions, running_blocks(live)
    read, keys_of, first_start = log.between(begin, end, MAX_ROWS), log.keys_of(), log.first_start
    is_in = (running["start"] <= end) & (running["stop"] >= begin) & (running["slot"] >= 0)
    is_in &= tasks is None
    running = {name: column[is_in] for name, column in running.items()}
    rows = Rows(live.history, np.ones(live.history.slots.count, dtype=np.bool_))
    worker_names = np.array([w.label for w in rows.workers for _ in range(w.count)] + [""], object)
    threads = np.append(np.asarray(live.history.slots.thread_index) + 1, 0)
    strings = live.history.strings

    def make() -> tuple[Table, str]:
        actions, total = read()
        is_cut = total > MAX_ROWS
        left_out = f"the newest {count(MAX_ROWS)} of {count(total)} actions" if is_cut else ""
        if tasks is not None:
            ended = np.unique(actions["task"])
            is_in = np.isin(actions["task"], ended[tasks])
            actions = {name: column[is_in] for name, column in actions.items()}
            left_out = f"{count(len(ended[tasks]))} of {count(len(ended))} tasks"
        of = {name: np.concatenate((actions[name], running[name])) for name in _COLUMNS}
        start, stop = of["start"], of["stop"]
        unknown = np.full(len(running["start"]), np.nan)
        moments = {
            name: np.concatenate((actions["start"] - actions[name], unknown)).tolist()
            for name in _MOMENTS
        }
        slot, kind, outcome = (of[name].astype(np.int64) for name in ("slot", "kind", "outcome"))
        columns = {
            "t": (start - np.fmin(first_start, start.min(initial=np.inf))).tolist(),
            "start": start.tolist(),
            "stop": stop.tolist(),
            "duration": (stop - start).tolist(),
            "worker": worker_names[slot].tolist(),
            "thread": threads[slot].tolist(),
            "kind": _KINDS[kind].tolist(),
            "outcome": _OUTCOMES[outcome].tolist(),
            "prefix": strings.take(of["prefix"].astype(np.int64).tolist()),
            "key": [*keys_of(actions["task"]), *running["key"]],
            "nbytes": of["nbytes"].tolist(),
            "source": strings.take(of["source"].astype(np.int64).tolist()),
            **moments,
        }
        return Table(columns, _UNITS), left_out

    return make
