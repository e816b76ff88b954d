"""What a user of JupyterLab waits for, in a real one with a headless Chromium."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from distributed import Client
from jupyter_client.manager import start_new_kernel
from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.websocket import websocket_connect

from benchmarks.clusters import idle_cluster
from benchmarks.program import running
from benchmarks.report import Figure
from dask_diag_lab import attach

_REPEATS = 5
_PLOTS = ("task-stream", "progress", "workers-memory", "graph")
_SCRIPT = Path(__file__).with_name("browser.mjs")
_CELL = """
import time
from pathlib import Path
from dask.distributed import Client
client = Client(n_workers=1, threads_per_worker=1, dashboard_address=None)
Path({mark!r}).write_text(str(time.time()))
end = time.monotonic() + 6
while time.monotonic() < end:
    pass
"""


@dataclass(frozen=True, slots=True)
class Lab:
    """A running JupyterLab: its URL without a trailing slash, token, runtime folder, process."""

    url: str
    token: str
    runtime: Path
    pid: int

    @property
    def page(self) -> str:
        return f"{self.url}/lab?token={self.token}&reset"

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"token {self.token}"}


@contextmanager
def running_lab() -> Iterator[Lab]:
    """Run JupyterLab in a folder with runtime files of its own, which this process shares."""
    with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ):
        for name in ("config", "data", "runtime"):
            os.environ[f"JUPYTER_{name.upper()}_DIR"] = str(Path(folder) / name)
        token = secrets.token_hex(16)
        command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
        command += ["--port=0", f"--IdentityProvider.token={token}", "--expose-app-in-browser"]
        server = subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL)
        try:
            runtime = Path(folder) / "runtime"
            yield Lab(_url(runtime / f"jpserver-{server.pid}.json"), token, runtime, server.pid)
        finally:
            server.terminate()
            server.wait(timeout=30)


def _url(info: Path, timeout_s: float = 60) -> str:
    """Return the address of the server that writes this file, once it answers."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        try:
            url = str(json.loads(info.read_text())["url"]).rstrip("/")
            urllib.request.urlopen(f"{url}/api", timeout=5).close()  # noqa: S310 - it is our own
        except (OSError, ValueError):
            time.sleep(0.1)
        else:
            return url
    msg = "JupyterLab did not start"
    raise RuntimeError(msg)


def in_browser(
    scenario: str, timeout_s: float = 240, **arguments: object
) -> Any:  # JSON of the scenario's shape
    """Return what a scenario of `browser.mjs` measured."""
    command = ["node", str(_SCRIPT), scenario]
    given = json.dumps(arguments)
    done = subprocess.run(
        command, input=given, stdout=subprocess.PIPE, text=True, timeout=timeout_s, check=True
    )
    return json.loads(done.stdout)


async def _pushed(lab: Lab) -> AsyncIterator[list[Any]]:  # JSON
    """Yield what the events say of dashboards: all at first, then what has changed."""
    address = f"{lab.url.replace('http', 'ws', 1)}/dask-diag-lab/api/events"
    events = await websocket_connect(HTTPRequest(address, headers=lab.headers))
    try:
        while message := await events.read_message():
            given = json.loads(str(message))
            yield given.get("dashboards", []) + given.get("changed", [])
    finally:
        events.close()


async def _asked(lab: Lab) -> AsyncIterator[list[Any]]:  # JSON
    """Yield the list as it is asked for again and again, with no page open."""
    url = f"{lab.url}/dask-diag-lab/api/dashboards"
    while True:
        answer = await AsyncHTTPClient().fetch(HTTPRequest(url, headers=lab.headers))
        yield json.loads(answer.body)["dashboards"]
        await asyncio.sleep(0.02)


async def _listed_after(lists: AsyncIterator[list[Any]], mark: Path) -> float:
    """Return the seconds from `Client()` returning in a new kernel to its plots in the list.

    Only diagnostics count: they are found in the runtime folder, which is this Lab's alone, stock
    dashboards of whoever else uses this machine.
    """
    known = {one["id"] for one in await anext(lists)}
    kernel, client = await asyncio.to_thread(start_new_kernel, stderr=subprocess.DEVNULL)
    try:
        client.execute(_CELL.format(mark=str(mark)))
        async with asyncio.timeout(60):
            async for listed in lists:
                new = [one for one in listed if one["id"] not in known]
                if any(one["kind"] == "diagnostics" and one.get("plots") for one in new):
                    break
            now = time.time()
            while not mark.exists() or not mark.read_text():
                await asyncio.sleep(0.01)
        return now - float(mark.read_text())
    finally:
        client.stop_channels()
        kernel.shutdown_kernel(now=True)


def discovery() -> list[Figure]:
    """Return the median and the worst of some clients, the cell still running."""
    figures = []
    with running_lab() as lab:
        for way, lists in (("push", _pushed), ("GET", _asked)):
            marks = [lab.runtime.parent / f"{way}-{number}.txt" for number in range(_REPEATS)]
            seconds = [asyncio.run(_listed_after(lists(lab), mark)) for mark in marks]
            note = "stock never lists a cluster by itself; negative: before Client() returned"
            figures += [
                Figure(
                    f"with plots, by {way}: median",
                    "s",
                    statistics.median(seconds),
                    None,
                    0.5,
                    note,
                ),
                Figure(f"with plots, by {way}: worst", "s", max(seconds), None, 2),
            ]
    return figures


def lab() -> list[Figure]:
    """Return totals, and the slowest plot after the first."""
    with (
        idle_cluster(4) as cluster,
        running_lab() as lab,
        Client(cluster.address) as client,
        attach(client),
    ):
        client.gather(client.map(lambda x: x + 1, range(200)))
        time.sleep(2)
        urls = [f"{cluster.dashboard}/individual-{plot}" for plot in _PLOTS]
        theirs = in_browser("pages", urls=urls)["opened"]
        ours = in_browser("panes", url=lab.page, plots=_PLOTS)["opened"]

    def megabytes(opened: list[dict[str, float]]) -> float:
        return sum(one["bytes"] for one in opened) / 1e6

    def slowest(opened: list[dict[str, float]], what: str) -> float:
        return max(one[what] for one in opened[1:])

    stock_s = slowest(theirs, "seconds")
    return [
        Figure("bytes, all four", "MB", megabytes(ours), megabytes(theirs), 1.6),
        Figure("first plot", "s", ours[0]["seconds"], theirs[0]["seconds"]),
        Figure("slowest of the next three", "s", slowest(ours, "seconds"), stock_s, 0.3),
        Figure("the same, click to live picture", "s", slowest(ours, "live_s"), stock_s, 0.3),
    ]


def _pane_s(n_tasks: int) -> float:
    """Return the seconds from the click to the picture, as the second pane of a JupyterLab."""
    plots = ["groups", "task-stream"]
    with running_lab() as lab, running("ours.task_stream", n_tasks, lab.runtime):
        found = [
            in_browser("panes", url=lab.page, plots=plots, pictured="task-stream")
            for _ in range(_REPEATS)
        ]
    return float(statistics.median(one["opened"][-1]["picture_s"] for one in found))


def _picture(module: str, n_tasks: int) -> Any:  # JSON of the scenario
    with running(f"{module}.task_stream", n_tasks) as program:
        url, token = program.info["url"], program.info.get("token")
        page = f"{url}?token={token}" if token else url
        return in_browser("plot", url=page, steps=20, openings=_REPEATS)


def _figures(n_tasks: int, ours: Any, theirs: Any) -> list[Figure]:  # JSON; None without a rival
    name = f"{n_tasks:,} tasks".replace(",", " ")

    def of(what: str, scale: float = 1) -> tuple[float, float | None]:
        own, other = (one and scale * statistics.median(one[what]) for one in (ours, theirs))
        return own, other

    first = f"of a page with nothing cached, BokehJS and all; median of {_REPEATS}"
    pane = f"from the click; median of {_REPEATS}"
    bytes_ = f"{name}: bytes to the first picture, BokehJS included"
    return [
        Figure(bytes_, "MB", *of("bytes", 1e-6), 1),
        Figure(f"{name}: first picture", "s", *of("first_s"), None, first),
        Figure(f"{name}: first picture, as a further pane", "s", _pane_s(n_tasks), None, 0.5, pane),
        Figure(f"{name}: redraw after a pan", "ms", *of("redraw_ms"), 33),
    ]


def task_stream() -> list[Figure]:
    """Return the figures of stock at 100 000 tasks and ours at 100 000 and 1 000 000."""
    stock = _picture("stock", 100_000)
    figures = _figures(100_000, _picture("ours", 100_000), stock)
    return [*figures, *_figures(1_000_000, _picture("ours", 1_000_000), None)]
