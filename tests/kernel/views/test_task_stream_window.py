"""Which stretch of time a task stream shows."""

from __future__ import annotations

import numpy as np
import pytest

from dask_diag_lab.views.stream.window import Burst, TimeWindow, last_burst, roomy_span
from tests.kernel.store.batches import T0
from tests.kernel.views.conftest import Feed

NOTHING = np.empty(0)


def test_work_after_a_pause_of_ten_seconds_is_a_new_burst() -> None:
    starts, stops = np.array([0.0, 1.0, 20.0, 21.0]), np.array([1.0, 9.0, 21.0, 22.0])
    assert last_burst(starts, stops) == 20.0
    assert last_burst(starts, np.array([1.0, 11.0, 21.0, 22.0])) == 0.0


def test_a_growing_span_changes_in_steps_and_always_fits() -> None:
    needed = np.linspace(0.01, 500, 2000)
    spans = [roomy_span(s) for s in needed]
    assert all(span >= s for span, s in zip(spans, needed, strict=True))
    assert len(set(spans)) < 60
    assert all(span <= 1.3 * s for span, s in zip(spans, needed, strict=True) if s > 0.1)


def test_the_burst_of_a_history_with_pauses_starts_after_the_last_one(feed: Feed) -> None:
    for start in (0.0, 50.0, 100.0, 103.0):
        feed.maker.action(start, start + 1)
    feed.send(110)
    assert Burst().advance(feed.store.actions, NOTHING) == pytest.approx(T0 + 100, abs=0.01)


def test_a_burst_moves_on_only_after_a_pause(feed: Feed) -> None:
    burst = Burst()
    feed.maker.action(0, 1)
    feed.send(1)
    assert burst.advance(feed.store.actions, NOTHING) == T0
    feed.maker.action(8, 9)
    feed.send(9)
    assert burst.advance(feed.store.actions, NOTHING) == T0
    feed.maker.action(30, 31).action(31, 32)
    feed.send(32)
    assert burst.advance(feed.store.actions, NOTHING) == T0 + 30


def test_a_straggler_that_runs_bridges_a_pause(feed: Feed) -> None:
    burst = Burst()
    feed.maker.action(0, 1)
    feed.send(1)
    burst.advance(feed.store.actions, NOTHING)
    feed.maker.action(40, 41, thread=2)
    feed.send(41)
    assert burst.advance(feed.store.actions, np.array([T0 + 0.5])) == T0


def test_a_first_running_task_starts_a_burst(feed: Feed) -> None:
    assert Burst().advance(feed.store.actions, np.array([T0 + 3])) == T0 + 3


def test_a_history_of_days_is_searched_from_its_end(feed: Feed) -> None:
    for hour in range(48):
        feed.maker.action(hour * 3600.0, hour * 3600.0 + 5)
    feed.send(48 * 3600)
    assert Burst().advance(feed.store.actions, NOTHING) == pytest.approx(T0 + 47 * 3600, abs=0.01)


def test_a_burst_longer_than_one_search_is_found_whole(feed: Feed) -> None:
    feed.maker.action(0, 1)
    for start in range(100, 45_000, 500):
        feed.maker.action(float(start), start + 495.0)
    feed.send(46_000)
    assert Burst().advance(feed.store.actions, NOTHING) == pytest.approx(T0 + 100, abs=0.01)


def test_a_held_window_stays_and_says_how_far_live_is_ahead() -> None:
    window = TimeWindow()
    window.follow(100.0, 110.0)
    assert window.is_following
    assert window.behind(110.0) == 0
    window.hold(101.0, 103.0)
    window.follow(100.0, 150.0)
    assert (window.start, window.end) == (101.0, 103.0)
    assert window.behind(115.0) == 12.0


def test_freezing_twice_lets_go() -> None:
    window = TimeWindow()
    window.follow(100.0, 110.0)
    window.freeze(110.0)
    assert window.behind(117.0) == 7.0
    window.freeze(120.0)
    assert window.is_following
    assert not window.is_frozen
