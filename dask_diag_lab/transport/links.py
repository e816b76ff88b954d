"""A few comms to one scheduler for questions, opened when needed and closed when idle.

Must not be used for the pulls: a question that waits for slow workers would hold them up.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from dask_diag_lab.transport.link import Link, LinkLostError

MAX_LINKS: Final = 16
"""Calls under way at once: workers that are busy take half a second to answer, and with four at
once a thousand of them were not asked in time."""

CONNECT_TIMEOUT_S: Final = 10.0


class LinkPool:
    """At most ``size`` links, each for one call at a time.

    Parameters
    ----------
    address, connection_args
        As of `Link.open`.
    size : int
        Links at once; further calls wait.
    idle_s : float
        A link that was not used for so long is closed.
    connect_timeout_s : float
        Longest wait for a connection.
    """

    def __init__(
        self,
        address: str,
        connection_args: Mapping[str, Any],  # what the engine's comm wants
        *,
        size: int = MAX_LINKS,
        idle_s: float = 30.0,
        connect_timeout_s: float = CONNECT_TIMEOUT_S,
    ) -> None:
        self._address = address
        self._connection_args = connection_args
        self._room = asyncio.Semaphore(size)
        self._idle_s = idle_s
        self._connect_timeout_s = connect_timeout_s
        self._idle: list[tuple[Link, float]] = []  # and since when, the loop's clock
        self._sweeping: asyncio.Task[None] | None = None
        self._is_closing = False
        self.n_open = 0

    async def call(self, op: str, *, timeout_s: float, **message: Any) -> Any:  # msgpack data
        """Call a handler of the scheduler, as `Link.call`, on a free link.

        Raises
        ------
        LinkLostError, RefusedError
            As `Link.call` does.
        """
        async with self._room:
            while True:
                link, is_old = await self._take()
                try:
                    return await link.call(op, timeout_s=timeout_s, **message)
                except LinkLostError as error:
                    # The scheduler may have hung up while the link lay idle.
                    if not is_old or isinstance(error.__cause__, TimeoutError):
                        raise
                finally:
                    await self._give_back(link)

    async def close(self) -> None:
        """Close all links; one in use is closed after its call. Harmless when done before."""
        self._is_closing = True
        if self._sweeping is not None:
            self._sweeping.cancel()
            await asyncio.wait({self._sweeping})
            self._sweeping = None
        await self._close_idle(0)

    async def _take(self) -> tuple[Link, bool]:
        while self._idle:
            link, _ = self._idle.pop()
            if link.is_open:
                return link, True
            await self._drop(link)
        if self._is_closing:
            raise LinkLostError("the diagnostics are closed")
        link = await Link.open(
            self._address, self._connection_args, timeout_s=self._connect_timeout_s
        )
        self.n_open += 1
        return link, False

    async def _give_back(self, link: Link) -> None:
        if self._is_closing or not link.is_open:
            await self._drop(link)
            return
        self._idle.append((link, asyncio.get_running_loop().time()))
        if self._sweeping is None or self._sweeping.done():
            self._sweeping = asyncio.create_task(self._sweep(), name="dask_diag_lab idle links")

    async def _sweep(self) -> None:
        """Close what lies idle, and end with the last idle link."""
        while self._idle:
            oldest = min(since for _, since in self._idle)
            await asyncio.sleep(max(oldest + self._idle_s - asyncio.get_running_loop().time(), 0))
            await self._close_idle(self._idle_s)

    async def _close_idle(self, idle_s: float) -> None:
        limit = asyncio.get_running_loop().time() - idle_s
        # One by one: what was not closed when this is cancelled is still there to be closed.
        while old := next(((link, since) for link, since in self._idle if since <= limit), None):
            self._idle.remove(old)
            await self._drop(old[0])

    async def _drop(self, link: Link) -> None:
        self.n_open -= 1
        await link.close()
