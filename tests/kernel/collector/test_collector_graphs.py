"""Each task is known to be of the graph that it came with."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np
import pytest
from dask.delayed import delayed

from dask_diag_lab.collector.events import SubmittedGraphs
from dask_diag_lab.schema import Kind
from tests.kernel.serving import until
from tests.kernel.transport.live_cluster import cluster, feeding, inc


def fail(x: int) -> int:
    raise ValueError(x)


async def test_tasks_have_the_number_of_their_graph_also_those_that_failed_or_run_again() -> None:
    async with cluster(2) as (s, (a, _), c), feeding(s.address) as (_, seen):
        await until(lambda: seen.batches)
        x = c.submit(inc, 1, key="x", workers=[a.address])
        await x
        good, bad = c.compute([delayed(inc)(delayed(inc)(5)), delayed(fail)(1)])
        assert (await good, type(await bad.exception())) == (7, ValueError)
        await c.submit(inc, x, key="y")

        def computed(key: str) -> list[dict[str, Any]]:  # not its transfer to another worker
            return [row for row in seen.of(key) if row["kind"] == Kind.COMPUTE]

        (of_x,), (of_y,) = [await until(partial(computed, key)) for key in ("x", "y")]
        of_both = {
            row["graph"]
            for key in {row["key"] for row in seen.rows} - {"x", "y"}
            for row in seen.of(key)
        }
        assert of_both == {of_x["graph"] + 1}
        assert of_y["graph"] == of_x["graph"] + 2
        graphs = {number: (client, tasks) for number, _, _, client, _, tasks, _ in seen.graphs}
        assert graphs[of_x["graph"]] == (c.id, 1)
        assert graphs[of_x["graph"] + 1] == (c.id, 3)


async def test_what_a_task_carries_is_known_also_where_its_function_has_it() -> None:
    data = np.ones(1_000_000)

    def closed_over(_: int) -> float:
        return float(data.sum())

    async with cluster(1) as (s, _, c), feeding(s.address) as (_, seen):
        await until(lambda: seen.batches)
        for function in (inc, partial(np.add, data), closed_over):
            await c.gather(c.map(function, range(4), pure=False))
        graphs = await until(lambda: len(seen.graphs) == 3 and seen.graphs)
        small, *large = [row[-1] for row in graphs]
        assert 0 < small < 10_000
        assert large == pytest.approx([8e6, 8e6], rel=0.01)


async def test_graphs_of_before_the_collector_are_told_with_what_is_left_of_them() -> None:
    async with cluster(1) as (s, _, c):
        await c.submit(inc, 1)
        pending = c.map(time.sleep, [5] * 3, pure=False)
        await until(lambda: len(s.tasks) == 3)
        async with feeding(s.address) as (_, seen):
            await until(lambda: seen.graphs)
            assert [(client, tasks) for *_, client, _, tasks, _ in seen.graphs] == [
                (c.id, 0),
                (c.id, 3),
            ]
        await c.cancel(pending)


def test_graphs_of_one_client_in_one_go_are_one_row_until_it_is_sent() -> None:
    log = SubmittedGraphs()
    for at, client in ((1.0, "a"), (1.001, "a"), (1.002, "b"), (2.0, "b")):
        log.add(at, client)
        log.add_task()
    sent, cursor = log.since(0)
    assert sent is not None
    assert [row[:4] for row in sent["rows"]] == [
        [1, 1.0, 1.001, "a"],
        [2, 1.002, 1.002, "b"],
        [3, 2.0, 2.0, "b"],
    ]
    log.add(2.001, "b")
    sent, _ = log.since(cursor)
    assert sent is not None
    assert [row[0] for row in sent["rows"]] == [4]
