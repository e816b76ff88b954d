"""The HTTP server: puts gate, routes and plots together on the running loop, and takes it down."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import logging
import os
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tornado.httpserver import HTTPServer
from tornado.ioloop import IOLoop
from tornado.netutil import bind_sockets
from tornado.web import Application

from dask_diag_lab.server.gate import Gate
from dask_diag_lab.server.handlers import quiet_log
from dask_diag_lab.server.loading import load_plots
from dask_diag_lab.server.routes import NAME, nothing, site_rules, static_rules
from dask_diag_lab.server.site import Site
from dask_diag_lab.views import registry

if TYPE_CHECKING:
    from socket import socket

    from dask_diag_lab.server.application import PlotTornado
    from dask_diag_lab.server.pages import Pages
    from dask_diag_lab.server.plot_socket import PlotSocket
    from dask_diag_lab.store import Store
    from dask_diag_lab.store.workings import Working
    from dask_diag_lab.views.registry import Plot

logger = logging.getLogger(__name__)

OLDEST_BOKEH: Final = (3, 8)
MAX_BODY_BYTES: Final = 65_536
MAX_MESSAGE_BYTES: Final = 1_048_576
CLOSE_GOING_AWAY: Final = 1001
CLOSE_TIMEOUT_S: Final = 0.5


def missing_bokeh() -> str:
    """Return why plots cannot be shown in this environment, '' when they can."""
    wanted = ".".join(map(str, OLDEST_BOKEH))
    remedy = f"Install it with `pip install 'bokeh>={wanted}'`, then restart the kernel."
    try:
        found = version("bokeh")
        import bokeh  # noqa: F401  # a broken installation must be found here, not in a pane
    except (PackageNotFoundError, ImportError):
        return f"The plots need Bokeh, which is missing where this notebook's kernel runs. {remedy}"
    numbers = tuple(int(part) for part in found.split(".")[:2] if part.isdigit())
    if numbers < OLDEST_BOKEH:
        return f"The plots need Bokeh {wanted} or newer; this kernel has {found}. {remedy}"
    return ""


class Server:
    """Serves the plots of one store on the loopback address, to those who have the token.

    Parameters
    ----------
    store : Store
    info : callable
        Returns facts about the dashboard as JSON values: ``id``, ``name`` and ``scheduler``.
    token : str
        What every request has to carry.
    on_watch : callable, optional
        Called when that changes: whether somebody looks, and the union of `View.needs` of what
        is looked at.
    catch_up : callable, optional
        Waits, not for long, until the store knows what the scheduler knows now: while nobody
        looks it is some seconds behind, and a table is to be that of now.
    plots : sequence of Plot, optional
        Default: all of the registry, and those that are registered while the server runs.
    """

    def __init__(
        self,
        store: Store,
        *,
        info: Callable[[], Mapping[str, Any]],  # JSON values
        token: str,
        on_watch: Callable[[bool, frozenset[str]], None] | None = None,
        catch_up: Callable[[], Awaitable[None]] | None = None,
        plots: Sequence[Plot] | None = None,
    ) -> None:
        self._store = store
        self._info = info
        self._token = token
        self._on_watch = on_watch
        self._catch_up = catch_up
        self._catalogue = plots
        self._http: HTTPServer | None = None
        self._plots: PlotTornado | None = None
        self._pages: Pages | None = None
        self._open_sockets: set[PlotSocket] = set()
        self._listening: list[socket] = []
        self._site: Site | None = None
        self._loading: asyncio.Task[None] | None = None
        self._stop_listening: Callable[[], None] = lambda: None

    @property
    def missing(self) -> str:
        """Why no plot can be shown, in words; '' when they can."""
        return "" if self._site is None else self._site.missing

    @property
    def is_watched(self) -> bool:
        """Whether somebody sees a plot now."""
        return self._pages is not None and self._pages.is_watched

    @property
    def page_count(self) -> int:
        """How many documents are open, seen or not."""
        return 0 if self._pages is None else len(self._pages)

    @property
    def connection_count(self) -> int:
        """How many websockets are open."""
        return len(self._open_sockets)

    async def start(self) -> str:
        """Listen on a free port of 127.0.0.1; return the URL, without a slash at its end.

        Lists the plots and answers for its health at once, while Bokeh is still being loaded.
        """
        self._site = site = self._make_site()
        if self._catalogue is None:
            loop = asyncio.get_running_loop()
            self._stop_listening = registry.HOME_MADE.listen(lambda: self._hear(loop))
            self._update_plots()  # one may have been registered since the site was made
        gate = Gate(self._bare(site), token=self._token, dashboard_id=str(self._info()["id"]))
        self._http = HTTPServer(gate, max_body_size=MAX_BODY_BYTES)
        self._listening = bind_sockets(0, "127.0.0.1")
        self._http.add_sockets(self._listening)
        self._loading = asyncio.create_task(self._load_plots(gate, site))
        return f"http://127.0.0.1:{self._listening[0].getsockname()[1]}"

    async def loaded(self) -> None:
        """Wait until plots can be drawn, or `missing` says why they cannot."""
        if self._site is not None:
            await self._site.loaded.wait()

    def tick(self, *, is_awaited: bool = False) -> None:
        """Bring what is seen up to date; cheap when the store has not changed.

        What somebody waits for is drawn now; other news when it is their turn, see `Pace`.
        """
        if self._pages is not None:
            self._pages.tick(is_awaited=is_awaited)

    def worked_out(self, working: Working[Any]) -> None:  # results of any type
        """Draw what has been made for a page in another thread."""
        if self._pages is not None:
            self._pages.worked_out(working)

    async def stop(self) -> None:
        """Close sockets, documents and views; harmless twice."""
        http, self._http = self._http, None
        if http is None:
            return
        http.stop()
        self._stop_listening()
        self._listening = []
        if self._loading is not None:
            self._loading.cancel()
            await asyncio.wait([self._loading])
        for open_socket in list(self._open_sockets):
            open_socket.close(CLOSE_GOING_AWAY, "the dashboard is closed")
        if self._pages is not None:
            await self._pages.close_all(CLOSE_TIMEOUT_S)
        await self._until_sockets_are_closed()
        plots, self._plots = self._plots, None
        if plots is not None:
            # Bokeh >= 3.10 cannot be stopped synchronously on its own loop.
            stopped = getattr(plots, "stop_async", plots.stop)()
            if inspect.isawaitable(stopped):
                await stopped
        await http.close_all_connections()
        self._open_sockets.clear()

    async def _until_sockets_are_closed(self) -> None:
        # A browser answers a close at once; one that sleeps is cut off by close_all_connections.
        deadline = time.monotonic() + CLOSE_TIMEOUT_S
        while self._open_sockets and time.monotonic() < deadline:  # noqa: ASYNC110  # brief
            await asyncio.sleep(0.01)

    def abandon_after_fork(self) -> None:
        """In a forked child: let go of the inherited listening sockets, touch nothing else."""
        for listening in self._listening:
            os.close(listening.detach())

    def _make_site(self) -> Site:
        missing = missing_bokeh()
        if missing:
            logger.warning("%s", missing)
        plots = {} if missing else {plot.name: plot for plot in self._plots_now()}
        return Site(
            self._store,
            self._info,
            plots,
            secrets.token_bytes(32),
            missing=missing,
            catch_up=self._catch_up,
        )

    def _plots_now(self) -> tuple[Plot, ...]:
        if self._catalogue is not None:
            return tuple(self._catalogue)
        return (*registry.PLOTS, *registry.HOME_MADE.plots())

    def _hear(self, loop: asyncio.AbstractEventLoop) -> None:
        """A plot was registered, in whatever thread."""
        with contextlib.suppress(RuntimeError):  # the loop has been closed
            loop.call_soon_threadsafe(self._update_plots)

    def _update_plots(self) -> None:
        """Show the plots there are now; open pages keep the plot they were opened with."""
        site = self._site
        if site is None or site.missing:
            return
        plots = {plot.name: plot for plot in self._plots_now()}
        changed = {name for name in plots if plots[name] is not site.plots.get(name)}
        if changed or plots.keys() != site.plots.keys():
            site.plots = plots
            site.plots_version += 1

    def _bare(self, site: Site) -> Application:
        rules = [*site_rules(site), *static_rules(site.packed, None), nothing(site)]
        return Application(rules, log_function=quiet_log, compress_response=True)

    async def _load_plots(self, gate: Gate, site: Site) -> None:
        """Load Bokeh beside the loop, then let the whole application take the bare one's place.

        Its 300 modules take 0.4 s to import, and seconds while a cell computes in pure Python:
        each file that is read hands the interpreter over.
        """
        try:
            if not site.missing:
                if self._catalogue is None:
                    await asyncio.to_thread(registry.HOME_MADE.discover)
                await asyncio.to_thread(load_plots, self._plots_now())
                gate.application = self._with_plots(site)
        except Exception as error:  # a broken installation: said in the list and by every plot
            logger.warning("Bokeh could not be loaded", exc_info=error)
            site.plots = {}
            site.plots_version += 1
            site.missing = f"The plots cannot be drawn: loading Bokeh failed ({error})."
        finally:
            site.loaded.set()
        if not site.missing:
            from dask_diag_lab.server.sessions import large_scripts

            await asyncio.to_thread(site.packed.pack, large_scripts())

    def _with_plots(self, site: Site) -> Application:
        # Here and not above: this room has to be importable without Bokeh.
        import bokeh
        from bokeh.settings import settings

        from dask_diag_lab.server.application import make_application
        from dask_diag_lab.server.pages import Pages
        from dask_diag_lab.server.plot_socket import socket_rule

        site.bokeh = bokeh.__version__
        site.pages = self._pages = Pages(self._store, self._watch_changed)
        plots = self._plots = make_application(
            lambda name: site.plots[name],
            self._pages,
            secret=site.secret,
            log_function=quiet_log,
            compress_response=True,
            websocket_max_message_size_bytes=MAX_MESSAGE_BYTES,
        )
        site.prepare = plots.prepare
        bokeh_static = Path(settings.bokehjs_path())
        # Added handlers come before Bokeh's own, and ours end with one that takes every path:
        # nothing of Bokeh's is reachable but what stands in this table.
        sockets = self._open_sockets
        socket = socket_rule(plots.context, sockets, plots.prepared, site.secret, NAME)
        rules = [*site_rules(site), socket, *static_rules(site.packed, bokeh_static), nothing(site)]
        plots.add_handlers(r".*", rules)
        plots.initialize(IOLoop.current())
        plots.start()
        return plots

    def _watch_changed(self, is_watched: bool, wanted: frozenset[str]) -> None:
        if self._on_watch is not None:
            self._on_watch(is_watched, wanted)
