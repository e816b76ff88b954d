"""The task stream where its reader moves it: panned, zoomed, frozen, cleared and live again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.kernel.store.batches import T0
from tests.kernel.views.conftest import Feed
from tests.kernel.views.task_streams import built, data, many, move


def test_the_view_stays_where_the_reader_put_it_and_tells_how_far_live_is_ahead(
    feed: Feed,
) -> None:
    feed.maker.action(0, 4)
    feed.send(4)
    view, picture = built(feed)
    move(picture, start=1.0, end=2.0)
    feed.maker.action(5, 8)
    feed.send(8)
    view.update()
    assert picture.times == pytest.approx((1.0, 2.0))
    assert view.notice.behind_s == pytest.approx(6.0)
    view.command("live")
    assert picture.times[1] >= 8
    assert view.notice.behind_s == 0


def test_its_own_range_changes_and_their_echo_do_not_stop_it_from_following(feed: Feed) -> None:
    feed.maker.action(0, 4)
    feed.send(4)
    view, picture = built(feed)
    move(picture, start=picture.times[0], end=picture.times[1] + 1e-9)
    feed.maker.action(5, 40)
    feed.send(40)
    view.update()
    assert view.window.is_following
    assert picture.times[1] >= 40


def test_a_new_burst_starts_the_picture_anew_and_history_stays_reachable(feed: Feed) -> None:
    feed.maker.action(0, 1)
    feed.send(1)
    view, picture = built(feed)
    feed.maker.action(60, 61)
    feed.send(61)
    view.update()
    assert view.window.zero == T0 + 60
    view.command("fit")
    assert (view.window.zero, picture.times[0] < 0) == (T0, True)
    assert len(data(picture.work)["left"]) == 2


def test_a_picture_that_was_moved_is_frozen_where_it_is(feed: Feed) -> None:
    feed.maker.action(0, 4)
    feed.send(4)
    view, picture = built(feed)
    move(picture, start=1.0, end=2.0)
    told = [view.notice.is_frozen]
    view.command("freeze")
    told.append(view.notice.is_frozen)
    assert picture.times == pytest.approx((1.0, 2.0))
    view.command("clear")
    told.append(view.notice.is_frozen)
    assert told == [False, True, False]


def test_a_frozen_picture_takes_no_new_tasks(feed: Feed) -> None:
    feed.maker.action(0, 1)
    feed.send(1)
    view, picture = built(feed)
    view.command("freeze")
    feed.maker.action(1, 1.01, thread=2)
    feed.send(3)
    view.update()
    assert len(data(picture.work)["left"]) == 1
    assert view.notice.behind_s == pytest.approx(0.01)
    view.command("live")
    assert len(data(picture.work)["left"]) == 2


@pytest.mark.parametrize(
    ("verb", "factor", "shift"),
    [("zoom-in", 0.5, 0), ("zoom-out", 2, 0), ("pan-left", 1, -0.25), ("pan-right", 1, 0.25)],
)
def test_keys_zoom_and_pan(feed: Feed, verb: str, factor: float, shift: float) -> None:
    feed.maker.action(0, 10)
    feed.send(10)
    view, _ = built(feed)
    width, middle = view.window.width, (view.window.start + view.window.end) / 2
    view.command(verb)
    assert view.window.width == pytest.approx(width * factor)
    assert (view.window.start + view.window.end) / 2 == pytest.approx(middle + shift * width)
    assert not view.window.is_following


def test_clear_hides_what_was_until_fit(feed: Feed) -> None:
    feed.maker.action(0, 1)
    feed.send(2)
    view, picture = built(feed)
    view.command("clear")
    assert view.notice.empty.startswith("Cleared")
    feed.maker.action(3, 4)
    feed.send(4)
    view.update()
    assert view.notice.empty == ""
    assert view.window.start > T0 + 1
    view.command("fit")
    assert view.window.start < T0
    assert min(data(picture.work)["left"]) >= 0


@pytest.mark.parametrize("verb", ["fit", "pan-left"])
def test_the_axis_begins_anew_with_what_is_seen_of_earlier_bursts(feed: Feed, verb: str) -> None:
    feed.maker.action(0, 90)
    feed.maker.action(200, 210)
    feed.send(210)
    view, picture = built(feed)
    assert data(picture.facts)["zero"] == [T0 + 200]
    view.command("zoom-out")
    for _ in range(60):
        view.command(verb)
        if view.window.start <= T0 + 100:
            break
    assert data(picture.facts)["zero"] == [T0]
    start, end = picture.times
    assert end > 0
    assert start >= -0.02 * (end - start)


def test_a_verb_of_another_plot_is_ignored(feed: Feed) -> None:
    view, _ = built(feed)
    view.command("sort-by-name")
    assert view.window.is_following


def test_scrolled_rows_stay_and_do_not_stop_following() -> None:
    feed = Feed().workers(*(f"tcp://w{i}:1" for i in range(400)))
    feed.maker.action(0, 1)
    feed.send(1)
    view, picture = built(feed)
    top, bottom = picture.rows
    assert bottom - top < 800
    assert "scroll for more" in view.notice.note
    move(picture, bottom=bottom + 50, top=top + 50)
    feed.maker.action(1, 2)
    feed.send(2)
    view.update()
    assert picture.rows == (top + 50, bottom + 50)
    assert view.window.is_following


def test_panning_finds_data_beside_the_window_at_once(feed: Feed) -> None:
    many(feed, 1000)
    view, picture = built(feed)
    view.command("fit")
    view.command("zoom-in")
    lefts = np.array(picture.work.model.data["left"])
    assert lefts.min() < picture.times[0]
    assert lefts.max() > picture.times[1]
    assert len(set(lefts.tolist())) == len(lefts)


def test_a_range_that_crossed_the_readers_is_sent_once_more(feed: Feed) -> None:
    feed.maker.action(0, 4)
    feed.send(4)
    view, picture = built(feed)
    move(picture, start=1.0, end=2.0)
    events: list[Any] = []  # Bokeh's events have no common attributes
    document = picture.figure.document
    assert document is not None
    document.on_change(events.append)
    view.update()
    ends = [e.new for e in events if getattr(e, "attr", "") == "end" and e.model is picture.x_range]
    assert ends == pytest.approx([2.0])
    view.update()
    assert view.window.end - T0 == pytest.approx(2.0, abs=1e-5)
