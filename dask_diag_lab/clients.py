"""Clients of the engine: which one is current, and whether some still work.

Must not ask anything over the network.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

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


class Clients:
    """Those of one scheduler that somebody stays for; keeps none of them alive."""

    def __init__(self) -> None:
        self._known: list[weakref.ref[Client]] = []
        self._has_owner = False

    def add(self, client: Client) -> None:
        """Stay for `client` too; harmless to repeat."""
        if client not in self:
            self._known.append(weakref.ref(client))
            # As the engine decides it: it closes no cluster but the one that the client has made.
            is_given = getattr(client, "_start_arg", None) is not None
            self._has_owner = self._has_owner or (client.cluster is not None and not is_given)

    def __contains__(self, client: Client) -> bool:
        return any(known is client for known in self._living())

    @property
    def has_open(self) -> bool:
        """Whether one of them has not been closed, nor forgotten."""
        return any(is_open(client) for client in self._living())

    @property
    def cluster_is_closed(self) -> bool:
        """Whether their cluster is known to close, or to have closed, once none of them is open.

        Where clients are closed and nobody says anything of the cluster, it may still run.
        """
        clusters = (client.cluster for client in self._living())
        return self._has_owner or any(_is_closed(cluster) for cluster in clusters)

    def _living(self) -> Iterator[Client]:
        return (client for ref in self._known if (client := ref()) is not None)


def _is_closed(cluster: Any) -> bool:  # Any: whatever has a scheduler's address; None for none
    status = getattr(cluster, "status", "")
    return getattr(status, "name", status) in ("closing", "closed")  # gateways have plain words
