"""The CPU time that a scheduler spends on the collector, by the clock of its own event loop.

Differences between rounds cannot tell a few percent on a machine whose cores are shared. But a
scheduler does all its work in turns of one loop, and each turn knows whose it is: so those of the
collector are added up, and compared with all that the process computes. What is missed is what
nobody could read from a clock: that others find the caches cold after such a turn.

The functions without an underscore are run on the scheduler.
"""

from __future__ import annotations

import asyncio
import time
from asyncio.events import Handle
from typing import Any, Final

from distributed import Scheduler

from dask_diag_lab.collector import NAME

_ROOM: Final = "dask_diag_lab"
"""How the collector's operations and modules begin."""


class _Meter:
    """Adds up the time of the collector's turns; the process has one."""

    def __init__(self) -> None:
        self.answers_s = self.hooks_s = 0.0
        self._sockets: set[int] = set()
        self._collector: Any = None
        self._run: Any = Handle._run  # takes a handle; of asyncio's inside, as are its fields

    def time_turns(self) -> None:
        """Have each turn of the loop timed from now on; harmless twice."""
        run, clock = self._run, time.thread_time

        def timed(handle: Any) -> None:
            callback, arguments = handle._callback, handle._args
            begun = clock()
            run(handle)
            spent_s = clock() - begun
            if self._is_ours(callback, arguments):
                self.answers_s += spent_s

        Handle._run = timed  # type: ignore[assignment,method-assign]  # the one way in

    def time_hooks(self, collector: Any) -> None:  # sent by value: of no type known here
        """Have what the collector does with each transition timed; harmless twice."""
        if collector is self._collector:
            return
        self._collector = collector
        hook, clock = collector.transition, time.thread_time

        def timed(*arguments: Any, **named: Any) -> None:  # the engine's
            begun = clock()
            hook(*arguments, **named)
            self.hooks_s += clock() - begun

        collector.transition = timed

    def _is_ours(self, callback: Any, arguments: Any) -> bool:  # what asyncio was given
        """Tell a turn of the collector: its task, its timer, or bytes for one of its sockets."""
        owner = getattr(callback, "__self__", None)
        if isinstance(owner, asyncio.Task):
            return self._is_answer(owner.get_coro())
        if type(owner).__module__.startswith(_ROOM):
            return True
        socket = arguments[0] if arguments else None
        return isinstance(socket, int) and socket in self._sockets

    def _is_answer(self, coroutine: Any) -> bool:
        frame = getattr(coroutine, "cr_frame", None)
        if frame is None or frame.f_code.co_name != "_handle_comm":
            return False
        names = frame.f_locals
        if not str(names.get("op")).startswith(_ROOM):
            return False
        self._sockets.add(names["comm"].stream.fileno().fileno())
        return True


_METER: Final = _Meter()


async def begin(dask_scheduler: Scheduler) -> None:
    """Time the turns and hooks of the collector, as soon as it is there.

    Raises
    ------
    TimeoutError
        None came within 10 s.
    """
    async with asyncio.timeout(10):
        while NAME not in dask_scheduler.plugins:
            await asyncio.sleep(0.05)
    _METER.time_turns()
    _METER.time_hooks(dask_scheduler.plugins[NAME])


def spent() -> tuple[float, float, float]:
    """Return CPU seconds so far: on the collector's answers, on its hooks, and of the process."""
    return _METER.answers_s, _METER.hooks_s, time.process_time()
