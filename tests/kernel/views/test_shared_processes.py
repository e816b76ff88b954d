"""Workers that share a process: each tells the numbers of all of it, and totals count it once."""

from __future__ import annotations

from typing import Any

import pytest

from dask_diag_lab.server.health import health_of
from dask_diag_lab.store import Store
from dask_diag_lab.views.base import View
from dask_diag_lab.views.workers.cluster_memory import ClusterMemory
from dask_diag_lab.views.workers.cpu import Cpu
from dask_diag_lab.views.workers.worker_page import WorkerPage
from dask_diag_lab.views.workers.worker_series import CpuSeries, MemorySeries, NetworkSeries
from dask_diag_lab.views.workers.workers_memory import WorkersMemory
from dask_diag_lab.views.workers.workers_table import WorkersTable
from tests.kernel.views.situations import GIB, Page, store_of, worker

SHARED = "3 workers share one process"
NOTE = f"{SHARED}, counted once in totals: CPU and memory are those of the process"


def row(number: int, process: str, **given: Any) -> dict[str, Any]:  # rows of many types
    """Return a worker of a process with 3 GiB, of which it manages a half itself."""
    parts = {"managed": GIB // 2, "unmanaged_old": 2 * GIB, "unmanaged_recent": GIB // 2}
    metrics = {"num_fds": 40}
    return worker(number, process=process, cpu=300.0, metrics=metrics, **parts, **given)


def drawn(view: View) -> View:
    """Return a view with its picture."""
    view.build()
    view.update()
    return view


@pytest.fixture
def store() -> Store:
    """Return three workers in one process, and one in its own."""
    rows = [row(n, "inproc://host/17") for n in range(3)]
    return store_of(workers=[*rows, worker(3, managed=GIB, cpu=50.0)], nthreads=16)


@pytest.mark.parametrize("view", [WorkersTable, WorkersMemory, ClusterMemory, Cpu])
def test_plots_of_cpu_and_memory_say_which_workers_share_one(
    view: type[View], store: Store
) -> None:
    assert NOTE in drawn(view(store)).notice.note


def test_lines_over_time_are_of_processes_where_workers_share_one(store: Store) -> None:
    for view, said in ((CpuSeries, "175 % CPU"), (MemorySeries, "2.00 GiB process memory")):
        page = Page(view(store), 1200, 400)
        assert page.title.endswith(" · mean of 2 processes, band from lowest to highest")
        assert said in page.title
        assert page.view.notice.note.endswith(f"; {SHARED}, counted once")


def test_lines_over_time_are_of_workers_where_none_shares_a_process() -> None:
    view = MemorySeries(store_of(workers=[row(n, f"host/{n}", spilled=GIB) for n in range(2)]))
    title = Page(view, 1200, 400).title
    assert title.endswith("1.00 GiB spilled · mean of 2 workers, band from lowest to highest")


def test_what_the_workers_of_a_process_spilled_adds_up() -> None:
    store = store_of(workers=[row(n, "p", spilled=GIB // 2) for n in range(4)])
    said = "Memory over time: 3.00 GiB process memory, 2.00 GiB spilled"
    assert Page(MemorySeries(store), 1200, 400).title == said


@pytest.mark.parametrize("view", [WorkersTable, WorkersMemory, ClusterMemory, Cpu, MemorySeries])
def test_workers_with_a_process_each_are_not_worth_a_word(view: type[View]) -> None:
    # A worker that nobody watches over tells its number also where it is alone.
    store = store_of(workers=[row(n, f"host/{n}") for n in range(3)])
    assert "process" not in drawn(view(store)).notice.note


def test_traffic_of_hosts_needs_no_word_of_processes(store: Store) -> None:
    assert "process" not in drawn(NetworkSeries(store)).notice.note


def test_titles_count_the_process_once(store: Store) -> None:
    assert Page(Cpu(store), 700, 400).title == "CPU: 350 % of 1600 % · 22 % in use"
    assert Page(WorkersMemory(store), 700, 400).title == "Process memory: 4.00 GiB · 4 workers"
    view = ClusterMemory(store)
    page = Page(view, 700, 400)
    assert page.title == "Process memory: 4.00 GiB · 50 % of 8.00 GiB"
    edges = [float(view.bars.model.data[f"edge{i}"][0]) / GIB for i in range(3)]
    assert edges == [2.5, 3.5, 4.0]  # what one manages is not unmanaged for the others


def test_limit_of_a_process_is_the_lowest_of_its_workers() -> None:
    rows = [row(n, "inproc://host/17", memory_limit=(n + 1) * 4 * GIB) for n in range(3)]
    store = store_of(workers=rows, nthreads=3)
    assert (
        Page(ClusterMemory(store), 700, 400).title == "Process memory: 3.00 GiB · 75 % of 4.00 GiB"
    )
    assert WorkersTable(store).table().columns["memory_limit"][0] == 4 * GIB


def test_sidebar_counts_the_process_once(store: Store) -> None:
    store.set_feed_state("live", "", 0.0)
    health = health_of(store)
    assert (health["memory"], health["memory_limit"]) == (4 * GIB, 8 * GIB)


def test_sidebar_has_the_limit_of_cluster_memory() -> None:
    rows = [row(n, "inproc://host/17", memory_limit=(n + 1) * 4 * GIB) for n in range(3)]
    for own, limit in ((2 * GIB, 6 * GIB), (0, 0)):
        store = store_of(workers=[*rows, worker(3, memory_limit=own)], nthreads=4)
        store.set_feed_state("live", "", 0.0)
        assert health_of(store)["memory_limit"] == limit
        said = Page(ClusterMemory(store), 700, 400).title
        assert said.endswith(" of 6.00 GiB") == (limit > 0)


def test_total_row_counts_the_process_once(store: Store) -> None:
    columns = WorkersTable(store).table().columns
    total = {name: columns[name][0] for name in ("cpu", "memory", "managed", "fds", "nthreads")}
    assert total == {
        "cpu": 350.0,
        "memory": 4 * GIB,
        "managed": 5 * GIB // 2,
        "fds": 40.0,
        "nthreads": 16,
    }
    assert columns["memory"][1:4] == [3 * GIB] * 3


def test_page_of_a_worker_says_that_it_is_not_alone(store: Store) -> None:
    found = {}
    for number in (0, 3):
        page = WorkerPage(store, arguments={"worker": f"tcp://10.0.0.{number}:4000"})
        drawn(page)
        found[number] = dict(page.facts())["Process"]
    assert found == {0: "shared with 2 other workers: CPU and memory are those of all", 3: ""}
