"""The parts that keep rows, names and changes: their bounds and what they say about losses."""

from __future__ import annotations

import struct

import numpy as np

from dask_diag_lab.collector import PROTOCOL
from dask_diag_lab.collector.actions import ROW, ROW_BYTES, ActionLog
from dask_diag_lab.collector.changes import MAX_REMOVALS, Changes
from dask_diag_lab.collector.events import EventLog
from dask_diag_lab.collector.leases import Leases
from dask_diag_lab.collector.strings import Strings, key_text
from dask_diag_lab.records import ACTIONS
from dask_diag_lab.records import PROTOCOL as RECORDS_PROTOCOL

ACTION = {"action": "compute", "start": 1.0, "stop": 2.0}
FETCH = {"action": "transfer", "start": 0.0, "stop": 1.0, "source": "tcp://b"}


def test_wire_rows_have_the_layout_and_the_protocol_of_records() -> None:
    layout = np.dtype([(c.name, c.dtype) for c in ACTIONS])
    assert struct.calcsize(ROW) == ROW_BYTES == layout.itemsize
    packed = struct.pack(ROW, 1.5, 2.5, 3, 1, 4, 2**63, 5, 6, 7, -1)
    assert np.frombuffer(packed, layout)[0].item() == (1.5, 2.5, 3, 1, 4, 2**63, 5, 6, 7, -1)
    assert PROTOCOL == RECORDS_PROTOCOL


def test_rows_beyond_the_bound_are_dropped_and_counted_for_each_cursor() -> None:
    log = ActionLog(Strings(), limit=1000)
    for i in range(5000):
        log.add(("key", i), "p", "w", 1, 0, 0, (FETCH, ACTION))
    assert (log.total, log.tasks) == (10_000, 5000)
    part = log.since(0, 0, 100_000)
    n_rows = len(part.rows) // ROW_BYTES
    assert 1000 <= n_rows <= 1500
    assert part.dropped + n_rows == part.cursor == 10_000
    assert part.keys_from + len(part.keys) == 5000
    assert part.keys[-1] == "('key', 4999)"
    rows = np.frombuffer(part.rows, np.dtype([(c.name, c.dtype) for c in ACTIONS]))
    assert rows["task"].min() == part.keys_from
    assert rows["task"].tolist() == sorted(rows["task"].tolist())
    late = log.since(9_990, 4_995)
    assert (late.dropped, len(late.rows) // ROW_BYTES, late.keys_from) == (0, 10, 4995)
    assert log.since(10_000, 5000).rows == b""


def test_an_answer_is_cut_and_the_next_one_goes_on_without_a_gap() -> None:
    log = ActionLog(Strings(), limit=100_000)
    for i in range(2500):
        log.add(f"k{i}", "p", "w", 1, 0, 0, (FETCH, ACTION, ACTION))
    cursor = keys_cursor = 0
    keys: list[str] = []
    n_rows = 0
    while True:
        part = log.since(cursor, keys_cursor, 1000)
        assert part.dropped == 0
        assert part.keys_from == len(keys)
        keys += part.keys
        n_rows += len(part.rows) // ROW_BYTES
        last_task = struct.unpack_from("<q", part.rows, len(part.rows) - 16)[0]
        assert last_task == len(keys) - 1
        cursor, keys_cursor = part.cursor, len(keys)
        if not part.is_more:
            break
    assert n_rows == 7500
    assert keys == [f"k{i}" for i in range(2500)]


def test_one_task_with_more_actions_than_a_chunk_holds_is_kept_whole() -> None:
    log = ActionLog(Strings(), limit=40)
    log.add("small", "p", "w", 1, 0, 0, (ACTION,))
    log.add("wide", "p", "w", 1, 0, 0, (FETCH,) * 500)
    part = log.since(0, 0)
    assert part.dropped + len(part.rows) // ROW_BYTES == 501
    assert part.keys[-1] == "wide"


def test_unknown_kinds_leave_no_row_and_no_key() -> None:
    log = ActionLog(Strings())
    log.add("a", "p", "w", 1, 0, 0, ({"action": "teleport", "start": 0.0, "stop": 1.0},))
    log.add("b", "p", "w", 1, 0, 0, (ACTION,))
    part = log.since(0, 0)
    assert (part.keys, part.cursor) == (("b",), 1)


def test_names_beyond_the_bound_are_called_other() -> None:
    strings = Strings(limit=4)
    assert [strings.add(name) for name in ("a", "b", "c", "a", "d")] == [2, 3, 1, 2, 1]
    assert strings.since(2) == ("a", "b")


def test_key_texts_of_any_type_are_encodable_and_bounded() -> None:
    assert key_text(b"by/tes") == "b'by/tes'"
    assert key_text(("a", 1)) == "('a', 1)"
    assert key_text("lone \ud800 surrogate").encode() == b"lone ? surrogate"
    assert key_text("x" * 10_000) == "x" * 500 + "… (10000 characters)"


def test_changes_answer_only_what_is_new_and_everything_to_those_too_far_behind() -> None:
    table = Changes()
    for i in range(5):
        table.put(f"n{i}", (f"n{i}", 0))
    cursor = table.version
    table.put("n1", ("n1", 1))
    table.put("n2", ("n2", 0))
    table.remove("n3")
    change = table.since(cursor)
    assert change == (False, (("n1", 1),), ("n3",))
    assert table.since(table.version) is None
    for i in range(MAX_REMOVALS + 1):
        table.put(f"t{i}", (f"t{i}",))
        table.remove(f"t{i}")
    late = table.since(cursor)
    assert late is not None
    assert late.is_full
    assert {row[0] for row in late.rows} == {"n0", "n1", "n2", "n4"}


def test_a_row_removed_and_put_again_is_not_reported_removed() -> None:
    table = Changes()
    table.put("a", ("a", 1))
    cursor = table.version
    table.remove("a")
    table.put("a", ("a", 2))
    assert table.since(cursor) == (False, (("a", 2),), ())


def test_lost_events_are_told_by_an_event() -> None:
    log = EventLog(limit=3)
    for i in range(5):
        log.add(float(i), "tick", number=i, odd=("a", 1))
    cursor, events = log.since(0)
    assert cursor == 5
    assert events[0] == (2.0, "events-dropped", (("count", 2),))
    assert events[1] == (2.0, "tick", (("number", 2), ("odd", "('a', 1)")))
    assert log.since(5) == (5, ())


def test_many_small_graphs_are_one_event() -> None:
    log = EventLog()
    for i in range(1000):
        log.add_graph(float(i), "client", 2)
    detail = (("client", "client"), ("graphs", 1000), ("tasks", 2000))
    assert log.since(0) == (1, ((0.0, "update-graph", detail),))


def test_leases_count_until_they_are_over() -> None:
    now = 0.0
    leases = Leases(10.0, lambda: now)
    assert leases.is_any(), "whoever registered has not pulled yet"
    leases.renew("a")
    now = 6.0
    leases.renew("b")
    now = 11.0
    assert leases.is_any()
    leases.end("b")
    assert not leases.is_any()
    leases.end("b")


def test_prefixes_without_end_leave_room_for_workers_and_what_has_no_name_is_counted() -> None:
    strings = Strings(limit=4, max_addresses=2)
    log = ActionLog(strings)
    for i in range(5):
        log.add(f"k{i}", f"prefix-{i}", "tcp://a:1", 1, 0, 0, (ACTION,))
    log.add("k5", "prefix-0", "tcp://b:1", 1, 0, 0, (ACTION,))
    assert (log.unnamed, log.unplaced) == (3, 0)
    log.add("k6", "prefix-0", "tcp://c:1", 1, 0, 0, (ACTION,))
    assert (log.unnamed, log.unplaced) == (3, 1)
    rows = np.frombuffer(log.since(0, 0).rows, np.dtype([(c.name, c.dtype) for c in ACTIONS]))
    workers = [strings.texts[i] for i in rows["worker"]]
    assert workers == ["tcp://a:1"] * 5 + ["tcp://b:1", "(other)"]
    assert [strings.texts[i] for i in rows["prefix"]][1:4] == ["prefix-1", "(other)", "(other)"]
