"""What is saved of live outputs in notebooks that are executed without a browser."""

from __future__ import annotations

from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

LIMIT_S = 120

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
AGAIN = """
Event("go").clear()
futures = client.map(held, range(4), pure=False)
wait(futures[0])
"""


def executed_notebook(*cells: str) -> dict[str, Any]:
    """Return a notebook as it is saved by nbconvert and papermill, which have no browser."""
    make: Any = nbformat.v4  # has no types, as its client
    notebook = make.new_notebook(cells=[make.new_code_cell(cell) for cell in cells])
    NotebookClient(notebook, timeout=LIMIT_S, kernel_name="python3").execute()
    return dict(notebook)


@pytest.fixture(scope="module")
def notebook(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Progress and a plot, of which a later cell waits for the end, and progress at last."""
    with pytest.MonkeyPatch.context() as env:
        env.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path_factory.mktemp("runtime")))
        return executed_notebook(START, PROGRESS, PLOT, FINISH, AGAIN, PROGRESS)


def shown(notebook: dict[str, Any], cell: int) -> str:
    (output,) = notebook["cells"][cell]["outputs"]
    return str(output["data"]["text/plain"])


def test_progress_is_saved_as_finished_when_a_later_cell_has_waited(
    notebook: dict[str, Any],
) -> None:
    assert shown(notebook, 1).startswith("<Finished: 4 of 4 tasks")
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


def test_progress_in_the_last_cell_says_how_far_it_was_when_that_ended(
    notebook: dict[str, Any],
) -> None:
    assert shown(notebook, 5).startswith("<Computing: 1 of 4 tasks")
    assert shown(notebook, 5).endswith(" · when cell [6] ended>")


def test_a_plot_is_saved_with_its_headline_and_why_it_has_no_picture(
    notebook: dict[str, Any],
) -> None:
    title, headline, *_, why = shown(notebook, 2).split(" · ")
    assert title == "Task Stream"
    assert "in tasks" in headline
    assert why.startswith("no picture: ")
