"""What all that is served is made from, and the names and waits that its modules share.

Must be importable without Bokeh: health and lists are there while that is still being loaded.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tornado.web import HTTPError

from dask_diag_lab.views.registry import REGISTRY, catalogue, entry

if TYPE_CHECKING:
    from dask_diag_lab.server.page import Pages
    from dask_diag_lab.server.stream import StreamHandler
    from dask_diag_lab.store import LiveSession
    from dask_diag_lab.views.registry import Plot

CORE: Final = "static/js/bokeh.min.js"
"""The part of BokehJS that every plot needs."""
MODELS: Final = Path(__file__).parents[1] / "dist"
"""Where Bokeh looks for the script of our own models, see `views.models`."""
OWN: Final = "static/dask-diag-lab/dist/dask_diag_lab.js"
"""Our own models, which nearly every plot needs."""
PAUSE_S: Final = 0.02
"""Between two looks at what a request waits for."""


Snapshot = Callable[[Mapping[str, str]], Awaitable[Callable[[Path], None]]]


@dataclass(slots=True)
class ServerContext:
    """What the handlers share.

    Attributes
    ----------
    live : LiveSession
    info : callable
        Facts about this dashboard: ``id``, ``name``, ``scheduler`` (``id``, ``address``).
    catch_up : callable
        Waits, not for long, until the history has what the scheduler knows now.
    catalogue : sequence of Plot or None
        What can be shown; None: all that is registered.
    snapshot : callable or None
        Takes a `LiveSession.selection`, returns what writes a recording to a file in any thread.
    missing : str
        Why no plot can be shown, in words; '' when they can.
    loaded : Event
        Set when Bokeh is there to draw with, or `missing` says why it never will be.
    is_wanted : Event
        Set when the plots have been listed, or one is asked for: Bokeh is loaded then.
    pages : Pages or None
        There once Bokeh is loaded.
    sockets : set of StreamHandler
        The open ones.
    is_found : bool
        Whether somebody has asked for the health, as a Jupyter server does that found the record.
    """

    live: LiveSession
    info: Callable[[], Mapping[str, Any]]  # JSON values
    catch_up: Callable[[], Awaitable[None]]
    catalogue: Sequence[Plot] | None = None
    snapshot: Snapshot | None = None
    missing: str = ""
    loaded: asyncio.Event = field(default_factory=asyncio.Event)
    is_wanted: asyncio.Event = field(default_factory=asyncio.Event)
    pages: Pages | None = None
    sockets: set[StreamHandler] = field(default_factory=set)
    is_found: bool = False

    @property
    def drawing(self) -> Pages:
        """The open documents, for handlers of plots: those there are need Bokeh."""
        assert self.pages is not None
        return self.pages

    def tick(self) -> None:
        """Something may have changed, or who looks: what is seen is brought up to date soon."""
        if self.pages is not None:
            self.pages.tick()

    def plot(self, name: str) -> Plot:
        """Return plot `name` or answer 404, 503 when no plot can be shown at all."""
        if self.missing:
            raise HTTPError(503, self.missing)
        if name not in self.plots:
            raise HTTPError(404, f"There is no plot “{name}” here.")
        return self.plots[name]

    @property
    def plots(self) -> dict[str, Plot]:
        """The plots that can be shown, in the registry's order; none without Bokeh."""
        if self.pages is None:
            return {}
        known = REGISTRY.plots() if self.catalogue is None else self.catalogue
        return {plot.name: plot for plot in known}

    @property
    def listed(self) -> list[dict[str, Any]]:  # JSON
        """What is listed now, with why where it can have no data; see `View.unavailable`."""
        names = self.live.history.series.names
        is_early = self.catalogue is None and not self.loaded.is_set()
        entries = catalogue() if is_early else map(entry, self.plots.values())
        reasons = {name: plot.unavailable for name, plot in self.plots.items() if plot.unavailable}
        listed = []
        for plot in entries:
            some = tuple(plot.pop("only_with"))
            is_reported = any(name.startswith(some) for name in names)
            if not is_reported and plot["name"] in reasons:
                listed.append(plot | {"unavailable": reasons[plot["name"]]})
            elif is_reported or not some:
                listed.append(plot)
        return listed


async def until(condition: Callable[[], bool], limit_s: float) -> bool:
    """Wait for a condition, `limit_s` at most; return whether it was met."""
    deadline = time.monotonic() + limit_s
    while not (is_met := condition()) and time.monotonic() < deadline:  # noqa: ASYNC110  # brief
        await asyncio.sleep(PAUSE_S)
    return is_met
