"""Bandwidths: from which worker to which, as a map."""

from __future__ import annotations

from dask_diag_lab.schema import Change
from dask_diag_lab.views.workers.traffic import BandwidthWorkers
from tests.kernel.views.drawn import Drawn
from tests.kernel.views.situations import change, session_of, worker

ADDRESS = [str(worker(i)["address"]) for i in range(300)]


def pairs(n: int) -> dict[str, Change]:
    """Return bandwidths of each worker to the next one."""
    rows = [(ADDRESS[at], ADDRESS[(at + 1) % n], 1e6 * (at + 1)) for at in range(n)]
    return change("bandwidth-workers", rows)


def shown(n: int) -> Drawn[BandwidthWorkers]:
    live = session_of(workers=[worker(i) for i in range(n)], extras=pairs(n))
    return Drawn(BandwidthWorkers(live))


def test_pairs_are_a_map_with_exact_rates() -> None:
    drawn = shown(4)
    (data,) = drawn.sources
    assert list(zip(data["y"], data["x"], strict=True)) == [(0, 1), (1, 2), (2, 3), (3, 0)]
    assert (data["of"][3], data["to"][3]) == ("worker 3", "worker 0")
    assert data["rate"][3] == 4e6
    assert data["alpha"] == sorted(data["alpha"])
    expected = "Bandwidth: 1.00 MB/s to 4.00 MB/s, paler is slower"
    assert drawn.view.caption.headline == expected
    assert drawn.view.table().columns["rate"] == [1e6, 2e6, 3e6, 4e6]
    assert drawn.view.table().units == {"rate": "B/s"}


def test_each_square_has_its_workers() -> None:
    drawn = shown(300)
    (data,) = drawn.sources
    assert (len(data["x"]), data["to"][3]) == (300, "worker 4")
