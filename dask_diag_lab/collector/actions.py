"""What worker threads did, as packed rows of `schema.tables.ACTIONS` in a bounded log with cursors.

Must not look at the scheduler.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Mapping
from math import nan
from typing import Any, Final

import msgpack
from distributed.protocol.serialize import Serialize, Serialized

from dask_diag_lab.collector.wire import MAX_TEXT, Strings, key_text
from dask_diag_lab.schema.tables import ACTIONS, OTHER, Kind, Outcome

CODES: Final = {"<f8": "d", "<f4": "f", "<i8": "q", "<u8": "Q", "<u4": "I", "<u1": "B"}
"""Of `struct`, by dtype."""

ROW: Final = "<" + "".join(CODES[column.dtype] for column in ACTIONS.columns)
ROW_BYTES: Final = struct.calcsize(ROW)
CHUNK_ROWS: Final = 4096
"""Rows dropped at once when the log is full; also what a chunk's memory is rounded up to."""

MAX_ACTIONS: Final = 200_000
MAX_PULL_ROWS: Final = 10_000
"""Rows of one answer: packing their keys costs the scheduler about 5 ms."""

KINDS: Final = {kind.name.lower().replace("_", "-"): int(kind) for kind in Kind}
COMPUTE, TRANSFER = int(Kind.COMPUTE), int(Kind.TRANSFER)
DISK: Final = frozenset({Kind.DISK_READ, Kind.DISK_WRITE})
"""Kinds whose times are on the worker's own clock."""
OK, ERRED, KILLED, RETRIED = map(int, (Outcome.OK, Outcome.ERRED, Outcome.KILLED, Outcome.RETRIED))

SURE_S: Final = 0.1
"""A smaller difference may as well be the time that a heartbeat takes: clocks are equal then."""
DETAILS: Final = (
    *("metadata", "cause", "exception", "traceback", "exception_text", "traceback_text"),
    "stimulus_id",
)
"""Of a worker's message on a task that failed, or that has metadata: what `distributed` keeps."""
MAX_DETAIL_BYTES: Final = 16_384
MAX_CHUNK_DETAIL_BYTES: Final = 131_072
"""Of all tasks of a chunk: the two million rows of a history have 64 MB of them at most. What is
beyond that is told by its rows alone."""
FINISHED: Final = "task-finished-"

Moments = tuple[float, float, int]
"""When a task was ready, when it was assigned to a worker (NaN: not known, or not yet), and the
number of the graph that it came with (0: not known)."""

NEVER: Final[Moments] = (nan, nan, 0)

Ended = tuple[
    Any, str, str, int, Mapping[str, Any], Moments
]  # keys and messages are `distributed`'s
"""Of a task that has ended: key, prefix, worker, an `Outcome`, the worker's message, moments."""

MAX_PENDING: Final = 1_000
"""Ended tasks whose rows are not made yet, at about 1 kB each. The scheduler's caches are cold in
between its events: the rows of many at once take a fifth of the time of as many one by one."""

REMEMBERED: Final = 100
"""Heartbeats of a worker, some minutes of them, whose smallest difference counts: clocks drift."""


class Clocks:
    """How far the clock of each worker is behind the scheduler's, learnt from heartbeats.

    Workers bring the times of computing and of transfers to the scheduler's clock themselves, but
    not those of disk reads and writes: ``Worker.execute`` and ``_transition_to_memory`` add no
    ``scheduler_delay`` to them.
    """

    def __init__(self) -> None:
        self._behind: dict[str, deque[float]] = {}

    def observe(self, worker: str, time_delay: float) -> None:
        """Take ``WorkerState.time_delay``: the difference of the clocks and what a heartbeat took.

        The smallest one of the last minutes is the nearest to the difference alone.
        """
        behind = self._behind.setdefault(worker, deque(maxlen=REMEMBERED))
        if not behind or behind[-1] != time_delay:
            behind.append(time_delay)

    def forget(self, worker: str) -> None:
        """Let go of a worker that has left."""
        self._behind.pop(worker, None)

    def behind_s(self, worker: str) -> float:
        """Return what to add to its times; 0 where the clocks agree or nothing is known."""
        behind = min(self._behind.get(worker, (0.0,)))
        return behind if abs(behind) > SURE_S else 0.0


class _Chunk:
    """Consecutive rows of whole tasks, and these tasks' keys; sizes are in bytes."""

    def __init__(self, first_row: int, first_task: int, n_rows: int) -> None:
        self.first_row = first_row
        self.first_task = first_task
        self.size = n_rows * ROW_BYTES
        self.rows = bytearray(self.size)
        self.used = 0
        self.keys: list[Any] = []  # any hashable
        self.details: list[tuple[int, bytes]] = []
        self.detail_bytes = 0


class ActionRecorder:
    """The newest actions, at most ``limit`` rows rounded up to whole chunks.

    Attributes
    ----------
    moments : dict
        `Moments` by key, of tasks that are not finished; set by the hook.
    before : Moments
        Those of tasks that are not among these: they were there before the collector came.
    pending : list of Ended
        Tasks whose rows `flush` has yet to make; the hook appends to it.
    total : int
        Rows recorded since the start, without those of ``pending``, as the others here.
    tasks : int
        Ended tasks recorded since the start: the next task's ordinal.
    unnamed : int
        Ended tasks whose prefix did not fit into the string table.
    skipped : int
        Ended tasks whose actions could not be read.
    """

    def __init__(
        self, strings: Strings, limit: int = MAX_ACTIONS, clocks: Clocks | None = None
    ) -> None:
        self.moments: dict[Any, Moments] = {}
        self.before = NEVER
        self.pending: list[Ended] = []
        self.total = 0
        self.tasks = 0
        self.unnamed = 0
        self.skipped = 0
        self._clocks = clocks or Clocks()
        self._limit = limit
        self._strings = strings
        self._ids = strings.ids
        self._types: dict[str, int] = {}  # ids, by the type's name
        self._pack = struct.Struct(ROW).pack_into
        self._chunk_rows = min(CHUNK_ROWS, max(1, limit // 4))
        self._chunks: deque[_Chunk] = deque()
        self._chunk = self._grow()

    def add(
        self,
        key: Any,  # any hashable
        prefix: str,
        worker: str,
        outcome: int,
        message: Mapping[str, Any],  # of `distributed`
    ) -> None:
        """Record one ended task, with the ``startstops`` and more of the worker's message.

        Actions of kinds that this version does not know are left out, and so is a task whose
        actions cannot be read.
        """
        moments = self.moments.get(key, self.before)
        self.pending.append((key, prefix, worker, outcome, message, moments))

    def flush(self) -> None:
        """Make the rows of all tasks that are pending."""
        for ended in self.pending:
            try:
                self._record(ended)
            except (AttributeError, KeyError, TypeError, ValueError, OverflowError, struct.error):
                self.skipped += 1
        self.pending.clear()

    def _record(self, ended: Ended) -> None:
        key, prefix, worker, outcome, message, moments = ended
        fact, chunk = message.get, self._chunk
        startstops = fact("startstops") or ()
        if chunk.used + ROW_BYTES * len(startstops) > chunk.size:
            chunk = self._grow(len(startstops))
        offset = chunk.used
        ids = self._ids.get
        worker_id = ids(worker) or self._strings.add_address(worker)
        prefix_id = ids(prefix) or self._name(prefix)
        name = fact("typename")
        type_id = (self._types.get(name) or self._type(name, message)) if name else 0
        stimulus = fact("stimulus_id")
        reported = _reported(stimulus) if stimulus else nan
        task, nbytes, thread = self.tasks, fact("nbytes", -1), fact("thread") or 0
        at_scheduler, graph = moments[:2], moments[2]
        for action in startstops:
            kind, start, stop = KINDS.get(action["action"]), action["start"], action["stop"]
            ready = assigned = nan
            source = 0
            if kind == COMPUTE:
                ready, assigned = at_scheduler
            elif kind is None:
                continue
            elif kind == TRANSFER:
                source = self._source(action)
            elif kind in DISK:
                behind_s = self._clocks.behind_s(worker)
                start += behind_s
                stop += behind_s
            self._pack(
                chunk.rows, offset, start, stop, kind, outcome, worker_id, thread, source,
                prefix_id, type_id, reported - stop, start - ready, start - assigned, graph, task,
                nbytes,
            )  # fmt: skip
            offset += ROW_BYTES
        if offset != chunk.used:
            self.total += (offset - chunk.used) // ROW_BYTES
            chunk.used = offset
            chunk.keys.append(key)
            self.tasks = task + 1
            if fact("metadata") or fact("exception_text"):
                self._keep_details(task, message)

    def since(
        self, cursor: int, keys_cursor: int, max_rows: int = MAX_PULL_ROWS
    ) -> tuple[dict[str, Any], int]:
        """Return the rows after ``cursor`` and the keys their tasks need, and the next cursor.

        At most ``max_rows``; ``is_more`` tells whether there are others. ``dropped`` are those
        between ``cursor`` and the first one here, lost to the bound.
        """
        self.flush()
        first = max(cursor, self._chunks[0].first_row)
        stop = min(self.total, first + max_rows)
        keys_from = max(keys_cursor, self._chunks[0].first_task)
        parts: list[bytes] = []
        for chunk in self._chunks:
            low = max(first - chunk.first_row, 0) * ROW_BYTES
            high = min((stop - chunk.first_row) * ROW_BYTES, chunk.used)
            if high > low:
                parts.append(bytes(memoryview(chunk.rows)[low:high]))
        rows = b"".join(parts)
        last_task = struct.unpack_from("<q", rows, len(rows) - 16)[0] if rows else -1
        answer = {
            "actions": rows,
            "dropped": max(0, first - cursor),
            "keys_from": keys_from,
            "keys": self._keys(keys_from, last_task + 1),
            "details": [
                one
                for chunk in self._chunks
                for one in chunk.details
                if keys_from <= one[0] <= last_task
            ],
            "is_more": stop < self.total,
        }
        return answer, stop

    def clear(self) -> None:
        """Let all rows go; the log is not used after."""
        self._chunks.clear()
        self.pending.clear()
        self.moments.clear()

    def _source(self, action: Mapping[str, Any]) -> int:  # of `distributed`
        """Return the string id of the peer that a transfer came from; 0 where none is named."""
        source = action.get("source")
        return (self._ids.get(source) or self._strings.add_address(source)) if source else 0

    def _type(self, name: str, message: Mapping[str, Any]) -> int:  # of `distributed`
        """Return the string id of a result's type, met for the first time."""
        text = f"{name} {message['type'].hex()}"
        self._types[name] = self._strings.add(text if len(text) <= MAX_TEXT else name)
        return self._types[name]

    def _keep_details(self, task: int, message: Mapping[str, Any]) -> None:  # of `distributed`
        details = {name: _sent(message[name]) for name in DETAILS if message.get(name)}
        try:
            packed = msgpack.packb(details)
        except (TypeError, ValueError, OverflowError):  # objects of the user
            return
        chunk = self._chunk
        total = chunk.detail_bytes + len(packed)
        if len(packed) <= MAX_DETAIL_BYTES and total <= MAX_CHUNK_DETAIL_BYTES:
            chunk.details.append((task, packed))
            chunk.detail_bytes = total

    def _name(self, prefix: str) -> int:
        string = self._strings.add(prefix)
        self.unnamed += string == self._ids[OTHER]
        return string

    def _keys(self, first: int, stop: int) -> list[str]:
        texts: list[str] = []
        for chunk in self._chunks:
            low = max(first - chunk.first_task, 0)
            high = max(stop - chunk.first_task, 0)
            texts += map(key_text, chunk.keys[low:high])
        return texts

    def _grow(self, n_rows: int = 0) -> _Chunk:
        """Begin a chunk of ``n_rows``; drop the oldest ones that the bound allows."""
        self._chunk = _Chunk(self.total, self.tasks, max(self._chunk_rows, n_rows))
        self._chunks.append(self._chunk)
        while len(self._chunks) > 1 and self.total - self._chunks[1].first_row >= self._limit:
            self._chunks.popleft()
        return self._chunk


def _sent(value: Any) -> Any:  # of `distributed`
    """Return what the worker sent; an exception is pickled, and not looked into here."""
    if isinstance(value, Serialize):
        return value.data
    return b"".join(value.frames) if isinstance(value, Serialized) else value


def _reported(stimulus_id: str | None) -> float:
    """Return the time in the id of a worker's message that a task has finished; NaN: no such id."""
    if stimulus_id is None or not stimulus_id.startswith(FINISHED):
        return nan
    try:
        return float(stimulus_id[len(FINISHED) :])
    except ValueError:
        return nan
