"""Data and work that move from worker to worker: transfers, a P2P shuffle, work stealing."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import dask.array as da
import numpy as np
import numpy.typing as npt
import pytest
from distributed import Event, Scheduler, Worker, wait

from tests.kernel.situations_real.clusters import OVER_TCP, Cluster, cluster, near, sums

MIB = 2**20
SIZE = 24 * MIB
CONFIG = {
    # Else copies are dropped again as soon as nobody needs them.
    "distributed.scheduler.active-memory-manager.start": False,
    # Small chunks, else Dask makes one of all first, and there is nothing to shuffle.
    "array.rechunk.method": "p2p",
    "array.chunk-size": "4MiB",
    "dataframe.shuffle.method": "p2p",
}
SHUFFLED = 7 * 250 * 2000 * 8
FIELDS = {
    "comm_written": ("comm", "written"),
    "comm_read": ("comm", "read"),
    "disk_written": ("disk", "written"),
    "disk_read": ("disk", "read"),
}
GATE = "the last block may come"


@pytest.fixture(scope="module")
def moved() -> Iterator[Cluster]:
    """Three arrays of 24 MiB went from the first worker to the second, one to the third."""
    with cluster(CONFIG, n_workers=3, threads_per_worker=2, **OVER_TCP) as found:
        one, two, three = found.addresses
        parts = [
            found.client.submit(np.ones, SIZE // 8, workers=[one], key=f"part-{i}")
            for i in range(3)
        ]
        wait(parts)
        used = [
            found.client.submit(np.sum, part, workers=[two], key=f"used-{i}")
            for i, part in enumerate(parts)
        ]
        wait(used)
        last = found.client.submit(np.sum, parts[0], workers=[three], key="used-3")
        wait(last)
        found.held = [*parts, *used, last]
        yield found


def test_transfers_are_the_entries_of_the_workers_logs(moved: Cluster) -> None:
    def read(dask_worker: Worker) -> list[tuple[str, str, int]]:
        logs = {
            "received": dask_worker.transfer_incoming_log,
            "sent": dask_worker.transfer_outgoing_log,
        }
        return [(way, e["who"], int(e["total"])) for way, log in logs.items() for e in log]

    logs = moved.client.run(read)
    _, two, three = moved.addresses
    rows = moved.until(
        lambda: moved.rows("transfers"),
        lambda rows: (
            sorted((r["worker"], r["direction"], r["peer"], int(r["nbytes"])) for r in rows)
            == sorted((worker, *entry) for worker, log in logs.items() for entry in log)
        ),
    )
    received = sums([r for r in rows if r["direction"] == "received"], "worker", "nbytes")
    assert near(0.001)(received, {two: 3.0 * SIZE, three: 1.0 * SIZE})


def test_bandwidth_of_each_pair_and_type_is_the_schedulers(moved: Cluster) -> None:
    one, two, _ = moved.addresses
    moved.measure_bandwidth(one, two)
    moved.agree(
        lambda: {
            (row["destination"], row["source"]): row["rate"]
            for row in moved.rows("bandwidth-workers")
        },
        lambda scheduler: dict(scheduler.bandwidth_workers),
        lambda theirs: (two, one) in theirs,
        near(1e-9),
    )
    moved.agree(
        lambda: moved.by("type", "bandwidth-types", "rate"),
        lambda scheduler: dict(scheduler.bandwidth_types),
        lambda theirs: "numpy.ndarray" in theirs,
        near(1e-9),
    )


# --- a P2P shuffle


def make(block_info: Any = None) -> npt.NDArray[np.float64]:  # what dask knows of a block
    """Return a block; the last one comes when the gate opens, so the shuffle goes on till then."""
    about = block_info[None]
    if about["chunk-location"][0] == 7:
        Event(GATE).wait(300)
    return np.ones(about["chunk-shape"])


@pytest.fixture(scope="module")
def shuffling(moved: Cluster) -> Iterator[Cluster]:
    """Rows of an array of 32 MB become columns, as soon as its last block is there."""
    array = da.map_blocks(make, chunks=((250,) * 8, (2000,)), dtype=float)
    array = array.rechunk((2000, 250)).persist()
    yield moved
    Event(GATE, moved.client).set()
    wait(array)


def heartbeats(scheduler: Scheduler) -> dict[str, tuple[float, ...]]:
    """Return the numbers of each worker in `distributed`'s heartbeats."""
    plugin: Any = scheduler.plugins["shuffle"]  # has no types
    return {
        address: tuple(float(beat[buffer].get(field, 0)) for buffer, field in FIELDS.values())
        for workers in plugin.heartbeats.values()
        for address, beat in workers.items()
    }


def test_a_shuffle_has_the_numbers_of_each_worker(shuffling: Cluster) -> None:
    def is_moved(theirs: dict[str, tuple[float, ...]]) -> bool:
        """Tell whether all that is there was sent and received: seven blocks of 4 MB."""
        sent, received = (sum(numbers[i] for numbers in theirs.values()) for i in (0, 1))
        return sent >= SHUFFLED and received >= sent

    numbers = shuffling.agree(
        lambda: shuffling.by("worker", "shuffle", *FIELDS), heartbeats, is_moved
    )
    assert set(numbers) <= set(shuffling.addresses)
    sent, received = (sum(row[i] for row in numbers.values()) for i in (0, 1))
    assert sent == pytest.approx(SHUFFLED, rel=0.01)
    assert received == pytest.approx(sent, rel=0.001)  # with the frames' own few bytes


def test_transfers_name_what_a_shuffle_moves_which_no_log_has(shuffling: Cluster) -> None:
    note = shuffling.until(lambda: shuffling.caption("transfers").note, lambda note: "P2P" in note)
    assert "see Shuffle" in note


def test_the_last_report_of_a_shuffle_that_has_ended_stays(shuffling: Cluster) -> None:
    Event(GATE, shuffling.client).set()
    # `distributed` has forgotten it by then; seven blocks of eight were moved before that.
    shuffling.agree(
        lambda: sum(shuffling.table("shuffle")["comm_written"]) >= 0.99 * SHUFFLED,
        lambda scheduler: not heartbeats(scheduler),
    )


# --- work stealing


def chew(x: int) -> int:
    time.sleep(0.1)
    return x


@pytest.fixture(scope="module")
def stolen() -> Iterator[Cluster]:
    """Forty tasks for the first worker, which the second may take."""
    config = {
        "distributed.scheduler.work-stealing-interval": "50ms",
        "distributed.scheduler.default-task-durations": {"chew": "100ms"},
    }
    with cluster(config, n_workers=2, threads_per_worker=1) as found:
        first = found.addresses[:1]
        wait(found.client.map(chew, range(40), workers=first, allow_other_workers=True))
        yield found


def test_decisions_of_work_stealing_are_the_schedulers(stolen: Cluster) -> None:
    def decisions(scheduler: Scheduler) -> Counter[str]:
        found: Counter[str] = Counter()
        for _, (event, *parts) in scheduler.get_events("stealing"):
            name = "confirmed" if event == "confirm" else event
            found[name] += len(parts[0]) if event == "request" else 1
        return found

    shown = stolen.agree(
        lambda: Counter(stolen.table("stealing")["event"]),
        decisions,
        lambda theirs: theirs["confirmed"] > 2,
    )
    one, other = stolen.addresses
    first = next(row for row in stolen.rows("stealing") if row["event"] == "request")
    assert (first["victim"], first["thief"]) == (one, other)
    # A burst of moves is an event that counts them.
    stolen.becomes(
        lambda: sum(row["count"] for row in stolen.events("steal-burst")), shown["confirmed"]
    )
