"""The rule of the memory bars' colours, situation by situation."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from dask_diag_lab.views.workers.memory_colors import (
    MemoryLevel,
    critical_share,
    level_words,
    marks,
    memory_levels,
    spill_share,
    worst,
)

DEFAULT: Mapping[str, float | None] = {
    "target": 0.6,
    "spill": 0.7,
    "pause": 0.8,
    "terminate": 0.95,
}
OFF: Mapping[str, float | None] = dict.fromkeys(DEFAULT)


def level(
    process: int,
    limit: int = 100,
    status: str = "running",
    thresholds: Mapping[str, float | None] = DEFAULT,
) -> MemoryLevel:
    found = memory_levels(np.array([process]), np.array([limit]), [status], thresholds)
    return MemoryLevel(int(found[0]))


@pytest.mark.parametrize(
    ("process", "expected"),
    [
        (0, MemoryLevel.NORMAL),
        (59, MemoryLevel.NORMAL),
        (60, MemoryLevel.MAY_SPILL),
        (94, MemoryLevel.MAY_SPILL),
        (95, MemoryLevel.CRITICAL),
        (120, MemoryLevel.CRITICAL),
    ],
)
def test_thresholds_are_reached_at_their_exact_value(process: int, expected: MemoryLevel) -> None:
    assert level(process) is expected


@pytest.mark.parametrize("status", ["paused", "closing_gracefully", "closing", "init"])
def test_worker_that_does_not_run_is_critical_whatever_its_memory(status: str) -> None:
    assert level(1, status=status) is MemoryLevel.CRITICAL
    assert level(1, limit=0, status=status) is MemoryLevel.CRITICAL


def test_worker_without_limit_is_normal() -> None:
    assert level(10**12, limit=0) is MemoryLevel.NORMAL


def test_no_limit_and_no_spilling_together_are_computed_without_a_warning() -> None:
    with np.errstate(all="raise"):
        assert level(10**12, limit=0, thresholds=OFF) is MemoryLevel.NORMAL


def test_spill_counts_when_target_is_off() -> None:
    assert level(65, thresholds={**DEFAULT, "target": None}) is MemoryLevel.NORMAL
    assert level(70, thresholds={**DEFAULT, "target": None}) is MemoryLevel.MAY_SPILL


def test_no_spilling_means_no_orange_and_no_terminate_means_red_at_the_limit() -> None:
    assert level(99, thresholds=OFF) is MemoryLevel.NORMAL
    assert level(100, thresholds=OFF) is MemoryLevel.CRITICAL
    assert spill_share(OFF) == float("inf")
    assert critical_share(OFF) == 1.0


def test_terminate_above_the_limit_is_the_limit() -> None:
    assert critical_share({**DEFAULT, "terminate": 2.0}) == 1.0


def test_worst_of_none_is_normal() -> None:
    assert worst(np.empty(0, dtype=np.uint8)) is MemoryLevel.NORMAL
    assert worst(np.array([0, 1, 0], dtype=np.uint8)) is MemoryLevel.MAY_SPILL


def test_levels_have_words() -> None:
    assert level_words(0, "running", DEFAULT) == ""
    assert level_words(1, "running", DEFAULT) == "may spill to disk"
    assert level_words(2, "running", DEFAULT) == "about to be restarted"
    assert level_words(2, "running", OFF) == "at its memory limit"
    assert level_words(2, "closing_gracefully", DEFAULT) == "closing gracefully"


def test_marks_are_the_thresholds_that_are_on() -> None:
    assert marks({**DEFAULT, "spill": None, "terminate": 1.5}) == [("target", 0.6), ("pause", 0.8)]
