"""The transport's loop: connect, pull, hand over, and come back after every kind of loss.

Must not look into batches.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from dask_diag_lab.collector import LEASE_S, Collector
from dask_diag_lab.schema import Batch
from dask_diag_lab.transport.link import Link, LinkLostError
from dask_diag_lab.transport.source import CollectorSource, NoCollectorError

logger = logging.getLogger(__name__)

State = Literal["connecting", "live", "degraded", "lost", "closed"]

NO_COLLECTOR_RETRY_S: Final = 60.0
"""Each try leaves a line in the log of a scheduler that forbids plugins."""

CONNECT_TIMEOUT_S: Final = 10.0

LONGEST_INTERVAL_S: Final = LEASE_S / 2
"""Pulled more seldom than its lease lasts, the collector would leave, and with it its rows."""


@dataclass(frozen=True, slots=True)
class FeedState:
    """How the feed is.

    Attributes
    ----------
    state : {'connecting', 'live', 'degraded', 'lost', 'closed'}
    reason : str
        Why, in words for the user; '' when all is well.
    since : float
        This process's clock at the change, seconds since the epoch.
    """

    state: State
    reason: str
    since: float


class Backoff:
    """Doubling waits between ``first_s`` and ``last_s``, each shortened by up to half at random.

    Many kernels that lost one scheduler do not all come back at the same moment.
    """

    def __init__(
        self,
        first_s: float = 1.0,
        last_s: float = 30.0,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._first_s = first_s
        self._last_s = last_s
        self._chance = chance
        self._tries = 0

    def next(self) -> float:
        """Return the seconds to wait, more from time to time."""
        wait_s = min(self._last_s, self._first_s * 2.0 ** min(self._tries, 30))
        self._tries += 1
        return wait_s * (1 - self._chance() / 2)

    def reset(self) -> None:
        self._tries = 0


class _TakeOverError(Exception):
    """The receiver of a batch raised; it has been logged."""


class Feed:
    """Batches of one scheduler, from `run` until `close`.

    Parameters
    ----------
    address : str
        The scheduler's, as the client knows it.
    connection_args : mapping
        ``client.connection_args``: its security.
    on_batch : callable
        Takes each `Batch`. Where it raises, the error is logged, the state says so, and the same
        rows are pulled again after a while.
    on_state : callable
        Takes each new `FeedState`.
    interval_s, idle_interval_s : float
        Seconds between two pulls while somebody watches, and while nobody does; at most
        `LONGEST_INTERVAL_S`.
    timeout_s : float
        Longest wait for one answer: a scheduler that takes in a large graph is silent for long.
    collector : callable
        Returns the plugin to send.
    backoff : Backoff, optional
        Waits between two tries.
    """

    def __init__(
        self,
        address: str,
        connection_args: Mapping[str, Any],  # what `distributed`'s comm wants
        *,
        on_batch: Callable[[Batch], None],
        on_state: Callable[[FeedState], None],
        interval_s: float = 0.25,
        idle_interval_s: float = 2.0,
        timeout_s: float = 30.0,
        collector: Callable[[], Collector] = Collector,
        backoff: Backoff | None = None,
    ) -> None:
        self._address = address
        self._connection_args = connection_args
        self._on_batch = on_batch
        self._on_state = on_state
        self._interval_s = min(interval_s, LONGEST_INTERVAL_S)
        self._idle_interval_s = min(idle_interval_s, LONGEST_INTERVAL_S)
        self._timeout_s = timeout_s
        self._collector = CollectorSource(collector, timeout_s=timeout_s)
        self._backoff = backoff or Backoff()
        self._link: Link | None = None
        self._loop_task: asyncio.Task[None] | None = None
        self._is_watched = False
        self._wanted: frozenset[str] = frozenset()
        self._is_closing = False
        self._wake = asyncio.Event()
        self._asked: list[asyncio.Future[None]] = []
        self.state = FeedState("connecting", "", time.time())

    @property
    def is_watched(self) -> bool:
        """Somebody looks: pull at the short interval."""
        return self._is_watched

    @is_watched.setter
    def is_watched(self, value: bool) -> None:
        if value and not self._is_watched:
            self._wake.set()
        self._is_watched = value

    @property
    def wanted(self) -> frozenset[str]:
        """Names of `schema.EXTRAS`, and `schema.GRAPH`, that are to be brought as well."""
        return self._wanted

    @wanted.setter
    def wanted(self, value: frozenset[str]) -> None:
        is_more = not value <= self._wanted
        self._wanted = value
        if is_more:
            self._wake.set()

    async def pull_now(self) -> None:
        """Wait until all that the scheduler has recorded by now has been handed over.

        Raises
        ------
        LinkLostError
            The next try to reach the scheduler failed, or the feed was closed.
        """
        if self._is_closing:
            raise LinkLostError("the feed is closed")
        asked = asyncio.get_running_loop().create_future()
        self._asked.append(asked)
        self._wake.set()
        await asked

    async def run(self) -> None:
        """Feed until `close`; returns then, and raises only what is a bug of this class."""
        if self._is_closing:
            return
        self._on_state(self.state)
        self._loop_task = asyncio.create_task(self._loop(), name="dask_diag_lab feed")
        try:
            await asyncio.wait({self._loop_task})
        finally:
            self._loop_task.cancel()
            self._disappoint("the feed is closed")
            await self._hang_up()
            self._set_state("closed", "")
        if not self._loop_task.cancelled():
            self._loop_task.result()

    async def close(self) -> None:
        """End `run`, tell the collector and close the comm; harmless when done before."""
        self._is_closing = True
        self._wake.set()
        task = self._loop_task
        if task is None:
            self._disappoint("the feed is closed")
            self._set_state("closed", "")
            return
        # Let a call that is under way end: a comm left in the middle of one cannot say goodbye.
        await asyncio.wait({task}, timeout=2.0)
        task.cancel()
        await asyncio.wait({task})

    async def _loop(self) -> None:
        while not self._is_closing:
            least_s = 0.0
            self._wake.clear()
            try:
                await self._connect()
                while not self._is_closing:
                    await self._step()
            except LinkLostError as error:
                self._set_state("lost", f"The scheduler at {self._address} is gone: {error}.")
            except NoCollectorError as error:
                self._set_state("degraded", f"{error} So there is no data for the plots.")
                least_s = NO_COLLECTOR_RETRY_S
            except _TakeOverError as error:
                self._set_state("degraded", f"What arrived could not be taken over: {error}.")
            if not self._is_closing:
                self._disappoint(self.state.reason)
                await self._hang_up(say_goodbye=False)
                await self._sleep(max(self._backoff.next(), least_s))

    async def _connect(self) -> None:
        timeout_s = min(CONNECT_TIMEOUT_S, self._timeout_s)
        self._link = await Link.open(self._address, self._connection_args, timeout_s=timeout_s)
        await self._collector.register(self._link)

    async def _step(self) -> None:
        """Pull once, hand over, and wait for the next time."""
        n_asked = len(self._asked)  # who asks during the pull may want more than it brings
        self._wake.clear()  # now, not when the wait begins: a need that comes meanwhile counts
        batch, accept = await self._collector.pull(self._wanted)
        self._hand_over(batch)
        accept()
        self._backoff.reset()
        self._set_state("live", "")
        if self._collector.is_more:
            await asyncio.sleep(0)
            return
        self._answer(n_asked)
        if not self._asked:
            await self._sleep(self._interval_s if self._is_watched else self._idle_interval_s)

    def _answer(self, n_asked: int) -> None:
        """Tell the first that asked that they have what they waited for."""
        answered, self._asked = self._asked[:n_asked], self._asked[n_asked:]
        for asked in answered:
            if not asked.done():
                asked.set_result(None)

    def _disappoint(self, reason: str) -> None:
        """Tell all that asked why they get nothing."""
        failed, self._asked = self._asked, []
        for asked in failed:
            if not asked.done():
                asked.set_exception(LinkLostError(reason))

    def _hand_over(self, batch: Batch) -> None:
        try:
            self._on_batch(batch)
        except Exception as error:
            logger.exception("A batch of %s could not be taken over", self._address)
            raise _TakeOverError(f"{type(error).__name__}: {error}") from error

    async def _sleep(self, seconds: float) -> None:
        """Wait, or less when somebody begins to watch or the feed is closed."""
        if self._is_closing:
            return
        try:
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        except TimeoutError:
            return

    async def _hang_up(self, *, say_goodbye: bool = True) -> None:
        link, self._link = self._link, None
        if link is None:
            return
        if say_goodbye and link.is_open:
            await self._collector.leave()
        await link.close()

    def _set_state(self, state: State, reason: str) -> None:
        if (state, reason) != (self.state.state, self.state.reason):
            self.state = FeedState(state, reason, time.time())
            self._on_state(self.state)
