"""The range of time of a picture: who moves it, and when it moves on again."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from dask_diag_lab.views.time_axis import MovingRange


def test_it_moves_on_with_the_data() -> None:
    time = MovingRange()
    time.follow(0, 10)
    time.follow(5, 15)
    assert time.place == (time.start, time.end) == (5, 15)


def test_where_the_reader_moved_it_it_stays_and_tells_how_far_the_data_is_ahead() -> None:
    time = MovingRange()
    time.follow(0, 10)
    time.model.update(start=2, end=4)
    for end in (20, 30):
        time.follow(0, end)
    assert time.place == (time.start, time.end) == (2, 4)
    assert (time.behind_s(30), time.behind_s(3)) == (26, 0)


def test_released_it_moves_on_even_if_nobody_has_seen_that_it_was_moved() -> None:
    time = MovingRange()
    time.follow(0, 10)
    time.model.update(start=2, end=4)
    time.release()
    time.follow(0, 20)
    assert time.place == (0, 20)


def test_moving_a_picture_before_there_is_data_holds_nothing() -> None:
    time = MovingRange()
    time.model.update(start=2, end=4)
    time.follow(0, 20)
    assert time.place == (0, 20)


def test_held_it_stays_until_it_is_released() -> None:
    time = MovingRange()
    time.hold(1, 2)
    time.follow(0, 20)
    assert time.place == (1, 2)
    time.release()
    time.follow(0, 20)
    assert time.place == (0, 20)


@pytest.mark.parametrize(("start", "end"), [(4, 4), (4, 2), (datetime(2026, 1, 1, tzinfo=UTC), 4)])
def test_what_is_no_stretch_of_time_is_not_taken_over(start: float, end: float) -> None:
    time = MovingRange()
    time.follow(0, 10)
    time.model.update(start=start, end=end)
    time.follow(0, 20)
    assert time.place == (time.start, time.end) == (0, 20)
