"""Recordings: opened from Jupyter's files, in a process each that ends with who needs it."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
from tornado.httpclient import HTTPResponse

from tests.proxy.client import Client, message

SAVE = """
import sys
from pathlib import Path
from benchmarks.simulator import Simulation
from dask_diag_lab.store import LiveSession
from dask_diag_lab.store.recording import snapshot
live = LiveSession()
for batch in Simulation(2, 2, 50).batches():
    live.apply(batch)
snapshot(live.history)(Path(sys.argv[1]))
"""


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The content of a small recording; made elsewhere, where what makes it may be loaded."""
    path = tmp_path_factory.mktemp("recorded") / "run.daskrun"
    subprocess.run(
        [sys.executable, "-c", SAVE, str(path)], cwd=Path(__file__).parents[2], check=True
    )
    return path.read_bytes()


@pytest.fixture
def root(jp_root_dir: Path, recorded: bytes) -> Path:
    """Jupyter's root folder, with a recording in a folder of it."""
    (jp_root_dir / "runs").mkdir()
    (jp_root_dir / "runs" / "etl.daskrun").write_bytes(recorded)
    return jp_root_dir


async def opened(client: Client, path: object, **options: Any) -> HTTPResponse:  # Any: tornado's
    body = json.dumps({"path": path})
    return await client.get("api", "recordings", method="POST", body=body, **options)


def children() -> list[psutil.Process]:
    return [one for one in psutil.Process().children() if "dask_diag_lab" in one.cmdline()]


async def ended(processes: list[psutil.Process]) -> None:
    """Wait until processes are gone."""
    async with asyncio.timeout(30):
        while any(one.is_running() and one.status() != "zombie" for one in processes):
            await asyncio.sleep(0.05)


async def test_a_file_is_opened_listed_and_closed(client: Client, root: Path) -> None:
    async with client.events() as events:
        answer = await opened(client, "runs/etl.daskrun")
        assert answer.code == 201, answer.body
        info = json.loads(answer.body)
        assert (info["name"], info["state"], info["is_removable"]) == ("etl.daskrun", "stale", True)
        assert info["reason"].startswith("Recording until 20")
        assert "closed_at" not in info
        await events.until(lambda found: found and len(found[0]["plots"]) > 20)
        again = await opened(client, "/runs/../runs/etl.daskrun")
        assert (again.code, json.loads(again.body)["id"]) == (200, info["id"])
        (process,) = children()
        assert process.cmdline()[1:4] == ["-P", "-m", "dask_diag_lab"]
        table = await client.get("dashboards", info["id"], "plots", "task-stream.json")
        assert json.loads(table.body)["rows"] > 0
        gone = await client.get("api", "dashboards", info["id"], method="DELETE")
        assert gone.code == 204
        await events.until(lambda found: not found)
    await ended([process])
    assert (await opened(client, "runs/etl.daskrun")).code == 201
    (process,) = children()
    await client.app.extension_manager.stop_all_extensions()  # type: ignore[no-untyped-call]
    await ended([process])


async def test_what_is_no_recording_is_refused_in_its_words(client: Client, root: Path) -> None:
    (root / "cut.daskrun").write_bytes((root / "runs" / "etl.daskrun").read_bytes()[:-50])
    answer = await opened(client, "cut.daskrun")
    assert answer.code == 422
    assert message(answer).endswith(
        "cut.daskrun is cut off, its end is missing. "
        "Copy it once more, or save the recording again."
    )
    assert children() == []
    assert await client.dashboards() == []


async def test_only_files_below_the_root_are_opened(
    client: Client, root: Path, tmp_path: Path, recorded: bytes
) -> None:
    outside = tmp_path / "outside.daskrun"
    outside.write_bytes(recorded)
    (root / "link.daskrun").symlink_to(outside)
    (root / ".hidden.daskrun").write_bytes(recorded)
    up = os.path.relpath(outside, root)
    for path in ("none.daskrun", "runs", "", str(outside), up, "link.daskrun", ".hidden.daskrun"):
        answer = await opened(client, path)
        assert (answer.code, "no file" in message(answer)) == (404, True), path
    assert (await opened(client, 5)).code == 400
    cookies = client.cookie_login()  # without Jupyter's XSRF token
    assert (await opened(client, "runs/etl.daskrun", headers=cookies)).code == 403
    assert children() == []


async def test_a_process_that_nobody_looks_at_ends(
    client: Client, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dask_diag_lab.proxy.recordings.UNUSED_S", 1.0)
    assert (await opened(client, "runs/etl.daskrun")).code == 201
    await ended(children())
    assert await client.dashboards() == []
