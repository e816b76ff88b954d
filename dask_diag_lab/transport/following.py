"""One scheduler that is followed: its feed, which runs, and what is asked of it besides."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, Final

from dask_diag_lab.schema import EXTRA_NAMES, GRAPH
from dask_diag_lab.transport.feed import Feed, FeedState
from dask_diag_lab.transport.link import LinkLostError
from dask_diag_lab.transport.queries import OnAnswer, OnFailure, QueryRunner

if TYPE_CHECKING:
    from dask_diag_lab.schema import Batch

logger = logging.getLogger(__name__)

BRIEFLY_S: Final = 1.0
"""So long somebody waits at most for what is not known here yet."""


class Following:
    """What is pulled from a scheduler and asked of it, until `close`; runs on the running loop.

    Parameters
    ----------
    address : str
    connection_args : mapping
        Of comms to it.
    on_batch, on_state : callable
        Take each `Batch`, and each `FeedState`; see `Feed`.
    interval_s, idle_interval_s : float
        Of the feed.
    """

    def __init__(
        self,
        address: str,
        connection_args: Mapping[str, Any],  # as Dask's own
        *,
        on_batch: Callable[[Batch], None],
        on_state: Callable[[FeedState], None],
        interval_s: float,
        idle_interval_s: float,
    ) -> None:
        self._feed = Feed(
            address,
            connection_args,
            on_batch=on_batch,
            on_state=on_state,
            interval_s=interval_s,
            idle_interval_s=idle_interval_s,
        )
        self._queries = QueryRunner(address, connection_args)
        self._running: asyncio.Task[None] | None = None
        self._wanted: frozenset[str] = frozenset()

    def start(self) -> None:
        """Begin to feed."""
        self._running = asyncio.create_task(self._feed.run())
        self._running.add_done_callback(_log_failure)

    async def close(self) -> None:
        """Hang up, each part also where one before failed."""
        async with AsyncExitStack() as last_first:
            if self._running is not None:
                last_first.push_async_callback(_end, self._running)
            last_first.push_async_callback(self._feed.close)
            last_first.push_async_callback(self._queries.close)

    @property
    def state(self) -> FeedState:
        """Whether new data comes."""
        return self._feed.state

    def watch(self, is_watched: bool, wanted: frozenset[str]) -> None:
        """Follow as closely as those need who look."""
        self._feed.wanted = self._wanted = wanted
        self._feed.is_watched = is_watched

    def ask(
        self,
        kind: str,
        arguments: Mapping[str, str | float],
        on_answer: OnAnswer,
        on_failure: OnFailure,
    ) -> None:
        """Ask what no feed brings; see `QueryRunner.ask`."""
        self._queries.ask(kind, arguments, on_answer, on_failure)

    async def pull(self) -> None:
        """Pull once.

        Raises
        ------
        LinkLostError
            The scheduler could not be reached.
        """
        await self._feed.pull_now()

    async def pull_briefly(self) -> None:
        """Pull once, or do without where that takes long or nobody answers."""
        if self.state.state in {"live", "degraded"}:
            with contextlib.suppress(LinkLostError, TimeoutError):
                await asyncio.wait_for(self._feed.pull_now(), BRIEFLY_S)

    async def pull_all(self) -> None:
        """Pull briefly what any plot needs: later perhaps nobody can be asked."""
        self._feed.wanted = EXTRA_NAMES | {GRAPH}
        await self.pull_briefly()
        self._feed.wanted = self._wanted


async def _end(running: asyncio.Task[None]) -> None:
    await asyncio.wait([running], timeout=1)
    running.cancel()
    await asyncio.wait([running])  # how it ended, `_log_failure` says


def _log_failure(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        logger.warning("Following the scheduler failed", exc_info=error)
