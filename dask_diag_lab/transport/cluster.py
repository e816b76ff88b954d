"""The cluster as queries see it: calls to the scheduler, and to workers through the collector.

Every error comes out as text for the user. Must not know the queries.
"""

from __future__ import annotations

import asyncio
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

from dask_diag_lab.collector import ASK, wire
from dask_diag_lab.collector.asking import MAX_ANSWER_BYTES
from dask_diag_lab.schema.columns import WireError
from dask_diag_lab.transport import on_worker
from dask_diag_lab.transport.decode import member
from dask_diag_lab.transport.link import Link, LinkLostError, RefusedError, by_value, unpacked

Arguments = Mapping[str, str | float]
T = TypeVar("T")

WORKER_TIMEOUT_S: Final = 8.0
"""One worker's answer; a stopped process would otherwise hold its place for good."""

FAN_OUT_S: Final = 24.0
"""Workers that have not answered so long after the query began are missing: the rest of the answer
is worth more than they are."""

AT_ONCE: Final = 64
"""Workers asked with one call: the scheduler holds their answers until the last one came."""

CALL_TIMEOUT_S: Final = 25.0
CONNECT_TIMEOUT_S: Final = 10.0


_WRONG_SHAPE: Final = (
    *(AttributeError, LookupError, TypeError, ValueError, OverflowError, RecursionError),
    zlib.error,
)
"""What comes of an answer that is not what was asked for."""


class AnswerError(Exception):
    """Why a query cannot be answered, in text for the user."""


class Cluster:
    """A scheduler and its workers, asked over a link of its own; for one query.

    A query that waits for slow workers must not hold up the pulls.

    Parameters
    ----------
    address : str
        Of the scheduler.
    connection_args : mapping
        ``client.connection_args``: its security.
    worker_timeout_s : float
        Longest wait for one worker.
    """

    def __init__(
        self,
        address: str,
        connection_args: Mapping[str, Any],  # what `distributed`'s comm wants
        worker_timeout_s: float = WORKER_TIMEOUT_S,
    ) -> None:
        self._address = address
        self._connection_args = connection_args
        self._worker_timeout_s = worker_timeout_s
        self._end = time.monotonic() + FAN_OUT_S
        self._link: Link | None = None

    async def close(self) -> None:
        if self._link is not None:
            await self._link.close()

    async def call(self, op: str, *, timeout_s: float = CALL_TIMEOUT_S, **message: Any) -> Any:
        """Return what a handler of the scheduler answers; None of a handler it does not have.

        Raises
        ------
        AnswerError
            It is gone, forbids the call, or the call failed there.
        """
        try:
            if self._link is None:
                self._link = await Link.open(
                    self._address, self._connection_args, timeout_s=CONNECT_TIMEOUT_S
                )
            return await self._link.call(op, timeout_s=timeout_s, **message)
        except LinkLostError as error:
            raise AnswerError(
                f"The scheduler at {self._address} did not answer: {error}."
            ) from error
        except RefusedError as error:
            text = _reason(error, "scheduler")
            raise AnswerError(f"The scheduler could not answer: {text}.") from error

    async def workers(self, worker: str) -> Sequence[str]:
        """Return the addresses to ask: that of ``worker`` if it is there, of all for ''.

        Raises
        ------
        AnswerError
            There is no such worker, or what `call` raises.
        """
        known = await self.call("ncores", workers=[worker] if worker else None)
        if worker and worker not in known:
            raise AnswerError(f"There is no worker {worker:.200}; it may have left the cluster.")
        return [str(address) for address in known]

    async def ask_worker(self, worker: str, read: Callable[[Any], T], **message: Any) -> T:
        """Return what ``read`` makes of the answer of one worker's handler, in another thread.

        Raises
        ------
        AnswerError
            None was chosen, there is no such worker, it did not answer or not what ``read`` can
            read, or forbids the call.
        """
        if not worker:
            raise AnswerError("No worker was chosen.")
        answers: dict[str, T] = {}

        def take(place: str, answer: Any) -> None:  # what a worker sent
            answers[place] = read(answer)

        missing = await self.ask_workers(await self.workers(worker), take, **message)
        if missing:
            raise AnswerError(f"Worker {worker} did not answer: {missing[worker]}.")
        return answers[worker]

    async def ask_workers(
        self, workers: Sequence[str], take: Callable[[str, Any], None], **message: Any
    ) -> dict[str, str]:
        """Ask each of ``workers``, give each answer to ``take``; return who is missing and why.

        ``take`` is called in another thread; of an answer that cannot be used it takes nothing and
        raises.
        """
        missing: dict[str, str] = {}

        def take_all(answers: Mapping[str, Any]) -> None:
            for worker, answer in answers.items():
                try:
                    take(worker, _result(unpacked(answer)))
                except _WRONG_SHAPE as error:
                    missing[worker] = f"its answer cannot be read: {error!s:.300}"

        for first in range(0, len(workers), AT_ONCE):
            some = workers[first : first + AT_ONCE]
            left_s = self._end - time.monotonic()
            if left_s <= 0:
                missing |= dict.fromkeys(some, f"no answer within {FAN_OUT_S:g} s")
                continue
            # Half of them wait for the others: see `collector.asking`.
            each_s = min(self._worker_timeout_s, left_s / 2)
            data = await self.call(
                ASK, workers=some, message=message, timeout_s=left_s + 1, worker_timeout_s=each_s
            )
            if data is None:
                raise AnswerError("This needs the collector, which is not on the scheduler.")
            found, lost = (member(data, name, dict) for name in ("answers", "missing"))
            missing |= {worker: _reason(text, "worker") for worker, text in lost.items()}
            await asyncio.to_thread(take_all, found)
        return missing


def run_message(function: Callable[..., Any], **arguments: int) -> dict[str, Any]:
    """Return the message that runs a function of `on_worker` on a worker."""
    packed = by_value(function, on_worker, wire)
    return {"op": "run", "function": packed, "kwargs": by_value(arguments)}


def _result(answer: Any) -> Any:  # what a worker sent
    """Return an answer; that of ``run`` is in a mapping that tells whether the function raised."""
    if not isinstance(answer, dict) or "status" not in answer:
        return answer
    if answer["status"] != "OK":
        raise WireError(f"it failed there: {answer.get('exception_text', 'unknown')!s:.300}")
    inflating = zlib.decompressobj()
    inflated = inflating.decompress(member(answer, "result", bytes), MAX_ANSWER_BYTES)
    if inflating.unconsumed_tail:
        raise WireError(f"inflated it has more than {MAX_ANSWER_BYTES} bytes")
    return unpacked(inflated)


def _reason(text: object, role: str) -> str:
    """Say which setting forbids a call, where one does."""
    setting = f" (setting distributed.{role}.blocked-handlers)" if "disallowed" in str(text) else ""
    return f"{text!s:.300}{setting}"
