"""The page of a task shows what the scheduler knows of it, and how to get to one."""

from __future__ import annotations

import math

import pytest
from bokeh.models.widgets import TextInput

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.tasks.task_page import HOW, TaskPage
from dask_diag_lab.views.tasks.task_page_words import ERROR_NONE, NOT_BEGUN, NOTHING, UNRECORDED
from dask_diag_lab.views.tasks.task_runs import ACTION
from tests.kernel.views.asked_pages import Shown
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


def test_without_a_key_the_page_says_how_to_get_one() -> None:
    page, _ = shown(key="")
    assert page.view.notice.empty == HOW
    assert page.cluster.asked == []


def test_facts_are_escaped() -> None:
    page, _ = shown()
    assert HTML not in page.facts
    for words in ("&lt;b&gt;key&lt;/b&gt;", "2.00 KiB", "4.50 s compute", "Needed by</i> 7 tasks"):
        assert words in page.facts


def test_a_closed_cluster_is_not_to_be_asked_again() -> None:
    page, _ = shown()
    assert isinstance(page.view, TaskPage)
    assert not page.view._ask.disabled
    page.view.store.set_feed_state("closed", "", 1.0)
    page.settle()
    assert page.view._ask.disabled


def test_a_click_on_a_neighbour_goes_to_that_task() -> None:
    page, _ = shown()
    assert page.rows("relation", "key") == [
        ("depends on", "('a', 0)"),
        ("is needed by", "b"),
    ]
    assert "2 of 8 tasks listed" in page.view.notice.note
    page.click(0)
    page.settle()
    assert page.view.arguments["key"] == "('a', 0)"
    assert page.cluster.asked[-1].arguments == {"key": "('a', 0)"}
    assert page.view.opening is None


def test_a_key_can_be_typed() -> None:
    page, _ = shown(key="")
    field = page.view.model.select_one({"placeholder": "Key of a task"})
    assert isinstance(field, TextInput)
    field.value = HTML
    page.settle()
    assert "memory" in page.facts
    assert page.view.notice.empty == ""


def test_a_click_on_who_has_it_opens_the_worker() -> None:
    page, _ = shown(show="workers")
    assert page.rows("role", "worker") == [("has the result", W1)]
    page.click(0)
    assert page.view.opening is not None
    assert (page.view.opening.plot, page.view.opening.arguments) == ("worker", {"worker": W1})


def test_the_buttons_open_profile_and_worker() -> None:
    page, _ = shown()
    page.press("Profile")
    assert page.view.opening is not None
    assert page.view.opening.arguments == {"prefix": "<b>"}
    page.press("Worker")
    assert page.view.opening.arguments == {"worker": W1}


def test_times_and_story_are_tables() -> None:
    page, _ = shown(show="times")
    assert page.rows("action", "seconds") == [("transfer", 1.0), ("compute", 4.5)]
    page.choose("story")
    assert page.rows("start", "finish", "stimulus")[0] == ("released", "waiting", HTML)
    assert "1000 changes" in page.view.notice.note


def test_a_failed_task_shows_its_error_first() -> None:
    page, _ = shown(ERRED)
    assert page.view.section.name == "error"
    assert page.text == f"ValueError('{HTML}')\n\n  File x\n"
    page.choose("workers")
    page.settle()
    assert page.rows("role", "worker") == [("it failed there", W2)]


def test_a_failed_task_names_the_worker_it_failed_on_and_leads_there() -> None:
    page, _ = shown(ERRED)
    assert "<i>Failed on</i> worker 2<" in page.facts
    page.press("Worker")
    opening = page.opened()
    assert opening is not None
    assert (opening.plot, opening.arguments) == ("worker", {"worker": W2})


@pytest.mark.parametrize("section", ["dependencies", "workers", "times", "story"])
def test_a_table_without_rows_says_so_in_words(section: str) -> None:
    page, _ = shown(WITHOUT_ROWS, show=section)
    assert page.text == NOTHING[section]
    seen = [page.view.rows.model.visible]
    page.cluster.answers["task"] = lambda _: KNOWN
    page.press("Ask now")
    page.settle()
    seen.append(page.view.rows.model.visible)
    assert seen == [False, True]
    assert page.rows(page.view.section.columns[0].name)


def test_a_task_that_failed_because_of_another_names_it() -> None:
    page, _ = shown({**ERRED, "blame": "other"})
    assert page.text.startswith("The error is that of other")


def test_a_running_task_shows_its_call_stack() -> None:
    page, _ = shown(RUNNING, show="call-stack")
    assert page.cluster.asked[-1].arguments == {"worker": W2, "key": HTML}
    assert "File f" in page.text


def test_ask_now_of_a_running_task_leads_to_its_call_stack() -> None:
    page, clock = shown(RUNNING)
    assert page.view.section.name == "dependencies"
    for kinds in (["task", "call-stacks"], ["task", "call-stacks"]):
        page.cluster.asked.clear()
        clock.now += 0.5
        page.press("Ask now")
        page.settle()
        assert page.cluster.kinds() == kinds
        assert page.view.section.name == "call-stack"
        assert "File f" in page.text


def test_ask_now_of_another_task_says_that_it_was_asked() -> None:
    page, clock = shown(show="story")
    clock.now += 5
    page.press("Ask now")
    page.settle()
    assert page.cluster.kinds() == ["task", "task"]
    assert page.view.section.name == "story"
    assert f"Asked at {fmt.clock(1005.0)}." in page.view.notice.note
    page.view.show({"key": "another"})
    page.settle()
    assert "Asked at" not in page.view.notice.note


def runs(page: Shown, clock: Clock, *starts: float) -> None:
    """Have heartbeats tell that the task of a page runs since then, and the page hear of it."""
    rows = [(HTML, 1, 2, start) for start in starts]
    store = page.cluster.store
    store.apply(batch(time=clock.now, running=rows, strings_from=1, strings=[W2, "<b>"]))
    page.settle()


def test_a_running_task_says_since_when_for_how_long_and_where() -> None:
    page, clock = shown({**RUNNING, "actions": []}, show="times")
    assert page.text == NOT_BEGUN
    runs(page, clock, 980.0)
    assert page.rows("action", "start", "seconds", "worker") == [(ACTION, 980e3, 20.0, "worker 2")]
    assert math.isnan(page.rows("thread")[0][0])
    for words in ("Runs on</i> worker 2<", f"Runs since</i> {fmt.clock(980.0)}<"):
        assert words in page.facts
    clock.now += 1.6
    runs(page, clock, 980.0)
    assert page.rows("seconds") == [(pytest.approx(21.6),)]
    assert "Runs for</i> 21.6 s<" in page.facts


def test_a_run_that_has_ended_is_not_said_to_go_on() -> None:
    page, clock = shown(RUNNING, show="times")
    runs(page, clock, 999.0)
    assert page.rows("action") == [("transfer",), ("compute",), (ACTION,)]
    page.cluster.answers["task"] = lambda _: KNOWN
    clock.now += 3
    runs(page, clock)
    assert page.rows("action") == [("transfer",), ("compute",)]
    assert "Runs since" not in page.facts


def test_a_settled_task_that_runs_again_is_asked_soon() -> None:
    page, clock = shown()
    runs(page, clock, 1000.0)
    clock.now += 3
    page.settle()
    assert page.cluster.kinds() == ["task", "task"]


def test_nothing_is_sent_of_a_running_task_within_the_same_second() -> None:
    page, clock = shown(RUNNING, show="times")
    runs(page, clock, 999.0)
    clock.now += 0.4
    page.view.update()
    assert not page.events


def test_a_task_that_does_not_run_or_did_not_fail_says_so() -> None:
    page, _ = shown(show="call-stack")
    assert page.text == "This task does not run now; it is in the state memory."
    page.choose("error")
    assert page.text == ERROR_NONE


def test_an_unknown_key_is_said_to_be_in_no_record_either() -> None:
    page, _ = shown(None)
    assert "does not know the task “<b>key</b>”" in page.view.notice.empty
    assert UNRECORDED in page.view.notice.empty


def test_a_settled_task_is_asked_seldom() -> None:
    page, clock = shown()
    clock.now += 5
    page.settle()
    assert len(page.cluster.asked) == 1
    clock.now += 6
    page.settle()
    assert len(page.cluster.asked) == 2


def test_a_failure_to_ask_is_said() -> None:
    page, _ = shown("The scheduler is gone.")
    assert page.view.notice.empty.startswith("The scheduler is gone.")


@pytest.mark.parametrize("show", ["dependencies", "workers", "times", "story"])
def test_the_table_for_export_asks_for_its_data_without_a_picture(show: str) -> None:
    page, _ = shown()
    view = TaskPage(page.view.store, arguments={"key": HTML, "show": show})
    assert any(len(column) for column in view.table().columns.values())


@pytest.mark.parametrize("show", ["dependencies", "workers", "times", "story"])
def test_an_export_without_rows_has_the_words_of_the_page(show: str) -> None:
    page, _ = shown(WITHOUT_ROWS, show=show)
    view = TaskPage(page.view.store, arguments={"key": HTML, "show": show})
    for _ in range(2):
        view.table()
    assert view.notice.empty == NOTHING[show]
