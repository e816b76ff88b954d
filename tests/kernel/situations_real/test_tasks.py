"""Tasks: their graph, groups, progress, results and failures, as the scheduler knows them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from operator import sub
from typing import Any

import dask.array as da
import pytest
from dask.delayed import delayed
from dask.utils_test import dec, inc
from distributed import Client, Scheduler, wait

from dask_diag_lab.schema import STATES
from dask_diag_lab.server.handlers import health_of
from tests.kernel.situations_real.clusters import (
    LIMIT_S,
    AnyFuture,
    Cluster,
    bytes_in_memory,
    cluster,
)

N_RUNS = 2
KNOWN = [state for state in STATES if state != "forgotten"]


def read(x: int) -> bytes:
    return b"x" * 1000 * (x + 1)


def join(*parts: bytes) -> bytes:
    return b"".join(parts)


def parse(part: bytes, x: int) -> bytes:
    if x % 3 == 0:
        raise ValueError(f"line {x % 2} <b>has</b> no header")
    return part


def load(x: int) -> int:
    raise OSError("no such file")


def halve(x: int) -> int:
    if x % 2:
        raise ValueError("odd")
    return x // 2


def counts(states: Any) -> dict[str, int]:  # `distributed`'s keys are literals
    return dict(states)


def is_empty(scheduler: Scheduler) -> bool:
    return not scheduler.tasks


@pytest.fixture(scope="module")
def graph() -> Iterator[Cluster]:
    """Twelve reads, joined three at a time and again; parsed, of which four fail; three attempts.

    What joins the parsed ones waits for those that fail.
    """
    with cluster(n_workers=2, threads_per_worker=1) as found:
        reads = [delayed(read)(i) for i in range(12)]
        joined = [delayed(join)(*reads[i : i + 3]) for i in range(0, 12, 3)]
        parsed = [delayed(parse)(part, i) for i, part in enumerate(reads)]
        last = [delayed(join)(*joined), delayed(sum)(parsed)]
        found.held = [
            found.client.submit(load, 1, retries=2),
            *found.client.compute([*joined, *parsed, *last]),
        ]
        wait(found.held)
        yield found


def test_groups_have_the_states_and_dependencies_of_the_schedulers(graph: Cluster) -> None:
    graph.agree(
        lambda: {
            row["group"]: (
                *(row[state] for state in STATES),
                sorted(name for name in row["dependencies"].split(", ") if name),
            )
            for row in graph.rows("groups")
        },
        lambda scheduler: {
            group.name: (
                *(counts(group.states)[state] for state in STATES),
                # A group that depends on itself has no edge in our picture.
                sorted(other.name for other in group.dependencies if other is not group),
            )
            for group in scheduler.task_groups.values()
        },
    )


def test_progress_counts_the_tasks_of_each_prefix_by_state(graph: Cluster) -> None:
    progress = graph.agree(
        lambda: graph.by("prefix", "progress", *KNOWN),
        lambda scheduler: {
            prefix.name: tuple(counts(prefix.states)[state] for state in KNOWN)
            for prefix in scheduler.task_prefixes.values()
        },
    )
    assert progress["parse"][KNOWN.index("erred")] == 4


def test_exceptions_are_counted_by_text_with_workers_and_traceback(graph: Cluster) -> None:
    """What waited for a failed task is no exception of its own."""

    def failed(scheduler: Scheduler) -> dict[str, tuple[int, set[str]]]:
        found: dict[str, tuple[int, set[str]]] = {}
        for ts in scheduler.erred_tasks:
            if ts.erred_on:
                n, workers = found.get(ts.exception_text, (0, set()))
                found[ts.exception_text] = (n + 1, workers | set(ts.erred_on))
        return found

    exceptions = graph.agree(
        lambda: {
            row["exception"]: (row["tasks"], set(row["workers"].split(", ")))
            for row in graph.rows("exceptions")
        },
        failed,
        # Attempts may have been made on another worker than the last.
        is_same=lambda ours, theirs: (
            ours.keys() == theirs.keys()
            and all(ours[text][0] == n and ours[text][1] >= on for text, (n, on) in theirs.items())
        ),
    )
    assert exceptions["ValueError('line 1 <b>has</b> no header')"][0] == 2
    tracebacks = graph.by("exception", "exceptions", "traceback")
    assert 'raise OSError("no such file")' in tracebacks["OSError('no such file')"]


def test_failed_tasks_and_attempts_are_told_apart_in_stream_and_events(graph: Cluster) -> None:
    failed = [str(f.key) for f in graph.held[:-1] if f.status == "error"]
    again = [str(graph.held[0].key)] * 2  # it was run again twice
    graph.becomes(lambda: sorted(r["key"] for r in graph.computed(outcome="erred")), sorted(failed))
    graph.becomes(lambda: [r["key"] for r in graph.computed(outcome="retried")], again)
    graph.becomes(lambda: sum(r["count"] for r in graph.events("task-retried")), 2)
    graph.becomes(
        lambda: sum(r["count"] for r in graph.events("task-erred") if "parse" in r["event"]), 4
    )


def test_what_is_forgotten_leaves_graph_and_memory_and_stays_in_progress(graph: Cluster) -> None:
    more = graph.client.map(read, range(100, 105))
    wait(more)
    gone = {future.key for future in more[1:]}
    graph.becomes(lambda: graph.by("prefix", "memory-by-key", "count").get("read"), 5)
    graph.agree(lambda: graph.by("prefix", "memory-by-key", "nbytes"), bytes_in_memory)
    before = graph.by("prefix", "progress", "total")["read"]
    del more[1:]
    graph.agree(
        lambda: set(graph.table("graph")["key"]) & gone,
        lambda scheduler: set(map(str, scheduler.tasks)) & gone,
        lambda theirs: not theirs,
    )
    assert graph.by("prefix", "progress", "total")["read"] == before
    graph.becomes(lambda: graph.by("prefix", "memory-by-key", "count").get("read"), 1)
    graph.agree(lambda: graph.by("prefix", "memory-by-key", "nbytes"), bytes_in_memory)


@pytest.fixture
def empty() -> Iterator[Cluster]:
    with cluster(n_workers=2, threads_per_worker=1) as found:
        yield found


def pairs(client: Client) -> AnyFuture:
    return client.submit(
        sum, client.map(sub, client.map(inc, range(60)), client.map(dec, range(60)))
    )


# What has the same keys in each run, and what has others.
COMPUTATIONS: Sequence[Callable[[Client], Any]] = (  # futures and collections
    lambda client: client.map(inc, range(180)),
    lambda client: client.map(dec, range(180), pure=False),
    pairs,
    lambda client: client.compute(delayed(max)([delayed(halve)(2 * i) for i in range(90)])),
    lambda _: (da.ones((40, 40), chunks=(4, 4)) + 1).persist(),
    lambda _: (da.random.random((40, 40), chunks=(4, 4)) * 2).persist(),
)


def test_what_was_computed_again_counts_alike_by_prefix_group_and_span(empty: Cluster) -> None:
    def by_group() -> dict[str, int]:
        """Return sums of groups by the prefix that their names begin with."""
        prefixes = empty.by("prefix", "progress", "total")
        found = dict.fromkeys(prefixes, 0)
        for group, total in empty.by("group", "progress", "total", by="group").items():
            found[max((p for p in prefixes if group.startswith(p)), key=len)] += total
        return found

    for _ in range(N_RUNS):
        for compute in COMPUTATIONS:
            wait(compute(empty.client))
            empty.until(lambda: empty.ask(is_empty), bool)
    # What is done comes last: from then on nothing changes.
    done = empty.agree(
        lambda: empty.by("prefix", "progress", "done"),
        lambda scheduler: {
            name: prefix.state_counts["memory"] for name, prefix in scheduler.task_prefixes.items()
        },
    )
    assert all(total % N_RUNS == 0 for total in done.values())
    assert empty.by("prefix", "progress", "total") == done
    assert by_group() == done
    empty.becomes(lambda: sum(empty.table("progress", by="span")["total"]), sum(done.values()))


def failing(client: Client, first: int, step: int) -> list[AnyFuture]:
    """Compute 30 results, of which those of odd numbers fail, and what needs them all."""
    halves = [client.submit(halve, first + step * n, key=f"halve-{first}-{n}") for n in range(30)]
    return [*halves, client.submit(max, halves, key=f"max-{first}")]


def ended(found: Cluster, by: str) -> list[int]:
    """Return how many tasks are erred and done in Progress."""
    columns = found.table("progress", by=by)
    return [sum(columns["erred"]), sum(columns["done"])]


def test_what_failed_stays_failed_once_it_is_forgotten(empty: Cluster) -> None:
    def check(erred: int, done: int) -> None:
        for by in ("prefix", "group", "span"):
            empty.becomes(partial(ended, empty, by), [erred, done])

    def summary() -> dict[str, int]:
        return dict(empty.diagnostics.submit(health_of).result(LIMIT_S)["tasks"])

    futures = failing(empty.client, 0, 1)
    wait(futures)
    check(erred=16, done=15)
    assert (summary()["erred"], summary()["done"]) == (16, 15)
    del futures
    # The counts do not change: what is drawn of the groups does, once their end is known.
    empty.becomes(lambda: empty.rows("groups"), [])
    check(erred=16, done=15)
    assert summary()["total"] == 0  # the line in the sidebar is about what there is
    wait(failing(empty.client, 1000, 2))
    empty.until(lambda: empty.ask(is_empty), bool)
    check(erred=16, done=46)
