"""Events: rows by kind, words, bursts and merging, following the time."""

from __future__ import annotations

from collections import deque
from typing import Any

import pytest
from bokeh.events import Tap

from dask_diag_lab.store import Store
from dask_diag_lab.store.events import KINDS
from dask_diag_lab.views.look import DARK, LIGHT, Look
from dask_diag_lab.views.tasks.event_words import ROW_OF, words
from dask_diag_lab.views.tasks.events import LIVE_S, MOST_MARKS, Events
from dask_diag_lab.views.view import Opening
from tests.kernel.store.batches import T0, BatchMaker
from tests.kernel.views.conftest import Feed
from tests.kernel.views.drawn import Drawn

W0 = "tcp://gone:1"


@pytest.fixture
def feed(feed: Feed) -> Feed:
    """The feed as if it had said nothing yet, not even that it began."""
    feed.store.events.rows.clear()
    feed.store.events.total = 0
    return feed


def said(view: Events) -> list[tuple[str, str]]:
    """Return row and first words of each mark, without the clock."""
    data = view.marks.model.data
    pairs = zip(data["row"], data["hover0"], strict=True)
    return [(row, text.partition(" ")[2]) for row, text in pairs]


def event(at: float, kind: str, **detail: Any) -> tuple[float, str, dict[str, Any]]:
    return (T0 + at, kind, detail)


def test_each_kind_has_a_row_and_words_of_its_own(feed: Feed) -> None:
    feed.send(
        40.0,
        events=[
            event(0, "worker-added", worker=W0, name="w-zero", nthreads=2),
            event(5, "update-graph", client="Client-1", graphs=1, tasks=500),
            event(10, "worker-paused", worker=W0),
            event(20, "worker-killed", worker=W0, cause="it was killed", lost_tasks=2),
            event(30, "task-erred", prefix="inc", count=3, worker=W0),
        ],
    )
    view = Events(feed.store)
    Drawn(view)
    assert said(view) == [
        ("Workers came", "worker w-zero came with 2 threads"),
        ("Workers died", "worker w-zero died: it was killed; 2 tasks ran on it"),
        ("Paused", "worker w-zero paused: its memory is over the pause threshold"),
        ("Errors", "3 tasks of inc failed, last on worker w-zero"),
        ("Graphs", "1 graph of 500 new tasks submitted by Client-1"),
    ]
    assert list(view.marks.model.data["y"]) == [0, 1, 2, 3, 4]
    assert list(view.marks.model.data["x"]) == [0, 20, 10, 30, 5]
    assert view.caption.headline == "Events: 7"


def test_workers_of_which_nobody_knows_when_they_came_are_in_a_note(feed: Feed) -> None:
    view = Events(feed.store)
    Drawn(view)
    words = "of 2 workers nobody knows when they came"
    assert view.caption.note.startswith(words)
    feed.send(5.0, events=[event(3, "worker-added", worker=W0, name="w-zero", nthreads=2)])
    view.update()
    assert said(view) == [("Workers came", "worker w-zero came with 2 threads")]
    assert view.caption.note.startswith(words)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_of_the_store_has_a_row_and_words_whatever_is_missing(kind: str) -> None:
    assert kind in ROW_OF
    text = words(kind, {}, {})
    assert len(text) > 8
    assert "None" not in text


def test_odd_text_of_the_engine_is_one_visible_line() -> None:
    text = words("worker-killed", {"worker": "a\nb", "cause": "<b>\n" + "x" * 9000}, {})
    assert "\n" not in text
    assert "a␤b" in text
    assert len(text) < 400


def test_events_close_together_are_one_mark_with_their_number(feed: Feed) -> None:
    many = [event(5 + i / 1000, "worker-added", worker=f"w{i}", nthreads=1) for i in range(200)]
    feed.send(30.0, events=[*many, event(25.0, "worker-added", worker="late", nthreads=1)])
    view = Events(feed.store)
    Drawn(view)
    data = view.marks.model.data
    assert data["number"] == ["200", ""]
    assert data["hover7"][0] == "and 193 more events"
    assert data["all"] == ["200 in all", ""]
    assert data["size"][0] > data["size"][1]
    assert "close together" in view.caption.note
    assert len(view.table().columns["kind"]) == 201
    assert "close together" not in str(view.table().note)


def test_a_worker_that_paused_and_went_on_has_paused_once_and_ends_are_hollow(feed: Feed) -> None:
    paused = [event(at, "worker-paused", worker=W0) for at in (1, 1.2)]
    resumed = [event(at, "worker-resumed", worker=W0) for at in (1.1, 1.3, 20)]
    feed.send(29.0, events=[*paused, *resumed])
    view = Events(feed.store)
    Drawn(view)
    data = view.marks.model.data
    assert (data["number"], data["all"]) == (["2", ""], ["4 in all", ""])
    assert data["fill"] == [data["line"][0], view.look.background]
    assert data["line"][0] == data["line"][1]
    assert view.caption.headline == "Events: 5"


def test_a_retired_worker_has_left_once(feed: Feed) -> None:
    kinds = ("worker-closing", "worker-removed", "workers-retired")
    feed.send(29.0, events=[event(5, kind, worker=W0, count=1) for kind in kinds])
    view = Events(feed.store)
    Drawn(view)
    data = view.marks.model.data
    assert dict(zip(data["row"], data["all"], strict=True)) == {
        "Retiring": "",
        "Workers left": "",
        "Cluster": "",
    }


def test_marks_of_a_row_are_few_and_none_is_lost(feed: Feed) -> None:
    times = [40 * i / 600 for i in range(600)]
    feed.send(45.0, events=[event(at, "worker-killed", worker=str(at)) for at in times])
    view = Events(feed.store)
    Drawn(view)
    data = view.marks.model.data
    assert len(data["x"]) <= MOST_MARKS
    assert sum(int(text.removesuffix(" in all") or 1) for text in data["all"]) == 600


def test_a_number_goes_where_the_next_mark_of_the_row_is_close(feed: Feed) -> None:
    times = [7.9, 7.95, 10.0, 20.0, 20.1]
    feed.send(29.0, events=[event(at, "worker-killed", worker=str(at)) for at in times])
    view = Events(feed.store)
    Drawn(view)
    data = view.marks.model.data
    assert data["all"] == ["2 in all", "", "2 in all"]
    assert data["number"] == ["", "", "2"]


def test_a_burst_is_drawn_as_long_as_it_went_on(feed: Feed) -> None:
    feed.send(9.0, events=[event(1, "steal-burst", count=40, until=T0 + 8.0)])
    view = Events(feed.store)
    Drawn(view)
    data = view.marks.model.data
    assert data["until"][0] - data["x"][0] == pytest.approx(7.0)
    assert data["hover0"][0].endswith("40 tasks moved to another worker within 7.00 s")
    assert data["number"] == ["40"]


def test_picture_follows_the_time_in_steps_until_the_user_moves_it(feed: Feed) -> None:
    feed.send(1.0, events=[event(0, "restart")])
    view = Events(feed.store)
    page = Drawn(view)
    end = view._time.end
    feed.now += 0.5
    assert page.sent() == []
    feed.now += 100.0
    assert page.sent()
    assert view._time.end > end
    view._time.model.update(start=-5.0, end=5.0)
    page.sent()
    feed.now += 3 * LIVE_S
    page.sent()
    assert view._time.place == (-5.0, 5.0)
    view.command("live")
    assert len(view.marks.model.data["x"]) == 0
    assert view.caption.headline == "Events: 0 in view of 1"
    view.command("fit")
    assert len(view.marks.model.data["x"]) == 1


def test_a_burst_that_grows_changes_its_mark(feed: Feed) -> None:
    feed.send(1.0, events=[event(0, "restart"), event(1, "steal-burst", count=4)])
    view = Events(feed.store)
    page = Drawn(view)
    feed.send(2.0, events=[event(2, "steal-burst", count=5)])
    page.sent()
    assert view.marks.model.data["number"] == ["9", ""]
    assert "9 tasks moved" in view.marks.model.data["hover0"][0]


def test_forgotten_events_leave_the_picture_and_are_counted(feed: Feed) -> None:
    feed.store.events.rows = deque(maxlen=3)
    feed.send(1.0, events=[event(0, "restart"), event(1, "client-added", client="a")])
    view = Events(feed.store)
    page = Drawn(view)
    feed.send(9.0, events=[event(i, "client-added", client=str(i)) for i in (7, 8)])
    page.sent()
    assert view.table().columns["event"] == ["a connected", "7 connected", "8 connected"]
    assert view.table().columns["count"] == [1, 1, 1]
    assert "1 older event forgotten" in view.caption.note


def test_click_on_an_error_opens_the_table_of_errors(feed: Feed) -> None:
    erred = event(1, "task-erred", prefix="inc", count=3, worker=W0)
    feed.send(9.0, events=[event(0, "restart"), erred])
    view = Events(feed.store)
    Drawn(view)
    view.figure._trigger_event(Tap(view.figure, x=1.0, y=1.1))  # as the server does
    assert view.opening is None
    view.figure._trigger_event(Tap(view.figure, x=1.0, y=0.1))
    assert view.opening == Opening("exceptions", {})


@pytest.mark.parametrize("look", [LIGHT, DARK, Look(palette="okabe-ito")])
def test_rows_differ_by_marker_and_erred_is_outlined(feed: Feed, look: Look) -> None:
    feed.send(9.0, events=[event(0, kind) for kind in KINDS])
    view = Events(feed.store, look)
    Drawn(view)
    data = view.marks.model.data
    assert len(set(data["marker"])) == len(set(data["row"]))
    erred = list(data["row"]).index("Errors")
    assert data["line"][erred] != data["fill"][erred]
    assert (data["span"][erred] != data["fill"][erred]) is look.is_dark


def test_nothing_is_explained() -> None:
    view = Drawn(Events(Store())).view
    assert view.caption.empty.startswith("Waiting for the first data")
    assert not any(axis.visible for axis in view.figure.axis)


@pytest.mark.parametrize(
    ("recalled", "words"),
    [
        ([], "recording began"),
        (
            [event(-9, "client-added", client="c"), event(-5, "restart")],
            "recording began; the scheduler recalled 2 events before it",
        ),
    ],
)
def test_where_the_recording_began_is_seen_in_picture_and_table(
    recalled: list[tuple[float, str, dict[str, Any]]], words: str
) -> None:
    feed = Feed()
    feed.send(1.0, events=recalled)
    view = Events(feed.store)
    Drawn(view)
    assert said(view)[-1] == ("Cluster", words) or words in str(view.marks.model.data)
    table = view.table().columns
    assert (table["kind"][-1], table["event"][-1]) == ("recording-began", words)
    assert table["time"][-1] == T0 + 1


def test_table_has_every_event(feed: Feed) -> None:
    feed.send(9.0, events=[event(0, "restart"), event(1, "steal-burst", count=4)])
    table = Events(feed.store).table()
    assert table.columns["kind"] == ["restart", "steal-burst"]
    assert table.columns["count"] == [1, 4]
    assert table.columns["event"] == [
        "the cluster was restarted",
        "4 tasks moved to another worker",
    ]


def test_a_worker_whose_name_is_the_number_0_is_called_so() -> None:
    detail = {"worker": "inproc://10.0.0.1/17/4", "name": 0, "nthreads": 1}
    assert words("worker-added", detail, {}) == "worker 0 came with 1 thread"
    feed = Feed()
    feed.send(1.0, events=[event(0, "worker-added", **detail)])
    assert feed.store.seen_workers.names == {"inproc://10.0.0.1/17/4": "0"}


def test_what_failed_before_the_recording_is_said_not_to_be_known(feed: Feed) -> None:
    feed.maker = BatchMaker(epoch="2", scheduler="Scheduler-2")
    feed.send(2, left_out={"before": 3})
    view = Events(feed.store)
    Drawn(view)
    said = "before ★ 3 tasks ended: what failed or spilled by then is not known"
    assert said in view.caption.note
