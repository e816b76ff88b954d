"""Code of ours on its way to a worker: as source, so that it fits every Python there.

A function pickled by value carries bytecode, and that of another Python version can take the
worker down. Source is compiled where it arrives.
"""

from __future__ import annotations

import inspect
import pickle
from functools import cache
from types import ModuleType
from typing import Any, Final

PROTOCOL: Final = 4
"""Of pickle: known to every Python that the engine supports."""


class _Source:
    """Unpickles to a function made from source over there."""

    def __init__(self, expression: str) -> None:
        self._expression = expression

    def __reduce__(self) -> tuple[Any, tuple[str, dict[str, Any]]]:  # `eval` and its arguments
        return eval, (self._expression, {})


@cache
def pack_function(module: ModuleType, name: str) -> bytes:
    """Return function ``name`` of a module of the standard library's means only, as a pickle.

    It is what the worker's ``run`` RPC takes as ``function``, as `distributed.Client.run` does.
    """
    source = inspect.getsource(module)
    scope = {"__name__": module.__name__.rpartition(".")[2]}
    expression = f"(lambda scope: (exec({source!r}, scope), scope[{name!r}])[1])({scope!r})"
    return pickle.dumps(_Source(expression), protocol=PROTOCOL)


def pack_arguments(arguments: dict[str, int | str]) -> bytes:
    """Return keyword arguments as the ``run`` RPC takes them."""
    return pickle.dumps(arguments, protocol=PROTOCOL)
