"""The HTML pages in a browser tab: which plots each shows, and the shell around them.

A page is its template with everything escaped and no script or style inside; what is in an
``<article data-plot>`` is drawn by the page's script.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from tornado.web import HTTPError

from dask_diag_lab.server.handlers import CORE, OWN, SiteHandler
from dask_diag_lab.views.registry import GROUPS

if TYPE_CHECKING:
    from dask_diag_lab.views.registry import Plot

TEMPLATE: Final = Path(__file__).parent / "templates" / "page.html"


@dataclass(frozen=True, slots=True)
class Cell:
    """A place on a page.

    Attributes
    ----------
    plots : sequence of str
        Names; several are tabs, of which one is shown.
    label : str
        What several have in common, for people who do not see them.
    area : str
        Its place in the page's own grid, else ``wide`` (the whole breadth), ``tall`` (that, and
        twice the height) or '' (half the breadth).
    """

    plots: Sequence[str]
    label: str = ""
    area: str = ""


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


def _wide(*plots: str) -> tuple[Cell, ...]:
    return tuple(Cell((plot,), area="wide") for plot in plots)


def _halves(*plots: str) -> tuple[Cell, ...]:
    return tuple(Cell((plot,)) for plot in plots)


_STATUS: Final = (
    Cell(("cluster-memory",), area="cluster-memory"),
    Cell(("workers-memory",), area="workers-memory"),
    Cell(
        ("nprocessing", "cpu", "occupancy", "workers-transfer-bytes"), "Load of the workers", "load"
    ),
    Cell(("task-stream",), area="task-stream"),
    Cell(("progress",), area="progress"),
)
_WORKERS: Final = (
    *_wide("workers"),
    *_halves("workers-memory", "cpu", "nprocessing", "occupancy"),
    *_halves("workers-transfer-bytes", "workers-network", "workers-disk"),
    *_halves("workers-cpu-timeseries", "workers-memory-timeseries"),
    *_halves("workers-network-timeseries", "workers-disk-timeseries"),
)
_SYSTEM: Final = (
    *_wide("scheduler-system"),
    *_halves("contention", "bandwidth-types"),
    *_wide("bandwidth-workers"),
)
_SHUFFLE: Final = (
    *_wide("shuffle"),
    *_halves("workers-memory", "contention"),
    *_halves("workers-network-timeseries", "workers-disk-timeseries"),
)
_GPU: Final = (*_halves("gpu-utilization", "gpu-memory"), *_wide("rmm-memory"))
_COUNTERS: Final = _wide("fine-performance-metrics", "counters")

PLANS: Final[tuple[PagePlan, ...]] = (
    PagePlan("status", "Status", _STATUS, grid="status"),
    PagePlan("tasks", "Tasks", (Cell(("task-stream",), area="tall"), *_wide("progress"))),
    PagePlan("workers", "Workers", _WORKERS),
    PagePlan("system", "System", _SYSTEM),
    PagePlan("profile", "Profile", _wide("profile")),
    PagePlan("graph", "Graph", _wide("graph")),
    PagePlan("groups", "Groups", (Cell(("groups",), area="tall"), *_wide("group-progress"))),
    PagePlan("profile-server", "Profile of the event loops", _wide("profile-server")),
    PagePlan("stealing", "Work stealing", _wide("stealing", "occupancy"), needs="stealing"),
    PagePlan("events", "Events", _wide("events")),
    PagePlan("exceptions", "Exceptions", _wide("exceptions")),
    PagePlan("counters", "Counters", _COUNTERS, needs="counters"),
    PagePlan("shuffle", "Shuffle", _SHUFFLE, needs="shuffle"),
    PagePlan("hardware", "Hardware", _wide("hardware")),
    PagePlan("gpu", "GPU", _GPU),
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
MOVED_WITH_ARGUMENT: Final = (
    ("info/worker/", "worker", "worker", ""),
    ("info/logs/", "worker", "worker", "logs"),
    ("info/call-stacks/", "worker", "worker", "call-stacks"),
    ("info/task/", "task", "key", ""),
    ("info/call-stack/", "task", "key", "call-stack"),
)
"""Paths that end with a worker or a task and ``.html``: beginning, plot, name of its argument, and
the section of its page."""


def plans_for(plots: Container[str]) -> dict[str, PagePlan]:
    """Return the pages that can be made of `plots`, by name, with only those."""
    plans = {}
    for plan in PLANS:
        cells = [
            Cell([name for name in cell.plots if name in plots], cell.label, cell.area)
            for cell in plan.cells
        ]
        cells = [cell for cell in cells if cell.plots]
        if cells and (not plan.needs or plan.needs in plots):
            plans[plan.name] = PagePlan(plan.name, plan.title, cells, plan.grid)
    return plans


def help_html(text: str) -> str:
    """Return a help text as HTML: paragraphs and lists of lines that begin with "- "."""
    blocks = [" ".join(block.split()) for block in re.split(r"\n\s*\n|\n(?=\s*- )", text)]
    html = ""
    for is_list, group in groupby(filter(None, blocks), lambda block: block.startswith("- ")):
        if is_list:
            html += f"<ul>{''.join(map(_help_item, group))}</ul>"
        else:
            html += "".join(f"<p>{escape(block)}</p>" for block in group)
    return html


def _help_item(line: str) -> str:
    text = line.removeprefix("-").strip()
    subject, colon, rest = text.partition(": ")
    if not colon or len(subject) > 60:
        return f"<li>{escape(text)}</li>"
    return f"<li><b>{escape(subject)}</b>: {escape(rest.strip())}</li>"


_KEYS: Final = (
    "<section><h2>Keys of a plot that was clicked</h2><ul>"
    "<li><kbd>F</kbd> fits everything in</li>"
    "<li><kbd>L</kbd> goes back to live</li>"
    "<li><kbd>Space</kbd> freezes the picture and lets it go</li></ul></section>"
)


def _link(path: str, title: str, here: str, base: str) -> str:
    current = ' aria-current="page"' if path == here else ""
    return f'<a href="{escape(base + path)}"{current}>{escape(title)}</a>'


def _section(title: str, inside: str, kind: str = "") -> str:
    of_kind = f' class="{kind}"' if kind else ""
    return f"<section{of_kind}><h2>{escape(title)}</h2>{inside}</section>" if inside else ""


def _bar(listed: Mapping[str, Plot], shown: Sequence[Plot], here: str, base: str) -> str:
    """Return the bar of a page: the other pages, all plots, how to read those that are shown."""
    pages = {name: plan.title for name, plan in plans_for(listed).items()} | {INFO: "Info"}
    links = {name: _link(name, title, here, base) for name, title in pages.items()}
    in_bar = "".join(links.pop(name) for name in IN_BAR if name in pages)
    # A narrow window has no room for these in the bar itself.
    again = "".join(_link(name, pages[name], "", base) for name in IN_BAR if name in pages)
    menu = _section("Pages", again, "again") + _section("More pages", "".join(links.values()))
    for group in dict.fromkeys((*GROUPS, *(plot.group for plot in listed.values()))):
        of_group = (plot for plot in listed.values() if plot.group == group)
        menu += _section(
            group, "".join(_link(f"plots/{p.name}", p.title, here, base) for p in of_group)
        )
    more = f'<details><summary>More</summary><div class="menu">{menu}</div></details>'
    return f'<nav aria-label="Pages">{in_bar}{more}{_help(shown)}</nav>'


def _help(plots: Sequence[Plot]) -> str:
    if not plots:
        return ""
    sections = "".join(
        _section(plot.title, f"<p>{escape(plot.description)}</p>{help_html(plot.help)}")
        for plot in plots
    )
    inside = f'<div class="menu help">{sections}{_KEYS}</div>'
    return f"<details><summary>How to read this</summary>{inside}</details>"


_ARTICLE = Template(
    '<article class="plot$area" data-plot="$name" data-title="$title"$named></article>'
)
_TAB = Template(
    '<button type="button" role="tab" id="tab-$name" aria-controls="panel-$name"'
    ' aria-selected="$is_chosen" tabindex="$tabindex" title="$description">$title</button>'
)
_PANEL = Template(
    '<div role="tabpanel" id="panel-$name" aria-labelledby="tab-$name"$hidden>$article</div>'
)


def _article(plot: Plot, area: str = "", *, is_named: bool = False) -> str:
    """Return the place of a picture; `is_named` where nothing beside it says which plot it is."""
    return _ARTICLE.substitute(
        name=escape(plot.name),
        title=escape(plot.title),
        area=f" {area}" if area else "",
        named=" data-named" if is_named else "",
    )


def _cell(cell: Cell, plots: Mapping[str, Plot], *, is_named: bool) -> str:
    """Return the picture of a cell, or tabs when it has several, which name theirs."""
    inside = [plots[name] for name in cell.plots]
    if len(inside) == 1:
        return _article(inside[0], cell.area, is_named=is_named)
    tabs = panels = ""
    for index, plot in enumerate(inside):
        tabs += _TAB.substitute(
            name=escape(plot.name),
            title=escape(plot.title),
            description=escape(plot.description),
            is_chosen="false" if index else "true",
            tabindex="-1" if index else "0",
        )
        panels += _PANEL.substitute(
            name=escape(plot.name), article=_article(plot), hidden=" hidden" if index else ""
        )
    bar = f'<div role="tablist" aria-label="{escape(cell.label)}">{tabs}</div>'
    return f'<section class="tabs {cell.area}">{bar}<div class="panels">{panels}</div></section>'


def _links(plots: Iterable[Plot], base: str) -> str:
    items = (
        f'<li><a href="{base}plots/{escape(plot.name)}">{escape(plot.title)}</a>'
        f"<span>{escape(plot.description)}</span></li>"
        for plot in plots
    )
    return f'<ul class="plots">{"".join(items)}</ul>'


class PageHandler(SiteHandler):
    """What pages share; all their links are relative, so that they work behind any prefix."""

    async def prepare(self) -> None:
        """Wait for Bokeh and the plots: who opens a page at once gets it a moment later."""
        await self.site.loaded.wait()

    @property
    def base(self) -> str:
        """The way from the page, as it was asked for, to the root of the server."""
        return "../" * (self.request.path.count("/") - 1) or "./"

    def show(
        self, title: str, body: str, *, kind: str, here: str, plots: Sequence[Plot] = ()
    ) -> None:
        """End with a page around `body`, which shows `plots`; `here` is its path below the root."""
        base = self.base
        name = str(self.site.info().get("name", ""))
        is_bare = bool(self.get_query_arguments("bare"))  # it stands in a page of somebody else
        self.set_header("Content-Type", "text/html; charset=utf-8")
        self.finish(
            Template(TEMPLATE.read_text(encoding="utf-8")).substitute(
                title=escape(f"{title} · {name}" if name else title),
                heading=escape(title),
                name=escape(name),
                base=escape(base),
                kind=escape(kind),
                frame="bare" if is_bare else "full",
                bar="" if is_bare else _bar(self.site.listed, plots, here, base),
                hints=self._hints(base) if plots else "",
                body=body,
            )
        )

    def _hints(self, base: str) -> str:
        """Return what the browser is to fetch at once, not one after the other as it finds them.

        BokehJS is not served before Bokeh was loaded here: whoever comes earlier gets no hint.
        """
        if self.site.bokeh is None:
            return ""
        paths = (escape(base + path) for path in (CORE, OWN))
        return "".join(f'<link rel="preload" as="script" href="{path}">\n' for path in paths)

    def show_missing(self, status: int, sentence: str) -> None:
        """End with a page that says what is missing and what there is instead."""
        self.set_status(status)
        body = f'<div class="missing"><p>{escape(sentence)}</p>'
        if self.site.plots:
            body += f"<p>These plots are here:</p>{_links(self.site.plots.values(), self.base)}"
        self.show("Nothing here", body + "</div>", kind="missing", here="")

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
            plot = self.site.plots[name]
            body = _article(plot)
            self.show(plot.title, body, kind="single", here=f"plots/{name}", plots=[plot])


class PlannedPageHandler(PageHandler):
    """``/status`` and the other pages of several plots, see `PLANS`."""

    def get(self, page: str) -> None:
        plan = plans_for(self.site.plots).get(page)
        if self.site.missing:
            self.show_missing(503, self.site.missing)
        elif plan is None:
            self.show_missing(404, f"None of the plots of the page “{page}” is here.")
        else:
            is_single = len(plan.cells) == 1
            cells = (_cell(cell, self.site.plots, is_named=not is_single) for cell in plan.cells)
            plots = [self.site.plots[name] for cell in plan.cells for name in cell.plots]
            kind = "single" if is_single else plan.grid
            self.show(plan.title, "".join(cells), kind=kind, here=page, plots=plots)


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
        _, plot, argument, section = next(row for row in MOVED_WITH_ARGUMENT if row[0] == begin)
        if self.is_shown(plot):
            shown = {"show": section} if section else {}
            self.go(f"plots/{plot}?" + urlencode({argument: which, **shown}))


class NothingHandler(PageHandler):
    """Every other path."""

    async def prepare(self) -> None:
        if self.request.method not in ("GET", "HEAD"):
            raise HTTPError(404, "There is nothing at this address.")

    def get(self) -> None:
        self.show_missing(404, "There is nothing at this address.")
