"""Our own pages: filled templates, with everything escaped and no script or style inside."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from tornado.web import HTTPError

from dask_diag_lab.server.handlers import SiteHandler
from dask_diag_lab.server.page_bar import bar_html
from dask_diag_lab.server.page_plans import MOVED, MOVED_WITH_ARGUMENT, Cell, plans_for
from dask_diag_lab.server.site import CORE, OWN

if TYPE_CHECKING:
    from dask_diag_lab.views.registry import Plot

TEMPLATES: Final = Path(__file__).parent / "templates"

MODULES: Final = (
    "theme.js",
    "times.js",
    "badge.js",
    "closed.js",
    "figure_surface.js",
    "newer.js",
    "picture_title.js",
    "plot_element.js",
    "session.js",
    "parting.js",
    "rivals.js",
    "successor.js",
    "tabs.js",
)
"""What ``page.js`` imports, and what these import."""

_ARTICLE = Template(
    '<article class="plot$area" data-plot="$name" aria-label="$title">'
    '<div class="head"$hidden>$heading<span class="title"></span></div>'
    '<div class="picture"></div>'
    '<p class="empty" role="status" hidden></p>'
    '<a class="opening" target="_blank" rel="noopener" hidden></a>'
    '<button class="behind" type="button" title="Back to live (L)" hidden></button>'
    '<p class="message" role="status" hidden></p>'
    '<p class="note" hidden></p>'
    "</article>"
)
_TAB = Template(
    '<button type="button" role="tab" id="tab-$name" aria-controls="panel-$name"'
    ' aria-selected="$is_chosen" tabindex="$tabindex" title="$description">$title</button>'
)
_PANEL = Template(
    '<div role="tabpanel" id="panel-$name" aria-labelledby="tab-$name"$hidden>$article</div>'
)


def _filled(template: str, **values: str) -> str:
    return Template((TEMPLATES / template).read_text(encoding="utf-8")).substitute(values)


def _article(plot: Plot, area: str = "", *, is_named: bool = False) -> str:
    """Return the place of a picture; `is_named` where nothing beside it says which plot it is."""
    title = escape(plot.title)
    return _ARTICLE.substitute(
        name=escape(plot.name),
        title=title,
        area=f" {area}" if area else "",
        heading=f'<h2 class="name">{title}</h2>' if is_named else "",
        hidden="" if is_named else " hidden",
    )


def _cell(cell: Cell, plots: Mapping[str, Plot], *, is_named: bool) -> str:
    """Return the picture of a cell, or tabs when it has several, which name theirs."""
    inside = [plots[name] for name in cell.plots]
    if len(inside) == 1:
        return _article(inside[0], cell.area, is_named=is_named)
    tabs = panels = ""
    for index, plot in enumerate(inside):
        is_first = index == 0
        tabs += _TAB.substitute(
            name=escape(plot.name),
            title=escape(plot.title),
            description=escape(plot.description),
            is_chosen="true" if is_first else "false",
            tabindex="0" if is_first else "-1",
        )
        panels += _PANEL.substitute(
            name=escape(plot.name), article=_article(plot), hidden="" if is_first else " hidden"
        )
    label = escape(cell.label)
    bar = f'<div role="tablist" aria-label="{label}">{tabs}</div>'
    inside_it = f'<div class="panels">{panels}</div>'
    return f'<section class="tabs {cell.area}">{bar}{inside_it}</section>'


def _links(plots: Iterable[Plot], base: str) -> str:
    items = (
        f'<li><a href="{base}plots/{escape(plot.name)}">{escape(plot.title)}</a>'
        f"<span>{escape(plot.description)}</span></li>"
        for plot in plots
    )
    return f'<ul class="plots">{"".join(items)}</ul>'


class PageHandler(SiteHandler):
    """What pages share; ``base`` is the way from the page to the root of the server."""

    def show(
        self,
        title: str,
        body: str,
        *,
        kind: str,
        here: str,
        base: str,
        plots: Sequence[Plot] = (),
    ) -> None:
        """End with a page around `body`, which shows `plots`; `here` is its path below the root."""
        name = str(self.site.info().get("name", ""))
        self.set_header("Content-Type", "text/html; charset=utf-8")
        self.finish(
            _filled(
                "page.html",
                title=escape(f"{title} · {name}" if name else title),
                heading=escape(title),
                name=escape(name),
                base=escape(base),
                kind=escape(kind),
                frame="bare" if self._is_bare else "full",
                bar="" if self._is_bare else bar_html(self.site.listed, plots, here, base),
                hints=self._hints(base) if plots else "",
                body=body,
            )
        )

    def _hints(self, base: str) -> str:
        """Return what the browser is to fetch at once, not one after the other as it finds them.

        BokehJS is not served before Bokeh was loaded here: whoever comes earlier gets no hint.
        """
        own = (f"{base}static/dask-diag-lab/{name}" for name in MODULES)
        hints = "".join(f'<link rel="modulepreload" href="{escape(path)}">\n' for path in own)
        if self.site.bokeh:
            for path in (CORE, OWN):
                hints += f'<link rel="preload" as="script" href="{escape(base + path)}">\n'
        return hints

    def show_missing(self, status: int, sentence: str, *, base: str) -> None:
        """End with a page that says what is missing and what there is instead."""
        self.set_status(status)
        body = f'<div class="missing"><p>{escape(sentence)}</p>'
        if self.site.plots:
            body += f"<p>These plots are here:</p>{_links(self.site.plots.values(), base)}"
        self.show("Nothing here", body + "</div>", kind="missing", here="", base=base)

    def go(self, place: str) -> None:
        """End with a redirect to a path below the root, right behind any prefix of a relay."""
        self.set_header("Location", _base_of(self.request.path, "") + place)
        self.set_status(302)
        self.finish()

    @property
    def _is_bare(self) -> bool:
        """Whether the page is to be without its bar: it stands in a page of somebody else."""
        return bool(self.get_query_arguments("bare"))


def _base_of(path: str, at_root: str = "./") -> str:
    """Return the way from `path`, as it was asked for, to the root of the server."""
    return "../" * (path.count("/") - 1) or at_root


class PlotPageHandler(PageHandler):
    """``/plots/<name>``: one plot filling the window; its query says what it is to show."""

    def get(self, name: str) -> None:
        if self.site.missing:
            self.show_missing(503, self.site.missing, base="../")
        elif name not in self.site.plots:
            self.show_missing(404, f"There is no plot “{name}” here.", base="../")
        else:
            plot = self.site.plots[name]
            here = f"plots/{name}"
            self.show(
                plot.title, _article(plot), kind="single", here=here, base="../", plots=[plot]
            )


class PlannedPageHandler(PageHandler):
    """``/status`` and the other pages of several plots; see `page_plans`."""

    def get(self, page: str) -> None:
        plan = plans_for(self.site.plots).get(page)
        if self.site.missing:
            self.show_missing(503, self.site.missing, base="./")
        elif plan is None:
            self.show_missing(404, f"None of the plots of the page “{page}” is here.", base="./")
        else:
            is_single = len(plan.cells) == 1
            cells = (_cell(cell, self.site.plots, is_named=not is_single) for cell in plan.cells)
            body, kind = "".join(cells), "single" if is_single else plan.grid
            plots = [self.site.plots[name] for cell in plan.cells for name in cell.plots]
            self.show(plan.title, body, kind=kind, here=page, base="./", plots=plots)


class MovedHandler(PageHandler):
    """Paths of the stock dashboard whose page has another one here."""

    def get(self, path: str) -> None:
        self.go(MOVED[path])


class IndividualHandler(PageHandler):
    """``/individual-<name>``, the stock dashboard's path of a plot."""

    def get(self, name: str) -> None:
        if self.site.missing:
            self.show_missing(503, self.site.missing, base="./")
        elif name not in self.site.plots:
            self.show_missing(404, f"There is no plot “{name}” here.", base="./")
        else:
            query = self.request.query
            self.go(f"plots/{name}" + (f"?{query}" if query else ""))


class OneOfManyHandler(PageHandler):
    """The stock dashboard's page of one worker or task: on to the plot that shows it."""

    def get(self, begin: str, which: str) -> None:
        _, plot, argument, section = next(row for row in MOVED_WITH_ARGUMENT if row[0] == begin)
        if plot in self.site.plots:
            shown = {"show": section} if section else {}
            self.go(f"plots/{plot}?" + urlencode({argument: which, **shown}))
        else:
            base = _base_of(self.request.path)
            self.show_missing(404, "That page has no counterpart here yet.", base=base)


class NothingHandler(PageHandler):
    """Every other path."""

    async def prepare(self) -> None:
        if self.request.method not in ("GET", "HEAD"):
            raise HTTPError(404, "There is nothing at this address.")

    def get(self) -> None:
        base = _base_of(self.request.path)
        self.show_missing(404, "There is nothing at this address.", base=base)
