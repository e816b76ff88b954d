"""The scheduler's own process, event loops, and the questions put to workers."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator

import psutil
import pytest
from distributed import Scheduler, wait

from tests.kernel.situations_real.reading import Situation, situation

Samples = dict[float, tuple[float, ...]]


def nap(x: int) -> int:
    time.sleep(0.01)
    return x


@pytest.fixture(scope="module")
def system() -> Iterator[Situation]:
    """A cluster in this process that did a little."""
    config = {"distributed.worker.profile.cycle": "100ms"}
    with situation(config, n_workers=2, threads_per_worker=1) as found:
        wait(found.client.map(nap, range(10)))
        yield found


def test_samples_are_those_of_the_schedulers_monitor(system: Situation) -> None:
    def engine(scheduler: Scheduler) -> Samples:
        quantities = scheduler.monitor.quantities
        names = ("cpu", "memory", "host_net_io.read_bps", "host_net_io.write_bps", "num_fds")
        columns = [list(quantities[name]) for name in ("time", *names)]
        return {row[0]: row[1:] for row in zip(*columns, strict=True)}

    def is_same(ours: Samples, theirs: Samples) -> bool:
        return len(ours) > n_before and list(ours.items()) == list(theirs.items())[: len(ours)]

    n_before = len(system.engine(engine))
    told = system.agree(
        lambda: system.by(
            "time", "scheduler-system", "cpu", "memory", "read_bps", "write_bps", "fds"
        ),
        engine,
        is_same=is_same,
    )
    assert max(row[1] for row in told.values()) > 2**25


def test_memory_of_the_scheduler_is_that_of_its_process(system: Situation) -> None:
    """Within a tenth, once: the process grows and shrinks between the samples."""
    process = psutil.Process(os.getpid())
    system.seen(
        lambda: (system.table("scheduler-system")["memory"][-1], process.memory_info().rss),
        lambda both: both[0] == pytest.approx(both[1], rel=0.1),
    )


def test_event_loop_intervals_are_those_of_the_heartbeats(system: Situation) -> None:
    def ours() -> dict[str, float]:
        told: dict[str, float] = system.by("name", "contention", "event_loop_interval")
        del told["Scheduler"]
        return told

    system.agree(
        ours,
        lambda scheduler: {
            str(ws.name): ws.metrics["event_loop_interval"] for ws in scheduler.workers.values()
        },
    )


def test_the_schedulers_own_interval_is_the_engines(system: Situation) -> None:
    system.agree(
        lambda: system.by("name", "contention", "event_loop_interval")["Scheduler"],
        lambda scheduler: scheduler._tick_interval_observed,
    )


def test_a_loop_that_is_held_up_is_said_to_be(system: Situation) -> None:
    """Held up until it is seen: the engine's interval is the mean of only a second or so."""

    def block(dask_scheduler: Scheduler) -> None:
        time.sleep(0.6)

    def interval_while_blocked() -> float:
        system.client.run_on_scheduler(block)
        interval: float = system.by("name", "contention", "event_loop_interval")["Scheduler"]
        return interval

    assert system.seen(interval_while_blocked, lambda interval: interval > 0.04)


def test_logs_of_a_worker_are_its_own(system: Situation) -> None:
    one = system.addresses[0]
    theirs = [text for _, text in system.client.get_worker_logs(workers=[one])[one][-3:]]
    assert theirs

    def are_in(lines: list[str]) -> bool:
        return all(any(text.splitlines()[0] in line for line in lines) for text in theirs)

    system.seen(lambda: system.table("worker", worker=one, show="logs")["logs"], are_in)


@pytest.mark.skipif(sys.version_info[:2] == (3, 11), reason="the engine does not sample there")
def test_the_profile_of_event_loops_has_samples(system: Situation) -> None:
    assert system.seen(lambda: system.table("profile-server")["samples"], bool)


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the engine samples elsewhere")
def test_the_profile_of_event_loops_says_why_there_is_none(system: Situation) -> None:
    assert not system.table("profile-server")["samples"]
    notice = system.seen(lambda: system.notice("profile-server"), lambda told: "3.11" in told.empty)
    assert "Dask does not sample" in notice.empty
