"""Plots saved to a file: an HTML page with their data and all that draws them, without a server.

The page is the one that a browser tab has, see `src/page`; a view draws for it as for a live one.
Must not know what is saved.
"""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import logging
import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import bokeh
import fsspec
from bokeh.document import Document
from bokeh.models.ui import UIElement
from bokeh.resources import Resources
from bokeh.settings import settings
from tornado.template import Loader

from dask_diag_lab.server.context import CORE, until
from dask_diag_lab.server.page import SCRIPTS, Page, PendingWork, scripts_for
from dask_diag_lab.views.look import LIGHT
from dask_diag_lab.views.stream.frame import Detail
from dask_diag_lab.views.stream.task_stream import TaskStream

if TYPE_CHECKING:
    from dask_diag_lab.server.context import ServerContext
    from dask_diag_lab.store import LiveSession
    from dask_diag_lab.views.registry import Plot

logger = logging.getLogger(__name__)

# So long a plot waits at most for what it asks of the cluster: busy workers answer late.
DATA_WAIT_S: Final = 30.0
SILENT_S: Final = 1.0
INCOMPLETE: Final = f"Not all of this plot's data had come within {DATA_WAIT_S:g} s."
HERE: Final = Path(__file__).parent
OWN_SCRIPTS: Final = "static/dask-diag-lab/"


class PlotRequest(NamedTuple):
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
        Those that draw it, as `page.scripts_for` names them.
    headline : str
    """

    title: str
    html: str = ""
    name: str = ""
    document: Mapping[str, Any] = field(default_factory=dict)  # JSON
    scripts: Sequence[str] = ()
    headline: str = ""

    @classmethod
    def of(cls, page: Page, title: str = "") -> Panel:
        """Return what a page shows now, without what only a live one can do."""
        control, document = page.control, page.document
        empty = control.message if control.state == "error" else control.empty
        control.update(state="live", message="", closed_at=0.0, controls="", empty=empty)
        control.update(behind_s=0.0, frozen=False)
        scripts = scripts_for(document.models)
        json = document.to_json(deferred=False)
        title = title or page.plot.title
        return cls(title, "", page.plot.name, json, scripts, control.headline)


class SavedStream(TaskStream):
    """The task stream of a file: nothing can be fetched when it is magnified."""

    detail = Detail(1_000_000, 120_000, beside=0.0, max_keys=30_000, has_all_rows=True)


def drawn_panel(plot: Plot, live: LiveSession, arguments: Mapping[str, str]) -> Panel:
    """Return a plot of a history that nobody changes, in any thread."""
    page = Page(plot, live, LIGHT, arguments)
    try:
        page.draw()
        return Panel.of(page)
    finally:
        page.close()
        page.document.clear()


def picture_of(panel: Panel) -> UIElement:
    """Return the picture of a plot as a model by itself, without callbacks into this process."""
    json: Any = {**panel.document}  # Bokeh takes out what it has read
    copy = Document.from_json(json)
    picture = copy.roots[0]
    assert isinstance(picture, UIElement)
    copy.clear()
    return picture


def saved_page(title: str, name: str, panels: Sequence[Panel], mode: str | None = None) -> str:
    """Return an HTML page with one panel, or with a tab for each; takes some 100 ms.

    Parameters
    ----------
    title, name : str
        What the page is called, and what it is of.
    mode : str, optional
        With ``"cdn"`` the browser fetches BokehJS; with any other the page has all it needs.
    """
    plots = [panel for panel in panels if panel.name]
    needed = {script for panel in plots for script in panel.scripts}
    scripts = [one for one in (CORE, *dict.fromkeys(path for _, path in SCRIPTS)) if one in needed]
    fetched = [one for one in scripts if mode == "cdn" and not one.startswith(OWN_SCRIPTS)]
    files = [_file(one).read_text(encoding="utf-8") for one in scripts if one not in fetched]
    parts: Any = [Path(script).name.removesuffix(".min.js") for script in fetched]  # Bokeh's names
    # One by one: `dumps` lets no other thread run, and a cluster may be in this process.
    documents = ", ".join(json.dumps(panel.document) for panel in plots)
    head = json.dumps({"bokeh": bokeh.__version__, "scripts": files})
    packed = gzip.compress(f'{head[:-1]}, "documents": [{documents}]}}'.encode(), mtime=0)
    return render(
        "saved.html",
        title=title,
        name=name,
        panels=panels,
        documents=plots,
        fetched=Resources("cdn", components=parts).js_files if parts else [],
        packed=base64.b64encode(packed).decode(),
        style=(HERE / "static" / "page.css").read_text(encoding="utf-8"),
        script=(HERE / "static" / "page.js").read_text(encoding="utf-8"),
    )


def save_page(
    filename: str | os.PathLike[str], page: str, storage_options: Mapping[str, Any] | None = None
) -> None:
    """Write a page to a path, or to a URL that ``fsspec`` can write; ``.gz`` at its end compresses.

    Raises
    ------
    OSError
        It cannot be written there; the message names a temporary file that has it.
    """
    to = {"encoding": "utf-8", "compression": "infer", "auto_mkdir": False}
    to |= dict(storage_options or {})
    try:
        with fsspec.open(filename, "w", **to) as file:
            file.write(page)
    except Exception as error:  # the file systems of `fsspec` have errors of their own
        text: Any = {"encoding": "utf-8", "suffix": ".html", "delete": False}
        with tempfile.NamedTemporaryFile("w", prefix="dask-", **text) as kept:
            kept.write(page)
        raise OSError(f"{filename} could not be written: {error}. See {kept.name}.") from error
    logger.info("%s is written.", filename)


def render(template: str, **values: object) -> str:
    """Return a template with values, which it escapes."""
    page: bytes = Loader(str(HERE / "templates")).load(template).generate(**values)
    return page.decode()


def _file(script: str) -> Path:
    """Return the file of a script of `SCRIPTS`."""
    if script.startswith(OWN_SCRIPTS):
        return HERE.parent / script.removeprefix(OWN_SCRIPTS)
    return Path(settings.bokehjs_path()) / script.removeprefix("static/")


async def live_panels(context: ServerContext, wanted: Sequence[PlotRequest]) -> list[Panel]:
    """Return plots of a live history, each with the data of now once that has come.

    Raises
    ------
    KeyError
        There is no plot of that name.
    """
    pages: list[Page] = []
    try:
        waiting = []
        for one in wanted:
            plot, pending = context.plots[one.name], PendingWork(context.live)
            plot = SavedStream if plot is TaskStream else plot
            given = plot.check_arguments(one.arguments)
            with pending.noticed():
                pages.append(Page(plot, context.live, LIGHT, given))
            waiting.append((pages[-1], pending, given))
            await asyncio.sleep(0)  # each takes some milliseconds
        context.drawing.add_viewer(frozenset().union(*(page.needs for page in pages)), DATA_WAIT_S)
        await context.catch_up()
        deadline = time.monotonic() + DATA_WAIT_S
        for one, (page, pending, given) in zip(wanted, waiting, strict=True):
            is_drawn = partial(_is_drawn, page, pending)
            if not await until(is_drawn, min(SILENT_S, deadline - time.monotonic())):
                title = one.title or page.plot.title
                logger.info(
                    "Waiting for the cluster's answers for “%s”: busy workers take long.", title
                )
            late = "" if await until(is_drawn, deadline - time.monotonic()) else INCOMPLETE
            notes = (late, "" if given else "All of the cluster's life.", page.control.note)
            page.control.note = " · ".join(filter(None, notes))
            page.close()
        # JSON of some plots takes longer than the loop may be held.
        return [
            await asyncio.to_thread(Panel.of, page, one.title)
            for page, one in zip(pages, wanted, strict=True)
        ]
    finally:
        for page in pages:
            page.close()
            page.document.clear()


def _is_drawn(page: Page, pending: PendingWork) -> bool:
    return pending.is_all(page.view, page.draw) or page.control.state == "error"
