"""Workers: their load, what they report, how they come and go; and the scheduler's own process."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from dask.utils_test import inc
from distributed import Client, Scheduler, Worker, wait

from dask_diag_lab.collector.on_demand import MOST_BPS
from tests.kernel.situations_real.clusters import Cluster, cluster, near

GATE = threading.Event()
WRITTEN_S = 10.0
"""distributed and we each take the time when we write: a busy machine does other things between."""


def hold(x: int) -> int:
    """Run until the gate opens: the workers are threads of this process."""
    GATE.wait(300)
    return x


@pytest.fixture(scope="module")
def loaded() -> Iterator[Cluster]:
    """Three workers: one with far more than it can do, one with a little, one with nothing."""
    GATE.clear()
    config = {
        "distributed.scheduler.work-stealing": False,
        "distributed.scheduler.default-task-durations": {"hold": "2s"},
    }
    with cluster(config, n_workers=3, threads_per_worker=2) as found:
        one, two, _ = found.addresses
        found.held = found.client.map(hold, range(40), workers=[one], pure=False)
        found.held += found.client.map(hold, range(2), workers=[two], pure=False)
        try:
            yield found
        finally:
            GATE.set()
            found.client.gather(found.held)


def test_processing_counts_and_load_are_those_of_the_scheduler(loaded: Cluster) -> None:
    def loads(scheduler: Scheduler) -> dict[str, tuple[int, int, str]]:
        found = {}
        for ws in scheduler.workers.values():
            load = "saturated" if ws in scheduler.saturated else "normal"
            load = "idle" if ws.address in scheduler.idle else load
            found[ws.address] = (len(ws.processing), len(ws.executing), load)
        return found

    shown = loaded.agree(
        lambda: loaded.by("worker", "nprocessing", "processing", "executing", "load"),
        loads,
        lambda theirs: sum(running for _, running, _ in theirs.values()) == 4,
    )
    one, two, three = (shown[address] for address in loaded.addresses)
    assert one == (40, 2, "saturated")
    assert two[:2] == (2, 2)
    assert three == (0, 0, "idle")


def test_occupancy_is_the_schedulers_in_seconds(loaded: Cluster) -> None:
    shown = loaded.agree(
        lambda: loaded.by("worker", "occupancy", "occupancy"),
        lambda scheduler: {ws.address: ws.occupancy for ws in scheduler.workers.values()},
        lambda theirs: theirs[loaded.addresses[0]] == pytest.approx(80.0),  # forty tasks of 2 s
        near(1e-6),
    )
    assert shown[loaded.addresses[2]] == 0


def test_running_tasks_are_in_the_stream_before_they_end(loaded: Cluster) -> None:
    loaded.agree(
        lambda: sorted(row["key"] for row in loaded.computed(outcome="running")),
        lambda scheduler: sorted(
            str(ts.key) for ws in scheduler.workers.values() for ts in ws.executing
        ),
        lambda theirs: len(theirs) == 4,
    )


def test_the_page_of_a_worker_lists_what_runs_and_what_waits(loaded: Cluster) -> None:
    def states() -> list[str]:
        return sorted(row["state"] for row in loaded.rows("worker", worker=loaded.addresses[0]))

    loaded.becomes(states, ["executing"] * 2 + ["ready"] * 38)


def test_the_call_stack_of_a_running_task_has_its_function(loaded: Cluster) -> None:
    (key, *_) = loaded.until(
        lambda: [row["key"] for row in loaded.computed(outcome="running")], bool
    )
    loaded.until(
        lambda: loaded.table("task", key=key, show="call-stack")["call-stack"],
        lambda lines: any("hold" in line for line in lines),
    )


# --- what workers report, and what they do


@pytest.fixture(scope="module")
def reporting() -> Iterator[Cluster]:
    """Two workers; a third came and was retired again; ten tasks; a second client."""
    config = {"distributed.worker.profile.cycle": "100ms"}
    with cluster(config, n_workers=2, threads_per_worker=1) as found:
        local: Any = found.client.cluster  # has no types
        local.scale(3)
        found.client.wait_for_workers(3)
        wait(found.client.map(inc, range(10)))
        with Client(local.scheduler_address, set_as_default=False):
            pass
        found.client.retire_workers([found.addresses[2]])
        yield found


def by_worker(
    number: Callable[[Any], Any],  # of a `WorkerState`
) -> Callable[[Scheduler], dict[str, Any]]:
    """Return a question for a number of each worker."""
    return lambda scheduler: {ws.address: number(ws) for ws in scheduler.workers.values()}


# Of the CPU, memory and files of a process each of its workers has an equal part.
NUMBERS: dict[str, tuple[tuple[str, ...], Callable[[Any], Any]]] = {
    "cpu": (("cpu",), lambda ws: ws.metrics["cpu"] / 2),
    "workers-transfer-bytes": (
        ("incoming_bytes", "outgoing_bytes"),
        lambda ws: (
            ws.metrics["transfer"]["incoming_bytes"],
            ws.metrics["transfer"]["outgoing_bytes"],
        ),
    ),
}


@pytest.mark.parametrize("plot", NUMBERS)
def test_numbers_of_workers_are_those_of_their_heartbeats(reporting: Cluster, plot: str) -> None:
    columns, number = NUMBERS[plot]
    shown = reporting.agree(lambda: reporting.by("worker", plot, *columns), by_worker(number))
    assert set(shown) == set(reporting.addresses)


def test_the_table_of_workers_has_their_facts_and_heartbeats(reporting: Cluster) -> None:
    facts = ("name", "nthreads", "memory_limit", "host")
    rates = ("network_read", "network_write", "disk_read", "disk_write", "fds", "event_loop")

    def shown() -> dict[str, Any]:
        rows = reporting.by("worker", "workers", *facts, *rates)
        del rows[None]  # the sums
        return rows

    reporting.agree(
        shown,
        by_worker(
            lambda ws: (
                *(str(ws.name), ws.nthreads, ws.memory_limit // 2, ws.host),
                *(ws.metrics["host_net_io"][rate] for rate in ("read_bps", "write_bps")),
                *(ws.metrics["host_disk_io"][rate] for rate in ("read_bps", "write_bps")),
                *(ws.metrics["num_fds"] / 2, ws.metrics["event_loop_interval"]),
            )
        ),
    )


def test_a_metric_of_ones_own_is_a_column_from_its_first_report_on(reporting: Cluster) -> None:
    one, other = reporting.addresses

    def report(dask_worker: Worker) -> None:
        dask_worker.metrics["temperature"] = lambda _worker: 36.6

    assert "temperature" not in reporting.table("workers")
    reporting.client.run(report, workers=[one])
    reporting.until(lambda: reporting.table("workers"), lambda columns: "temperature" in columns)
    reporting.until(
        lambda: reporting.by("worker", "workers", "temperature"),
        lambda shown: (shown[one], shown[other]) == (36.6, None),
    )


def times(found: Cluster, action: str, topic: str = "all") -> list[float]:
    """Return when `distributed` logged something to have happened."""

    def logged(scheduler: Scheduler) -> list[float]:
        events = scheduler.get_events(topic)
        return [float(at) for at, e in events if isinstance(e, dict) and e.get("action") == action]

    return found.ask(logged)


def test_a_retired_worker_leaves_when_the_scheduler_says(reporting: Cluster) -> None:
    (left,) = reporting.until(lambda: reporting.events("worker-removed"), bool)
    assert left["time"] == pytest.approx(times(reporting, "remove-worker")[-1], abs=WRITTEN_S)
    assert "worker 2 left" in left["event"]
    assert "it was retired" in left["event"]
    assert not reporting.events("worker-killed")


def test_graphs_are_counted_with_their_tasks(reporting: Cluster) -> None:
    graphs = len(times(reporting, "update-graph", reporting.client.id))
    rows = reporting.until(
        lambda: reporting.events("update-graph"),
        lambda rows: sum(row["count"] for row in rows) == graphs,
    )
    assert any("10 new tasks" in row["event"] for row in rows)


def test_no_event_ends_before_it_begins(reporting: Cluster) -> None:
    rows = reporting.until(lambda: reporting.rows("events"), bool)
    assert all(row["until"] >= row["time"] for row in rows)


# --- the scheduler's own process


def test_samples_are_those_of_the_schedulers_monitor(reporting: Cluster) -> None:
    def samples(scheduler: Scheduler) -> dict[float, tuple[float | None, ...]]:
        names = ("cpu", "memory", "host_net_io.read_bps", "host_net_io.write_bps", "num_fds")
        columns = [list(scheduler.monitor.quantities[name]) for name in ("time", *names)]
        # Of two samples at one moment, as a busy machine takes them, the rate is none.
        each = ([None if n > MOST_BPS else n for n in row] for row in zip(*columns, strict=True))
        return {time or 0.0: tuple(rest) for time, *rest in each}

    n_before = len(reporting.ask(samples))
    reporting.agree(
        lambda: reporting.by(
            "time", "scheduler-system", "cpu", "memory", "read_bps", "write_bps", "fds"
        ),
        samples,
        is_same=lambda ours, theirs: len(ours) > n_before and ours.items() <= theirs.items(),
    )


def test_intervals_of_event_loops_are_those_of_heartbeats(reporting: Cluster) -> None:
    def of_workers() -> dict[str, float]:
        found: dict[str, float] = reporting.by("name", "contention", "event_loop_interval")
        del found["Scheduler"]
        return found

    reporting.agree(
        of_workers,
        lambda scheduler: {
            str(ws.name): ws.metrics["event_loop_interval"] for ws in scheduler.workers.values()
        },
    )


def test_counters_are_those_of_the_scheduler(reporting: Cluster) -> None:
    reporting.agree(
        lambda: reporting.by("name", "counters", "value")["transitions"],
        lambda scheduler: float(scheduler.transition_counter),
    )


def test_the_profile_of_event_loops_has_samples_or_says_why_there_are_none(
    reporting: Cluster,
) -> None:
    if sys.version_info[:2] == (3, 11):
        assert not reporting.table("profile-server")["samples"]
        empty = reporting.caption("profile-server").empty
        assert "Dask does not sample" in empty
        assert "3.11" in empty
    else:
        reporting.until(lambda: reporting.table("profile-server")["samples"], bool)
