"""The table of workers: totals, metrics that come and go, silent workers, clicks, what is sent."""

from __future__ import annotations

from dask_diag_lab.views.view import PlotLink
from dask_diag_lab.views.workers.workers_table import WorkersTable
from tests.kernel.views.drawn import Drawn
from tests.kernel.views.situations import GIB, session_of, worker

NET = "host_net_io.read_bps"


def test_totals_count_the_traffic_of_a_host_once() -> None:
    metrics = {NET: 5e6}
    rows = [worker(i, host="h", metrics=metrics, managed=GIB) for i in range(3)]
    rows.append(worker(9, host="other", metrics={NET: 1e6}))
    view = Drawn(WorkersTable(session_of(workers=rows))).view
    assert view.table().columns["network_read"][0] == 6e6
    assert view.table().columns["memory"][0] == 3 * GIB
    assert view.caption.headline == "4 workers on 2 hosts"
    assert ("Host net in", "6.00 MB/s") in view.caption.facts


def test_worker_not_heard_of_for_a_minute_is_silent() -> None:
    rows = [worker(0, last_seen=1000.0), worker(1, last_seen=925.0)]
    data = Drawn(WorkersTable(session_of(workers=rows))).data
    assert data["status"] == ["running", "silent"]


def test_click_opens_the_page_of_the_worker() -> None:
    view = Drawn(WorkersTable(session_of(workers=[worker(0), worker(1)]))).view
    view.sortable.source.selected.indices = [1]
    assert view.plot_link == PlotLink("worker", {"worker": worker(1)["address"]})
