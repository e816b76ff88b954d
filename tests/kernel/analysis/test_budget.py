"""The budget of a window: moment by moment what its definition says, and all of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from dask_diag_lab.analysis.budget import Budget, budget_of, stretches_of
from dask_diag_lab.analysis.facts import facts_of
from dask_diag_lab.schema import Kind, Outcome
from dask_diag_lab.store import History
from dask_diag_lab.store.sums import Window
from tests.kernel.store.batches import T0, BatchMaker, worker_row

WORKERS = {"tcp://a:1": 1, "tcp://b:1": 2}
LAST = 30


class Did(NamedTuple):
    """What a worker did, in whole seconds after `T0`; waits are before its start."""

    worker: str
    kind: Kind
    outcome: Outcome
    start: int
    took: int
    assigned: int
    ready: int
    report: int


DID = some.builds(
    Did,
    some.sampled_from(sorted(WORKERS)),
    some.sampled_from(Kind),
    some.sampled_from([Outcome.OK, Outcome.OK, Outcome.ERRED, Outcome.RETRIED, Outcome.KILLED]),
    some.integers(0, 20),
    some.integers(0, 5),
    some.integers(0, 4),
    some.integers(0, 4),
    some.integers(0, 2),
)
PAUSE = some.tuples(some.sampled_from(sorted(WORKERS)), some.integers(0, 20), some.integers(1, 5))
GONE = some.dictionaries(some.sampled_from(sorted(WORKERS)), some.integers(0, 25))
NOTHING: Mapping[str, int] = {}


def history_of(
    found: list[Did],
    pauses: Sequence[tuple[str, int, int]] = (),
    gone: Mapping[str, int] = NOTHING,
    to_do: Mapping[str, int] = NOTHING,
) -> History:
    """Return what workers did until the end, when some are gone, and others have tasks to do."""
    history, maker = History(), BatchMaker()
    workers = [worker_row(address, name=address[6], nthreads=n) for address, n in WORKERS.items()]
    history.apply(maker.batch(workers=workers))
    for at, did in enumerate(found):
        is_task = did.kind == Kind.COMPUTE
        waits = did.ready + did.assigned, did.assigned, did.report
        names = ("ready", "assigned", "report_delay")
        moments: dict[str, Any] = {
            name: float(s) if is_task else np.nan for name, s in zip(names, waits, strict=True)
        }
        maker.action(
            did.start,
            did.start + did.took,
            worker=did.worker,
            kind=did.kind,
            outcome=did.outcome,
            thread=at + 1,
            key=f"k{at}",
            prefix=f"p{at % 3}",
            **moments,
        )
    events = []
    for worker, start, took in pauses:
        events.append((T0 + start, "worker-paused", {"worker": worker}))
        events.append((T0 + start + took, "worker-resumed", {"worker": worker}))
    events += [(T0 + at, "worker-removed", {"worker": one}) for one, at in gone.items()]
    rows = [
        {**row, "processing": to_do.get(row["address"], 0)}
        for row in workers
        if row["address"] not in gone
    ]
    events.sort(key=lambda event: event[0])
    history.apply(maker.batch(events=events, workers=rows, removed_workers=list(gone)))
    return history


def budget(history: History, begin: float = 0.0, end: float = LAST) -> Budget:
    return budget_of(facts_of(history, Window(T0 + begin, T0 + end), T0 + LAST)())


def by_definition(found: list[Did], begin: int, end: int) -> dict[str, float]:
    """Return the seconds of each category, second by second."""
    seconds: dict[str, float] = {}

    def take(category: str, wanted: int, free: int) -> int:
        used = min(wanted, free)
        seconds[category] = seconds.get(category, 0.0) + used
        return free - used

    tasks = [did for did in found if did.kind == Kind.COMPUTE]
    for now in range(begin, end):
        rest = excess = 0
        for worker, n_threads in WORKERS.items():
            does = [d for d in found if d.worker == worker and d.start <= now < d.start + d.took]
            mine = [did for did in tasks if did.worker == worker]
            computing = [did for did in does if did.kind == Kind.COMPUTE]
            is_good = [did.outcome == Outcome.OK for did in computing]
            free = take("computing", sum(is_good), n_threads)
            free = take("failed", len(is_good) - sum(is_good), free)
            free = take("deserialize", sum(d.kind == Kind.DESERIALIZE for d in does), free)
            disk = sum(d.kind in (Kind.DISK_READ, Kind.DISK_WRITE) for d in does)
            free = take("disk", disk, free)
            waits = sum(
                d.start - d.assigned <= now < d.start
                or d.start + d.took <= now < d.start + d.took + d.report
                for d in mine
            )
            fetches = any(did.kind == Kind.TRANSFER for did in does)
            rest += take("transfer" if fetches else "starting", waits, free)
            assigned = sum(d.start - d.assigned <= now < d.start + d.took for d in mine)
            excess += max(assigned - n_threads, 0)
        queued = sum(d.start - d.assigned - d.ready <= now < d.start - d.assigned for d in tasks)
        rest = take("scheduler", queued, rest)
        rest = take("unbalanced", excess, rest)
        is_left = any(
            d.start - d.assigned - d.ready <= now < d.start + d.took + d.report for d in tasks
        )
        take("dependencies" if is_left else "client", rest, rest)
    return {name: total for name, total in seconds.items() if total}


@given(some.lists(DID, max_size=12), some.integers(0, 12), some.integers(1, 15))
def test_each_moment_of_each_thread_is_in_the_category_of_the_definition(
    found: list[Did], begin: int, length: int
) -> None:
    its = budget(history_of(found), begin, begin + length)
    assert its.seconds == pytest.approx(by_definition(found, begin, begin + length))


@given(some.lists(DID, max_size=12), some.lists(PAUSE, max_size=3), GONE, GONE)
def test_all_categories_together_are_what_was_offered(
    found: list[Did],
    pauses: list[tuple[str, int, int]],
    gone: Mapping[str, int],
    to_do: Mapping[str, int],
) -> None:
    its = budget(history_of(found, pauses, gone, to_do))
    assert sum(its.seconds.values()) == pytest.approx(its.offered_s)
    for name, prefixes in its.by_prefix.items():
        assert sum(prefixes.values()) <= its.seconds.get(name, 0.0) + 1e-6
    for name, workers in its.by_worker.items():
        assert sum(workers.values()) == pytest.approx(its.seconds[name])


def test_what_has_not_begun_is_of_no_row_of_a_task_stream() -> None:
    history, maker = history_of([]), BatchMaker()
    maker.action(0, 1, worker="tcp://b:1", ready=0.0, assigned=0.0)
    maker.time = T0 + LAST
    workers = [
        worker_row(one, nthreads=n, processing=n, incoming_bytes=one == "tcp://b:1")
        for one, n in WORKERS.items()
    ]
    history.apply(maker.batch(workers=workers, graphs=[(1, 0.0, "mine", 4)]))
    facts = facts_of(history, Window(T0, T0 + LAST), T0 + LAST)()
    waited = {name: budget(history).seconds[name] for name in ("starting", "transfer")}
    assert waited == pytest.approx({"starting": LAST - 1, "transfer": 2 * (LAST - 1)})
    assert not len(stretches_of(facts, "transfer")["slot"])
    assert len(stretches_of(facts, "computing")["slot"]) == 1
    assert set(stretches_of(facts, "starting")["slot"].tolist()) == {0}


def test_rows_that_were_lost_are_not_the_client() -> None:
    history, maker = History(), BatchMaker()
    address, n_threads = "tcp://a:1", 1
    maker.action(0, 1, worker=address, ready=0.0, assigned=0.0)
    history.apply(maker.batch(workers=[worker_row(address, nthreads=n_threads)]))
    maker.action(8, 9, worker=address, ready=0.0, assigned=0.0)
    history.apply(maker.batch(actions_dropped=5))
    assert budget(history, 0, 9).seconds == pytest.approx({"computing": 2, "unknown": 7})
    maker.action(8, 8.5, worker=address, ready=0.0, assigned=0.0)  # told late
    n_gaps = len(history.gaps)
    history.apply(maker.batch(actions_dropped=1))
    assert len(history.gaps) == n_gaps
