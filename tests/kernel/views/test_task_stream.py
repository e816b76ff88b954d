"""The task stream, read from the columns that it would send."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from bokeh.document import Document

from benchmarks.simulator import Simulation
from benchmarks.stream_traffic import following
from dask_diag_lab.records import Kind, Outcome
from dask_diag_lab.store import Store
from dask_diag_lab.views.look import DARK
from dask_diag_lab.views.scripted import PlainRenderer, StreamMoves
from dask_diag_lab.views.stream.picture import Picture
from dask_diag_lab.views.stream.rects import (
    ERRED_CODE,
    KILLED_CODE,
    MAX_RECTS,
    MOVE_HEIGHT,
    TRANSFER_CODE,
)
from dask_diag_lab.views.stream.task_stream import TaskStream
from tests.kernel.store.batches import T0
from tests.kernel.views.conftest import Feed


def built(feed: Feed) -> tuple[TaskStream, Picture]:
    """Return a built stream in a document, as a page has it."""
    view = TaskStream(feed.store)
    Document().add_root(view.build())
    assert view.picture is not None
    return view, view.picture


def move(picture: Picture, **ends: float) -> None:
    """Change the x or y range as a browser's patch does."""
    model = picture.y_range if "top" in ends else picture.x_range
    names = {"top": "end", "bottom": "start"}
    document = model.document
    assert document is not None
    events = [
        {"kind": "ModelChanged", "model": {"id": model.id}, "attr": names.get(n, n), "new": value}
        for n, value in ends.items()
    ]
    patch: Any = {"events": events}  # as parsed from JSON
    document.apply_json_patch(patch)


def data(source: Any) -> dict[str, list[Any]]:  # a Source; columns differ in type
    return {name: list(column) for name, column in source.model.data.items()}


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


def test_the_view_stays_where_the_reader_put_it_and_tells_how_far_live_is_ahead(
    feed: Feed,
) -> None:
    feed.maker.action(0, 4)
    feed.send(4)
    view, picture = built(feed)
    move(picture, start=1.0, end=2.0)
    feed.maker.action(5, 8)
    feed.send(8)
    view.update()
    assert picture.times == pytest.approx((1.0, 2.0))
    assert view.notice.behind_s == pytest.approx(6.0)
    view.command("live")
    assert picture.times[1] >= 8
    assert view.notice.behind_s == 0


def test_its_own_range_changes_and_their_echo_do_not_stop_it_from_following(feed: Feed) -> None:
    feed.maker.action(0, 4)
    feed.send(4)
    view, picture = built(feed)
    move(picture, start=picture.times[0], end=picture.times[1] + 1e-9)
    feed.maker.action(5, 40)
    feed.send(40)
    view.update()
    assert view.window.is_following
    assert picture.times[1] >= 40


def test_a_new_burst_starts_the_picture_anew_and_history_stays_reachable(feed: Feed) -> None:
    feed.maker.action(0, 1)
    feed.send(1)
    view, picture = built(feed)
    feed.maker.action(60, 61)
    feed.send(61)
    view.update()
    assert view.window.zero == T0 + 60
    view.command("fit")
    assert (view.window.zero, picture.times[0] < 0) == (T0, True)
    assert len(data(picture.work)["left"]) == 2


def test_a_picture_that_was_moved_is_frozen_where_it_is(feed: Feed) -> None:
    feed.maker.action(0, 4)
    feed.send(4)
    view, picture = built(feed)
    move(picture, start=1.0, end=2.0)
    told = [view.notice.is_frozen]
    view.command("freeze")
    told.append(view.notice.is_frozen)
    assert picture.times == pytest.approx((1.0, 2.0))
    view.command("clear")
    told.append(view.notice.is_frozen)
    assert told == [False, True, False]


def test_a_frozen_picture_takes_no_new_tasks(feed: Feed) -> None:
    feed.maker.action(0, 1)
    feed.send(1)
    view, picture = built(feed)
    view.command("freeze")
    feed.maker.action(1, 1.01, thread=2)
    feed.send(3)
    view.update()
    assert len(data(picture.work)["left"]) == 1
    assert view.notice.behind_s == pytest.approx(0.01)
    view.command("live")
    assert len(data(picture.work)["left"]) == 2


@pytest.mark.parametrize(
    ("verb", "factor", "shift"),
    [("zoom-in", 0.5, 0), ("zoom-out", 2, 0), ("pan-left", 1, -0.25), ("pan-right", 1, 0.25)],
)
def test_keys_zoom_and_pan(feed: Feed, verb: str, factor: float, shift: float) -> None:
    feed.maker.action(0, 10)
    feed.send(10)
    view, _ = built(feed)
    width, middle = view.window.width, (view.window.start + view.window.end) / 2
    view.command(verb)
    assert view.window.width == pytest.approx(width * factor)
    assert (view.window.start + view.window.end) / 2 == pytest.approx(middle + shift * width)
    assert not view.window.is_following


def test_clear_hides_what_was_until_fit(feed: Feed) -> None:
    feed.maker.action(0, 1)
    feed.send(2)
    view, picture = built(feed)
    view.command("clear")
    assert view.notice.empty.startswith("Cleared")
    feed.maker.action(3, 4)
    feed.send(4)
    view.update()
    assert view.notice.empty == ""
    assert view.window.start > T0 + 1
    view.command("fit")
    assert view.window.start < T0
    assert min(data(picture.work)["left"]) >= 0


@pytest.mark.parametrize("verb", ["fit", "pan-left"])
def test_the_axis_begins_anew_with_what_is_seen_of_earlier_bursts(feed: Feed, verb: str) -> None:
    feed.maker.action(0, 90)
    feed.maker.action(200, 210)
    feed.send(210)
    view, picture = built(feed)
    assert data(picture.facts)["zero"] == [T0 + 200]
    view.command("zoom-out")
    for _ in range(60):
        view.command(verb)
        if view.window.start <= T0 + 100:
            break
    assert data(picture.facts)["zero"] == [T0]
    start, end = picture.times
    assert end > 0
    assert start >= -0.02 * (end - start)


def test_a_verb_of_another_plot_is_ignored(feed: Feed) -> None:
    view, _ = built(feed)
    view.command("sort-by-name")
    assert view.window.is_following


def test_scrolled_rows_stay_and_do_not_stop_following() -> None:
    feed = Feed().workers(*(f"tcp://w{i}:1" for i in range(400)))
    feed.maker.action(0, 1)
    feed.send(1)
    view, picture = built(feed)
    top, bottom = picture.rows
    assert bottom - top < 800
    assert "scroll for more" in view.notice.note
    move(picture, bottom=bottom + 50, top=top + 50)
    feed.maker.action(1, 2)
    feed.send(2)
    view.update()
    assert picture.rows == (top + 50, bottom + 50)
    assert view.window.is_following


def _many(feed: Feed, n: int) -> None:
    for index in range(n):
        begin = index * 1e-3
        feed.maker.action(begin, begin + 9e-4, key=f"inc-{index}")
    feed.send(n * 1e-3)


def test_merging_is_said_and_bounded(feed: Feed) -> None:
    _many(feed, 12_000)
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
    _many(feed, 12_000)
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


def test_busy_share_counts_every_visible_thread(feed: Feed) -> None:
    feed.maker.action(0, 10).action(0, 10, thread=2).action(0, 5, worker="tcp://w1:1")
    feed.maker.action(5, 10, worker="tcp://w1:1", kind=Kind.TRANSFER)
    feed.send(10)
    _, picture = built(feed)
    title = str(picture.title.text)
    assert title.split("  ·  ")[1:] == ["4 threads", "62 % computing", "12 % transfer", "25 % idle"]


def test_lost_and_evicted_actions_and_degradation_are_said(feed: Feed) -> None:
    feed.maker.action(0, 1)
    feed.send(1, actions_dropped=7, degraded="The scheduler forbids plugins.")
    view, _ = built(feed)
    assert "7 actions lost" in view.notice.note
    assert "forbids plugins" in view.notice.note


def test_panning_finds_data_beside_the_window_at_once(feed: Feed) -> None:
    _many(feed, 1000)
    view, picture = built(feed)
    view.command("fit")
    view.command("zoom-in")
    lefts = np.array(picture.work.model.data["left"])
    assert lefts.min() < picture.times[0]
    assert lefts.max() > picture.times[1]
    assert len(set(lefts.tolist())) == len(lefts)


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


def test_following_sends_only_what_is_new(feed: Feed) -> None:
    _many(feed, 1000)
    view, picture = built(feed)
    feed.maker.action(1.0, 1.001, key="new-1").action(1.001, 1.002, key="new-2")
    feed.send(1.002)
    before = picture.work.sent_rows
    view.update()
    assert picture.work.sent_rows == before + 2
    assert len(picture.work.model.data["left"]) == 1002


def test_following_a_dense_run_stays_within_its_bytes() -> None:
    assert following(60) < 80_000  # 50 kB/s over two minutes, more while the run is young


def test_a_closed_view_ignores_updates(feed: Feed) -> None:
    view, _ = built(feed)
    view.close()
    view.close()
    view.update()


def test_a_range_that_crossed_the_readers_is_sent_once_more(feed: Feed) -> None:
    feed.maker.action(0, 4)
    feed.send(4)
    view, picture = built(feed)
    move(picture, start=1.0, end=2.0)
    events: list[Any] = []  # Bokeh's events have no common attributes
    document = picture.figure.document
    assert document is not None
    document.on_change(events.append)
    view.update()
    ends = [e.new for e in events if getattr(e, "attr", "") == "end" and e.model is picture.x_range]
    assert ends == pytest.approx([2.0])
    view.update()
    assert view.window.end - T0 == pytest.approx(2.0, abs=1e-5)


def test_the_first_picture_of_a_large_history_is_small() -> None:
    store = Store()
    for batch in Simulation(n_workers=16, n_threads=4, n_tasks=100_000).batches():
        store.apply(batch)
    view = TaskStream(store)
    view.build()
    assert view.picture is not None
    assert view.picture.sent_bytes < 600_000
