"""How fast tasks end, and how long they took: as observed, not as the scheduler expects."""

from __future__ import annotations

from math import isnan

import numpy as np
import pytest

from dask_diag_lab.schema import Kind, Outcome
from dask_diag_lab.store import Store
from dask_diag_lab.store.prefixes import LONGEST_S
from tests.kernel.store.batches import T0, BatchMaker, prefix_row


def rate_after(*readings: tuple[float, int], now: float = 0.0) -> float:
    """Return the rate of a prefix after ``readings``: times and how many were done."""
    store, maker = Store(), BatchMaker()
    for time, done in readings:
        maker.time = T0 + time
        store.apply(maker.batch(prefixes=[prefix_row("inc", processing=1, memory=done)]))
    if now:
        maker.time = T0 + now
        store.apply(maker.batch())
    (rate,) = store.prefixes.rate.tolist()
    return float(rate)


def test_a_steady_pace_is_the_rate_and_falls_when_nothing_ends_any_more() -> None:
    steady = [(tick / 4, tick) for tick in range(200)]
    assert rate_after(*steady) == pytest.approx(4, rel=0.05)
    assert 0 < rate_after(*steady, now=80) < 3
    assert isnan(rate_after(*steady, now=51 + LONGEST_S))


def test_long_tasks_that_end_in_waves_are_seen_over_a_longer_time() -> None:
    waves = [(30.0 * wave, 4 * wave) for wave in range(5)]
    # 12 in the last 90 s, where the last 20 s alone would say 4 / 20.
    assert rate_after(*waves) == pytest.approx(4 / 30)


@pytest.mark.parametrize(
    "readings",
    [
        [(0.0, 500), (10.0, 501)],  # too few
        [(0.0, 0), (50.0, 10), (51.0, 3)],  # computed again
        [(50.0, 0), (0.0, 10)],  # the clock was set back
    ],
)
def test_there_is_no_rate_where_readings_mean_nothing(
    readings: list[tuple[float, int]],
) -> None:
    assert isnan(rate_after(*readings))


@pytest.mark.parametrize("before", [(), ((-9.0, -90), (-4.0, -40))])
def test_time_without_work_does_not_slow_down_the_rate_of_what_comes_after_it(
    before: tuple[tuple[float, int], ...],
) -> None:
    after = [(1000.0 + s, 10 * s) for s in range(6)]
    readings = [(time, 90 + done) for time, done in (*before, (0, 0), *after)]
    assert rate_after(*readings) == 10


def test_recorded_times_are_counted_by_prefix() -> None:
    store, maker = Store(), BatchMaker()
    seconds = np.random.default_rng(1).lognormal(0, 1, 1001)
    for i, length in enumerate(seconds.tolist()):
        maker.action(i * 100, i * 100 + length, prefix="inc", key=f"inc-{i}")
    maker.action(0, 50, prefix="inc", kind=Kind.TRANSFER)
    maker.action(0, 60, prefix="inc", outcome=Outcome.ERRED)
    store.apply(maker.batch())
    readings = store.durations.of("inc")
    assert readings.count == 1001
    assert readings.mean_s == pytest.approx(seconds.mean())
    assert readings.median_s == pytest.approx(np.median(seconds), rel=0.06)
    assert store.durations.of("other").count == 0
