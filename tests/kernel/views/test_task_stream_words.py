"""What a task stream says about what it cannot show, and about threads that came late."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from bokeh.models import LinearColorMapper

from dask_diag_lab.views.format import count, duration
from dask_diag_lab.views.look import LIGHT
from dask_diag_lab.views.pane_size import PaneSize
from dask_diag_lab.views.room import note_px
from dask_diag_lab.views.stream import words
from dask_diag_lab.views.stream.rects import NO_CODE, TRANSFER_CODE, Columns, Share
from dask_diag_lab.views.stream.rows import ThreadTime, WorkerRows
from dask_diag_lab.views.stream.task_stream import TaskStream
from dask_diag_lab.views.text_room import text_px
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


def met_late(feed: Feed, n_before: int) -> None:
    """Let there be another scheduler, on which as many tasks had ended before recording began."""
    feed.maker = BatchMaker(epoch="2", scheduler="Scheduler-2")
    feed.send(2, workers=[worker_row("tcp://w0:1")], left_out={"before": n_before})


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


def test_tasks_that_ended_before_recording_began_are_said(feed: Feed) -> None:
    assert "recording" not in note_of(feed)
    met_late(feed, 8)
    feed.maker.action(2, 3)
    feed.send(3, left_out={"before": 8})
    assert note_of(feed) == "8 tasks ended before recording began"


def test_a_narrow_pane_says_in_short_that_tasks_were_not_recorded(feed: Feed) -> None:
    met_late(feed, 8)
    feed.maker.action(2, 3)
    feed.send(3, left_out={"before": 8})
    view = TaskStream(feed.store)
    view.build()
    assert view.picture is not None
    view.picture.figure.set_from_json("outer_width", 300)  # as a browser reports them
    view.picture.figure.set_from_json("outer_height", 250)
    view.update()
    assert view.notice.note == "8 tasks not recorded"


def test_a_stream_without_tasks_does_not_deny_those_before_it(feed: Feed) -> None:
    met_late(feed, 1)
    view = TaskStream(feed.store)
    view.build()
    assert view.notice.empty.startswith(
        "No task has finished since recording began (1 task ended before). "
    )


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
        320: "95 % computing · 5 % idle",
    }


@pytest.mark.parametrize(
    ("width", "title"),
    [
        (440, "60 % computing · 20 % other · 20 % idle"),
        (520, "60 % computing · 15 % transfer · 5 % disk · 20 % idle"),
        (620, "4 threads · 60 % computing · 15 % transfer · 5 % disk · 20 % idle"),
    ],
)
def test_a_title_loses_words_before_shares(width: int, title: str) -> None:
    share = Share(busy=0.6, moving=0.15, disk=0.05, idle=0.2)
    assert words.title(share, (4, 4), PaneSize(width, 300), names_px=60) == title


@pytest.mark.parametrize(
    ("width", "note"),
    [
        (
            800,
            "{n} actions, those closer than {gap} merged into {blocks} blocks; zoom in to see each",
        ),
        (440, "{n} actions, those closer than {gap} merged into {blocks} blocks"),
        (300, "{n} actions in {blocks} blocks"),
    ],
)
def test_a_note_loses_whole_clauses(feed: Feed, width: int, note: str) -> None:
    for index in range(12_000):
        feed.maker.action(index * 1e-3, index * 1e-3 + 9e-4, key=f"inc-{index}")
    feed.send(12)
    view = TaskStream(feed.store)
    view.build()
    assert view.picture is not None
    assert view._drawing is not None
    view.picture.figure.set_from_json("outer_width", width)  # as a browser reports them
    view.picture.figure.set_from_json("outer_height", 300)
    view.update()
    centre = view._drawing.centre
    assert centre is not None
    facts = {"n": count(12_000), "gap": duration(centre.resolution_s), "blocks": len(centre)}
    assert view.notice.note == note.format(**facts)


@pytest.mark.parametrize("is_restyled", [False, True])
def test_a_note_in_larger_words_loses_more_clauses(feed: Feed, is_restyled: bool) -> None:
    for index in range(12_000):
        feed.maker.action(index * 1e-3, index * 1e-3 + 9e-4, key=f"inc-{index}")
    feed.send(12, left_out={"names": 3})
    large = replace(LIGHT, font_size="20px")
    view = TaskStream(feed.store, LIGHT if is_restyled else large)
    view.build()
    assert view.picture is not None
    view.picture.figure.set_from_json("outer_width", 640)
    view.picture.figure.set_from_json("outer_height", 300)
    view.look = large
    view.restyle()
    view.update()
    assert view.notice.note.endswith("3 tasks shown as (other): too many different names")
    assert text_px(view.notice.note, 19) <= 640


def test_a_note_in_larger_words_takes_more_of_the_height(feed: Feed) -> None:
    feed.maker.action(0, 1)
    feed.send(1, left_out={"names": 3})
    view = TaskStream(feed.store, replace(LIGHT, font_size="20px"))
    view.build()
    assert view._drawing is not None
    size = view._drawing.size
    assert size.beside_px == note_px(view.notice.note, size.width, "20px")


def test_what_was_lost_is_said_though_nothing_else_has_room(feed: Feed) -> None:
    for index in range(12_000):
        feed.maker.action(index * 1e-3, index * 1e-3 + 9e-4, key=f"inc-{index}")
    feed.send(12, left_out={"names": 3, "addresses": 4, "running": 1})
    view = TaskStream(feed.store)
    view.build()
    assert view.picture is not None
    view.picture.figure.set_from_json("outer_width", 440)
    view.picture.figure.set_from_json("outer_height", 300)
    view.update()
    assert view.notice.note.startswith("3 tasks shown as (other)")
    assert view.notice.note.endswith("not shown: too many at once")


@pytest.mark.parametrize(
    ("width", "title"),
    [
        (240, "60 % computing"),
        (300, "60 % computing · 20 % other · 20 % idle"),
        (419, "60 % computing · 20 % other · 20 % idle"),
    ],
)
def test_what_a_narrow_title_does_not_name_is_other(width: int, title: str) -> None:
    share = Share(busy=0.6, moving=0.15, disk=0.05, idle=0.2)
    assert words.title(share, (4, 4), PaneSize(width, 300)) == title


@pytest.mark.parametrize("width", [400, 800])
def test_shares_in_a_title_with_transfers_add_up(width: int) -> None:
    share = Share(busy=0.605, moving=0.144, disk=0.054, idle=0.197)
    parts = words.title(share, (4, 4), PaneSize(width, 300)).split("·")
    assert sum(int(part.split("%")[0]) for part in parts if "%" in part) == 100


def test_shares_in_a_title_add_up() -> None:
    share = Share(busy=0.9966, moving=0.0, disk=0.0001, idle=0.0033)
    assert words.title(share, (4, 4), PaneSize(800, 300)).split("  ·  ")[2:] == [
        "99.7 % computing",
        "0.3 % idle",
    ]


NAMES = [f"prefix-number-{i}" for i in range(12)]


def drawn(*codes: int) -> Columns:
    """Return one block of each code, the first the longest."""
    seconds = np.arange(len(codes), 0, -1, dtype=np.float64)
    return {"code": np.array(codes, np.uint8), "busy_s": seconds}


def test_a_legend_with_room_names_all() -> None:
    labels, codes = words.legend(drawn(3, TRANSFER_CODE, 0), NAMES, PaneSize(860, 420))
    assert (labels, codes) == ([NAMES[0], NAMES[3], "transfer"], [0, 3, TRANSFER_CODE])


def test_a_legend_names_what_cannot_be_seen() -> None:
    labels, _ = words.legend(drawn(0, 1, 2), ["", "a\nb", "\u200b"], PaneSize(860, 420))
    assert labels == ["(blank)", "a␤b", "(blank)"]


@pytest.mark.parametrize("width", [420, 600, 860, 1400])
def test_a_legend_counts_the_names_it_has_no_room_for(width: int) -> None:
    labels, codes = words.legend(drawn(*range(12), TRANSFER_CODE), NAMES, PaneSize(width, 420))
    named, more = labels[:-1], labels[-1]
    assert 0 < len(named) < 13
    assert more == f"+ {13 - len(named)} more"
    assert codes[-1] == NO_CODE
    assert named == [*NAMES[: len(named) - 1], "transfer"]
    assert sum(24 + len(label) * 6.6 for label in labels) <= 0.9 * width


def test_the_words_for_more_names_have_no_colour(feed: Feed) -> None:
    for i in range(30):
        feed.maker.action(i, i + 0.9, prefix=f"a-long-name-of-a-prefix-{i}")
    feed.send(30)
    view = TaskStream(feed.store)
    view.build()
    assert view.picture is not None
    legend = view.picture.legend.model.data
    assert legend["label"][-1] == f"+ {31 - len(legend['label'])} more"
    mappers = view.picture.figure.select({"type": LinearColorMapper})
    colors = {m.high_color for m in mappers if isinstance(m, LinearColorMapper)}
    assert legend["code"][-1] == NO_CODE
    assert colors == {"#00000000"}
