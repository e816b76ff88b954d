"""The same computed again and again: every plot that counts what was done counts the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import sub
from typing import Any

import dask.array as da
import pytest
from dask.delayed import delayed
from distributed import Client, Scheduler, wait

from dask_diag_lab.records import STATES
from dask_diag_lab.server.health import TaskCounts, health_of
from tests.kernel.situations_real.reading import LIMIT_S, AnyFuture, Situation, situation

RUNS = 3


def inc(x: int) -> int:
    return x + 1


def dec(x: int) -> int:
    return x - 1


def same_keys(client: Client) -> Any:
    return client.map(inc, range(180))


def other_keys(client: Client) -> Any:
    return client.map(dec, range(180), pure=False)


def chained(client: Client) -> Any:
    ones = client.map(inc, range(60))
    others = client.map(dec, range(60))
    return [client.submit(sum, client.map(sub, ones, others))]


def graphs(client: Client) -> Any:
    parts = [delayed(inc, pure=True)(i) for i in range(90)]
    return client.compute(delayed(max)(parts))


def same_array(client: Client) -> Any:
    return (da.ones((40, 40), chunks=(4, 4)) + 1).persist()


def other_array(client: Client) -> Any:
    return (da.random.random((40, 40), chunks=(4, 4)) * 2).persist()


def one_group(client: Client) -> Any:
    return [client.submit(inc, i, key=("fixed-1", i)) for i in range(70)]


@pytest.fixture
def found() -> Iterator[Situation]:
    with situation(n_workers=2, threads_per_worker=1) as found:
        yield found


def ever_in_memory(scheduler: Scheduler) -> dict[str, int]:
    """Return how many results of each prefix there ever were, as the engine counts them."""
    return {name: prefix.state_counts["memory"] for name, prefix in scheduler.task_prefixes.items()}


def is_empty(scheduler: Scheduler) -> bool:
    return not scheduler.tasks


def of_groups(found: Situation) -> dict[str, int]:
    """Return the sums of Progress by group, by the first word of each name."""
    prefixes = found.by("prefix", "progress", "total")
    sums = dict.fromkeys(prefixes, 0)
    for group, total in found.by("group", "progress", "total", by="group").items():
        prefix = max((name for name in prefixes if group.startswith(name)), key=len)
        sums[prefix] += total
    return sums


def of_spans(found: Situation) -> int:
    return sum(row["total"] for row in found.rows("progress", by="span"))


@pytest.mark.parametrize(
    "compute", [same_keys, other_keys, chained, graphs, same_array, other_array, one_group]
)
def test_what_was_computed_again_counts_alike_by_prefix_group_and_span(
    found: Situation, compute: Callable[[Client], Any]
) -> None:
    for _ in range(RUNS):
        wait(compute(found.client))
        found.seen(lambda: found.engine(is_empty), bool)
    # What is done comes last: from then on nothing changes.
    told = found.agree(
        lambda: found.by("prefix", "progress", "done"),
        ever_in_memory,
        lambda theirs: found.engine(is_empty),
    )
    assert all(total % RUNS == 0 for total in told.values())
    assert found.by("prefix", "progress", "total") == told
    assert of_groups(found) == told
    found.seen(lambda: of_spans(found), sum(told.values()).__eq__)


@pytest.mark.parametrize("compute", [same_keys, one_group])
def test_a_group_that_is_there_again_has_in_its_graph_what_progress_counts(
    found: Situation, compute: Callable[[Client], Any]
) -> None:
    wait(compute(found.client))
    found.seen(lambda: found.engine(is_empty), bool)
    kept = compute(found.client)
    wait(kept)
    n = len(kept)

    def drawn() -> list[int]:
        return [sum(row[state] for state in STATES) for row in found.rows("groups")]

    assert found.seen(drawn, [2 * n].__eq__)
    assert list(found.by("prefix", "progress", "total").values()) == [2 * n]
    assert list(found.by("group", "progress", "total", by="group").values()) == [2 * n]
    found.seen(lambda: len(found.table("graph")["key"]), n.__eq__)


def halve(x: int) -> int:
    if x % 2:
        raise ValueError("odd")
    return x // 2


def failing(client: Client, first: int, step: int) -> list[AnyFuture]:
    """Compute 30 results, of which those of odd numbers fail, and what needs them all."""
    halves = [client.submit(halve, first + step * n, key=f"halve-{first}-{n}") for n in range(30)]
    return [*halves, client.submit(max, halves, key=f"max-{first}")]


def ended(found: Situation, **arguments: str) -> tuple[dict[str, int], dict[str, int]]:
    """Return erred and done in Progress, by the first word of each name."""
    erred: dict[str, int] = {}
    done: dict[str, int] = {}
    for row in found.rows("progress", **arguments):
        name = row[arguments.get("by", "prefix")].partition("-")[0]
        erred[name] = erred.get(name, 0) + row["erred"]
        done[name] = done.get(name, 0) + row["done"]
    return erred, done


def test_what_failed_stays_failed_once_it_is_forgotten(found: Situation) -> None:
    def counts_are(erred: dict[str, int], done: dict[str, int]) -> None:
        for by in ("prefix", "group"):
            found.seen(lambda by=by: ended(found, by=by), (erred, done).__eq__)  # type: ignore[misc]  # bound now
        of_all = sum(erred.values()), sum(done.values())
        found.seen(
            lambda: tuple(map(sum, (d.values() for d in ended(found, by="span")))), of_all.__eq__
        )

    def summary() -> TaskCounts:
        return found.diagnostics.submit(health_of).result(LIMIT_S)["tasks"]

    futures = failing(found.client, 0, 1)
    wait(futures)
    erred, done = {"halve": 15, "max": 1}, {"halve": 15, "max": 0}
    counts_are(erred, done)
    assert (summary()["erred"], summary()["done"]) == (16, 15)
    del futures
    # The counts do not change: what is drawn of the groups does, once their end is known.
    found.seen(lambda: found.rows("groups"), [].__eq__)
    counts_are(erred, done)
    assert summary()["total"] == 0  # the line in the sidebar is about what there is
    wait(failing(found.client, 1000, 2))
    found.seen(lambda: found.engine(is_empty), bool)
    counts_are(erred, {"halve": 45, "max": 1})
    wait(failing(found.client, 1, 2))
    found.seen(lambda: found.engine(is_empty), bool)
    counts_are({"halve": 45, "max": 2}, {"halve": 45, "max": 1})
