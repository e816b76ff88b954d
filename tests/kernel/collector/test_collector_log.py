"""The collector's bounds: what has no room is counted, and what cannot be read is skipped."""

from __future__ import annotations

import struct
from types import SimpleNamespace
from typing import Any

import pytest

from dask_diag_lab.collector.actions import OK, REMEMBERED, ROW, SURE_S, ActionRecorder, Clocks
from dask_diag_lab.collector.wire import MAX_REMOVALS, NamedRows, Strings, key_text
from dask_diag_lab.schema import STATES
from dask_diag_lab.schema.columns import decoded
from dask_diag_lab.schema.tables import OTHER, PREFIXES


def action(kind: str = "compute", start: float = 1.0) -> dict[str, Any]:
    return {"action": kind, "start": start, "stop": start + 1}


def filled(n_tasks: int, limit: int, strings: Strings | None = None) -> ActionRecorder:
    log = ActionRecorder(strings or Strings(), limit)
    for i in range(n_tasks):
        log.add(f"k-{i}", f"p-{i}", f"w-{i}", OK, {"startstops": [action()]})
    return log


def rows_of(log: ActionRecorder) -> list[tuple[Any, ...]]:
    return list(struct.iter_unpack(ROW, log.since(0, 0)[0]["actions"]))


def test_rows_beyond_the_bound_are_dropped_and_counted_for_each_cursor() -> None:
    log = filled(100, limit=20)
    first, cursor = log.since(0, 0)
    kept = len(rows_of(log))
    assert 20 <= kept < 40
    assert (cursor, first["dropped"], len(first["keys"])) == (100, 100 - kept, kept)
    later, cursor = log.since(95, 95)
    assert (cursor, later["dropped"]) == (100, 0)
    assert later["keys"] == [f"k-{i}" for i in range(95, 100)]


def test_an_answer_is_cut_and_the_next_one_goes_on_without_a_gap() -> None:
    log, cursor, keys = filled(100, limit=1000), 0, list[str]()
    for more in (True, True, False):
        part, cursor = log.since(cursor, len(keys), max_rows=40)
        keys += part["keys"]
        assert part["is_more"] is more
    assert keys == [f"k-{i}" for i in range(100)]


@pytest.mark.parametrize(
    "bad", [{}, {"action": "compute", "start": 1.0}, {**action(), "start": None}]
)
def test_a_task_whose_actions_cannot_be_read_is_skipped_and_counted(bad: dict[str, Any]) -> None:
    log = ActionRecorder(Strings())
    log.add("good", "p", "w", OK, {"startstops": [action()]})
    log.add("bad", "p", "w", OK, {"startstops": [action(), bad]})
    log.add("odd kind", "p", "w", OK, {"startstops": [action("dance")]})
    log.add("good too", "p", "w", OK, {"startstops": [action()]})
    assert log.since(0, 0)[0]["keys"] == ["good", "good too"]
    assert (log.skipped, log.total) == (1, 2)


def test_details_of_many_tasks_are_bounded_in_bytes() -> None:
    log = ActionRecorder(Strings())
    for size in (100, 20_000, *[10_000] * 200):
        log.add("k", "p", "w", OK, {"startstops": [action()], "metadata": "x" * size})
    answer, _ = log.since(0, 0)
    sizes = [len(packed) for _, packed in answer["details"]]
    assert len(answer["keys"]) == 202
    assert max(sizes) < 16_384
    assert 100_000 < sum(sizes) <= 131_072


def test_names_without_end_leave_room_for_workers_and_are_counted() -> None:
    strings = Strings(limit=10)
    log = filled(30, limit=1000, strings=strings)
    assert strings.texts[rows_of(log)[-1][7]] == OTHER
    assert log.unnamed == 30 - 10
    assert len({row[4] for row in rows_of(log)}) == 30


def test_key_texts_of_any_type_are_encodable_and_bounded() -> None:
    assert key_text(("x", 1)) == "('x', 1)"
    assert key_text("\ud800") == "?"
    assert len(key_text("x" * 10_000)) < 600


def test_disk_times_are_brought_to_the_scheduler_s_clock_by_the_least_of_the_last_minutes() -> None:
    clocks = Clocks()
    log = ActionRecorder(Strings(), clocks=clocks)
    clocks.observe("w", 103.0)  # the scheduler was busy
    clocks.observe("w", 100.0)
    log.add("k", "p", "w", OK, {"startstops": [action("disk-read"), action("compute", 102.0)]})
    assert [row[:2] for row in rows_of(log)] == [(101.0, 102.0), (102.0, 103.0)]
    for i in range(REMEMBERED):  # the worker's clock was set
        clocks.observe("w", 500.0 + i)
    assert clocks.behind_s("w") == 500.0
    clocks.observe("same", 0.9 * SURE_S)
    assert clocks.behind_s("same") == clocks.behind_s("unknown") == 0.0


def prefix(name: str, duration: float = 0.0, nbytes: int = 0) -> SimpleNamespace:
    states = [0] * len(STATES)
    return SimpleNamespace(name=name, states=states, nbytes=nbytes, duration=duration)


def test_named_rows_tell_only_what_is_new_and_everything_to_those_too_far_behind() -> None:
    table = NamedRows(PREFIXES)

    def names(cursor: int) -> list[str]:
        sent, _ = table.since(cursor)
        assert sent is not None
        return list(decoded(PREFIXES, sent["rows"])["name"])

    def put(name: str, duration: float) -> None:
        table.put(name, prefix(name, duration))

    for i in range(5):
        put(f"a-{i}", 1.0)
    known = table.version
    assert table.since(known) == (None, known)
    put("a-1", 2.0)
    put("a-2", 1.0)
    table.remove("a-3")
    table.remove("a-4")
    put("a-4", 3.0)
    sent, _ = table.since(known)
    assert sent is not None
    assert (names(known), sent["removed"], sent["is_full"]) == (["a-1", "a-4"], ("a-3",), False)
    for i in range(MAX_REMOVALS + 2):
        put(f"b-{i}", 1.0)
        table.remove(f"b-{i}")
    sent, _ = table.since(known)
    assert sent is not None
    assert (sent["is_full"], set(names(known))) == (True, {"a-0", "a-1", "a-2", "a-4"})


def test_a_size_beyond_all_bounds_is_the_largest_there_is() -> None:
    table = NamedRows(PREFIXES)
    table.put("huge", prefix("huge", nbytes=2**70))
    sent, _ = table.since(0)
    assert sent is not None
    assert decoded(PREFIXES, sent["rows"])["nbytes"].tolist() == [2**63 - 1]
