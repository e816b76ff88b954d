"""Answers the queries of `schema.tables.QUERIES`, a few at a time, apart from the pulls.

Must not keep answers, and must end every query: with an answer or with text for the user.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from dask_diag_lab.schema.columns import WireError
from dask_diag_lab.transport.answers import ANSWERS
from dask_diag_lab.transport.link import WORKER_TIMEOUT_S, AnswerError, Arguments, Cluster

logger = logging.getLogger(__name__)

AT_ONCE: Final = 3
"""Queries to many workers, and as many to one of them or to the scheduler alone: what somebody
wants to know of one worker does not wait for the answers of a thousand."""

MAX_WAITING: Final = 100
TIMEOUT_S: Final = 30.0
LONGER_S: Final = {"hardware": 300.0}
"""Kinds that take their time: a benchmark waits for free threads on every worker."""

OnAnswer = Callable[[object], None]
OnFailure = Callable[[str], None]


class QueryRunner:
    """Asks a cluster what views want to know; lives on the running loop.

    Parameters
    ----------
    address, connection_args
        As of `Feed`.
    timeout_s : float
        Longest wait for an answer of a usual kind, waiting for its turn not counted.
    worker_timeout_s : float
        As of `Cluster`.
    """

    def __init__(
        self,
        address: str,
        connection_args: Mapping[str, Any],  # what `distributed`'s comm wants
        *,
        timeout_s: float = TIMEOUT_S,
        worker_timeout_s: float = WORKER_TIMEOUT_S,
    ) -> None:
        self._cluster = partial(Cluster, address, connection_args, worker_timeout_s)
        self._timeout_s = timeout_s
        self._turns = {is_wide: asyncio.Semaphore(AT_ONCE) for is_wide in (False, True)}
        self._asked: set[asyncio.Task[object]] = set()
        self._is_closing = False

    def ask(
        self, kind: str, arguments: Arguments, on_answer: OnAnswer, on_failure: OnFailure
    ) -> None:
        """Answer by calling one of the two on the loop, exactly once; text goes to the second."""
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
        """Fail what is asked; harmless when done before."""
        self._is_closing = True
        asked = list(self._asked)
        for task in asked:
            task.cancel()
        await asyncio.gather(*asked, return_exceptions=True)

    async def _answer(self, kind: str, arguments: Arguments) -> object:
        timeout_s = LONGER_S.get(kind, self._timeout_s)
        async with self._turns[kind == "hardware" or arguments.get("worker") == ""]:
            cluster = self._cluster()
            try:
                async with asyncio.timeout(timeout_s):
                    return await ANSWERS[kind](cluster, arguments)
            except TimeoutError as error:
                raise AnswerError(f"The cluster gave no answer within {timeout_s:g} s.") from error
            except WireError as error:
                raise AnswerError(f"The cluster's answer cannot be read: {error}.") from error
            finally:
                await cluster.close()

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
            logger.error("A query could not be answered", exc_info=error)
            on_failure(f"The answer failed here: {type(error).__name__}: {error!s:.300}")
