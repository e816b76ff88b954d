"""How long tasks took: as observed, not as the scheduler expects."""

from __future__ import annotations

import numpy as np
import pytest

from dask_diag_lab.schema import Kind, Outcome
from dask_diag_lab.store import Store
from tests.kernel.store.batches import BatchMaker


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
