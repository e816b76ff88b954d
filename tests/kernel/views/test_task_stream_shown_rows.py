"""Which workers have rows in a task stream of some stretch of time."""

from __future__ import annotations

import numpy as np
import pytest
from bokeh.document import Document

from dask_diag_lab.views.stream.rows import WorkerRows
from dask_diag_lab.views.stream.shown_rows import RowChoice
from dask_diag_lab.views.stream.task_stream import TaskStream
from tests.kernel.store.batches import T0
from tests.kernel.views.conftest import Feed

WORKERS = [
    WorkerRows("alive", 0, 2, np.nan, joined=0.0),
    WorkerRows("gone", 2, 3, 10.0, joined=5.0),
    WorkerRows("young", 5, 1, np.nan, joined=100.0),
]


def test_a_worker_that_is_alive_always_has_its_rows_in_a_live_picture() -> None:
    rows = RowChoice(WORKERS).between(0, 1, is_live=True)
    assert [worker.label for worker in rows.workers] == ["alive", "young"]


def test_a_stretch_of_the_past_has_no_rows_for_who_came_later() -> None:
    rows = RowChoice(WORKERS).between(0, 1, is_live=False)
    assert [worker.label for worker in rows.workers] == ["alive"]
    assert rows.n_hidden == 2


@pytest.mark.parametrize(
    ("begin", "end", "has_rows"),
    [(0, 4, False), (0, 5, True), (6, 7, True), (10, 20, True), (11, 20, False)],
)
def test_a_worker_that_is_gone_has_rows_where_it_lived(
    begin: float, end: float, has_rows: bool
) -> None:
    rows = RowChoice(WORKERS).between(begin, end, is_live=True)
    assert ("gone" in [worker.label for worker in rows.workers]) is has_rows
    assert rows.n_hidden == (0 if has_rows else 1)


def test_rows_below_move_up_and_lanes_are_found_by_row() -> None:
    rows = RowChoice(WORKERS).between(20, 30, is_live=True)
    assert rows.count == 3
    assert rows.lanes.tolist() == [0, 1, 5]
    assert rows.row_of.tolist() == [0, 1, -1, -1, -1, 2]
    assert rows.workers[1].first == 2


def test_rows_stay_the_same_object_while_nothing_changes() -> None:
    choice = RowChoice(WORKERS)
    assert choice.between(20, 30, is_live=True) is choice.between(25, 35, is_live=True)


def test_the_worker_of_a_position_is_found_between_its_edges() -> None:
    rows = RowChoice(WORKERS).between(0, 200, is_live=True)
    found = [rows.worker_at(at) for at in (-0.6, -0.4, 1.4, 1.6, 5.4, 5.6)]
    assert [worker and worker.label for worker in found] == [
        *(None, "alive", "alive", "gone", "young", None)
    ]


def test_a_dead_workers_rows_leave_the_picture_with_its_last_task() -> None:
    feed = Feed().workers("tcp://w0:1", "tcp://w1:1", "tcp://w2:1")
    for name in ("w0", "w1", "w2"):
        feed.maker.action(0, 1, worker=f"tcp://{name}:1", key=name)
    feed.send(2, removed_workers=["tcp://w1:1"])
    feed.maker.action(100, 101, worker="tcp://w2:1", key="late")
    feed.send(101)
    view = TaskStream(feed.store)
    Document().add_root(view.build())
    assert view.picture is not None
    assert view.picture.y_range.bounds == (-0.5, 3.5)
    assert list(view.picture.work.model.data["lane"]) == [2]
    assert "1 more worker had no part" in view.notice.note
    view.window.hold(T0, T0 + 102)
    view.update()
    assert view.picture.y_range.bounds == (-0.5, 5.5)
    assert sorted(view.picture.work.model.data["lane"]) == [0, 2, 4, 4]


def test_many_rows_scroll_and_the_note_says_which_are_visible() -> None:
    feed = Feed().workers(*(f"tcp://w{i}:1" for i in range(400)))
    feed.maker.action(0, 1)
    feed.send(1)
    view = TaskStream(feed.store)
    view.build()
    assert view.picture is not None
    top, bottom = view.picture.rows
    assert f"rows 1–{bottom - top:.0f} of 800" in view.notice.note
