"""Plots saved to a file: an HTML page with their data and all that draws them, without a server.

The page is the one that a browser tab has, see `src/page`; a view draws for it as for a live one.
Must not know what is saved.
"""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import bokeh
from bokeh.document import Document
from bokeh.settings import settings
from tornado.template import Loader

from dask_diag_lab.server.handlers import CORE, PAUSE_S
from dask_diag_lab.server.page import Page, is_without
from dask_diag_lab.server.sessions import SCRIPTS, scripts_for
from dask_diag_lab.views.look import LIGHT

if TYPE_CHECKING:
    from dask_diag_lab.server.handlers import Site
    from dask_diag_lab.store import Store

WAIT_S: Final = 30.0
"""So long a plot waits at most for what it asks of the cluster: busy workers answer late."""
LATE: Final = f"Not all of this plot's data had come within {WAIT_S:g} s."
HERE: Final = Path(__file__).parent
OWN: Final = "static/dask-diag-lab/"


class Wanted(NamedTuple):
    """A plot to save: its name and arguments, and what it is called in the file."""

    name: str
    arguments: Mapping[str, str]
    title: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """One tab of a saved page: a plot's document, or text.

    Attributes
    ----------
    title : str
    html : str
        Of a text; it has been escaped.
    name : str
        Of a plot; '' for text.
    document : mapping
        Bokeh's JSON.
    scripts : sequence of str
        Those that draw it, as `sessions.scripts_for` names them.
    """

    title: str
    html: str = ""
    name: str = ""
    document: Mapping[str, Any] = field(default_factory=dict)  # JSON
    scripts: Sequence[str] = ()

    @classmethod
    def of(cls, page: Page, title: str = "") -> Panel:
        """Return what a page shows now, without what only a live one can do."""
        control, document = page.control, page.document
        empty = control.message if control.state == "error" else control.empty
        control.update(state="live", message="", closed_at=0.0, controls="", empty=empty)
        control.update(behind_s=0.0, frozen=False)
        scripts = scripts_for(document.models)
        json = document.to_json(deferred=False)
        return cls(title or page.plot.title, "", page.plot.name, json, scripts)


def saved_page(title: str, name: str, panels: Sequence[Panel]) -> str:
    """Return an HTML page with one panel, or with a tab for each; takes some 100 ms.

    Parameters
    ----------
    title, name : str
        What the page is called, and what it is of.
    """
    plots = [panel for panel in panels if panel.name]
    needed = {script for panel in plots for script in panel.scripts}
    scripts = [one for one in (CORE, *dict.fromkeys(path for _, path in SCRIPTS)) if one in needed]
    files = [_file(script).read_text(encoding="utf-8") for script in scripts]
    # One by one: `dumps` lets no other thread run, and a cluster may be in this process.
    documents = ", ".join(json.dumps(panel.document) for panel in plots)
    head = json.dumps({"bokeh": bokeh.__version__, "scripts": files})
    packed = gzip.compress(f'{head[:-1]}, "documents": [{documents}]}}'.encode(), mtime=0)
    return fill(
        "saved.html",
        title=title,
        name=name,
        panels=panels,
        documents=plots,
        packed=base64.b64encode(packed).decode(),
        style=(HERE / "static" / "page.css").read_text(encoding="utf-8"),
        script=(HERE / "static" / "page.js").read_text(encoding="utf-8"),
    )


def fill(template: str, **values: object) -> str:
    """Return a template with values, which it escapes."""
    page: bytes = Loader(str(HERE / "templates")).load(template).generate(**values)
    return page.decode()


def _file(script: str) -> Path:
    """Return the file of a script of `SCRIPTS`."""
    if script.startswith(OWN):
        return HERE.parent / script.removeprefix(OWN)
    return Path(settings.bokehjs_path()) / script.removeprefix("static/")


async def live_panels(site: Site, wanted: Sequence[Wanted]) -> list[Panel]:
    """Return plots of a live store, each with the data of now once that has come.

    Raises
    ------
    KeyError
        There is no plot of that name.
    """
    await site.loaded.wait()
    pages: list[Page] = []
    try:
        for one in wanted:
            plot = site.plots[one.name]
            given = plot.check_arguments(one.arguments)
            pages.append(Page(plot, site.store, Document(), LIGHT, given))
            await asyncio.sleep(0)  # each takes some milliseconds
        site.drawing.pages.want(frozenset().union(*(page.needs for page in pages)), WAIT_S)
        if site.catch_up is not None:
            await site.catch_up()
        late = await _draw(site.store, pages)
        for page in late:
            page.control.note = " ".join(filter(None, (LATE, page.control.note)))
        return [Panel.of(page, one.title) for page, one in zip(pages, wanted, strict=True)]
    finally:
        for page in pages:
            page.close()
            page.document.clear()


async def _draw(store: Store, pages: Sequence[Page]) -> list[Page]:
    """Draw pages until their data has come; return those that it has not come for in time."""
    deadline, waiting = time.monotonic() + WAIT_S, list(pages)
    while waiting and time.monotonic() < deadline:
        for page in list(waiting):
            if _is_drawn(store, page):
                waiting.remove(page)
            await asyncio.sleep(0)
        await asyncio.sleep(PAUSE_S)
    return waiting


def _is_drawn(store: Store, page: Page) -> bool:
    """Draw a page; return whether nothing more will come."""
    with store.queries.noticed() as queries:
        page.draw()
    if page.view is None or page.control.state == "error":
        return True
    if page.view.is_behind or store.jobs.n_open:
        return False
    if store.feed_state.state in ("lost", "closed"):
        return True
    return not is_without(store, page.view) and all(one.state != "asked" for one in queries)
