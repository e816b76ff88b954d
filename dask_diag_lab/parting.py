"""The wait of a client that closes: until its diagnostics know all that they can.

Joins two loops; must not know what is learnt.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import Final

logger = logging.getLogger(__name__)

PARTING_S: Final = 1.0
"""So long closing a client waits at most."""


class Parting:
    """Whether the last has been learnt. Waited for on loops of clients, set on that of ours."""

    def __init__(self) -> None:
        self._learnt = _pending()

    async def learn(self, learn_last: Callable[[], Awaitable[None]]) -> None:
        """Learn the last, and let those go on who wait; a failure of it is logged."""
        try:
            await learn_last()
        except Exception as error:  # a history without its end is better than none
            logger.warning("A history may lack its end: %s", error, exc_info=error)
        finally:
            self.release()

    async def wait(self) -> None:
        """Return when there is nothing more to wait for, or after `PARTING_S`."""
        learnt = asyncio.wrap_future(self._learnt)
        await asyncio.wait([learnt], timeout=PARTING_S)
        learnt.cancel()  # what comes later may find this loop closed

    def release(self) -> None:
        """Let those go on who wait, for good; harmless twice."""
        if not self._learnt.done():
            self._learnt.set_result(None)

    def begin_anew(self) -> None:
        """Have those wait again who come from now on: there is something more to learn."""
        self._learnt = _pending()


def _pending() -> Future[None]:
    future: Future[None] = Future()
    future.set_running_or_notify_cancel()  # one who gives up waiting cancels it for nobody else
    return future
