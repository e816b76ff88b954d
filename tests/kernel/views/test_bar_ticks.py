"""Ticks below bars, in much room and in little."""

from __future__ import annotations

from dask_diag_lab.views.workers.bar_ticks import tick_labels


def test_ticks_whose_words_would_touch_leave_the_outer_two() -> None:
    ticks = [0.0, 50e3, 100e3]
    assert list(tick_labels(ticks, "rate", 400).values()) == ["0", "50 kB/s", "100 kB/s"]
    assert list(tick_labels(ticks, "rate", 70).values()) == ["0", "100 kB/s"]
    assert tick_labels([0.0], "number", 1) == {0.0: "0"}
