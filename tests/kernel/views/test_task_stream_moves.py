"""The task stream where its reader moves it, and where what it draws is gathered off the loop."""

from __future__ import annotations

import numpy as np
import pytest

from dask_diag_lab.views.stream.task_stream import DEBOUNCE_S
from tests.kernel.store.batches import T0
from tests.kernel.views.conftest import Clock, Feed
from tests.kernel.views.drawn import Elsewhere
from tests.kernel.views.task_streams import built, data, labels, many, move


def test_the_picture_stays_where_the_reader_put_it_and_tells_how_far_live_is_ahead(
    feed: Feed,
) -> None:
    feed.maker.action(0, 4)
    feed.send(4)
    view, figure = built(feed)
    move(figure, start=1.0, end=2.0)
    feed.maker.action(5, 8)
    feed.send(8)
    view.update()
    assert figure.times == pytest.approx((1.0, 2.0))
    assert view.caption.behind_s == pytest.approx(6.0)
    view.command("live")
    assert figure.times[1] >= 8
    assert view.caption.behind_s == 0


def test_a_new_burst_starts_the_picture_anew_and_history_stays_reachable(feed: Feed) -> None:
    feed.maker.action(0, 1)
    feed.send(1)
    view, figure = built(feed)
    feed.maker.action(60, 61)
    feed.send(61)
    view.update()
    assert figure.zero == T0 + 60
    view.command("fit")
    assert (figure.zero, figure.times[0] < 0) == (T0, True)
    assert data(figure.blocks)["left"] == [0.0, 60.0]


def test_a_frozen_picture_takes_no_new_tasks_and_keeps_its_caption(feed: Feed) -> None:
    feed.maker.action(0, 1)
    feed.send(1)
    view, figure = built(feed)
    view.command("freeze")
    before = view.caption
    assert before.is_frozen
    feed.maker.action(1, 1.01, thread=2)
    feed.send(3)
    view.update()
    assert len(data(figure.blocks)["left"]) == 1
    assert (view.caption.headline, view.caption.note) == (before.headline, before.note)
    assert view.caption.behind_s == pytest.approx(0.01)
    view.command("freeze")
    assert len(data(figure.blocks)["left"]) == 2
    assert not view.caption.is_frozen


@pytest.mark.parametrize(
    ("verb", "factor", "shift"),
    [("zoom-in", 0.5, 0), ("zoom-out", 2, 0), ("pan-left", 1, -0.25), ("pan-right", 1, 0.25)],
)
def test_keys_zoom_and_pan(feed: Feed, verb: str, factor: float, shift: float) -> None:
    feed.maker.action(0, 10)
    feed.send(10)
    view, _ = built(feed)
    view.command("sort-by-name")  # of another plot
    assert view.window.is_following
    width, middle = view.window.width, (view.window.start + view.window.end) / 2
    view.command(verb)
    assert view.window.width == pytest.approx(width * factor)
    assert (view.window.start + view.window.end) / 2 == pytest.approx(middle + shift * width)
    assert not view.window.is_following


def test_clear_hides_what_was_until_fit(feed: Feed) -> None:
    feed.maker.action(0, 1)
    feed.send(2)
    view, figure = built(feed)
    view.command("clear")
    assert view.caption.empty.startswith("Cleared")
    feed.maker.action(3, 4)
    feed.send(4)
    view.update()
    assert view.caption.empty == ""
    assert view.window.start > T0 + 1
    view.command("fit")
    assert view.window.start < T0
    assert min(data(figure.blocks)["left"]) >= 0


def test_panning_finds_data_beside_the_window_and_the_legend_names_none_of_it(feed: Feed) -> None:
    many(feed, 1000)
    feed.maker.action(1.2, 1.3, prefix="late")
    feed.send(1.3)
    view, figure = built(feed)
    move(figure, start=0.2, end=0.9)
    view.command("zoom-in")
    lefts = np.array(figure.blocks.model.data["left"])
    lefts = lefts[~np.isnan(lefts)]
    assert lefts.min() < figure.times[0]
    assert lefts.max() > figure.times[1]
    assert len(set(lefts.tolist())) == len(lefts)
    assert labels(view) == ["inc"]


def test_a_hand_that_moves_within_what_it_has_is_waited_for(feed: Feed, clock: Clock) -> None:
    feed.maker.action(0, 1)
    feed.send(2)
    view, figure = built(feed)
    clock.now += 10
    begun = Elsewhere(feed.live)
    move(figure, start=0.0, end=figure.times[1])
    view.update()
    assert view.is_behind
    assert begun.open == []
    clock.now += DEBOUNCE_S
    assert view.is_behind
    view.update()
    assert [view.is_behind] == [False]
    assert len(begun.open) == 2  # the picture, and the shares of its headline


# Off the loop.


def test_blocks_rows_and_zero_come_together(feed: Feed) -> None:
    feed.maker.action(0, 1, worker="tcp://w0:1")
    feed.send(1)
    view, figure = built(feed)
    elsewhere = Elsewhere(feed.live)
    feed.workers("tcp://a0:1")  # above the others
    feed.maker.action(60, 61, worker="tcp://w0:1")
    feed.send(61)
    for zero, rows in ((T0, [0]), (T0 + 60, [2])):
        view.update()
        assert (figure.zero, data(figure.blocks)["y"]) == (zero, rows)
        at = data(figure.workers)["label"].index("w0:1")
        assert data(figure.workers)["first"][at] == rows[0]
        elsewhere.finish()
