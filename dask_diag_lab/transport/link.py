"""One comm to a scheduler, on the running loop, each call with a timeout; code sent by value.

Nothing that comes over it is unpickled, not even in the handshake: answers are msgpack's plain
data. Code goes one way.
"""

from __future__ import annotations

import asyncio
import struct
import threading
from collections.abc import Mapping, Sequence
from functools import cache
from types import FunctionType, ModuleType
from typing import Any, Final

import cloudpickle
import msgpack
from distributed.comm.addressing import parse_address
from distributed.comm.core import CommClosedError
from distributed.comm.registry import backends

from dask_diag_lab.schema.columns import WireError

MAX_MESSAGE_BYTES: Final = 256_000_000
"""A pull brings at most some 30 MB."""

_GARBLED: Final = (WireError, struct.error, MemoryError, LookupError, EOFError)
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
    if len(data) > MAX_MESSAGE_BYTES:
        raise WireError(f"it has {len(data)} bytes, more than {MAX_MESSAGE_BYTES}")
    try:
        return msgpack.unpackb(data, use_list=False, strict_map_key=False)
    # The last: a mapping as a key, and a number of items that there is no memory for.
    except (ValueError, msgpack.UnpackException, TypeError, MemoryError) as error:
        raise WireError(f"it is no msgpack ({type(error).__name__}: {error!s:.200})") from error


async def _plain_message(frames: Sequence[Any], **_: object) -> Any:
    """Return the first frame of a message; pickles would be in the others.

    Where it refers to one of those, it has a mapping like ``{"__Pickled__": 1}``.
    """
    return unpacked(frames[0] if frames else b"")


@cache
def _plain(kind: type) -> type:
    """Return a kind of comm whose messages are plain data.

    `distributed.protocol.loads` opens pickles in any message, also of a comm that does not
    deserialize, so ``read`` gets another function in the place of the one that calls it.
    """
    read: Any = kind.read  # type: ignore[attr-defined]  # of `distributed`, which has no types
    if "from_frames" not in read.__code__.co_names:
        raise TypeError(f"messages of {kind.__name__} cannot be read without opening pickles")
    names = {**read.__globals__, "from_frames": _plain_message}
    plain_read = FunctionType(read.__code__, names, "read", read.__defaults__)
    return type(kind.__name__, (kind,), {"read": plain_read})


async def _connected(address: str, connection_args: Mapping[str, Any]) -> Any:  # a Comm
    """Return a comm after its handshake, which is that of `distributed.comm.connect`."""
    protocol, place = parse_address(address)
    if protocol not in backends:
        raise ValueError(f"unknown protocol {protocol!r}")
    connector = backends[protocol].get_connector()
    if protocol != "inproc":  # which passes objects of this process on
        connector.comm_class = _plain(connector.comm_class)
    comm = await connector.connect(place, deserialize=False, **connection_args)
    try:
        ours = comm.handshake_info()
        await comm.write(ours)
        theirs = await comm.read()
        comm.handshake_options = comm.handshake_configuration(ours, theirs)
    except BaseException:
        comm.abort()
        raise
    comm.local_info = {**ours, "address": comm.local_address}
    comm.remote_info = {**theirs, "address": comm.peer_address}
    return comm


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
            async with asyncio.timeout(timeout_s):
                comm = await _connected(address, connection_args)
        except TimeoutError as error:
            raise LinkLostError(f"no answer from {address} in {timeout_s:g} s") from error
        except (OSError, RuntimeError, ValueError, TypeError, ImportError, *_GARBLED) as error:
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
                await self._comm.write({"op": op, "reply": True, **message}, on_error="raise")
                answer = await self._comm.read()
        except TimeoutError as error:
            self._comm.abort()
            raise LinkLostError(f"no answer in {timeout_s:g} s") from error
        except CommClosedError as error:  # its text is about sockets
            raise LinkLostError("the connection was closed") from error
        except OSError as error:
            self._comm.abort()
            raise LinkLostError(_error_text(error)) from error
        except _GARBLED as error:
            self._comm.abort()
            raise WireError(f"the answer to {op!r} cannot be read: {error}") from error
        except asyncio.CancelledError:
            self._comm.abort()  # the answer would be taken for that of the next call
            raise
        if isinstance(answer, dict) and answer.get("status") == "uncaught-error":
            raise RefusedError(str(answer.get("exception_text") or answer.get("text") or "error"))
        return answer

    @property
    def is_open(self) -> bool:
        return not self._comm.closed()

    async def close(self) -> None:
        if not self._comm.closed():
            try:
                async with asyncio.timeout(1):
                    await self._comm.close()
            except (OSError, TimeoutError):
                self._comm.abort()


def _error_text(error: BaseException) -> str:
    """Return an error and the first cause of it in a line."""
    while error.__cause__ is not None:
        error = error.__cause__
    return str(error).strip() or type(error).__name__
