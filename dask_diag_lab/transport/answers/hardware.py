"""The answer to ``hardware``: the engine's own benchmark of memory, disk and network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dask.utils import parse_bytes

from dask_diag_lab.transport import wire
from dask_diag_lab.transport.cluster import Cluster

BENCHMARK_S: Final = 290.0
"""It waits for a free thread on every worker."""


async def hardware(cluster: Cluster, arguments: Mapping[str, str | float]) -> dict[str, Any]:
    """Run ``benchmark_hardware``, which keeps every worker busy for some seconds.

    Sizes are in bytes and ascending, rates means over the workers. Two workers are needed for the
    network.
    """
    del arguments
    answer = wire.mapping(
        await cluster.call("benchmark_hardware", timeout_s=BENCHMARK_S), "benchmark_hardware"
    )
    return {kind: _rows(answer.get(kind, {}), kind) for kind in ("memory", "disk", "network")}


def _rows(value: Any, kind: str) -> list[dict[str, float]]:  # what the scheduler sent
    sizes = {parse_bytes(size): rate for size, rate in wire.mapping(value, kind).items()}
    return [{"size": size, "rate": wire.number(sizes[size], kind)} for size in sorted(sizes)]
