"""The page of a task: what the scheduler knows, what was recorded, and how to get to others."""

from __future__ import annotations

from typing import Any

import pytest

from dask_diag_lab.schema import Kind
from dask_diag_lab.store import LiveSession
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.details.task import HOW, TaskPage
from dask_diag_lab.views.view import PlotLink
from tests.kernel.store.batches import BatchMaker
from tests.kernel.views.asked_pages import Answering, Shown
from tests.kernel.views.situations import batch
from tests.kernel.views.task_answers import (
    ERRED,
    HTML,
    KNOWN,
    RUNNING,
    W1,
    W2,
    WITHOUT_ROWS,
    Clock,
    shown,
)


def test_without_a_key_the_page_says_how_to_get_one_and_a_key_can_be_typed() -> None:
    page, _ = shown(key="")
    assert page.view.caption.empty == HOW
    assert page.cluster.asked == []
    page.set("key", HTML)
    assert page.facts["State"] == "memory"
    assert page.view.caption.empty == ""


def test_a_click_on_a_neighbour_goes_to_that_task() -> None:
    page, _ = shown()
    assert page.rows("relation", "key") == [("depends on", "('a', 0)"), ("is needed by", "b")]
    assert "2 of 8 tasks listed" in page.view.caption.note
    page.click(0)
    page.settle()
    assert page.cluster.asked[-1].arguments == {"key": "('a', 0)"}


def test_profile_and_worker_are_a_click_away() -> None:
    page, _ = shown(show="workers")
    page.set("profile")
    assert page.opened() == PlotLink("profile", {"prefix": "<b>"})
    page.set("worker")
    assert page.opened() == PlotLink("worker", {"worker": W1})
    page.click(0)
    assert page.opened() == PlotLink("worker", {"worker": W1})


def test_a_failed_task_shows_its_error_first_and_where_it_failed() -> None:
    page, _ = shown({**ERRED, "blame": "other"})
    assert page.text.startswith("The error is that of other")
    assert page.text.endswith(f"ValueError('{HTML}')\n\n  File x\n")
    assert page.facts["Failed on"] == "worker 2"


@pytest.mark.parametrize("section", ["dependencies", "workers", "story"])
def test_a_table_without_rows_says_so_also_in_the_export(section: str) -> None:
    page, _ = shown(WITHOUT_ROWS, show=section)
    assert page.text.endswith(": none are known of this task.")
    view = TaskPage(page.view.live, arguments={"key": HTML, "show": section})
    view.table()
    assert view.caption.empty == page.text
    page.cluster.answers["task"] = lambda _: None
    page.set("ask")
    assert page.text.startswith("The scheduler has forgotten this task.")
    page.cluster.answers["task"] = lambda _: KNOWN
    page.set("ask")
    assert page.text == ""
    assert page.rows(page.view.section.columns[0].name)


def test_ask_now_of_a_running_task_leads_to_its_call_stack() -> None:
    page, clock = shown(RUNNING)
    for _ in range(2):
        page.cluster.asked.clear()
        clock.now += 0.5
        page.set("ask")
        assert page.cluster.kinds() == ["task", "call-stacks"]
        assert "File f" in page.text


def runs(page: Shown, clock: Clock, *starts: float) -> None:
    """Have heartbeats report that the task of a page runs since then, and the page hear of it."""
    rows = [(HTML, 1, 2, start, 0) for start in starts]
    live = page.cluster.live
    live.apply(batch(time=clock.now, running=rows, strings_from=1, strings=[W2, "<b>"]))
    page.settle()


def test_a_running_task_says_since_when_for_how_long_and_where() -> None:
    page, clock = shown(RUNNING, show="times")
    runs(page, clock, 980.0)
    assert page.rows("action", "seconds", "worker") == [("computes now", 20.0, "worker 2")]
    assert page.facts["Runs since"] == fmt.clock(980.0)
    clock.now += 1.6
    runs(page, clock, 980.0)
    assert page.facts["Runs for"] == "21.6 s"
    page.events.clear()
    clock.now += 0.2
    page.view.update()
    assert not page.events  # within the same second


def test_a_task_that_does_not_run_or_did_not_fail_says_so() -> None:
    page, _ = shown(show="call-stack")
    assert page.text == "This task does not run now; it is in the state memory."
    page.set("section", "error")
    assert page.text == "This task has not failed."


def test_an_unknown_key_and_a_failed_query_have_an_empty_text() -> None:
    page, _ = shown(None)
    assert "does not know the task “<b>key</b>”" in page.view.caption.empty
    page.set("section", "call-stack")
    assert page.text == ""  # not a second message over the first
    page, _ = shown("The scheduler is gone.")
    assert page.view.caption.empty.startswith("The scheduler is gone.")


def with_history(answer: Any) -> Shown:
    """Return the page of a task that was recorded; ``answer`` is the scheduler's."""
    maker = BatchMaker()
    for start, stop in ((0, 1), (1, 1.5)):
        maker.action(start, stop, key=HTML, worker=W1, kind=Kind.TRANSFER, source=W2)
    maker.action(1.5, 3.5, key=HTML, worker=W1, thread=2, nbytes=2048)
    maker.action(0, 9, key=f"x{HTML}", worker=W2).action(0, 9, key=HTML[1:], worker=W2)
    live = LiveSession(clock=Clock())
    live.apply(maker.batch())
    return Shown(
        TaskPage(live, arguments={"key": HTML}), Answering(live, {"task": lambda _: answer})
    )


@pytest.mark.parametrize("answer", [None, "The scheduler is gone."])
def test_a_task_that_nobody_knows_any_more_is_shown_as_recorded(answer: Any) -> None:
    page = with_history(answer)
    assert page.facts["Took"] == "2.00 s"
    assert page.facts["Ran on"] == "10.0.0.1:4000, thread 2"
    # Only a scheduler that answered can have said that it forgot.
    assert ("State" in page.facts) == (answer is None)
    assert "what was recorded" in page.view.caption.note
    assert page.view.section.name == "times"
    parts = [("transfer", 1.0), ("transfer", 0.5), ("compute", 2.0)]
    assert page.rows("action", "seconds") == parts
    page.set("section", "workers")
    assert page.rows("role", "worker") == [("ran it", W1), ("sent data for it", W2)]
