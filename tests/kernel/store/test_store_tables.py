"""The live tables: prefixes, groups, workers, threads, series, events, palette."""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_diag_lab.schema import STATES
from dask_diag_lab.store import Store
from dask_diag_lab.store.events import MAX_EVENTS
from tests.kernel.store.batches import (
    T0,
    BatchMaker,
    graph_change,
    group_row,
    prefix_row,
    worker_row,
)

A, B = "tcp://a:1", "tcp://b:1"


def test_prefixes_with_work_left_come_before_larger_ones_without() -> None:
    store, maker = Store(), BatchMaker()
    rows = [prefix_row("gone", forgotten=900), prefix_row("kept", memory=500)]
    rows += [prefix_row("now", processing=1), prefix_row("next", waiting=3)]
    store.apply(maker.batch(prefixes=rows))
    assert store.prefixes.names == ["next", "now", "gone", "kept"]
    store.apply(maker.batch(prefixes=[prefix_row("next", memory=3)]))
    assert store.prefixes.names == ["now", "gone", "kept", "next"]


def test_tables_move_their_version_only_with_their_content() -> None:
    store, maker = Store(), BatchMaker()

    def batch(**more: Any) -> Any:
        given: dict[str, Any] = {
            "prefixes": [prefix_row("inc", memory=1)],
            "groups": [group_row("inc-1", "inc", ["dec-1"], memory=1)],
            "workers": [worker_row(A)],
            "graph": graph_change(total=1, added=[(0, "inc-1", "inc", "inc-1", ())]),
            "nthreads": [(T0, 2)],
        }
        return maker.batch(**given | more)

    store.apply(batch())
    tables = ("prefixes", "groups", "workers", "graph", "nthreads", "slots", "actions", "running")
    before = [getattr(store, name).version for name in tables]
    store.apply(batch())
    assert [getattr(store, name).version for name in tables] == before
    changed: dict[str, Any] = {
        "prefixes": [prefix_row("inc", memory=2)],
        "groups": [group_row("inc-1", "inc", ["dec-1"], memory=2)],
        "workers": [worker_row(A, cpu=7.0)],
        "graph": graph_change(total=1, states=[(0, 5)]),
        "nthreads": [(T0 + 1, 4)],
    }
    for name, value in changed.items():
        version, whole = getattr(store, name).version, store.version
        store.apply(batch(**{name: value}))
        assert getattr(store, name).version > version
        assert store.version > whole


def test_batch_without_news_changes_no_version() -> None:
    store, maker = Store(), BatchMaker()
    store.apply(maker.batch(workers=[]))
    version = store.version
    maker.time += 1
    store.apply(maker.batch())
    assert store.version == version


def test_groups_whose_tasks_were_all_done_and_forgotten_are_kept_apart() -> None:
    store, maker = Store(), BatchMaker()
    store.apply(maker.batch(groups=[group_row("a-1", "a", memory=3), group_row("b-1", "b")]))
    store.apply(maker.batch(groups=[group_row("a-1", "a", forgotten=3)]))
    assert (store.groups.names, store.ended_groups.names) == (["b-1"], ["a-1"])
    before = store.version
    store.apply(maker.batch(groups=[group_row("a-1", "a", forgotten=1, waiting=2)]))
    assert (store.groups.names, store.ended_groups.names) == (["b-1", "a-1"], [])
    assert store.version > before
    store.apply(maker.batch(groups=[group_row("a-1", "a", forgotten=3)]))
    store.apply(maker.batch(removed_groups=["a-1"]))
    assert store.ended_groups.names == []
    store.apply(maker.batch(groups=[group_row("c-1", "c", forgotten=3)]))
    store.apply(BatchMaker(epoch="another").batch())
    assert store.ended_groups.names == []


def test_groups_come_change_and_go() -> None:
    store, maker = Store(), BatchMaker()
    rows = [group_row("a-1", "a", waiting=3), group_row("b-1", "b", ["a-1"], memory=1)]
    store.apply(maker.batch(groups=rows))
    assert store.groups.names == ["a-1", "b-1"]
    assert store.groups.prefix == ["a", "b"]
    assert store.groups.dependencies == [(), ("a-1",)]
    structure = store.groups.structure_version
    store.apply(maker.batch(groups=[group_row("a-1", "a", memory=3)]))
    assert store.groups.structure_version == structure
    assert store.groups.states[0, STATES.index("memory")] == 3
    store.apply(maker.batch(removed_groups=["a-1"]))
    assert store.groups.names == ["b-1"]
    assert store.groups.structure_version > structure
    assert store.groups.start.dtype == store.groups.nbytes.astype(float).dtype


def test_thread_history_is_not_doubled_by_a_collector_that_starts_anew() -> None:
    store = Store()
    history = [(T0, 2), (T0 + 1, 4), (T0 + 1, 6)]
    store.apply(BatchMaker().batch(nthreads=history))
    store.apply(BatchMaker(epoch="second").batch(nthreads=[*history, (T0 + 2, 0)]))
    assert store.nthreads.times.tolist() == [T0, T0 + 1, T0 + 1, T0 + 2]
    assert store.nthreads.values.tolist() == [2, 4, 6, 0]


def test_events_are_bounded_and_what_was_dropped_is_counted() -> None:
    store, maker = Store(), BatchMaker()
    for i in range(0, MAX_EVENTS + 500, 500):
        store.apply(maker.batch(events=[(T0 + j, "restart", {"n": j}) for j in range(i, i + 500)]))
    assert len(store.events.rows) == MAX_EVENTS
    assert store.events.dropped == 501  # the first one is that the recording began
    assert store.events.rows[-1] == (T0 + MAX_EVENTS + 499, "restart", {"n": MAX_EVENTS + 499})


def test_palette_numbers_prefixes_by_first_appearance_anywhere() -> None:
    store, maker = Store(), BatchMaker()
    maker.action(0, 1, prefix="b").action(1, 2, prefix="a").action(2, 3, prefix="b")
    store.apply(maker.batch(running=[("c-1", A, "c", 0)], prefixes=[prefix_row("d")]))
    store.apply(maker.batch(groups=[group_row("e-1", "e")]))
    graph = graph_change(added=[(0, "f", "f", "f", ())])
    store.apply(maker.batch(graph=graph, prefixes=[prefix_row("a"), prefix_row("g")]))
    assert store.palette.names == ["b", "a", "c", "d", "e", "g", "f"]
    assert [store.palette.index(name) for name in "abcdefg"] == [1, 0, 2, 3, 4, 6, 5]
    answer = store.actions.query(T0, T0 + 9).answer()
    assert store.palette.indices(answer.prefix).tolist() == [0, 1, 0]
    assert store.palette.indices(np.array([0])).tolist() == [-1]
