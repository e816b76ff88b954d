"""Counts, groups, workers, graph and events say what the scheduler itself says."""

from __future__ import annotations

import asyncio
import math
import time
from operator import add
from typing import Any

import pytest
from distributed import Worker

from dask_diag_lab.collector import Collector
from dask_diag_lab.collector.tasks import TaskTables
from dask_diag_lab.collector.workers import process_of
from dask_diag_lab.records import STATES, WORKERS
from dask_diag_lab.store.groups import is_ended
from tests.kernel.transport.live_cluster import cluster, connected, feeding, registered, until


def inc(x: int) -> int:
    return x + 1


def wait_for(path: Any) -> None:
    while not path.exists():
        time.sleep(0.01)


def counts(prefix: Any) -> Any:  # its keys are typed as literals
    return prefix.states


def states(row: Any) -> dict[str, int]:
    return dict(zip(STATES, row["states"], strict=True))


def test_prefix_counts_equal_those_of_the_scheduler_and_forgotten_ones_add_up() -> None:
    async def run() -> None:
        async with cluster(2) as (s, _, c):
            await c.gather(c.map(inc, range(100, 150)))  # forgotten before anybody looked
            await until(lambda: not s.tasks)
            async with feeding(s.address) as (_, seen):
                xs = c.map(inc, range(40))
                total = c.submit(sum, xs)
                assert await total == sum(range(1, 41))

                def is_equal() -> bool:
                    return set(seen.prefixes) >= {"inc", "sum"} and all(
                        states(seen.prefixes[name])[state] == counts(prefix)[state]
                        for name, prefix in s.task_prefixes.items()
                        for state in STATES[:-1]
                    )

                await until(is_equal)
                assert states(seen.prefixes["inc"])["memory"] == 40
                assert seen.prefixes["inc"]["nbytes"] == 40 * 28
                assert seen.prefixes["sum"]["duration"] > 0
                del xs, total
                await until(lambda: not s.tasks)
                await until(lambda: states(seen.prefixes["inc"])["forgotten"] == 40)
                await c.gather(c.map(inc, range(200, 210)))
                await until(lambda: states(seen.prefixes["inc"])["forgotten"] == 50)
                assert all(map(is_ended, seen.groups.values()))

    asyncio.run(run())


def test_tasks_cancelled_before_they_ran_are_not_counted_as_done(tmp_path: Any) -> None:
    async def run() -> None:
        async with cluster(1) as (s, _, c), feeding(s.address) as (_, seen):
            done = c.map(inc, range(3))
            await c.gather(done)
            held = c.map(wait_for, [tmp_path / "go"] * 20, pure=False)
            await until(lambda: "wait_for" in s.task_prefixes)
            await until(lambda: counts(s.task_prefixes["wait_for"])["processing"] > 0)
            await c.cancel(held)
            (tmp_path / "go").touch()
            del done
            await until(lambda: not s.tasks)
            await until(lambda: {"inc", "wait_for"} <= set(seen.prefixes))
            await until(lambda: states(seen.prefixes["inc"])["forgotten"] == 3)
            await until(lambda: not any(list(states(seen.prefixes["wait_for"]).values())[:-1]))
            # Those that a thread had begun may have come to their end before they were cancelled.
            assert states(seen.prefixes["wait_for"])["forgotten"] <= 2

    asyncio.run(run())


@pytest.mark.slow
def test_counts_survive_a_restart_of_the_cluster() -> None:
    async def run() -> None:
        async with cluster(1, nanny=True) as (s, _, c), feeding(s.address) as (_, seen):
            xs = c.map(inc, range(7))
            await c.gather(xs)
            before = set(s.workers)
            await c.restart()
            assert "inc" not in s.task_prefixes
            await until(lambda: seen.happened("restart"))
            await until(lambda: states(seen.prefixes["inc"])["forgotten"] == 7)
            assert sum(seen.prefixes["inc"]["states"]) == 7
            await until(lambda: set(seen.workers) == set(s.workers) != before)
            causes = {e["cause"] for e in seen.happened("worker-removed")}
            assert causes == {"the cluster was restarted"}
            assert not seen.happened("worker-killed")
            await c.gather(c.map(inc, range(100, 103)))
            await until(lambda: states(seen.prefixes["inc"])["forgotten"] == 10)
            assert len({b.epoch for b in seen.batches}) == 1

    asyncio.run(run())


def test_workers_in_one_process_say_so_and_those_of_nannies_do_not() -> None:
    async def run() -> None:
        async with cluster(2) as (s, _, _c), feeding(s.address) as (_, seen):
            await until(lambda: set(seen.workers) == set(s.workers))
            own = {ws.pid for ws in s.workers.values()}
            assert {row["process"] for row in seen.workers.values()} == {f"127.0.0.1/{own.pop()}"}

    asyncio.run(run())
    assert process_of("inproc://10.0.0.1/17/4", "10.0.0.1", 17, None) == "inproc://10.0.0.1/17"
    assert process_of("tcp://10.0.0.1:5", "10.0.0.1", 17, "tcp://10.0.0.1:6") == ""
    assert process_of("tcp://10.0.0.1:5", "10.0.0.1", 0, None) == ""


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
            await until(lambda: all(map(is_ended, seen.groups.values())))
            assert [sum(row["states"]) for row in seen.groups.values()] == [1, 1, 1]
            assert set(seen.groups["join-3c"]["dependencies"]) == {"load-1a", "shift-2b"}


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


def test_groups_that_ended_stay_up_to_a_bound_and_until_a_restart() -> None:
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
            assert tables.groups.get("part-3")[2][-1] == 0  # type: ignore[index]  # is there
            tables.restart()
            assert tables.groups.names() == ("part-3",)
            assert tables.n_forgotten_groups == 0
            del again

    asyncio.run(run())

    asyncio.run(run())


def test_scattered_data_is_counted_although_it_makes_no_transition() -> None:
    async def run() -> None:
        async with cluster() as (s, _, c), feeding(s.address, wanted=["graph"]) as (_, seen):
            future = await c.scatter({"lonely": 1})
            await until(lambda: "lonely" in seen.prefixes)
            assert states(seen.prefixes["lonely"])["memory"] == 1
            await until(lambda: [n[0] for n in seen.nodes.values()] == ["lonely"])
            del future

    asyncio.run(run())


def test_too_many_prefixes_and_groups_are_summed_up_as_other() -> None:
    async def run() -> None:
        async with cluster() as (s, _, c):
            futures = [c.submit(inc, i, key=f"kind{chr(97 + i)}-{i}") for i in range(20)]
            await c.gather(futures)
            tables = TaskTables(s, max_prefixes=5, max_groups=5)
            tables.refresh()
            for table in (tables.prefixes, tables.groups):
                rows = {row[0]: row for row in table.since(0).rows}  # type: ignore[union-attr]  # full
                assert len(rows) == 6
                index = 1 if table is tables.prefixes else 2
                assert sum(sum(row[index]) for row in rows.values()) == 20
                assert sum(rows["(other)"][index]) == 15
            del futures
            await until(lambda: not s.tasks)
            tables.restart()
            assert tables.groups.get("(other)")[2] == (0,) * 8  # type: ignore[index]  # is there

    asyncio.run(run())


def test_workers_have_all_their_columns_and_custom_metrics() -> None:
    async def run() -> None:
        options = {
            "memory_limit": 0,
            "metrics": {"answer": lambda _: 42, "odd": lambda _: {"deep": 1.5, "bad": [1]}},
        }
        async with (
            cluster(1, nthreads=3, worker=options) as (s, (w,), c),
            feeding(s.address) as (_, seen),
        ):
            await until(lambda: w.address in seen.workers)
            ws = s.workers[w.address]
            # A heartbeat may come between.
            await until(lambda: seen.workers[w.address]["memory"] == ws.memory.process > 0)
            row = seen.workers[w.address]
            assert set(row) == {column.name for column in WORKERS}
            assert (row["name"], row["host"], row["nthreads"]) == ("w0", "127.0.0.1", 3)
            assert row["memory_limit"] == 0
            assert row["status"] == "running"
            parts = (row["managed"], row["unmanaged_old"], row["unmanaged_recent"])
            assert sum(parts) == row["memory"]
            assert row["is_idle"]
            assert not row["is_saturated"]
            assert row["metrics"]["answer"] == 42
            assert row["metrics"]["odd.deep"] == 1.5
            assert "odd.bad" not in row["metrics"]
            big = c.submit(bytes, 2_000_000)
            await big
            await until(lambda: seen.workers[w.address]["managed"] >= 2_000_000)
            assert seen.last.scheduler.nthreads == 3
            assert seen.last.scheduler.memory_limit == 0

    asyncio.run(run())


def test_backlog_shows_as_processing_and_occupancy(tmp_path: Any) -> None:
    async def run() -> None:
        async with cluster() as (s, (w,), c), feeding(s.address) as (_, seen):
            gate = tmp_path / "gate"
            tasks = [
                c.submit(wait_for, gate, key=f"held-{i}", workers=[w.address]) for i in range(5)
            ]
            await until(lambda: w.address in seen.workers)
            await until(lambda: seen.workers[w.address]["processing"] == 5)
            assert seen.workers[w.address]["occupancy"] > 0
            await until(lambda: seen.workers[w.address]["executing"] == 1)
            gate.touch()
            await c.gather(tasks)
            await until(lambda: seen.workers[w.address]["processing"] == 0)

    asyncio.run(run())


def test_without_workers_there_are_still_batches() -> None:
    async def run() -> None:
        config = {"distributed.worker.memory.spill": False, "distributed.worker.memory.pause": 0.85}
        async with cluster(0, config=config) as (s, _, c), feeding(s.address) as (_, seen):
            future = c.submit(inc, 1, key="stuck")
            await until(lambda: "stuck" in seen.prefixes)
            await until(lambda: states(seen.prefixes["stuck"])["queued"] == 1)
            info = seen.last.scheduler
            assert (info.id, info.address, info.n_workers) == (s.id, s.address, 0)
            assert info.thresholds == {
                "target": 0.6, "spill": None, "pause": 0.85, "terminate": 0.95,
            }  # fmt: skip
            assert abs(seen.last.time - time.time()) < 30
            async with Worker(s.address, nthreads=2, dashboard_address=":0"):
                assert await future == 2
                await until(lambda: seen.happened("worker-added"))
            await until(lambda: seen.happened("worker-removed"))
            history = [n for b in seen.batches for _, n in b.nthreads]
            await until(lambda: [n for b in seen.batches for _, n in b.nthreads] == [0, 2, 0])
            assert history[:1] == [0]
            assert not seen.happened("worker-killed")

    asyncio.run(run())


def test_exact_graph_follows_tasks_gives_up_when_too_many_and_comes_back() -> None:
    async def run() -> None:
        config = {"distributed.dashboard.graph-max-items": 50}
        async with (
            cluster(config=config) as (s, _, c),
            feeding(s.address, wanted=["graph"]) as (_, seen),
        ):
            xs = c.map(inc, range(10))
            total = c.submit(sum, xs, key="total")
            await total
            await until(lambda: len(seen.nodes) == 11)
            names = {node[0]: n for n, node in seen.nodes.items()}
            edges = seen.nodes[names["total"]][3]
            assert set(edges) == {names[x.key] for x in xs}
            await until(lambda: set(seen.node_states.values()) == {STATES.index("memory")})
            many = c.map(inc, range(1000, 1100))
            await c.gather(many)
            await until(lambda: seen.last.graph is None and not seen.nodes)
            change = next(b.graph for b in seen.batches if b.graph and not b.graph.is_exact)
            assert (change.limit, change.added) == (50, [])
            assert change.total > 50
            del many
            await until(lambda: len(seen.nodes) == 11)
            assert {node[0] for node in seen.nodes.values()} == set(names)
            assert not set(seen.nodes) & set(names.values()), "node numbers are never used again"
            del xs, total
            await until(lambda: not seen.nodes)

    asyncio.run(run())


def test_graph_keeps_up_with_tasks_that_come_and_go_between_pulls() -> None:
    async def run() -> None:
        async with (
            cluster() as (s, _, c),
            feeding(s.address, wanted=["graph"], interval_s=0.3, idle_interval_s=0.3) as (_, seen),
        ):
            for _ in range(5):  # the same keys again and again
                xs = [c.submit(inc, i, key=f"again-{i}") for i in range(20)]
                await c.gather(xs)
                del xs
                await until(lambda: not s.tasks)
            kept = c.submit(inc, 1, key="kept")
            await kept
            await until(lambda: [n[0] for n in seen.nodes.values()] == ["kept"])

    asyncio.run(run())


def test_events_name_clients_and_count_graphs() -> None:
    async def run() -> None:
        async with cluster() as (s, _, c), feeding(s.address) as (_, seen):
            await until(lambda: seen.batches)
            futures = [c.submit(inc, i, pure=False) for i in range(50)]
            await c.gather(futures)
            await until(lambda: sum(e["tasks"] for e in seen.happened("update-graph")) == 50)
            assert sum(e["graphs"] for e in seen.happened("update-graph")) <= 50
            async with connected(s.address) as other:
                await until(lambda: {"client": other.id} in seen.happened("client-added"))
                name = other.id
            await until(lambda: {"client": name} in seen.happened("client-removed"))

    asyncio.run(run())


def test_a_quiet_cluster_sends_no_tables_but_workers() -> None:
    async def run() -> None:
        async with cluster() as (s, _, c), feeding(s.address) as (_, seen):
            await c.submit(inc, 1)
            await until(lambda: "inc" in seen.prefixes and not s.tasks)
            await until(lambda: states(seen.prefixes["inc"])["forgotten"] == 1)
            first = len(seen.batches)
            await until(lambda: len(seen.batches) > first + 10)
            for batch in seen.batches[first + 1 :]:
                assert batch.actions is None
                assert batch.prefixes is None
                assert batch.groups is None
                assert batch.graph is None
                assert batch.running is None
                assert not batch.strings
                assert not batch.events
            assert 0 < seen.last.cost_s < 10

    asyncio.run(run())


def test_refreshes_are_shared_and_throttled() -> None:
    async def run() -> None:
        async with cluster() as (s, _, c):
            await c.register_plugin(Collector(), name="dask-diag-lab-2")
            plugin = registered(s)
            assert plugin is not None
            tables = plugin._state.tables
            calls: list[float] = []
            refresh = tables.refresh

            def counted() -> None:
                calls.append(time.monotonic())
                refresh()

            tables.refresh = counted  # type: ignore[method-assign]  # to count real calls
            futures = c.map(time.sleep, [0.01] * 60, pure=False)
            while not all(f.done() for f in futures):
                for name in ("a", "b", "c"):
                    plugin.pull(name, "", {})
                await asyncio.sleep(0.005)
            assert calls
            assert min(map(float.__sub__, calls[1:], calls), default=math.inf) >= 0.19

    asyncio.run(run())
