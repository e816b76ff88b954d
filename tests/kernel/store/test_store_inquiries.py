"""A question is asked once, its answer is kept while it is looked at, and not for ever."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dask_diag_lab.store import Store
from dask_diag_lab.store.inquiries import (
    IN_USE_S,
    IN_USE_TIMES,
    MAX_KEPT,
    MAX_LARGE,
    Inquiries,
    Inquiry,
)
from tests.kernel.store.batches import BatchMaker


class Clock:
    """Time that passes by being told to."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def asked(inquiries: Inquiries) -> list[Inquiry]:
    """Return a list that grows with each question that goes out."""
    sent: list[Inquiry] = []
    inquiries.on_ask = sent.append
    return sent


def profile(inquiries: Inquiries, start: float) -> Inquiry:
    return inquiries.ask(
        "profile", source="tasks", prefix="", worker="", start=start, stop=start + 1
    )


def test_the_same_question_goes_out_once() -> None:
    inquiries = Inquiries()
    sent = asked(inquiries)
    first = inquiries.ask("task", key="a")
    assert inquiries.ask("task", key="a") is first
    assert inquiries.ask("task", key="b") is not first
    assert [inquiry.arguments for inquiry in sent] == [{"key": "a"}, {"key": "b"}]


def test_asking_again_keeps_the_old_answer_and_waits_for_one_under_way() -> None:
    inquiries = Inquiries()
    sent = asked(inquiries)
    inquiry = inquiries.ask("task", key="a")
    inquiries.ask_again(inquiry)
    assert len(sent) == 1
    inquiries.answered(inquiry, {"x": 1}, 5.0)
    inquiries.ask_again(inquiry)
    assert len(sent) == 2
    assert (inquiry.state, inquiry.answer) == ("asked", {"x": 1})
    inquiries.failed(inquiry, "gone")
    assert (inquiry.state, inquiry.answer, inquiry.error) == ("failed", {"x": 1}, "gone")
    inquiries.ask_again(inquiry)
    inquiries.answered(inquiry, {"x": 2}, 6.0)
    assert (inquiry.error, inquiry.answered_at) == ("", 6.0)


def test_a_question_that_nobody_takes_fails_in_words() -> None:
    inquiry = Inquiries().ask("task", key="a")
    assert inquiry.state == "failed"
    assert "Nobody" in inquiry.error


def test_a_question_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="no question 'weather'"):
        Inquiries().ask("weather")
    with pytest.raises(ValueError, match="worker"):
        Inquiries().ask("task", worker="a")


def test_answers_are_bounded_and_the_one_looked_at_longest_ago_goes_first() -> None:
    inquiries = Inquiries(clock := Clock())
    sent = asked(inquiries)
    first = inquiries.ask("task", key="0")
    for number in range(1, MAX_KEPT):
        inquiries.ask("task", key=str(number))
    clock.now += IN_USE_S
    inquiries.ask("task", key="0")
    inquiries.ask("task", key="new")
    n = len(sent)
    assert inquiries.ask("task", key="0") is first
    assert len(sent) == n
    inquiries.ask("task", key="1")
    assert len(sent) == n + 1


def test_large_answers_have_a_bound_of_their_own() -> None:
    inquiries = Inquiries(clock := Clock())
    sent = asked(inquiries)
    task = inquiries.ask("task", key="a")
    for start in range(3 * MAX_LARGE):
        clock.now += IN_USE_S
        profile(inquiries, start)
    n = len(sent)
    for start in range(2 * MAX_LARGE, 3 * MAX_LARGE):
        profile(inquiries, start)
    assert len(sent) == n
    assert inquiries.ask("task", key="a") is task
    profile(inquiries, 0)
    assert len(sent) == n + 1


def test_answers_that_are_looked_at_do_not_push_each_other_out() -> None:
    inquiries = Inquiries(clock := Clock())
    sent = asked(inquiries)
    for _update in range(3):
        for start in range(2 * MAX_LARGE):
            profile(inquiries, start)
        clock.now += IN_USE_S / 2
    assert len(sent) == 2 * MAX_LARGE


def test_a_script_that_asks_for_everything_at_once_is_bounded_too() -> None:
    inquiries = Inquiries(Clock())
    sent = asked(inquiries)
    for start in range(10 * MAX_LARGE):
        profile(inquiries, start)
    n = len(sent)
    profile(inquiries, 10 * MAX_LARGE - IN_USE_TIMES * MAX_LARGE)
    assert len(sent) == n
    profile(inquiries, 0)
    assert len(sent) == n + 1


def test_what_was_asked_before_can_be_looked_up_without_asking() -> None:
    inquiries = Inquiries(Clock())
    sent = asked(inquiries)
    assert inquiries.known("hardware") is None
    assert sent == []
    inquiry = inquiries.ask("hardware")
    assert inquiries.known("hardware") is inquiry
    assert len(sent) == 1


def test_the_version_moves_with_every_change() -> None:
    store = Store()
    asked(store.inquiries)
    inquiry = store.inquiries.ask("task", key="a")
    before = (store.version, store.inquiries.version, inquiry.version)
    store.answer(inquiry, None)
    after = (store.version, store.inquiries.version, inquiry.version)
    assert all(new > old for old, new in zip(before, after, strict=True))
    store.fail(inquiry, "gone")
    assert (store.version, inquiry.version) > (after[0], after[2])


def test_another_scheduler_voids_the_answers_and_the_same_one_does_not() -> None:
    store = Store()
    store.apply(BatchMaker().batch())
    sent = asked(store.inquiries)
    store.inquiries.ask("task", key="a")
    store.apply(replace(BatchMaker().batch(), epoch="a new collector"))
    store.inquiries.ask("task", key="a")
    assert len(sent) == 1
    batch = replace(BatchMaker().batch(), epoch="another scheduler")
    store.apply(replace(batch, scheduler=replace(batch.scheduler, id="other")))
    store.inquiries.ask("task", key="a")
    assert len(sent) == 2
