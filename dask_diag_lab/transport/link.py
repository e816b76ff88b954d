"""One comm to a scheduler, on the running loop, each call with a timeout; code sent by value.

It connects as the user's client does, and asks for answers that are no pickles; see
`docs/security.md`. Code goes one way.
"""

from __future__ import annotations

import asyncio
import struct
import threading
from collections.abc import Mapping
from types import ModuleType
from typing import Any, Final

import cloudpickle
import msgpack
from distributed.comm.core import CommClosedError, connect

from dask_diag_lab.collector.asking import MAX_ANSWER_BYTES
from dask_diag_lab.schema.columns import WireError

PLAIN: Final = ("msgpack",)
"""Serializers that whoever answers may use."""

_GARBLED: Final = (
    *(struct.error, MemoryError, LookupError, EOFError, ValueError, TypeError, AttributeError),
    msgpack.UnpackException,
)
"""What comes of bytes that are no message."""

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
        except CommClosedError as error:  # its text is about sockets
            raise LinkLostError("the connection was closed") from error
        except OSError as error:
            self._comm.abort()
            raise LinkLostError(_error_text(error)) from error
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
