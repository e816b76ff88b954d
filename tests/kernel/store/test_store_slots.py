"""Slots: order, stability, threads that come and go, workers that come and go."""

from __future__ import annotations

import numpy as np
import pytest

from dask_diag_lab.schema import Outcome
from dask_diag_lab.store import History
from dask_diag_lab.store.slots import MAX_EXTRA_SLOTS, MAX_THREADS, MAX_UNUSED
from tests.kernel.store.batches import T0, BatchMaker, worker_row

A, B, C = "tcp://a:1", "tcp://b:1", "tcp://c:1"


def slots_of(history: History) -> list[tuple[str, int]]:
    texts = history.strings.take(history.slots.worker.tolist())
    return list(zip(texts, history.slots.thread_index.tolist(), strict=True))


def slots_of_actions(history: History) -> list[int]:
    slots: list[int] = history.actions.since(0)[1]["slot"].tolist()
    return slots


def test_later_workers_take_their_place_by_host_and_name_whenever_they_come() -> None:
    history, maker = History(), BatchMaker()
    rows = [
        worker_row(f"tcp://10.0.0.{host}:{4000 + name}", name=f"w-{name}", nthreads=1)
        for host, name in ((10, 1), (9, 10), (9, 2))
    ]
    history.apply(maker.batch(workers=rows[:1]))
    maker.action(0, 1, worker=rows[0]["address"], thread=7)
    history.apply(maker.batch(workers=rows))
    assert history.slots.label == history.workers.name == ["w-2", "w-10", "w-1"]
    assert slots_of_actions(history) == [2]
    assert history.slots.is_alive.all()


def test_threads_take_slots_by_first_sight_and_keep_them() -> None:
    history, maker = History(), BatchMaker()
    maker.action(0, 1, worker=A, thread=900).action(0, 1, worker=A, thread=100)
    history.apply(maker.batch(workers=[worker_row(A, nthreads=2)]))
    for i in range(1, 4):
        maker.action(i, i + 1, worker=A, thread=100).action(i, i + 1, worker=A, thread=900)
        history.apply(maker.batch())
    assert slots_of_actions(history) == [0, 1, 1, 0, 1, 0, 1, 0]


def test_tasks_at_one_time_in_threads_of_one_identifier_are_in_slots_of_their_own() -> None:
    history, maker = History(), BatchMaker()  # as processes of a pool have, or coroutines
    workers = [worker_row(A, nthreads=2)]
    for start in (0.0, 0.5, 1.5, 2.0, 3.0, 3.5):
        maker.action(start, start + 1.5, worker=A, thread=7)
        if start:
            history.apply(maker.batch(workers=workers))
    slots = history.actions.since(0)[1]["slot"].tolist()
    assert slots == [0, 0, 0, 1, 0, 1]  # after three of them it is sure
    maker.action(10, 20, worker=B, thread=7).action(12, 22, worker=B, thread=7)
    history.apply(maker.batch(workers=[*workers, worker_row(B, nthreads=2)]))
    assert len({*history.actions.since(0)[1]["slot"].tolist()[-2:]}) == 2  # no clock jumps so far


@pytest.mark.parametrize(("jump_s", "comes_at_once"), [(0.3, True), (1.5, False)])
def test_a_thread_keeps_its_slot_when_the_clock_of_its_worker_jumps(
    jump_s: float, comes_at_once: bool
) -> None:
    history, maker = History(), BatchMaker()
    for at in range(10):
        begin = at - jump_s * (at >= 5)
        maker.action(begin, begin + 1, worker=A, thread=1)
        maker.action(begin, begin + 1, worker=A, thread=2)
        if not comes_at_once or at == 9:
            history.apply(maker.batch(workers=[worker_row(A, nthreads=2)]))
    assert slots_of_actions(history) == [0, 1] * 10


def test_seceded_thread_gets_a_slot_next_to_its_worker() -> None:
    history, maker = History(), BatchMaker()
    maker.action(0, 1, worker=A, thread=1).action(0, 1, worker=B, thread=1)
    history.apply(maker.batch(workers=[worker_row(A, nthreads=1), worker_row(B, nthreads=1)]))
    before = history.actions.query(T0, T0 + 1).answer()
    assert before.slot.tolist() == [0, 1]
    history.apply(maker.action(0, 1, worker=A, thread=2, prefix="extra").batch())
    assert slots_of(history) == [(A, 0), (A, 1), (B, 0)]
    assert history.actions.query(T0, T0 + 1).answer().slot.tolist() == [0, 1, 2]
    assert slots_of_actions(history) == [0, 2, 1]


def test_worker_whose_tasks_all_secede_has_a_bounded_number_of_slots() -> None:
    history, maker = History(), BatchMaker()
    for i in range(500):
        maker.action(i, i + 0.5, worker=A, thread=i + 1)
    history.apply(maker.batch(workers=[worker_row(A, nthreads=2)]))
    assert history.slots.count == 2 + MAX_EXTRA_SLOTS
    threads = history.actions.since(0)[1]["thread"]
    np.testing.assert_array_equal(threads, np.arange(1, 501))


def test_killed_tasks_without_a_thread_do_not_overlap_others() -> None:
    history, maker = History(), BatchMaker()
    for thread, stop in ((1, 1.0), (2, 3.0), (3, 2.0)):
        maker.action(0, stop, worker=A, thread=thread)
    history.apply(maker.batch(workers=[worker_row(A, nthreads=3)]))
    for start in (3.1, 1.05, 2.2):
        maker.action(start, 5, worker=A, thread=0, outcome=Outcome.KILLED)
    history.apply(maker.batch(removed_workers=[A]))
    assert slots_of_actions(history)[3:] == [1, 0, 2]


def test_worker_that_died_keeps_its_slots_and_says_when() -> None:
    history, maker = History(), BatchMaker()
    rows = [worker_row(A), worker_row(B)]
    history.apply(maker.action(0, 1, worker=A).batch(workers=rows))
    maker.time += 5
    history.apply(maker.batch(removed_workers=[A, B]))
    assert slots_of(history) == [(A, 0), (A, 1), (B, 0), (B, 1)]  # also who never did anything
    assert not history.slots.is_alive.any()
    assert history.slots.ended.tolist() == [T0 + 5] * 4
    assert len(history.workers) == 0


def test_worker_that_returns_to_its_address_returns_to_its_slots() -> None:
    history, maker = History(), BatchMaker()
    history.apply(maker.action(0, 1, worker=A, thread=7).batch(workers=[worker_row(A)]))
    history.apply(maker.batch(removed_workers=[A]))
    history.apply(maker.action(2, 3, worker=A, thread=8).batch(workers=[worker_row(A)]))
    assert slots_of_actions(history) == [0, 0]
    assert history.slots.is_alive.all()
    assert np.isnan(history.slots.ended).all()


def test_workers_known_only_from_history_ended_with_their_last_task() -> None:
    history, maker = History(), BatchMaker()
    maker.action(-100, -90, worker=C).action(0, 1, worker=A)
    history.apply(maker.batch(workers=[worker_row(A)]))
    assert slots_of(history) == [(A, 0), (A, 1), (C, 0)]
    assert history.slots.is_alive.tolist() == [True, True, False]
    assert history.slots.ended[2] == T0 - 90


def test_dead_workers_are_forgotten_with_their_last_action() -> None:
    history, maker = History(max_actions=160), BatchMaker()
    history.apply(maker.action(0, 1, worker=A).batch(workers=[worker_row(A), worker_row(B)]))
    history.apply(maker.batch(removed_workers=[A]))
    assert history.slots.count == 4
    for i in range(200):
        maker.action(i, i + 1, worker=B)
    history.apply(maker.batch())
    assert slots_of(history) == [(B, 0), (B, 1)]
    assert set(slots_of_actions(history)) == {0}
    assert (
        history.actions.query(T0, T0 + 300, np.array([0])).answer().count.sum()
        == history.actions.count
    )


def _left(history: History) -> dict[str, float]:
    """Return when each worker that has slots left, seconds after `T0`; NaN for who is there."""
    slots = history.slots
    names = history.strings.take(slots.worker.tolist())
    return dict(zip(names, (slots.ended - T0).tolist(), strict=True))


def test_a_worker_left_when_its_event_says_so_however_late_it_is_missed() -> None:
    history, maker = History(), BatchMaker()
    history.apply(maker.action(0, 1).batch(workers=[worker_row("tcp://w0:1")]))
    killed = (T0 + 2, "worker-killed", {"worker": "tcp://w0:1"})
    maker.time = T0 + 3
    history.apply(maker.batch(events=[killed]))
    maker.time = T0 + 4
    history.apply(maker.batch(removed_workers=["tcp://w0:1"]))
    assert _left(history) == {"tcp://w0:1": 2.0}


def test_a_worker_that_claims_threads_without_end_gets_a_bounded_number_of_slots() -> None:
    history = History()
    history.apply(BatchMaker().batch(workers=[worker_row("tcp://a:1", nthreads=2**62)]))
    assert history.slots.count == MAX_THREADS


def test_of_workers_that_came_and_left_without_a_task_the_last_ones_have_rows() -> None:
    history, maker = History(), BatchMaker()
    for number in range(MAX_UNUSED + 20):
        history.apply(maker.batch(workers=[worker_row(f"tcp://w:{number}", nthreads=2)]))
        history.apply(maker.batch(removed_workers=[f"tcp://w:{number}"]))
        maker.time += 1
    assert len(history.slots.addresses) == MAX_UNUSED
    assert history.slots.addresses[-1] == f"tcp://w:{MAX_UNUSED + 19}"
