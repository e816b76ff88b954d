"""The task graph, its groups and what is in memory, node by node and edge by edge."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from dask.delayed import delayed
from distributed import Scheduler, wait

from dask_diag_lab.records import STATES
from dask_diag_lab.store import Store
from tests.kernel.situations_real.reading import AnyFuture, Situation, situation


def read(x: int) -> bytes:
    return b"x" * 1000 * (x + 1)


def join(*parts: bytes) -> bytes:
    return b"".join(parts)


def fail(part: bytes) -> bytes:
    raise ValueError(len(part))


@pytest.fixture(scope="module")
def drawn() -> Iterator[tuple[Situation, list[Any]]]:
    """Twelve reads, joined three at a time, joined again; one that fails."""
    with situation(n_workers=2, threads_per_worker=1) as found:
        parts = [delayed(read)(i) for i in range(12)]
        joined = [delayed(join)(*parts[i : i + 3]) for i in range(0, 12, 3)]
        whole = delayed(join)(*joined)
        broken = delayed(fail)(parts[0])
        kept: list[AnyFuture] = found.client.compute([*joined, whole, broken])
        wait(kept)
        yield found, kept


def counts(states: Any) -> dict[str, int]:  # the engine's keys are literals
    return dict(states)


def test_nodes_are_the_engines_tasks_with_their_states(drawn: tuple[Situation, Any]) -> None:
    found, _ = drawn
    told = found.agree(
        lambda: found.by("key", "graph", "state", "prefix"),
        lambda scheduler: {
            str(key): (ts.state, ts.prefix.name) for key, ts in scheduler.tasks.items()
        },
        lambda theirs: len(theirs) == 18,
    )
    assert {state for state, _ in told.values()} == {"memory", "released", "erred"}


def test_edges_are_the_engines_dependencies(drawn: tuple[Situation, Any]) -> None:
    found, _ = drawn

    def ours(store: Store) -> set[tuple[str, str]]:
        graph = store.graph
        return {(graph.key[a], graph.key[b]) for a, b in graph.edges.tolist()}

    found.table("graph")  # somebody looks, so that single tasks are followed
    told = found.agree(
        lambda: found.diagnostics.submit(ours, is_fresh=True).result(20),
        lambda scheduler: {
            (str(dep.key), str(key))
            for key, ts in scheduler.tasks.items()
            for dep in ts.dependencies
        },
    )
    assert len(told) == 12 + 4 + 1


def test_groups_have_the_states_and_dependencies_of_the_engine(
    drawn: tuple[Situation, Any],
) -> None:
    found, _ = drawn

    def engine(scheduler: Scheduler) -> dict[str, tuple[Any, ...]]:
        return {
            group.name: (
                *(counts(group.states)[state] for state in STATES),
                # A group that depends on itself has no edge in our picture.
                sorted(other.name for other in group.dependencies if other is not group),
            )
            for group in scheduler.task_groups.values()
        }

    def ours() -> dict[str, tuple[Any, ...]]:
        return {
            row["group"]: (
                *(row[state] for state in STATES),
                sorted(name for name in row["dependencies"].split(", ") if name),
            )
            for row in found.rows("groups")
        }

    found.agree(ours, engine)


def test_groups_have_the_seconds_and_times_of_the_engine(drawn: tuple[Situation, Any]) -> None:
    found, _ = drawn
    found.agree(
        lambda: found.by("group", "groups", "seconds", "start", "stop"),
        lambda scheduler: {
            group.name: (group.duration, group.start or None, group.stop or None)
            for group in scheduler.task_groups.values()
        },
        is_same=lambda ours, theirs: (
            ours.keys() == theirs.keys()
            and all(ours[name] == pytest.approx(theirs[name]) for name in theirs)
        ),
    )


def test_progress_counts_are_the_engines(drawn: tuple[Situation, Any]) -> None:
    found, _ = drawn
    known = [state for state in STATES if state != "forgotten"]
    found.agree(
        lambda: found.by("prefix", "progress", *known),
        lambda scheduler: {
            prefix.name: tuple(counts(prefix.states)[state] for state in known)
            for prefix in scheduler.task_prefixes.values()
        },
    )


def test_memory_by_key_has_the_bytes_of_each_prefix(drawn: tuple[Situation, Any]) -> None:
    found, _ = drawn

    def engine(scheduler: Scheduler) -> dict[str, tuple[int, int]]:
        sums: dict[str, tuple[int, int]] = {}
        for ts in scheduler.tasks.values():
            if ts.state == "memory":
                nbytes, count = sums.get(ts.prefix.name, (0, 0))
                sums[ts.prefix.name] = (nbytes + ts.nbytes, count + 1)
        return sums

    told = found.agree(lambda: found.by("prefix", "memory-by-key", "nbytes", "count"), engine)
    assert told["join"][1] == 5
    found.agree(
        lambda: {
            name: nbytes
            for name, nbytes in found.by("group", "groups", "nbytes_in_memory").items()
            if nbytes
        },
        lambda scheduler: {name: nbytes for name, (nbytes, _) in engine(scheduler).items()},
    )


def test_memory_by_key_follows_when_some_results_of_a_prefix_are_released(
    drawn: tuple[Situation, Any],
) -> None:
    found, _ = drawn
    parts = found.client.map(read, range(200, 206))
    wait(parts)
    kept, dropped = parts[:2], parts[2:]
    gone = {future.key for future in dropped}
    del parts, dropped

    def engine(scheduler: Scheduler) -> tuple[int, int]:
        held = [t for t in scheduler.tasks.values() if t.state == "memory" and t.key not in gone]
        left = [t.key for t in scheduler.tasks.values() if t.key in gone]
        reads = [t.nbytes for t in held if t.prefix.name == "read"]
        return (sum(reads), len(reads)) if not left else (0, 0)

    told = found.agree(
        lambda: found.by("prefix", "memory-by-key", "nbytes", "count").get("read", (0, 0)),
        engine,
        lambda theirs: theirs[1],
    )
    assert told == (sum(found.client.nbytes(summary=False)[f.key] for f in kept), 2)


def test_the_task_page_has_both_neighbours_and_their_states(drawn: tuple[Situation, Any]) -> None:
    found, kept = drawn
    key = kept[0].key

    def engine(scheduler: Scheduler) -> set[tuple[str, str, str]]:
        task = scheduler.tasks[key]
        return {("depends on", str(ts.key), ts.state) for ts in task.dependencies} | {
            ("is needed by", str(ts.key), ts.state) for ts in task.dependents
        }

    told = found.agree(lambda: {tuple(row.values()) for row in found.rows("task", key=key)}, engine)
    assert len(told) == 4


def test_the_task_page_tells_the_story_of_the_engine(drawn: tuple[Situation, Any]) -> None:
    found, kept = drawn
    key = kept[0].key
    told = found.agree(
        lambda: [
            (row["start"], row["finish"]) for row in found.rows("task", key=key, show="story")
        ],
        # The engine's has tasks that it was recommended with as well.
        lambda scheduler: [row[1:3] for row in scheduler.story(key) if row[0] == key],
    )
    assert told[-1] == ("processing", "memory")


def test_what_is_forgotten_leaves_the_graph_and_stays_in_progress(
    drawn: tuple[Situation, Any],
) -> None:
    found, _ = drawn
    more = found.client.map(read, range(100, 105))
    wait(more)
    gone = {future.key for future in more}
    found.agree(
        lambda: found.by("prefix", "progress", "memory")["read"],
        lambda scheduler: counts(scheduler.task_prefixes["read"].states)["memory"],
    )
    before = found.by("prefix", "progress", "total")["read"]
    del more
    found.agree(
        lambda: set(found.table("graph")["key"]) & gone,
        lambda scheduler: set(map(str, scheduler.tasks)) & gone,
        lambda theirs: not theirs,
    )
    assert found.by("prefix", "progress", "total")["read"] == before
