"""Rows of task groups: those that are there, and those that ended."""

from __future__ import annotations

import asyncio
import time
from operator import add
from typing import Any

import pytest

from dask_diag_lab.collector.tasks import TaskTables
from tests.kernel.transport.live_cluster import cluster, feeding, registered, states, until


def inc(x: int) -> int:
    return x + 1


def wait_for(path: Any) -> None:
    while not path.exists():
        time.sleep(0.01)


def test_groups_know_their_prefix_structure_and_times() -> None:
    async def run() -> None:
        async with cluster() as (s, _, c), feeding(s.address) as (_, seen):
            a = c.submit(inc, 1, key=("load-1a", 0))
            b = c.submit(inc, a, key=("shift-2b", 0))
            d = c.submit(add, a, b, key=("join-3c", 0))
            assert await d == 5
            await until(lambda: len(seen.groups) == 3)
            await until(lambda: states(seen.groups["join-3c"])["memory"] == 1)
            assert seen.groups["join-3c"]["prefix"] == "join"
            assert set(seen.groups["join-3c"]["dependencies"]) == {"load-1a", "shift-2b"}
            assert seen.groups["load-1a"]["dependencies"] == ()
            group = s.task_groups["shift-2b"]
            row = seen.groups["shift-2b"]
            assert (row["start"], row["stop"]) == (group.start, group.stop)
            assert row["duration"] == pytest.approx(group.duration)
            del a, b, d
            await until(lambda: all(row["is_ended"] for row in seen.groups.values()))
            assert [sum(row["states"]) for row in seen.groups.values()] == [1, 1, 1]
            assert set(seen.groups["join-3c"]["dependencies"]) == {"load-1a", "shift-2b"}

    asyncio.run(run())


def test_groups_that_come_and_go_between_two_looks_are_told_with_what_they_did(
    tmp_path: Any,
) -> None:
    async def run() -> None:
        async with cluster(1) as (s, _, c):
            tables = TaskTables(s)
            gate = tmp_path / "go"
            held = [c.submit(wait_for, gate, key=("block-1", n)) for n in range(5)]
            await until(lambda: "block-1" in s.task_groups)
            # The hook is not there: this is what it would have touched.
            tables.touched.update(s.task_groups.values())
            await c.cancel(held)
            gate.touch()
            await c.gather([c.submit(inc, n, key=("block-2", n)) for n in range(3)])
            tables.touched.update(s.task_groups.values())
            await until(lambda: not s.tasks)
            tables.refresh()
            rows = {row[0]: row for row in tables.groups.since(0).rows}  # type: ignore[union-attr]  # full
            assert rows["block-2"][1:3] == ("block", (*[0] * 7, 3))
            # One that a thread had begun may have come to its end before it was cancelled.
            assert sum(rows.get("block-1", ("", "", (0,)))[2]) <= 1

    asyncio.run(run())


def test_what_was_cancelled_of_a_group_that_is_there_is_not_taken_from_one_that_ended() -> None:
    async def run() -> None:
        async with cluster(1) as (s, _, c):
            tables = TaskTables(s)
            nowhere = c.submit(inc, 1, key=("other-1", 0), workers=["tcp://10.255.255.1:1"])
            waiting = [c.submit(add, nowhere, n, key=("block-1", n)) for n in range(5)]
            await until(lambda: len(s.task_groups.get("block-1", ())) == 5)
            await c.cancel(waiting[1:])
            await until(lambda: s.task_groups["block-1"].states["forgotten"] == 4)
            done = [c.submit(inc, n, key=("block-2", n)) for n in range(3)]
            await c.gather(done)
            # The hook is not there: this is what it would have touched.
            tables.touched.update(s.task_groups.values())
            tables.refresh()
            tables.touched.add(s.task_groups["block-2"])
            del done
            await until(lambda: "block-2" not in s.task_groups)
            tables.refresh()
            assert tables.groups.get("block-2")[2][-1] == 3  # type: ignore[index]  # is there
            assert tables.n_forgotten_groups == 0
            del waiting, nowhere

    asyncio.run(run())


def test_groups_that_ended_stay_up_to_a_bound_and_over_a_restart() -> None:
    async def run() -> None:
        async with cluster(1) as (s, _, c):
            tables = TaskTables(s, max_groups=4, max_ended_groups=2)
            for n in range(4):
                futures = [c.submit(inc, i, key=(f"part-{n}", i)) for i in range(n + 1)]
                await c.gather(futures)
                tables.refresh()
                tables.touched.update(s.task_groups.values())
                del futures
                await until(lambda: not s.tasks)
                tables.refresh()
            assert [tables.groups.get(f"part-{n}") is None for n in range(4)] == [
                *(True, True, False, False)
            ]
            assert sum(tables.groups.get("part-3")[2]) == 4  # type: ignore[index]  # is there
            assert tables.n_forgotten_groups == 2
            again = c.submit(inc, 1, key=("part-3", 9))
            await again
            tables.refresh()
            assert tables.groups.get("part-3")[2][-1] == 4  # type: ignore[index]  # is there
            tables.restart()
            assert set(tables.groups.names()) == {"part-2", "part-3"}
            assert tables.n_forgotten_groups == 2
            del again


def row_of(tables: TaskTables, name: str) -> tuple[Any, ...]:
    row = tables.groups.get(name)
    assert row is not None
    return row


def test_a_group_made_again_goes_on_from_what_those_of_its_name_did() -> None:
    async def run() -> None:
        async with cluster(1) as (s, _, c):
            tables = TaskTables(s)
            seconds, first = 0.0, 0.0

            async def compute(n: int) -> list[Any]:
                nonlocal seconds, first
                futures = [c.submit(inc, i, key=("part-1", i)) for i in range(n)]
                await c.gather(futures)
                group = s.task_groups["part-1"]
                # The hook is not there: this is what it would have touched.
                tables.touched.add(group)
                seconds += group.duration
                first = first or group.start
                return futures

            for n in (4, 3):  # between two looks it ends, is made again and ends
                await compute(n)
                await until(lambda: not s.tasks)
            tables.refresh()
            assert row_of(tables, "part-1")[2] == (*[0] * 7, 7)
            await compute(2)
            await until(lambda: not s.tasks)
            kept = await compute(5)  # it ends and is there again
            tables.refresh()
            states, _, *times = row_of(tables, "part-1")[2:7]
            assert states == (*[0] * 5, 5, 0, 9)
            assert times == pytest.approx([seconds, first, s.task_groups["part-1"].stop])
            tables.touched.update(s.task_groups.values())
            del kept
            await until(lambda: not s.tasks)
            tables.refresh()
            assert row_of(tables, "part-1")[2] == (*[0] * 7, 14)
            assert row_of(tables, "part-1")[4] == pytest.approx(seconds)
            assert tables.prefixes.get("part")[1] == (*[0] * 7, 14)  # type: ignore[index]  # is there

    asyncio.run(run())


def test_of_a_group_that_was_there_at_the_start_all_tasks_count_also_by_prefix() -> None:
    async def run() -> None:
        async with cluster(1) as (s, _, c):
            await c.gather([c.submit(inc, i, key=("part-0", i)) for i in range(9)])
            await until(lambda: not s.tasks)
            futures = [c.submit(inc, i, key=("part-1", i)) for i in range(5)]
            await c.gather(futures)
            del futures[2:]
            await until(lambda: len(s.tasks) == 2)
            tables = TaskTables(s)
            for states in ((*[0] * 5, 2, 0, 3), (*[0] * 7, 5)):
                tables.touched.update(s.task_groups.values())
                tables.refresh()
                assert row_of(tables, "part-1")[2] == states
                assert tables.prefixes.get("part")[1] == states  # type: ignore[index]  # is there
                tables.touched.update(s.task_groups.values())
                futures.clear()
                await until(lambda: not s.tasks)

    asyncio.run(run())


def test_groups_dropped_without_a_word_leave_no_row_and_nothing_to_go_on_from() -> None:
    async def run() -> None:
        async with cluster(1) as (s, _, c):
            tables = TaskTables(s)
            for n in (3, 2):
                futures = [c.submit(inc, i, key=("part-1", i)) for i in range(n)]
                await c.gather(futures)
                tables.touched.update(s.task_groups.values())
                if n == 3:
                    del futures
                    await until(lambda: not s.tasks)
                tables.refresh()
            assert row_of(tables, "part-1")[2] == (*[0] * 5, 2, 0, 3)
            dropped = s.task_groups.pop("part-1")
            tables.restart()
            assert "part-1" not in tables.groups
            s.task_groups["part-1"] = dropped
            tables.touched.add(dropped)
            tables.refresh()
            assert row_of(tables, "part-1")[2] == (*[0] * 5, 2, 0, 0)
            del futures

    asyncio.run(run())


def raise_unless(path: Any, n: int) -> int:
    if not path.exists():
        raise ValueError(n)
    return n


def test_a_task_that_is_tried_again_did_not_fail_unless_it_ends_so(tmp_path: Any) -> None:
    async def run() -> None:
        async with cluster(1) as (s, _, c), feeding(s.address) as (_, seen):
            gate = tmp_path / "go"
            futures = [c.submit(raise_unless, gate, n, key=("try-1", n)) for n in range(5)]
            futures.append(c.submit(inc, futures[0], key=("after-1", 0)))
            await until(lambda: all(f.status == "error" for f in futures))
            await c.retry(futures)
            await until(lambda: all(f.status == "error" for f in futures))
            gate.touch()
            await c.retry(futures[:2])
            await c.retry(futures[-1:])
            await until(lambda: [f.status for f in futures].count("finished") == 3)
            futures.clear()
            await until(lambda: not s.tasks)
            await until(lambda: [row["is_ended"] for row in seen.groups.values()] == [True, True])
            for table in (seen.prefixes, seen.groups):
                rows = {name.partition("-")[0]: states(row) for name, row in table.items()}
                assert (rows["try"]["erred"], rows["try"]["forgotten"]) == (3, 2)
                assert (rows["after"]["erred"], rows["after"]["forgotten"]) == (0, 1)

    asyncio.run(run())


def test_groups_and_prefixes_of_which_all_failed_give_up_their_rows_as_those_done_do(
    tmp_path: Any,
) -> None:
    async def run() -> None:
        async with cluster(1) as (s, _, c), feeding(s.address) as (_, seen):
            await until(lambda: seen.state == "live")
            plugin = registered(s)
            assert plugin is not None
            tables = plugin._state.tables
            tables._prefixes._limit = 2
            tables._groups._max_ended = 2

            async def fail(group: str) -> None:
                future = c.submit(raise_unless, tmp_path / "never", 1, key=(group, 0))
                await until(lambda: group in seen.groups and states(seen.groups[group])["erred"])
                future.release()
                await until(lambda: seen.groups[group]["is_ended"])

            for name in ("one", "two", "three", "four"):
                await fail(f"{name}-1")
            assert set(seen.groups) == {"three-1", "four-1"}
            assert all(row["is_ended"] for row in seen.groups.values())
            assert tables.n_forgotten_groups == 2
            rows = tables.prefixes.since(0).rows  # type: ignore[union-attr]  # full
            erred = {row[0]: row[1][6] for row in rows}
            assert erred == {"(other)": 2, "three": 1, "four": 1}

    asyncio.run(run())
