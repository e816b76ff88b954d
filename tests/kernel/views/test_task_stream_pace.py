"""A task stream waits for a hand to rest before it draws, and its page knows that it does."""

from __future__ import annotations

from typing import Any

from dask_diag_lab.views.stream.task_stream import SETTLE_S, TaskStream
from tests.kernel.server.browser import BrowserPage
from tests.kernel.serving import run, serving, until
from tests.kernel.store.batches import BatchMaker
from tests.kernel.views.conftest import Clock, Feed
from tests.kernel.views.task_streams import opened


def centre_of(view: TaskStream) -> Any:  # the answer of the store
    assert view._drawing is not None
    return view._drawing.centre


def test_a_picture_is_drawn_when_the_hand_rests_though_nothing_comes(
    feed: Feed, clock: Clock
) -> None:
    feed.maker.action(0, 1)
    feed.send(2)
    view = opened(feed)
    clock.now += 10
    view.update()
    assert view.picture is not None
    before = centre_of(view)
    view.picture.x_range.end = 1.5
    for _ in range(3):
        view.update()
        assert view.is_behind
        assert centre_of(view) is before
    clock.now += SETTLE_S
    view.update()
    assert [view.is_behind] == [False]
    assert centre_of(view) is not before


def test_while_it_waits_only_what_is_new_is_looked_at(feed: Feed, clock: Clock) -> None:
    feed.maker.action(0, 1)
    feed.send(2)
    view = opened(feed)
    clock.now += 10
    view.update()
    assert view.picture is not None
    view.picture.x_range.end = 1.5
    view.update()
    notice = view.notice
    view.update()
    assert view.notice is notice
    feed.maker.action(3, 4)
    feed.send(5)
    view.update()
    assert view.is_behind
    assert view.notice.behind_s > notice.behind_s


def test_the_page_says_what_is_to_be_seen_where_it_was_moved_to() -> None:
    async def story() -> None:
        async with serving() as served:
            served.feed(BatchMaker(epoch="history").action(0, 1).batch())
            page = await BrowserPage.open(served, "task-stream")
            assert page.control.empty == ""
            picture: Any = page.document.roots[0]
            await page.patch(picture.x_range, "end", 5000.0)
            await page.patch(picture.x_range, "start", 4000.0)
            await until(lambda: page.control.empty, "an empty stretch is not said to be one")
            await page.close()

    run(story())
