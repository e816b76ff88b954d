"""Words of points over time: written once for each point, and again when it changed."""

from __future__ import annotations

import numpy as np
import pytest

from dask_diag_lab.views.point_words import PointWords, words_of
from dask_diag_lab.views.time_points import Points


def points(first: int, last: int, factor: float = 1.0) -> Points:
    """Return one point a second whose mean is its time."""
    times = np.arange(first, last, dtype=np.float64)
    return Points(times, times * factor, times - 1, times + 1)


class Written(PointWords):
    """Notes the times of the points that were written."""

    def __init__(self) -> None:
        self.times: list[float] = []
        super().__init__(self._note)

    def _note(self, time: float, mean: float, low: float, high: float) -> str:
        self.times.append(time)
        return f"{mean} {low} {high}"


def test_only_new_points_are_written() -> None:
    words = Written()
    words.of(points(0, 10))
    words.times.clear()
    assert words.of(points(4, 12)) == Written().of(points(4, 12))
    assert words.times == [10.0, 11.0]


@pytest.mark.parametrize("name", ["mean", "low", "high"])
def test_a_point_that_changed_is_written_again(name: str) -> None:
    words, changed = Written(), points(0, 5)
    words.of(points(0, 5))
    words.times.clear()
    getattr(changed, name)[3] = 99.0
    assert words.of(changed) == Written().of(changed)
    assert words.times == [3.0]


def test_points_that_are_not_known_stay_as_they_are() -> None:
    words, unknown = Written(), points(0, 5, np.nan)
    words.of(unknown)
    words.times.clear()
    words.of(unknown)
    assert words.times == []


def test_points_between_those_of_before_are_written() -> None:
    words, every_second = Written(), np.arange(0, 10, 2)
    whole = points(0, 10)
    words.of(Points(*(getattr(whole, n)[every_second] for n in ("times", "mean", "low", "high"))))
    words.times.clear()
    assert words.of(whole) == Written().of(whole)
    assert words.times == [1.0, 3.0, 5.0, 7.0, 9.0]


def test_a_band_is_said_where_there_is_one() -> None:
    said = words_of("CPU", lambda value: f"{value:g} %")
    data = Points(np.arange(2.0), np.array([5.0, 5.0]), np.array([4.0, 5.0]), np.array([6.0, 5.0]))
    assert said.of(data) == ["CPU 5 % (4 % to 6 %)", "CPU 5 %"]
