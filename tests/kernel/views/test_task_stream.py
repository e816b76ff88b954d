"""The task stream, read from the columns that it would send."""

from __future__ import annotations

import pytest

from dask_diag_lab.records import Kind, Outcome
from dask_diag_lab.views.look import DARK
from dask_diag_lab.views.stream.rects import (
    ERRED_CODE,
    KILLED_CODE,
    TRANSFER_CODE,
)
from tests.kernel.store.batches import T0
from tests.kernel.views.conftest import Feed
from tests.kernel.views.task_streams import built, data


def test_before_the_first_task_it_says_so_and_draws_nothing(feed: Feed) -> None:
    view, picture = built(feed)
    assert "No task has finished yet" in view.notice.empty
    assert len(picture.work.model.data["left"]) == 0


def test_without_workers_it_says_to_start_some() -> None:
    view, _ = built(Feed())
    assert "no workers" in view.notice.empty


def test_a_task_is_a_rectangle_in_its_threads_row_from_the_start_of_the_run(feed: Feed) -> None:
    feed.maker.action(5, 5.5, worker="tcp://w1:1", thread=9, prefix="inc", nbytes=100)
    feed.send(6)
    view, picture = built(feed)
    rect = data(picture.work)
    assert rect["left"] == [0.0]
    assert rect["right"] == [0.5]
    assert rect["lane"] == [2]
    assert rect["nbytes"] == [100.0]
    assert view.notice.empty == ""
    assert data(picture.keys)["key"] == ["inc-0"]
    assert "inc" in data(picture.texts)["text"]


def test_transfers_are_drawn_apart_at_half_height_below_the_middle(feed: Feed) -> None:
    feed.maker.action(0, 1, prefix="sum")
    feed.maker.action(0.2, 0.4, kind=Kind.TRANSFER, prefix="sum", source="tcp://w1:1")
    feed.send(1)
    _, picture = built(feed)
    transfer = data(picture.moves)
    assert transfer["code"] == [TRANSFER_CODE]
    assert transfer["height"] == pytest.approx([0.4])
    assert transfer["y"] == pytest.approx([0.2])
    assert "tcp://w1:1" in data(picture.texts)["text"]
    assert data(picture.work)["height"] == pytest.approx([0.8])


def test_failed_and_killed_tasks_have_marks_of_their_own(feed: Feed) -> None:
    feed.maker.action(0, 1, outcome=Outcome.ERRED)
    feed.maker.action(0, 2, outcome=Outcome.KILLED, thread=2)
    feed.send(2)
    _, picture = built(feed)
    assert data(picture.erred)["code"] == [ERRED_CODE]
    assert data(picture.killed)["code"] == [KILLED_CODE]
    assert data(picture.work)["left"] == []
    assert set(data(picture.legend)["label"]) == {"failed", "worker died"}


def test_prefixes_get_colours_in_order_of_first_appearance(feed: Feed) -> None:
    for index, name in enumerate("abc"):
        feed.maker.action(index, index + 1, prefix=name)
    feed.send(3)
    _, picture = built(feed)
    assert data(picture.work)["code"] == [0, 1, 2]
    assert data(picture.legend)["label"] == ["a", "b", "c"]


def test_running_tasks_grow_with_time_and_carry_their_key(feed: Feed) -> None:
    feed.maker.action(0, 1)
    feed.send(4, running=[("slow-1", "tcp://w0:1", "slow", 2.0)])
    view, picture = built(feed)
    assert data(picture.running)["key"] == ["slow-1"]
    assert data(picture.facts)["now"] == [4.0]
    feed.now += 3
    feed.send(8, running=[("slow-1", "tcp://w0:1", "slow", 2.0)])
    feed.maker.action(6, 7)
    feed.send(8)
    view.update()
    assert data(picture.facts)["now"] == [8.0]
    assert view.window.end >= T0 + 8


def test_a_dead_workers_rows_end_with_a_mark(feed: Feed) -> None:
    feed.maker.action(0, 1).action(0, 1, worker="tcp://w1:1")
    feed.send(3, removed_workers=["tcp://w1:1"])
    _, picture = built(feed)
    gone = data(picture.marks.gone)
    assert gone["left"] == [3.0]
    assert (gone["top"], gone["bottom"]) == ([1.5], [3.5])
    assert any("✕" in str(label) for label in picture.row_axis.major_label_overrides.values())


def test_nothing_is_sent_when_nothing_changed(feed: Feed) -> None:
    feed.maker.action(0, 1)
    feed.send(1)
    view, picture = built(feed)
    events: list[object] = []
    document = picture.figure.document
    assert document is not None
    document.on_change(events.append)
    before = picture.sent_bytes
    for _ in range(3):
        feed.now += 0.25
        view.update()
    assert picture.sent_bytes == before
    assert events == []


def test_busy_share_counts_every_visible_thread(feed: Feed) -> None:
    feed.maker.action(0, 10).action(0, 10, thread=2).action(0, 5, worker="tcp://w1:1")
    feed.maker.action(5, 10, worker="tcp://w1:1", kind=Kind.TRANSFER)
    feed.send(10)
    _, picture = built(feed)
    title = str(picture.title.text)
    assert title.split("  ·  ")[1:] == ["4 threads", "63 % computing", "12 % transfer", "25 % idle"]


def test_what_moves_while_a_thread_computes_counts_once(feed: Feed) -> None:
    feed.maker.action(0, 10).action(0, 10, thread=2)
    feed.maker.action(0, 10, worker="tcp://w1:1").action(0, 10, worker="tcp://w1:1", thread=2)
    feed.maker.action(2, 6, kind=Kind.TRANSFER)
    feed.send(10)
    _, picture = built(feed)
    shown = str(picture.title.text).split("  ·  ")[2:]
    assert shown == ["100 % computing", "0 % idle"]


def test_lost_and_evicted_actions_and_degradation_are_said(feed: Feed) -> None:
    feed.maker.action(0, 1)
    feed.send(1, actions_dropped=7, degraded="The scheduler forbids plugins.")
    view, _ = built(feed)
    assert "7 actions lost" in view.notice.note
    assert "forbids plugins" in view.notice.note


def test_restyling_sends_colours_but_no_data(feed: Feed) -> None:
    feed.maker.action(0, 1)
    feed.send(1)
    view, picture = built(feed)
    before = picture.sent_bytes
    view.look = DARK
    view.restyle()
    assert picture.sent_bytes == before
    assert picture.figure.background_fill_color == DARK.background


def test_odd_keys_are_kept_as_they_are(feed: Feed) -> None:
    key = "('<b>x</b>', \"quote'\", b'\\xff/..')" + "k" * 400
    feed.maker.action(0, 1, key=key, prefix="<script>")
    feed.send(1)
    view, picture = built(feed)
    assert data(picture.keys)["key"] == [key]
    assert view.table().columns["key"] == [key]


def test_a_closed_view_ignores_updates(feed: Feed) -> None:
    view, _ = built(feed)
    view.close()
    view.close()
    view.update()
