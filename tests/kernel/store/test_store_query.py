"""A question about the log is answered as of when it was asked, in whatever thread."""

from __future__ import annotations

import threading

from benchmarks.simulator import BEGIN, Simulation
from dask_diag_lab.store import Store
from dask_diag_lab.store.lod import LevelOfDetail, WindowQuery
from tests.kernel.store import brute

ASKED = (BEGIN, BEGIN + 900, None, 300, 900)


def test_other_threads_answer_while_the_log_grows_and_is_asked() -> None:
    batches = list(Simulation(4, 4, 15_000, seed=3, errors=0.01).batches(rows=300))
    store, still = Store(max_actions=8000), Store(max_actions=8000)
    queries: list[WindowQuery] = []
    answers: dict[int, LevelOfDetail] = {}
    go_on = threading.Semaphore(0)

    def answer() -> None:
        while go_on.acquire():
            if len(answers) == len(batches):
                return
            index = len(answers)
            answers[index] = queries[index].answer()

    thread = threading.Thread(target=answer)
    thread.start()
    for batch in batches:
        store.apply(batch)
        queries.append(store.actions.query(*ASKED))
        go_on.release()
        store.actions.query(BEGIN, BEGIN + 900, None, 100, 300).answer()
    go_on.release()
    thread.join(60)
    assert len(answers) == len(batches)
    for index, batch in enumerate(batches):
        still.apply(batch)
        brute.same(answers[index], still.actions.query(*ASKED).answer())


def test_questions_are_equal_until_something_changes_there() -> None:
    batches = list(Simulation(4, 4, 2000, seed=3).batches(rows=1000))
    store = Store()
    store.apply(batches[0])
    before = store.actions.query(*ASKED).question
    assert store.actions.query(*ASKED).question == before
    store.apply(batches[1])
    assert store.actions.query(*ASKED).question != before
