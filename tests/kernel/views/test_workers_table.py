"""The table of workers: totals, metrics that come and go, silent workers, clicks, what is sent."""

from __future__ import annotations

from typing import Any

from bokeh.document import Document
from bokeh.document.events import DocumentChangedEvent

from dask_diag_lab.store import LiveSession
from dask_diag_lab.views.look import LIGHT, data_colors
from dask_diag_lab.views.tables import COLOR_FIELD
from dask_diag_lab.views.workers.workers_table import WorkersTable
from tests.kernel.views.situations import GIB, session_of, worker

NET = "host_net_io.read_bps"


def opened(live: LiveSession) -> tuple[WorkersTable, list[DocumentChangedEvent]]:
    """Return the table in a document, and what it sends from now on."""
    view = WorkersTable(live)
    document, events = Document(), list[DocumentChangedEvent]()
    document.add_root(view.build())
    view.update()
    document.on_change(events.append)
    return view, events


def cells(view: WorkersTable, name: str) -> list[Any]:
    """Return a column as the page has it."""
    return list(view.sortable.source.data[name])


def test_totals_count_the_traffic_of_a_host_once() -> None:
    metrics = {NET: 5e6}
    rows = [worker(i, host="h", metrics=metrics, managed=GIB) for i in range(3)]
    rows.append(worker(9, host="other", metrics={NET: 1e6}))
    view, _ = opened(session_of(workers=rows))
    assert view.table().columns["network_read"][0] == 6e6
    assert view.table().columns["memory"][0] == 3 * GIB
    assert view.caption.headline == "4 workers on 2 hosts"
    assert ("Host net in", "6.00 MB/s") in view.caption.facts


def test_worker_not_heard_of_for_a_minute_is_marked_by_colour_and_words() -> None:
    rows = [worker(0, last_seen=1000.0), worker(1, last_seen=925.0)]
    view, _ = opened(session_of(workers=rows))
    assert cells(view, "status") == ["running", "silent"]
    mark = data_colors(LIGHT).memory_over
    assert [color == mark for color in cells(view, COLOR_FIELD)] == [False, True]


def test_click_opens_the_page_of_the_worker() -> None:
    view, _ = opened(session_of(workers=[worker(0), worker(1)]))
    view.sortable.source.selected.indices = [1]
    assert view.opening is not None
    assert (view.opening.plot, view.opening.arguments) == (
        "worker",
        {"worker": worker(1)["address"]},
    )
