"""The bar on top of every page: the other pages, all plots, and how to read what is shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Final

from dask_diag_lab.server.help_text import help_html
from dask_diag_lab.server.page_plans import IN_BAR, INFO, plans_for
from dask_diag_lab.views.registry import GROUPS

if TYPE_CHECKING:
    from dask_diag_lab.views.registry import Plot

_KEYS: Final = (
    "<section><h2>Keys of a plot that was clicked</h2><ul>"
    "<li><kbd>F</kbd> fits everything in</li>"
    "<li><kbd>L</kbd> goes back to live</li>"
    "<li><kbd>Space</kbd> freezes the picture and lets it go</li></ul></section>"
)


def bar_html(listed: Mapping[str, Plot], shown: Sequence[Plot], here: str, base: str) -> str:
    """Return the bar of the page `here`, which shows some of the plots that are `listed`.

    `base` is the way from the page to the root of the server.
    """
    pages = {name: plan.title for name, plan in plans_for(listed).items()} | {INFO: "Info"}
    in_bar = [name for name in IN_BAR if name in pages]
    links = "".join(_link(name, pages[name], here, base) for name in in_bar)
    # A narrow window has no room for these in the bar itself.
    again = "".join(_link(name, pages[name], "", base) for name in in_bar)
    rest = "".join(_link(name, pages[name], here, base) for name in pages if name not in in_bar)
    menu = f'<section class="again"><h2>Pages</h2>{again}</section>'
    menu += _section("More pages", rest) + _groups(listed.values(), here, base)
    more = f'<details><summary>More</summary><div class="menu">{menu}</div></details>'
    return f'<nav aria-label="Pages">{links}{more}{_help(shown)}</nav>'


def _groups(plots: Iterable[Plot], here: str, base: str) -> str:
    links: dict[str, str] = dict.fromkeys(GROUPS, "")
    for plot in plots:
        link = _link(f"plots/{plot.name}", plot.title, here, base)
        links[plot.group] = links.get(plot.group, "") + link
    return "".join(_section(group, inside) for group, inside in links.items())


def _section(title: str, links: str) -> str:
    return f"<section><h2>{escape(title)}</h2>{links}</section>" if links else ""


def _link(path: str, title: str, here: str, base: str) -> str:
    current = ' aria-current="page"' if path == here else ""
    return f'<a href="{escape(base + path)}"{current}>{escape(title)}</a>'


def _help(plots: Sequence[Plot]) -> str:
    """Return how to read the plots of a page, and the keys that they have there."""
    if not plots:
        return ""
    sections = "".join(
        f"<section><h2>{escape(plot.title)}</h2><p>{escape(plot.description)}</p>"
        f"{help_html(plot.help)}</section>"
        for plot in plots
    )
    inside = f'<div class="menu help">{sections}{_KEYS}</div>'
    return f"<details><summary>How to read this</summary>{inside}</details>"
