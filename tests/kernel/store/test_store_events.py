"""The timeline: what is noticed here, what is merged, and what stays apart."""

from __future__ import annotations

from typing import Any

import pytest

from dask_diag_lab.schema import Outcome
from dask_diag_lab.store import LiveSession
from tests.kernel.store.batches import T0, BatchMaker, worker_row

BEGAN = "recording-began"
A, B = "tcp://a:1", "tcp://b:1"
MIB = 2**20


def reported(live: LiveSession) -> list[tuple[float, str, dict[str, Any]]]:
    """Return what happened, its times counted from `T0`, but not that the recording began."""
    rows = [row for row in live.history.events.rows if row[1] != BEGAN]
    return [(at - T0, kind, dict(detail)) for at, kind, detail in rows]


def spilled(*levels: tuple[float, float]) -> list[tuple[float, str]]:
    """Return what is told of a worker with so many MiB on disk at these seconds."""
    live, maker = LiveSession(), BatchMaker()
    for second, mib in levels:
        row = worker_row(A, spilled=int(mib * MIB), last_seen=T0 + second)
        live.apply(maker.batch(workers=[row, worker_row(B)]))
    assert all(detail["worker"] == A for _, _, detail in reported(live))
    return [(at, kind) for at, kind, _ in reported(live)]


def test_what_little_there_is_on_disk_is_no_spill() -> None:
    assert spilled((0, 0), (1, 0.5), (2, 0)) == []
    assert spilled(*((second, 10_000 + second % 3) for second in range(60))) == []


def test_spilling_begins_and_ends_once_for_each_worker() -> None:
    assert spilled((0, 0), (1, 700), (2, 900), (3, 0), (4, 0)) == [
        (1, "spill-began"),
        (3, "spill-ended"),
    ]


def test_a_spill_goes_on_while_a_little_stays_on_disk() -> None:
    levels = [(0, 0), (1, 5), (2, 0.5), (3, 2), (4, 0.5), (5, 2), (6, 0)]
    assert spilled(*levels) == [(1, "spill-began"), (6, "spill-ended")]


def test_a_pause_is_told_once_also_where_the_row_of_its_worker_comes_later() -> None:
    live, maker = LiveSession(), BatchMaker()
    live.apply(maker.batch(workers=[worker_row(A)]))
    told = [(T0 + 1, "worker-paused", {"worker": A}), (T0 + 2, "worker-resumed", {"worker": A})]
    live.apply(maker.batch(workers=[worker_row(A, status="paused")], events=told))
    live.apply(maker.batch(workers=[worker_row(A)]))
    assert [kind for _, kind, _ in reported(live)] == ["worker-paused", "worker-resumed"]


def test_a_collector_that_starts_anew_tells_nothing_twice() -> None:
    live = LiveSession()
    came = (T0 - 5, "worker-added", {"worker": A, "name": "a", "nthreads": 1})
    live.apply(BatchMaker().batch(workers=[worker_row(A)], events=[came]))
    second = BatchMaker(epoch="second")
    second.time = T0 + 9
    late = (T0 + 5, "worker-added", {"worker": B, "name": "b", "nthreads": 1})
    live.apply(second.batch(workers=[worker_row(A), worker_row(B)], events=[came, late]))
    assert [(at, kind) for at, kind, _ in reported(live)] == [
        (-5, "worker-added"),
        (5, "worker-added"),
    ]


def test_errors_are_counted_by_prefix_and_a_burst_is_one_event() -> None:
    live, maker = LiveSession(), BatchMaker()
    for index in range(3):
        maker.action(index, index + 0.5, outcome=Outcome.ERRED, prefix="load")
    maker.action(0, 1, outcome=Outcome.ERRED, prefix="sum", worker=B)
    maker.action(0, 1, prefix="fine")
    maker.action(0, 1, outcome=Outcome.KILLED, prefix="killed")
    live.apply(maker.batch())
    live.apply(maker.action(3, 4, outcome=Outcome.ERRED, prefix="load", worker=B).batch())
    assert reported(live) == [
        (0.5, "task-erred", {"prefix": "load", "count": 4, "until": T0 + 4, "worker": B}),
        (1.0, "task-erred", {"prefix": "sum", "count": 1, "until": T0 + 1, "worker": B}),
    ]


@pytest.mark.parametrize(
    ("kind", "detail", "part"),
    [
        ("steal-burst", {"count": 5}, "count"),
        ("update-graph", {"client": "c", "graphs": 2, "tasks": 5}, "tasks"),
    ],
)
def test_bursts_are_merged_but_not_for_ever(kind: str, detail: dict[str, Any], part: str) -> None:
    live, maker = LiveSession(), BatchMaker()
    for second in range(25):
        live.apply(maker.batch(events=[(T0 + second, kind, detail)]))
    rows = reported(live)
    assert [at for at, _, _ in rows] == [0, 11, 22]
    assert sum(d[part] for _, _, d in rows) == 125
    assert [d["until"] - T0 for _, _, d in rows] == [10, 21, 24]
    assert live.history.events.total == 1 + 3
    assert detail.keys() <= rows[0][2].keys()
    assert "until" not in detail, "what the batch brought is left alone"
