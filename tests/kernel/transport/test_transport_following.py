"""What follows a scheduler learns the last of it, and is gone when it is closed."""

from __future__ import annotations

import asyncio
from typing import Any

from dask_diag_lab.collector import LEAVE, PULL
from dask_diag_lab.schema import EXTRA_NAMES, GRAPH
from dask_diag_lab.transport import Following
from tests.kernel.transport.live_cluster import Seen, cluster, until


def following(address: str, seen: Seen) -> Following:
    """One that pulls only when it is asked to."""
    return Following(
        address,
        {},
        on_batch=seen.on_batch,
        on_state=seen.states.append,
        interval_s=60.0,
        idle_interval_s=60.0,
    )


def test_nothing_runs_on_when_the_scheduler_is_silent_at_the_end() -> None:
    async def run() -> None:
        async with cluster(0) as (s, _, _):
            seen, gate, before = Seen(), asyncio.Event(), asyncio.all_tasks()

            async def never(**_: object) -> None:
                await gate.wait()

            one = following(s.address, seen)
            one.start()
            await until(lambda: seen.state == "live")
            ours = [task for task in asyncio.all_tasks() - before if is_of_feed(task)]
            assert ours
            s.handlers[LEAVE] = never
            await one.close()
            assert all(task.done() for task in ours)
            gate.set()

    asyncio.run(run())


def is_of_feed(task: asyncio.Task[Any]) -> bool:  # whatever it returns
    return "Feed" in str(task.get_coro())


def test_what_any_plot_needs_is_pulled_once() -> None:
    async def run() -> None:
        async with cluster(1) as (s, _, _):
            seen, wanted = Seen(), []
            one = following(s.address, seen)
            one.start()
            await until(lambda: seen.state == "live")
            pull = s.handlers[PULL]

            def noted(**given: Any) -> Any:  # as the collector's own
                wanted.append(set(given["wanted"]))
                return pull(**given)

            s.handlers[PULL] = noted
            await one.pull_all()
            assert wanted[-1] == {*EXTRA_NAMES, GRAPH}
            await one.pull()
            assert wanted[-1] == set()
            await one.close()

    asyncio.run(run())
