"""Times in which something ran, out of the actions that were logged."""

from __future__ import annotations

import pytest

from dask_diag_lab.store import History
from tests.kernel.store.batches import T0, BatchMaker


def test_stretches_are_joined_over_short_pauses_and_whatever_the_order() -> None:
    maker, history = BatchMaker(), History()
    history.apply(maker.action(0, 10).action(2, 3).action(20, 21).batch())
    history.apply(maker.action(10.2, 12).action(15, 20.5).batch())
    busy = history.busy
    assert list(zip(busy.start - T0, busy.stop - T0, strict=True)) == [
        pytest.approx((0, 12)),
        pytest.approx((15, 21)),
    ]


def test_threads_at_work_are_those_of_the_last_seconds_of_a_burst() -> None:
    maker, history = BatchMaker(), History()
    history.apply(maker.action(0, 80).batch())
    for second in range(100, 104):
        history.apply(maker.action(second, second + 0.5).batch())
    assert history.busy.threads_lately(T0 + 104) == pytest.approx(4 * 0.5 / 4)
    history.apply(maker.action(100, 140).action(120, 140).batch())
    assert history.busy.threads_lately(T0 + 140) == pytest.approx(2)
    assert history.busy.threads_lately(T0 + 200) == 0
