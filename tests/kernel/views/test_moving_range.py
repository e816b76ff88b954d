"""The range of time of a picture: who moves it, and when it moves on again."""

from __future__ import annotations

from dask_diag_lab.views.time_axis import MovingRange


def test_what_is_no_stretch_of_time_is_not_taken_over() -> None:
    time = MovingRange()
    time.follow(0, 10)
    time.model.update(start=4, end=2)
    time.follow(0, 20)
    assert time.place == (time.start, time.end) == (0, 20)
