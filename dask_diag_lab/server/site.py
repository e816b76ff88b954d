"""What every request handler of the server needs to know, made once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from dask_diag_lab.server.packed import Packed

if TYPE_CHECKING:
    from dask_diag_lab.server.pages import Pages
    from dask_diag_lab.server.prepared_session import PreparedSession
    from dask_diag_lab.store import Store
    from dask_diag_lab.views.registry import Plot

CORE: Final = "static/js/bokeh.min.js"
"""The part of BokehJS that every plot needs."""
OWN: Final = "static/dask-diag-lab/dist/dask_diag_lab.js"
"""Our own models, which nearly every plot needs."""


@dataclass(slots=True)
class Site:
    """What the handlers share.

    Attributes
    ----------
    store : Store
    info : callable
        Facts about this dashboard: ``id``, ``name``, ``scheduler`` (``id``, ``address``).
    plots : mapping of str to Plot
        The plots that can be shown, in the registry's order; none without Bokeh. They are listed
        before Bokeh has been loaded.
    secret : bytes
        Signs Bokeh's session tokens.
    bokeh : str
        Bokeh's version, '' where it cannot be used.
    missing : str
        Why no plot can be shown, in words; '' when they can.
    pages : Pages or None
        The open documents.
    catch_up : callable or None
        Waits, not for long, until the store knows what the scheduler knows now.
    plots_version : int
        Moves when a plot came, went or was replaced.
    prepare : callable
        Makes a session with its document, by its id, its token and the seconds for which its page
        is awaited; there once Bokeh is.
    packed : Packed
        Scripts that were compressed beforehand.
    loaded : Event
        Set when Bokeh is there to draw with, or `missing` says why it never will be.
    """

    store: Store
    info: Callable[[], Mapping[str, Any]]  # JSON values
    plots: Mapping[str, Plot]
    secret: bytes
    bokeh: str = ""
    missing: str = ""
    pages: Pages | None = None
    catch_up: Callable[[], Awaitable[None]] | None = None
    plots_version: int = 0
    prepare: Callable[[str, str, float], Awaitable[PreparedSession]] = field(init=False)
    packed: Packed = field(default_factory=Packed)
    loaded: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def listed(self) -> dict[str, Plot]:
        """The plots that are listed now; one that no worker has anything to show of is not."""
        return {name: plot for name, plot in self.plots.items() if self._is_listed(plot)}

    @property
    def listing_version(self) -> int:
        """Differs when `listed` does."""
        on_condition = [plot for plot in self.plots.values() if plot.only_with]
        n_listed = sum(self._is_listed(plot) for plot in on_condition)
        return self.plots_version * (len(on_condition) + 1) + n_listed

    def _is_listed(self, plot: Plot) -> bool:
        if not plot.only_with:
            return True
        beginnings = tuple(plot.only_with)
        return any(name.startswith(beginnings) for name in self.store.series.names)


def index_of(plots: Mapping[str, Plot]) -> list[dict[str, Any]]:  # JSON values
    """Return what ``/plots.json`` says of each plot."""
    return [
        {
            "name": plot.name,
            "title": plot.title,
            "group": plot.group,
            "description": plot.description,
            "help": plot.help,
            "keywords": list(plot.keywords),
        }
        for plot in plots.values()
    ]


def stock_title(name: str) -> str:
    """Return the title under which distributed's ``/individual-plots.json`` lists plot `name`."""
    return f"individual-{name}".replace("-", " ").title()
