"""Task Stream of many actions: they are gathered off the loop, and nothing is lost meanwhile."""

from __future__ import annotations

import pytest

from dask_diag_lab.store.workings import Working
from dask_diag_lab.views.stream import frames
from dask_diag_lab.views.stream.frames import AT_ONCE
from dask_diag_lab.views.stream.picture import Picture
from dask_diag_lab.views.stream.task_stream import DUTY, TaskStream
from tests.kernel.views.conftest import Clock, Feed
from tests.kernel.views.elsewhere import Elsewhere
from tests.kernel.views.task_streams import data, many, move, opened

MANY = AT_ONCE + 100


class Stream:
    """A page of a task stream whose work off the loop is done when a test says so."""

    def __init__(self, feed: Feed, clock: Clock, n: int = MANY) -> None:
        many(feed, n)
        self.feed, self._clock = feed, clock
        self.elsewhere = Elsewhere(feed.store)
        self.view: TaskStream = opened(feed)
        assert self.view.picture is not None
        self.picture: Picture = self.view.picture

    @property
    def open(self) -> list[Working[object]]:
        return self.elsewhere.open

    @property
    def ends(self) -> float:
        """Where the last rectangle ends, seconds since the axis' 0."""
        return float(max(data(self.picture.work)["right"]))

    def update(self) -> None:
        """Update some seconds after the last time."""
        self._clock.now += 10
        self.view.update()

    def finish(self) -> None:
        """Do what is under way, and draw it."""
        self.elsewhere.finish()
        self.update()

    def append(self, begin: float, end: float) -> None:
        """Have a task end, seconds after the first one."""
        self.feed.maker.action(begin, end, key="late-1")
        self.feed.send(end)


@pytest.fixture
def stream(feed: Feed, clock: Clock) -> Stream:
    """A page of more actions than are gathered at once, all drawn."""
    return Stream(feed, clock)


def test_a_page_opens_with_its_picture(stream: Stream) -> None:
    assert stream.open == []
    assert stream.ends == pytest.approx(MANY * 1e-3, abs=1e-3)


def test_what_comes_later_is_gathered_off_the_loop_and_then_drawn(stream: Stream) -> None:
    stream.append(3.0, 3.5)
    stream.update()
    assert len(stream.open) == 1
    assert stream.ends < 3
    stream.finish()
    assert stream.ends == pytest.approx(3.5)
    assert stream.open == []


def test_few_actions_are_gathered_at_once(feed: Feed, clock: Clock) -> None:
    stream = Stream(feed, clock, 10)
    stream.append(3.0, 3.5)
    stream.update()
    assert stream.open == []
    assert stream.ends == pytest.approx(3.5)


def test_the_same_again_is_not_gathered(stream: Stream) -> None:
    sent = stream.picture.sent_bytes
    stream.feed.send(9.0)
    stream.update()
    assert stream.open == []
    assert stream.picture.sent_bytes == sent


def test_the_first_task_after_a_pause_does_not_wait_for_the_cost_of_the_last_frame(
    stream: Stream, clock: Clock
) -> None:
    drawing = stream.view._drawing
    assert drawing is not None
    drawing.cost_s = 100.0
    clock.now += DUTY * 100
    stream.view.update()  # finds nothing new
    stream.append(3.0, 3.5)
    stream.update()
    assert len(stream.open) == 1


def test_what_comes_while_a_frame_is_gathered_is_in_the_next(stream: Stream) -> None:
    for begin in (3.0, 4.0):
        stream.append(begin, begin + 0.5)
        stream.update()
    for end in (3.5, 4.5):
        assert len(stream.open) == 1
        stream.finish()
        assert stream.ends == pytest.approx(end)
    assert stream.open == []


def test_blocks_are_never_in_the_rows_of_others(stream: Stream) -> None:
    stream.append(3.0, 3.5)
    stream.update()
    stream.feed.workers("tcp://a0:1")  # above the others
    stream.update()
    assert set(data(stream.picture.work)["lane"]) == {2}
    assert stream.ends == pytest.approx(3.5)
    stream.finish()
    assert set(data(stream.picture.work)["lane"]) == {2}
    assert stream.ends == pytest.approx(3.5)


def test_blocks_of_a_frozen_picture_go_with_their_rows(stream: Stream) -> None:
    stream.view.command("freeze")
    stream.feed.workers("tcp://a0:1")
    stream.update()
    assert set(data(stream.picture.work)["lane"]) == {2}


def test_blocks_of_another_burst_go_with_the_words_of_its_zero(stream: Stream) -> None:
    stream.append(100.0, 101.0)
    stream.update()
    assert stream.open == []
    assert stream.ends == pytest.approx(1.0)


def test_a_frozen_picture_gets_the_frame_that_was_under_way_and_no_other(stream: Stream) -> None:
    stream.append(3.0, 3.5)
    stream.update()
    stream.view.command("freeze")
    stream.append(4.0, 4.5)
    stream.finish()
    assert stream.ends == pytest.approx(3.5)
    stream.finish()
    assert stream.open == []
    assert stream.ends == pytest.approx(3.5)


@pytest.mark.parametrize("verb", ["live", "zoom-out"])
def test_a_picture_that_is_frozen_right_after_it_moved_shows_where_it_moved_to(
    verb: str, stream: Stream
) -> None:
    move(stream.picture, start=0.5, end=0.6)
    stream.update()
    stream.finish()
    stream.append(3.0, 3.5)
    stream.update()  # a frame of the window of before is under way
    stream.view.command(verb)
    stream.view.command("freeze")
    for _ in range(3):
        stream.finish()
    assert stream.view._drawing is not None
    assert stream.view._drawing.covers(stream.view.window)
    assert stream.open == []


def test_a_fault_in_a_frozen_picture_does_not_leave_it_that_of_another_window(
    stream: Stream, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream.view.command("freeze")
    with monkeypatch.context() as patched:
        patched.setattr(frames, "gather", _fail)
        stream.view.command("zoom-in")
        with pytest.raises(ZeroDivisionError):
            stream.finish()
    stream.update()
    stream.finish()
    assert stream.view._drawing is not None
    assert stream.view._drawing.covers(stream.view.window)


def test_frames_do_not_pile_up_under_a_key_that_is_held(stream: Stream) -> None:
    stream.append(3.0, 3.5)
    for _ in range(20):
        stream.view.command("zoom-in")
        stream.view.command("zoom-out")
    stream.view.command("zoom-in")
    assert len(stream.open) == 1
    stream.finish()
    stream.finish()
    assert stream.view._drawing is not None
    assert stream.view._drawing.covers(stream.view.window)
    assert stream.open == []


def test_a_hand_gets_the_window_that_it_moved_to(stream: Stream) -> None:
    move(stream.picture, start=0.5, end=0.6)
    stream.update()
    stream.finish()
    assert stream.view._drawing is not None
    assert stream.view._drawing.covers(stream.view.window)
    assert stream.open == []


def test_a_hand_that_moves_a_frozen_picture_while_a_frame_is_under_way_is_followed(
    stream: Stream,
) -> None:
    stream.view.command("freeze")
    move(stream.picture, start=0.5, end=0.6)
    stream.update()
    move(stream.picture, start=0.7, end=0.75)
    stream.update()
    for _ in range(2):
        stream.finish()
    assert stream.view._drawing is not None
    assert stream.view._drawing.covers(stream.view.window)


def test_words_are_of_the_blocks_that_are_drawn(stream: Stream) -> None:
    words = stream.picture.title.text, stream.view.notice.note
    for _ in range(8):
        stream.view.command("pan-right")  # to where nothing is
    assert len(stream.open) == 1
    assert (stream.picture.title.text, stream.view.notice.note) == words
    assert stream.view.notice.empty == ""
    for _ in range(2):
        stream.finish()
    assert stream.view.notice.empty.startswith("Nothing ran in this stretch of time")


def test_a_frozen_picture_keeps_its_words(stream: Stream) -> None:
    title, note = stream.picture.title.text, stream.view.notice.note
    stream.view.command("freeze")
    stream.append(8.0, 9.0)
    stream.update()
    assert (stream.picture.title.text, stream.view.notice.note) == (title, note)
    assert stream.view.notice.behind_s > 0


def test_a_frozen_picture_that_is_moved_has_the_words_of_where_it_is(stream: Stream) -> None:
    note = stream.view.notice.note
    stream.view.command("freeze")
    stream.view.command("zoom-in")
    stream.finish()
    assert stream.view.notice.note != note


def test_the_legend_names_what_is_in_the_window(stream: Stream) -> None:
    stream.view.command("freeze")
    stream.feed.maker.action(3.0, 3.5, key="late-1", prefix="late")
    stream.feed.send(3.5)
    labels = data(stream.picture.legend)["label"]
    move(stream.picture, start=0.0, end=2.0)  # with the late one beside it
    stream.update()
    stream.finish()
    assert stream.ends == pytest.approx(3.5)
    assert data(stream.picture.legend)["label"] == labels


def test_a_fault_while_gathering_is_raised_once_and_then_all_is_gathered_anew(
    stream: Stream, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream.append(3.0, 3.5)
    with monkeypatch.context() as patched:
        patched.setattr(frames, "gather", _fail)
        stream.update()
        with pytest.raises(ZeroDivisionError):
            stream.finish()
    stream.update()
    stream.finish()
    assert stream.ends == pytest.approx(3.5)


def _fail(*_given: object) -> None:
    raise ZeroDivisionError
