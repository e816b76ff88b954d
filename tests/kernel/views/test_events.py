"""Events: rows by kind, texts, bursts and merging, following the time."""

from __future__ import annotations

from collections import deque
from typing import Any

import pytest
from bokeh.models import Plot, Range1d

from dask_diag_lab.store import LiveSession
from dask_diag_lab.views.look import DARK, LIGHT, Look
from dask_diag_lab.views.names import KINDS as TEXTS
from dask_diag_lab.views.names import describe
from dask_diag_lab.views.tasks.events import LIVE_S, MOST_MARKS, Events
from tests.kernel.store.batches import T0
from tests.kernel.views.conftest import Feed
from tests.kernel.views.drawn import Drawn

W0 = "tcp://gone:1"


@pytest.fixture
def feed(feed: Feed) -> Feed:
    """The feed as if it had said nothing yet, not even that it began."""
    feed.live.history.events.rows.clear()
    feed.live.history.events.total = 0
    return feed


def event(at: float, kind: str, **detail: Any) -> tuple[float, str, dict[str, Any]]:
    return (T0 + at, kind, detail)


def drawn(feed: Feed, at: float, *events: tuple[float, str, dict[str, Any]]) -> Drawn[Events]:
    """Return the view of a feed after these events."""
    feed.send(at, events=list(events))
    return Drawn(Events(feed.live))


def reported(shown: Drawn[Events]) -> list[tuple[str, str]]:
    """Return row and events of each mark, without clock and zone of the first."""
    pairs = zip(shown.data["title"], shown.data["events"], strict=True)
    return [(row, text.split(" ", 2)[2]) for row, text in pairs]


def test_each_kind_has_a_row_and_words_of_its_own(feed: Feed) -> None:
    shown = drawn(
        feed,
        40.0,
        event(0, "worker-added", worker=W0, name="w-zero", nthreads=2),
        event(5, "update-graph", client="Client-1", graphs=1, tasks=500),
        event(10, "worker-paused", worker=W0),
        event(20, "worker-killed", worker=W0, cause="it was killed", lost_tasks=2),
        event(30, "task-erred", prefix="inc", count=3, worker=W0),
    )
    assert reported(shown) == [
        ("Workers came", "worker w-zero came with 2 threads"),
        ("Workers died", "worker w-zero died: it was killed; 2 tasks ran on it"),
        ("Paused", "worker w-zero paused: its memory is over the pause threshold"),
        ("Failed tasks", "3 tasks of inc failed, last on worker w-zero"),
        ("Graphs", "1 graph of 500 new tasks submitted by Client-1"),
    ]
    assert shown.data["y"] == [row for row, _ in reported(shown)]
    (plot,) = shown.models(Plot)
    assert plot.y_range.factors == shown.data["y"][::-1]
    assert shown.data["x"] == [0, 20, 10, 30, 5]
    assert shown.view.caption.headline == "Events: 7"


@pytest.mark.parametrize("kind", sorted(TEXTS))
def test_every_kind_of_the_store_has_a_row_and_words_whatever_is_missing(kind: str) -> None:
    text = describe(kind, {}, {})
    assert len(text) > 8
    assert "None" not in text
    assert "{" not in text


def test_odd_text_of_distributed_is_one_visible_line() -> None:
    text = describe("worker-killed", {"worker": "a\nb", "cause": "{<b>}\n" + "x" * 9000}, {})
    assert "\n" not in text
    assert "a\ufffdb died: {<b>}\ufffdx" in text
    assert len(text) < 400


def test_events_close_together_are_one_mark_with_their_number(feed: Feed) -> None:
    many = [event(5 + i / 1000, "worker-added", worker=f"w{i}", nthreads=1) for i in range(200)]
    shown = drawn(feed, 30.0, *many, event(25.0, "worker-added", worker="late", nthreads=1))
    assert shown.data["number"] == ["200", ""]
    assert shown.data["title"] == ["Workers came: 200 in all", "Workers came"]
    assert shown.data["events"][0].endswith("\nand 192 more events")
    assert shown.data["size"][0] > shown.data["size"][1]
    assert len(shown.view.table().columns["kind"]) == 201


def test_marks_of_a_row_are_few_and_none_is_lost(feed: Feed) -> None:
    times = [40 * i / 600 for i in range(600)]
    shown = drawn(feed, 45.0, *(event(at, "worker-killed", worker=str(at)) for at in times))
    assert len(shown.data["x"]) <= MOST_MARKS
    in_all = [title.split(": ")[1].removesuffix(" in all") for title in shown.data["title"]]
    assert sum(map(int, in_all)) == 600


def test_a_burst_is_drawn_as_long_as_it_went_on_and_grows_in_its_place(feed: Feed) -> None:
    restart = event(0, "restart")
    shown = drawn(feed, 9.0, restart, event(1, "steal-burst", count=40, until=T0 + 8.0))
    assert shown.data["until"][0] - shown.data["x"][0] == pytest.approx(7.0)
    assert reported(shown)[0][1] == "40 tasks moved to another worker within 7.00 s"
    feed.send(9.5, events=[event(9, "steal-burst", count=5)])
    shown.sent()
    assert shown.data["number"] == ["45", ""]
    assert "45 tasks moved" in shown.data["events"][0]


def test_picture_follows_the_time_in_steps_until_the_user_moves_it(feed: Feed) -> None:
    shown = drawn(feed, 1.0, event(0, "restart"))
    (time,) = [each.x_range for each in shown.models(Plot)]
    assert isinstance(time, Range1d)
    end = time.end
    feed.now += 0.5
    assert shown.sent() == []
    feed.now += 100.0
    assert shown.sent()
    assert time.end != end
    time.update(start=-5.0, end=5.0)
    feed.now += 3 * LIVE_S
    shown.sent()
    assert (time.start, time.end) == (-5.0, 5.0)
    shown.view.command("live")
    shown.sent()
    text = "No events in the time that is shown; there are 1."
    assert (shown.data["x"], shown.view.caption.empty) == ([], text)
    shown.view.command("fit")
    shown.sent()
    assert len(shown.data["x"]) == 1


def test_forgotten_events_leave_the_picture_and_are_counted(feed: Feed) -> None:
    feed.live.history.events.rows = deque(maxlen=3)
    shown = drawn(feed, 1.0, event(0, "restart"), event(1, "restart"))
    feed.send(9.0, events=[event(i, "restart") for i in (7, 8)])
    shown.sent()
    table = shown.view.table()
    assert table.columns["event"] == 3 * ["the cluster was restarted"]
    assert table.columns["count"] == [1, 1, 1]
    assert "1 older event forgotten" in shown.view.caption.note


@pytest.mark.parametrize("look", [LIGHT, DARK, Look(palette="okabe-ito")])
def test_rows_differ_by_marker_and_erred_is_outlined(feed: Feed, look: Look) -> None:
    feed.send(9.0, events=[event(0, kind) for kind in TEXTS])
    data = Drawn(Events(feed.live, look)).data
    rows = [title.partition(":")[0] for title in data["title"]]
    assert len(set(data["marker"])) == len(set(rows))
    erred = rows.index("Failed tasks")
    assert data["line"][erred] != data["fill"][erred]


def test_moments_of_the_table_are_such_that_a_page_writes_them_as_times() -> None:
    units = Events(LiveSession()).table().units
    assert units == {"time": "s since the epoch", "until": "s since the epoch"}
