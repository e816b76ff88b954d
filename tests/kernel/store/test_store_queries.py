"""A question is asked once, its answer is kept while it is looked at, and not for ever."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dask_diag_lab.store import Store
from dask_diag_lab.store.queries import (
    IN_USE_S,
    IN_USE_TIMES,
    MAX_KEPT,
    MAX_LARGE,
    Queries,
    Query,
)
from tests.kernel.store.batches import BatchMaker


class Clock:
    """Time that passes by being told to."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def asked(queries: Queries) -> list[Query]:
    """Return a list that grows with each question that goes out."""
    sent: list[Query] = []
    queries.on_ask = sent.append
    return sent


def profile(queries: Queries, start: float) -> Query:
    return queries.ask("profile", source="tasks", prefix="", worker="", start=start, stop=start + 1)


def test_the_same_question_goes_out_once() -> None:
    queries = Queries()
    sent = asked(queries)
    first = queries.ask("task", key="a")
    assert queries.ask("task", key="a") is first
    assert queries.ask("task", key="b") is not first
    assert [query.arguments for query in sent] == [{"key": "a"}, {"key": "b"}]


def test_asking_again_keeps_the_old_answer_and_waits_for_one_under_way() -> None:
    queries = Queries()
    sent = asked(queries)
    query = queries.ask("task", key="a")
    queries.ask_again(query)
    assert len(sent) == 1
    queries.answered(query, {"x": 1}, 5.0)
    queries.ask_again(query)
    assert len(sent) == 2
    assert (query.state, query.answer) == ("asked", {"x": 1})
    queries.failed(query, "gone")
    assert (query.state, query.answer, query.error) == ("failed", {"x": 1}, "gone")
    queries.ask_again(query)
    queries.answered(query, {"x": 2}, 6.0)
    assert (query.error, query.answered_at) == ("", 6.0)


def test_a_question_that_nobody_takes_fails_in_words() -> None:
    query = Queries().ask("task", key="a")
    assert query.state == "failed"
    assert "Nobody" in query.error


def test_a_question_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="no question 'weather'"):
        Queries().ask("weather")
    with pytest.raises(ValueError, match="worker"):
        Queries().ask("task", worker="a")


def test_answers_are_bounded_and_the_one_looked_at_longest_ago_goes_first() -> None:
    queries = Queries(clock := Clock())
    sent = asked(queries)
    first = queries.ask("task", key="0")
    for number in range(1, MAX_KEPT):
        queries.ask("task", key=str(number))
    clock.now += IN_USE_S
    queries.ask("task", key="0")
    queries.ask("task", key="new")
    n = len(sent)
    assert queries.ask("task", key="0") is first
    assert len(sent) == n
    queries.ask("task", key="1")
    assert len(sent) == n + 1


def test_large_answers_have_a_bound_of_their_own() -> None:
    queries = Queries(clock := Clock())
    sent = asked(queries)
    task = queries.ask("task", key="a")
    for start in range(3 * MAX_LARGE):
        clock.now += IN_USE_S
        profile(queries, start)
    n = len(sent)
    for start in range(2 * MAX_LARGE, 3 * MAX_LARGE):
        profile(queries, start)
    assert len(sent) == n
    assert queries.ask("task", key="a") is task
    profile(queries, 0)
    assert len(sent) == n + 1


def test_answers_that_are_looked_at_do_not_push_each_other_out() -> None:
    queries = Queries(clock := Clock())
    sent = asked(queries)
    for _update in range(3):
        for start in range(2 * MAX_LARGE):
            profile(queries, start)
        clock.now += IN_USE_S / 2
    assert len(sent) == 2 * MAX_LARGE


def test_a_script_that_asks_for_everything_at_once_is_bounded_too() -> None:
    queries = Queries(Clock())
    sent = asked(queries)
    for start in range(10 * MAX_LARGE):
        profile(queries, start)
    n = len(sent)
    profile(queries, 10 * MAX_LARGE - IN_USE_TIMES * MAX_LARGE)
    assert len(sent) == n
    profile(queries, 0)
    assert len(sent) == n + 1


def test_what_was_asked_before_can_be_looked_up_without_asking() -> None:
    queries = Queries(Clock())
    sent = asked(queries)
    assert queries.known("hardware") is None
    assert sent == []
    query = queries.ask("hardware")
    assert queries.known("hardware") is query
    assert len(sent) == 1


def test_the_version_moves_with_every_change() -> None:
    store = Store()
    asked(store.queries)
    query = store.queries.ask("task", key="a")
    before = (store.version, store.queries.version, query.version)
    store.answer(query, None)
    after = (store.version, store.queries.version, query.version)
    assert all(new > old for old, new in zip(before, after, strict=True))
    store.fail(query, "gone")
    assert (store.version, query.version) > (after[0], after[2])


def test_another_scheduler_voids_the_answers_and_the_same_one_does_not() -> None:
    store = Store()
    store.apply(BatchMaker().batch())
    sent = asked(store.queries)
    store.queries.ask("task", key="a")
    store.apply(replace(BatchMaker().batch(), epoch="a new collector"))
    store.queries.ask("task", key="a")
    assert len(sent) == 1
    batch = replace(BatchMaker().batch(), epoch="another scheduler")
    store.apply(replace(batch, scheduler=replace(batch.scheduler, id="other")))
    store.queries.ask("task", key="a")
    assert len(sent) == 2
