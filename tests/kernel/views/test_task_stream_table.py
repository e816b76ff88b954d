"""The table of a task stream: every action, not merged rectangles."""

from __future__ import annotations

import numpy as np
import pytest

from dask_diag_lab.records import Kind, Outcome
from dask_diag_lab.views.stream import history as history_module
from dask_diag_lab.views.stream.history import history
from dask_diag_lab.views.stream.task_stream import TaskStream
from tests.kernel.store.batches import T0
from tests.kernel.views.conftest import Feed


def test_the_table_has_every_action_and_works_without_a_picture(feed: Feed) -> None:
    feed.maker.action(0, 1, nbytes=10).action(1, 3, outcome=Outcome.ERRED, thread=2)
    feed.maker.action(0.5, 1, kind=Kind.DISK_READ)
    feed.send(5, running=[("slow-1", "tcp://w1:1", "slow", 3.0)])
    columns = TaskStream(feed.store).table().columns
    assert columns["t"] == pytest.approx([0, 0.5, 1, 3])
    assert columns["duration"] == pytest.approx([1, 0.5, 2, 2])
    assert columns["kind"] == ["compute", "disk-read", "compute", "compute"]
    assert columns["outcome"] == ["ok", "ok", "erred", "running"]
    assert columns["worker"] == ["w0:1", "w0:1", "w0:1", "w1:1"]
    assert columns["prefix"] == ["inc", "inc", "inc", "slow"]
    assert columns["nbytes"][0] == 10
    assert columns["key"][3] == "slow-1"
    assert columns["key"][0] == "inc-0"
    assert len({len(column) for column in columns.values()}) == 1


def test_merged_tasks_are_all_in_the_table(feed: Feed) -> None:
    for index in range(12_000):
        feed.maker.action(index * 1e-3, index * 1e-3 + 9e-4, key=f"inc-{index}")
    feed.send(12)
    view = TaskStream(feed.store)
    view.build()
    assert len(view.table().columns["key"]) == 12_000


def test_the_table_says_nothing_of_the_picture_and_all_that_is_not_in_it(
    feed: Feed, monkeypatch: pytest.MonkeyPatch
) -> None:
    for index in range(12_000):
        feed.maker.action(index * 1e-3, index * 1e-3 + 9e-4, key=f"inc-{index}")
    feed.send(12)
    view = TaskStream(feed.store)
    view.build()
    assert "merged into" in view.notice.note
    view.table()
    assert view.notice.note == ""
    feed.send(13, left_out={"running": 2, "addresses": 1})
    monkeypatch.setattr(history_module, "MAX_ROWS", 100)
    view = TaskStream(feed.store)
    view.build()
    view.table()
    assert view.notice.note == (
        "the newest 100 of 12\u202f000 actions; zoom in for the others · "
        "1 task of the worker (other): too many different workers · "
        "2 running tasks not shown: too many at once"
    )


def test_a_zoomed_picture_has_a_table_of_its_window(feed: Feed) -> None:
    feed.maker.action(0, 1, key="early").action(10, 11, key="late")
    feed.send(11)
    view = TaskStream(feed.store)
    view.build()
    view.window.hold(T0 + 9, T0 + 12)
    assert view.table().columns["key"] == ["late"]
    assert view.table().columns["t"] == pytest.approx([10])


def test_an_unchanged_table_is_made_once(feed: Feed) -> None:
    feed.maker.action(0, 1)
    feed.send(1)
    view = TaskStream(feed.store)
    first = view.table()
    assert view.table() is first
    feed.maker.action(1, 2)
    feed.send(2)
    assert len(view.table().columns["t"]) == 2


def test_a_bounded_table_keeps_the_newest_and_says_so(
    feed: Feed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history_module, "MAX_ROWS", 2)
    for start in range(5):
        feed.maker.action(start, start + 1)
    feed.send(5)
    table, note = history(feed.store, -np.inf, np.inf)
    assert table.columns["t"] == pytest.approx([3, 4])
    assert note.startswith("the newest 2 of 5 actions")


def test_a_table_without_any_action_has_its_columns(feed: Feed) -> None:
    table, note = history(feed.store, -np.inf, np.inf)
    assert table.columns["key"] == []
    assert note == ""
