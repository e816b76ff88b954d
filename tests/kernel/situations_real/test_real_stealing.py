"""Work that is given to one worker and may be done by two."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from distributed import Scheduler, wait

from tests.kernel.situations_real.reading import Situation, situation

CONFIG = {
    "distributed.scheduler.work-stealing-interval": "50ms",
    "distributed.scheduler.default-task-durations": {"chew": "100ms"},
}


def chew(x: int) -> int:
    time.sleep(0.1)
    return x


@pytest.fixture(scope="module")
def stolen() -> Iterator[Situation]:
    """Forty tasks for the first worker, which the second may take."""
    with situation(CONFIG, n_workers=2, threads_per_worker=1) as found:
        wait(
            found.client.map(
                chew, range(40), workers=[found.addresses[0]], allow_other_workers=True
            )
        )
        yield found


def moves(scheduler: Scheduler) -> dict[str, int]:
    """Return how many decisions of each kind the engine has logged."""
    words = {"confirm": "confirmed"}
    told: dict[str, int] = {}
    for _, message in scheduler.get_events("stealing"):
        event, *parts = message
        n = len(parts[0]) if event == "request" else 1
        told[words.get(event, event)] = told.get(words.get(event, event), 0) + n
    return told


def test_decisions_are_those_of_the_engine(stolen: Situation) -> None:
    def ours() -> dict[str, int]:
        events = stolen.table("stealing")["event"]
        return {event: events.count(event) for event in set(events)}

    told = stolen.agree(ours, moves, lambda theirs: theirs.get("confirmed", 0) > 2)
    assert told["request"] >= told["confirmed"]


def test_tasks_go_from_the_busy_worker_to_the_idle_one(stolen: Situation) -> None:
    one, other = stolen.addresses
    rows = stolen.seen(
        lambda: [row for row in stolen.rows("stealing") if row["event"] == "request"], bool
    )
    assert (rows[0]["victim"], rows[0]["thief"]) == (one, other)
    assert rows[0]["victim_occupancy"] > rows[0]["thief_occupancy"]


def test_what_was_moved_ran_on_the_other_worker(stolen: Situation) -> None:
    one, other = stolen.addresses
    kept, moved = (
        {
            row["key"]
            for row in stolen.rows("stealing")
            if row["event"] == "confirmed" and row["thief"] == thief
        }
        for thief in (one, other)
    )
    assert moved
    stolen.seen(
        lambda: {r["key"] for r in stolen.rows("task-stream") if r["worker"] == "worker 1"},
        lambda ran: moved <= ran | kept,  # what was moved back ran where it was at first
    )


def test_the_burst_is_an_event_that_counts_the_moves(stolen: Situation) -> None:
    confirmed = stolen.engine(moves)["confirmed"]

    def counted() -> int:
        rows = stolen.rows("events")
        return sum(row["count"] for row in rows if row["kind"] == "steal-burst")

    assert stolen.seen(counted, confirmed.__eq__) == confirmed


def test_the_counter_of_requests_is_the_extensions(stolen: Situation) -> None:
    def engine(scheduler: Scheduler) -> float:
        return float(sum(scheduler.extensions["stealing"].metrics["request_count_total"].values()))

    stolen.agree(
        lambda: stolen.by("name", "counters", "value").get("stealing: request_count_total"), engine
    )
