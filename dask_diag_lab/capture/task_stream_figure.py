"""A capture drawn by the task stream's own view, over a store that holds nothing but it.

Must not draw anything itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import Final

import numpy as np
from bokeh.models import Plot
from bokeh.models.annotations import Title

from dask_diag_lab.capture.task_rows import TaskRows, WorkerFacts
from dask_diag_lab.schema import ACTIONS, EVENTS, WORKERS, Batch, Change, SchedulerInfo
from dask_diag_lab.schema.columns import arrays, columns_of, default_row
from dask_diag_lab.server.saved import Panel, drawn_panel, picture_of
from dask_diag_lab.store import Store
from dask_diag_lab.views.stream.task_stream import TaskStream

LOWEST_PX: Final = 300
HIGHEST_PX: Final = 800
ROW_PX: Final = 18
EDGES_PX: Final = 100
TITLE: Final = "Dask task stream"


def store_of(rows: TaskRows, workers: Sequence[WorkerFacts], time: float) -> Store:
    """Return a store with these actions, and these workers: those that stayed or did any of them.

    Parameters
    ----------
    time : float
        The scheduler's clock at the end of the capture, at which the store's stands still.
    """
    store = Store(max_actions=max(len(rows), 1), clock=lambda: 0.0)
    seen = {rows.texts[i] for i in np.unique(rows.columns["worker"]).tolist()}
    workers = [one for one in workers if isnan(one.ended) or one.address in seen]
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
    return drawn_panel(SavedStream, store, {}, "fit", note)


def figure_of(panel: Panel, n_rows: int) -> Plot:
    """Return the picture as a figure by itself, as high as its rows want it."""
    figure = picture_of(panel)
    assert isinstance(figure, Plot)
    height = min(max(n_rows * ROW_PX + EDGES_PX, LOWEST_PX), HIGHEST_PX)
    figure.update(title=Title(text=panel.headline), sizing_mode="stretch_width", height=height)
    return figure


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
