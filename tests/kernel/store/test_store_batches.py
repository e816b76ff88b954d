"""Batches as a whole: epochs, clocks, and what is refused."""

from __future__ import annotations

import pytest

from dask_diag_lab.schema import Batch, Kind
from dask_diag_lab.store import LiveSession
from tests.kernel.store.batches import (
    T0,
    BatchMaker,
    graph_change,
    group_row,
    prefix_row,
    worker_row,
)

A, B = "tcp://a:1", "tcp://b:1"


def keys_of(live: LiveSession) -> list[str]:
    return [
        live.history.actions.key(task) for task in live.history.actions.since(0)[1]["task"].tolist()
    ]


def full_batch(maker: BatchMaker) -> Batch:
    return maker.batch(
        workers=[worker_row(A)],
        running=[("inc-9", A, "inc", 5.0)],
        prefixes=[prefix_row("inc", memory=1)],
        groups=[group_row("inc-1", "inc")],
        graph=graph_change(total=1, added=[("inc-1", "inc", ())]),
        nthreads=[(T0, 2)],
        events=[(T0, "worker-added", {})],
    )


def test_new_epoch_keeps_history_and_starts_live_tables_anew() -> None:
    live, maker = LiveSession(), BatchMaker()
    live.apply(full_batch(maker.action(0, 1, worker=A, prefix="inc", key="old")))
    maker = BatchMaker(epoch="epoch-2", scheduler="Scheduler-2")
    maker.time += 100
    maker.string("something that shifts all ids")
    maker.action(100, 101, worker=B, prefix="dec", key="new").action(
        101, 102, worker=B, prefix="inc", key="newer", kind=Kind.TRANSFER, source=A
    )
    live.apply(maker.batch(workers=[worker_row(B)]))
    assert keys_of(live) == ["old", "new", "newer"]
    _, rows = live.history.actions.since(0)
    assert live.history.strings.take(rows["prefix"].tolist()) == ["inc", "dec", "inc"]
    assert live.history.strings.take(rows["worker"].tolist()) == [A, B, B]
    assert live.history.strings.take(rows["source"].tolist()) == ["", "", A]
    assert live.history.prefix_index.names == ["inc", "dec"]
    assert live.history.workers.address == [B]
    assert live.history.slots.is_alive.tolist() == [False, False, True, True]
    history = live.history
    assert (len(history.prefixes), len(history.groups), len(history.graph.nodes)) == (0, 0, 0)
    assert history.running.count == 0
    assert live.history.graph.is_exact
    kinds = [kind for _, kind, _ in live.history.events.rows]
    assert kinds == ["worker-added", "recording-began", "recording-began"]
    assert live.history.scheduler is not None
    assert live.history.scheduler.id == "Scheduler-2"


def test_collector_that_starts_anew_on_the_same_scheduler_does_not_double_history() -> None:
    live, maker = LiveSession(), BatchMaker()
    maker.time = T0 + 10
    live.apply(maker.action(1, 2, key="a").action(3, 9, key="b").batch(workers=[worker_row(A)]))
    again = BatchMaker(epoch="epoch-2")
    again.time = T0 + 30
    again.action(1, 2, key="a").action(3, 9, key="b").action(8, 15, key="c")
    live.apply(again.batch(workers=[worker_row(A)]))
    assert keys_of(live) == ["a", "b", "c"]
    live.apply(again.action(20, 31, key="d").batch())
    assert keys_of(live) == ["a", "b", "c", "d"]


def test_workers_that_a_new_epoch_does_not_know_have_ended() -> None:
    live, maker = LiveSession(), BatchMaker()
    maker.action(0, 1, worker=A).action(0, 1, worker=B)
    live.apply(maker.batch(workers=[worker_row(A), worker_row(B)]))
    again = BatchMaker(epoch="epoch-2")
    again.time = T0 + 50
    live.apply(again.batch(workers=[worker_row(B)]))
    assert live.history.slots.is_alive.tolist() == [False, False, True, True]
    assert live.history.slots.ended[0] == T0 + 50
    third = BatchMaker(epoch="epoch-3")
    third.time = T0 + 60
    live.apply(third.batch())  # a scheduler without any worker
    assert not live.history.slots.is_alive.any()


def test_time_goes_on_between_batches_and_stands_while_the_feed_is_lost() -> None:
    now = 100.0
    live = LiveSession(clock=lambda: now)
    assert live.time == 0
    live.apply(BatchMaker().batch())
    assert live.time == T0
    now = 103.0
    assert live.time == T0 + 3
    live.set_feed_state("lost", "the scheduler does not answer", 5.0)
    now = 200.0
    assert live.time == T0 + 3
    live.set_feed_state("closed", "closed", 6.0)
    assert live.time == T0 + 3
    live.set_feed_state("live", "", 7.0)
    assert live.time == T0 + 100


def test_strings_that_do_not_follow_those_known_are_refused_and_change_nothing() -> None:
    live, maker = LiveSession(), BatchMaker()
    live.apply(full_batch(maker.action(0, 1, worker=A)))
    before = live.version, live.history.actions.version, len(live.history.strings)
    batch = full_batch(maker.action(1, 2, worker=A))
    batch.strings_from = 99
    with pytest.raises(ValueError, match="strings begin at 99"):
        live.apply(batch)
    assert (live.version, live.history.actions.version, len(live.history.strings)) == before
