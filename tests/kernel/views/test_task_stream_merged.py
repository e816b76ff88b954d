"""The task stream where there is more than can be drawn: what is merged, widened and sent."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.simulator import Simulation
from benchmarks.stream_traffic import following
from dask_diag_lab.records import Kind, Outcome
from dask_diag_lab.store import Store
from dask_diag_lab.views.scripted import PlainRenderer, StreamMoves
from dask_diag_lab.views.stream.rects import (
    MAX_RECTS,
    MOVE_HEIGHT,
)
from dask_diag_lab.views.stream.task_stream import TaskStream
from tests.kernel.views.conftest import Feed
from tests.kernel.views.task_streams import built, data, many


def test_merging_is_said_and_bounded(feed: Feed) -> None:
    many(feed, 12_000)
    view, picture = built(feed)
    rects = picture.work.model.data
    assert 0 < len(rects["left"]) <= MAX_RECTS
    assert int(np.sum(rects["count"])) == 12_000
    assert "12\u202f000 actions" in view.notice.note
    assert "merged into" in view.notice.note
    view.command("fit")
    for _ in range(8):
        view.command("zoom-in")
    assert max(picture.work.model.data["count"]) == 1 or view.notice.note


def test_a_merged_rectangle_is_as_high_as_it_is_busy(feed: Feed) -> None:
    for index in range(12_000):
        feed.maker.action(index * 1e-3, index * 1e-3 + 5e-4, key=f"inc-{index}")
    feed.send(12)
    _, picture = built(feed)
    heights = picture.work.model.data["height"]
    assert heights[1:-1] == pytest.approx(0.4, abs=0.03)


def test_transfers_take_no_more_of_a_picture_zoomed_out_than_of_the_time(feed: Feed) -> None:
    for index in range(12_000):
        feed.maker.action(index, index + 0.996, key=f"inc-{index}")
        feed.maker.action(
            index + 0.996, index + 1, key=f"inc-{index}", kind=Kind.TRANSFER, source="tcp://w1:1"
        )
    feed.send(12_000)
    view, picture = built(feed)
    moves = {name: np.array(column) for name, column in data(picture.moves).items()}
    inked = (moves["right"] - moves["left"]) * moves["height"] / MOVE_HEIGHT
    assert moves["count"].max() > 1
    assert float(np.sum(inked)) == pytest.approx(12_000 * 0.004, rel=0.01)
    # Blocks of less than a pixel's width are painted as narrow as they are.
    drawn = [r for r in picture.figure.renderers if isinstance(r, PlainRenderer)]
    glyphs = [r.glyph for r in drawn if r.data_source is picture.moves.model]
    assert isinstance(glyphs[0], StreamMoves)
    assert "12\u202f000 transfers or disk accesses too short to see" in view.notice.note


def test_a_failed_task_stays_visible_however_small_and_the_note_says_so(feed: Feed) -> None:
    many(feed, 12_000)
    feed.maker.action(5.2, 5.2001, key="bad", outcome=Outcome.ERRED)
    feed.send(12)
    view, picture = built(feed)
    assert list(picture.erred.model.data["count"]) == [1]
    assert "1 failed task drawn wider" in view.notice.note


def test_a_task_widened_to_a_pixel_is_counted(feed: Feed) -> None:
    feed.maker.action(0, 0.001, key="short").action(1, 1000, key="long")
    feed.send(1000)
    view, _ = built(feed)
    assert view.notice.note == "1 short task drawn wider"


def test_nothing_is_said_of_blocks_that_are_drawn_as_they_are(feed: Feed) -> None:
    feed.maker.action(0, 1).action(1, 2, kind=Kind.TRANSFER, source="tcp://w1:1")
    feed.maker.action(2, 3, outcome=Outcome.ERRED)
    feed.send(3)
    view, _ = built(feed)
    assert view.notice.note == ""


def test_following_sends_only_what_is_new(feed: Feed) -> None:
    many(feed, 1000)
    view, picture = built(feed)
    feed.maker.action(1.0, 1.001, key="new-1").action(1.001, 1.002, key="new-2")
    feed.send(1.002)
    before = picture.work.sent_rows
    view.update()
    assert picture.work.sent_rows == before + 2
    assert len(picture.work.model.data["left"]) == 1002


def test_following_a_dense_run_stays_within_its_bytes() -> None:
    assert following(60) < 80_000  # 50 kB/s over two minutes, more while the run is young


def test_the_first_picture_of_a_large_history_is_small() -> None:
    store = Store()
    for batch in Simulation(n_workers=16, n_threads=4, n_tasks=100_000).batches():
        store.apply(batch)
    view = TaskStream(store)
    view.build()
    assert view.picture is not None
    assert view.picture.sent_bytes < 600_000
