"""Keeps the dashboards fresh while somebody listens, and tells the listeners of changes.

Nobody listening, nothing runs: no timer, no request.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, Final, Protocol

from dask_diag_lab.proxy.dashboard import Dashboard
from dask_diag_lab.proxy.registry import Dashboards

FIRST_ANSWER_S: Final = 0.3
"""How long a new dashboard may take to answer before it is shown without its plots."""

STOCK_FACTOR: Final = 5
"""A stock dashboard runs inside the scheduler: it is asked this many times less often."""


class Settings(Protocol):
    """What is read of the configuration."""

    @property
    def poll_interval_s(self) -> float: ...

    @property
    def health_interval_s(self) -> float: ...


@dataclass(slots=True)
class _Watch:
    """The task that asks one dashboard again and again."""

    dashboard: Dashboard
    task: asyncio.Task[None]
    has_asked: asyncio.Event


class Listener:
    """Hears of changes. Holds no queue: a slow reader gets the newest state, once."""

    def __init__(self, dashboards: Dashboards) -> None:
        self._dashboards = dashboards
        self._changed = asyncio.Event()
        self._heard = ""

    async def next(self) -> str:
        """Wait until the dashboards differ from what was heard last; return them as JSON."""
        while self._dashboards.text == self._heard:
            self._changed.clear()
            await self._changed.wait()
        self._heard = self._dashboards.text
        return self._heard

    def wake(self) -> None:
        """Something changed."""
        self._changed.set()


class Lookout:
    """Looks for records, and asks each dashboard how it is, while there are listeners.

    Parameters
    ----------
    dashboards : Dashboards
        What is kept fresh.
    settings : Settings
        The intervals.
    log : logging.Logger
        Hears of faults of this program only.
    """

    def __init__(self, dashboards: Dashboards, settings: Settings, log: logging.Logger) -> None:
        self._dashboards = dashboards
        self._settings = settings
        self._log = log
        self._listeners: set[Listener] = set()
        self._poll: asyncio.Task[None] | None = None
        self._watches: dict[str, _Watch] = {}
        self._ending: set[asyncio.Task[None]] = set()
        dashboards.on_change = self._wake

    @property
    def is_looking(self) -> bool:
        """True while there are listeners."""
        return bool(self._listeners)

    async def listen(self) -> Listener:
        """Begin a listener; its first answer is the state of now, not of when one last left."""
        if not self._listeners:
            await self._dashboards.scan()
            self._dashboards.publish()
        listener = Listener(self._dashboards)
        self._listeners.add(listener)
        if self._poll is None or self._poll.done():
            self._poll = self._start(self._keep_looking())
        return listener

    def leave(self, listener: Listener) -> None:
        """End a listener; with the last one all looking ends. Leaving twice is harmless."""
        self._listeners.discard(listener)
        if not self._listeners:
            self._stop()

    async def close(self) -> None:
        """End all looking and wait until it has ended. Closing twice is harmless."""
        self._listeners.clear()
        self._stop()
        await asyncio.gather(*self._ending, return_exceptions=True)

    def _wake(self) -> None:
        for listener in self._listeners:
            listener.wake()

    async def _keep_looking(self) -> None:
        while True:
            await self._dashboards.scan()
            await self._meet(self._sync_watches())
            self._dashboards.publish()
            await asyncio.sleep(self._settings.poll_interval_s)

    def _sync_watches(self) -> list[_Watch]:
        """Watch exactly the dashboards there are; return the watches that are new."""
        present = {dashboard.id: dashboard for dashboard in self._dashboards.all()}
        for dashboard_id, watch in list(self._watches.items()):
            if present.get(dashboard_id) is not watch.dashboard:
                watch.task.cancel()
                del self._watches[dashboard_id]
        new = [self._watch(d) for d in present.values() if d.id not in self._watches]
        self._watches.update((watch.dashboard.id, watch) for watch in new)
        return new

    def _watch(self, dashboard: Dashboard) -> _Watch:
        has_asked = asyncio.Event()
        return _Watch(dashboard, self._start(self._keep_asking(dashboard, has_asked)), has_asked)

    async def _keep_asking(self, dashboard: Dashboard, has_asked: asyncio.Event) -> None:
        factor = STOCK_FACTOR if dashboard.kind == "stock" else 1
        while True:
            await self._dashboards.examine(dashboard)
            has_asked.set()
            self._dashboards.publish()
            await asyncio.sleep(self._settings.health_interval_s * factor)

    async def _meet(self, new: list[_Watch]) -> None:
        try:
            async with asyncio.timeout(FIRST_ANSWER_S):
                for watch in new:
                    await watch.has_asked.wait()
        except TimeoutError:
            pass  # shown as waiting; its own watch tells more

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:  # Any: unused ends
        task = asyncio.ensure_future(work)
        self._ending.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._ending.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._log.error("Looking after dashboards ended by a fault", exc_info=error)

    def _stop(self) -> None:
        for watch in self._watches.values():
            watch.task.cancel()
        self._watches.clear()
        if self._poll is not None:
            self._poll.cancel()
            self._poll = None
