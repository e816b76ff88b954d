"""Bytes in memory by prefix and group are those of the tasks in memory, however they came there."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from dask_diag_lab.schema import STATES
from tests.kernel.serving import WAIT_S, until
from tests.kernel.transport.live_cluster import cluster, feeding

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.kernel.transport.live_cluster import Seen

MEMORY = STATES.index("memory")


def block(n: int) -> bytes:
    return bytes(n)


def grown(n: int, path: Any) -> bytes:
    """Return more bytes each time it runs."""
    with path.open("a") as runs:
        runs.write(".")
    return bytes(n * path.stat().st_size)


def _in_memory(dask_scheduler: Any) -> dict[str, dict[str, int]]:
    """Return what `distributed`'s own tasks add up to, by prefix and by group."""
    sums: dict[str, dict[str, int]] = {"prefixes": {}, "groups": {}}
    for ts in dask_scheduler.tasks.values():
        if ts.state == "memory":
            for table, name in (("prefixes", ts.prefix.name), ("groups", ts.group.name)):
                sums[table][name] = sums[table].get(name, 0) + ts.nbytes
    return sums


def reported(rows: Mapping[str, Mapping[str, Any]]) -> dict[str, int]:
    """Return the bytes of all rows that have tasks in memory; none may have any other way."""
    assert not any(row["nbytes"] for row in rows.values() if not row["states"][MEMORY])
    return {name: row["nbytes"] for name, row in rows.items() if row["states"][MEMORY]}


def states(seen: Seen, name: str) -> dict[str, int]:
    row = seen.prefixes.get(name) or {"states": [0] * len(STATES)}
    return dict(zip(STATES, row["states"], strict=True))


async def equal(c: Any, seen: Seen) -> dict[str, int]:
    """Wait until prefixes and groups are told as they are; return the bytes of each prefix."""
    end = time.monotonic() + WAIT_S
    while True:
        real = await c.run_on_scheduler(_in_memory)
        if (reported(seen.prefixes), reported(seen.groups)) == (real["prefixes"], real["groups"]):
            return dict(real["prefixes"])
        assert time.monotonic() < end, (seen.prefixes, seen.groups, real)
        await asyncio.sleep(0.02)


@asynccontextmanager
async def watched(n_workers: int = 1, **options: Any) -> AsyncIterator[tuple[Any, ...]]:
    """Give scheduler, workers, client and what a feed saw."""
    async with (
        cluster(n_workers, **options) as (s, workers, c),
        feeding(s.address) as (_, seen),
    ):
        yield s, workers, c, seen


async def worker_of(s: Any, key: str, workers: list[Any]) -> Any:
    (ws,) = s.tasks[key].who_has
    return next(w for w in workers if w.address == ws.address)


async def test_bytes_shrink_when_results_of_different_sizes_are_released() -> None:
    async with watched() as (_, _, c, seen):
        futures = c.map(block, [1000 * i for i in range(1, 11)], key="block")
        await c.gather(futures)
        assert await equal(c, seen) == {"block": 55_000}
        del futures[5:]
        await until(lambda: states(seen, "block")["memory"] == 5)
        assert await equal(c, seen) == {"block": 15_000}
        futures.clear()
        await until(lambda: all(row["is_ended"] for row in seen.groups.values()))
        assert await equal(c, seen) == {}


async def test_results_computed_again_after_their_worker_is_gone_count_once(tmp_path: Any) -> None:
    async with watched(2) as (s, workers, c, seen):
        futures = [c.submit(grown, 1000, tmp_path / str(i), key=("grown-1", i)) for i in range(6)]
        await c.gather(futures)
        assert await equal(c, seen) == {"grown": 6000}
        home = await worker_of(s, futures[0].key, workers)
        n_lost = len(s.workers[home.address].has_what)
        await home.close()
        await until(lambda: len(s.workers) == 1)
        await c.gather(futures)
        assert await equal(c, seen) == {"grown": 6000 + 1000 * n_lost}
        del futures[1:]
        await until(lambda: states(seen, "grown")["memory"] == 1)
        assert await equal(c, seen) == {"grown": 2000}
