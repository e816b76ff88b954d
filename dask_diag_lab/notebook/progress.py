"""``progress``: how far given futures and all that they need have come.

Which tasks these are is asked once of the scheduler; what became of them is read from the store of
the cluster's diagnostics, in a thread of its own, so that a cell that runs does not stop it.
"""

from __future__ import annotations

import contextvars
import logging
import threading
import time
import weakref
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from dask.utils import key_split, parse_timedelta
from distributed.client import Client, Future, futures_of
from distributed.utils import is_kernel

from dask_diag_lab.notebook.progress_bars import GroupCount, ProgressBars, ProgressLine, Report
from dask_diag_lab.schema import Kind, Outcome
from dask_diag_lab.session import attach
from dask_diag_lab.transport import LinkLostError

if TYPE_CHECKING:
    from dask_diag_lab.session import Diagnostics
    from dask_diag_lab.store import Store

logger = logging.getLogger(__name__)

GROUPS: Final = ("prefix", "spans")
PENDING, DONE, FAILED, SKIPPED = range(4)
"""What becomes of a task; one that is skipped will not run: something it needs failed, or nobody
wants it any more."""
PENDING_STATES: Final = frozenset({"pending", "lost"})
"""Of futures."""

CALL_TIMEOUT_S: Final = 60.0
"""A scheduler that takes in a large graph is silent for long."""
APPEARS_S: Final = 0.05
"""Pause between two looks for keys that the scheduler has not heard of yet."""
# Reading so many takes about 5 ms, for which every plot waits.
ROWS_AT_ONCE: Final = 10_000
JOIN_S: Final = 0.2

GroupBy = str | Callable[[Any], Hashable] | None


def progress(
    *futures: Any,  # futures, collections, and lists of such
    notebook: bool | None = None,
    multi: bool = True,
    complete: bool = True,
    group_by: str | Callable[[Any], Hashable] = "prefix",
    interval: str | float = "200ms",
    width: int = 40,
) -> ProgressBars | None:
    """Show how far futures are, with all the tasks that they need.

    Takes what the function of this name of `distributed` takes. In a notebook it returns a widget
    at once, which goes on while cells run; a cell shows it as its result or with ``display``. In a
    console it blocks until all is done. It ends by itself with the computation or the client.
    Failed tasks are counted and the first one is named, and the others are waited for.

    Parameters
    ----------
    *futures
        Futures, collections that were persisted, and lists of such.
    notebook : bool, optional
        Default: whether this is a Jupyter kernel.
    multi : bool
        One bar for each group, in a notebook.
    complete : bool
        Count tasks that were done before, too.
    group_by : 'prefix', 'spans' or callable
        A callable takes a key, and runs on the scheduler.
    interval : str or float
        Time between two looks; a number is in seconds.
    width : int
        Characters of the bar in a console.

    Raises
    ------
    ValueError
        For another ``group_by``, or an ``interval`` that is not above 0.
    """
    if group_by not in GROUPS and not callable(group_by):
        raise ValueError(f"group_by is {group_by!r}; it may be 'prefix', 'spans' or a callable")
    interval_s = float(parse_timedelta(interval, default="s"))
    if not interval_s > 0:
        raise ValueError(f"interval is {interval!r}; it has to be above 0")
    is_notebook = is_kernel() if notebook is None else notebook
    bars_by = group_by if is_notebook and multi else None
    bars, line = ProgressBars() if is_notebook else None, ProgressLine(width)
    draw = line.show if bars is None else bars.show
    follower = Follower(futures_of(futures), bars_by, interval_s, draw, is_complete=complete)
    follower.start()
    if bars is not None:
        bars.on_close = follower.stop.set
        return bars
    try:
        while follower.is_alive():
            follower.join(JOIN_S)  # without a timeout it would not hear Ctrl-C on every system
    finally:
        follower.stop.set()
        follower.join(JOIN_S)
        print()  # noqa: T201  # goes on to the next line of the console
    return None


class Follower(threading.Thread):
    """Counts the tasks behind some futures until all have ended or the client is gone.

    Parameters
    ----------
    futures : sequence of Future
        Neither they nor their client are kept alive.
    group_by : 'prefix', 'spans', None or callable
        None: all in one.
    interval_s : float
    draw : callable
        Takes each report.
    is_complete : bool
        Count tasks that were done at the beginning too.

    Attributes
    ----------
    stop : Event
        Set it to count no more.
    """

    def __init__(
        self,
        futures: Sequence[Future[Any]],  # of any result
        group_by: GroupBy,
        interval_s: float,
        draw: Callable[[Report], None],
        *,
        is_complete: bool,
    ) -> None:
        super().__init__(name="dask-diag-lab-progress", daemon=True)
        self.stop = threading.Event()
        self._client = weakref.ref(futures[0].client) if futures else lambda: None
        self._keys = list({future.key for future in futures})
        self._group_by = group_by
        self._interval_s = interval_s
        self._draw = draw
        self._is_complete = is_complete
        self._labels: dict[str, str] = {}  # by key as text, as in the store
        self._classes: dict[str, int] = {}
        self._failure = ""
        self._cursor = 0
        self._began = time.perf_counter()
        # IPython finds the cell that output belongs to in the context.
        self._context = contextvars.copy_context()

    def run(self) -> None:
        """Draw reports to the end, whatever that is."""
        try:
            self._context.run(self._follow)
        except Exception as error:
            client = self._client()
            note = f"Progress cannot be followed: {error!r}."
            if client is None or client.status in {"closing", "closed"}:
                note = "The client was closed."
            elif isinstance(error, (LinkLostError, OSError)):
                note = f"The scheduler is gone: {error}."
            else:
                logger.exception("Progress is not followed any more; the computation goes on")
            is_counted = bool(self._labels)
            self._context.run(self._tell, is_counted=is_counted, is_last=True, note=note)

    def _follow(self) -> None:
        client = self._client()
        if client is None or not self._keys:
            self._tell(is_counted=True, is_last=True)
            return
        diagnostics = attach(client)
        del client
        # What ends from here on is in the log, what ended before is in the scheduler's answer.
        end = diagnostics.submit(lambda store: store.actions.total, is_fresh=True)
        self._cursor = end.result(CALL_TIMEOUT_S)
        is_found = False
        while not self.stop.is_set():
            # Asked first: what has ended by then is in the log that is read afterwards.
            states = self._states()
            is_pending = bool(states & PENDING_STATES)
            if not is_found:
                self._labels, self._classes = {}, {}
                missing = self._ask_scheduler()
                # Others come with all that they need once the scheduler has heard of them.
                is_found = not (missing and is_pending)
            self._read(diagnostics)
            is_failed = FAILED in self._classes.values()
            if not is_pending or (is_failed and not self._failure):
                self._ask_scheduler()
            if not is_pending:
                self._settle(missing, DONE if states == {"finished"} else SKIPPED)
                return
            self._tell(is_counted=is_found)
            self.stop.wait(self._interval_s if is_found else APPEARS_S)

    def _settle(self, missing: Sequence[Any], left: int) -> None:  # any hashables
        """Show all tasks as ended, those that were never reported too."""
        # What the client has let go is counted, as what will not run.
        is_prefix = self._group_by == "prefix"
        self._labels |= {str(key): str(key_split(key)) if is_prefix else "" for key in missing}
        known = {key: found for key, found in self._classes.items() if found != PENDING}
        self._classes = dict.fromkeys(self._labels, left) | known
        self._tell(is_counted=True, is_last=True)

    def _ask_scheduler(self) -> list[Any]:  # any hashables
        """Learn of all tasks behind the keys; return the keys that the scheduler does not know."""
        is_first = not self._labels
        # What `tasks_behind` returns.
        answer: dict[str, Any] = self._live_client().run_on_scheduler(
            _question(),
            self._keys,
            self._group_by,
            is_complete=self._is_complete or not is_first,
            asynchronous=False,
            callback_timeout=CALL_TIMEOUT_S,
        )
        for key, label, found in answer["tasks"]:
            if is_first:
                self._labels[key] = label
            if key in self._labels and self._classes.get(key, PENDING) in (PENDING, FAILED):
                self._classes[key] = found
        self._failure = self._failure or answer["failure"]
        return list(answer["missing"])

    def _read(self, diagnostics: Diagnostics) -> None:
        """Read the log on, up to what has ended by now."""
        before = -1
        while before != self._cursor and not self.stop.is_set():
            is_first, before = before < 0, self._cursor
            read = diagnostics.submit(partial(_ended, cursor=before), is_fresh=is_first)
            self._cursor, ended = read.result(CALL_TIMEOUT_S)
            self._classes.update(each for each in ended if each[0] in self._labels)

    def _live_client(self) -> Client:
        client: Client | None = self._client()
        if client is None or client.status in {"closing", "closed"}:
            raise RuntimeError("the client was closed")
        return client

    def _states(self) -> set[str]:
        """Return what the client says of the futures."""
        known = self._live_client().futures
        states = (known.get(key) for key in self._keys)
        return {"gone" if state is None else state.status for state in states}

    def _tell(self, *, is_counted: bool = False, is_last: bool = False, note: str = "") -> None:
        counts: dict[str, list[int]] = {}
        for key, label in self._labels.items():
            counts.setdefault(label, [0, 0, 0, 0])[self._classes.get(key, PENDING)] += 1
        groups = tuple(GroupCount(label, *numbers) for label, numbers in counts.items())
        elapsed_s = time.perf_counter() - self._began
        self._draw(Report(groups, elapsed_s, is_counted, is_last, self._failure, note))


def _ended(store: Store, cursor: int) -> tuple[int, list[tuple[str, int]]]:
    """Return how far the log has been read, and what became of the tasks in it."""
    cursor, rows = store.actions.since(cursor, ROWS_AT_ONCE, ("kind", "outcome", "task"))
    became = {int(Outcome.OK): DONE, int(Outcome.ERRED): FAILED}
    is_task = rows["kind"] == Kind.COMPUTE
    keys = store.actions.keys(rows["task"][is_task]).tolist()
    pairs = zip(keys, rows["outcome"][is_task].tolist(), strict=True)
    return cursor, [(key, became[outcome]) for key, outcome in pairs if outcome in became]


def _question() -> Callable[..., Any]:  # noqa: C901  # sent by value: all it needs is inside
    """Return a function that is sent by value: the scheduler may lack this package."""

    async def tasks_behind(  # noqa: C901  # as above
        keys: list[Any],  # any hashable
        group_by: Any,  # `GroupBy`
        *,
        is_complete: bool,
        dask_scheduler: Any,  # a Scheduler, untyped there
    ) -> dict[str, Any]:
        """Return all tasks that the keys need: key, group, and 0 to 3 for what became of it."""
        import asyncio

        def label_of(ts: Any) -> str:  # a TaskState
            if group_by == "prefix":
                return str(ts.group.prefix.name)
            if group_by == "spans":
                spans = dask_scheduler.extensions["spans"].spans
                return ", ".join(spans[ts.group.span_id].name)
            return str(group_by(ts.key)) if group_by else ""

        def class_of(ts: Any, dependent: int) -> int:
            if ts.state == "erred":
                return 2 if ts.exception_blame in {None, ts} else 3
            if ts.state == "memory" or (ts.state == "released" and dependent == 1):
                return 1
            return 3 if ts.state in {"released", "forgotten"} else 0

        known = dask_scheduler.tasks
        missing = [key for key in keys if key not in known]
        tasks, failure, seen = [], "", set()
        stack = [(known[key], 0) for key in keys if key in known]
        while stack:
            ts, dependent = stack.pop()
            if ts.key in seen:
                continue
            seen.add(ts.key)
            if len(seen) % 1000 == 0:
                await asyncio.sleep(0)  # a few milliseconds of work
            found = class_of(ts, dependent)
            if found == 1 and not is_complete:
                continue
            tasks.append((str(ts.key), label_of(ts), found))
            if found == 2 and not failure:
                failure = f"{ts.key}: {ts.exception_text}"[:1000]
            stack += [(other, found) for other in ts.dependencies if other.key not in seen]
        return {"tasks": tasks, "missing": missing, "failure": failure}

    return tasks_behind
