"""Work that takes long: done beside the loop, one after the other, and given up at the end."""

from __future__ import annotations

import asyncio
import threading

from dask_diag_lab.jobs import JobRunner
from dask_diag_lab.store import LiveSession
from tests.kernel.serving import until

LONG_S = 30.0


async def test_the_loop_goes_on_while_one_after_the_other_is_made() -> None:
    live, reported = LiveSession(), list[int]()
    live.on_change = lambda: reported.append(1)
    runner = JobRunner(live.jobs, live.job_done)
    gate, lock = threading.Event(), threading.Lock()

    def make() -> bool:
        if not lock.acquire(blocking=False):
            return False
        gate.wait(LONG_S)
        lock.release()
        return True

    made = [live.jobs.start(make) for _ in range(20)]
    await asyncio.sleep(0)
    gate.set()  # by the loop, which the work would hold up if it were done there
    await until(lambda: len(reported) == len(made), "not all are made")
    assert all(job.result() for job in made)
    assert live.jobs.n_open == 0
    runner.close()


async def test_what_is_not_done_at_the_end_is_given_up() -> None:
    live, reported = LiveSession(), list[int]()
    live.on_change = lambda: reported.append(1)
    runner = JobRunner(live.jobs, live.job_done)
    gate, begun, second = threading.Event(), threading.Event(), threading.Event()

    def hold() -> bool:
        begun.set()
        return gate.wait(LONG_S)

    live.jobs.start(hold)
    waiting = live.jobs.start(second.set)
    await until(begun.is_set, "it does not begin")
    runner.close()
    runner.close()
    gate.set()
    assert live.jobs.start(lambda: 7).result() == 7  # as without a runner
    assert (reported, waiting.is_done, second.is_set()) == ([], False, False)
