"""A question is asked once, its answer is kept while it is looked at, and not for ever."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dask_diag_lab.store import LiveSession
from dask_diag_lab.store.queries import MAX_KEPT, Queries, Query
from tests.kernel.store.batches import BatchMaker


def asked(queries: Queries) -> list[Query]:
    """Return a list that grows with each question that goes out."""
    sent: list[Query] = []
    queries.on_ask = sent.append
    return sent


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
    queries = Queries()
    sent = asked(queries)
    first = queries.ask("task", key="0")
    for number in range(1, MAX_KEPT):
        queries.ask("task", key=str(number))
    assert queries.known("task", key="0") is first
    queries.ask("task", key="new")
    n = len(sent)
    assert queries.ask("task", key="0") is first
    assert len(sent) == n
    queries.ask("task", key="1")
    assert len(sent) == n + 1


def test_another_scheduler_voids_the_answers_and_the_same_one_does_not() -> None:
    live = LiveSession()
    live.apply(BatchMaker().batch())
    sent = asked(live.queries)
    live.queries.ask("task", key="a")
    live.apply(replace(BatchMaker().batch(), epoch="a new collector"))
    live.queries.ask("task", key="a")
    assert len(sent) == 1
    batch = replace(BatchMaker().batch(), epoch="another scheduler")
    live.apply(replace(batch, scheduler=replace(batch.scheduler, id="other")))
    live.queries.ask("task", key="a")
    assert len(sent) == 2
