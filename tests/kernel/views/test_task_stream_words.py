"""What a task stream says about what it cannot show, and about threads that came late."""

from __future__ import annotations

import time

from dask_diag_lab.views.pane_size import PaneSize
from dask_diag_lab.views.stream import words
from dask_diag_lab.views.stream.rects import Share
from dask_diag_lab.views.stream.rows import ThreadTime, WorkerRows
from dask_diag_lab.views.stream.task_stream import TaskStream
from tests.kernel.store.batches import T0, BatchMaker, worker_row
from tests.kernel.views.conftest import Feed


def note_of(feed: Feed) -> str:
    view = TaskStream(feed.store)
    view.build()
    return view.notice.note


def clock(at: float, form: str = "%Y-%m-%d %H:%M:%S") -> str:
    return time.strftime(form, time.localtime(T0 + at))


def restarted(feed: Feed, began: float) -> None:
    """Let another collector of the same scheduler begin, ``began`` seconds after `T0`."""
    feed.maker = BatchMaker(epoch="2")
    feed.send(began + 1, began=T0 + began, workers=[worker_row("tcp://w0:1")])


def test_a_stretch_that_nobody_recorded_is_said(feed: Feed) -> None:
    feed.maker.action(0, 9)
    feed.send(10)
    assert "recorded" not in note_of(feed)
    restarted(feed, 80)
    assert f"nothing was recorded from {clock(10)} to {clock(80)}" in note_of(feed)


def test_a_short_stretch_is_said_with_its_length(feed: Feed) -> None:
    feed.send(10)
    restarted(feed, 10.25)
    assert f"nothing was recorded for 250 ms at {clock(10)}" in note_of(feed)


def test_what_the_bounds_leave_out_is_said(feed: Feed) -> None:
    feed.maker.action(0, 1)
    feed.send(1, left_out={"names": 3, "addresses": 0, "running": 1})
    note = note_of(feed)
    assert "3 tasks shown as (other): too many different names" in note
    assert "1 running task not shown: too many at once" in note
    assert "workers" not in note


def test_threads_count_as_idle_only_since_their_worker_joined(feed: Feed) -> None:
    feed.maker.action(0, 20).action(0, 20, thread=2)
    feed.maker.action(0, 20, worker="tcp://w1:1").action(0, 20, worker="tcp://w1:1", thread=2)
    feed.send(10, workers=[worker_row("tcp://w2:1")])
    feed.maker.action(10, 20, worker="tcp://w2:1").action(10, 20, worker="tcp://w2:1", thread=2)
    feed.send(20)
    view = TaskStream(feed.store)
    view.build()
    assert view.picture is not None
    assert "100 % computing" in str(view.picture.title.text)


def test_thread_time_begins_with_the_worker() -> None:
    workers = [WorkerRows("a", 0, 2, float("nan"), joined=6.0)]
    assert ThreadTime(workers).seconds(0, 10, 0, 1) == 2 * 4
    assert ThreadTime(workers).seconds(0, 5, 0, 1) == 0


def test_a_title_fits_its_pane() -> None:
    share = Share(busy=0.95, moving=0.0, disk=0.0, idle=0.05)
    titles = {width: words.title(share, (4, 4), PaneSize(width, 300)) for width in (140, 190, 320)}
    assert titles == {
        140: "95 % computing",
        190: "95 % computing",
        320: "95 % computing  ·  5.0 % idle",
    }
