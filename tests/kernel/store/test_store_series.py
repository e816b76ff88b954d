"""Quantities over time: what is averaged, what is summed, and what thinning may not lose."""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_diag_lab.store import History
from dask_diag_lab.store.series import NAMES, SeriesTable
from tests.kernel.store.batches import T0, BatchMaker, worker_row

A, B, C = "tcp://a:1", "tcp://a:2", "tcp://b:1"


def _values(value: float) -> Any:
    return np.array([np.full(len(NAMES), v) for v in (value, 1.0, value, value)])


def test_a_point_has_the_mean_the_extremes_and_the_sum_over_the_workers() -> None:
    history, maker = History(), BatchMaker()
    for second, cpu in ((0.0, 10.0), (0.25, 40.0), (7.0, 100.0)):
        maker.time = T0 + second
        history.apply(maker.batch(workers=[worker_row(A, cpu=cpu), worker_row(B, cpu=0.0)]))
    series = history.series.get("cpu")
    assert series.times.tolist() == [T0, T0 + 7]
    assert series.mean.tolist() == [12.5, 50]
    assert series.low.tolist() == [0, 0]
    assert series.high.tolist() == [40, 100]
    assert series.total.tolist() == [25, 100]
    assert series.n.tolist() == [2, 2]


def test_counters_of_a_host_count_once_and_as_the_newest_heartbeat_says() -> None:
    history, maker = History(), BatchMaker()
    name = "host_net_io.read_bps"

    def row(address: str, host: str, seen: float, rate: float) -> dict[str, Any]:
        return worker_row(address, host=host, last_seen=T0 + seen, metrics={name: rate})

    history.apply(
        maker.batch(workers=[row(A, "a", 2, 100.0), row(B, "a", 1, 70.0), row(C, "b", 1, 300.0)])
    )
    series = history.series.get(name)
    assert (series.total[0], series.mean[0], series.n[0]) == (400, 200, 2)
    assert (series.low[0], series.high[0]) == (100, 300)


def test_what_only_some_workers_report_is_averaged_over_these() -> None:
    history, maker = History(), BatchMaker()
    metrics = [{"gpu_utilization": 80}, {"gpu_utilization": "broken"}, {}]
    rows = [worker_row(a, metrics=m) for a, m in zip((A, B, C), metrics, strict=True)]
    history.apply(maker.batch(workers=rows))
    series = history.series.get("gpu_utilization")
    assert (series.mean.tolist(), series.n.tolist()) == ([80], [1])
    assert "gpu_utilization" in history.series.names
    assert "gil_contention" not in history.series.names
    unknown = history.series.get("gil_contention")
    assert np.isnan([unknown.mean[0], unknown.low[0], unknown.high[0], unknown.total[0]]).all()
    assert unknown.n.tolist() == [0]


def test_thinning_keeps_every_peak_and_the_newest_half_as_it_is() -> None:
    series = SeriesTable(limit=16)
    values = np.arange(1000.0)
    values[333], values[334] = 5000, -5000
    for second, value in enumerate(values):
        series.add(T0 + second, _values(value))
        assert len(series) <= 16
    got = series.get("memory")
    assert (np.diff(got.times) > 0).all()
    assert got.times[0] == T0
    assert (got.low.min(), got.high.max()) == (-5000, 5000)
    assert got.mean[-8:].tolist() == values[-8:].tolist()
