"""``progress``: how far given futures and all that they need have come.

Which tasks these are is asked once of the scheduler; what became of them is read from the history
of the cluster's diagnostics, in a thread of its own, so that a cell that runs does not stop it.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import logging
import pickle
import threading
import time
import weakref
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from dask.utils import key_split, parse_timedelta
from distributed.client import Client, Future, default_client, futures_of
from distributed.utils import is_kernel

from dask_diag_lab.collector.wire import key_text
from dask_diag_lab.notebook.progress_bars import GroupCount, ProgressLine, ProgressWidget, Report
from dask_diag_lab.schema import Kind, Outcome
from dask_diag_lab.session import attach
from dask_diag_lab.transport import LinkLostError

if TYPE_CHECKING:
    from dask_diag_lab.session import Diagnostics
    from dask_diag_lab.store import LiveSession

logger = logging.getLogger(__name__)

GROUPS: Final = ("prefix", "spans")
# What becomes of a task; one that is skipped will not run: something it needs failed, or nobody
# wants it any more.
PENDING, DONE, FAILED, SKIPPED = range(4)
PENDING_STATES: Final = frozenset({"pending", "lost"})  # of futures

NO_WORKERS: Final = "There are no workers: nothing runs until some come."
LET_GO: Final = (
    "Their futures were cancelled, or nobody keeps them: assign what `map`, `submit` or `persist`"
    " returns to a variable."
)
# A scheduler that takes in a large graph is silent for long.
CALL_TIMEOUT_S: Final = 60.0
# Between two looks for keys that the scheduler has not heard of yet.
APPEARS_S: Final = 0.05
# Reading so many takes about 5 ms, for which every plot waits.
ROWS_AT_ONCE: Final = 10_000
# So many the scheduler reads in one turn of its loop.
KEYS_AT_ONCE: Final = 5_000
JOIN_S: Final = 0.2

GroupBy = str | Callable[[Any], Hashable] | None


def progress(
    *futures: Any,  # futures, collections, and lists of such
    notebook: bool | None = None,
    multi: bool = True,
    complete: bool = True,
    group_by: str | Callable[[Any], Hashable] = "prefix",
    interval: str | float = "100ms",
    width: int = 40,
    **kwargs: Any,  # noqa: ARG001  # what the bars of `distributed` take, or ignore, as well
) -> Any:  # what it depends on is the caller's: bars, nothing, or a coroutine
    """Show how far futures are, with all the tasks that they need.

    Takes what the function of this name of `distributed` takes; its ``loop``, ``scheduler`` and
    the like have no effect, because there is a thread for this and the futures know their
    scheduler. In a notebook it returns a widget at once, which goes on while cells run; a cell
    shows it as its result or with ``display``. Failed tasks are counted there, the first one is
    named, and the others are waited for. In a console it blocks until all is done or a task has
    failed, and with an asynchronous client it returns a coroutine that does. It ends by itself
    with the computation or the client.

    Parameters
    ----------
    *futures
        Futures, collections that were persisted, and lists of such; of several clients, too.
    notebook : bool, optional
        Default: whether this is a Jupyter kernel.
    multi : bool
        One bar for each group, in a notebook.
    complete : bool
        Count what the futures need and was done before, too.
    group_by : 'prefix', 'spans' or callable
        A callable takes a key, and runs on the scheduler.
    interval : str or float
        Time between two looks; a number is in seconds.
    width : int
        Characters of the bar in a console.

    Returns
    -------
    ProgressWidget, None or coroutine
        In a notebook, in a console, and there with an asynchronous client.

    Raises
    ------
    ValueError
        For another ``group_by``, or an ``interval`` that is not above 0.
    """
    if group_by not in GROUPS and not callable(group_by):
        raise ValueError(f"`group_by` should be 'prefix', 'spans' or a callable, not {group_by!r}")
    interval_s = float(parse_timedelta(interval, default="s"))
    if not interval_s > 0:
        raise ValueError(f"interval is {interval!r}; it has to be above 0")
    is_notebook = is_kernel() if notebook is None else notebook
    bars_by = group_by if is_notebook and multi else None
    bars, line = ProgressWidget() if is_notebook else None, ProgressLine(width)
    draw = line.show if bars is None else bars.show
    known = futures_of(futures)
    follower = Follower(known, bars_by, interval_s, draw, is_complete=complete)
    if bars is not None:
        follower.start()
        bars.on_close = follower.stop.set
        return bars
    with contextlib.suppress(ValueError):  # there is no client
        if (known[0].client if known else default_client()).asynchronous:
            return _show_line_off_loop(follower, line)
    _show_line(follower, line)
    return None


def _show_line(follower: Follower, line: ProgressLine) -> None:
    """Block until all is done, or a task has failed: as `distributed` does, so that scripts go on.

    Nobody may be told of the failure later.
    """
    follower.start()
    try:
        while follower.is_alive() and not line.report.failure:
            follower.join(JOIN_S)  # without a timeout it would not hear Ctrl-C on every system
    finally:
        follower.stop.set()
        follower.join(JOIN_S)
        line.close()


async def _show_line_off_loop(follower: Follower, line: ProgressLine) -> None:
    try:
        await asyncio.to_thread(_show_line, follower, line)
    finally:
        follower.stop.set()


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
        Count what the futures need and was done at the beginning too.

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
        self._clients = weakref.WeakSet(future.client for future in futures)
        self._keys = list({future.key for future in futures})
        self._pending = list(self._keys)
        self._ended: set[str] = set()  # states of the others
        self._group_by = group_by
        self._interval_s = interval_s
        self._draw = draw
        self._is_complete = is_complete
        self._groups: dict[str, Hashable] = {}  # by key as text, as in the history
        self._classes: dict[str, int] = {}
        self._counts: dict[Hashable, list[int]] = {}  # of each group, by class
        self._failure = ""
        self._has_workers = True
        self._cursor = 0
        self._began = self._counted = self._asks_at = time.perf_counter()
        self._done_before = 0
        # IPython finds the cell that output belongs to in the context.
        self._context = contextvars.copy_context()

    def run(self) -> None:
        """Draw reports to the end, whatever that is."""
        try:
            self._context.run(self._follow)
        except Exception as error:
            note = f"Progress cannot be followed: {error!r}."
            if not self._open_clients:
                note = "The client was closed."
            elif isinstance(error, LinkLostError):  # in words already
                note = f"Progress cannot be followed: {error}"
            elif isinstance(error, OSError):
                note = f"The scheduler cannot be reached: {error}."
            else:
                logger.exception("Progress is not followed any more; the computation goes on")
            self._context.run(self._report, is_counted=bool(self._groups), is_last=True, note=note)

    def _follow(self) -> None:
        if not self._keys:
            self._report(is_counted=True, is_last=True)
            return
        diagnostics = attach(self._open_clients[0])
        # What ends from here on is in the log, what ended before is in the scheduler's answer.
        end = diagnostics.submit(lambda live: live.history.actions.total, is_fresh=True)
        self._cursor = end.result(CALL_TIMEOUT_S)
        is_found = False
        while not self.stop.is_set():
            # Asked first: what has ended by then is in the log that is read afterwards.
            is_pending = self._is_pending()
            if not is_found:
                missing = self._ask_scheduler(is_last=not is_pending)
                # Others come with all that they need once the scheduler has heard of them.
                is_found = not missing
                self._counted, self._done_before = time.perf_counter(), self._sum(DONE)
            self._read(diagnostics)
            left = DONE if self._ended == {"finished"} else SKIPPED
            has_failed = self._sum(FAILED) and not self._failure
            began = time.perf_counter()
            if (left != DONE and not is_pending) or (has_failed and began > self._asks_at):
                self._ask_scheduler(is_last=True)
                # It walks over all tasks; one that is tried again has not failed yet.
                self._asks_at = began + 20 * (time.perf_counter() - began)
            if not is_pending:
                self._finish(missing, left)
                return
            self._report(is_counted=is_found, note="" if self._has_workers else NO_WORKERS)
            self.stop.wait(self._interval_s if is_found else APPEARS_S)

    def _finish(self, missing: Sequence[Any], left: int) -> None:  # any hashables
        """Show all tasks as ended, those that were never reported too."""
        # What the client has let go is counted, as what will not run.
        is_prefix = self._group_by == "prefix"
        for key in missing:
            self._groups.setdefault(key_text(key), str(key_split(key)) if is_prefix else "")
        for key in self._groups:
            if self._classes.get(key, PENDING) == PENDING:
                self._count(key, left)
        is_let_go = "gone" in self._ended and self._sum(SKIPPED)
        self._report(is_counted=True, is_last=True, note=LET_GO if is_let_go else "")

    def _ask_scheduler(self, *, is_last: bool) -> list[Any]:  # any hashables
        """Learn of all tasks behind the keys; return the keys that the scheduler does not know.

        While there are such it is not asked for the others, unless it will not hear of more.
        """
        is_first = not self._groups
        starts = range(0, len(self._keys), KEYS_AT_ONCE)
        # What `tasks_behind` returns.
        answer: dict[str, Any] = self._open_clients[0].run_on_scheduler(
            _question(),
            [pickle.dumps(self._keys[start : start + KEYS_AT_ONCE]) for start in starts],
            self._group_by,
            is_complete=self._is_complete or not is_first,
            is_last=is_last,
            asynchronous=False,
            callback_timeout=CALL_TIMEOUT_S,
        )
        for part in answer["tasks"]:
            for text, group, found in pickle.loads(part):  # noqa: S301  # of our own scheduler
                key = key_text(text)  # as in the log
                if is_first:
                    self._groups[key] = group
                if key in self._groups and self._classes.get(key, PENDING) in (PENDING, FAILED):
                    self._count(key, found)
        self._failure = self._failure or answer["failure"]
        return list(answer["missing"])

    def _read(self, diagnostics: Diagnostics) -> None:
        """Read the log on, up to what has ended by now."""
        before = -1
        while before != self._cursor and not self.stop.is_set():
            is_first, before = before < 0, self._cursor
            read = diagnostics.submit(partial(_ended, cursor=before), is_fresh=is_first)
            self._cursor, ended, self._has_workers = read.result(CALL_TIMEOUT_S)
            for key, became in ended:
                if key in self._groups:
                    self._count(key, became)

    @property
    def _open_clients(self) -> list[Client]:
        return [one for one in self._clients if one.status not in {"closing", "closed"}]

    def _is_pending(self) -> bool:
        """Whether a future is pending, by what the clients know; each that is not is let go."""
        known = [client.futures for client in self._open_clients]
        while self._pending:
            key = self._pending[-1]
            state = next(filter(None, (futures.get(key) for futures in known)), None)
            if state is not None and state.status in PENDING_STATES:
                return True
            self._ended.add("gone" if state is None else state.status)
            self._pending.pop()
        return False

    def _count(self, key: str, became: int) -> None:
        """Count a task as what became of it: of half a million, none is counted twice."""
        counts = self._counts.setdefault(self._groups[key], [0, 0, 0, 0])
        if key in self._classes:
            counts[self._classes[key]] -= 1
        counts[became] += 1
        self._classes[key] = became

    def _sum(self, found: int) -> int:
        return sum(counts[found] for counts in self._counts.values())

    def _report(self, *, is_counted: bool = False, is_last: bool = False, note: str = "") -> None:
        groups = tuple(GroupCount(group, *numbers) for group, numbers in self._counts.items())
        now = time.perf_counter()
        left_s = None
        if is_counted and (n_done := self._sum(DONE) - self._done_before) > 0:
            left_s = (now - self._counted) / n_done * self._sum(PENDING)
        took_s = now - self._began
        self._draw(Report(groups, took_s, left_s, is_counted, is_last, self._failure, note))


def _ended(live: LiveSession, cursor: int) -> tuple[int, list[tuple[str, int]], bool]:
    """Return how far the log has been read, what became of the tasks in it, and of any workers."""
    cursor, rows = live.history.actions.since(cursor, ROWS_AT_ONCE, ("kind", "outcome", "task"))
    became = {int(Outcome.OK): DONE, int(Outcome.ERRED): FAILED}
    is_task = rows["kind"] == Kind.COMPUTE
    keys = live.history.actions.keys(rows["task"][is_task]).tolist()
    pairs = zip(keys, rows["outcome"][is_task].tolist(), strict=True)
    ended = [(key, became[outcome]) for key, outcome in pairs if outcome in became]
    return cursor, ended, len(live.history.workers) > 0


def _question() -> Callable[..., Any]:  # noqa: C901  # sent by value: all it needs is inside
    """Return a function that is sent by value: the scheduler may lack this package."""

    async def tasks_behind(  # noqa: C901  # as above
        keys: list[bytes],
        group_by: Any,  # `GroupBy`
        *,
        is_complete: bool,
        is_last: bool,
        dask_scheduler: Any,  # a Scheduler, untyped there
    ) -> dict[str, Any]:
        """Return all tasks that the keys need: key, group, and 0 to 3 for what became of it.

        Keys come and tasks leave in pickles, each of one turn of the loop: it is held neither by
        the walk nor by half a million tasks that become bytes.
        """
        import asyncio
        import pickle
        import time

        def group_of(ts: Any) -> Any:  # a TaskState; any hashable
            if group_by == "prefix":
                return ts.group.prefix.name
            if group_by == "spans":
                spans = dask_scheduler.extensions["spans"].spans
                return ", ".join(spans[ts.group.span_id].name), ts.group.span_id
            return group_by(ts.key) if group_by else ""

        def class_of(ts: Any, dependent: int) -> int:
            if ts.state == "erred":
                return 2 if ts.exception_blame in {None, ts} else 3
            if ts.state == "memory" or (ts.state == "released" and dependent == 1):
                return 1
            return 3 if ts.state in {"released", "forgotten"} else 0

        known = dask_scheduler.tasks
        first, missing, parts, failure, seen = [], [], [], "", set()
        for part in keys:
            some = pickle.loads(part)  # noqa: S301  # of our own client
            first += [known[key] for key in some if key in known]
            missing += [key for key in some if key not in known]
            await asyncio.sleep(0)
        stack = [] if missing and not is_last else [(iter(first), 0)]
        while stack:
            tasks, end = [], time.perf_counter() + 0.005
            while stack and time.perf_counter() < end:
                others, dependent = stack[-1]
                ts = next(others, None)
                if ts is None:
                    stack.pop()
                elif ts.key not in seen:
                    found = class_of(ts, dependent)
                    if found != 1 or is_complete or len(stack) == 1:  # one of the keys
                        seen.add(ts.key)
                        tasks.append((str(ts.key), group_of(ts), found))
                        stack.append((iter(list(ts.dependencies)), found))
                    if found == 2 and not failure:
                        failure = f"Exception in {ts.key}: {ts.exception_text}"[:1000]
            parts.append(pickle.dumps(tasks))
            await asyncio.sleep(0)
        return {"tasks": parts, "missing": missing, "failure": failure}

    return tasks_behind
