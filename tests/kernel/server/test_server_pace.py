"""However many look, drawing leaves most of the kernel's time to its user."""

from __future__ import annotations

import pytest

from dask_diag_lab.server import pace, pages
from dask_diag_lab.server.pace import BUSY_SHARE, LONGEST_S, SHARE, Pace
from dask_diag_lab.store import Store
from tests.kernel.server.browser import BrowserPage
from tests.kernel.server.sample_views import Counting, sample_plot
from tests.kernel.serving import make_batch, run, serving, until


class Dial:
    """A clock that is set by hand."""

    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def test_a_round_waits_until_the_last_was_its_share_of_the_time() -> None:
    clock, spent = Dial(100.0), Dial(7.0)
    paced = Pace(clock, spent, spent)
    paced.begin()
    spent.now += 0.5
    assert paced.hold_s() == 0.5 / SHARE
    clock.now += 0.5 / SHARE
    assert paced.hold_s() == 0


@pytest.mark.parametrize(("of_others", "share"), [(0.6, BUSY_SHARE), (0.4, SHARE)])
def test_a_round_waits_longer_while_others_compute_in_the_process(
    of_others: float, share: float
) -> None:
    clock, spent, of_process = Dial(100.0), Dial(7.0), Dial(70.0)
    paced = Pace(clock, spent, of_process)
    paced.begin()
    clock.now += 0.25
    spent.now += 0.1
    of_process.now += 0.1 + 0.25 * of_others
    assert paced.hold_s() == pytest.approx(0.1 / share - 0.25)


def test_cheap_rounds_never_wait() -> None:
    clock, spent = Dial(100.0), Dial(7.0)
    paced = Pace(clock, spent, spent)
    for _ in range(10):
        paced.begin()
        spent.now += 0.01
        clock.now += 0.25
        assert paced.hold_s() == 0


def test_no_round_waits_for_ever() -> None:
    spent = Dial(7.0)
    paced = Pace(Dial(100.0), spent, spent)
    paced.begin()
    spent.now += 1000
    assert paced.hold_s() == LONGEST_S


def test_the_first_round_does_not_wait() -> None:
    assert Pace(Dial(100.0), Dial(1000.0), Dial(2000.0)).hold_s() == 0


def test_a_page_is_drawn_after_the_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "SHARE", 1e-9)
    monkeypatch.setattr(pace, "BUSY_SHARE", 1e-9)
    monkeypatch.setattr(pace, "LONGEST_S", 0.2)

    async def story() -> None:
        async with serving((sample_plot("count", Counting),)) as served:
            page = await BrowserPage.open(served, "count")
            for version in (2, 3, 4):
                served.feed(make_batch(version))
                served.server.tick()
            last = f"version {served.store.version}"
            await until(lambda: page.control.note == last, "the last picture never came")
            await page.close()

    run(story())


def test_what_the_user_does_is_drawn_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "SHARE", 1e-9)
    monkeypatch.setattr(pace, "BUSY_SHARE", 1e-9)
    monkeypatch.setattr(pace, "LONGEST_S", 3600.0)

    async def story() -> None:
        async with serving((sample_plot("count", Counting),)) as served:
            page = await BrowserPage.open(served, "count")
            served.server.tick()
            served.feed(make_batch(2))
            served.server.tick()
            held = page.control.note
            await page.command("fit")
            now = f"version {served.store.version}"
            await until(lambda: page.control.note == now, "the user waits for others")
            assert held != now
            await page.close()

    run(story())


def test_an_answer_that_somebody_waits_for_is_drawn_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pace, "SHARE", 1e-9)
    monkeypatch.setattr(pace, "BUSY_SHARE", 1e-9)
    monkeypatch.setattr(pace, "LONGEST_S", 3600.0)

    async def story() -> None:
        async with serving((sample_plot("count", Counting),)) as served:
            page = await BrowserPage.open(served, "count")
            served.server.tick()
            served.feed(make_batch(2))
            served.server.tick(is_awaited=True)
            now = f"version {served.store.version}"
            await until(lambda: page.control.note == now, "the answer waits for the others")
            await page.close()

    run(story())


def test_what_others_draw_for_the_thread_counts() -> None:
    async def story() -> None:
        store = Store()
        drawing = pages.Pages(store, lambda _is_watched, _wanted: None)
        drawing.tick()
        store.workings.cpu_s += 1.0
        assert drawing._pace.hold_s() > 1.0 / SHARE - 1.0
        await drawing.close_all(0)

    run(story())


def test_an_awaited_round_does_not_end_the_rest_of_the_one_before() -> None:
    async def story() -> None:
        store = Store()
        drawing = pages.Pages(store, lambda _is_watched, _wanted: None)
        drawing.tick()
        store.workings.cpu_s += 1.0
        drawing.tick(is_awaited=True)
        assert drawing._pace.hold_s() > 1.0 / SHARE - 1.0
        await drawing.close_all(0)

    run(story())


def test_the_pictures_of_others_are_held_though_a_viewer_comes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pace, "SHARE", 1e-9)
    monkeypatch.setattr(pace, "BUSY_SHARE", 1e-9)
    monkeypatch.setattr(pace, "LONGEST_S", 3600.0)

    async def story() -> None:
        async with serving((sample_plot("count", Counting),)) as served:
            first = await BrowserPage.open(served, "count")
            served.server.tick()
            served.feed(make_batch(2))
            await first.quiet()
            held = first.control.note
            second = await BrowserPage.open(served, "count")
            served.feed(make_batch(3))
            await second.quiet()
            assert second.control.note != held
            assert first.control.note == held
            await first.close()
            await second.close()

    run(story())


def test_the_end_of_a_hold_is_no_news_of_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "SHARE", 1e-9)
    monkeypatch.setattr(pace, "BUSY_SHARE", 1e-9)
    monkeypatch.setattr(pace, "LONGEST_S", 0.05)
    began: list[int] = []

    class Noted(Pace):
        def begin(self) -> None:
            began.append(held.ticks)
            super().begin()

    monkeypatch.setattr(pages, "Pace", Noted)
    held = pages.Pages(Store(), lambda _is_watched, _wanted: None)

    async def story() -> None:
        held.tick()
        held.tick()
        await until(lambda: len(began) == 2, "the second round never began")
        await held.close_all(0)

    run(story())
    assert began == [1, 2]
