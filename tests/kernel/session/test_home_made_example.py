"""The example of a plot of one's own, run against a real cluster."""

from __future__ import annotations

import runpy
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from distributed import Client, Event

import dask_diag_lab
from dask_diag_lab.views.registry import REGISTRY, get_plot
from tests.kernel.dashboards import answer_of, attached_client
from tests.kernel.serving import wait_until

EXAMPLE = Path(__file__).parents[3] / "examples" / "home_made_plot.py"
DOCUMENT = EXAMPLE.parents[1] / "docs" / "home-made.md"


@pytest.fixture
def client(runtime_dir: object) -> Iterator[Client]:
    with attached_client(2) as made:
        yield made


@pytest.fixture(autouse=True)
def nothing_stays() -> Iterator[None]:
    yield
    REGISTRY.remove("busy-threads")


def test_the_example_is_a_plot_of_a_cluster_that_was_there_before(client: Client) -> None:
    diagnostics = dask_diag_lab.attach(client)
    diagnostics.url  # noqa: B018  # waits until it serves
    begun = time.monotonic()
    runpy.run_path(str(EXAMPLE))
    listed = {plot["name"]: plot for plot in answer_of(diagnostics, "/plots.json")["plots"]}
    assert time.monotonic() - begun < 30
    assert listed["busy-threads"]["group"] == "Yours"
    assert "busy-threads" in diagnostics.plots
    assert "busy-threads" in {plot.name for plot in dask_diag_lab.plots()}

    path = "/plots/busy-threads.json"

    def at_work() -> list[int]:
        found: list[int] = answer_of(diagnostics, path)["columns"]["tasks"]
        return found

    gate = Event("gate", client=client)
    held = client.map(lambda n: Event("gate").wait(120) and n, range(2))
    wait_until(lambda: at_work() == [1, 1], "the plot does not show what runs")
    gate.set()
    client.gather(held)
    wait_until(lambda: at_work() == [0, 0], "the plot shows what does not run")


def test_the_example_can_be_run_again_as_a_cell_is(client: Client) -> None:
    runpy.run_path(str(EXAMPLE))
    first = get_plot("busy-threads")
    runpy.run_path(str(EXAMPLE))
    assert get_plot("busy-threads") is not first


def test_the_example_pasted_into_a_notebook_makes_no_cluster(
    client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    exec(compile(EXAMPLE.read_text(encoding="utf-8"), "<cell>", "exec"), {"__name__": "__main__"})
    assert get_plot("busy-threads").title == "Busy threads"
    assert capsys.readouterr().out == ""
    assert Client.current() is client


def test_the_document_shows_the_class_of_the_example() -> None:
    lines = [line.strip() for line in EXAMPLE.read_text(encoding="utf-8").splitlines()]
    shown = DOCUMENT.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    body = shown.split("class BusyThreads")[1]
    code = [line.strip() for line in body.splitlines()[1:] if line.strip()]
    without_types = [line.split("(self")[0] for line in lines]
    assert [
        line for line in code if line not in lines and line.split("(self")[0] not in without_types
    ] == []
