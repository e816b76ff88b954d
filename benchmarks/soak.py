"""Staying power: what a long day would fill up has to stay flat. ``make soak [SOAK_MINUTES=30]``.

Viewers open, follow and leave plots of three kernels of a real JupyterLab, as websocket clients and
in a page of Chromium, while workers die, one kernel makes its cluster anew and another is
restarted. All of them keep the time of `Rounds`: at the end of each round nobody looks for a while.
What is still held then is a round's *floor*; its trend is the median of the slopes between all
rounds after the warm-up, so that one odd round does not count.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import json
import os
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from itertools import combinations
from typing import Any, Final, NamedTuple

import psutil
from jupyter_client.asynchronous.client import AsyncKernelClient
from tornado.httpclient import AsyncHTTPClient, HTTPRequest

from benchmarks.clusters import separate_cluster
from benchmarks.lab import Lab, in_browser, running_lab
from benchmarks.program import running
from benchmarks.report import header, number
from benchmarks.viewers import Rounds

_VIEWERS: Final = 18
_PLOTS: Final = ("task-stream", "progress", "workers-memory", "graph", "workers", "profile")
_SAMPLE_S: Final = 3.0
_WARM_UP: Final = 0.25
"""Of the time: caches, pools and the histories of plots fill up."""
_BOUNDS: Final[Mapping[str, tuple[str, float]]] = {
    "threads": ("", 4),
    "open files and sockets": ("", 16),
    "memory": ("MB", 40),
    "plots": ("", 4),
    "documents": ("", 4),
    "websockets": ("", 4),
    "JavaScript heap": ("MB", 250),
}
"""Unit, and what may be added in an hour, in which plots are opened some thousands of times.

Sockets: a page of Chromium keeps up to six idle connections to the Jupyter server, more or less of
them for minutes. Memory: `distributed` itself keeps some 0.7 kB of each task in the client's
process, and 0.8 kB in the scheduler's: 25 to 30 MB an hour here. The page's heap: JupyterLab never
frees a button of a toolbar (FAST binds its listener for forced colors twice and unbinds it once),
which is up to 0.2 MB a pane.
"""
_SETTINGS: Final = {
    "DASK_DIAG_LAB__MAX_ACTIONS": "1000",  # full before the warm-up ends
    "DASK_LOGGING__DISTRIBUTED": "error",
    # Else what threads of earlier clusters have freed lies in up to 16 heaps, which fill up slowly.
    "MALLOC_ARENA_MAX": "2",
}
_BEGIN: Final = """
import ctypes, gc, os, random, signal
from bokeh.document import Document
from dask_diag_lab.server.page import Page
from distributed import Client
from distributed.deploy.subprocess import SubprocessCluster
def work():
    client.gather(client.map(abs, range(20), pure=False))
def held():
    gc.collect()
    ctypes.CDLL("libc.so.6").malloc_trim(0)  # what is free is not held
    live = gc.get_objects()
    return {{
        "plots": sum(type(one) is Page for one in live),
        "documents": sum(isinstance(one, Document) for one in live),
    }}
client = {client}
"""
_LOCAL: Final = "Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=':0')"
_KILL: Final = "os.kill(random.choice(list(client.run(os.getpid).values())), signal.SIGKILL)"
_APART: Final = (
    "Client(SubprocessCluster(n_workers=1, threads_per_worker=2, dashboard_address=':0'))"
)
_RENEW: Final = f"""
cluster = client.cluster
client.close()
cluster.close()
client = {_APART}
work()
"""


class Trend(NamedTuple):
    """How something went in the rounds after the warm-up."""

    where: str
    what: str
    start: float
    end: float
    per_hour: float

    @property
    def is_within(self) -> bool:
        return self.per_hour <= _BOUNDS[self.what][1]


class Samples:
    """What was seen of everything that is watched."""

    def __init__(self, rounds: Rounds) -> None:
        self._rounds = rounds
        self._seen: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)

    def add(self, where: str, values: Mapping[str, float], at: float | None = None) -> None:
        for what, value in values.items():
            self._seen[where, what].append((time.time() if at is None else at, value))

    def trends(self, since: float) -> list[Trend]:
        """Return the trends of all since a time."""
        trends = []
        for (where, what), seen in sorted(self._seen.items()):
            floors: dict[int, tuple[float, float]] = {}
            for at, value in seen:
                number_ = self._rounds.number(at)
                if at >= since and value <= floors.get(number_, (0, value))[1]:
                    floors[number_] = at, value
            points = list(floors.values())
            slopes = [(y1 - y0) / (t1 - t0) for (t0, y0), (t1, y1) in combinations(points, 2)]
            per_hour = 3600 * statistics.median(slopes)
            trends.append(Trend(where, what, points[0][1], points[-1][1], per_hour))
        return trends


class Kernel:
    """A kernel that the Jupyter server has started."""

    def __init__(self, lab: Lab, kernel_id: str) -> None:
        self._lab, self._id = lab, kernel_id
        self._turn = asyncio.Lock()
        self.client = AsyncKernelClient()
        self.client.load_connection_file(str(lab.runtime / f"kernel-{kernel_id}.json"))
        self.client.start_channels(iopub=False, stdin=False, hb=False)

    async def run(self, code: str, **expressions: str) -> dict[str, Any]:  # literals of Python
        """Run a cell and return the values of expressions after it."""
        given: Any = {"user_expressions": expressions, "reply": True, "timeout": 120}
        async with self._turn:
            content = (await self.client.execute(code, silent=True, **given))["content"]
        if content["status"] != "ok":
            msg = "\n".join(content.get("traceback", [str(content)]))
            raise RuntimeError(msg)
        found: dict[str, Any] = content["user_expressions"]
        return {key: ast.literal_eval(one["data"]["text/plain"]) for key, one in found.items()}

    async def restart(self) -> None:
        await _ask(self._lab, f"api/kernels/{self._id}/restart", "POST")


async def _ask(lab: Lab, path: str, method: str) -> Any:  # JSON
    body = "{}" if method == "POST" else None
    request = HTTPRequest(
        f"{lab.url}/{path}", method=method, body=body, headers=lab.headers, request_timeout=60
    )
    return json.loads((await AsyncHTTPClient().fetch(request)).body)


@asynccontextmanager
async def _kernel(lab: Lab, client: str) -> AsyncIterator[Kernel]:
    """Start a kernel with a client."""
    kernel = Kernel(lab, (await _ask(lab, "api/kernels", "POST"))["id"])
    await kernel.run(_BEGIN.format(client=client))
    yield kernel
    kernel.client.stop_channels()


async def _steady(kernel: Kernel, rounds: Rounds) -> None:
    """Compute, and lose a worker in each round."""
    last = rounds.number(time.time())
    while True:
        await kernel.run("work()")
        if rounds.number(time.time()) != last:
            last = rounds.number(time.time())
            await kernel.run(_KILL)
        await asyncio.sleep(2)


async def _renewed(kernel: Kernel, rounds: Rounds) -> None:
    """Have another cluster at the begin of each round."""
    while True:
        await asyncio.sleep(rounds.begin_after(time.time()) - time.time())
        await kernel.run(_RENEW)


async def _restarted(kernel: Kernel, rounds: Rounds) -> None:
    """Restart the kernel in each round, while somebody looks, and make its cluster again."""
    while True:
        await asyncio.sleep(rounds.begin_after(time.time()) - time.time())
        await asyncio.sleep(rounds.active_s / 2)
        await kernel.restart()
        await kernel.run(_BEGIN.format(client=_LOCAL))
        await kernel.run("work()")


async def _sample(
    samples: Samples, rounds: Rounds, pids: Mapping[str, int], kernels: Mapping[str, Kernel]
) -> None:
    """Look at processes all the time, and into the kernels when nobody has anything open."""
    processes = {where: psutil.Process(pid) for where, pid in pids.items()}
    while True:
        for where, process in processes.items():
            samples.add(
                where,
                {
                    "threads": process.num_threads(),
                    "open files and sockets": process.num_fds(),
                    "memory": process.memory_full_info().uss / 1e6,
                },
            )
        if rounds.rest_left_s(time.time()) > 0:
            for where, kernel in kernels.items():
                samples.add(where, (await kernel.run("", held="held()"))["held"])
        await asyncio.sleep(_SAMPLE_S)


async def _soak(lab: Lab, scheduler: str, rounds: Rounds, samples: Samples, until: float) -> Any:
    """Do all of it until then; return what the viewers counted (JSON)."""
    async with (
        _kernel(lab, f"Client({scheduler!r})") as steady,
        # Of a scheduler in its own process `distributed` keeps some 2.5 MB for ever.
        _kernel(lab, _APART) as renewed,
        _kernel(lab, _LOCAL) as restarted,
    ):
        asked = {"kernel": "os.getpid()", "scheduler": "client.run_on_scheduler(os.getpid)"}
        pids: dict[str, int] = {**await steady.run("", **asked), "Jupyter server": lab.pid}
        pids["kernel, clusters made anew"] = (await renewed.run("", pid="os.getpid()"))["pid"]
        kernels = {"kernel": steady, "kernel, clusters made anew": renewed}
        times = {**asdict(rounds), "until": until}
        timeout_s = until - time.time() + 120
        pages = asyncio.to_thread(
            in_browser, "soak", timeout_s, url=lab.url, token=lab.token, plots=_PLOTS, **times
        )
        viewers = (lab.url, lab.token, _VIEWERS, rounds.round_s, rounds.rest_s)
        with running("viewers.visit", *viewers) as visitors:
            tasks = [
                asyncio.create_task(work)
                for work in (
                    pages,
                    _steady(steady, rounds),
                    _renewed(renewed, rounds),
                    _restarted(restarted, rounds),
                    _sample(samples, rounds, pids, kernels),
                )
            ]
            ended, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in ended:
                task.result()
            for at, values in tasks[0].result():
                samples.add("page", values, at)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            return visitors.ask()


def soak(minutes: float) -> list[Trend]:
    """Let it run for so long and return all trends."""
    rounds = Rounds(40, 18)
    samples = Samples(rounds)
    with running_lab() as lab, separate_cluster(2, "distributed.Nanny") as cluster:
        begin = time.time()
        until = rounds.begin_after(begin + 60 * minutes)
        counts = asyncio.run(_soak(lab, cluster.address, rounds, samples, until))
    print(counts)
    return samples.trends(rounds.begin_after(begin + _WARM_UP * (until - begin)))


def table(trends: Sequence[Trend]) -> str:
    """Return the trends as a Markdown table."""
    lines = ["| where | what | start | end | an hour | bound | |", "|---|---|---|---|---|---|---|"]
    for one in trends:
        unit, bound = _BOUNDS[one.what]
        values = (one.start, one.end, one.per_hour, bound)
        verdict = "within" if one.is_within else "over"
        what = f"{one.what}, {unit}" if unit else one.what
        lines.append(f"| {one.where} | {what} | {' | '.join(map(number, values))} | {verdict} |")
    return "\n".join(lines)


def main() -> None:
    """Soak, print, and exit with 1 when something grows."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    minutes = parser.parse_args().minutes
    if minutes < 4:
        parser.error("a trend needs some rounds: four minutes at least")
    os.environ.update(_SETTINGS)
    trends = soak(minutes)
    print(header(f"make soak SOAK_MINUTES={minutes:g}"), table(trends), sep="\n")
    sys.exit(not all(one.is_within for one in trends))


if __name__ == "__main__":
    main()
