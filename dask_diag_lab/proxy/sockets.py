"""What every websocket of this extension shares. Must not know what is sent."""

from __future__ import annotations

from typing import Any

from jupyter_server.base.handlers import JupyterHandler
from tornado.websocket import WebSocketHandler

from dask_diag_lab.proxy.asking import AskingHandler


class SocketHandler(WebSocketHandler, AskingHandler):
    """A websocket with Jupyter's login and origin rules, uncompressed, that notices dead peers.

    Jupyter's ``WebSocketMixin`` is not used: it keeps a timer after the close and logs each path,
    which may hold a key here.
    """

    async def prepare(self, **options: Any) -> None:  # Any: Jupyter's own options
        """Authenticate; a login page would be of no use to a socket."""
        await super().prepare(_redirect_to_login=False, **options)

    def check_origin(self, origin: str = "") -> bool:
        """Apply Jupyter's rule, not tornado's: ``allow_origin`` and token logins count."""
        return JupyterHandler.check_origin(self, origin)

    @property
    def ping_interval(self) -> float:
        """Seconds between pings; Jupyter's own setting, in milliseconds there."""
        return float(self.settings.get("ws_ping_interval", 30_000)) / 1000

    @property
    def ping_timeout(self) -> float:
        """Seconds after which a peer that does not answer a ping is dead."""
        return self.ping_interval

    def get_compression_options(self) -> None:
        """Do not compress: it costs this process more than loopback and most networks gain."""
