"""Workers that join, retire and leave, clients and graphs: what the timeline says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from distributed import Client, LocalCluster, Scheduler, wait

from tests.kernel.situations_real.reading import Situation, situation


def inc(x: int) -> int:
    return x + 1


@pytest.fixture(scope="module")
def changing() -> Iterator[Situation]:
    """One worker; a second one came and was retired again; ten tasks; a second client."""
    with situation(n_workers=1, threads_per_worker=2) as found:
        cluster: Any = found.client.cluster
        assert isinstance(cluster, LocalCluster)
        cluster.scale(2)
        found.client.wait_for_workers(2)
        wait(found.client.map(inc, range(10)))
        with Client(cluster.scheduler_address, set_as_default=False):
            pass
        found.client.retire_workers([found.addresses[1]])
        yield found


WRITTEN_S = 0.5
"""The engine and we each take the time when we write: a busy machine does other things between."""


def told(found: Situation, kind: str) -> list[dict[str, Any]]:
    """Return the events of a kind."""
    return [row for row in found.rows("events") if row["kind"] == kind]


def times(found: Situation, action: str, topic: str = "all") -> list[float]:
    """Return when the engine logged something to have happened."""

    def ask(scheduler: Scheduler) -> list[float]:
        events = scheduler.get_events(topic)
        return [float(at) for at, e in events if isinstance(e, dict) and e.get("action") == action]

    return found.engine(ask)


def test_the_worker_that_came_did_so_at_the_engines_time(changing: Situation) -> None:
    rows = changing.seen(lambda: told(changing, "worker-added"), bool)
    assert rows[-1]["time"] == pytest.approx(times(changing, "add-worker")[-1], abs=WRITTEN_S)
    assert rows[-1]["event"] == "worker 1 came with 2 threads"


def test_the_worker_that_was_retired_left_at_the_engines_time(changing: Situation) -> None:
    (row,) = changing.seen(lambda: told(changing, "worker-removed"), bool)
    assert row["time"] == pytest.approx(times(changing, "remove-worker")[-1], abs=WRITTEN_S)
    assert "worker 1 left" in row["event"]
    assert "it was retired" in row["event"]
    assert not told(changing, "worker-killed")


def test_graphs_are_counted_with_their_tasks(changing: Situation) -> None:
    def counted() -> tuple[int, bool]:
        rows = told(changing, "update-graph")
        return sum(row["count"] for row in rows), any(
            "10 new tasks" in row["event"] for row in rows
        )

    graphs = len(times(changing, "update-graph", changing.client.id))
    assert changing.seen(counted, (graphs, True).__eq__) == (graphs, True)


def test_no_event_ends_before_it_begins(changing: Situation) -> None:
    rows = changing.seen(lambda: changing.rows("events"), bool)
    assert all(row["until"] >= row["time"] for row in rows)


def test_a_client_comes_and_goes(changing: Situation) -> None:
    (row,) = changing.seen(lambda: told(changing, "client-removed"), bool)
    # The engine logs it twice.
    assert row["time"] == pytest.approx(times(changing, "remove-client")[0], abs=WRITTEN_S)
    came = [row["time"] for row in told(changing, "client-added")]
    # The first one before there was a collector.
    assert came == pytest.approx(times(changing, "add-client"), abs=WRITTEN_S)


def test_plots_of_workers_have_those_that_are_there(changing: Situation) -> None:
    for plot in ("workers-memory", "nprocessing", "occupancy", "cpu", "workers-transfer-bytes"):
        rows = changing.agree(
            lambda: changing.table(plot)["worker"],  # noqa: B023 - called at once
            lambda scheduler: list(scheduler.workers),
        )
        assert len(rows) == 1


def test_threads_and_limits_are_the_engines(changing: Situation) -> None:
    changing.agree(
        lambda: changing.by("worker", "workers", "name", "nthreads", "memory_limit", "host"),
        lambda scheduler: {
            None: (
                "Total",
                sum(ws.nthreads for ws in scheduler.workers.values()),
                sum(ws.memory_limit for ws in scheduler.workers.values()),
                None,
            ),
            **{
                ws.address: (str(ws.name), ws.nthreads, ws.memory_limit, ws.host)
                for ws in scheduler.workers.values()
            },
        },
    )


def test_heartbeat_numbers_are_the_engines(changing: Situation) -> None:
    parts = ("network_read", "network_write", "disk_read", "disk_write", "fds", "event_loop")

    def engine(scheduler: Scheduler) -> dict[str, tuple[float, ...]]:
        return {
            ws.address: (
                ws.metrics["host_net_io"]["read_bps"],
                ws.metrics["host_net_io"]["write_bps"],
                ws.metrics["host_disk_io"]["read_bps"],
                ws.metrics["host_disk_io"]["write_bps"],
                ws.metrics["num_fds"],
                ws.metrics["event_loop_interval"],
            )
            for ws in scheduler.workers.values()
        }

    def ours() -> dict[str, tuple[float, ...]]:
        rows: dict[str, tuple[float, ...]] = changing.by("worker", "workers", *parts)
        return {address: row for address, row in rows.items() if address}

    changing.agree(ours, engine)


def test_cpu_is_the_engines(changing: Situation) -> None:
    changing.agree(
        lambda: changing.by("worker", "cpu", "cpu"),
        lambda scheduler: {ws.address: ws.metrics["cpu"] for ws in scheduler.workers.values()},
    )
