"""What is saved of live outputs in notebooks that are executed without a browser."""

from __future__ import annotations

import pytest

from tests.kernel.notebook.executed import executed, executed_notebook

START = """
from distributed import Client, Event, wait
import dask_diag_lab
client = Client(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0")
def held(i):
    if i:
        Event("go").wait(100)
futures = client.map(held, range(4))
wait(futures[0])
"""
PROGRESS = "dask_diag_lab.progress(futures)"
PLOT = 'dask_diag_lab.plot("task-stream")'
FINISH = 'Event("go").set()\n_ = wait(futures)'
CLOSE = "client.close()"

pytestmark = pytest.mark.usefixtures("runtime_dir")


def test_progress_is_saved_as_finished_when_a_later_cell_has_waited() -> None:
    notebook = executed_notebook(START, PROGRESS, FINISH)
    (output,) = notebook["cells"][1]["outputs"]
    assert output["data"]["text/plain"].startswith("<Finished: 4 of 4 tasks")
    (kind,) = notebook["metadata"]["widgets"].values()
    states = {model: one["state"] for model, one in kind["state"].items()}
    assert "Finished: 4 of 4 tasks" in str(states)
    assert "Counting" not in str(states)
    assert 1.0 in [state.get("value") for state in states.values()]
    refs = {
        str(r)[10:]
        for s in states.values()
        for v in s.values()
        for r in (v if isinstance(v, list) else [v])
        if str(r).startswith("IPY_MODEL_")
    }
    assert refs <= states.keys()  # else nothing of them can be drawn


def test_progress_in_the_last_cell_says_how_far_it_was_when_that_ended() -> None:
    (output,) = executed(START, PROGRESS)[1]
    assert output["data"]["text/plain"].startswith("<Computing: 1 of 4 tasks")
    assert output["data"]["text/plain"].endswith(" · when cell [2] ended>")


@pytest.mark.parametrize("end", [FINISH, f"{FINISH}\n{CLOSE}"], ids=["open", "closed"])
def test_a_plot_is_saved_with_its_headline_and_why_it_has_no_picture(end: str) -> None:
    (output,) = executed(START, PLOT, end)[1]
    title, headline, *_, why = output["data"]["text/plain"].split(" · ")
    assert title == "Task Stream"
    assert "computing" in headline
    assert why.startswith("no picture: ")
