"""A task is found by its key as text, whatever the key is, and all of it is bounded."""

from __future__ import annotations

from typing import Any

from dask_diag_lab.collector.wire import key_text
from tests.kernel.transport.asking import asking
from tests.kernel.transport.live_cluster import cluster, feeding, inc

LONG = "x" * 10_000
HTML = "<script>alert(1)</script>"


def total(*values: int) -> int:
    return sum(values)


KEYS: list[Any] = ["plain", ("t", ("nested", 1.5), -2), LONG, (HTML, 1), b"bytes", 7, "\ud800", "("]


async def test_a_task_is_found_by_its_key_as_text() -> None:
    async with cluster() as (s, _, c), asking(s.address) as ask:
        future = c.submit(inc, 1, key="other")
        await future
        ts = s.tasks["other"]
        for key in KEYS:
            # Not every one of these can be given to a client; a graph may have any of them.
            s.tasks[key], ts.key = ts, key
            try:
                found = await ask("task", key=key_text(key))
            finally:
                ts.key = "other"
                del s.tasks[key]
            assert found is not None, key
            assert (found["key"], found["state"]) == (key_text(key), "memory")


async def test_a_task_tells_its_neighbours_times_and_story() -> None:
    async with cluster() as (s, (w,), c), asking(s.address) as ask:
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
        moves = [(x["start"], x["finish"]) for x in found["story"]]
        assert moves[-1] == ("processing", "memory")
        assert moves[0][0] == "released"
        assert [x["time"] for x in found["story"]] == sorted(x["time"] for x in found["story"])


async def test_neighbours_are_bounded_with_true_counts() -> None:
    async with cluster() as (s, _, c), asking(s.address) as ask:
        many = c.map(inc, range(510))
        one = c.submit(total, *many, key="all")
        await one
        found = await ask("task", key="all")
        assert len(found["dependencies"]) == 500
        assert found["counts"]["dependencies"] == 510


async def test_an_unknown_task_is_none() -> None:
    async with cluster(0) as (s, _, _), asking(s.address) as ask:
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
