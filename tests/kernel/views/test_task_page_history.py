"""The page of a task shows what was recorded of it, most of all of one that was forgotten."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dask_diag_lab.records import ExtraChange, Kind, Outcome
from dask_diag_lab.store import Store
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.tasks import task_traces
from dask_diag_lab.views.tasks.task_page import TaskPage
from dask_diag_lab.views.tasks.task_page_words import (
    ERROR_GONE,
    ERROR_KILLED,
    ERROR_NONE,
    NOTHING,
    NOTHING_LEFT,
    UNRECORDED,
)
from dask_diag_lab.views.tasks.task_traces import LOOK_INTERVAL_S, TaskTraces
from tests.kernel.store.batches import T0, BatchMaker
from tests.kernel.views.asked_pages import Answering, Shown
from tests.kernel.views.task_answers import (
    HTML,
    KNOWN,
    RUNNING,
    W1,
    W2,
    WITHOUT_ROWS,
    Clock,
    shown,
)


def with_history(answer: Any = None, outcome: Outcome = Outcome.OK) -> Shown:
    """Return the page of a task that was recorded, and of which the scheduler tells ``answer``."""
    maker = BatchMaker()
    maker.action(0, 1.5, key=HTML, worker=W1, kind=Kind.TRANSFER, source=W2)
    maker.action(1.5, 3.5, key=HTML, worker=W1, thread=2, outcome=outcome, nbytes=2048)
    maker.action(0, 9, key=f"x{HTML}", worker=W2).action(0, 9, key=HTML[1:], worker=W2)
    store = Store(clock=Clock())
    store.apply(maker.batch())
    return Shown(
        TaskPage(store, arguments={"key": HTML}), Answering(store, {"task": lambda _: answer})
    )


@pytest.mark.parametrize("answer", [None, "The scheduler is gone."])
def test_of_a_task_that_nobody_knows_any_more_the_history_is_told(answer: Any) -> None:
    page = with_history(answer)
    for words in ("1.50 s transfer, 2.00 s compute", "2.00 KiB"):
        assert words in page.facts
    # Only a scheduler that answered can have said that it forgot.
    assert ("<i>State</i> forgotten by the scheduler<" in page.facts) == (answer is None)
    assert "1 from 10.0.0.2:4000" in page.facts
    assert "<i>Outcome</i> success<" in page.facts
    assert page.view.notice.empty == ""
    assert "what was recorded" in page.view.notice.note
    assert ("gone" in page.view.notice.note) == (answer is not None)
    assert page.view.section.name == "times"
    times = page.view.table().columns
    assert times["action"] == ["transfer", "compute"]
    assert list(times["seconds"]) == [1.5, 2.0]
    page.choose("workers")
    assert page.view.table().columns["worker"] == [W1, W2]
    page.choose("error")
    assert page.text == ERROR_NONE


def forgotten(page: Shown) -> Shown:
    """Let the scheduler forget the task of a page, and the page hear of it."""
    page.cluster.answers |= {"task": lambda _: None, "call-stacks": lambda _: {"stacks": ()}}
    page.press("Ask now")
    page.settle()
    return page


def test_where_and_when_it_ran_is_told_of_a_task_that_was_known_until_it_was_forgotten() -> None:
    page = with_history(RUNNING)
    assert "processing" in page.facts
    forgotten(page)
    for words in (
        *("forgotten by the scheduler", "<i>Ran on</i> 10.0.0.1:4000, thread 2<"),
        *(f"<i>Started at</i> {fmt.clock(T0 + 1.5)}<", f"<i>Ended at</i> {fmt.clock(T0 + 3.5)}<"),
        *("1.50 s transfer, 2.00 s compute", "<i>Group</i> &lt;b&gt;-g<"),
    ):
        assert words in page.facts
    assert "processing" not in page.facts
    assert "Runs on" not in page.facts
    assert "This is what was recorded of it" in page.view.notice.note
    page.choose("workers")
    assert page.rows("role", "worker") == [("ran it", W1), ("sent data for it", W2)]


def test_the_times_of_a_task_say_worker_and_thread_whether_it_is_forgotten_or_not() -> None:
    page = with_history(KNOWN)
    assert "<i>Ran on</i> 10.0.0.1:4000, thread 2<" in page.facts
    page.choose("times")
    for told in (page, forgotten(page)):
        assert told.rows("action", "seconds", "worker")[1] == ("compute", 2.0, "10.0.0.1:4000")
        assert list(told.view.rows.source.data["thread"])[1] == 2


def test_a_task_that_runs_is_not_said_to_have_run_because_data_came_for_it() -> None:
    store = Store()
    moved = BatchMaker().action(0, 1.5, key=HTML, worker=W1, kind=Kind.TRANSFER, source=W2)
    store.apply(moved.batch())
    cluster = Answering(store, {"task": lambda _: RUNNING})
    page = Shown(TaskPage(store, arguments={"key": HTML}), cluster)
    assert "<i>Runs on</i>" in page.facts
    assert "<i>Ran on</i>" not in page.facts


def test_what_was_recorded_stays_while_the_scheduler_is_asked_again() -> None:
    page = with_history()
    before, note = page.facts, page.view.notice.note
    page.press("Ask now")
    page.view.update()
    assert page.cluster.kinds() == ["task", "task"]
    assert page.facts == before
    assert page.view.notice.note.startswith(f"{note} Asked at ")


@pytest.mark.parametrize("section", ["dependencies", "workers", "times", "story"])
def test_a_forgotten_task_is_not_said_to_have_had_nothing(section: str) -> None:
    page, _ = shown(WITHOUT_ROWS, show=section)
    assert page.text == NOTHING[section]
    assert forgotten(page).text == NOTHING_LEFT[section]


def test_what_the_history_has_more_of_is_looked_up_when_it_is_time_though_nothing_comes() -> None:
    maker, store, clock = BatchMaker(), Store(clock=lambda: 0.0), Clock()
    store.apply(maker.action(0, 1, key=HTML).batch())
    traces = TaskTraces(store, HTML, clock)
    traces.look()
    store.apply(maker.action(2, 3, key=HTML).batch())
    store.set_feed_state("lost", "The scheduler is gone.", 0.0)
    traces.look()
    assert (len(traces.runs), traces.is_due) == (1, False)
    clock.now += LOOK_INTERVAL_S
    assert traces.is_due
    traces.look()
    assert (len(traces.runs), traces.is_due) == (2, False)


def test_a_page_of_the_history_is_called_again_until_it_shows_what_was_recorded_since(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(task_traces, "LOOK_INTERVAL_S", 0.0)
    page = with_history()
    before = page.view.is_behind
    maker = BatchMaker(epoch="another")
    page.cluster.store.apply(maker.action(100, 101, key=HTML, worker=W1).batch())
    meanwhile = page.view.is_behind
    page.settle()
    assert (before, meanwhile, page.view.is_behind) == (False, True, False)
    assert page.view.table().columns["action"] == ["transfer", "compute", "compute"]


def test_a_failure_in_the_history_is_told_though_its_error_is_gone() -> None:
    page = with_history(outcome=Outcome.ERRED)
    assert "<i>Outcome</i> failure<" in page.facts
    page.choose("error")
    assert page.text == ERROR_GONE


def test_a_task_whose_last_worker_died_is_not_said_not_to_have_failed() -> None:
    page = with_history(outcome=Outcome.KILLED)
    assert "its worker died while it ran" in page.facts
    page.choose("error")
    assert page.text == ERROR_KILLED


@pytest.mark.parametrize("outcome", [Outcome.KILLED, Outcome.ERRED])
def test_the_error_of_a_forgotten_task_is_told_where_it_is_kept(outcome: Outcome) -> None:
    page = with_history(outcome=outcome)
    errors: dict[str, list[Any]] = {  # columns differ in type
        "key": [f"x{HTML}", HTML],
        "prefix": ["x", "x"],
        "time": [T0, T0],
        "workers": [(), (W1,)],
        "exception": ["ValueError", "KilledWorker: once too often"],
        "traceback": ["", "  File x"],
        "count": [1, 1],
        "kind": ["ValueError", "KilledWorker: once too often"],
        "kind_count": [1, 1],
        "kind_first": [T0, T0],
    }
    extras = {"errors": ExtraChange(errors)}
    page.cluster.store.apply(replace(BatchMaker(epoch="b").batch(), extras=extras))
    page.choose("error")
    assert page.text == "KilledWorker: once too often\n\n  File x"


def test_a_task_that_outlived_its_worker_has_not_failed() -> None:
    maker, store = BatchMaker(), Store()
    maker.action(0, 1, key=HTML, outcome=Outcome.KILLED).action(2, 3, key=HTML)
    store.apply(maker.batch())
    traces = TaskTraces(store, HTML)
    traces.look()
    assert traces.error() == ERROR_NONE


def test_a_run_that_takes_the_place_of_another_in_a_full_log_is_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(task_traces, "LOOK_INTERVAL_S", 0.0)
    maker, store = BatchMaker(), Store(max_actions=2, clock=Clock())
    store.apply(maker.action(0, 1, key=HTML).action(2, 3.5, key=HTML).batch())
    view = TaskPage(store, arguments={"key": HTML, "show": "times"})
    page = Shown(view, Answering(store, {"task": lambda _: None}))
    assert page.rows("seconds") == [(1.0,), (1.5,)]
    store.apply(maker.action(4, 6, key=HTML).batch())
    page.settle()
    assert page.rows("seconds") == [(1.5,), (2.0,)]


def test_a_task_that_was_forgotten_keeps_what_was_known() -> None:
    page, clock = shown(RUNNING)
    page.cluster.answers["task"] = lambda _: None
    clock.now += 3
    page.settle()
    assert "has forgotten this task" in page.view.notice.note
    assert UNRECORDED in page.view.notice.note
    assert "processing" in page.facts
    assert page.view.notice.empty == ""
