"""Where pictures that take long are made: in threads, so that the loop goes on meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dask_diag_lab.store import Store
    from dask_diag_lab.store.workings import Working


class Workshop:
    """Does the work of a store's `Workings`; lives on the running loop.

    Parameters
    ----------
    store : Store
    on_done : callable
        Called on the loop with each piece of work that is done.
    """

    def __init__(self, store: Store, on_done: Callable[[Working[Any]], None]) -> None:
        self._store = store
        self._on_done = on_done
        # Side by side they would only take turns at the interpreter; but what is brief does not
        # wait for seconds behind what is not.
        self._rooms = {is_brief: asyncio.Semaphore(1) for is_brief in (False, True)}
        self._tasks: set[asyncio.Task[None]] = set()
        store.workings.on_start = self._start

    async def close(self) -> None:
        """Give up what is not done and take no more; harmless twice.

        What views start afterwards is done at once, as without a workshop.
        """
        if self._store.workings.on_start == self._start:
            self._store.workings.on_start = None
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def _start(self, working: Working[Any]) -> None:  # results of any type
        task = asyncio.create_task(self._work(working), name="dask_diag_lab picture")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _work(self, working: Working[Any]) -> None:  # as in `_start`
        async with self._rooms[working.is_brief]:
            try:
                await asyncio.to_thread(working.do)
            except RuntimeError:  # no thread can be started, say by the limits of a container
                working.do()
        self._store.worked_out(working)
        self._on_done(working)
