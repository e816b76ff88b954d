"""GPU plots from what distributed's own code reads of stand-ins for pynvml and rmm."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import dask
import pytest
from distributed import Client, LocalCluster, worker
from distributed.diagnostics import nvml, rmm

import dask_diag_lab
from dask_diag_lab.store import LiveSession
from dask_diag_lab.views.view import View
from dask_diag_lab.views.workers.bars import GpuMemory, GpuUtilization, RmmMemory
from tests.kernel.serving import wait_until

GIB = 1 << 30
PYNVML = SimpleNamespace(
    nvmlInit=bool,
    nvmlSystemGetDriverVersion=lambda: "999.0",
    nvmlDeviceGetCount=lambda: 1,
    nvmlDeviceGetHandleByIndex=int,
    nvmlDeviceGetName=lambda _: b"Stand-in GPU",
    nvmlDeviceGetUtilizationRates=lambda _: SimpleNamespace(gpu=73),
    nvmlDeviceGetMemoryInfo=lambda _: SimpleNamespace(used=5 * GIB, total=16 * GIB),
)


class Pool:
    """A pool of RAPIDS' memory manager, below an adaptor that counts."""

    def pool_size(self) -> int:
        return 8 * GIB


RESOURCE = SimpleNamespace(upstream_mr=Pool(), get_allocated_bytes=lambda: 3 * GIB)
RMM = SimpleNamespace(PoolMemoryResource=Pool, get_current_device_resource=lambda: RESOURCE)


async def rmm_metric(_: object) -> Any:  # as `distributed` has it where it can import rmm
    return rmm.real_time()


def test_what_the_engine_reads_of_a_gpu_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvml, "pynvml", PYNVML)
    monkeypatch.setattr(nvml, "NVML_STATE", nvml.NVMLState.UNINITIALIZED)
    monkeypatch.setattr(rmm, "rmm", SimpleNamespace(mr=RMM))
    monkeypatch.setitem(worker.DEFAULT_METRICS, "rmm", rmm_metric)
    for known in (worker.DEFAULT_METRICS, worker.DEFAULT_STARTUP_INFORMATION):
        monkeypatch.setitem(known, "gpu", bool)  # a worker puts its own there
    with (
        dask.config.set({"distributed.diagnostics.nvml": True}),
        LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as local,
        Client(local) as client,
        dask_diag_lab.attach(client) as diagnostics,
    ):

        def table(view: type[View]) -> dict[str, Any]:  # numbers and text
            def read(live: LiveSession) -> dict[str, Any]:
                return dict(view(live).table().columns)

            return diagnostics.submit(read, is_fresh=True).result(20)

        wait_until(lambda: table(RmmMemory)["rmm_used"], "no heartbeat told of RMM", 60.0)
        assert table(GpuUtilization)["gpu_utilization"] == [73]
        memory = table(GpuMemory)
        assert memory["gpu_memory_used"] == [5 * GIB]
        assert memory["gpu_memory_total"] == [16 * GIB]
        pool = table(RmmMemory)
        assert (pool["rmm_used"], pool["rmm_pool"]) == ([3 * GIB], [8 * GIB])
        assert pool["gpu_memory_total"] == [16 * GIB]
