"""Progress: its title, and how it reckons the time that is left."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dask_diag_lab.records import STATES
from dask_diag_lab.views.tasks.progress import Progress
from dask_diag_lab.views.tasks.progress_estimate import MAX_OVERHEAD_S, Begun, estimate
from tests.kernel.views.conftest import Feed
from tests.kernel.views.situations import Page, prefix, store_of, worker


def test_title_has_all_states_and_an_estimate() -> None:
    rows = [
        prefix("a", 2.0, waiting=40, processing=8, memory=10),
        prefix("b", 1.0, queued=24, released=5, erred=2),
    ]
    view = Progress(store_of(prefixes=rows, workers=[worker(0)], nthreads=8))
    page = Page(view, 1200, 420)
    assert page.title == (
        "89 tasks · 40 waiting · 24 queued · 8 processing · 10 in memory · 2 erred"
        " · about 15.0 s left (estimate)"
    )
    page.resize(300, 200)
    assert page.title == "17 % done · 2 erred · ≈ 15.0 s left"


@pytest.mark.parametrize(
    ("row", "nthreads"),
    [
        (prefix("a", math.nan, waiting=4), 8),
        (prefix("a", 1.0, waiting=4), 0),
        (prefix("a", 1.0, memory=4), 8),
        (prefix("a", 1.0, waiting=4, no_worker=1), 8),
    ],
)
def test_no_estimate_without_grounds_for_one(row: dict[str, object], nthreads: int) -> None:
    view = Progress(store_of(prefixes=[row], nthreads=nthreads))
    page = Page(view)
    assert " left" not in page.title


def states_of(*rows: dict[str, object]) -> np.ndarray:
    return np.array([row["states"] for row in rows])


NO_RATE = np.array([math.nan, math.nan])


def test_unknown_duration_of_what_is_done_does_not_matter() -> None:
    states = states_of(prefix("a", memory=3), prefix("b", waiting=4))
    found = estimate(states, np.array([math.nan, 2.0]), NO_RATE, 4)
    assert (found.seconds, found.n_unknown) == (2.0, 0)


def test_prefixes_that_have_not_begun_make_it_a_lower_bound() -> None:
    rows = [prefix("a", 2.0, waiting=40), prefix("b", math.nan, waiting=9)]
    page = Page(Progress(store_of(prefixes=rows, nthreads=8)), 1200, 420)
    assert page.title.endswith("at least 10.0 s left (estimate; speed of 1 prefix unknown)")


def test_tasks_of_microseconds_are_reckoned_by_how_fast_they_end() -> None:
    states = states_of(prefix("a", waiting=100_000), prefix("b", memory=1))
    duration = np.array([10e-6, 1.0])
    slow = estimate(states, duration, np.array([1000.0, math.nan]), 8)
    assert slow.seconds == pytest.approx(100.0)
    assert estimate(states, duration, NO_RATE, 8).seconds < 1.0


def test_threads_that_are_busy_with_long_tasks_have_no_overhead() -> None:
    states = states_of(prefix("a", waiting=80), prefix("b", memory=1))
    found = estimate(states, np.array([4.0, 1.0]), np.array([2.0, 0.0]), 8)
    assert found.seconds == pytest.approx(40.0)


def test_what_runs_has_some_of_its_time_behind_it() -> None:
    states = np.zeros((2, len(STATES)), dtype=np.int64)
    states[0, [STATES.index("processing"), STATES.index("memory")]] = (4, 4)
    states[1, STATES.index("memory")] = 1
    grounds = (states, np.array([30.0, 1.0]), np.array([np.nan, np.nan]), 4)
    assert estimate(*grounds).seconds == 30
    elapsed = np.array([25.0, 20.0, 22.0, 24.0])
    one_wave = estimate(*grounds, Begun(np.zeros(4, dtype=np.int64), elapsed))
    assert one_wave.seconds == pytest.approx(10)  # that of the task that began last
    late = estimate(*grounds, Begun(np.zeros(4, dtype=np.int64), elapsed + 100))
    assert late.seconds == pytest.approx(3)  # late ones are not taken to be done
    states[0, STATES.index("waiting")] = 4
    two_waves = estimate(*grounds, Begun(np.zeros(4, dtype=np.int64), elapsed))
    assert two_waves.seconds == pytest.approx((8 * 30 - elapsed.sum()) / 4)


def test_running_tasks_of_unknown_duration_are_left_out_without_a_warning() -> None:
    states = np.zeros((2, len(STATES)), dtype=np.int64)
    states[:, STATES.index("processing")] = (2, 1)
    begun = Begun(np.array([0, 0, 1]), np.array([1.0, 4.0, 9.0]))
    told = estimate(states, np.array([10.0, np.nan]), np.array([np.nan, np.nan]), 2, begun)
    assert (told.seconds, told.n_unknown) == (9, 1)


def test_time_left_goes_down_while_tasks_run(feed: Feed) -> None:
    rows = [prefix("inc", processing=1, memory=3, duration=30.0)]
    feed.send(5.0, running=[("inc-a", "tcp://w0:1", "inc", 0.0)], prefixes=rows)
    page = Page(Progress(feed.store))
    assert "25.0 s left" in page.title
    assert page.sent() == []
    feed.now += 15.0
    page.sent()
    assert "10.0 s left" in page.title


def test_want_of_work_is_not_taken_for_overhead() -> None:
    states = states_of(prefix("a", waiting=10), prefix("b", memory=1))
    found = estimate(states, np.array([0.5, 1.0]), np.array([0.1, 0.0]), 100)
    assert found.seconds <= max(10 * (0.5 + MAX_OVERHEAD_S) / 100, 0.5)
