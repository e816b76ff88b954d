"""Runs are saved as they end, where a folder is named, and old files make room."""

from __future__ import annotations

import os
import time
from pathlib import Path

import dask
import pytest
from distributed import Client

import dask_diag_lab
from tests.kernel.serving import wait_until
from tests.kernel.session.small_clusters import PARTLY_CLOSED, attached, saved_runs

pytestmark = [pytest.mark.usefixtures("runtime_dir"), *PARTLY_CLOSED]


PRELOAD = ["dask_diag_lab.preload"]


def work(client: Client, name: str) -> None:
    with dask_diag_lab.run(name, client):
        client.gather(client.map(time.sleep, [0.1] * 3, pure=False))


def saved(folder: Path) -> list[Path]:
    return sorted(folder.glob("run *.daskrun"))


def test_each_run_is_saved_when_it_is_over_and_the_oldest_go(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    old = folder / "run 2020-01-01 00-00-00 x.daskrun"
    mine = folder / "mine.daskrun"
    for file in (old, mine):
        file.write_text("")
        os.utime(file, (0, 0))
    settings = {"diag-lab.record-runs": str(folder), "diag-lab.recorded-runs": 2}
    with dask.config.set(settings), attached() as (client, _):
        for name in ("first/one", "second"):
            work(client, name)
        wait_until(lambda: len(saved(folder)) == 2 and old not in saved(folder), "not both")
    first, second = saved(folder)
    assert first.name.endswith(" first_one.daskrun")
    assert mine.exists()
    with dask_diag_lab.load(second) as recording:
        assert recording.table("runs").columns["label"][0] == "second"
        assert str(dask_diag_lab.runs(recording)) == "[<Run 1: first/one>, <Run 2: second>]"


def test_what_is_not_saved_when_a_client_closes_is_saved_then(tmp_path: Path) -> None:
    settings = {"diag-lab.record-runs": str(tmp_path), "distributed.client.preload": PRELOAD}
    with dask.config.set(settings), attached() as (one, _), attached() as (other, _):
        for client in (one, other):  # by which both are named
            client.gather(client.map(abs, range(50), pure=False))
    wait_until(lambda: len(saved(tmp_path)) == 2, "not both")
    assert saved_runs(tmp_path) == [("abs", "done", 50)] * 2


def test_a_folder_that_cannot_be_written_is_said_once_and_harms_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "file"
    file.write_text("")
    with dask.config.set({"diag-lab.record-runs": str(file)}), attached() as (client, _):
        work(client, "lost")
        wait_until(lambda: "could not be saved" in caplog.text, "nothing was said")
        assert client.submit(abs, -1).result() == 1
        assert caplog.text.count("could not be saved") == 1
