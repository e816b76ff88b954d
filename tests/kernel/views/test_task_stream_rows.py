"""Rows of a task stream: labels drop out before data does."""

from __future__ import annotations

import numpy as np
import pytest

from dask_diag_lab.views.stream.rows import (
    ThreadTime,
    WorkerRows,
    label_width,
    row_labels,
    rows_that_fit,
    separators,
    visible_lanes,
)

ALIVE = np.nan
WORKERS = [WorkerRows(f"worker {i}", 2 * i, 2, ALIVE) for i in range(10)]


def test_high_rows_name_the_worker_once_and_number_its_threads() -> None:
    labels = row_labels(WORKERS[:2], 20, 30)
    assert labels == {0.0: "worker 0 · 1", 1.0: "2", 2.0: "worker 1 · 1", 3.0: "2"}


def test_lower_rows_have_the_workers_name_in_their_middle() -> None:
    assert row_labels(WORKERS[:2], 8, 30) == {0.5: "worker 0", 2.5: "worker 1"}


def test_labels_of_thin_rows_keep_their_distance() -> None:
    positions = sorted(row_labels(WORKERS, 2, 30))
    assert min(np.diff(positions)) * 2 >= 14


def test_a_narrow_picture_has_no_labels_and_short_ones_before() -> None:
    assert row_labels(WORKERS, 20, label_width(200)) == {}
    assert row_labels(WORKERS[:1], 8, 4) == {0.5: "0"}


def test_a_worker_that_left_is_marked_in_its_label() -> None:
    gone = [WorkerRows("worker 0", 0, 1, 5.0)]
    assert row_labels(gone, 20, 30) == {0.0: "✕ worker 0"}


def test_workers_are_divided_by_lines_between_them() -> None:
    assert separators(WORKERS[:3]) == [1.5, 3.5]


@pytest.mark.parametrize(("n_rows", "height", "fit"), [(10, 400, 10), (4000, 400, 100), (5, 2, 1)])
def test_rows_never_become_thinner_than_can_be_seen(n_rows: int, height: int, fit: int) -> None:
    assert rows_that_fit(n_rows, height) == fit


def test_only_rows_near_the_visible_ones_are_asked_for() -> None:
    assert visible_lanes(-0.5, 9.5, 10) is None
    lanes = visible_lanes(99.5, 199.5, 4000)
    assert lanes is not None
    assert (lanes[0], lanes[-1]) == (0, 299)


def test_thread_time_ends_with_the_worker_and_counts_visible_rows_only() -> None:
    workers = [WorkerRows("a", 0, 2, ALIVE), WorkerRows("b", 2, 2, 4.0)]
    assert ThreadTime(workers).seconds(0, 10, 0, 3) == 2 * 10 + 2 * 4
    assert ThreadTime(workers).seconds(0, 10, 1, 2) == 10 + 4


def test_threads_of_workers_that_had_left_before_are_not_counted() -> None:
    workers = [WorkerRows("a", 0, 2, ALIVE), WorkerRows("b", 2, 2, 4.0)]
    assert ThreadTime(workers).count(3.0) == 4
    assert ThreadTime(workers).count(5.0) == 2
    assert ThreadTime(workers).count(3.0, 1, 2) == 2
    assert ThreadTime(workers).count(3.0, 2.5, 9) == 1
