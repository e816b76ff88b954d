"""Batches as a whole: epochs, clocks, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from benchmarks.simulator import Simulation
from dask_diag_lab.records import ACTIONS, Batch, Kind
from dask_diag_lab.store import Store
from tests.kernel.store.batches import (
    T0,
    BatchMaker,
    graph_change,
    group_row,
    prefix_row,
    worker_row,
)

A, B = "tcp://a:1", "tcp://b:1"


def keys_of(store: Store) -> list[str]:
    return [store.actions.key(task) for task in store.actions.since(0)[1]["task"].tolist()]


def full_batch(maker: BatchMaker) -> Batch:
    return maker.batch(
        workers=[worker_row(A)],
        running=[("inc-9", A, "inc", 5.0)],
        prefixes=[prefix_row("inc", memory=1)],
        groups=[group_row("inc-1", "inc")],
        graph=graph_change(total=1, added=[(0, "inc-1", "inc", "inc-1", ())]),
        nthreads=[(T0, 2)],
        events=[(T0, "worker-added", {})],
    )


def test_new_epoch_keeps_history_and_starts_live_tables_anew() -> None:
    store, maker = Store(), BatchMaker()
    store.apply(full_batch(maker.action(0, 1, worker=A, prefix="inc", key="old")))
    maker = BatchMaker(epoch="epoch-2", scheduler="Scheduler-2")
    maker.time += 100
    maker.string("something that shifts all ids")
    maker.action(100, 101, worker=B, prefix="dec", key="new").action(
        101, 102, worker=B, prefix="inc", key="newer", kind=Kind.TRANSFER, source=A
    )
    store.apply(maker.batch(workers=[worker_row(B)]))
    assert keys_of(store) == ["old", "new", "newer"]
    _, rows = store.actions.since(0)
    assert store.strings.take(rows["prefix"].tolist()) == ["inc", "dec", "inc"]
    assert store.strings.take(rows["worker"].tolist()) == [A, B, B]
    assert store.strings.take(rows["source"].tolist()) == ["", "", A]
    assert store.palette.names == ["inc", "dec"]
    assert store.workers.address == [B]
    assert store.lanes.is_alive.tolist() == [False, False, True, True]
    live = (len(store.prefixes), len(store.groups), len(store.graph), store.running.count)
    assert live == (0, 0, 0, 0)
    assert store.graph.is_exact
    kinds = [kind for _, kind, _ in store.events.rows]
    assert kinds == ["worker-added", "recording-began", "recording-began"]
    assert store.scheduler is not None
    assert store.scheduler.id == "Scheduler-2"


def test_ordinals_of_epochs_without_keys_do_not_collide() -> None:
    store, maker = Store(), BatchMaker()
    batch = maker.action(0, 1, key="lost").batch()
    batch.keys = ()
    store.apply(batch)
    store.apply(BatchMaker(epoch="2", scheduler="2").action(0, 1, key="new").batch())
    assert keys_of(store) == ["", "new"]


def test_collector_that_starts_anew_on_the_same_scheduler_does_not_double_history() -> None:
    store, maker = Store(), BatchMaker()
    maker.time = T0 + 10
    store.apply(maker.action(1, 2, key="a").action(3, 9, key="b").batch(workers=[worker_row(A)]))
    again = BatchMaker(epoch="epoch-2")
    again.time = T0 + 30
    again.action(1, 2, key="a").action(3, 9, key="b").action(8, 15, key="c")
    store.apply(again.batch(workers=[worker_row(A)]))
    assert keys_of(store) == ["a", "b", "c"]
    store.apply(again.action(20, 31, key="d").batch())
    assert keys_of(store) == ["a", "b", "c", "d"]


def test_workers_that_a_new_epoch_does_not_know_have_ended() -> None:
    store, maker = Store(), BatchMaker()
    maker.action(0, 1, worker=A).action(0, 1, worker=B)
    store.apply(maker.batch(workers=[worker_row(A), worker_row(B)]))
    again = BatchMaker(epoch="epoch-2")
    again.time = T0 + 50
    store.apply(again.batch(workers=[worker_row(B)]))
    assert store.lanes.is_alive.tolist() == [False, False, True, True]
    assert store.lanes.ended[0] == T0 + 50
    third = BatchMaker(epoch="epoch-3")
    third.time = T0 + 60
    store.apply(third.batch())  # a scheduler without any worker
    assert not store.lanes.is_alive.any()


def test_time_goes_on_between_batches_and_stands_while_the_feed_is_lost() -> None:
    now = 100.0
    store = Store(clock=lambda: now)
    assert store.time == 0
    store.apply(BatchMaker().batch())
    assert store.time == T0
    now = 103.0
    assert store.time == T0 + 3
    store.set_feed_state("lost", "the scheduler does not answer", 5.0)
    now = 200.0
    assert store.time == T0 + 3
    store.set_feed_state("closed", "closed", 6.0)
    assert store.time == T0 + 3
    store.set_feed_state("live", "", 7.0)
    assert store.time == T0 + 100


def test_feed_state_moves_the_version_once() -> None:
    store = Store()
    assert store.feed_state.state == "connecting"
    for _ in range(3):
        store.set_feed_state("lost", "gone", 5.0)
    assert store.version == 1
    assert (store.feed_state.reason, store.feed_state.since) == ("gone", 5.0)


def test_facts_of_the_scheduler_are_kept() -> None:
    store = Store()
    batch = BatchMaker().batch(cost_s=1.5, degraded="The scheduler forbids plugins.")
    store.apply(batch)
    assert store.scheduler == batch.scheduler
    assert (store.cost_s, store.degraded) == (1.5, "The scheduler forbids plugins.")


Breaker = Callable[[Batch], Any]


def _column(name: str, value: Any) -> Breaker:
    def breaking(batch: Batch) -> None:
        assert batch.actions is not None
        batch.actions = {**batch.actions, name: np.asarray(value)}

    return breaking


def _field(name: str, value: Any) -> Breaker:
    return lambda batch: setattr(batch, name, value)


def _without(name: str) -> Breaker:
    def breaking(batch: Batch) -> None:
        assert batch.actions is not None
        batch.actions = {k: v for k, v in batch.actions.items() if k != name}

    return breaking


@pytest.mark.parametrize(
    ("breaking", "message"),
    [
        (_column("stop", [1.0]), "differ in shape"),
        (_column("start", [[1.0, 2.0]]), "differ in shape"),
        (_without("kind"), "lack kind"),
        (_column("kind", [0, 9]), "kind of actions is 0 … 9, allowed is 0 … 4"),
        (_column("kind", [0.0, 1.0]), "kind of actions is of type float64"),
        (_column("start", ["a", "b"]), "start of actions is of type <U1"),
        (_column("thread", [5, -5]), "thread of actions"),
        (_column("outcome", [3, 0]), "outcome of actions"),
        (_column("worker", [1, 77]), "worker of actions"),
        (_column("prefix", [-1, 1]), "prefix of actions"),
        (_column("source", [0, 1 << 31]), "source of actions"),
        (_column("task", [0, -1]), "task of actions"),
        (_column("start", [np.nan, 1.0]), "not finite"),
        (_column("stop", [np.inf, 1.0]), "not finite"),
        (_field("time", np.nan), "time is nan"),
        (_field("strings_from", 9), "strings begin at 9, only 3 are known"),
        (_field("keys_from", -1), "keys begin at -1"),
        (_field("actions_dropped", -1), "cannot be dropped"),
        (_field("running", [("k", 99, 0, 1.0)]), "running task 'k'"),
        (_field("workers", [{"address": A}]), "a worker row lacks cpu, "),
        (_field("prefixes", [{**prefix_row("x"), "states": [1]}]), "prefix 'x' has 1 states"),
        (_field("groups", [{"name": "x"}]), "a group row lacks"),
        (_field("graph", graph_change(states=[(0, 8)])), "node 0 is in state 8"),
    ],
)
def test_batch_that_contradicts_itself_is_refused_and_changes_nothing(
    breaking: Breaker, message: str
) -> None:
    store, maker = Store(), BatchMaker()
    store.apply(full_batch(maker.action(0, 1, worker=A)))
    before = (store.version, store.actions.version, len(store.strings), store.time > 0)
    batch = full_batch(maker.action(1, 2, worker=A).action(2, 3, worker=A))
    breaking(batch)
    with pytest.raises(ValueError, match=message):
        store.apply(batch)
    assert (store.version, store.actions.version, len(store.strings), store.time > 0) == before


def test_batch_with_columns_but_no_rows_is_taken() -> None:
    store = Store()
    batch = BatchMaker().batch()
    batch.actions = {column.name: np.empty(0, column.dtype) for column in ACTIONS}
    store.apply(batch)
    assert (store.actions.count, store.actions.version) == (0, 0)
    assert np.isnan(store.actions.first_start)
    assert np.isnan(store.actions.last_stop)


def test_batch_repeated_strings_and_keys_are_taken_once() -> None:
    store, maker = Store(), BatchMaker()
    batch = maker.action(0, 1, key="a").batch()
    store.apply(batch)
    repeated = maker.action(1, 2, key="b").batch()
    repeated.strings_from, repeated.strings = 0, maker._strings
    repeated.keys_from, repeated.keys = 0, ["a", "b"]
    store.apply(repeated)
    assert keys_of(store) == ["a", "b"]


def test_whole_simulated_run_ends_as_it_should() -> None:
    simulation = Simulation(8, 4, 8000, deaths=2)
    store = Store()
    for batch in simulation.batches(rows=700):
        store.apply(batch)
    assert store.actions.count == len(simulation.actions["start"])
    assert keys_of(store)[-1] == simulation.keys[-1]
    assert store.running.count == 0
    assert len(store.workers) == 6
    assert store.lanes.is_alive.sum() == 24
    assert (~store.lanes.is_alive).sum() == 8
    assert store.actions.last_stop >= store.time - 1
    assert store.prefixes.states.sum() == len(simulation.keys)
