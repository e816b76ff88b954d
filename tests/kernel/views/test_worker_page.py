"""The page of a worker shows what the worker answers, and says when it is gone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dask_diag_lab.store import LiveSession
from dask_diag_lab.views.details.worker import WorkerPage
from dask_diag_lab.views.view import PlotLink
from tests.kernel.views.asked_pages import Answering, Shown
from tests.kernel.views.situations import GIB, batch, worker
from tests.kernel.views.task_answers import W1, W2, Clock

HTML = "<img src=x onerror=alert(1)>"


def task(key: str, state: str, **given: Any) -> dict[str, Any]:
    row = {"key": key, "prefix": key, "state": state, "seconds": None, "nbytes": None}
    return {**row, "priority": "(0, 1)", **given}


HOLDINGS = {
    "counts": {"executing": 1, "ready": 300, "memory": 1},
    "tasks": [
        task(HTML, "executing", seconds=2.5),
        task("ready-1", "ready"),
        task("('kept', 0)", "memory", nbytes=1000, seconds=0.1),
    ],
    "connections": 3,
}
STACKS = {
    "stacks": [{"key": HTML, "frames": ["  File one\n\tf()\n", "  File two\n"]}],
    "missing": {},
}
LOGS = {"lines": ["newest", HTML]}


def shown(**arguments: str) -> tuple[Shown, Clock]:
    """Return a page of a cluster of two workers that answer."""
    clock = Clock()
    live = LiveSession(clock=clock)
    rows = [worker(1, name=HTML, memory=GIB, managed=GIB, cpu=150.0), worker(2, name="beta")]
    live.apply(batch(workers=rows))
    cluster = Answering(
        live,
        {
            "worker": lambda _: HOLDINGS,
            "call-stacks": lambda _: STACKS,
            "logs": lambda _: LOGS,
        },
    )
    return Shown(WorkerPage(live, arguments=arguments), cluster), clock


def test_tasks_of_the_first_worker_are_listed_as_text() -> None:
    page, _ = shown()
    assert page.cluster.asked[0].arguments == {"worker": W1}
    assert page.rows("key", "state")[0] == (HTML, "executing")
    seconds = [row[0] for row in page.rows("seconds")]
    assert seconds[0] == 2.5
    assert np.isnan(seconds[1])
    assert "3 of 302 tasks listed" in page.view.caption.note


def test_facts_have_heartbeat_and_answer() -> None:
    page, _ = shown()
    assert page.facts["Process memory"].startswith("1.00 GiB of 4.00 GiB (25 %)")
    assert page.facts["CPU"] == "150 % of one core"
    assert page.facts["Tasks"] == "1 executing, 300 ready, 1 memory"


def test_call_stacks_are_text_and_asked_again_by_the_button_alone() -> None:
    page, clock = shown()
    page.set("section", "call-stacks")
    assert page.text.startswith(f"{HTML}\n  File one\n\tf()\n  File two")
    n = page.cluster.kinds().count("call-stacks")
    clock.now += 60
    page.settle()
    assert page.cluster.kinds().count("call-stacks") == n
    page.set("ask")
    assert page.cluster.kinds().count("call-stacks") == n + 1


def test_logs_are_text() -> None:
    page, _ = shown(show="logs")
    assert page.text.splitlines() == ["newest", HTML]


def test_another_worker_a_task_profile_and_transfers_are_a_click_away() -> None:
    page, _ = shown()
    for _ in range(2):
        page.click(2)
        assert page.opened() == PlotLink("task", {"key": "('kept', 0)"})
    page.set("worker", W2)
    assert page.cluster.asked[-1].arguments == {"worker": W2}
    assert page.facts["Name"] == "beta"
    for plot in ("profile", "transfers"):
        page.set(plot)
        assert page.opened() == PlotLink(plot, {"worker": W2})


def test_a_worker_that_left_keeps_its_last_answers() -> None:
    page, clock = shown(worker=W1)
    page.view.live.apply(batch(workers=[], removed_workers=(W1,)))
    clock.now += 10
    asked = len(page.cluster.asked)
    page.settle()
    assert page.facts[""] == f"Worker {HTML} has left the cluster."
    assert page.rows("key")[0] == (HTML,)
    assert len(page.cluster.asked) == asked
    assert page.controls["worker"].options[-1] == (W1, f"{HTML} (left)")


@pytest.mark.parametrize("address", ["zzz", W1])
def test_the_page_of_an_unknown_worker_is_empty(address: str) -> None:
    live = shown(worker=W2)[0].view.live
    live.apply(batch(workers=[worker(2)], removed_workers=(W1,)))
    page = Shown(WorkerPage(live, arguments={"worker": address}), Answering(live, {}))
    words = f"There is no worker with the address “{address}” now. Choose one above."
    assert (page.view.caption.empty, page.facts) == (words, {})


@pytest.mark.parametrize("show", ["tasks", "call-stacks", "logs"])
def test_the_table_for_export_asks_for_its_data_without_a_picture(show: str) -> None:
    page, _ = shown()
    view = WorkerPage(page.view.live, arguments={"worker": W1, "show": show})
    view.table()
    page.cluster.answer()
    columns = view.table().columns
    assert all(len(column) >= 2 for column in columns.values())
