"""Tasks that raise: how many, with what words, and what waited for them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from distributed import Scheduler, wait

from tests.kernel.situations_real.reading import AnyFuture, Situation, situation


def parse(x: int) -> int:
    if x % 3 == 0:
        raise ValueError(f"line {x % 2} <b>has</b> no header")
    return x


def load(x: int) -> int:
    raise OSError("no such file")


def total(*parts: int) -> int:
    return sum(parts)


@pytest.fixture(scope="module")
def erred() -> Iterator[tuple[Situation, list[AnyFuture]]]:
    """Twelve tasks of which four fail, in two ways; one more of another kind; one that waited."""
    with situation(n_workers=2, threads_per_worker=1) as found:
        parsed = found.client.map(parse, range(12), pure=False)
        loaded = found.client.submit(load, 1, retries=2)
        summed = found.client.submit(total, *parsed)
        wait([*parsed, loaded, summed])
        yield found, [*parsed, loaded, summed]


def test_counts_of_each_prefix_are_the_engines(erred: tuple[Situation, list[AnyFuture]]) -> None:
    found, _ = erred
    told = found.agree(
        lambda: found.by("prefix", "progress", "erred", "memory", "done"),
        lambda scheduler: {
            prefix.name: (
                prefix.states["erred"],
                prefix.states["memory"],
                prefix.states["memory"] + prefix.states["released"],
            )
            for prefix in scheduler.task_prefixes.values()
        },
    )
    assert told["parse"] == (4, 8, 8)
    assert told["load"][0] == told["total"][0] == 1


def test_exceptions_have_text_traceback_and_number_of_tasks_of_the_engine(
    erred: tuple[Situation, list[AnyFuture]],
) -> None:
    found, _ = erred

    def engine(scheduler: Scheduler) -> dict[str, int]:
        told: dict[str, int] = {}
        for failed in scheduler.erred_tasks:
            if failed.erred_on:
                told[failed.exception_text] = told.get(failed.exception_text, 0) + 1
        return told

    told = found.agree(
        lambda: found.by("exception", "exceptions", "tasks"), engine, lambda t: sum(t.values()) == 5
    )
    assert told["ValueError('line 0 <b>has</b> no header')"] == 2
    assert told["ValueError('line 1 <b>has</b> no header')"] == 2
    tracebacks = found.by("exception", "exceptions", "traceback")
    assert 'raise OSError("no such file")' in tracebacks["OSError('no such file')"]


def test_exceptions_name_the_workers_on_which_the_tasks_failed(
    erred: tuple[Situation, list[AnyFuture]],
) -> None:
    found, _ = erred

    def engine(scheduler: Scheduler) -> dict[str, set[str]]:
        told: dict[str, set[str]] = {}
        for failed in scheduler.erred_tasks:
            if failed.erred_on:
                told.setdefault(failed.exception_text, set()).update(failed.erred_on)
        return told

    found.agree(
        lambda: {
            text: set(workers.split(", "))
            for text, workers in found.by("exception", "exceptions", "workers").items()
        },
        engine,
    )


def test_a_task_that_waited_for_a_failed_one_is_no_exception_of_its_own(
    erred: tuple[Situation, list[AnyFuture]],
) -> None:
    found, _ = erred
    assert "total" not in found.table("exceptions")["prefix"]


def test_failed_runs_are_in_the_stream_once_each(erred: tuple[Situation, list[AnyFuture]]) -> None:
    found, futures = erred
    failed = sorted(str(f.key) for f in futures[:-1] if f.status == "error")
    told = found.seen(
        lambda: sorted(
            row["key"]
            for row in found.rows("task-stream")
            if (row["outcome"], row["kind"]) == ("erred", "compute")
        ),
        lambda keys: set(keys) >= set(failed),
    )
    assert told == failed


def test_the_event_counts_the_failures_of_a_burst(erred: tuple[Situation, list[AnyFuture]]) -> None:
    found, _ = erred

    def counted() -> int:
        rows = found.rows("events")
        return sum(r["count"] for r in rows if r["kind"] == "task-erred" and "parse" in r["event"])

    assert found.seen(counted, (4).__eq__) == 4


def test_the_task_page_has_the_error_and_whose_it_is(
    erred: tuple[Situation, list[AnyFuture]],
) -> None:
    found, futures = erred
    (line,) = found.table("task", key=str(futures[-1].key), show="error")["error"]
    blamed = next(str(f.key) for f in futures if f.status == "error" and str(f.key) in line)
    lines = "\n".join(found.table("task", key=blamed, show="error")["error"])
    assert "<b>has</b> no header" in lines
    assert "in parse" in lines
