"""A table is refreshed as seldom as its cost asks for, whatever held up the scheduler."""

from __future__ import annotations

import time

import pytest

from dask_diag_lab.collector.throttle import MAX_DUTY, Throttle


class Clocks:
    """Time, and what the thread has computed of it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.spent = 1000.0, 7.0
        monkeypatch.setattr(time, "perf_counter", lambda: self.now)
        monkeypatch.setattr(time, "thread_time", lambda: self.spent)

    def refresh(self, throttle: Throttle, *, spent_s: float, took_s: float) -> None:
        throttle.begin()
        self.spent += spent_s
        self.now += took_s
        throttle.done(0.2)


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> Clocks:
    return Clocks(monkeypatch)


def test_the_first_refresh_is_due_at_once(clocks: Clocks) -> None:
    assert Throttle().is_due(), clocks.now


def test_a_cheap_refresh_is_due_again_after_the_interval(clocks: Clocks) -> None:
    throttle = Throttle()
    clocks.refresh(throttle, spent_s=0.0001, took_s=0.0001)
    clocks.now += 0.19
    assert not throttle.is_due()
    clocks.now += 0.02
    assert throttle.is_due()


def test_a_costly_refresh_takes_no_more_than_its_share(clocks: Clocks) -> None:
    throttle = Throttle()
    clocks.refresh(throttle, spent_s=0.05, took_s=0.05)
    clocks.now += 0.05 * (MAX_DUTY - 1)
    assert not throttle.is_due()
    clocks.now += 0.05 * 2
    assert throttle.is_due()


def test_a_refresh_that_had_to_wait_for_the_processor_is_not_held_against_the_table(
    clocks: Clocks,
) -> None:
    throttle = Throttle()
    clocks.refresh(throttle, spent_s=0.001, took_s=0.3)
    clocks.now += 0.21
    assert throttle.is_due()
