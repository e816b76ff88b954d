"""How fast tasks end, as observed: also in waves, after pauses, and when too little was seen."""

from __future__ import annotations

from math import isnan

import pytest

from dask_diag_lab.store import Store
from dask_diag_lab.store.rates import LONGEST_S, SPACING_S, Rates
from tests.kernel.store.batches import T0, BatchMaker, prefix_row


def test_a_steady_pace_is_the_rate() -> None:
    store, maker = Store(), BatchMaker()
    for tick in range(200):
        maker.time = T0 + tick / 4
        store.apply(maker.batch(prefixes=[prefix_row("inc", waiting=1000 - tick, memory=tick)]))
    assert store.prefixes.rate.tolist() == [pytest.approx(4, rel=0.05)]


def test_tasks_that_wait_do_not_slow_down_the_rate_of_those_that_came_to_their_turn() -> None:
    store, maker = Store(), BatchMaker()
    store.apply(maker.batch(prefixes=[prefix_row("inc", waiting=100)]))
    maker.time = T0 + 1000
    store.apply(maker.batch(prefixes=[prefix_row("inc", waiting=90, processing=10)]))
    for second in range(1, 6):
        maker.time = T0 + 1000 + second
        store.apply(
            maker.batch(
                prefixes=[
                    prefix_row("inc", waiting=90 - 10 * second, processing=10, memory=10 * second)
                ]
            )
        )
    assert store.prefixes.rate.tolist() == [10]


def test_long_tasks_that_end_in_waves_are_seen_over_a_longer_time() -> None:
    rates = Rates()
    rates.update("long", 0, 0)
    for wave in range(1, 5):
        rates.update("long", 30 * wave, 4 * wave)
    # 12 in the last 90 s, where the last 20 s alone would say 4 / 20.
    assert rates.rate("long", 120) == pytest.approx(4 / 30)


def test_the_rate_falls_when_nothing_ends_any_more_and_is_unknown_in_the_end() -> None:
    rates = Rates()
    for second in range(31):
        rates.update("inc", second, 2 * second)
    assert rates.rate("inc", 30) == pytest.approx(2)
    assert 0 < rates.rate("inc", 60) < 1.5
    assert isnan(rates.rate("inc", 31 + LONGEST_S))


def test_too_few_ends_and_unknown_names_have_no_rate() -> None:
    rates = Rates()
    rates.update("one", 0, 500)
    rates.update("one", 10, 501)
    assert isnan(rates.rate("one", 10))
    assert isnan(rates.rate("other", 10))


def test_work_computed_again_and_a_clock_set_back_begin_anew() -> None:
    rates = Rates()
    for second in range(10):
        rates.update("inc", 100 + second, 10 * second)
    rates.update("inc", 110, 5)
    rates.update("inc", 112, 9)
    assert rates.rate("inc", 112) == 2
    rates.update("inc", 50, 10)
    assert isnan(rates.rate("inc", 50))


def test_samples_are_bounded() -> None:
    rates = Rates()
    for tick in range(100_000):
        rates.update("inc", tick / 100, tick)
    assert len(rates._paces["inc"].samples) < 1.1 * LONGEST_S / SPACING_S
    assert rates.rate("inc", 1000) == pytest.approx(100, rel=0.01)


def test_rates_are_forgotten_with_their_prefix() -> None:
    store, maker = Store(), BatchMaker()
    for second in range(10):
        maker.time = T0 + second
        store.apply(maker.batch(prefixes=[prefix_row("inc", memory=second)]))
    store.apply(maker.batch(removed_prefixes=["inc"]))
    store.apply(maker.batch(prefixes=[prefix_row("inc", memory=10)]))
    assert isnan(store.prefixes.rate[0])
