"""Bandwidths: by type of the data, and from which worker to which as a map or as bars."""

from __future__ import annotations

import pytest

from dask_diag_lab.schema import Change
from dask_diag_lab.views.models import BarChart
from dask_diag_lab.views.view import Opening
from dask_diag_lab.views.workers.traffic import MAP_MOST, BandwidthWorkers
from tests.kernel.views.drawn import Drawn
from tests.kernel.views.situations import batch, change, session_of, worker

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
    _, data = drawn.sources
    assert list(zip(data["y"], data["x"], strict=True)) == [(0, 1), (1, 2), (2, 3), (3, 0)]
    assert data["pair"][3] == "worker 3 → worker 0"
    assert (data["rate"][3], data["written"][3]) == (4e6, "4.00 MB/s")
    assert data["alpha"] == sorted(data["alpha"])
    expected = "Bandwidth: 1.00 MB/s to 4.00 MB/s, paler is slower"
    assert drawn.view.caption.headline == expected
    assert drawn.view.table().columns["rate"] == [1e6, 2e6, 3e6, 4e6]
    assert drawn.view.table().units == {"rate": "B/s"}


@pytest.mark.parametrize(("n", "note"), [(60, "pairs"), (300, "the slowest 200 of 300 pairs")])
def test_too_many_workers_for_a_map_become_bars_slowest_first_and_a_note(n: int, note: str) -> None:
    drawn = shown(n)
    assert drawn.view.caption.note == f"more than {MAP_MOST} workers: {note} as bars"
    expected = "Bandwidth: 1.00 MB/s to "
    assert drawn.view.caption.headline.startswith(expected)
    bars = drawn.view.parts[1]
    assert bars.table().columns["rate"][:2] == [1e6, 2e6]
    drawn.models(BarChart)[0].clicked = [f"{ADDRESS[3]} {ADDRESS[4]}", "1"]
    drawn.view.update()
    assert drawn.view.opening == Opening("transfers", {"worker": ADDRESS[4]})
    drawn.view.live.apply(batch(extras=pairs(20)))
    drawn.view.update()
    assert len(drawn.sources[1]["x"]) == 20
    assert drawn.view.caption.note == ""
