"""Each extra table holds what `distributed` holds, in real situations."""

from __future__ import annotations

from typing import Any

import pytest
from distributed import Variable

from dask_diag_lab.collector.on_demand import moves_of
from tests.kernel.serving import until
from tests.kernel.transport.live_cluster import cluster, feeding, inc


@pytest.mark.parametrize(
    ("message", "row"),
    [
        (("already-computing", "k", "executing", "v", "t", "s"), ("already-computing", "v", "t")),
        (("reschedule", True, "k", None, "v", "t", "s"), ("reschedule", "v", "t")),
        (("stale-response", "k", "ready", "v", "s"), ("stale-response", "v", "")),
        (("already-aborted", "k", "ready", None, "s"), ("already-aborted", "", "")),
    ],
)
def test_moves_that_came_to_nothing_say_why(message: Any, row: tuple[str, str, str]) -> None:
    ((at, event, key, level, victim, thief),) = moves_of(3.0, message)
    assert (at, key, level) == (3.0, "k", -1)
    assert (event, victim, thief) == row


async def test_clients_are_those_connected_and_whatever_else_keeps_keys() -> None:
    async with cluster() as (s, _, c), feeding(s.address, wanted=["clients"]) as (_, seen):
        futures = c.map(inc, range(3))
        await Variable("kept", client=c).set(futures[0])

        def wanted() -> dict[str, tuple[bool, int]]:
            return {r["name"]: (r["is_connected"], r["wanted"]) for r in seen.extra("clients")}

        await until(lambda: wanted() == {c.id: (True, 3), "variable-kept": (False, 1)})
        del futures
        await until(lambda: wanted() == {c.id: (True, 0), "variable-kept": (False, 1)})
