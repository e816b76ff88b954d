"""The HTTP server of one history: routes, lifecycle, and Bokeh once it is loaded.

Health and the list of plots are there at once, plots later: Bokeh's 300 modules take 0.4 s to
import, and seconds while a cell computes in pure Python, because each file that is read hands the
interpreter over.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tornado.httpserver import HTTPServer
from tornado.iostream import IOStream
from tornado.netutil import bind_sockets
from tornado.routing import Rule, URLSpec
from tornado.web import Application

from dask_diag_lab.server import handlers, pages
from dask_diag_lab.server.auth import LOOPBACK, LOOPBACK_NAMES, Gate, in_url
from dask_diag_lab.server.context import MODELS, ServerContext
from dask_diag_lab.server.handlers import ContextHandler, FilesHandler
from dask_diag_lab.server.stream import Stream, StreamHandler
from dask_diag_lab.views.registry import REGISTRY

if TYPE_CHECKING:
    from dask_diag_lab.server.context import Snapshot
    from dask_diag_lab.store import LiveSession
    from dask_diag_lab.views.registry import Plot

logger = logging.getLogger(__name__)

SETTINGS: Final[dict[str, Any]] = {
    # tornado would log each request with its query, where a token may be, and into a cell.
    "log_function": lambda _handler: None,
    "compress_response": True,
    "template_path": str(Path(__file__).parent / "templates"),
    "websocket_max_message_size": 1_048_576,
    # Proxies cut what is silent. A browser that does not answer in time may wait for a kernel that
    # holds the interpreter: it is not left for that.
    "websocket_ping_interval": 30,
    "websocket_ping_timeout": 0,
}
MAX_BODY_BYTES: Final = 65_536
REQUEST_S: Final = 20.0
"""For the headers of a request, from the connection's begin or the last answer, and as long for its
body: nothing that talks to this server takes longer. Websockets are not concerned."""
MAX_CONNECTIONS: Final = 500
"""Half of the files that a process may usually have open; a page needs one."""
LISTED_S: Final = 0.5
"""So long Bokeh is loaded only when somebody has listed the plots, for which it holds the
interpreter, or asks for one."""
CLOSE_GOING_AWAY: Final = 1001
STATIC: Final = Path(__file__).parent / "static"
NAME: Final = r"([A-Za-z0-9][A-Za-z0-9_-]*)"
ROUTES: Final[tuple[tuple[str, type[ContextHandler]], ...]] = (
    (r"/plots\.json", handlers.PlotsHandler),
    (r"/individual-plots\.json", handlers.StockPlotsHandler),
    (r"/runs\.json", handlers.RunsHandler),
    (r"/health", handlers.HealthHandler),
    (r"/recording\.daskrun", handlers.RecordingHandler),
    (rf"/plots/{NAME}", pages.PlotPageHandler),
    (rf"/plots/{NAME}\.([a-z.]*)", handlers.TableHandler),
    (r"/stream", StreamHandler),
    (rf"/({'|'.join(pages.PAGES)})", pages.SeveralPlotsHandler),
    (rf"/{pages.INFO}", pages.InfoHandler),
)


def missing_bokeh() -> str:
    """Return why plots cannot be shown in this environment, '' when they can."""
    try:
        import bokeh  # noqa: F401  # a broken installation must be found here, not in a pane
    except ImportError as error:
        return (
            f"The plots need Bokeh, which is missing where this notebook's kernel runs ({error})."
            " Install it with `pip install bokeh`, then restart the kernel."
        )
    return ""


def load() -> None:
    """Import what drawing needs, in a thread; a server does it by itself, but not at once."""
    import dask_diag_lab.server.page  # noqa: F401

    REGISTRY.load()


def _listen(host: str, port: int) -> list[socket.socket]:
    """Return sockets at the first free port of fifty from `port` on; 0 takes any."""
    for candidate in range(port, port + 50):
        try:
            return bind_sockets(candidate, host)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise OSError(f"Cannot listen at {host}: {error.strerror}") from error
    raise OSError(errno.EADDRINUSE, f"Port {port} of {host} and those after it are taken")


class _Listener(HTTPServer):
    """Takes `MAX_CONNECTIONS` at once, each of which has to say what it wants in `REQUEST_S`."""

    def initialize(self, gate: Gate) -> None:  # type: ignore[override]  # no other arguments
        super().initialize(
            gate,
            max_body_size=MAX_BODY_BYTES,
            idle_connection_timeout=REQUEST_S,
            body_timeout=REQUEST_S,
        )
        self._streams: set[IOStream] = set()

    def handle_stream(self, stream: IOStream, address: tuple[Any, ...]) -> None:
        """Serve a connection, or refuse it."""
        if len(self._streams) >= MAX_CONNECTIONS:
            self._streams = {one for one in self._streams if not one.closed()}
        if len(self._streams) < MAX_CONNECTIONS:
            self._streams.add(stream)
            super().handle_stream(stream, address)
        else:
            stream.close()


class Server:
    """Serves the plots of one history, to those who have the token.

    Parameters
    ----------
    live : LiveSession
    info : callable
        Returns facts about the dashboard as JSON values: ``id``, ``name`` and ``scheduler``.
    token : str
        What every request has to carry.
    on_watch : callable, optional
        Called when that changes: whether somebody looks, and the union of `Page.needs` of what
        is looked at.
    catch_up : callable, optional
        Waits, not for long, until the history has what the scheduler knows now: while nobody
        looks it is some seconds behind, and a table is to be that of now.
    snapshot : callable, optional
        As of `ServerContext`.
    plots : sequence of Plot, optional
        Default: all of the registry, and those that are registered while the server runs.
    host : str
        Name or address to listen at. Where that is no loopback address, it listens at 127.0.0.1
        as well, with another port: programs of this machine find it there.
    port : int
        The first of the ports to try; 0 takes any that is free.

    Attributes
    ----------
    port : int
        That at ``host``, once it listens.
    """

    def __init__(
        self,
        live: LiveSession,
        *,
        info: Callable[[], Mapping[str, Any]],  # JSON values
        token: str,
        on_watch: Callable[[bool, frozenset[str]], None] = lambda _is_watched, _wanted: None,
        catch_up: Callable[[], Awaitable[None]] = lambda: asyncio.sleep(0),
        snapshot: Snapshot | None = None,
        plots: Sequence[Plot] | None = None,
        host: str = LOOPBACK,
        port: int = 0,
    ) -> None:
        self._context = ServerContext(live, info, catch_up, plots, snapshot)
        self._host, self.port = host, port
        self._is_loopback = in_url(host) in LOOPBACK_NAMES
        application = Application(self._rules(), **SETTINGS)
        only_loopback = {"is_loopback": self._is_loopback}
        self._gate = Gate(application, token=token, dashboard_id=str(info()["id"]), **only_loopback)
        self._on_watch = on_watch
        self._http: HTTPServer | None = None
        self._loading: asyncio.Task[None] | None = None

    async def start(self) -> str:
        """Listen; return the URL on this machine, without a slash at its end.

        Answers for its health and lists the plots at once, draws them when Bokeh is loaded.

        Raises
        ------
        OSError
            Nothing can listen at that host, or all ports that were tried are taken.
        """
        self._http = _Listener(self._gate)
        listening = _listen(self._host, self.port)
        self.port = listening[0].getsockname()[1]
        if not self._is_loopback:
            listening = [*bind_sockets(0, LOOPBACK), *listening]
        self._http.add_sockets(listening)
        self._loading = asyncio.create_task(self._load_bokeh())
        host, port = listening[0].getsockname()[:2]
        return f"http://{in_url(host)}:{port}"

    async def context(self) -> ServerContext:
        """Return what plots are drawn from, once they can be.

        Raises
        ------
        RuntimeError
            There is no Bokeh to draw with.
        """
        self._context.is_wanted.set()
        await self._context.loaded.wait()
        if self._context.missing:
            raise RuntimeError(self._context.missing)
        return self._context

    @property
    def is_found(self) -> bool:
        """Whether a Jupyter server has asked how it is."""
        return self._context.is_found

    @property
    def is_used(self) -> bool:
        """Whether a browser has plots of it open, or somebody looks at it or asks for data."""
        pages = self._context.pages
        return pages is not None and (pages.has_plots or pages.is_watched)

    def tick(self) -> None:
        """Something may have changed: what is seen is brought up to date soon."""
        self._context.tick()

    async def stream(self, write: Callable[[bytes], Awaitable[None]]) -> Stream:
        """Return a stream of plots whose frames `write` takes, once they can be drawn."""
        self._context.is_wanted.set()
        await self._context.loaded.wait()
        return Stream(self._context, write)

    async def stop(self) -> None:
        """Close sockets, documents and views; harmless twice."""
        http, self._http = self._http, None
        if http is None:
            return
        http.stop()
        if self._loading is not None:
            self._loading.cancel()
            await asyncio.wait([self._loading])
        for opened in list(self._context.sockets):
            opened.close(CLOSE_GOING_AWAY, "The dashboard is closed.")
        if self._context.pages is not None:
            await self._context.pages.close()
        await http.close_all_connections()

    async def _load_bokeh(self) -> None:
        """Load Bokeh in a thread; what needs it waits for that."""
        context = self._context
        with suppress(TimeoutError):
            await asyncio.wait_for(context.is_wanted.wait(), LISTED_S)
        try:
            await asyncio.to_thread(load)
            # Here and not above: the package has to be importable without Bokeh.
            from dask_diag_lab.server.page import Pages

            context.pages = Pages(self._on_watch)
        except Exception as error:  # a broken installation: said in the list and by every plot
            logger.warning("Bokeh could not be loaded", exc_info=error)
            failed = f"The plots cannot be drawn: loading Bokeh failed ({error})."
            context.missing = missing_bokeh() or failed
        context.loaded.set()

    def _rules(self) -> list[Rule]:
        context: dict[str, Any] = {"context": self._context}
        return [
            *(URLSpec(path, handler, context) for path, handler in ROUTES),
            *(URLSpec(path, pages.MovedHandler, {**context, "to": to}) for path, to in pages.MOVED),
            URLSpec(r"/static/dask-diag-lab/dist/(.*)", FilesHandler, {"path": str(MODELS)}),
            URLSpec(r"/static/dask-diag-lab/(.*)", FilesHandler, {"path": str(STATIC)}),
            URLSpec(r"/static/(.*)", handlers.BokehFilesHandler, context),
            URLSpec(r"/.*", pages.NothingHandler, context),
        ]
