"""The table of a task stream: every action of its window, not merged blocks."""

from __future__ import annotations

import threading
from datetime import UTC, datetime

import numpy as np
import pytest

from dask_diag_lab.schema import Kind, Outcome
from dask_diag_lab.store import History
from dask_diag_lab.views.stream.task_stream import TaskStream
from tests.kernel.store.batches import T0
from tests.kernel.views.conftest import Feed
from tests.kernel.views.task_streams import built, many


def iso(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).isoformat()


def test_the_table_has_every_action_and_works_without_a_picture(feed: Feed) -> None:
    feed.maker.action(0, 1, nbytes=10).action(1, 3, outcome=Outcome.ERRED, thread=2)
    feed.maker.action(0.5, 1, kind=Kind.DISK_READ)
    feed.send(5, running=[("slow-1", "tcp://w1:1", "slow", 3.0)])
    columns = TaskStream(feed.live).table().columns
    assert columns["t"] == pytest.approx([0, 0.5, 1, 3])
    assert columns["duration"] == pytest.approx([1, 0.5, 2, 2])
    assert columns["kind"] == ["compute", "disk-read", "compute", "compute"]
    assert columns["outcome"] == ["ok", "ok", "erred", "running"]
    assert columns["worker"] == ["w0:1", "w0:1", "w0:1", "w1:1"]
    assert columns["prefix"] == ["inc", "inc", "inc", "slow"]
    assert columns["nbytes"][0] == 10
    for name, waited_s in (("ready", 0.03), ("assigned", 0.002)):
        assert columns[name][2] == pytest.approx(T0 + 1 - waited_s, abs=1e-6)
        assert np.isnan(columns[name][3])  # it runs
    assert [columns["key"][i] for i in (0, 3)] == ["inc-0", "slow-1"]


def test_merged_tasks_are_all_in_the_table_and_its_note_is_not_the_pictures(feed: Feed) -> None:
    many(feed, 12_000)
    feed.send(13, left_out={"running": 2})
    view, _ = built(feed)
    assert "merged into" in view.caption.note
    table = view.table()
    assert len(table.columns["key"]) == 12_000
    assert table.note == "2 running tasks not shown: too many at once"


def test_a_zoomed_picture_has_the_table_of_its_window_also_for_who_asks_by_arguments(
    feed: Feed,
) -> None:
    feed.maker.action(0, 1, key="early").action(10, 11, key="late")
    feed.send(11)
    view, figure = built(feed)
    assert view.table_arguments == {}
    view.window.hold(T0 + 9, T0 + 12)
    assert view.table().columns["key"] == ["late"]
    asked = TaskStream(feed.live, arguments=view.table_arguments)
    assert asked.table().columns["key"] == ["late"]
    assert asked.table().columns["t"] == pytest.approx([10])
    view.show({"start": f"{T0}", "stop": f"{T0 + 2}"})
    view.update()
    assert figure.times == pytest.approx((0.0, 2.0))


def test_count_is_of_tasks_the_last_or_the_first_after_a_start(feed: Feed) -> None:
    for start in range(5):
        feed.maker.action(start, start + 1)
    feed.send(5)
    both = {"start": f"{T0}", "stop": f"{T0 + 9}"}
    table = TaskStream(feed.live, arguments={"count": "2"}).table()
    assert table.columns["t"] == pytest.approx([3, 4])
    assert table.note == "2 of 5 tasks"
    table = TaskStream(feed.live, arguments={"count": "2", "start": f"{T0 + 1.5}"}).table()
    assert table.columns["t"] == pytest.approx([1, 2])
    assert TaskStream(feed.live, arguments={"count": "1", **both}).table().note == ""


@pytest.mark.parametrize("start", [f"{T0 + 2.5}", "-2.5s", "2500 ms", iso(T0 + 2.5)])
def test_a_time_is_told_in_three_ways(feed: Feed, start: str) -> None:
    feed.maker.action(0, 1).action(3, 4)
    feed.send(5)
    assert TaskStream(feed.live, arguments={"start": start}).table().columns["start"] == [T0 + 3]


def test_a_table_is_made_in_another_thread_of_what_there_was_when_it_was_asked_for(
    feed: Feed,
) -> None:
    many(feed, 100)
    job = TaskStream(feed.live).table_job()
    feed.workers("tcp://a0:1")  # rows move
    many(feed, 100)
    made: list[list[str]] = []
    thread = threading.Thread(target=lambda: made.append(list(job().columns["worker"])))
    thread.start()
    thread.join()
    assert made == [["w0:1"] * 100]


def test_a_table_has_the_keys_of_tasks_that_the_log_gives_up_before_it_is_made() -> None:
    feed = Feed()
    feed.live.history = History(max_actions=160)
    many(feed, 100)
    job = TaskStream(feed.live).table_job()
    many(feed, 9000)
    assert list(job().columns["key"]) == [f"inc-{index}" for index in range(100)]
