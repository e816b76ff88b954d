"""Work on answers: where it is done is for others to say, and what it raises is not lost."""

from __future__ import annotations

import gc
import time
import weakref
from functools import partial
from traceback import walk_tb

import pytest

from dask_diag_lab.store import Store
from dask_diag_lab.store.workings import Working, Workings, done_here


def _fail() -> None:
    raise KeyError("broken")


def test_without_a_place_of_its_own_all_is_done_at_once() -> None:
    workings = Workings()
    working = workings.start(lambda: 7)
    assert working.is_done
    assert working.result() == 7
    assert (workings.n_open, workings.version) == (0, 1)


def test_work_is_open_until_the_store_is_told() -> None:
    store = Store()
    open_: list[Working[int]] = []
    store.workings.on_start = open_.append
    working = store.workings.start(lambda: 7)
    before = store.version
    open_[0].do()
    assert not working.is_done
    assert store.workings.n_open == 1
    store.worked_out(open_[0])
    assert working.result() == 7
    assert store.workings.n_open == 0
    assert store.version > before


def test_what_work_raises_is_raised_where_its_result_is_asked_for() -> None:
    working = Workings().start(_fail)
    with pytest.raises(KeyError, match="broken"):
        working.result()


def test_work_that_is_done_holds_on_to_nothing_that_it_was_made_of() -> None:
    class Answer:
        size = 7

    answer = Answer()
    gone = weakref.ref(answer)
    working = Workings().start(partial(getattr, answer, "size"))
    del answer
    gc.collect()
    assert working.result() == 7
    assert gone() is None


def test_work_is_done_once() -> None:
    done: list[int] = []
    working = Workings().start(lambda: done.append(1))
    working.do()
    assert done == [1]


def test_raising_it_again_does_not_lengthen_its_traceback() -> None:
    working = Workings().start(_fail)
    lengths = []
    for _ in range(3):
        with pytest.raises(KeyError) as raised:
            working.result()
        lengths.append(len(list(walk_tb(raised.tb))))
    assert len(set(lengths)) == 1


def test_what_is_started_in_a_block_is_noticed_and_nothing_else() -> None:
    workings = Workings()
    workings.start(lambda: 1)
    with workings.noticed() as outer:
        first = workings.start(lambda: 2)
        with workings.noticed() as inner:
            second = workings.start(lambda: 3)
    workings.start(lambda: 4)
    assert (outer, inner) == ([first], [second])


def test_the_processor_time_of_all_work_is_counted() -> None:
    def compute() -> None:
        until = time.thread_time() + 0.01
        while time.thread_time() < until:
            pass

    workings = Workings()
    one, other = workings.start(compute), workings.start(compute)
    assert one.cpu_s >= 0.01
    assert workings.cpu_s == one.cpu_s + other.cpu_s


def test_what_is_done_here_is_done_and_asks_for_no_thread() -> None:
    working = done_here(lambda: 7)
    assert working.is_done
    assert working.result() == 7


def test_what_is_given_up_before_it_begins_is_not_done() -> None:
    done: list[int] = []
    working = Working(lambda: done.append(1))
    working.give_up()
    working.do()
    assert done == []
