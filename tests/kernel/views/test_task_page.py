"""The page of a task shows what the scheduler knows of it, and how to get to one."""

from __future__ import annotations

from typing import Any

import pytest
from bokeh.models.widgets import TextInput

from dask_diag_lab.records import Kind, Outcome
from dask_diag_lab.store import Store
from dask_diag_lab.views.tasks import task_traces
from dask_diag_lab.views.tasks.task_page import HOW, TaskPage
from dask_diag_lab.views.tasks.task_page_words import ERROR_GONE, ERROR_NONE, NOTHING
from dask_diag_lab.views.tasks.task_traces import LOOK_INTERVAL_S, TaskTraces
from tests.kernel.store.batches import BatchMaker
from tests.kernel.views.asked_pages import Answering, Shown
from tests.kernel.views.situations import batch, worker

W1, W2 = "tcp://10.0.0.1:4000", "tcp://10.0.0.2:4000"
HTML = "<b>key</b>"

KNOWN: dict[str, Any] = {
    "key": HTML,
    "prefix": "<b>",
    "group": "<b>-g",
    "state": "memory",
    "priority": "(0, 1)",
    "nbytes": 2048,
    "type": "int",
    "worker": "",
    "who_has": [W1],
    "waiting_on": [],
    "dependencies": [{"key": "('a', 0)", "state": "memory"}],
    "dependents": [{"key": "b", "state": "waiting"}],
    "waiters": [],
    "counts": {"dependencies": 1, "dependents": 7, "waiting_on": 0, "waiters": 0, "who_has": 1},
    "retries": 0,
    "suspicious": 0,
    "annotations": "",
    "restrictions": "",
    "exception": "",
    "traceback": "",
    "blame": "",
    "erred_on": [],
    "missing": "",
    "actions": [
        {"action": "transfer", "start": 990.0, "stop": 991.0},
        {"action": "compute", "start": 991.0, "stop": 995.5},
    ],
    "story": [
        {"time": 989.0, "start": "released", "finish": "waiting", "stimulus": HTML},
        {"time": 996.0, "start": "processing", "finish": "memory", "stimulus": "s2"},
    ],
}
ERRED = {
    **KNOWN,
    "state": "erred",
    "exception": f"ValueError('{HTML}')",
    "traceback": "  File x\n",
    "erred_on": [W2],
    "who_has": [],
    "nbytes": -1,
}
RUNNING = {**KNOWN, "state": "processing", "worker": W2, "who_has": [], "nbytes": -1}


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def shown(answer: Any = KNOWN, **arguments: str) -> tuple[Shown, Clock]:
    """Return a page about a task that the scheduler answers with ``answer``."""
    clock = Clock()
    store = Store(clock=clock)
    store.apply(batch(workers=[worker(1), worker(2)]))
    stacks = {"stacks": [{"worker": W2, "key": HTML, "frames": ["  File f\n"]}], "missing": {}}
    cluster = Answering(store, {"task": lambda _: answer, "call-stacks": lambda _: stacks})
    return Shown(TaskPage(store, arguments={"key": HTML, **arguments}), cluster), clock


def test_without_a_key_the_page_says_how_to_get_one() -> None:
    page, _ = shown(key="")
    assert page.view.notice.empty == HOW
    assert page.cluster.asked == []


def test_facts_are_escaped() -> None:
    page, _ = shown()
    assert HTML not in page.facts
    for words in ("&lt;b&gt;key&lt;/b&gt;", "2.00 KiB", "4.50 s compute", "Needed by</i> 7 tasks"):
        assert words in page.facts


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
    nothing: dict[str, Any] = {
        name: [] for name in ("dependencies", "dependents", "who_has", "actions", "story")
    }
    page, _ = shown({**KNOWN, **nothing, "counts": {}}, show=section)
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


def test_a_task_that_does_not_run_or_did_not_fail_says_so() -> None:
    page, _ = shown(show="call-stack")
    assert page.text == "This task does not run now; it is in the state memory."
    page.choose("error")
    assert page.text == ERROR_NONE


def test_an_unknown_key_is_said() -> None:
    page, _ = shown(None)
    assert "does not know the task “<b>key</b>”" in page.view.notice.empty


def with_history(answer: Any = None, outcome: Outcome = Outcome.OK) -> Shown:
    """Return the page of a task that the scheduler never told of, though it was recorded."""
    maker = BatchMaker()
    maker.action(0, 1.5, key=HTML, worker=W1, kind=Kind.TRANSFER, source=W2)
    maker.action(1.5, 3.5, key=HTML, worker=W1, outcome=outcome, nbytes=2048)
    maker.action(0, 9, key=f"x{HTML}", worker=W2).action(0, 9, key=HTML[1:], worker=W2)
    store = Store()
    store.apply(maker.batch())
    return Shown(
        TaskPage(store, arguments={"key": HTML}), Answering(store, {"task": lambda _: answer})
    )


@pytest.mark.parametrize("answer", [None, "The scheduler is gone."])
def test_of_a_task_that_nobody_knows_any_more_the_history_is_told(answer: Any) -> None:
    page = with_history(answer)
    for words in ("forgotten by the scheduler", "1.50 s transfer, 2.00 s compute", "2.00 KiB"):
        assert words in page.facts
    assert "1 from 10.0.0.2:4000" in page.facts
    assert "it ended well" in page.facts
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
    assert "it failed" in page.facts
    page.choose("error")
    assert page.text == ERROR_GONE


def test_a_task_that_was_forgotten_keeps_what_was_known() -> None:
    page, clock = shown(RUNNING)
    page.cluster.answers["task"] = lambda _: None
    clock.now += 3
    page.settle()
    assert "has forgotten this task" in page.view.notice.note
    assert "processing" in page.facts
    assert page.view.notice.empty == ""


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
