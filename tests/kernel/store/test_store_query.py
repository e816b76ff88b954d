"""A question about the log is answered as of when it was asked, in whatever thread."""

from __future__ import annotations

import threading

from benchmarks.simulator import BEGIN, Simulation
from dask_diag_lab.store import Store
from dask_diag_lab.store.arrays import Recent
from dask_diag_lab.store.lod import LevelOfDetail, WindowQuery
from tests.kernel.store import brute

ASKED = (BEGIN, BEGIN + 900, None, 300, 900)


def test_what_comes_and_goes_later_does_not_show_in_an_answer() -> None:
    batches = list(Simulation(4, 4, 15_000, seed=3, errors=0.01).batches(rows=900))
    store, still = Store(max_actions=8000), Store(max_actions=8000)
    for batch in batches[:9]:
        store.apply(batch)
        still.apply(batch)
    query = store.actions.query(*ASKED)
    for batch in batches[9:]:
        store.apply(batch)
    assert store.actions.evicted > still.actions.evicted
    brute.same(query.answer(), still.actions.query(*ASKED).answer())


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


def test_what_was_used_last_is_kept() -> None:
    recent: Recent[str, int] = Recent(2)
    recent.keep("a", 1)
    recent.keep("b", 2)
    assert recent.get("a") == 1
    recent.keep("c", 3)
    assert [recent.get(name) for name in "abc"] == [1, None, 3]


def test_what_is_kept_anew_replaces_what_was_known() -> None:
    recent: Recent[str, int] = Recent(2)
    recent.keep("a", 1)
    recent.keep("a", 5)
    assert recent.get("a") == 5
    assert list(recent.values()) == [5]
