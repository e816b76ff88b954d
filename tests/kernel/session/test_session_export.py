"""What a plot shows, as columns and as files, for programs with a client."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from dask.utils_test import inc
from distributed import Client, LocalCluster

import dask_diag_lab
from dask_diag_lab.server.export import fetch
from dask_diag_lab.session import Diagnostics
from tests.kernel.serving import run, until, wait_until
from tests.kernel.session.small_clusters import PARTLY_CLOSED, SMALL, attached

pytestmark = [pytest.mark.usefixtures("nothing_is_left"), *PARTLY_CLOSED]


def test_a_plot_is_columns_and_files(tmp_path: Path) -> None:
    with attached() as (client, diagnostics):
        client.gather(client.map(inc, range(7)))
        table = diagnostics.table("task-stream", count="5")
        # On a busy machine some were unpacked so slowly that it is a row as well.
        rows = zip(table.columns["prefix"], table.columns["kind"], strict=True)
        assert [prefix for prefix, kind in rows if kind == "compute"] == ["inc"] * 5
        assert table.units["start"] == "s since the epoch"
        assert "5 of 7 tasks" in table.note
        diagnostics.export("task-stream", tmp_path / "run.1.trace.json.gz")
        with gzip.open(tmp_path / "run.1.trace.json.gz", "rt", encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        assert [e["name"] for e in events if e["ph"] == "X"].count("inc") == 7
        diagnostics.export("progress", f"file://{tmp_path}/run.trace.csv")
        assert (tmp_path / "run.trace.csv").read_text().startswith("prefix,")


def test_what_there_is_not_is_said(tmp_path: Path) -> None:
    with attached() as (_, diagnostics):
        with pytest.raises(ValueError, match="no plot “nothing”"):
            diagnostics.table("nothing")
        with pytest.raises(ValueError, match="those it has"):
            diagnostics.table("progress", colour="red")
        with pytest.raises(ValueError, match=r"no “.txt” of “progress”, but .csv, .json"):
            diagnostics.export("progress", tmp_path / "progress.txt")
        with pytest.raises(OSError, match="missing"):
            diagnostics.export("progress", "/dev/null/missing/progress.csv")
        with pytest.raises(FileNotFoundError):
            diagnostics.export("progress", tmp_path / "missing" / "progress.csv")
        assert not (tmp_path / "missing").exists()
        with pytest.raises(ValueError, match="whole number"):
            diagnostics.table("task-stream", count="9" * 4_000)
        for path, name in (("recording.daskrun", "run"), ("plots/progress.json", "limit")):
            for number in ("9" * 5_000, "-1", "one"):
                with pytest.raises(ValueError, match=f"“{name}” is a whole number"):
                    fetch(diagnostics.url, path, {name: number})
    wait_until(lambda: diagnostics.is_closed, "not closed")
    wait_until(lambda: not _answers(diagnostics), "still served")


def _answers(diagnostics: Diagnostics) -> bool:
    try:
        diagnostics.table("progress")
    except RuntimeError as error:
        return "do not answer" not in str(error)
    return True


def test_on_the_loop_of_an_asynchronous_client_they_are_coroutines(tmp_path: Path) -> None:
    async def story() -> None:
        async with (
            LocalCluster(asynchronous=True, **SMALL) as cluster,
            Client(cluster, asynchronous=True) as client,
        ):
            diagnostics = dask_diag_lab.attach(client)
            table = await diagnostics.table("workers")
            assert table.columns["nthreads"] == [2, 2]  # of all, and of its only worker
            await diagnostics.export("workers", tmp_path / "workers.json")
            assert json.loads((tmp_path / "workers.json").read_text())["rows"] == 2
        await until(lambda: diagnostics.is_closed, "not closed")

    run(story(), 60)
