"""The HTML pages in a browser tab: which plots each shows, and the shell around them.

A page is a template with no script or style inside; what is in an ``<article data-plot>`` is drawn
by the page's script.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from dask_diag_lab.server.handlers import CORE, OWN, SiteHandler

if TYPE_CHECKING:
    from dask_diag_lab.views.registry import Plot

TEMPLATES: Final = Path(__file__).parent / "templates"


@dataclass(frozen=True, slots=True)
class Cell:
    """A place on a page.

    Attributes
    ----------
    plots : sequence of str
        Names; several are tabs, of which one is shown.
    area : str
        Its place in the page's own grid, else ``wide`` (the whole breadth), ``tall`` (that, and
        twice the height) or '' (half the breadth).
    label : str
        What several have in common, for people who do not see them.
    """

    plots: Sequence[str]
    area: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class PagePlan:
    """A page; its plots that the catalogue lacks are left out, and so is a page without plots.

    Attributes
    ----------
    name : str
        Its path, that of the stock dashboard.
    title : str
    cells : sequence of Cell
        In the order in which they stand below each other in a narrow window.
    grid : str
        ``status``, which has a grid of its own, or ``cells``.
    needs : str
        The plot that the page is about: it is not there without it.
    """

    name: str
    title: str
    cells: Sequence[Cell]
    grid: str = "cells"
    needs: str = ""


def _cells(*plots: str, area: str = "") -> tuple[Cell, ...]:
    return tuple(Cell((plot,), area) for plot in plots)


_wide: Final = partial(_cells, area="wide")
_tall: Final = partial(_cells, area="tall")
_LOAD: Final = ("nprocessing", "cpu", "occupancy", "workers-transfer-bytes")
PLANS: Final[tuple[PagePlan, ...]] = (
    PagePlan(
        "status",
        "Status",
        (
            *_cells("cluster-memory", area="cluster-memory"),
            *_cells("workers-memory", area="workers-memory"),
            Cell(_LOAD, "load", "Load of the workers"),
            *_cells("task-stream", area="task-stream"),
            *_cells("progress", area="progress"),
        ),
        grid="status",
    ),
    PagePlan("tasks", "Tasks", (*_tall("task-stream"), *_wide("progress"))),
    PagePlan(
        "workers",
        "Workers",
        (
            *_wide("workers"),
            *_cells("workers-memory", "cpu", "nprocessing", "occupancy"),
            *_cells("workers-transfer-bytes", "workers-network", "workers-disk"),
            *_cells("workers-cpu-timeseries", "workers-memory-timeseries"),
            *_cells("workers-network-timeseries", "workers-disk-timeseries"),
        ),
    ),
    PagePlan(
        "system",
        "System",
        (
            *_wide("scheduler-system"),
            *_cells("contention", "bandwidth-types"),
            *_wide("bandwidth-workers"),
        ),
    ),
    PagePlan("profile", "Profile", _wide("profile")),
    PagePlan("graph", "Graph", _wide("graph")),
    PagePlan("groups", "Groups", (*_tall("groups"), *_wide("group-progress"))),
    PagePlan("profile-server", "Profile of the event loops", _wide("profile-server")),
    PagePlan("stealing", "Work stealing", _wide("stealing", "occupancy"), needs="stealing"),
    PagePlan("events", "Events", _wide("events")),
    PagePlan("exceptions", "Exceptions", _wide("exceptions")),
    PagePlan(
        "counters", "Counters", _wide("fine-performance-metrics", "counters"), needs="counters"
    ),
    PagePlan(
        "shuffle",
        "Shuffle",
        (
            *_wide("shuffle"),
            *_cells("workers-memory", "contention"),
            *_cells("workers-network-timeseries", "workers-disk-timeseries"),
        ),
        needs="shuffle",
    ),
    PagePlan("hardware", "Hardware", _wide("hardware")),
    PagePlan("gpu", "GPU", (*_cells("gpu-utilization", "gpu-memory"), *_wide("rmm-memory"))),
)
INFO: Final = "info"
"""The one page without plots, see `info`."""
IN_BAR: Final = ("status", "tasks", "workers", "system", "profile", "graph", "groups", INFO)
"""The pages that the bar of every page names; the others are behind its last entry."""
MOVED: Final = {
    "": "status",
    "info/main/workers.html": INFO,
    "info/main/logs.html": INFO,
    "info/main/exceptions.html": "exceptions",
}
"""Other paths of the stock dashboard, and the page that they lead to."""
MOVED_WITH_ARGUMENT: Final = {
    "info/worker/": ("worker", "worker", ""),
    "info/logs/": ("worker", "worker", "logs"),
    "info/call-stacks/": ("worker", "worker", "call-stacks"),
    "info/task/": ("task", "key", ""),
    "info/call-stack/": ("task", "key", "call-stack"),
}
"""Beginnings of paths that end with a worker or a task and ``.html``: the plot, the name of its
argument, and the section of its page."""


def plans_for(plots: Container[str]) -> dict[str, PagePlan]:
    """Return the pages that can be made of `plots`, by name, with only those."""
    plans = {}
    for plan in PLANS:
        there = [(cell, [name for name in cell.plots if name in plots]) for cell in plan.cells]
        cells = [replace(cell, plots=names) for cell, names in there if names]
        if cells and (not plan.needs or plan.needs in plots):
            plans[plan.name] = replace(plan, cells=cells)
    return plans


def help_html(text: str) -> str:
    """Return a help text as HTML: paragraphs and lists of lines that begin with "- "."""
    html = ""
    for block in re.split(r"\n\s*\n|\n(?=\s*- )", escape(text.strip())):
        line = " ".join(block.split())
        if line.startswith("- "):
            item = re.sub(r"^([^:]{1,60}): ", r"<b>\1</b>: ", line[2:])
            html += f"<li>{item}</li>"
        elif line:
            html += f"<p>{line}</p>"
    return re.sub(r"(?:<li>.*?</li>)+", r"<ul>\g<0></ul>", html)


def menu_of(listed: Mapping[str, Plot]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return headings with links, each a path and its title: the bar, more pages, all plots."""
    pages = {name: plan.title for name, plan in plans_for(listed).items()} | {INFO: "Info"}
    groups: dict[str, list[tuple[str, str]]] = {}
    for plot in listed.values():
        groups.setdefault(plot.group, []).append((f"plots/{plot.name}", plot.title))
    in_bar = [(str(name), pages.pop(name)) for name in IN_BAR if name in pages]
    return [("Pages", in_bar), ("More pages", list(pages.items())), *groups.items()]


class PageHandler(SiteHandler):
    """What pages share; all their links are relative, so that they work behind any prefix."""

    draws = True  # who opens a page at once gets it a moment later

    @property
    def base(self) -> str:
        """The way from the page, as it was asked for, to the root of the server."""
        return "../" * (self.request.path.count("/") - 1) or "./"

    def get_template_path(self) -> str:
        """Return where the templates are; what they are given is escaped by tornado."""
        return str(TEMPLATES)

    def show(self, template: str, title: str, here: str = "", **more: Any) -> None:
        """End with a page; `here` is its path below the root, ``shown`` are the plots it draws."""
        is_bare = bool(self.get_query_arguments("bare"))  # it stands in a page of somebody else
        given = {
            "title": title,
            "name": str(self.site.info().get("name", "")),
            "base": self.base,
            "here": here,
            "menu": [] if is_bare else menu_of(self.site.listed),
            "help_html": help_html,
            "shown": [],
            # What the browser is to fetch at once, not one after the other as it finds them.
            "hints": (CORE, OWN) if "shown" in more else (),
        }
        self.render(template, **given | more)

    def show_missing(self, status: int, sentence: str) -> None:
        """End with a page that says what is missing and what there is instead."""
        self.set_status(status)
        plots = self.site.plots.values()
        self.show("missing.html", "Nothing here", kind="missing", sentence=sentence, plots=plots)

    def show_plots(self, title: str, cells: Sequence[Cell], *, kind: str, here: str) -> None:
        """End with a page of plots."""
        plots = self.site.plots
        shown = [plots[name] for cell in cells for name in cell.plots]
        self.show("plots.html", title, here, kind=kind, cells=cells, plots=plots, shown=shown)

    def is_shown(self, name: str) -> bool:
        """Return whether there is a plot of that name; say so if there is not."""
        if self.site.missing:
            self.show_missing(503, self.site.missing)
        elif name not in self.site.plots:
            self.show_missing(404, f"There is no plot “{name}” here.")
        return name in self.site.plots

    def go(self, path: str) -> None:
        """End with a redirect to a path below the root, right behind any prefix of a relay."""
        self.set_header("Location", self.base.removeprefix("./") + path)
        self.set_status(302)
        self.finish()


class PlotPageHandler(PageHandler):
    """``/plots/<name>``: one plot filling the window; its query says what it is to show."""

    def get(self, name: str) -> None:
        if self.is_shown(name):
            title = self.site.plots[name].title
            self.show_plots(title, [Cell([name])], kind="single", here=f"plots/{name}")


class PlannedPageHandler(PageHandler):
    """``/status`` and the other pages of several plots, see `PLANS`."""

    def get(self, page: str) -> None:
        plan = plans_for(self.site.plots).get(page)
        if self.site.missing:
            self.show_missing(503, self.site.missing)
        elif plan is None:
            self.show_missing(404, f"None of the plots of the page “{page}” is here.")
        else:
            kind = "single" if len(plan.cells) == 1 else plan.grid
            self.show_plots(plan.title, plan.cells, kind=kind, here=page)


class MovedHandler(PageHandler):
    """Paths of the stock dashboard whose page has another one here."""

    def get(self, path: str) -> None:
        self.go(MOVED[path])


class IndividualHandler(PageHandler):
    """``/individual-<name>``, the stock dashboard's path of a plot."""

    def get(self, name: str) -> None:
        if self.is_shown(name):
            query = self.request.query
            self.go(f"plots/{name}" + (f"?{query}" if query else ""))


class OneOfManyHandler(PageHandler):
    """The stock dashboard's page of one worker or task: on to the plot that shows it."""

    def get(self, begin: str, which: str) -> None:
        plot, argument, section = MOVED_WITH_ARGUMENT[begin]
        if self.is_shown(plot):
            shown = {"show": section} if section else {}
            self.go(f"plots/{plot}?" + urlencode({argument: which, **shown}))


class NothingHandler(PageHandler):
    """Every other path."""

    draws = False

    def get(self) -> None:
        self.show_missing(404, "There is nothing at this address.")
