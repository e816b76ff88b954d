"""What is missing, was sent before, or came from before: told, taken once, dated."""

from __future__ import annotations

import pytest

from dask_diag_lab.store import History
from dask_diag_lab.store.strings import OTHER, StringTable
from tests.kernel.store.batches import T0, BatchMaker, worker_row

A, B = "tcp://a:1", "tcp://b:1"


@pytest.mark.parametrize(
    ("epoch", "scheduler", "began", "gaps"),
    [
        ("2", "Scheduler-1", T0 + 70, [(T0 + 10, T0 + 70)]),
        ("2", "Scheduler-1", T0 + 5, []),  # history reaches back
        ("2", "Scheduler-1", 0.0, []),  # not known
        ("2", "Scheduler-2", T0 + 70, []),  # another cluster had nothing to record
        ("epoch-1", "Scheduler-1", T0 + 70, []),
    ],
)
def test_a_gap_is_between_two_collectors_of_one_scheduler(
    epoch: str, scheduler: str, began: float, gaps: list[tuple[float, float]]
) -> None:
    history, maker = History(), BatchMaker()
    maker.time = T0 + 10
    history.apply(maker.batch(began=T0))
    after = BatchMaker(epoch=epoch, scheduler=scheduler)
    after.time = T0 + 80
    history.apply(after.batch(began=began))
    assert list(history.gaps) == gaps
    kinds = [kind for _, kind, _ in history.events.rows]
    assert [kind for kind in kinds if kind != "recording-began"] == ["not-recorded"] * len(gaps)


def test_a_worker_is_there_since_it_was_reported_or_worked() -> None:
    history, maker = History(), BatchMaker()
    history.apply(maker.action(-5, 1, worker=A).batch(workers=[worker_row(A), worker_row(B)]))
    assert history.slots.joined.tolist() == [T0 - 5, T0 - 5, T0, T0]
    maker.time += 30
    history.apply(maker.batch(workers=[worker_row("tcp://c:1"), worker_row(B, nthreads=3)]))
    assert history.slots.joined[4:].tolist() == [T0, T0 + 30, T0 + 30]
    version = history.slots.version
    history.apply(maker.action(20, 31, worker="tcp://c:1").batch())
    assert history.slots.joined[-1] == T0 + 20
    assert history.slots.version > version


def test_names_without_end_become_one() -> None:
    strings = StringTable(limit=10)
    ids = [strings.intern(f"name-{i}") for i in range(30)]
    assert strings.take(ids[8:11]) == ["name-8", OTHER, OTHER]


def test_what_ended_before_recording_is_that_of_the_first_collector() -> None:
    history = History()
    history.apply(BatchMaker(epoch="1").batch(left_out={"before": 3}))
    assert history.left_out == {"before": 3}
    for reported in ({"before": 70}, {}):  # another one, and none at all
        history.apply(BatchMaker(epoch=f"2 {reported}").batch(left_out=reported))
        assert history.left_out == {"before": 3}
