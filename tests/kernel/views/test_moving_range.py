"""The range of time of a picture: who moves it, and when it moves on again."""

from __future__ import annotations

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


def test_held_it_stays_until_it_is_released() -> None:
    time = MovingRange()
    time.hold(1, 2)
    time.follow(0, 20)
    assert time.place == (1, 2)
    time.release()
    time.follow(0, 20)
    assert time.place == (0, 20)


def test_what_is_no_stretch_of_time_is_not_taken_over() -> None:
    time = MovingRange()
    time.follow(0, 10)
    time.model.update(start=4, end=2)
    time.follow(0, 20)
    assert time.place == (time.start, time.end) == (0, 20)
