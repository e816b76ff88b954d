"""Sums of any window, and what threads did in it: what adding up moment by moment would give."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from dask_diag_lab.schema import Kind, Outcome
from dask_diag_lab.store import History
from dask_diag_lab.store.sums import ALL, Checkpoints, Window, thread_time
from tests.kernel.store.batches import T0, BatchMaker

Action = tuple[int, Kind, int, int]
KINDS = (Kind.COMPUTE, Kind.TRANSFER, Kind.DISK_READ, Kind.DESERIALIZE)
actions = some.lists(
    some.tuples(
        some.integers(0, 1), some.sampled_from(KINDS), some.integers(0, 40), some.integers(1, 9)
    ),
    max_size=30,
)


@given(actions, some.integers(0, 20), some.integers(0, 30), some.integers(1, 3))
def test_a_moment_of_a_thread_counts_once(
    found: list[Action], begin: int, length: int, n_threads: int
) -> None:
    columns = [np.array(column, np.int64) for column in zip(*found, strict=True)]
    worker, kind, start, took = columns or [np.empty(0, np.int64)] * 4
    window = Window(begin, begin + length)
    threads = np.full(2, n_threads)
    shown = thread_time(worker, kind, start.astype(float), start + took * 1.0, threads, window)
    expected = dict.fromkeys(shown, 0.0)
    for moment in range(begin, begin + length):
        for at in (0, 1):
            free = n_threads
            for name, one in zip(expected, (KINDS[i] for i in (0, 3, 2, 1)), strict=True):
                active = (
                    (worker == at) & (kind == one) & (start <= moment) & (moment < start + took)
                )
                used = min(int(active.sum()), free)
                free -= used
                expected[name] += used
    assert shown == pytest.approx(expected)
    assert sum(shown.values()) <= 2 * n_threads * length + 1e-6


def session_of(found: list[Action], max_actions: int = 1_000) -> History:
    """Return a history with tasks that took as many seconds, in batches of five."""
    history, maker = History(max_actions=max_actions), BatchMaker()
    for at, (worker, kind, start, took) in enumerate(found):
        maker.action(start, start + took, kind=kind, prefix=f"p{worker}", nbytes=at)
        if at % 5 == 4:
            history.apply(maker.batch())
    history.apply(maker.batch())
    return history


@given(actions, some.integers(0, 30), some.integers(0, 30))
def test_sums_of_a_window_are_of_what_lies_and_what_ended_in_it(
    found: list[Action], begin: int, length: int
) -> None:
    history = session_of(found)
    sums = history.actions.sums(Window(T0 + begin, T0 + begin + length))()
    seconds = {history.strings[p]: s for (p,), s in sums.total(("prefix",), "seconds", {}).items()}
    counts = {history.strings[p]: n for (p,), n in sums.total(("prefix",), "count", {}).items()}
    for worker in (0, 1):
        its = [(start, start + took) for w, _, start, took in found if w == worker]
        inside = [max(min(e, begin + length) - max(s, begin), 0) for s, e in its]
        assert seconds.get(f"p{worker}", 0.0) == pytest.approx(sum(inside))
        ended = [begin < e <= begin + length for _, e in its]
        assert counts.get(f"p{worker}", 0.0) == sum(ended)


def test_sums_of_all_time_have_what_the_log_gave_up() -> None:
    history = session_of([(0, Kind.COMPUTE, at, 1) for at in range(500)], max_actions=64)
    assert history.actions.evicted
    sums = history.actions.sums()()
    assert sum(sums.total(("kind",), "seconds", {}).values()) == pytest.approx(500)
    [durations] = sums.durations().values()
    assert durations.n_tasks == 500
    assert durations.mean_s == pytest.approx(1.0)


def test_durations_are_of_tasks_that_ended_well() -> None:
    history, maker = History(), BatchMaker()
    seconds = np.random.default_rng(1).lognormal(0, 1, 1001)
    for i, length in enumerate(seconds.tolist()):
        maker.action(i * 100, i * 100 + length, prefix="inc", key=f"inc-{i}")
    maker.action(0, 50, prefix="inc", kind=Kind.TRANSFER)
    maker.action(0, 60, prefix="inc", outcome=Outcome.ERRED)
    history.apply(maker.batch())
    [found] = history.actions.sums(ALL)().durations().values()
    assert found.n_tasks == 1001
    assert found.mean_s == pytest.approx(seconds.mean())
    assert found.median_s == pytest.approx(np.median(seconds), rel=0.06)


def test_checkpoints_tell_what_any_window_gained() -> None:
    checkpoints = Checkpoints()
    for second in range(11):
        checkpoints.note(second, {("cpu",): 2.0 * second, ("disk",): float(second > 5)})
    assert checkpoints.gained() == {("cpu",): 20.0, ("disk",): 1.0}
    assert checkpoints.gained(Window(2.5, 4.0)) == {("cpu",): 3.0}
    checkpoints.begin_anew()  # another collector counts from 0
    checkpoints.note(20, {("cpu",): 1.0})
    assert checkpoints.gained() == {("cpu",): 21.0, ("disk",): 1.0}
    assert checkpoints.gained(Window(10, 30)) == {("cpu",): 1.0}


def test_many_checkpoints_are_thinned_where_they_are_old() -> None:
    checkpoints = Checkpoints()
    names = [(f"n{at}",) for at in range(1_000)]
    for second in range(2_000):
        checkpoints.note(second, dict.fromkeys(names, float(second)))
    gained = checkpoints.gained(Window(100.3, 1_990.0))
    assert gained[names[-1]] == pytest.approx(1_889.7)
