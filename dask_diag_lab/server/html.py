"""Our own pages: filled templates, with everything escaped and no script or style inside."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from tornado.web import HTTPError

from dask_diag_lab.server.handlers import SiteHandler

if TYPE_CHECKING:
    from dask_diag_lab.views.registry import Plot

TEMPLATES = Path(__file__).parent / "templates"

_ARTICLE = Template(
    '<article class="plot" data-plot="$name" aria-label="$title" title="$description">'
    '<div class="picture"></div>'
    '<p class="empty" role="status" hidden></p>'
    '<button class="behind" type="button" title="Back to live (L)" hidden></button>'
    '<p class="message" role="status" hidden></p>'
    '<p class="note" hidden></p>'
    "</article>"
)


def _filled(template: str, **values: str) -> str:
    return Template((TEMPLATES / template).read_text(encoding="utf-8")).substitute(values)


def _article(plot: Plot) -> str:
    return _ARTICLE.substitute(
        name=escape(plot.name), title=escape(plot.title), description=escape(plot.description)
    )


def _links(plots: Iterable[Plot], base: str) -> str:
    items = (
        f'<li><a href="{base}plots/{escape(plot.name)}">{escape(plot.title)}</a>'
        f"<span>{escape(plot.description)}</span></li>"
        for plot in plots
    )
    return f'<ul class="plots">{"".join(items)}</ul>'


class PageHandler(SiteHandler):
    """What pages share; ``base`` is the way from the page to the root of the server."""

    def show(self, title: str, plots: Iterable[Plot], *, base: str, kind: str) -> None:
        """End with a page that draws `plots`."""
        body = "".join(_article(plot) for plot in plots)
        self._page(title, body, base=base, kind=kind)

    def show_missing(self, status: int, sentence: str, *, base: str) -> None:
        """End with a page that says what is missing and what there is instead."""
        self.set_status(status)
        body = f'<div class="missing"><p>{escape(sentence)}</p>'
        if self.site.plots:
            body += f"<p>These plots are here:</p>{_links(self.site.plots.values(), base)}"
        self._page("Nothing here", body + "</div>", base=base, kind="missing")

    def _page(self, title: str, body: str, *, base: str, kind: str) -> None:
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
                body=body,
            )
        )


class PlotPageHandler(PageHandler):
    """``/plots/<name>``: one plot filling the window."""

    def get(self, name: str) -> None:
        if self.site.missing:
            self.show_missing(503, self.site.missing, base="../")
        elif name not in self.site.plots:
            self.show_missing(404, f"There is no plot “{name}” here.", base="../")
        else:
            plot = self.site.plots[name]
            self.show(plot.title, [plot], base="../", kind="single")


class StatusHandler(PageHandler):
    """``/status``: the usual plots in a grid."""

    def get(self) -> None:
        if self.site.missing:
            self.show_missing(503, self.site.missing, base="./")
        else:
            self.show("Status", self.site.usual, base="./", kind="grid")


class StockPageHandler(PageHandler):
    """The stock dashboard's other page names: on to the nearest plot of ours."""

    def get(self, page: str) -> None:
        plot = self.site.nearest(page)
        if self.site.missing:
            self.show_missing(503, self.site.missing, base="./")
        elif plot is None:
            self.show_missing(404, f"The page “{page}” has no counterpart here yet.", base="./")
        else:
            self.set_header("Location", f"plots/{plot.name}")  # relative: right behind any prefix
            self.set_status(302)
            self.finish()


class RootHandler(PageHandler):
    """``/``: on to the status page."""

    def get(self) -> None:
        self.set_header("Location", "status")
        self.set_status(302)
        self.finish()


class NothingHandler(PageHandler):
    """Every other path."""

    async def prepare(self) -> None:
        if self.request.method not in ("GET", "HEAD"):
            raise HTTPError(404, "There is nothing at this address.")

    def get(self) -> None:
        depth = self.request.path.strip("/").count("/") + self.request.path.endswith("/")
        base = "../" * depth if depth else "./"
        self.show_missing(404, "There is nothing at this address.", base=base)
