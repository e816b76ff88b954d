"""The scheduler that a dashboard follows. Must not ask it anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from distributed import Client


class Target:
    """The scheduler to follow and how to reach it, as its client does.

    Parameters
    ----------
    scheduler_id : str
    address : str
        The address that the client is connected to, which a gateway may have made up.
    connection_args : mapping
        ``Client.connection_args``: TLS context and the like.
    """

    def __init__(self, scheduler_id: str, address: str, connection_args: Mapping[str, Any]) -> None:
        self.scheduler_id = scheduler_id
        self.address = address
        self.connection_args = dict(connection_args)

    @classmethod
    def of(cls, client: Client) -> Target:
        """Return the scheduler of a connected client, without asking it anything.

        Raises
        ------
        RuntimeError
            The client is not connected.
        """
        # The public `scheduler_info()` makes a call; a busy scheduler would hold up the caller.
        scheduler_id = client._scheduler_identity.get("id")
        if client.status != "running" or not scheduler_id or client.scheduler is None:
            raise RuntimeError(
                f"The client is {client.status}, so there is no scheduler to look at."
                " Connect it first; `await client` does that for an asynchronous one."
            )
        return cls(str(scheduler_id), str(client.scheduler.addr), client.connection_args)
