"""The cluster as questions see it: calls to the scheduler, and to workers through it.

Every error comes out as words for the user. Must not know the questions.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from math import inf
from typing import Any, Final

from dask_diag_lab.transport import on_worker
from dask_diag_lab.transport.link import LinkLostError, RefusedError
from dask_diag_lab.transport.links import MAX_LINKS, LinkPool
from dask_diag_lab.transport.sealed import error_words, result_data
from dask_diag_lab.transport.shipped import pack_arguments, pack_function
from dask_diag_lab.transport.wire import WireError

WORKER_TIMEOUT_S: Final = 8.0
"""One worker's answer; a stopped process would otherwise hold its place for good."""

FAN_OUT_S: Final = 24.0
"""Workers that have not answered so long after the question began are missing: the rest of the
answer is worth more than they are, and has to be put together before the question is given up."""

FAN_OUT_LINKS: Final = MAX_LINKS - 4
"""The other links are for questions to one worker, which do not wait for those to a thousand."""

CALL_TIMEOUT_S: Final = 25.0

EXCUSED_S: Final = 60.0
"""So long a worker that was silent or refused is not asked again: each time would leave a waiting
call or a line in the log on the scheduler."""

_GONE: Final = ("CommClosedError", "OSError", "TimeoutError", "ConnectionError", "StreamClosed")

Taking = Awaitable[None] | None


class AnswerError(Exception):
    """Why a question cannot be answered, in words for the user."""


class ForbiddenError(AnswerError):
    """The cluster's settings forbid what the answer needs."""


@dataclass(frozen=True, slots=True)
class _Excuse:
    """Until when, of the monotonic clock, a worker is not asked, and what is said instead."""

    until: float
    kind: type[AnswerError]
    words: str


class Cluster:
    """A scheduler and its workers, asked over a few links; each question has its `for_question`.

    Parameters
    ----------
    links : LinkPool
    address : str
        Of the scheduler, for words.
    worker_timeout_s : float
        Longest wait for one worker.
    fan_out_s : float
        Longest wait for many, from the beginning of the question.
    """

    def __init__(
        self,
        links: LinkPool,
        address: str,
        *,
        worker_timeout_s: float = WORKER_TIMEOUT_S,
        fan_out_s: float = FAN_OUT_S,
    ) -> None:
        self._links = links
        self._address = address
        self._worker_timeout_s = worker_timeout_s
        self._fan_out_s = fan_out_s
        self._fan_out = asyncio.Semaphore(FAN_OUT_LINKS)
        self._excused: dict[tuple[str, str], _Excuse] = {}
        self._end = time.monotonic() + fan_out_s

    def for_question(self) -> Cluster:
        """Return this cluster for a question that begins now.

        What it asks of the scheduler counts towards its time for many workers: after a slow
        answer to that, too few seconds would be left to put the workers' answers together.
        """
        asked = copy(self)  # links, places and excuses are those of all questions
        asked._end = time.monotonic() + self._fan_out_s
        return asked

    async def call(self, op: str, *, timeout_s: float = CALL_TIMEOUT_S, **message: Any) -> Any:
        """Return what a handler of the scheduler answers; None of a handler it does not have.

        Raises
        ------
        AnswerError
            It is gone, forbids the call, or the call failed there.
        """
        try:
            return await self._links.call(op, timeout_s=timeout_s, **message)
        except LinkLostError as error:
            raise AnswerError(
                f"The scheduler at {self._address} did not answer: {error}."
            ) from error
        except RefusedError as error:
            if "disallowed" in str(error):
                raise ForbiddenError(
                    f"The scheduler forbids {op!r}, which this needs"
                    " (setting distributed.scheduler.blocked-handlers)."
                ) from error
            raise AnswerError(f"The scheduler could not answer: {error!s:.300}") from error

    async def workers(self, worker: str) -> Sequence[str]:
        """Return the addresses to ask: that of ``worker`` if it is there, of all for ''.

        Raises
        ------
        AnswerError
            There is no such worker, or what `call` raises.
        """
        known = await self.call("ncores", workers=[worker] if worker else None)
        if not isinstance(known, Mapping):
            raise AnswerError("The scheduler did not tell its workers.")
        if worker and worker not in known:
            raise AnswerError(f"There is no worker {worker:.200}; it may have left the cluster.")
        return [str(address) for address in known]

    async def ask_worker(self, worker: str, **message: Any) -> Any:  # what a worker sent
        """Return what a handler of one worker answers.

        Raises
        ------
        AnswerError
            In words that do not name the worker.
        """
        excuse = self._excused.get((worker, message["op"])) or self._excused.get((worker, ""))
        if excuse is not None and time.monotonic() < excuse.until:
            raise excuse.kind(excuse.words)
        began = time.monotonic()
        try:
            answers = await self.call(
                "broadcast",
                msg=message,
                workers=[worker],
                on_error="return_pickle",
                timeout_s=self._worker_timeout_s,
            )
        except AnswerError as error:
            if isinstance(getattr(error.__cause__, "__cause__", None), TimeoutError):
                waited_s = time.monotonic() - began
                words = f"no answer in {waited_s:.0f} s"
                raise self._excuse(worker, "", AnswerError, words) from error
            raise
        if not isinstance(answers, Mapping) or worker not in answers:
            raise AnswerError("the worker is gone")
        answer = answers[worker]
        if isinstance(answer, (bytes, bytearray)):  # a pickled exception
            raise self._worker_error(worker, str(message["op"]), bytes(answer))
        return answer

    async def ask_workers(
        self, workers: Sequence[str], take: Callable[[str, Any], Taking], **message: Any
    ) -> dict[str, str]:
        """Ask each of ``workers``, give each answer to ``take``; return who is missing and why.

        ``take`` may raise `WireError` for an answer that cannot be used. What it returns is waited
        for, before that link fetches the next answer.
        """
        missing: dict[str, str] = {}
        waiting = deque(workers)

        async def ask_some() -> None:
            while waiting:
                worker = waiting.popleft()
                try:
                    taking = take(worker, await self._ask_in_time(worker, message))
                    if taking is not None:
                        await taking
                except AnswerError as error:
                    missing[worker] = str(error)
                except WireError as error:
                    missing[worker] = f"its answer cannot be read: {error}"

        async with asyncio.TaskGroup() as group:
            for _ in range(min(FAN_OUT_LINKS, len(workers))):
                group.create_task(ask_some())
        return missing

    async def _ask_in_time(self, worker: str, message: Mapping[str, Any]) -> Any:  # what it sent
        """Return what one of many workers answers; `AnswerError` at the end of their time."""
        left_s, asked_at = self._end - time.monotonic(), inf
        late = f"no answer within {self._fan_out_s:g} s"
        if left_s <= 0:
            raise AnswerError(late)
        try:
            async with asyncio.timeout(left_s), self._fan_out:
                asked_at = time.monotonic()
                return await self.ask_worker(worker, **message)
        except TimeoutError as error:
            waited_s = time.monotonic() - asked_at
            if waited_s >= self._worker_timeout_s / 2:  # long enough to be called silent
                self._excuse(worker, "", AnswerError, f"no answer in {waited_s:.0f} s")
            raise AnswerError(late) from error

    def run_message(self, function: str, **arguments: int | str) -> dict[str, Any]:
        """Return the message that runs a function of `on_worker`; read what comes by `result`."""
        return {
            "op": "run",
            "function": pack_function(on_worker, function),
            "kwargs": pack_arguments(arguments),
        }

    @staticmethod
    def result(answer: Any) -> Any:  # JSON data
        """Return what a function of `on_worker` answered.

        Raises
        ------
        WireError
            It raised, or its answer is none.
        """
        if not isinstance(answer, Mapping):
            raise WireError("no result")
        if answer.get("status") != "OK":
            raise WireError(f"it failed there: {answer.get('exception_text', 'unknown')!s:.300}")
        return result_data(answer.get("result"))

    def _worker_error(self, worker: str, op: str, pickled: bytes) -> AnswerError:
        name, text = error_words(pickled)
        if "disallowed" in text:
            words = f"it forbids {op!r} (setting distributed.worker.blocked-handlers)"
            return self._excuse(worker, op, ForbiddenError, words)
        if name in _GONE or not name:
            return AnswerError("the worker is gone or cannot be reached")
        return AnswerError(f"{name}: {text:.300}")

    def _excuse(self, worker: str, op: str, kind: type[AnswerError], words: str) -> AnswerError:
        if len(self._excused) > 10_000:
            self._excused.clear()
        self._excused[worker, op] = _Excuse(time.monotonic() + EXCUSED_S, kind, words)
        return kind(words)
