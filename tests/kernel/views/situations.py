"""Clusters in chosen situations, built from batches; and what a view would send of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bokeh.document import Document
from bokeh.document.events import DocumentChangedEvent
from bokeh.events import Tap
from bokeh.models import Plot

from dask_diag_lab.schema import STATES, WORKERS, Batch, GraphChange, SchedulerInfo
from dask_diag_lab.schema.columns import default_row
from dask_diag_lab.store import LiveSession
from dask_diag_lab.views.view import View
from tests.kernel.store.batches import THRESHOLDS, tables_of

GIB = 1 << 30
MIB = 1 << 20


def worker(number: int, **given: Any) -> dict[str, Any]:  # rows of WORKERS hold many types
    """Return a row of `WORKERS`: an idle worker with 4 threads and 4 GiB, but for ``given``."""
    row = default_row(WORKERS) | {
        "address": f"tcp://10.0.0.{number}:4000",
        "name": str(number),
        "host": f"10.0.0.{number}",
        "nthreads": 4,
        "memory_limit": 4 * GIB,
        "status": "running",
        "last_seen": 1000.0,
    }
    parts = ("managed", "unmanaged_old", "unmanaged_recent")
    row["memory"] = sum(given.get(part, 0) for part in parts)
    if "spilled" in given:
        row["spilled_memory"] = given["spilled"]
    row |= given
    return row


def batch(
    nthreads: int = 8,
    thresholds: Mapping[str, float | None] = THRESHOLDS,
    history: Sequence[tuple[float, int]] | None = None,
    **given: Any,
) -> Batch:
    """Return a batch; ``history`` are rows of `NTHREADS`, ``given`` as for `tables_of`."""
    n_workers = len(given.get("workers") or ())
    tables, fields = tables_of({**given, "nthreads": history})
    info = SchedulerInfo("s", "tcp://10.0.0.9:8786", 0.0, n_workers, nthreads, 0, thresholds)
    known: dict[str, Any] = {"epoch": "e", "time": 1000.0, "received": 1000.0, "scheduler": info}
    return Batch(**known | fields, tables=tables)


def session_of(**tables: Any) -> LiveSession:
    """Return a session that has had one `batch`."""
    live = LiveSession()
    live.apply(batch(**tables))
    return live


def graph(
    keys: Sequence[str],
    edges: Sequence[tuple[int, int]] = (),
    states: Mapping[int, str] | None = None,
    *,
    is_snapshot: bool = True,
    first: int = 0,
) -> GraphChange:
    """Return a change that adds nodes ``first``, … with ``edges`` (dependency, dependent)."""
    nodes = range(first, first + len(keys))
    needs: dict[int, list[int]] = {node: [] for node in nodes}
    for source, target in edges:
        needs[target].append(source)
    named = states or {}
    return GraphChange(
        is_snapshot=is_snapshot,
        is_exact=True,
        total=len(keys),
        limit=5000,
        added=[
            (node, key, key.split("-")[0], key.split("-")[0], needs[node])
            for node, key in zip(nodes, keys, strict=True)
        ],
        states=[(node, STATES.index(named.get(node, "waiting"))) for node in nodes],
    )


class Page:
    """A view in a real document that notes what would be sent.

    Attributes
    ----------
    plot : Plot
    events : list of DocumentChangedEvent
        What the document told since the last `look`.
    """

    def __init__(self, view: View) -> None:
        self.view = view
        self.events: list[DocumentChangedEvent] = []
        self._document = Document()
        root = view.build()
        plot = root if isinstance(root, Plot) else root.select_one({"type": Plot})
        assert isinstance(plot, Plot)
        self.plot = plot
        self._document.add_root(root)
        plot.set_from_json("outer_width", 800)
        plot.set_from_json("outer_height", 420)
        view.update()
        self._document.on_change(self.events.append)

    def tap(self, x: float, y: float) -> None:
        """Click at a point of the plane, given in data coordinates."""
        self.plot._trigger_event(Tap(self.plot, sx=0, sy=0, x=x, y=y))

    def sent(self) -> list[DocumentChangedEvent]:
        """Update the view once and return what it sent."""
        self.events.clear()
        self.view.update()
        return list(self.events)
