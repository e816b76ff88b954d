"""Work that takes too long for the loop: done in threads, and the newest result wins.

What makes a picture of a large answer or of many rows hands it to `Latest.get_or_start`, or to
`Jobs.start`, as a function of data that does not change. Without a `JobRunner` it is done at once.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from functools import partial
from types import TracebackType
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Job(Generic[T]):
    """One piece of work.

    Parameters
    ----------
    make : callable
        Does it; may touch nothing that changes meanwhile but caches that are made for any thread,
        the history least of all: of that only its table of strings, which only grows.

    Attributes
    ----------
    is_done : bool
        Whether there is a result; moves on the loop alone.
    took_s : float
        Processor time that it took.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self.is_done = False
        self.took_s = 0.0
        # In another thread texts are for the same reader, see `format.READER_ZONE`.
        self._make: Callable[[], T] | None = partial(copy_context().run, make)
        self._made: T
        self._error: Exception | None = None
        self._raised_at: TracebackType | None = None

    def do(self) -> None:
        """Do it, in any thread, once; never raises."""
        make, self._make = self._make, None  # a result is kept for long, an answer need not be
        if make is None:
            return
        began = time.thread_time()
        try:
            self._made = make()
        except Exception as error:  # noqa: BLE001  # `result` raises it, where it can be shown
            self._error, self._raised_at = error, error.__traceback__
        self.took_s = time.thread_time() - began

    def result(self) -> T:
        """Return what came of it, or raise what it raised; only when it is done."""
        if self._error is not None:
            # It is raised at every look: without this its traceback would grow with each.
            raise self._error.with_traceback(self._raised_at)
        return self._made


class Jobs:
    """What is being worked out.

    Attributes
    ----------
    version : int
        Moves when anything is done.
    n_open : int
        How many are under way.
    on_start : callable or None
        Takes each new `Job`, has `Job.do` called in another thread and then, on the loop,
        `LiveSession.job_done`. Without it all is done at once.
    """

    def __init__(self) -> None:
        self.version = 0
        self.n_open = 0
        self.on_start: Callable[[Job[Any]], None] | None = None  # results of any type
        self._noticed: list[Job[Any]] | None = None  # as in `on_start`

    @contextmanager
    def noticed(self) -> Iterator[list[Job[Any]]]:  # as in `on_start`
        """Collect what is started in this block."""
        self._noticed = []
        try:
            yield self._noticed
        finally:
            self._noticed = None

    def start(self, make: Callable[[], T]) -> Job[T]:
        """Have something worked out; see `Job`."""
        job = Job(make)
        self.n_open += 1
        if self._noticed is not None:
            self._noticed.append(job)
        if self.on_start is not None:
            self.on_start(job)
        else:
            job.do()
            self.ended(job)
        return job

    def ended(self, job: Job[Any]) -> None:  # results of any type
        """Note that `Job.do` has returned."""
        job.is_done = True
        self.n_open -= 1
        self.version += 1


class JobRunner:
    """Does the work of some `Jobs` in a thread, one after the other, for the running loop.

    Side by side they would only take turns at the interpreter.

    Parameters
    ----------
    jobs : Jobs
    on_done : callable
        Takes each `Job` that is done, on the loop.
    """

    def __init__(self, jobs: Jobs, on_done: Callable[[Job[Any]], None]) -> None:  # any results
        self._jobs, self._on_done = jobs, on_done
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="dask_diag_lab jobs")
        self._under_way: set[asyncio.Future[None]] = set()
        jobs.on_start = self._start

    def close(self) -> None:
        """Give up what is not done, and take no more; harmless twice."""
        self._jobs.on_start = None
        for doing in list(self._under_way):
            doing.cancel()
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _start(self, job: Job[Any]) -> None:  # results of any type
        doing = asyncio.get_running_loop().run_in_executor(self._thread, job.do)
        self._under_way.add(doing)
        doing.add_done_callback(partial(self._ended, job))

    def _ended(self, job: Job[Any], doing: asyncio.Future[None]) -> None:  # as in `_start`
        self._under_way.discard(doing)
        if not doing.cancelled():
            self._on_done(job)


class Latest(Generic[T]):
    """One thing that is made anew whenever what it depends on has changed, one at a time.

    Those asked for while one is being made do not pile up: the last one is made next.

    Parameters
    ----------
    jobs : Jobs
    rest : float
        The same subject is not made anew before so many times what it took has passed: what is
        made of a million rows at every change would else keep a processor busy.

    Attributes
    ----------
    is_late : bool
        Whether a newer one was asked for that is made after a rest, when it is asked for.
    """

    def __init__(self, jobs: Jobs, rest: float = 0.0) -> None:
        self._jobs = jobs
        self._rest = rest
        self._asked_for: tuple[object, object] | None = None
        self._under_way: Job[T] | None = None
        self._done: tuple[object, Job[T]] | None = None
        self._n_taken = 0
        self._next_at = 0.0
        self.is_late = False

    @property
    def version(self) -> int:
        """Moves when one has been made, or is to be made after a rest."""
        is_made = self._under_way is not None and self._under_way.is_done
        return 2 * (self._n_taken + is_made) + (self.is_late and self._is_rested)

    def get_or_start(self, subject: object, version: object, make: Callable[[], T]) -> T | None:
        """Return the newest that there is of a subject; begin to make it where it is old.

        Parameters
        ----------
        subject
            What it is of: of another one nothing is returned.
        version
            Of equal versions of one subject only the first is made.
        make : callable
            Makes it, in another thread. What it raises is raised here, once it is known.
        """
        return self.get_or_begin(subject, version, lambda: make)

    def get_or_begin(
        self,
        subject: object,
        version: object,
        begin: Callable[[], Callable[[], T]],
        *,
        at_once: bool = False,
    ) -> T | None:
        """Do the same; ``begin`` returns what makes it, and is called only where that is needed.

        ``at_once``: without a rest, of what changes no more.
        """
        self._take()
        is_new = self._done is None or self._done[0] != subject
        self.is_late = self._under_way is None and self._asked_for != (subject, version)
        if self.is_late and (is_new or at_once or self._is_rested):
            self.is_late = False
            self._asked_for = (subject, version)
            self._under_way = self._jobs.start(begin())
            self._take()
        return self.known(subject)

    @property
    def _is_rested(self) -> bool:
        return time.monotonic() >= self._next_at

    def known(self, subject: object) -> T | None:
        """Return the newest that there is of a subject, and make none."""
        if self._done is None or self._done[0] != subject:
            return None
        return self._done[1].result()

    def _take(self) -> None:
        if self._asked_for is not None and self._under_way is not None and self._under_way.is_done:
            self._done = self._asked_for[0], self._under_way
            self._next_at = time.monotonic() + self._rest * self._under_way.took_s
            self._under_way = None
            self._n_taken += 1
