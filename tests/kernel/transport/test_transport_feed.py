"""A feed brings everything once, ends without a trace, and comes back after every loss."""

from __future__ import annotations

import asyncio
import sys
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

import pytest

from dask_diag_lab.collector import PULL, UNSUBSCRIBE, Collector
from dask_diag_lab.schema import Batch
from dask_diag_lab.transport.link import Link
from tests.kernel.serving import until
from tests.kernel.transport.live_cluster import Seen, cluster, feeding, inc, registered, traces


async def test_two_feeds_share_one_collector_and_the_last_takes_it_away() -> None:
    async with cluster() as (s, _, c):
        plugins, handlers = set(s.plugins), set(s.handlers)
        callbacks = set(s.periodic_callbacks)
        async with feeding(s.address) as (_, a):
            await until(lambda: a.state == "live")
            first = registered(s)
            async with feeding(s.address) as (_, b):
                await until(lambda: b.state == "live")
                assert registered(s) is first
                await c.gather(c.map(inc, range(10)))
                await until(lambda: len(a.computed) == len(b.computed) == 10)
                assert a.epoch == b.epoch
            await until(lambda: b.state == "closed")
            assert registered(s) is first
            n = len(a.batches)
            await until(lambda: len(a.batches) > n)
        assert first is not None
        await until(lambda: traces(s) == [])
        assert set(s.plugins) == plugins
        assert set(s.handlers) == handlers
        assert set(s.periodic_callbacks) == callbacks
        assert first._timer.cancelled()


async def test_close_leaves_no_task_and_no_comm_and_may_be_called_twice() -> None:
    async with cluster() as (s, _, _):
        before, gate = asyncio.all_tasks(), asyncio.Event()

        async def never(**_: object) -> None:
            await gate.wait()

        async with feeding(s.address) as (feed, seen):
            await until(lambda: seen.state == "live")
            s.handlers[UNSUBSCRIBE] = never  # the scheduler is silent at the end
            await feed.close()
            await feed.close()
            assert seen.state == "closed"
            assert not [t for t in asyncio.all_tasks() - before if "diag" in t.get_name()]
        gate.set()
        await until(lambda: not [op for op in s._comms.values() if "diag" in str(op)])


async def test_rows_lost_between_two_pulls_are_counted_once() -> None:
    small = partial(Collector, max_actions=100)
    async with cluster() as (s, _, c):
        idle = {"interval_s": 0.02, "idle_interval_s": 3600.0, "collector": small}
        async with feeding(s.address, **idle) as (feed, seen):
            await until(lambda: seen.batches)
            await c.gather(c.map(inc, range(500)))
            feed.watch(True)
            total = await until(lambda: seen.last.actions_to >= 500 and seen.last.actions_to)
            assert seen.history.actions.dropped > 0
            assert seen.history.actions.dropped + len(seen.rows) == total
            n = len(seen.batches)
            await until(lambda: len(seen.batches) > n + 3)
            assert seen.history.actions.dropped + len(seen.rows) == total


async def test_nobody_there_is_lost_with_a_reason() -> None:
    async with feeding("tcp://127.0.0.1:1", timeout_s=0.3) as (_, seen):
        await until(lambda: seen.state == "lost")
        assert "tcp://127.0.0.1:1" in seen.states[-1].reason
    async with feeding("nosuch://somewhere", timeout_s=0.3) as (_, seen):
        await until(lambda: seen.state == "lost")
        assert "nosuch" in seen.states[-1].reason


async def test_a_scheduler_that_does_not_answer_in_time_is_lost() -> None:
    async with cluster() as (s, _, _), feeding(s.address, timeout_s=1.5) as (_, seen):
        await until(lambda: seen.state == "live")

        async def never(**_: object) -> None:
            await asyncio.sleep(3)

        pull = s.handlers[PULL]
        s.handlers[PULL] = never
        await until(lambda: seen.state == "lost")
        assert any("no answer in 1.5 s" in state.reason for state in seen.states)
        s.handlers[PULL] = pull
        await until(lambda: seen.state == "live")


async def test_a_receiver_that_raises_is_reported_and_gets_the_rows_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with cluster() as (s, _, c):
        seen = Seen()
        failures: list[Batch] = []

        def receive(batch: Batch) -> None:
            if batch.rows("actions") and len(failures) < 2:
                failures.append(batch)
                raise RuntimeError("no room")
            seen.on_batch(batch)

        async with feeding(s.address, on_batch=receive, on_state=seen.states.append):
            await c.gather(c.map(inc, range(5)))
            await until(lambda: len(seen.computed) == 5)
            await until(lambda: seen.state == "live")
        assert len(failures) == 2
        assert any("no room" in x.reason for x in seen.states if x.state == "degraded")
        reported = [r.exc_info for r in caplog.records if r.name == "dask_diag_lab.transport.feed"]
        assert len(reported) == 2
        assert all(reported)


async def test_a_change_that_is_not_understood_is_skipped_and_counted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with cluster() as (s, _, c), feeding(s.address) as (_, seen):
        await until(lambda: seen.state == "live")
        plugin = registered(s)
        assert plugin is not None
        await c.submit(inc, 1, key="known")
        for _ in range(3):
            plugin.transition("known", "processing", "memory")  # without what is needed of it
        assert await c.submit(inc, 2, key="next") == 3
        await until(lambda: seen.of("next") and seen.last.left_out["skipped"] == 3)
        assert seen.state == "live"
        assert len([r for r in caplog.records if "does not understand" in r.msg]) == 1


async def test_workers_of_another_version_are_unknown_and_the_reason_is_given() -> None:
    async with cluster() as (s, (w,), _), feeding(s.address) as (_, seen):
        await until(lambda: seen.workers)
        del s.workers[w.address].nanny  # as where an attribute has another name
        await until(lambda: "nanny" in seen.last.failed.get("workers", ""))
        s.workers[w.address].nanny = None


async def test_an_internal_error_switches_the_collector_off_and_the_computation_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with cluster() as (s, _, c), feeding(s.address) as (_, seen):
        await until(lambda: seen.state == "live")
        plugin = registered(s)
        assert plugin is not None

        def broken(*_: object) -> None:
            raise ZeroDivisionError("made by a test")

        plugin._counts.refresh = broken  # type: ignore[method-assign]  # made to fail
        assert await c.gather(c.map(inc, range(50))) == list(range(1, 51))
        assert await c.submit(sum, [1, 2]) == 3
        await until(lambda: seen.state == "degraded")
        assert len([r for r in caplog.records if "switched its collector off" in r.msg]) == 1
        assert "ZeroDivisionError" in seen.states[-1].reason


@pytest.mark.parametrize("blocked", ["register_scheduler_plugin", PULL])
async def test_a_scheduler_that_forbids_plugins_is_one_message(blocked: str) -> None:
    async with AsyncExitStack() as stack:
        s, _, c = await stack.enter_async_context(cluster())
        s.blocked_handlers = [blocked]  # after the client has made itself known
        _, seen = await stack.enter_async_context(feeding(s.address))
        await until(lambda: seen.state == "degraded")
        assert await c.submit(inc, 1) == 2
        reason = seen.states[-1].reason
        assert "blocked-handlers" in reason or "refused" in reason
        assert "plots get no data" in reason
        assert not seen.batches


async def test_another_python_version_is_named_and_gets_no_plugin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with cluster() as (s, _, _):
        opened = Link.open

        async def older(*args: Any, **options: Any) -> Link:
            link = await opened(*args, **options)
            link.python = (3, 8)
            return link

        monkeypatch.setattr(Link, "open", older)
        async with feeding(s.address) as (_, seen):
            await until(lambda: seen.state == "degraded")
            ours = ".".join(map(str, sys.version_info[:2]))
            assert f"Python 3.8 and this process {ours}" in seen.states[-1].reason
            assert traces(s) == []
