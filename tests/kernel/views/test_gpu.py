"""GPU plots from what distributed's own code sends: a worker with stand-ins for pynvml and rmm."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from distributed import Client, LocalCluster

import dask_diag_lab
from dask_diag_lab.session import Diagnostics
from dask_diag_lab.store import Store
from dask_diag_lab.views.view import View
from dask_diag_lab.views.workers.gpu import (
    GpuBars,
    GpuMemory,
    GpuUtilization,
    RmmMemory,
)
from tests.kernel.serving import wait_until

GIB = 1 << 30
GPU = {"utilization": 73, "used": 5 * GIB, "total": 16 * GIB, "pool": 8 * GIB, "allocated": 3 * GIB}

PYNVML = '''
"""Stands in for NVIDIA's library: one device, whose numbers are in the environment."""
import json, os
from types import SimpleNamespace

_GPU = json.loads(os.environ["TEST_GPU"])

class NVMLError(Exception): pass
class NVMLError_LibraryNotFound(NVMLError): pass
class NVMLError_DriverNotLoaded(NVMLError): pass
class NVMLError_Unknown(NVMLError): pass
class NVMLError_NotSupported(NVMLError): pass

def nvmlInit(): pass
def nvmlSystemGetDriverVersion(): return "999.0"
def nvmlDeviceGetCount(): return 1
def nvmlDeviceGetHandleByIndex(index): return index
def nvmlDeviceGetName(handle): return b"Stand-in GPU"

def nvmlDeviceGetUtilizationRates(handle):
    if _GPU["utilization"] is None:
        raise NVMLError_NotSupported
    return SimpleNamespace(gpu=_GPU["utilization"])

def nvmlDeviceGetMemoryInfo(handle):
    return SimpleNamespace(used=_GPU["used"], total=_GPU["total"])
'''

RMM = '''
"""Stands in for RAPIDS' memory manager: a pool below an adaptor that counts."""
import json, os
from types import SimpleNamespace

_GPU = json.loads(os.environ["TEST_GPU"])

class PoolMemoryResource:
    def pool_size(self):
        return _GPU["pool"]

class StatisticsResourceAdaptor:
    upstream_mr = PoolMemoryResource()
    def get_allocated_bytes(self):
        return _GPU["allocated"]

_RESOURCE = StatisticsResourceAdaptor()
mr = SimpleNamespace(
    PoolMemoryResource=PoolMemoryResource, get_current_device_resource=lambda: _RESOURCE
)
'''


class GpuCluster:
    """A scheduler, its diagnostics, and as many workers with a stand-in GPU as are started."""

    def __init__(self, address: str, diagnostics: Diagnostics, folder: Path) -> None:
        self.diagnostics = diagnostics
        self._address, self._folder = address, folder
        self._workers: list[subprocess.Popen[bytes]] = []

    def start(self, name: str, **gpu: int | None) -> None:
        """Start a worker process; `gpu` in place of what is in `GPU`."""
        paths = [str(self._folder), str(Path(dask_diag_lab.__file__).parents[1])]
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(paths),
            "TEST_GPU": json.dumps(GPU | gpu),
            "DASK_DISTRIBUTED__DIAGNOSTICS__NVML": "True",
        }
        command = [sys.executable, "-m", "distributed.cli.dask_worker", self._address]
        options = ["--no-nanny", "--no-dashboard", "--nthreads", "1", "--name", name]
        self._workers.append(
            subprocess.Popen([*command, *options], env=environment, cwd=self._folder)
        )

    def table(self, view: type[View]) -> dict[str, Any]:  # numbers and text
        """Return the table of a plot as it is now."""

        def read(store: Store) -> dict[str, Any]:
            return dict(view(store).table().columns)

        return self.diagnostics.submit(read, is_fresh=True).result(20)

    def drawn(self, view: type[GpuBars]) -> dict[str, Any]:
        """Return headline and empty text of a plot that is built now."""

        def build(store: Store) -> dict[str, Any]:
            made = view(store)
            made.build()
            made.update()
            return {"headline": made.caption.headline, "empty": made.caption.empty}

        return self.diagnostics.submit(build, is_fresh=True).result(20)

    def stop(self) -> None:
        """End the workers."""
        for worker in self._workers:
            worker.terminate()
        for worker in self._workers:
            worker.wait(20)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[GpuCluster]:
    (tmp_path / "pynvml.py").write_text(PYNVML, encoding="utf-8")
    (tmp_path / "rmm.py").write_text(RMM, encoding="utf-8")
    with (
        LocalCluster(n_workers=0, dashboard_address=":0") as local,
        Client(local) as client,
        dask_diag_lab.attach(client) as diagnostics,
    ):
        made = GpuCluster(local.scheduler_address, diagnostics, tmp_path)
        try:
            yield made
        finally:
            made.stop()


def test_what_the_engine_reads_of_a_gpu_is_drawn(cluster: GpuCluster) -> None:
    cluster.start("with-gpu")
    wait_until(lambda: cluster.table(RmmMemory)["rmm_used"], "no heartbeat told of RMM", 60.0)
    assert cluster.table(GpuUtilization)["gpu_utilization"] == [73]
    memory = cluster.table(GpuMemory)
    assert memory["name"] == ["with-gpu"]
    assert memory["gpu_memory_used"] == [5 * GIB]
    assert memory["gpu_memory_total"] == [16 * GIB]
    rmm = cluster.table(RmmMemory)
    assert (rmm["rmm_used"], rmm["rmm_pool"]) == ([3 * GIB], [8 * GIB])
    assert rmm["gpu_memory_total"] == [16 * GIB]
    drawn = cluster.drawn(GpuMemory)
    assert drawn["headline"] == "GPU memory: 5.00 GiB of 16.0 GiB · 1 worker"


def test_gpu_that_cannot_tell_its_use_is_not_called_missing(cluster: GpuCluster) -> None:
    cluster.start("old-gpu", utilization=None)
    wait_until(lambda: cluster.table(GpuMemory)["gpu_memory_used"], "no GPU was reported", 60.0)
    assert "cannot tell how busy" in cluster.drawn(GpuUtilization)["empty"]
    assert cluster.drawn(GpuMemory)["empty"] == ""
