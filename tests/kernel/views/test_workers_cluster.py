"""Plots of workers on a real cluster: spilling, paused, transfers, metrics of the user's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from distributed import Client, LocalCluster, Worker, wait
from distributed.core import Status

import dask_diag_lab
from dask_diag_lab.session import Diagnostics
from dask_diag_lab.store import Store
from dask_diag_lab.views.stream.transfers import Transfers
from dask_diag_lab.views.workers.gpu import GpuUtilization
from dask_diag_lab.views.workers.memory import WorkersMemory
from dask_diag_lab.views.workers.over_time import CpuSeries, MemorySeries
from dask_diag_lab.views.workers.traffic import HostNetwork
from dask_diag_lab.views.workers.workers_table import WorkersTable
from tests.kernel.serving import wait_until

Columns = dict[str, Any]  # numbers and text


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """Two worker processes with 400 MiB each."""
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit="400MiB", dashboard_address=":0"
        ) as cluster,
        Client(cluster) as made,
    ):
        made.wait_for_workers(2)
        yield made


@pytest.fixture
def diagnostics(client: Client) -> Iterator[Diagnostics]:
    with dask_diag_lab.attach(client) as made:
        yield made


def seen(
    diagnostics: Diagnostics, read: Callable[[Store], Any], condition: Callable[[Any], object]
) -> Any:
    """Return what ``read`` returns of the store, once it meets the condition."""
    found: list[Any] = [None]

    def is_met() -> object:
        found[0] = diagnostics.submit(read, is_fresh=True).result(20)
        return condition(found[0])

    wait_until(is_met, "the store never showed it", 30.0)
    return found[0]


def table(store: Store) -> Columns:
    return dict(WorkersTable(store).table().columns)


def first_two(client: Client) -> tuple[str, str]:
    one, other = sorted(client.nthreads())  # asks the scheduler; `scheduler_info` may be old
    return one, other


def test_metrics_of_the_users_own_become_columns_while_they_are_reported(
    client: Client, diagnostics: Diagnostics
) -> None:
    def report(dask_worker: Worker) -> None:
        dask_worker.metrics["temperature"] = lambda _worker: 36.6

    def cease(dask_worker: Worker) -> None:
        del dask_worker.metrics["temperature"]

    client.run(report)
    found = seen(diagnostics, table, lambda t: t.get("temperature") == [None, 36.6, 36.6])
    assert found["name"][0] == "Total"
    client.run(cease)
    seen(diagnostics, table, lambda t: "temperature" not in t)


def test_gpus_that_heartbeats_tell_of_are_shown(client: Client, diagnostics: Diagnostics) -> None:
    def report(dask_worker: Worker) -> None:
        dask_worker.metrics["gpu_utilization"] = lambda _worker: 73

    client.run(report)
    found = seen(
        diagnostics,
        lambda store: GpuUtilization(store).table().columns,
        lambda columns: columns["gpu_utilization"] == [73, 73],
    )
    assert len(found["worker"]) == 2


def test_spilled_bytes_and_the_level_are_those_of_the_worker(
    client: Client, diagnostics: Diagnostics
) -> None:
    one, _ = first_two(client)
    futures = [
        client.submit(np.ones, 4 * 2**20, pure=False, workers=[one]) for _ in range(12)
    ]  # 384 MiB, of which Dask keeps 60 % of 400 MiB
    wait(futures)
    found = seen(
        diagnostics,
        lambda store: WorkersMemory(store).table().columns,
        lambda columns: max(columns["spilled"]) > 2**25,
    )
    row = found["worker"].index(one)
    assert found["spilled"][row] == max(found["spilled"])
    assert found["spilled"][1 - row] == 0
    series = diagnostics.submit(lambda store: MemorySeries(store).table().columns).result(20)
    assert max(v for v in series["spilled_high"] if v is not None) > 2**25


def test_paused_worker_is_said_to_be_and_runs_again(
    client: Client, diagnostics: Diagnostics
) -> None:
    one, _ = first_two(client)

    def become(name: str, dask_worker: Worker) -> None:
        # Else the memory manager lets it go on at its next look.
        dask_worker.memory_manager.memory_pause_fraction = False
        dask_worker.status = Status[name]

    client.run(become, "paused", workers=[one])
    found = seen(diagnostics, table, lambda t: "paused" in t["status"])
    assert found["worker"][found["status"].index("paused")] == one
    client.run(become, "running", workers=[one])
    seen(diagnostics, table, lambda t: t["status"][1:] == ["running", "running"])


def test_transfer_is_in_the_logs_of_both_workers(client: Client, diagnostics: Diagnostics) -> None:
    one, other = first_two(client)
    data = client.submit(np.ones, 2**20, pure=False, workers=[one], key="data-to-send")
    wait(client.submit(np.sum, data, pure=False, workers=[other]))

    def sent(columns: Columns) -> list[tuple[str, str, str]]:
        rows = zip(*(columns[n] for n in ("worker", "direction", "peer", "key")), strict=True)
        return [row[:3] for row in rows if row[3] == "data-to-send"]

    found = seen(
        diagnostics,
        lambda store: Transfers(store).table().columns,
        lambda columns: len(sent(columns)) == 2,
    )
    assert set(sent(found)) == {(other, "received", one), (one, "sent", other)}
    row = found["key"].index("data-to-send")
    assert found["nbytes"][row] >= 8 * 2**20
    assert found["rate"][row] > 0


def test_two_workers_of_one_host_share_a_bar(client: Client, diagnostics: Diagnostics) -> None:
    assert len(first_two(client)) == 2
    found = seen(
        diagnostics,
        lambda store: HostNetwork(store).table().columns,
        lambda columns: columns["workers"] == [2] and columns["received"] != [None],
    )
    assert len(found["host"]) == 1


def test_cpu_is_recorded_while_nobody_looks(diagnostics: Diagnostics) -> None:
    found = seen(
        diagnostics,
        lambda store: CpuSeries(store).table().columns,
        lambda columns: len(columns["time"]) >= 3,
    )
    assert all(mean is not None for mean in found["CPU_mean"])
