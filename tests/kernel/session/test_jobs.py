"""Where pictures are made: beside the loop, one after the other, and given up at the end."""

from __future__ import annotations

import asyncio
import threading

import pytest

from dask_diag_lab.jobs import JobRunner
from dask_diag_lab.store import Store

LONG_S = 30.0


def test_the_loop_goes_on_while_something_is_made() -> None:
    async def run() -> None:
        store, told = Store(), asyncio.Event()
        job_runner = JobRunner(store, lambda _: told.set())
        gate = threading.Event()
        job = store.jobs.start(lambda: gate.wait(LONG_S))
        await asyncio.sleep(0)
        gate.set()  # by the loop, which the work would hold up if it were done there
        await asyncio.wait_for(told.wait(), LONG_S)
        assert job.result() is True
        await job_runner.close()

    asyncio.run(run())


def test_one_is_made_after_the_other() -> None:
    async def run() -> None:
        store, told = Store(), asyncio.Semaphore(0)
        job_runner = JobRunner(store, lambda _: told.release())
        lock = threading.Lock()

        def make() -> bool:
            if not lock.acquire(blocking=False):
                return False
            threading.Event().wait(0.005)  # long enough to be met by another
            lock.release()
            return True

        made = [store.jobs.start(make) for _ in range(20)]
        for _ in made:
            await asyncio.wait_for(told.acquire(), LONG_S)
        assert all(job.result() for job in made)
        assert store.jobs.n_open == 0
        await job_runner.close()

    asyncio.run(run())


def test_what_is_not_done_at_the_end_is_given_up() -> None:
    async def run() -> None:
        store = Store()
        job_runner = JobRunner(store, lambda _: None)
        gate, second = threading.Event(), threading.Event()
        store.jobs.start(lambda: gate.wait(LONG_S))
        waiting = store.jobs.start(second.set)
        await asyncio.sleep(0)
        await asyncio.wait_for(job_runner.close(), LONG_S)
        await job_runner.close()
        gate.set()
        assert not waiting.is_done
        assert not second.is_set()

    asyncio.run(run())


def test_a_closed_runner_takes_no_more_and_leaves_another_of_the_same_store_alone() -> None:
    async def run() -> None:
        store = Store()
        first, second = JobRunner(store, lambda _: None), JobRunner(store, lambda _: None)
        await first.close()
        assert not store.jobs.start(lambda: 7).is_done
        await second.close()
        assert store.jobs.start(lambda: 7).is_done

    asyncio.run(run())


def test_what_is_brief_does_not_wait_for_what_is_long() -> None:
    async def run() -> None:
        made: asyncio.Queue[object] = asyncio.Queue()
        store, gate = Store(), threading.Event()
        job_runner = JobRunner(store, made.put_nowait)
        long = store.jobs.start(lambda: gate.wait(LONG_S))
        brief = store.jobs.start(lambda: 7, is_brief=True)
        assert await asyncio.wait_for(made.get(), LONG_S) is brief
        gate.set()
        assert await asyncio.wait_for(made.get(), LONG_S) is long
        await job_runner.close()

    asyncio.run(run())


def test_without_a_thread_it_is_done_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_given: object) -> None:
        raise RuntimeError("can't start new thread")

    async def run() -> None:
        store, told = Store(), asyncio.Event()
        job_runner = JobRunner(store, lambda _: told.set())
        monkeypatch.setattr(asyncio, "to_thread", fail)
        job = store.jobs.start(lambda: 7)
        await asyncio.wait_for(told.wait(), LONG_S)
        assert job.result() == 7
        await job_runner.close()

    asyncio.run(run())
