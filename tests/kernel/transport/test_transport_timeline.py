"""The timeline of a store that is fed by a real cluster."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest

from dask_diag_lab.store import Store
from tests.kernel.transport.live_cluster import cluster, feeding, until


def fed(store: Store) -> dict[str, Any]:
    """Return the options of a feed that fills a store."""
    return {
        "on_batch": store.apply,
        "on_state": lambda state: store.set_feed_state(state.state, state.reason, state.since),
    }


def happened(store: Store, kind: str) -> list[dict[str, Any]]:
    return [dict(detail) for _, known, detail in store.events.rows if known == kind]


SPILLS_ALL = {
    "distributed.worker.memory.target": 1e-7,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": False,
}
"""With a limit of 1 TiB: results above 100 kB go to disk."""


@asynccontextmanager
async def spilling() -> AsyncIterator[
    tuple[Store, Any, Any]
]:  # a worker and `distributed`'s Client
    """Feed a store from a worker that spills all but the smallest results."""
    store, options = Store(), {"memory_limit": 2**40}
    async with (
        cluster(worker=options, config=SPILLS_ALL) as (s, (w,), c),
        feeding(s.address, **fed(store)),
    ):
        await until(lambda: len(store.workers) == 1)
        yield store, w, c


def noise(nbytes: int) -> bytes:
    return np.random.default_rng(1).bytes(nbytes)


async def test_a_worker_that_spills_and_gets_rid_of_it_is_two_events() -> None:
    async with spilling() as (store, w, c):
        big = c.submit(noise, 5_000_000, key="big")
        await big
        (began,) = await until(lambda: happened(store, "spill-began"))
        assert began["worker"] == w.address
        assert began["nbytes"] > 4_000_000
        await until(lambda: store.series.get("spilled").high.max() >= began["nbytes"])
        del big
        assert await until(lambda: happened(store, "spill-ended")) == [{"worker": w.address}]


async def test_a_scheduler_that_closes_is_given_as_lost() -> None:
    store = Store()
    async with cluster(0) as (s, _, c), feeding(s.address, **fed(store)):
        await until(lambda: store.scheduler is not None)
        await c.close()
        await s.close()
        (event,) = await until(lambda: happened(store, "scheduler-lost"))
        assert "cannot be reached" in event["reason"]
        at = next(at for at, kind, _ in store.events.rows if kind == "scheduler-lost")
        assert at == pytest.approx(store.time, abs=1)
