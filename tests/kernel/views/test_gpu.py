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
from dask_diag_lab.store import LiveSession
from dask_diag_lab.views.view import View
from dask_diag_lab.views.workers.bars import (
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


@pytest.fixture
def diagnostics(tmp_path: Path) -> Iterator[Diagnostics]:
    """Diagnostics of a cluster with one worker, whose GPU is a stand-in."""
    (tmp_path / "pynvml.py").write_text(PYNVML, encoding="utf-8")
    (tmp_path / "rmm.py").write_text(RMM, encoding="utf-8")
    paths = [str(tmp_path), str(Path(dask_diag_lab.__file__).parents[1])]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(paths),
        "TEST_GPU": json.dumps(GPU),
        "DASK_DISTRIBUTED__DIAGNOSTICS__NVML": "True",
    }
    with (
        LocalCluster(n_workers=0, dashboard_address=":0") as local,
        Client(local) as client,
        dask_diag_lab.attach(client) as made,
    ):
        command = [sys.executable, "-m", "distributed.cli.dask_worker", local.scheduler_address]
        options = ["--no-nanny", "--no-dashboard", "--nthreads", "1", "--name", "with-gpu"]
        worker = subprocess.Popen([*command, *options], env=environment, cwd=tmp_path)
        try:
            yield made
        finally:
            worker.terminate()
            worker.wait(20)


def test_what_the_engine_reads_of_a_gpu_is_drawn(diagnostics: Diagnostics) -> None:
    def table(view: type[View]) -> dict[str, Any]:  # numbers and text
        def read(live: LiveSession) -> dict[str, Any]:
            return dict(view(live).table().columns)

        return diagnostics.submit(read, is_fresh=True).result(20)

    wait_until(lambda: table(RmmMemory)["rmm_used"], "no heartbeat told of RMM", 60.0)
    assert table(GpuUtilization)["gpu_utilization"] == [73]
    memory = table(GpuMemory)
    assert memory["name"] == ["with-gpu"]
    assert memory["gpu_memory_used"] == [5 * GIB]
    assert memory["gpu_memory_total"] == [16 * GIB]
    rmm = table(RmmMemory)
    assert (rmm["rmm_used"], rmm["rmm_pool"]) == ([3 * GIB], [8 * GIB])
    assert rmm["gpu_memory_total"] == [16 * GIB]
