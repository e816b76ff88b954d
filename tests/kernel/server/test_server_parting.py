"""What a pane keeps of a cluster that is being closed."""

from __future__ import annotations

import pytest

from dask_diag_lab.server import parting
from dask_diag_lab.server.parting import HOLD_S, Parting
from tests.kernel.server.browser import BrowserPage
from tests.kernel.server.sample_views import Counting, sample_plot
from tests.kernel.serving import make_batch, run, serving, until


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_pictures_stay_when_the_last_worker_leaves() -> None:
    clock = Clock()
    held = Parting(clock)
    assert held.hold_s(4) == 0
    assert held.hold_s(0) == HOLD_S
    clock.now += 1
    assert held.hold_s(0) == HOLD_S - 1


def test_a_cluster_that_goes_on_without_workers_is_drawn_after_a_while() -> None:
    clock = Clock()
    held = Parting(clock)
    held.hold_s(1)
    held.hold_s(0)
    clock.now += HOLD_S
    assert held.hold_s(0) == 0


def test_workers_that_come_are_drawn_at_once() -> None:
    held = Parting(Clock())
    held.hold_s(1)
    held.hold_s(0)
    assert held.hold_s(2) == 0


def test_a_cluster_that_has_no_workers_yet_is_drawn() -> None:
    assert Parting(Clock()).hold_s(0) == 0


def test_a_page_is_drawn_again_after_the_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parting, "HOLD_S", 0.2)

    async def story() -> None:
        async with serving((sample_plot("count", Counting),)) as served:
            page = await BrowserPage.open(served, "count")
            served.feed(make_batch(2))
            served.feed(make_batch(3, workers=0))
            served.store.set_feed_state("lost", "It is gone.", 1.0)
            served.server.tick()
            assert page.control.state == "live"
            await until(lambda: page.control.state == "lost", "it was never drawn again")
            await page.close()

    run(story())
