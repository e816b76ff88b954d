"""The live tables: prefixes, groups, workers, threads, events, palette, times of work."""

from __future__ import annotations

import numpy as np
import pytest

from dask_diag_lab.schema import STATES
from dask_diag_lab.store import History
from dask_diag_lab.store.events import MAX_EVENTS
from tests.kernel.store.batches import (
    T0,
    BatchMaker,
    group_row,
    prefix_row,
    worker_row,
)

A, B = "tcp://a:1", "tcp://b:1"


def test_prefixes_with_work_left_come_before_larger_ones_without() -> None:
    history, maker = History(), BatchMaker()
    rows = [prefix_row("gone", forgotten=900), prefix_row("kept", memory=500)]
    rows += [prefix_row("now", processing=1), prefix_row("next", waiting=3)]
    history.apply(maker.batch(prefixes=rows))
    assert history.prefixes.names == ["next", "now", "gone", "kept"]
    history.apply(maker.batch(prefixes=[prefix_row("next", memory=3)]))
    assert history.prefixes.names == ["now", "gone", "kept", "next"]


def test_groups_whose_tasks_were_all_done_and_forgotten_are_kept_apart() -> None:
    history, maker = History(), BatchMaker()
    history.apply(maker.batch(groups=[group_row("a-1", "a", memory=3), group_row("b-1", "b")]))
    history.apply(maker.batch(groups=[group_row("a-1", "a", forgotten=3)]))
    assert (history.groups.names, history.ended_groups.names) == (["b-1"], ["a-1"])
    before = history.version
    history.apply(maker.batch(groups=[group_row("a-1", "a", forgotten=1, waiting=2)]))
    assert (history.groups.names, history.ended_groups.names) == (["b-1", "a-1"], [])
    assert history.version > before
    history.apply(maker.batch(groups=[group_row("a-1", "a", forgotten=3)]))
    history.apply(maker.batch(removed_groups=["a-1"]))
    assert history.ended_groups.names == []
    history.apply(maker.batch(groups=[group_row("c-1", "c", forgotten=3)]))
    history.apply(BatchMaker(epoch="another").batch())
    assert history.ended_groups.names == []


def test_groups_come_change_and_go() -> None:
    history, maker = History(), BatchMaker()
    rows = [group_row("a-1", "a", waiting=3), group_row("b-1", "b", ["a-1"], memory=1)]
    history.apply(maker.batch(groups=rows))
    assert history.groups.names == ["a-1", "b-1"]
    assert history.groups.prefix == ["a", "b"]
    assert history.groups.dependencies == [(), ("a-1",)]
    structure = history.groups.structure_version
    history.apply(maker.batch(groups=[group_row("a-1", "a", memory=3)]))
    assert history.groups.structure_version == structure
    assert history.groups.states[0, STATES.index("memory")] == 3
    history.apply(maker.batch(removed_groups=["a-1"]))
    assert history.groups.names == ["b-1"]
    assert history.groups.structure_version > structure
    assert history.groups.start.dtype == history.groups.nbytes.astype(float).dtype


def test_thread_history_is_not_doubled_by_a_collector_that_starts_anew() -> None:
    history = History()
    threads = [(T0, 2), (T0 + 1, 4), (T0 + 1, 6)]
    history.apply(BatchMaker().batch(nthreads=threads))
    history.apply(BatchMaker(epoch="second").batch(nthreads=[*threads, (T0 + 2, 0)]))
    assert history.nthreads.times.tolist() == [T0, T0 + 1, T0 + 1, T0 + 2]
    assert history.nthreads.values.tolist() == [2, 4, 6, 0]


def test_events_are_bounded_and_what_was_dropped_is_counted() -> None:
    history, maker = History(), BatchMaker()
    for i in range(0, MAX_EVENTS + 500, 500):
        history.apply(
            maker.batch(events=[(T0 + j, "restart", {"n": j}) for j in range(i, i + 500)])
        )
    assert len(history.events.rows) == MAX_EVENTS
    assert history.events.dropped == 501  # the first one is that the recording began
    assert history.events.rows[-1] == (T0 + MAX_EVENTS + 499, "restart", {"n": MAX_EVENTS + 499})


def test_palette_numbers_prefixes_by_first_appearance_anywhere() -> None:
    history, maker = History(), BatchMaker()
    maker.action(0, 1, prefix="b").action(1, 2, prefix="a").action(2, 3, prefix="b")
    history.apply(maker.batch(running=[("c-1", A, "c", 0)], prefixes=[prefix_row("d")]))
    history.apply(maker.batch(groups=[group_row("e-1", "e")]))
    history.apply(maker.batch(prefixes=[prefix_row("a"), prefix_row("f")]))
    assert history.prefix_index.names == ["b", "a", "c", "d", "e", "f"]
    assert [history.prefix_index.index(name) for name in "abcdef"] == [1, 0, 2, 3, 4, 5]
    answer = history.actions.query(T0, T0 + 9).answer()
    assert history.prefix_index.indices(answer.prefix).tolist() == [0, 1, 0]
    assert history.prefix_index.indices(np.array([0])).tolist() == [-1]


def test_name_of_a_worker_that_left_is_remembered() -> None:
    history, maker = History(), BatchMaker()
    history.apply(maker.batch(workers=[worker_row(A, name="first"), worker_row(B, name="second")]))
    history.apply(maker.batch(workers=[worker_row(B, name="second")], removed_workers=[A]))
    assert history.workers.name == ["second"]
    assert history.slots.names == {A: "first", B: "second"}


def test_worker_that_came_and_left_between_two_batches_has_its_name_from_the_event() -> None:
    history, maker = History(), BatchMaker()
    arrival = (0.0, "worker-added", {"worker": A, "name": "short-lived", "nthreads": 1})
    odd = [
        (0.0, "worker-added", {"worker": B, "nthreads": nthreads})
        for nthreads in (None, "many", 2**64 - 1, -1)
    ]
    history.apply(maker.batch(workers=[], events=[arrival, *odd], removed_workers=[A]))
    assert history.slots.names == {A: "short-lived"}


def test_stretches_are_joined_over_short_pauses_and_whatever_the_order() -> None:
    maker, history = BatchMaker(), History()
    history.apply(maker.action(0, 10).action(2, 3).action(20, 21).batch())
    history.apply(maker.action(10.2, 12).action(15, 20.5).batch())
    busy = history.busy
    assert list(zip(busy.start - T0, busy.stop - T0, strict=True)) == [
        pytest.approx((0, 12)),
        pytest.approx((15, 21)),
    ]


def test_of_very_many_stretches_the_first_and_the_last_are_kept() -> None:
    maker, history = BatchMaker(), History()
    for second in range(12_000):
        maker.action(second, second + 0.1)
    history.apply(maker.batch())
    busy = history.busy
    assert (busy.start[0], busy.start[-1]) == (T0, T0 + 11_999)
    assert len(busy.start) == len(busy.stop) < 10_000


def test_threads_at_work_are_those_of_the_last_seconds_of_a_burst() -> None:
    maker, history = BatchMaker(), History()
    history.apply(maker.action(0, 80).batch())
    for second in range(100, 104):
        history.apply(maker.action(second, second + 0.5).batch())
    assert history.busy.threads_lately(T0 + 104) == pytest.approx(4 * 0.5 / 4)
    history.apply(maker.action(100, 140).action(120, 140).batch())
    assert history.busy.threads_lately(T0 + 140) == pytest.approx(2)
    assert history.busy.threads_lately(T0 + 200) == 0
