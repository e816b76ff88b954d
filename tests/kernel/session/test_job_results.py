"""Work on answers: where it is done is for others to say, and what it raises is not lost."""

from __future__ import annotations

import gc
import time
import weakref
from functools import partial
from traceback import walk_tb

import pytest

from dask_diag_lab.jobs import Job, Jobs
from dask_diag_lab.store import Store


def _fail() -> None:
    raise KeyError("broken")


def test_without_a_place_of_its_own_all_is_done_at_once() -> None:
    jobs = Jobs()
    job = jobs.start(lambda: 7)
    assert job.is_done
    assert job.result() == 7
    assert (jobs.n_open, jobs.version) == (0, 1)


def test_work_is_open_until_the_store_is_told() -> None:
    store = Store()
    open_: list[Job[int]] = []
    store.jobs.on_start = open_.append
    job = store.jobs.start(lambda: 7)
    before = store.version
    open_[0].do()
    assert not job.is_done
    assert store.jobs.n_open == 1
    store.job_done(open_[0])
    assert job.result() == 7
    assert store.jobs.n_open == 0
    assert store.version > before


def test_what_work_raises_is_raised_where_its_result_is_asked_for() -> None:
    job = Jobs().start(_fail)
    with pytest.raises(KeyError, match="broken"):
        job.result()


def test_work_that_is_done_holds_on_to_nothing_that_it_was_made_of() -> None:
    class Answer:
        size = 7

    answer = Answer()
    gone = weakref.ref(answer)
    job = Jobs().start(partial(getattr, answer, "size"))
    del answer
    gc.collect()
    assert job.result() == 7
    assert gone() is None


def test_work_is_done_once() -> None:
    done: list[int] = []
    job = Jobs().start(lambda: done.append(1))
    job.do()
    assert done == [1]


def test_raising_it_again_does_not_lengthen_its_traceback() -> None:
    job = Jobs().start(_fail)
    lengths = []
    for _ in range(3):
        with pytest.raises(KeyError) as raised:
            job.result()
        lengths.append(len(list(walk_tb(raised.tb))))
    assert len(set(lengths)) == 1


def test_what_is_started_in_a_block_is_noticed_and_nothing_else() -> None:
    jobs = Jobs()
    jobs.start(lambda: 1)
    with jobs.noticed() as outer:
        first = jobs.start(lambda: 2)
        with jobs.noticed() as inner:
            second = jobs.start(lambda: 3)
    jobs.start(lambda: 4)
    assert (outer, inner) == ([first], [second])


def test_the_processor_time_of_all_work_is_counted() -> None:
    def compute() -> None:
        until = time.thread_time() + 0.01
        while time.thread_time() < until:
            pass

    jobs = Jobs()
    one, other = jobs.start(compute), jobs.start(compute)
    assert one.cpu_s >= 0.01
    assert jobs.cpu_s == one.cpu_s + other.cpu_s


def test_what_is_given_up_before_it_begins_is_not_done() -> None:
    done: list[int] = []
    job = Job(lambda: done.append(1))
    job.give_up()
    job.do()
    assert done == []
