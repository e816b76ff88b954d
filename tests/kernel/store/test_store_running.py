"""Running tasks: one slot each, the same until they end, gone when recorded as done."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from dask_diag_lab.schema import Outcome
from dask_diag_lab.store import LiveSession
from dask_diag_lab.store.slots import CLOCK_SLACK_S
from tests.kernel.store.batches import T0, BatchMaker, worker_row

A, B = "tcp://a:1", "tcp://b:1"
Run = tuple[str, str, str, float]


def shown(live: LiveSession, now: float = T0 + 1000) -> dict[str, int]:
    rows = live.history.running.rows(now)
    return dict(zip(rows["key"].tolist(), rows["slot"].tolist(), strict=True))


def ids(live: LiveSession) -> dict[str, int]:
    """Return slot ids: rows move when a worker above gets a slot more."""
    id_of_row = {row: slot for slot, row in enumerate(live.history.slots.position.tolist())}
    return {key: id_of_row[row] for key, row in shown(live).items()}


def run(key: str, worker: str = A, start: float = 0.0) -> Run:
    return key, worker, key.split("-", maxsplit=1)[0], start


def test_each_running_task_has_a_slot_of_its_own_and_keeps_it() -> None:
    live, maker = LiveSession(), BatchMaker()
    runs = [run("inc-1"), run("inc-2", start=1), run("inc-3", B)]
    live.apply(maker.batch(workers=[worker_row(A), worker_row(B)], running=runs))
    assert shown(live) == {"inc-1": 0, "inc-2": 1, "inc-3": 2}
    live.apply(maker.batch(running=[run("inc-2", start=1), run("inc-4", start=2)]))
    assert shown(live) == {"inc-2": 1, "inc-4": 0}
    rows = live.history.running.rows(T0 + 1.5)
    assert rows["start"].tolist() == [T0 + 1, T0 + 1.5]
    assert live.history.strings.take(rows["prefix"].tolist()) == ["inc", "inc"]


def test_task_starts_in_the_slot_that_was_free_for_the_shortest_time() -> None:
    live, maker = LiveSession(), BatchMaker()
    for thread, stop in ((1, 2.0), (2, 5.0), (3, 4.0)):
        maker.action(0, stop, worker=A, thread=thread)
    workers = [worker_row(A, nthreads=3)]
    live.apply(maker.batch(workers=workers, running=[run("x-1", start=4.01), run("x-2", start=2)]))
    assert shown(live) == {"x-1": 2, "x-2": 0}


def test_new_thread_takes_the_slot_in_which_its_task_was_shown() -> None:
    live, maker = LiveSession(), BatchMaker()
    runs = [run("inc-1"), run("inc-2", start=1)]
    live.apply(maker.batch(workers=[worker_row(A)], running=runs))
    assert shown(live)["inc-2"] == 1
    live.apply(maker.action(1, 2, worker=A, thread=77, key="inc-2").batch())
    assert live.history.actions.since(0)[1]["slot"].tolist() == [1]


def test_killed_task_stays_in_the_slot_in_which_it_ran() -> None:
    live, maker = LiveSession(), BatchMaker()
    runs = [run("inc-1"), run("inc-2"), run("inc-3")]
    live.apply(maker.batch(workers=[worker_row(A, nthreads=3)], running=runs))
    for key in ("inc-3", "inc-1", "inc-2"):
        maker.action(0, 9, worker=A, thread=0, key=key, outcome=Outcome.KILLED)
    live.apply(maker.batch(removed_workers=[A], running=[]))
    assert live.history.actions.since(0)[1]["slot"].tolist() == [2, 0, 1]
    assert live.history.running.count == 0


def test_running_task_moves_out_of_a_slot_in_which_another_was_recorded() -> None:
    live, maker = LiveSession(), BatchMaker()
    maker.action(0, 1, worker=A, thread=1).action(0, 0.5, worker=A, thread=2)
    live.apply(maker.batch(workers=[worker_row(A)], running=[run("inc-9", start=1.1)]))
    assert shown(live) == {"inc-9": 0}
    live.apply(maker.action(1.05, 3, worker=A, thread=1).batch())
    assert shown(live) == {"inc-9": 1}


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10**6), n_threads=st.integers(0, 4))
def test_no_two_running_tasks_ever_share_a_slot(seed: int, n_threads: int) -> None:
    chance = random.Random(seed)
    live, maker = LiveSession(), BatchMaker()
    live.apply(maker.batch(workers=[worker_row(w, nthreads=n_threads) for w in (A, B)]))
    alive: dict[str, Run] = {}
    before: dict[str, int] = {}
    for step in range(15):
        for key in chance.sample(sorted(alive), k=min(len(alive), chance.randint(0, 3))):
            _, worker, prefix, start = alive.pop(key)
            maker.action(
                start, step, worker=worker, thread=chance.randint(0, 6), prefix=prefix, key=key
            )
        for i in range(chance.randint(0, 3)):
            key = f"inc-{step}-{i}"
            alive[key] = run(key, chance.choice((A, B)), step - chance.random())
        live.apply(maker.batch(running=list(alive.values())))
        rows = live.history.running.rows(T0 + step)
        slots = rows["slot"].tolist()
        assert len(set(slots)) == len(slots)
        assert min(slots, default=0) >= 0
        workers = live.history.strings.take(live.history.slots.worker[rows["slot"]].tolist())
        assert all(alive[k][1] == w for k, w in zip(rows["key"], workers, strict=True))
        assert set(rows["key"]) == set(alive)
        for key, slot in ids(live).items():
            old = before.get(key, slot)
            assert (
                slot == old
                or live.history.slots.last_stop[old] > T0 + alive[key][3] + CLOCK_SLACK_S
            )
        before = ids(live)
