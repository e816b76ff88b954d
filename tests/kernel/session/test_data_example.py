"""The example of docs/plots.md that reads the numbers of a plot, run against a real cluster."""

from __future__ import annotations

import csv
import io
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType

import pytest
from distributed import Client

from tests.kernel.dashboards import attached_client
from tests.kernel.serving import wait_until

DOCUMENT = Path(__file__).parents[3] / "docs" / "plots.md"


@pytest.fixture
def client(runtime_dir: object) -> Iterator[Client]:
    with attached_client() as made:
        yield made


@pytest.fixture
def frames(monkeypatch: pytest.MonkeyPatch) -> list[list[list[str]]]:
    """Have a stand-in for pandas read over HTTP as it does; return what it will have read."""
    read: list[list[list[str]]] = []

    def read_csv(url: str, storage_options: Mapping[str, str]) -> None:
        request = urllib.request.Request(url, headers=dict(storage_options))
        with urllib.request.urlopen(request, timeout=60) as reply:
            read.append(list(csv.reader(io.StringIO(reply.read().decode()))))

    pandas = ModuleType("pandas")
    vars(pandas)["read_csv"] = read_csv
    monkeypatch.setitem(sys.modules, "pandas", pandas)
    return read


def test_the_document_shows_how_a_program_reads_a_plot(
    client: Client, frames: list[list[list[str]]]
) -> None:
    held = client.submit(abs, -1)
    held.result(timeout=30)
    (code,) = [
        part.split("```")[0]
        for part in DOCUMENT.read_text(encoding="utf-8").split("```python\n")[1:]
    ]

    def is_read() -> bool:
        exec(compile(code, str(DOCUMENT), "exec"), {})
        header, *rows = frames[-1]
        return header[0] == "prefix" and [row[0] for row in rows] == ["abs"]

    wait_until(is_read, "the task is not in the table")
