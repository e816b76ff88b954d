"""What happened to the cluster, in order, and what failed tasks raised; both bounded.

Many small graphs or moves are one event. Errors are kept beyond `distributed`'s own list, which a
restart empties. Must not visit single tasks.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from dask import sizeof  # the module: its function would be sent by value, and know less there
from dask.utils import key_split

from dask_diag_lab.collector.wire import (
    MAX_TEXT,
    Answer,
    Row,
    cut,
    encodable,
    key_text,
    log_since,
    whole,
)
from dask_diag_lab.schema.tables import EVENTS, GRAPHS

if TYPE_CHECKING:
    from distributed.scheduler import ErredTask, Scheduler, WorkerState

MAX_LOOKED_AT: Final = 5
"""Tasks of a graph; to measure one takes a tenth of a millisecond."""

IN_ONE_GO_S: Final = 0.005
"""A loop of ``client.submit`` sends thousands of graphs a second; two cells are further apart."""

UNFINISHED: Final[tuple[Any, ...]] = ("waiting", "no-worker", "queued", "processing")

Event = tuple[float, str, tuple[tuple[str, Any], ...]]  # the details' values are msgpack scalars


class EventRecorder:
    """Events by cursor."""

    def __init__(self, limit: int = EVENTS.max_rows) -> None:
        self._total = 0
        self._limit = limit
        self._events: deque[Event] = deque(maxlen=limit)
        self._merged: dict[tuple[object, ...], tuple[float, str, dict[str, Any]]] = {}

    def add(self, time: float, kind: str, **detail: object) -> None:
        """Record an event; details are numbers, None, or made text."""
        self._flush()
        self._append(time, kind, detail)

    def count(self, time: float, kind: str, **detail: object) -> None:
        """Count an event of those that come by the thousand; alike ones of now become one."""
        if len(self._merged) >= self._limit:
            self._flush()
        merged = self._merged.setdefault((kind, *detail.values()), (time, kind, detail))[2]
        merged["count"] = merged.get("count", 0) + 1
        merged["until"] = time

    def since(self, cursor: int) -> Answer:
        """Return the events after ``cursor``."""
        self._flush()
        return log_since(EVENTS, self._total, self._events, cursor)

    def _flush(self) -> None:
        merged, self._merged = self._merged, {}
        for event in merged.values():
            self._append(*event)

    def _append(self, time: float, kind: str, detail: Mapping[str, object]) -> None:
        plain = tuple((name, _scalar(value)) for name, value in detail.items())
        self._events.append((time, kind, plain))
        self._total += 1


class SubmittedGraphs:
    """Rows of `schema.tables.GRAPHS` by cursor.

    Attributes
    ----------
    number : int
        That of the graph that came last; 0 before the first.
    """

    def __init__(self) -> None:
        self.number = 0
        self._rows: deque[list[Any]] = deque(maxlen=GRAPHS.max_rows)
        self._last: list[Any] | None = None  # of `_rows`, while it may grow

    def add(self, time: float, client: str, carried: Callable[[], float] = float) -> None:
        """Count a graph; `add_task` counts its tasks.

        ``carried`` looks at what its tasks carry. Of graphs in one row it is asked ever less often.
        """
        last = self._last
        if last is None or last[3] != client or time - last[2] > IN_ONE_GO_S:
            self.number += 1
            last = self._last = [self.number, time, time, client, 0, 0, 0.0]
            self._rows.append(last)
        last[2] = time
        last[4] += 1
        if last[4] & (last[4] - 1) == 0:
            last[6] = carried()

    def add_task(self) -> None:
        """Count a task of the graph that came last."""
        if self._last is not None:
            self._last[5] += 1

    def recall(self, scheduler: Scheduler) -> None:
        """Count the graphs of before; what is unfinished counts as tasks of the last one."""
        came = [
            (time, client)
            for client in scheduler.clients
            for time, message in scheduler.get_events(client)
            if isinstance(message, dict) and message.get("action") == "update-graph"
        ]
        for time, client in sorted(came):
            self.add(time, key_text(client))
        if self._last is not None:
            groups = scheduler.task_groups.values()
            self._last[5] = sum(group.states[name] for group in groups for name in UNFINISHED)
        self._last = None

    def since(self, cursor: int) -> Answer:
        """Return the rows after ``cursor``."""
        self._last = None
        return log_since(GRAPHS, self.number, self._rows, cursor)


def carried(scheduler: Scheduler, keys: Sequence[Any]) -> float:
    """Return the bytes of memory that a task of a graph carries: the median of a few.

    What its function needs is part of it: `cloudpickle` sends what a function of a notebook names.
    """
    few = keys[:: max(len(keys) // MAX_LOOKED_AT, 1)][:MAX_LOOKED_AT]
    sizes = sorted(_carried(scheduler.tasks[key].run_spec) for key in few if key in scheduler.tasks)
    return float(sizes[len(sizes) // 2]) if sizes else 0.0


def _carried(spec: Any) -> int:  # a `GraphNode`, or what another version has
    total = int(sizeof.sizeof(spec))
    function: Any = getattr(spec, "func", None)
    if isinstance(function, partial):
        total += sizeof.sizeof((function.args, function.keywords))
        function = function.func
    named: list[Any] = []
    with suppress(AttributeError, TypeError, ValueError):  # a built-in, no closure, an empty cell
        if function.__module__ == "__main__":
            names, there = function.__code__.co_names, function.__globals__
            named += [there[name] for name in names if name in there]
        named += function.__defaults__ or ()
        named += [cell.cell_contents for cell in function.__closure__ or ()]
    return total + sum(int(sizeof.sizeof(one)) for one in named if not callable(one))


def _scalar(value: object) -> object:
    if value is None or isinstance(value, (float, bool)):
        return value
    return whole(value) if isinstance(value, int) else key_text(value)


def recall(scheduler: Scheduler, events: EventRecorder) -> None:
    """Record when the workers came that are there."""
    came: dict[str, tuple[float, WorkerState]] = {}
    for time, message in scheduler.get_events("all"):  # the last one counts
        action = message.get("action") if isinstance(message, dict) else None
        if action == "add-worker" and (ws := scheduler.workers.get(str(message.get("worker")))):
            came[ws.address] = time, ws
    for time, ws in sorted(came.values(), key=itemgetter(0)):
        detail = {"worker": ws.address, "name": ws.name, "nthreads": ws.nthreads}
        events.add(time, "worker-added", **detail)


MAX_KINDS: Final = 100
MAX_ERRORS: Final = 100
"""Tasks of one kind that are listed: the last ones."""

MAX_EXCEPTION: Final = 2_000
MAX_TRACEBACK: Final = 8_000
"""Characters; the end of a traceback says most."""

MAX_WORKERS: Final = 100
"""Workers named of one failed task."""

KILLED_ERROR: Final = "KilledWorker: the worker died while it ran the task, once too often"
"""`distributed` gives this one no text; where its workers were seen to die, `note` has why."""

_FRAME: Final = '\n  File "'
"""A line of a traceback begins so where it tells of a frame; lines of code are indented more."""

_QUOTED_OR_NUMBER: Final = re.compile(r"""(?<![\w(])(?:'[^']*'|"[^"]*")(?!\w)|\d+""")
"""A quote after a bracket begins the whole text of the exception, as its ``repr`` has it."""


def error_kind(text: str, traceback: str) -> str:
    """Return the same for errors that differ in no more than what they say of one case."""
    begin = f"\n{traceback}".rfind(_FRAME)
    if begin < 0:
        return _QUOTED_OR_NUMBER.sub("…", text)[:MAX_TEXT]
    frame = traceback[begin:].partition("\n")[0].strip()
    kind = text.partition("(")[0]
    # An exception may have a ``repr`` of its own, which need not begin with the type.
    return (f"{kind}, {frame}" if kind.isidentifier() else frame)[:MAX_TEXT]


class _Kind:
    """Errors of one prefix that are alike but for their texts, which may be one a task."""

    def __init__(self, first: float) -> None:
        self.first = first
        self.n_failures = self.n_attempts = 0  # the latter among the former
        self.rows: deque[Row] = deque(maxlen=MAX_ERRORS)


class Errors:
    """Errors since the start, and before that those that `distributed` still lists.

    Tasks that erred only because of another one are left out: that one says what happened.

    Attributes
    ----------
    n_dropped : int
        Tasks that failed with kinds of errors of which nothing is kept any more.
    """

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._kinds: dict[tuple[str, str], _Kind] = {}  # the one that came last is the last
        self.n_dropped = 0
        for erred in reversed(scheduler.erred_tasks):
            ts = scheduler.tasks.get(erred.key)
            self._add(erred, ts.group.prefix.name if ts is not None else key_split(erred.key))

    def note(self, key: Any, prefix: str, killed: str = KILLED_ERROR) -> None:  # any hashable
        """Take over what `distributed` has just listed of a task that erred."""
        newest = self._scheduler.erred_tasks
        if newest and newest[0].key == key:  # its list may have been set to length 0
            self._add(newest[0], prefix, killed)

    def _add(self, erred: ErredTask, prefix: str, killed: str = KILLED_ERROR) -> None:
        if erred.exception_text or erred.erred_on:
            workers = sorted(map(str, erred.erred_on))
            text = erred.exception_text or killed
            self.add(erred.key, prefix, float(erred.timestamp), workers, text, erred.traceback_text)

    def add(
        self,
        key: Any,  # any hashable
        prefix: str,
        time: float,
        workers: list[str],
        text: object,
        traceback: object,
        *,
        is_attempt: bool = False,
    ) -> None:
        """Keep what a task raised, which is run again where that was an attempt."""
        text, traceback = cut(encodable(text or ""), MAX_EXCEPTION), encodable(traceback or "")
        name = prefix, error_kind(text, traceback)
        kind = self._kinds[name] = self._kinds.pop(name) if name in self._kinds else _Kind(time)
        if len(traceback) > MAX_TRACEBACK:
            traceback = f"… ({len(traceback)} characters)\n{traceback[-MAX_TRACEBACK:]}"
        places = tuple(workers[:MAX_WORKERS])
        kind.rows.append(
            (key_text(key), key_text(prefix), time, places, text, traceback, is_attempt)
        )
        kind.n_failures += 1
        kind.n_attempts += is_attempt
        if len(self._kinds) > MAX_KINDS:
            self.n_dropped += self._kinds.pop(next(iter(self._kinds))).n_failures

    def rows(self) -> list[Row]:
        """Return rows of the extra ``errors``, newest last."""
        rows = [
            (*row, name, kind.n_failures, kind.n_attempts, kind.first)
            for (_, name), kind in self._kinds.items()
            for row in kind.rows
        ]
        return sorted(rows, key=itemgetter(2))
