"""Answers the questions of `records.QUESTIONS`, a few at a time, apart from the pulls.

Must not keep answers, and must end every question: with an answer or with words.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from dask_diag_lab.transport.answers import ANSWERS
from dask_diag_lab.transport.cluster import FAN_OUT_S, WORKER_TIMEOUT_S, AnswerError, Cluster
from dask_diag_lab.transport.links import CONNECT_TIMEOUT_S, LinkPool
from dask_diag_lab.transport.wire import WireError

logger = logging.getLogger(__name__)

AT_ONCE: Final = 3
"""Questions to all workers, and as many to one of them or to the scheduler alone."""

MAX_WAITING: Final = 100
TIMEOUT_S: Final = 30.0
LONGER_S: Final = {"hardware": 300.0}
"""Kinds that take their time: a benchmark waits for free threads on every worker."""

Argument = str | float
OnAnswer = Callable[[object], None]
OnFailure = Callable[[str], None]


class Inquirer:
    """Asks a cluster what views want to know, over links of its own.

    Lives on the running loop. Links are opened with the first question and closed when idle.

    Parameters
    ----------
    address, connection_args
        As of `Feed`.
    timeout_s : float
        Longest wait for an answer of a usual kind, waiting for its turn not counted.
    idle_s : float
        A link that was not used for so long is closed.
    worker_timeout_s : float
        Longest wait for one worker among many.
    fan_out_s : float
        Longest wait for all workers, from the beginning of the question; then those that have
        answered are the answer.
    """

    def __init__(
        self,
        address: str,
        connection_args: Mapping[str, Any],  # what the engine's comm wants
        *,
        timeout_s: float = TIMEOUT_S,
        idle_s: float = 30.0,
        worker_timeout_s: float = WORKER_TIMEOUT_S,
        fan_out_s: float = FAN_OUT_S,
    ) -> None:
        self._links = LinkPool(
            address,
            connection_args,
            idle_s=idle_s,
            connect_timeout_s=min(CONNECT_TIMEOUT_S, timeout_s / 2),
        )
        self._cluster = Cluster(
            self._links, address, worker_timeout_s=worker_timeout_s, fan_out_s=fan_out_s
        )
        self._timeout_s = timeout_s
        # What somebody wants to know of one worker does not wait for answers of a thousand.
        self._rooms = {is_wide: asyncio.Semaphore(AT_ONCE) for is_wide in (False, True)}
        self._asked: set[asyncio.Task[object]] = set()
        self._is_closing = False

    @property
    def n_links(self) -> int:
        """Connections that are open now."""
        return self._links.n_open

    def ask(
        self,
        kind: str,
        arguments: Mapping[str, Argument],
        on_answer: OnAnswer,
        on_failure: OnFailure,
    ) -> None:
        """Answer by calling one of the two on the loop, exactly once; words go to the second."""
        if self._is_closing:
            on_failure("These diagnostics are closed.")
            return
        if len(self._asked) >= MAX_WAITING:
            on_failure("Too many questions wait for an answer already; try again later.")
            return
        task = asyncio.create_task(self._answer(kind, arguments), name=f"dask_diag_lab {kind}")
        self._asked.add(task)
        task.add_done_callback(partial(self._ended, on_answer, on_failure))

    async def close(self) -> None:
        """Fail what is asked, and close all links; harmless when done before."""
        self._is_closing = True
        asked = list(self._asked)
        for task in asked:
            task.cancel()
        if asked:
            await asyncio.wait(asked)
        await self._links.close()

    async def _answer(self, kind: str, arguments: Mapping[str, Argument]) -> object:
        timeout_s = LONGER_S.get(kind, self._timeout_s)
        answering = ANSWERS[kind]
        async with self._rooms[answering.is_wide(arguments)]:
            try:
                async with asyncio.timeout(timeout_s):
                    return await answering.answer(self._cluster.for_question(), arguments)
            except TimeoutError as error:
                raise AnswerError(f"The cluster gave no answer within {timeout_s:g} s.") from error
            except WireError as error:
                raise AnswerError(f"The cluster's answer cannot be read: {error}.") from error

    def _ended(
        self, on_answer: OnAnswer, on_failure: OnFailure, task: asyncio.Task[object]
    ) -> None:
        self._asked.discard(task)
        if task.cancelled():
            on_failure("The connection to the cluster was closed before the answer came.")
            return
        error = task.exception()
        if error is None:
            on_answer(task.result())
        elif isinstance(error, AnswerError):
            on_failure(str(error))
        else:
            logger.error("A question could not be answered", exc_info=error)
            on_failure(f"The answer failed here: {type(error).__name__}: {error!s:.300}")
