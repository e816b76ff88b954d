"""The kernel side writes the runtime record that the fixtures describe."""

from __future__ import annotations

import asyncio
import json
import os
import re
import stat
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from dask_diag_lab.composition import Composition, Target, own_listen
from dask_diag_lab.server.announce import write_record
from tests.contract.shapes import FIXTURES, differences, fixture
from tests.kernel.serving import records_in, run, until

VALID = sorted(path.name for path in (FIXTURES / "runtime_record").glob("valid*.json"))
NOBODY = "tcp://127.0.0.1:9"


def record_of_a_running_composition(folder: Path) -> dict[str, Any]:
    """Start and stop the kernel side with a scheduler that never answers; return its record."""

    async def story() -> dict[str, Any]:
        target = Target("Scheduler-1", NOBODY, {})
        composition = Composition(target, "0123456789abcdef", "a.ipynb", own_listen())
        await composition.start()
        try:
            (path,) = records_in(folder)
            assert path.name == "dask-diag-lab-0123456789abcdef.json"
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            return dict(json.loads(path.read_text()))
        finally:
            await composition.close()
            await composition.close()
            await until(lambda: len(asyncio.all_tasks()) == 1, "tasks are left")

    return run(story())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))
    return tmp_path


def test_the_record_is_what_the_fixtures_say_and_what_discovery_checks(folder: Path) -> None:
    record = record_of_a_running_composition(folder)
    # Beyond the contract, or missing in some places.
    optional = {".kernel_id", ".versions.bokeh", ".versions.dask_diag_lab", ".host"}
    optional |= {".start_ticks", ".colour", ".scheduler.name"}
    for name in VALID:
        wanted = fixture(f"runtime_record/{name}")
        lines = differences(record, wanted) + differences(wanted, record)
        assert [line for line in lines if line.partition(":")[0] not in optional] == []
    assert record["schema"] == 1
    assert re.fullmatch(r"[0-9a-f]{16}", record["id"])
    assert re.fullmatch(r"http://127\.0\.0\.1:[0-9]{2,5}", record["url"])
    assert re.fullmatch(r"[A-Za-z0-9_-]{32,}", record["token"])
    assert record["pid"] == os.getpid()
    assert psutil.Process().create_time() <= record["started"] <= time.time()
    ticks = Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]
    assert record["start_ticks"] == int(ticks)
    assert record["kernel_id"] is None
    assert record["scheduler"] == {"id": "Scheduler-1", "address": NOBODY, "dashboard": ""}
    assert record_of_a_running_composition(folder)["token"] != record["token"]
    assert records_in(folder) == []


def test_a_record_is_replaced_whole_and_a_failed_one_leaves_nothing(tmp_path: Path) -> None:
    path = write_record({"id": "a", "n": 1}, tmp_path)
    assert write_record({"id": "a", "n": 2}, tmp_path) == path
    assert json.loads(path.read_text())["n"] == 2
    with pytest.raises(TypeError):
        write_record({"id": "b", "n": object()}, tmp_path)
    assert records_in(tmp_path) == [path]
