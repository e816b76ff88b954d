"""The HTML pages in a browser tab: which plots each shows, and the shell around them.

A page is a template with no script or style inside; what is in an ``<article data-plot>`` is drawn
by the page's script.
"""

from __future__ import annotations

import re
import time
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote_plus

from tornado.web import HTTPError

from dask_diag_lab.server.announce import versions
from dask_diag_lab.server.context import until
from dask_diag_lab.server.handlers import ContextHandler, health_of
from dask_diag_lab.views import format as fmt

if TYPE_CHECKING:
    from dask_diag_lab.server.context import ServerContext
    from dask_diag_lab.store import LiveSession

NONCE: Final = re.compile(r"[A-Za-z0-9_-]{16,64}")
LOG_WAIT_S: Final = 2.0
"""So long the page waits at most for the scheduler's log."""

# Configuration is where people keep passwords and tokens, so what is shown is named here.
SHOWN: Final[Mapping[str, str]] = {
    "diag-lab": "auto-attach interval idle-interval max-actions port",
    "array": "chunk-size rechunk.method rechunk.threshold slicing.split-large-chunks"
    " query-planning",
    "dataframe": "backend shuffle.method shuffle.compression convert-string query-planning",
    "optimization": "fuse.active fuse.ave-width fuse.max-width fuse.max-height"
    " fuse.max-depth-new-edges",
    "distributed.scheduler": "allowed-failures bandwidth idle-timeout work-stealing"
    " work-stealing-interval worker-saturation worker-ttl unknown-task-duration default-data-size"
    " rootish-taskgroup rootish-taskgroup-dependencies active-memory-manager.start",
    "distributed.worker": "connections.incoming connections.outgoing lifetime.duration"
    " transfer.message-bytes-limit profile.enabled profile.interval profile.cycle",
    "distributed.worker.memory": "target spill pause terminate transfer max-spill"
    " spill-compression",
    "distributed.comm": "compression retry.count timeouts.connect timeouts.tcp require-encryption",
    "distributed.p2p": "storage.disk threads comm.buffer",
    "distributed.admin": "tick.limit low-level-log-length system-monitor.gil.enabled",
}
"""Names that are shown, by their section."""
_NAMES: Final = sorted(f"{top}.{name}" for top, names in SHOWN.items() for name in names.split())
_PLAIN: Final = re.compile(r"[A-Za-z0-9 ._%+-]{0,24}")
"""Values that are numbers, words, sizes and durations, as those names have; a list, a URL, a path
or a long random text is none."""
UNSET: Final = "?"
"""None of those values."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A place on a page.

    Attributes
    ----------
    plots : sequence of str
        Names; several are tabs, of which one is shown.
    area : str
        Its place in the grid of the status page, else ``wide`` (the whole breadth), ``tall``
        (that, and twice the height) or '' (half the breadth).
    """

    plots: Sequence[str]
    area: str = ""


PAGES: Final = {
    "status": (
        "Status",
        """cluster-memory:cluster-memory workers-memory:workers-memory
        nprocessing|cpu|occupancy|workers-transfer-bytes:load
        task-stream:task-stream progress:progress""",
    ),
    "tasks": ("Tasks", "task-stream:tall progress:wide"),
    "workers": (
        "Workers",
        """workers:wide workers-memory cpu nprocessing occupancy
        workers-transfer-bytes workers-network workers-disk
        workers-cpu-timeseries workers-memory-timeseries
        workers-network-timeseries workers-disk-timeseries""",
    ),
    "system": ("System", "scheduler-system:wide contention bandwidth-types bandwidth-workers:wide"),
    "profile": ("Profile", "profile:wide"),
    "graph": ("Graph", "graph:wide"),
    "groups": ("Groups", "groups:tall group-progress:wide"),
    "profile-server": ("Profile of the event loops", "profile-server:wide"),
    "stealing": ("Work stealing", "stealing:wide occupancy:wide"),
    "events": ("Events", "events:wide"),
    "exceptions": ("Exceptions", "exceptions:wide"),
    "counters": ("Counters", "fine-performance-metrics:wide counters:wide"),
    "shuffle": (
        "Shuffle",
        "shuffle:wide workers-memory contention workers-network-timeseries workers-disk-timeseries",
    ),
    "hardware": ("Hardware", "hardware:wide"),
    "gpu": ("GPU", "gpu-utilization gpu-memory rmm-memory:wide"),
}
"""Title and cells of each page of several plots, by its path, which is that of the stock dashboard.

A cell is a plot, or several that are tabs with ``|`` between them, and after ``:`` its area. They
are in the order in which they stand below each other in a narrow window.
"""
INFO: Final = "info"
"""The one page without plots."""
IN_BAR: Final = (*list(PAGES)[:7], INFO)
"""The pages that the bar of every page names; the others are behind its last entry."""
MOVED: Final = (
    (r"/", "status"),
    (r"/info/main/logs\.html", INFO),
    (r"/info/main/workers\.html", "workers"),
    (r"/info/main/exceptions\.html", "exceptions"),
    (r"/individual-([A-Za-z0-9][A-Za-z0-9_-]*)", "plots/{}"),
    (r"/info/worker/(.+)\.html", "plots/worker?worker={}"),
    (r"/info/logs/(.+)\.html", "plots/worker?worker={}&show=logs"),
    (r"/info/call-stacks/(.+)\.html", "plots/worker?worker={}&show=call-stacks"),
    (r"/info/task/(.+)\.html", "plots/task?key={}"),
    (r"/info/call-stack/(.+)\.html", "plots/task?key={}&show=call-stack"),
)
"""Other paths of the stock dashboard, and where they lead to."""


def cells_of(page: str, plots: Container[str]) -> list[Cell]:
    """Return the cells of a page with what there is of `plots`; of an unknown one none."""
    cells = []
    for place in PAGES.get(page, ("", ""))[1].split():
        names, _, area = place.partition(":")
        if there := [name for name in names.split("|") if name in plots]:
            cells.append(Cell(there, area))
    return cells


def menu_of(listed: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return headings with links, each a path and its title: the bar, more pages, all plots."""
    listed = [plot for plot in listed if "unavailable" not in plot]
    names = {plot["name"] for plot in listed}
    pages = {name: title for name, (title, _) in PAGES.items() if cells_of(name, names)}
    pages[INFO] = "Info"
    groups: dict[str, list[tuple[str, str]]] = {}
    for plot in listed:
        groups.setdefault(plot["group"], []).append((f"plots/{plot['name']}", plot["title"]))
    in_bar = [(name, pages.pop(name)) for name in IN_BAR if name in pages]
    return [("Pages", in_bar), ("More pages", list(pages.items())), *groups.items()]


class PageHandler(ContextHandler):
    """What pages share; all their links are relative, so that they work behind any prefix."""

    draws = True  # who opens a page at once gets it a moment later

    @property
    def base(self) -> str:
        """The way from the page, as it was asked for, to the root of the server."""
        return "../" * (self.request.path.count("/") - 1) or "./"

    @property
    def nonce(self) -> str:
        """By what Jupyter's relay lets scripts of this page run; empty without it."""
        given = self.request.headers.get("X-Dask-Diag-Nonce", "")
        return given if NONCE.fullmatch(given) else ""

    def show(self, template: str, title: str, here: str = "", **more: Any) -> None:
        """End with a page; `here` is its path below the root, ``shown`` are the plots it draws."""
        given = {
            "title": title,
            "name": str(self.context.info().get("name", "")),
            "base": self.base,
            "here": here,
            "menu": menu_of(self.context.listed),
            "shown": [],
            "nonce": self.nonce,
        }
        self.render(template, **given | more)

    def show_plots(self, title: str, cells: Sequence[Cell], *, kind: str, here: str) -> None:
        """End with a page of plots."""
        plots = self.context.plots
        shown = [plots[name] for cell in cells for name in cell.plots]
        given = {"cells": cells, "plots": plots, "shown": shown}
        self.show("plots.html", title, here, kind=kind, **given)

    def write_error(self, status_code: int, **kwargs: Any) -> None:  # noqa: ARG002  # tornado's
        """End with a page that says what is missing and what there is instead."""
        plots, sentence = self.context.plots.values(), self.sentence(kwargs)
        self.show("missing.html", "Nothing here", kind="missing", sentence=sentence, plots=plots)


class PlotPageHandler(PageHandler):
    """``/plots/<name>``: one plot filling the window; its query says what it is to show."""

    def get(self, name: str) -> None:
        title = self.context.plot(name).title
        self.show_plots(title, [Cell([name])], kind="single", here=f"plots/{name}")


class SeveralPlotsHandler(PageHandler):
    """``/status`` and the other pages of several plots, see `PAGES`."""

    def get(self, page: str) -> None:
        cells = cells_of(page, self.context.plots)
        if not cells:
            text = self.context.missing or f"None of the plots of the page “{page}” is here."
            raise HTTPError(503 if self.context.missing else 404, text)
        kind = "single" if len(cells) == 1 else "status" if page == "status" else "cells"
        self.show_plots(PAGES[page][0], cells, kind=kind, here=page)


class MovedHandler(PageHandler):
    """A path of the stock dashboard whose page has another one here, see `MOVED`."""

    draws = False

    def initialize(self, context: ServerContext, to: str) -> None:  # type: ignore[override]  # tornado's way
        super().initialize(context)
        self._to = to

    def get(self, *parts: str) -> None:
        path = self._to.format(*map(quote_plus, parts))
        if query := self.request.query:
            path += ("&" if "?" in path else "?") + query
        self.set_header("Location", self.base.removeprefix("./") + path)
        self.set_status(302)


class NothingHandler(PageHandler):
    """Every other path."""

    draws = False

    def get(self) -> None:
        raise HTTPError(404, "There is nothing at this address.")


class InfoHandler(PageHandler):
    """``/info``: the cluster in words, as it is at the moment of the request."""

    async def get(self) -> None:
        facts = await facts_of(self.context)
        self.show("info.html", "Info", INFO, kind="info", now=fmt.clock(time.time()), **facts)


async def facts_of(context: ServerContext, since: float = 0.0) -> dict[str, Any]:
    """Return ``cluster``, ``installed`` and ``settings`` as names and values, and the ``log``.

    Of the scheduler's log that is what came at ``since``, seconds since the epoch, or after it.
    Where there is no ``log``, ``no_log`` says why.
    """
    import dask

    live = context.live
    await context.catch_up()
    cluster = _cluster(live, context.info())
    log = live.queries.ask("logs", worker="")
    live.queries.ask_again(log)
    await until(lambda: log.state != "asked", LOG_WAIT_S)
    found = log.answer or {"times": (), "lines": ()}
    lines = [line for at, line in zip(found["times"], found["lines"], strict=True) if at >= since]
    no_log = "No logs to report." if log.answer else "It had not come yet when this was written."
    return {
        "cluster": cluster,
        "installed": [(name, number or "not installed") for name, number in versions().items()],
        "settings": shown_configuration(dask.config.config),
        "log": "\n".join(lines),
        "no_log": log.error or no_log,
    }


def shown_configuration(config: dict[str, Any]) -> list[tuple[str, str]]:
    """Return names and values of `config` that may be shown, sorted.

    Parameters
    ----------
    config : mapping
        As ``dask.config.config``: names to values or to mappings of the same kind.
    """
    import dask

    with dask.config.config_lock:  # a cell may be setting something
        found = [(name, str(dask.config.get(name, UNSET, config))) for name in _NAMES]
    return [(name, value) for name, value in found if _PLAIN.fullmatch(value)]


def _cluster(live: LiveSession, info: Mapping[str, Any]) -> list[tuple[str, str]]:  # JSON values
    health, scheduler, given = health_of(live), live.history.scheduler, info.get("scheduler", {})
    limit = health["memory_limit"]
    tasks = [f"{fmt.count(number)} {name}" for name, number in health["tasks"].items()]
    return [
        ("State", f"{health['state']} {health['reason']}"),
        ("Scheduler", scheduler.address if scheduler else str(given.get("address", ""))),
        ("Workers", fmt.count(health["workers"])),
        ("Threads", fmt.count(health["threads"])),
        ("Memory", fmt.binary(health["memory"]) + (f" of {fmt.binary(limit)}" if limit else "")),
        ("Tasks", ", ".join(tasks)),
    ]
