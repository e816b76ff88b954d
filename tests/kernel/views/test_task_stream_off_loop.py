"""Task Stream of many actions: they are gathered off the loop, and nothing is lost meanwhile."""

from __future__ import annotations

import pytest

from dask_diag_lab.views.stream import frames
from dask_diag_lab.views.stream.frames import AT_ONCE
from dask_diag_lab.views.stream.picture import Picture
from dask_diag_lab.views.stream.task_stream import TaskStream
from tests.kernel.views.conftest import Feed
from tests.kernel.views.elsewhere import Elsewhere
from tests.kernel.views.task_streams import built, data, many, move

MANY = AT_ONCE + 100


def _opened(feed: Feed, n: int = MANY) -> tuple[TaskStream, Picture, Elsewhere]:
    many(feed, n)
    elsewhere = Elsewhere(feed.store)
    view, picture = built(feed)
    view.update()
    return view, picture, elsewhere


def _end(picture: Picture) -> float:
    """Return where the last rectangle ends, seconds since the axis' 0."""
    return float(max(data(picture.work)["right"]))


def _append(feed: Feed, begin: float, end: float) -> None:
    feed.maker.action(begin, end, key="late-1")
    feed.send(end)


def test_a_page_opens_with_its_picture() -> None:
    _, picture, elsewhere = _opened(Feed().workers("tcp://w0:1"))
    assert elsewhere.open == []
    assert _end(picture) == pytest.approx(MANY * 1e-3, abs=1e-3)


def test_what_comes_later_is_gathered_off_the_loop_and_then_drawn(feed: Feed) -> None:
    view, picture, elsewhere = _opened(feed)
    _append(feed, 3.0, 3.5)
    view.update()
    assert len(elsewhere.open) == 1
    assert _end(picture) < 3
    elsewhere.finish()
    view.update()
    assert _end(picture) == pytest.approx(3.5)
    assert elsewhere.open == []


def test_few_actions_are_gathered_at_once(feed: Feed) -> None:
    view, picture, elsewhere = _opened(feed, 10)
    _append(feed, 3.0, 3.5)
    view.update()
    assert elsewhere.open == []
    assert _end(picture) == pytest.approx(3.5)


def test_the_same_again_is_not_gathered(feed: Feed) -> None:
    view, picture, elsewhere = _opened(feed)
    sent = picture.sent_bytes
    feed.send(9.0)
    view.update()
    assert elsewhere.open == []
    assert picture.sent_bytes == sent


def test_what_comes_while_a_frame_is_gathered_is_in_the_next(feed: Feed) -> None:
    view, picture, elsewhere = _opened(feed)
    for begin in (3.0, 4.0):
        _append(feed, begin, begin + 0.5)
        view.update()
    for end in (3.5, 4.5):
        assert len(elsewhere.open) == 1
        elsewhere.finish()
        view.update()
        assert _end(picture) == pytest.approx(end)
    assert elsewhere.open == []


def test_a_frame_of_rows_that_have_moved_is_not_drawn(feed: Feed) -> None:
    view, picture, elsewhere = _opened(feed)
    _append(feed, 3.0, 3.5)
    view.update()
    feed.workers("tcp://a0:1")  # above the others
    elsewhere.finish()
    view.update()
    assert elsewhere.open == []  # made at once: workers may come all along
    assert _end(picture) == pytest.approx(3.5)
    assert set(data(picture.work)["lane"]) == {2}


def test_a_frame_of_another_burst_is_not_drawn(feed: Feed) -> None:
    view, picture, elsewhere = _opened(feed)
    _append(feed, 3.0, 3.5)
    view.update()
    _append(feed, 100.0, 101.0)
    elsewhere.finish()
    view.update()
    view.update()
    elsewhere.finish()
    view.update()
    assert _end(picture) == pytest.approx(1.0)


def test_a_frozen_picture_stays_though_a_frame_was_under_way(feed: Feed) -> None:
    view, picture, elsewhere = _opened(feed)
    _append(feed, 3.0, 3.5)
    view.update()
    view.command("freeze")
    elsewhere.finish()
    view.update()
    assert _end(picture) < 3
    view.command("freeze")
    elsewhere.finish()
    view.update()
    assert _end(picture) == pytest.approx(3.5)


def test_a_key_does_not_wait_for_a_frame_of_another_window(feed: Feed) -> None:
    view, picture, elsewhere = _opened(feed)
    _append(feed, 3.0, 3.5)
    view.update()
    view.command("zoom-in")
    assert len(elsewhere.open) == 2
    before, now = elsewhere.open
    before.do()
    feed.store.worked_out(before)
    view.update()
    assert _end(picture) < 3
    now.do()
    feed.store.worked_out(now)
    view.update()
    assert _end(picture) == pytest.approx(3.5)


def test_a_hand_gets_the_window_that_it_moved_to(feed: Feed) -> None:
    view, picture, elsewhere = _opened(feed)
    move(picture, start=0.5, end=0.6)
    view.update()
    elsewhere.finish()
    view.update()
    assert view._drawing is not None
    assert view._drawing.covers(view.window)
    assert elsewhere.open == []


def test_a_hand_that_moves_a_frozen_picture_while_a_frame_is_under_way_is_followed(
    feed: Feed,
) -> None:
    view, picture, elsewhere = _opened(feed)
    view.command("freeze")
    move(picture, start=0.5, end=0.6)
    view.update()
    move(picture, start=0.7, end=0.75)
    for _ in range(2):
        view.update()
        elsewhere.finish()
    view.update()
    assert view._drawing is not None
    assert view._drawing.covers(view.window)


def test_a_fault_while_gathering_is_raised_once_and_then_all_is_gathered_anew(
    feed: Feed, monkeypatch: pytest.MonkeyPatch
) -> None:
    view, picture, elsewhere = _opened(feed)

    def fail(*_given: object) -> None:
        raise ZeroDivisionError

    _append(feed, 3.0, 3.5)
    with monkeypatch.context() as patched:
        patched.setattr(frames, "gather", fail)
        view.update()
        elsewhere.finish()
        with pytest.raises(ZeroDivisionError):
            view.update()
    view.update()
    elsewhere.finish()
    view.update()
    assert _end(picture) == pytest.approx(3.5)
