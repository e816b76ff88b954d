"""What the engine sends packed up, read without running anything that it names.

Exceptions come pickled and results come serialized. A pickle can run code when it is opened, so
these are read with stand-ins for every class.
"""

# ruff: noqa: ARG002 - stand-ins take whatever they are given
from __future__ import annotations

import io
import json
import pickle
import zlib
from typing import Any, Final

from distributed.protocol.compression import compressions
from distributed.protocol.serialize import Serialize, Serialized

from dask_diag_lab.transport.wire import WireError, fail

MAX_RESULT_BYTES: Final = 256 * 2**20
"""Unpacked; far more than any answer of ours has."""


class _Told:
    """Stands for an object of any class: keeps what it was made with."""

    name = ""

    def __init__(self, *args: object, **kwargs: object) -> None:
        self.args = args

    def __setstate__(self, state: object) -> None:
        """Take nothing over: only the arguments are read."""

    def __call__(self, *args: object, **kwargs: object) -> _Told:
        return self


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> type[_Told]:
        return type(name, (_Told,), {"name": name})


def error_words(pickled: bytes) -> tuple[str, str]:
    """Return class name and text of a pickled exception; ('', '') where they cannot be read."""
    try:
        told = _Reader(io.BytesIO(pickled)).load()
    except (pickle.UnpicklingError, ValueError, TypeError, AttributeError, IndexError, KeyError):
        return "", ""
    except (EOFError, ImportError, MemoryError, RecursionError, OverflowError):
        return "", ""
    if not isinstance(told, _Told):
        return "", ""
    name, args = told.name, told.args
    if name.startswith("unpickle_exception") and len(args) >= 2:  # tblib's: class, then its args
        name = getattr(args[0], "name", "")
        given = args[1].get("args", ()) if isinstance(args[1], dict) else args[1]
        args = given if isinstance(given, tuple) else ()
    texts = (arg for arg in args if isinstance(arg, (str, int)))
    return str(name), ": ".join(map(str, texts))


def result_data(result: object) -> Any:  # JSON data that our own code on a worker made
    """Return what `on_worker` packed: zlib-compressed JSON in bytes that the engine wrapped.

    Raises
    ------
    WireError
        It is not that.
    """
    if isinstance(result, Serialize):  # over inproc comms nothing is serialized
        result = result.data
    if isinstance(result, Serialized):
        result = _unwrapped(result)
    if not isinstance(result, (bytes, bytearray, memoryview)):
        raise fail("result", "bytes", result)
    unpacker = zlib.decompressobj()
    try:
        text = unpacker.decompress(bytes(result), MAX_RESULT_BYTES)
        return json.loads(text)
    except (zlib.error, ValueError) as error:
        raise WireError(f"a worker's result cannot be read: {error}") from error


def _unwrapped(result: Serialized) -> bytes:
    """Return the bytes inside; the header's pickled type is left alone."""
    if result.header.get("serializer") != "dask":
        raise WireError(f"field 'result': serialized by {result.header.get('serializer')!r:.80}")
    compression = result.header.get("compression") or [None] * len(result.frames)
    if len(compression) != len(result.frames):
        raise WireError("field 'result': not as many frames as it says")
    parts = []
    for name, frame in zip(compression, result.frames, strict=True):
        if name not in compressions:
            raise WireError(f"field 'result': compressed by {name!r:.80}, which is not here")
        try:
            parts.append(bytes(compressions[name].decompress(frame) if name else frame))
        except Exception as error:  # each library of these has errors of its own
            raise WireError(f"a worker's result cannot be read: {error!s:.200}") from error
    return b"".join(parts)
