"""A capture drawn by the task stream's own view, over a store that holds nothing but it.

Must not draw anything itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from bokeh.document import Document
from bokeh.models import ColumnDataSource, Plot, Rect
from bokeh.models.annotations import Legend, LegendItem, Title

from dask_diag_lab.capture.task_rows import TaskRows, WorkerFacts
from dask_diag_lab.schema import ACTIONS, EVENTS, WORKERS, Batch, Change, SchedulerInfo
from dask_diag_lab.schema.columns import arrays, columns_of, default_row
from dask_diag_lab.server.page import Page
from dask_diag_lab.server.saved import Panel, saved_page
from dask_diag_lab.store import Store
from dask_diag_lab.views.figure import restyle_figure
from dask_diag_lab.views.look import LIGHT
from dask_diag_lab.views.stream.figure import MIN_ROW_PX
from dask_diag_lab.views.stream.task_stream import TaskStream

if TYPE_CHECKING:
    from dask_diag_lab.views.view import Caption

WIDTH_PX: Final = 1200
LOWEST_PX: Final = 300
HIGHEST_PX: Final = 8000
"""Browsers draw no canvas of more than 16 384 real pixels, two a CSS pixel on many screens."""
ROW_PX: Final = 18
EDGES_PX: Final = 100
FINER: Final = 10
"""Nothing can be fetched when a saved picture is magnified, so it is made this much finer."""

TITLE: Final = "Dask task stream"


def store_of(rows: TaskRows, workers: Sequence[WorkerFacts], time: float) -> Store:
    """Return a store with these actions, and these workers in this order.

    Parameters
    ----------
    time : float
        The scheduler's clock at the end of the capture, at which the store's stands still.
    """
    store = Store(max_actions=max(len(rows), 1), clock=lambda: 0.0)
    begin = float(rows.columns["start"].min()) if len(rows) else time
    store.apply(_batch(begin, workers, rows))
    gone = [worker for worker in workers if not isnan(worker.ended)]
    ends = [(worker.ended, "worker-removed", {"worker": worker.address}) for worker in gone]
    left = _batch(time, [])
    left.tables = {
        "workers": Change(columns_of(WORKERS, ()), removed=[worker.address for worker in gone]),
        "events": Change(columns_of(EVENTS, ends)),
    }
    store.apply(left)
    store.set_feed_state("closed", "", time)
    return store


class SavedStream(TaskStream):
    """The task stream of a file: nothing can be fetched when it is magnified."""

    buckets = 200_000
    max_blocks = 120_000


def stream_panel(store: Store, note: str = "") -> Panel:
    """Return the picture of all that is in ``store`` as a panel of a saved page."""
    page = Page(SavedStream, store, Document(), LIGHT, {})
    try:
        assert page.view is not None
        page.view.command("fit")
        page.draw()
        page.control.note = " · ".join(filter(None, (note, page.control.note)))
        return Panel.of(page)
    finally:
        page.close()
        page.document.clear()


def save_stream(store: Store, note: str, path: Path) -> None:
    """Write a page with the picture of all that is in ``store``."""
    path.write_text(saved_page(TITLE, "", [stream_panel(store, note)]), encoding="utf-8")


def figure_of(store: Store) -> Plot:
    """Return the picture of all that is in ``store`` as a figure by itself."""
    view = TaskStream(store)
    view.buckets = WIDTH_PX * FINER
    figure = view.build()
    assert isinstance(figure, Plot)
    view.command("fit")
    _add_caption(figure, view.caption)
    document = Document()
    document.add_root(figure)
    # The copy has no callbacks into this process, which a saved picture could not call.
    copy = Document.from_json(document.to_json())
    document.clear()
    view.close()
    (drawn,) = copy.roots
    copy.clear()
    assert isinstance(drawn, Plot)
    n_rows = max(store.slots.count, 1)
    height = min(max(n_rows * ROW_PX + EDGES_PX, LOWEST_PX), 800)
    height = min(max(height, n_rows * MIN_ROW_PX + EDGES_PX), HIGHEST_PX)
    drawn.update(sizing_mode="stretch_width", height=height)
    return drawn


def _add_caption(figure: Plot, caption: Caption) -> None:
    """Write on the picture what a page of ours has around it."""
    figure.title = Title(text=caption.headline)
    items = []
    for item in caption.legend:
        swatch: Any = figure.add_glyph(
            ColumnDataSource(), Rect(fill_color=item.color, line_color=None)
        )
        items.append(LegendItem(label=item.label, renderers=[swatch]))
    figure.add_layout(
        Legend(items=items, orientation="horizontal", border_line_color=None, ncols=8), "above"
    )
    restyle_figure(figure, LIGHT)


def _batch(time: float, workers: Sequence[WorkerFacts], rows: TaskRows | None = None) -> Batch:
    """Return a batch with workers of which only what the task stream shows is true."""
    there = [
        default_row(WORKERS)
        | {"address": w.address, "name": w.name, "nthreads": w.nthreads, "status": "running"}
        for w in workers
    ]
    info = SchedulerInfo("capture", "", 0.0, len(workers), 0, 0, {})
    batch = Batch("capture", time, time, info, {"workers": Change(columns_of(WORKERS, there))})
    if rows is None:
        return batch
    # Numbered anew: the store's numbers are beyond those of a wire.
    ids, tasks = sorted(set(rows.texts) - {0}), sorted(rows.keys)
    columns = {name: column for name, column in rows.columns.items() if name != "slot"}
    for name in ("worker", "source", "prefix"):
        columns[name] = np.where(columns[name], np.searchsorted(ids, columns[name]) + 1, 0)
    columns["task"] = np.searchsorted(tasks, columns["task"])
    batch.tables = {**batch.tables, "actions": Change(arrays(ACTIONS, columns))}
    batch.strings_from, batch.strings = 1, [rows.texts[i] for i in ids]
    batch.keys = [rows.keys[task] for task in tasks]
    return batch
