"""The estimated share of (de)serialization, and the events that are marked."""

from __future__ import annotations

from typing import Any

import pytest
from bokeh.document import Document

from dask_diag_lab.records import ExtraChange, Kind
from dask_diag_lab.store.extras import Extras
from dask_diag_lab.views.stream.task_stream import TaskStream
from dask_diag_lab.views.stream.unpacking import Unpacking, unpacking
from tests.kernel.store.batches import T0
from tests.kernel.views.conftest import Feed

COLUMNS = ("context", "label", "activity", "unit", "value")


def change(*rows: tuple[str, str, str, str, float]) -> ExtraChange:
    """Return a change of ``activities``: rows of context, label, activity, unit and value."""
    return ExtraChange({name: [row[i] for row in rows] for i, name in enumerate(COLUMNS)}, 0)


def shares(*rows: tuple[str, str, str, str, float]) -> Unpacking:
    extras = Extras()
    extras.update({"activities": change(*rows)}, 0.0)
    return unpacking(extras["activities"])


GATHER = (
    ("gather-dep", "", "network", "seconds", 60.0),
    ("gather-dep", "", "deserialize", "seconds", 30.0),
    ("gather-dep", "", "other", "seconds", 10.0),
    ("gather-dep", "", "network", "bytes", 1e9),
)


def test_nothing_is_estimated_before_the_workers_told() -> None:
    assert unpacking(Extras()["activities"]) == Unpacking()


def test_the_share_of_transfers_is_of_all_seconds_of_gather_dep() -> None:
    assert shares(*GATHER).of_transfers == pytest.approx(0.3)


def test_less_than_a_percent_is_nothing() -> None:
    less = ("gather-dep", "", "deserialize", "seconds", 0.5)
    assert shares(GATHER[0], less).of_transfers == 0
    assert shares(GATHER[0], less).transfer_words == ""


def test_a_prefix_has_words_for_unpacking_and_disk() -> None:
    told = shares(
        ("execute", "sum", "thread-cpu", "seconds", 7.0),
        ("execute", "sum", "deserialize", "seconds", 2.0),
        ("execute", "sum", "disk-read", "seconds", 1.0),
        ("execute", "inc", "thread-cpu", "seconds", 1.0),
    )
    assert told.prefix_words("sum").startswith("20 % (de)serialization and 10 % reading from disk")
    assert told.prefix_words("inc") == ""


def test_the_end_of_transfers_is_grey_and_the_estimate_is_said(feed: Feed) -> None:
    feed.maker.action(0, 1, kind=Kind.TRANSFER, source="tcp://w1:1")
    feed.send(1)
    feed.store.extras.update({"activities": change(*GATHER)}, 0.0)
    view = TaskStream(feed.store)
    Document().add_root(view.build())
    picture: Any = view.picture
    assert picture.tails.glyph.share == pytest.approx(0.3)
    words = "estimated from the workers' totals: 30 % of transfer time is (de)serialization"
    assert picture.facts.model.data["transfer_words"] == [words]
    assert words in view.notice.note
    assert "(de)serialize" in picture.legend.model.data["label"]


def test_without_transfers_in_sight_the_note_says_nothing_of_them(feed: Feed) -> None:
    feed.maker.action(0, 1)
    feed.send(1)
    feed.store.extras.update({"activities": change(*GATHER)}, 0.0)
    view = TaskStream(feed.store)
    view.build()
    assert "estimated" not in view.notice.note


def test_dead_workers_and_restarts_are_marked_and_other_events_are_not(feed: Feed) -> None:
    feed.maker.action(0, 10)
    killed = {"worker": "tcp://w1:1", "cause": "no heartbeat", "lost_tasks": 2}
    feed.send(
        10,
        events=[
            (T0 + 2, "worker-killed", killed),
            (T0 + 3, "worker-added", {"worker": "tcp://w3:1"}),
            (T0 + 4, "restart", {}),
            (T0 - 1000, "restart", {}),
        ],
    )
    view = TaskStream(feed.store)
    view.build()
    assert view.picture is not None
    events = view.picture.marks.events.model.data
    assert events["at"] == pytest.approx([4, 2])
    assert events["title"] == ["cluster restarted", "worker died: tcp://w1:1"]
    assert events["text"][1] == "no heartbeat · 2 running tasks lost"
