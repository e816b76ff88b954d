"""A task is found by its key as text, whatever the key is, and all of it is bounded."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from dask_diag_lab.collector.strings import key_text
from tests.kernel.transport.asking import asking
from tests.kernel.transport.live_cluster import cluster, feeding, registered, until

LONG = "x" * 10_000
HTML = "<script>alert(1)</script>"
GATE = threading.Event()


def inc(x: int) -> int:
    return x + 1


def total(*values: int) -> int:
    return sum(values)


def fail(x: int) -> int:
    raise ValueError(f"{HTML} {x}")


def wait(x: int) -> int:
    GATE.wait(120)
    return x


KEYS: list[Any] = ["plain", ("t", ("nested", 1.5), -2), LONG, (HTML, 1), b"bytes", 7, "\ud800", "("]


@pytest.mark.parametrize("key", KEYS, ids=lambda key: repr(key)[:20])
async def test_a_task_is_found_by_its_key_as_text(key: Any) -> None:
    async with cluster() as (s, _, c), feeding(s.address), asking(s.address) as ask:
        future = c.submit(inc, 1, key="other")
        await future
        await until(lambda: registered(s))
        # Not every one of these can be given to a client; a graph may have any of them.
        s.tasks[key] = ts = s.tasks["other"]
        ts.key, real = key, ts.key
        try:
            found = await ask("task", key=key_text(key))
        finally:
            ts.key = real
            del s.tasks[key]
        assert found is not None
        assert found["key"] == key_text(key)
        assert found["state"] == "memory"


async def test_a_task_tells_its_neighbours_times_and_story() -> None:
    async with cluster() as (s, (w,), c), feeding(s.address), asking(s.address) as ask:
        a, b = c.submit(inc, 1, key=("a", 0)), c.submit(inc, 2, key="b")
        both = c.submit(total, a, b, key="both", retries=2, priority=3)
        above = c.submit(inc, both, key="above")
        await above
        found = await ask("task", key="both")
        assert sorted(x["key"] for x in found["dependencies"]) == ["('a', 0)", "b"]
        assert [dict(x) for x in found["dependents"]] == [{"key": "above", "state": "memory"}]
        assert found["counts"]["dependencies"] == 2
        assert found["prefix"] == "both"
        assert list(found["who_has"]) == [w.address]
        assert found["nbytes"] > 0
        assert found["type"] == "int"
        assert found["retries"] == 2
        assert found["priority"].startswith("(-3")
        (action,) = (x for x in found["actions"] if x["action"] == "compute")
        assert action["stop"] >= action["start"]
        moves = [(x["start"], x["finish"]) for x in found["story"]]
        assert moves[-1] == ("processing", "memory")
        assert moves[0][0] == "released"
        assert [x["time"] for x in found["story"]] == sorted(x["time"] for x in found["story"])


async def test_a_failed_task_tells_its_error_and_those_that_need_it_name_it() -> None:
    async with cluster() as (s, (w,), c), feeding(s.address), asking(s.address) as ask:
        bad = c.submit(fail, 1, key=("bad", 0))
        after = c.submit(inc, bad, key="after")
        with pytest.raises(ValueError, match="script"):
            await after
        found = await ask("task", key="('bad', 0)")
        assert HTML in found["exception"]
        assert "in fail" in found["traceback"]
        assert list(found["erred_on"]) == [w.address]
        assert found["blame"] == ""
        assert (await ask("task", key="after"))["blame"] == "('bad', 0)"


async def test_a_running_and_a_waiting_task_tell_where_and_for_what() -> None:
    GATE.clear()
    async with cluster() as (s, (w,), c), feeding(s.address), asking(s.address) as ask:
        slow = c.submit(wait, 1, key="slow", workers=[w.address])
        after = c.submit(inc, slow, key="after")
        await until(lambda: w.state.executing)
        try:
            running = await ask("task", key="slow")
            waiting = await ask("task", key="after")
        finally:
            GATE.set()
        assert (running["state"], running["worker"]) == ("processing", w.address)
        assert w.address in running["restrictions"]
        assert [x["key"] for x in waiting["waiting_on"]] == ["slow"]
        await after


async def test_neighbours_are_bounded_with_true_counts() -> None:
    async with cluster() as (s, _, c), feeding(s.address), asking(s.address) as ask:
        many = c.map(inc, range(600))
        await c.submit(total, *many, key="all")
        one = c.submit(total, *many, key="all")
        await one
        found = await ask("task", key="all")
        assert len(found["dependencies"]) == 500
        assert found["counts"]["dependencies"] == 600


async def test_an_unknown_task_is_none() -> None:
    async with cluster(0) as (s, _, _), feeding(s.address), asking(s.address) as ask:
        for key in ("nothing", "('a',", "[1]", "{}", "9" * 9000):
            assert await ask("task", key=key) is None


async def test_an_error_of_the_collector_is_answered_and_stays_inside() -> None:
    async with (
        cluster() as (s, _, c),
        feeding(s.address) as (_, seen),
        asking(s.address) as ask,
    ):
        kept = c.submit(inc, 1, key="k")
        await kept
        s.transition_log.append(("k",))  # type: ignore[arg-type]  # broken on purpose
        words = await ask.refused("task", key="k")
        s.transition_log.pop()
        assert "IndexError" in words
        assert seen.state == "live"
        assert (await ask("task", key="k"))["state"] == "memory"
