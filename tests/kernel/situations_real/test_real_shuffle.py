"""A P2P rechunk between two workers: while it is under way, and after."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import dask.array as da
import numpy as np
import numpy.typing as npt
import pytest
from distributed import Event, Scheduler, wait

from tests.kernel.situations_real.reading import Situation, situation

# Small chunks, else Dask makes one of all first, and there is nothing to shuffle.
CONFIG = {"array.rechunk.method": "p2p", "array.chunk-size": "4MiB"}
FIELDS = {
    "comm_total": ("comm", "total"),
    "comm_written": ("comm", "written"),
    "comm_read": ("comm", "read"),
    "disk_total": ("disk", "total"),
    "disk_written": ("disk", "written"),
    "disk_read": ("disk", "read"),
}
SENT = 7 * 250 * 2000 * 8
GATE = "the last block may come"
Block = npt.NDArray[np.float64]


def make(block_info: Any = None) -> Block:  # what dask tells of a block
    """Return a block; the last one comes when the gate opens, so the shuffle goes on till then."""
    about = block_info[None]
    if about["chunk-location"][0] == 7:
        Event(GATE).wait(300)
    return np.ones(about["chunk-shape"])


@pytest.fixture(scope="module")
def shuffling() -> Iterator[tuple[Situation, Any]]:
    """An array of 32 MB whose rows become columns, as soon as its last block is there."""
    with situation(CONFIG, processes=True, n_workers=2, threads_per_worker=2) as found:
        array = da.map_blocks(make, chunks=((250,) * 8, (2000,)), dtype=float)
        array = array.rechunk((2000, 250)).persist()
        yield found, array


def beats(scheduler: Scheduler) -> dict[str, tuple[float, ...]]:
    """Return the numbers of each worker in the engine's heartbeats."""
    plugin: Any = scheduler.plugins["shuffle"]  # has no types
    return {
        address: tuple(float(beat[buffer].get(field, 0)) for buffer, field in FIELDS.values())
        for workers in plugin.heartbeats.values()
        for address, beat in workers.items()
    }


def is_moved(theirs: dict[str, tuple[float, ...]]) -> bool:
    """Tell whether all that is there has been sent and received: seven blocks of 4 MB."""
    sent, received = (sum(numbers[i] for numbers in theirs.values()) for i in (1, 2))
    return sent >= SENT and received >= sent


def test_numbers_of_each_worker_are_the_engines_and_sent_is_received(
    shuffling: tuple[Situation, Any],
) -> None:
    found, _ = shuffling
    told = found.agree(lambda: found.by("worker", "shuffle", *FIELDS), beats, is_moved)
    assert set(told) == set(found.addresses)
    sent, received = (sum(numbers[i] for numbers in told.values()) for i in (1, 2))
    assert sent == pytest.approx(SENT, rel=0.01)
    assert received == pytest.approx(sent, rel=0.001)  # with the frames' own few bytes
    assert len(set(found.table("shuffle")["id"])) == 1


def test_the_last_report_of_a_shuffle_that_has_ended_stays(
    shuffling: tuple[Situation, Any],
) -> None:
    found, array = shuffling
    Event(GATE, found.client).set()
    wait(array)
    # The engine has forgotten it by now; seven blocks of eight were moved before that.
    found.agree(
        lambda: sum(found.table("shuffle")["comm_written"]) >= 0.99 * SENT,
        lambda scheduler: not beats(scheduler),
        bool,
    )


def test_its_sums_stay_in_the_fine_metrics(shuffling: tuple[Situation, Any]) -> None:
    found, _ = shuffling

    def engine(scheduler: Scheduler) -> float:
        totals = scheduler.cumulative_worker_metrics.items()
        return float(
            sum(v for k, v in totals if isinstance(k, tuple) and k[0] == "p2p" and k[-1] == "bytes")
        )

    found.agree(
        lambda: float(
            sum(
                row["value"]
                for row in found.rows("fine-performance-metrics")
                if (row["context"], row["unit"]) == ("p2p", "bytes")
            )
        ),
        engine,
        is_same=lambda ours, theirs: ours == pytest.approx(theirs),
    )
