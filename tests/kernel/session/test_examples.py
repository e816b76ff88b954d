"""The documents: their examples run, and what they name or have from scripts is there."""

from __future__ import annotations

import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from distributed import Client, Event

import dask_diag_lab
from dask_diag_lab.views.registry import REGISTRY
from tests.kernel.dashboards import answer_of
from tests.kernel.serving import wait_until

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "examples" / "home_made_plot.py"


@pytest.fixture(autouse=True)
def _unregistered() -> Iterator[None]:
    yield
    REGISTRY.remove("busy-threads")


def code_in(document: str) -> str:
    """Return the first Python code that a document shows."""
    text = (ROOT / "docs" / document).read_text(encoding="utf-8")
    return text.split("```python\n")[1].split("```")[0]


def test_the_example_is_a_plot_of_a_cluster_that_was_there_before(client: Client) -> None:
    diagnostics = dask_diag_lab.attach(client)
    answer_of(diagnostics, "/individual-plots.json")  # there once Bokeh is loaded
    runpy.run_path(str(EXAMPLE))
    listed = {plot["name"]: plot for plot in answer_of(diagnostics, "/plots.json")["plots"]}
    assert listed["busy-threads"]["group"] == "Yours"
    assert "busy-threads" in diagnostics.plots
    assert "busy-threads" in {plot.name for plot in dask_diag_lab.plots()}

    def is_at_work(n: int) -> bool:
        columns = answer_of(diagnostics, "/plots/busy-threads.json")["columns"]
        return bool(columns["tasks"] == [n, n])

    gate = Event("gate", client=client)
    held = client.map(lambda n: Event("gate").wait(120) and n, range(2))
    wait_until(lambda: is_at_work(1), "the plot does not show what runs")
    gate.set()
    client.gather(held)
    wait_until(lambda: is_at_work(0), "the plot shows what does not run")


def test_the_document_shows_the_class_of_the_example() -> None:
    lines = {line.split("(self")[0].strip() for line in EXAMPLE.read_text("utf-8").splitlines()}
    body = code_in("home-made.md").split("class BusyThreads")[1].splitlines()[1:]
    assert not {line.split("(self")[0].strip() for line in body} - lines


def test_the_document_shows_how_a_program_reads_a_plot(client: Client) -> None:
    held = client.submit(abs, -1)
    held.result(timeout=30)
    names: dict[str, Any] = {}
    *before, last = code_in("plots.md").strip().splitlines()
    exec("\n".join(before), names)
    wait_until(lambda: eval(last, names)["prefix"].tolist() == ["abs"], "the task is not in it")


@pytest.mark.parametrize("script", ["api.py", "findings.py"])
def test_a_page_that_is_written_by_a_script_is_what_it_writes(script: str) -> None:
    made = runpy.run_path(str(ROOT / "scripts" / script))
    assert made["page"]() == made["PAGE"].read_text(encoding="utf-8"), f"run scripts/{script}"


KERNEL = Path(__file__).parents[1]
PAGE = KERNEL.parents[1] / "docs" / "differences.md"


def rows() -> dict[str, list[tuple[str, str]]]:
    """Return file and test of each defect."""
    found = {}
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if match := re.match(r"\| (D\d+) \|", line):
            found[match[1]] = re.findall(r"`([\w/]+\.py)::(test_\w+)`", line)
    return found


def test_every_known_defect_has_a_row_with_a_test() -> None:
    found = rows()
    assert list(found) == [f"D{number}" for number in range(1, 21)]
    assert all(found.values())


def test_the_tests_that_are_named_are_there() -> None:
    missing = [
        f"{file}::{test}"
        for tests in rows().values()
        for file, test in tests
        if not re.search(
            rf"^(async )?def {test}\(", (KERNEL / file).read_text(encoding="utf-8"), re.MULTILINE
        )
    ]
    assert not missing
