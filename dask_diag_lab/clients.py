"""Clients of the engine: which one is current, and whether one still works.

Must not ask anything over the network.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from distributed import Client


def current_client() -> Client:
    """Return the client that the engine takes where none is named.

    Raises
    ------
    RuntimeError
        There is none; the message says how to make one.
    """
    from distributed import default_client

    current: Callable[[], Client] = default_client  # the engine's functions have no types
    try:
        return current()
    except ValueError as error:
        raise RuntimeError(
            "There is no Dask client yet. Make one, for example with"
            " `from distributed import Client; client = Client()`."
        ) from error


def is_open(client: Client) -> bool:
    """Tell whether a client has not been closed, nor begins to be."""
    return client.status not in ("closing", "closed")
