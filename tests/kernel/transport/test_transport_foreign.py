"""Schedulers that are not like this process: another environment, another protocol."""

from __future__ import annotations

import json
import os
import pickletools
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from distributed import Security
from distributed.comm.core import Connector
from distributed.comm.registry import backends, get_backend

import dask_diag_lab.collector
import dask_diag_lab.schema
from dask_diag_lab import MemorySampler
from dask_diag_lab.collector import Collector
from dask_diag_lab.transport.link import by_value
from tests.kernel.serving import until
from tests.kernel.transport.asking import EVERY_KIND, asking
from tests.kernel.transport.live_cluster import cluster, connected, feeding, inc

SCHEDULER = """
import asyncio, json, sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "dask_diag_lab":
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Blocker())
from distributed import Scheduler, Worker

async def main():
    options = {"dashboard_address": ":0"}
    async with Scheduler(host="127.0.0.1", port=0, **options) as s:
        async with Worker(s.address, nthreads=1, **options):
            print(json.dumps({"address": s.address}), flush=True)
            await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    loaded = [name for name in sys.modules if name.split(".")[0] == "dask_diag_lab"]
    print(json.dumps({"loaded": loaded}), flush=True)

asyncio.run(main())
"""


@pytest.fixture
def stranger(tmp_path: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A scheduler in a process where nothing called dask_diag_lab can be imported."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    command, pipe = [sys.executable, "-I", "-c", SCHEDULER], subprocess.PIPE
    with subprocess.Popen(
        command,
        stdin=pipe,
        stdout=pipe,
        stderr=subprocess.DEVNULL,
        cwd=tmp_path,
        env=env,
        text=True,
    ) as process:  # at the end its input is closed, and with that it ends
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["address"], process


@pytest.mark.slow
async def test_a_scheduler_that_lacks_this_package_is_fed_and_asked_all_the_same(
    stranger: tuple[str, subprocess.Popen[str]],
) -> None:
    (address, process), sampler = stranger, MemorySampler()
    async with (
        feeding(address, wanted=["graph"]) as (_, seen),
        connected(address) as c,
        asking(address, has_collector=False) as ask,
        sampler.sample("run", client=c),
    ):
        await until(lambda: seen.state == "live")
        total = c.submit(sum, c.map(abs, range(10)), key="x")
        assert await total == 45
        await until(lambda: len(seen.computed) == 11)
        await until(lambda: {"abs", "x"} <= set(seen.prefixes))
        await until(lambda: len(seen.nodes) == 11)
        (worker,) = seen.workers
        for kind, arguments in (*EVERY_KIND.items(), ("worker", {"worker": worker})):
            assert not (await ask(kind, **arguments)).get("missing")
    assert sampler.samples["run"]
    out, _ = process.communicate("", timeout=60)
    assert json.loads(out) == {"loaded": []}


async def test_a_collector_of_another_version_is_left_alone_and_ours_comes_beside_it() -> None:
    async with cluster() as (s, _, c):
        before = "dask_diag_lab_pull_other"
        calls: list[object] = []
        s.handlers[before] = calls.append
        async with feeding(s.address) as (_, seen):
            assert await c.submit(inc, 1) == 2
            await until(lambda: seen.state == "live" and "inc" in seen.prefixes)
        assert before in s.handlers
        assert not calls


def test_the_parcel_asks_for_the_standard_library_and_distributed_only() -> None:
    parcel = by_value(Collector(), dask_diag_lab.collector, dask_diag_lab.schema)
    names = {argument for _, argument, _ in pickletools.genops(parcel) if isinstance(argument, str)}
    assert "distributed.diagnostics.plugin" in names
    for name in ("numpy", "bokeh", "tornado"):
        assert name not in names
    assert len(parcel) < 270_000


async def test_tls_is_used_as_the_client_uses_it_and_its_lack_is_reported() -> None:
    security = Security.temporary()
    options = {"security": security, "protocol": "tls"}
    async with cluster(scheduler=options, worker={"security": security}) as (s, _, c):
        assert s.address.startswith("tls://")
        args = security.get_connection_args("client")
        async with feeding(s.address, connection_args=args) as (_, seen):
            await c.gather(c.map(inc, range(10)))
            await until(lambda: len(seen.computed) == 10)
        async with feeding(s.address, timeout_s=1.0) as (_, seen):
            await until(lambda: seen.state == "lost")
            assert s.address in seen.states[-1].reason


async def test_every_transport_that_distributed_knows_is_used_as_the_client_uses_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Gateway(Connector):  # as dask-gateway's, which knows a scheduler by a name of its own
        async def connect(self, address: str, deserialize: bool = True, **args: Any) -> Any:
            assert args.pop("pass") == "word"
            return await get_backend("tcp").get_connector().connect(address, deserialize, **args)

    backend = SimpleNamespace(get_connector=Gateway)
    monkeypatch.setitem(backends, "gateway", backend)
    async with cluster() as (s, _, c):
        address = s.address.replace("tcp", "gateway")
        async with feeding(address, connection_args={"pass": "word"}) as (_, seen):
            await c.gather(c.map(inc, range(10)))
            await until(lambda: len(seen.computed) == 10)
