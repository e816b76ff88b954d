"""Work on answers that takes too long for the loop, and what came of it.

Must not choose where it is done: that is for who sets `Workings.on_start`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Working(Generic[T]):
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


def done_here(make: Callable[[], T]) -> Working[T]:
    """Return a piece of work that was done at once, because it is too little for a thread."""
    working = Working(make)
    working.do()
    working.is_done = True
    return working


class Workings:
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
        Takes each new `Working`, has `Working.do` called in another thread and then, on the loop,
        `Store.worked_out`. Without it all is done at once.
    """

    def __init__(self) -> None:
        self.version = 0
        self.n_open = 0
        self.cpu_s = 0.0
        self.on_start: Callable[[Working[Any]], None] | None = None  # results of any type
        self._noticed: list[Working[Any]] | None = None  # as in `on_start`

    @contextmanager
    def noticed(self) -> Iterator[list[Working[Any]]]:  # as in `on_start`
        """Collect what is started in this block."""
        before, self._noticed = self._noticed, []
        try:
            yield self._noticed
        finally:
            self._noticed = before

    def start(self, make: Callable[[], T], *, is_brief: bool = False) -> Working[T]:
        """Have something worked out; see `Working`."""
        working = Working(make, is_brief=is_brief)
        self.n_open += 1
        if self._noticed is not None:
            self._noticed.append(working)
        if self.on_start is not None:
            self.on_start(working)
        else:
            working.do()
            self.ended(working)
        return working

    def ended(self, working: Working[Any]) -> None:  # results of any type
        """Note that `Working.do` has returned."""
        working.is_done = True
        self.cpu_s += working.cpu_s
        self.n_open -= 1
        self.version += 1
