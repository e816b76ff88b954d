"""Hardware: measured when asked, once for all who look, and only where there is room."""

from __future__ import annotations

from typing import Any

import pytest

from dask_diag_lab.store import LiveSession
from dask_diag_lab.store.queries import UNASKED, Query
from dask_diag_lab.views.scheduler.system import Hardware
from tests.kernel.views.drawn import Drawn
from tests.kernel.views.situations import session_of, worker

ONE = [{"size": 2048, "rate": 2e9}]


class Bench:
    """A plot of a cluster, and what it asked."""

    def __init__(self, *workers: dict[str, Any]) -> None:
        self.live: LiveSession = session_of(workers=list(workers))
        self.asked: list[Query] = []
        self.live.queries.on_ask = self.asked.append
        self.shown = Drawn(Hardware(self.live))
        self.view = self.shown.view

    def press(self) -> None:
        self.view.set_control("measure", "")
        self.view.update()

    def answer(self, **rows: list[dict[str, float]]) -> None:
        self.live.answer(self.asked[-1], {"memory": [], "disk": [], "network": []} | rows)
        self.view.update()


def pressed(*workers: dict[str, Any]) -> Bench:
    """Return a bench of these workers, or of one, whose button was pressed."""
    bench = Bench(*(workers or [worker(0)]))
    bench.press()
    return bench


def test_what_was_measured_is_shown_to_every_page_and_by_the_table() -> None:
    bench = pressed()
    bench.press()  # nobody measures a second time beside it
    assert len(bench.asked) == 1
    bench.answer(memory=ONE, network=[{"size": 1 << 20, "rate": 1e9}])
    assert bench.shown.data["block"] == ["Memory · 2.00 KiB", "Network · 1.00 MiB"]
    assert bench.shown.data["level_index"] == [0, 2]
    assert bench.view.caption.headline == "Bandwidth: up to memory 2.00 GB/s, network 1.00 GB/s"
    assert [item.label for item in bench.view.caption.legend] == ["memory", "disk", "network"]
    table = Hardware(bench.live).table()
    assert table.columns == {
        "kind": ["memory", "network"],
        "size": [2048, 1 << 20],
        "rate": [2e9, 1e9],
    }
    assert table.units == {"size": "B", "rate": "B/s"}


def test_a_closed_cluster_is_not_to_be_measured() -> None:
    bench = Bench(worker(0))
    bench.live.set_feed_state("closed", "", 1.0)
    bench.view.update()
    assert (bench.view.caption.controls, bench.view.caption.empty) == ([], UNASKED)


def test_a_failed_measurement_shows_its_reason() -> None:
    bench = pressed()
    bench.live.fail(bench.asked[0], "the scheduler forbids it.")
    bench.view.update()
    assert "forbids" in bench.view.caption.empty
    bench.press()
    bench.answer()
    assert bench.view.caption.empty.startswith("Nothing measured")


@pytest.mark.parametrize(
    ("workers", "expected"),
    [
        ([], "there is no worker"),
        ([worker(1, memory_limit=512 << 20, managed=300 << 20)], "1 worker had less"),
    ],
)
def test_nothing_is_asked_without_workers_or_without_room_on_one(
    workers: list[dict[str, Any]], expected: str
) -> None:
    bench = Bench(*workers)
    bench.press()
    assert bench.asked == []
    assert expected in bench.view.caption.empty
