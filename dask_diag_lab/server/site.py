"""What every request handler of the server needs to know, made once; and the stock names."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from dask_diag_lab.server.pages import Pages
    from dask_diag_lab.store import Store
    from dask_diag_lab.views.registry import Plot

USUAL: Final = ("task-stream", "progress", "workers-memory", "graph")
"""The plots of the status page."""

NEAREST: Final[Mapping[str, tuple[str, ...]]] = {
    "tasks": ("task-stream",),
    "workers": ("workers", "workers-memory"),
    "system": ("scheduler-system", "cpu"),
    "graph": ("graph",),
    "groups": ("groups", "graph"),
    "profile": ("profile",),
    "profile-server": ("profile-server", "profile"),
    "stealing": ("stealing", "occupancy"),
    "events": ("events",),
    "exceptions": ("exceptions",),
    "counters": ("counters",),
    "shuffle": ("shuffle",),
    "hardware": ("hardware",),
    "gpu": ("gpu-utilization",),
    "info": ("workers", "workers-memory"),
}
"""The stock dashboard's pages and which plots of ours show the same, best first."""


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
    scripts: dict[str, list[str]] = field(default_factory=dict)
    loaded: asyncio.Event = field(default_factory=asyncio.Event)

    def nearest(self, page: str) -> Plot | None:
        """Return the plot that shows best what the stock dashboard shows at `page`."""
        names = (page.removeprefix("individual-"), *NEAREST.get(page, ()))
        return next((self.plots[name] for name in names if name in self.plots), None)

    @property
    def usual(self) -> list[Plot]:
        """The plots of the status page."""
        return [self.plots[name] for name in USUAL if name in self.plots]


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
