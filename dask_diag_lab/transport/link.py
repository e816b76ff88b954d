"""Calls to a scheduler over a comm of its own, and to workers through the collector there.

`Link` connects as the user's client does, on the running loop, and asks for answers that are no
pickles, each with a timeout; see `docs/security.md`. Code goes one way, by value. `Cluster` is what
queries ask: every error comes out as text for the user. Must not know the queries.
"""

from __future__ import annotations

import asyncio
import struct
import threading
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any, Final, TypeVar

import cloudpickle
import msgpack
from distributed.comm.core import connect

from dask_diag_lab.collector import ASK, wire
from dask_diag_lab.collector.asking import MAX_ANSWER_BYTES
from dask_diag_lab.schema.columns import WireError
from dask_diag_lab.transport import on_worker
from dask_diag_lab.transport.decode import member

PLAIN: Final = ("msgpack",)
"""Serializers that whoever answers may use."""

_GARBLED: Final = (
    *(struct.error, zlib.error, msgpack.UnpackException, EOFError, MemoryError, RecursionError),
    *(AttributeError, LookupError, OverflowError, TypeError, ValueError),
)
"""What comes of bytes that are no message, and of a message that is not what was asked for."""

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

_REGISTRY: Final = threading.Lock()
"""cloudpickle's registry of packages sent by value is shared by all threads."""


def by_value(thing: object, *modules: ModuleType) -> bytes:
    """Return a pickle that a process without these modules or packages can load.

    Its Python has to be the same: functions are sent as bytecode.
    """
    with _REGISTRY:
        known = cloudpickle.list_registry_pickle_by_value()
        new = [module for module in modules if module.__name__ not in known]
        for module in new:
            cloudpickle.register_pickle_by_value(module)
        try:
            return bytes(cloudpickle.dumps(thing))
        finally:
            for module in new:
                cloudpickle.unregister_pickle_by_value(module)


class LinkLostError(ConnectionError):
    """The scheduler cannot be reached, or stopped answering; the text says which."""


class RefusedError(Exception):
    """The scheduler answered a call with an error; the text is its own."""


def unpacked(data: Any) -> Any:  # bytes of a peer, and what they mean
    """Return what msgpack says: numbers, text, bytes, tuples and mappings.

    Raises
    ------
    WireError
        It is no msgpack, or too much of it.
    """
    if len(data) > MAX_ANSWER_BYTES:
        raise WireError(f"it has {len(data)} bytes, more than {MAX_ANSWER_BYTES}")
    try:
        return msgpack.unpackb(data, use_list=False, strict_map_key=False)
    # The last: a mapping as a key, and a number of items that there is no memory for.
    except (ValueError, msgpack.UnpackException, TypeError, MemoryError) as error:
        raise WireError(f"it is no msgpack ({type(error).__name__}: {error!s:.200})") from error


class Link:
    """A connected comm; unusable after the first `LinkLostError`.

    Attributes
    ----------
    python : tuple of int
        Major and minor version of the scheduler's Python, as its handshake says.
    """

    def __init__(self, comm: Any) -> None:  # a `distributed.comm.Comm`, which has no types
        self._comm = comm
        python = comm.remote_info.get("python")
        self.python = python[:2] if isinstance(python, tuple) else ()

    @classmethod
    async def open(
        cls,
        address: str,
        connection_args: Mapping[str, Any],
        *,
        timeout_s: float,
    ) -> Link:
        """Connect with a client's ``connection_args``.

        Raises
        ------
        LinkLostError
            Nobody answers there, or not with this security.
        """
        try:
            async with asyncio.timeout(timeout_s + 1):  # `connect` has none for its handshake
                comm = await connect(address, timeout_s, deserialize=False, **connection_args)
        except TimeoutError as error:
            raise LinkLostError(f"no answer from {address} in {timeout_s:g} s") from error
        except (OSError, RuntimeError, ImportError, *_GARBLED) as error:
            # Also a protocol that is not installed, and security that does not fit.
            raise LinkLostError(f"cannot connect to {address}: {_error_text(error)}") from error
        return cls(comm)

    async def call(self, op: str, *, timeout_s: float, **message: Any) -> Any:  # msgpack data
        """Call a handler of the scheduler; an unknown one answers None.

        Raises
        ------
        LinkLostError
            The connection broke, or there was no answer in time.
        RefusedError
            The handler is blocked, or raised.
        WireError
            The answer cannot be read; the connection is closed then.
        """
        try:
            async with asyncio.timeout(timeout_s):
                asked = {"op": op, "reply": True, "serializers": PLAIN, **message}
                await self._comm.write(asked, on_error="raise")
                answer = await self._read(op)
        except TimeoutError as error:
            self._comm.abort()
            raise LinkLostError(f"no answer in {timeout_s:g} s") from error
        except OSError as error:  # its text is about sockets
            self._comm.abort()
            raise LinkLostError("the connection was closed") from error
        except asyncio.CancelledError:
            self._comm.abort()  # the answer would be taken for that of the next call
            raise
        if isinstance(answer, dict) and answer.get("status") == "uncaught-error":
            raise RefusedError(str(answer.get("exception_text") or answer.get("text") or "error"))
        return answer

    async def _read(self, op: str) -> Any:  # msgpack data
        try:
            return await self._comm.read()
        except _GARBLED as error:
            self._comm.abort()
            raise WireError(f"the answer to {op!r} cannot be read: {error}") from error

    async def close(self) -> None:
        if not self._comm.closed():
            try:
                async with asyncio.timeout(1):
                    await self._comm.close()
            except (OSError, TimeoutError):
                self._comm.abort()


def _error_text(error: BaseException) -> str:
    """Return an error and the first cause of it in a line."""
    while not isinstance(error.__cause__, asyncio.CancelledError | None):  # of a time-out
        error = error.__cause__
    return str(error).strip() or type(error).__name__


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
    """

    def __init__(
        self,
        address: str,
        connection_args: Mapping[str, Any],  # what `distributed`'s comm wants
    ) -> None:
        self._address = address
        self._connection_args = connection_args
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
                except _GARBLED as error:
                    missing[worker] = f"its answer cannot be read: {error!s:.300}"

        for first in range(0, len(workers), AT_ONCE):
            some = workers[first : first + AT_ONCE]
            left_s = self._end - time.monotonic()
            if left_s <= 0:
                missing |= dict.fromkeys(some, f"no answer within {FAN_OUT_S:g} s")
                continue
            # Half of them wait for the others: see `collector.asking`.
            each_s = min(WORKER_TIMEOUT_S, left_s / 2)
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
