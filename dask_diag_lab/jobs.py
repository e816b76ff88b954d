"""Work that takes too long for the loop: done in threads, and the newest result wins.

What makes a picture of a large answer or of many rows hands it to `Latest.of`, or to `Jobs.start`,
as a function of data that does not change. Without a `JobRunner` it is done at once.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from dask_diag_lab.store import Store

T = TypeVar("T")


class Job(Generic[T]):
    """One piece of work.

    Parameters
    ----------
    make : callable
        Does it; may touch nothing that changes meanwhile but caches that are made for any thread
        (`Recent`), the store least of all.
    is_brief : bool
        Takes some hundredths of a second at most, and need not wait for what takes long.

    Attributes
    ----------
    is_brief : bool
    is_done : bool
        Whether there is a result; moves on the loop alone.
    cpu_s : float
        CPU seconds that it took.
    """

    def __init__(self, make: Callable[[], T], *, is_brief: bool = False) -> None:
        self.is_brief = is_brief
        self.is_done = False
        self.cpu_s = 0.0
        self._make: Callable[[], T] | None = make
        self._made: T
        self._error: Exception | None = None
        self._raised_at: TracebackType | None = None

    def give_up(self) -> None:
        """Have it not done, unless it has begun; nobody may ask for its result any more."""
        self._make = None

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
        self.cpu_s = time.thread_time() - began

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
    cpu_s : float
        CPU seconds that all took which are done.
    on_start : callable or None
        Takes each new `Job`, has `Job.do` called in another thread and then, on the loop,
        `Store.job_done`. Without it all is done at once.
    """

    def __init__(self) -> None:
        self.version = 0
        self.n_open = 0
        self.cpu_s = 0.0
        self.on_start: Callable[[Job[Any]], None] | None = None  # results of any type
        self._noticed: list[Job[Any]] | None = None  # as in `on_start`

    @contextmanager
    def noticed(self) -> Iterator[list[Job[Any]]]:  # as in `on_start`
        """Collect what is started in this block."""
        before, self._noticed = self._noticed, []
        try:
            yield self._noticed
        finally:
            self._noticed = before

    def start(self, make: Callable[[], T], *, is_brief: bool = False) -> Job[T]:
        """Have something worked out; see `Job`."""
        job = Job(make, is_brief=is_brief)
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
        self.cpu_s += job.cpu_s
        self.n_open -= 1
        self.version += 1


class JobRunner:
    """Does the work of a store's `Jobs`; lives on the running loop.

    Parameters
    ----------
    store : Store
    on_done : callable
        Called on the loop with each piece of work that is done.
    """

    def __init__(self, store: Store, on_done: Callable[[Job[Any]], None]) -> None:
        self._store = store
        self._on_done = on_done
        # Side by side they would only take turns at the interpreter; but what is brief does not
        # wait for seconds behind what is not.
        self._turns = {is_brief: asyncio.Semaphore(1) for is_brief in (False, True)}
        self._tasks: set[asyncio.Task[None]] = set()
        store.jobs.on_start = self._start

    async def close(self) -> None:
        """Give up what is not done and take no more; harmless twice.

        What views start afterwards is done at once, as without a runner.
        """
        if self._store.jobs.on_start == self._start:
            self._store.jobs.on_start = None
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def _start(self, job: Job[Any]) -> None:  # results of any type
        task = asyncio.create_task(self._work(job), name="dask_diag_lab picture")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _work(self, job: Job[Any]) -> None:  # as in `_start`
        async with self._turns[job.is_brief]:
            try:
                await asyncio.to_thread(job.do)
            except RuntimeError:  # no thread can be started, say by the limits of a container
                job.do()
        self._store.job_done(job)
        self._on_done(job)


class Latest(Generic[T]):
    """One thing that is made anew whenever what it depends on has changed, one at a time.

    Those asked for while one is being made do not pile up: the last one is made next.
    """

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self._asked_for: tuple[object, object] | None = None
        self._under_way: Job[T] | None = None
        self._done: tuple[object, Job[T]] | None = None
        self._n_taken = 0

    @property
    def version(self) -> int:
        """Moves when one has been made."""
        return self._n_taken + (self._under_way is not None and self._under_way.is_done)

    def of(self, subject: object, version: object, make: Callable[[], T]) -> T | None:
        """Return the newest that there is of a subject; begin to make it where it is old.

        Parameters
        ----------
        subject
            What it is of: of another one nothing is returned.
        version
            What an equal one of need not be made of the same subject again.
        make : callable
            Makes it, in another thread. What it raises is raised here, once it is known.
        """
        self._take()
        if self._under_way is None and self._asked_for != (subject, version):
            self._asked_for = (subject, version)
            self._under_way = self._jobs.start(make)
            self._take()
        return self.known(subject)

    def known(self, subject: object) -> T | None:
        """Return the newest that there is of a subject, and make none."""
        if self._done is None or self._done[0] != subject:
            return None
        return self._done[1].result()

    def _take(self) -> None:
        if self._asked_for is not None and self._under_way is not None and self._under_way.is_done:
            self._done = self._asked_for[0], self._under_way
            self._under_way = None
            self._n_taken += 1
