"""The action log: cursors, eviction, keys, and what all of it weighs."""

from __future__ import annotations

import gc
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest

from benchmarks.simulator import Simulation
from dask_diag_lab.schema import ACTIONS, Kind, Outcome
from dask_diag_lab.store import Store
from dask_diag_lab.store.actions import ActionLog
from dask_diag_lab.store.keys import KeyTable
from dask_diag_lab.store.slots import SlotTable
from dask_diag_lab.store.strings import StringTable
from tests.kernel.store.batches import T0, BatchMaker

ODD_KEYS = [
    "",
    "('x', 0, 1)",
    "a/b\\c?d=e&f#g",
    "<script>alert('x')</script>",
    "quotes \" and ' and `",
    "b'\\x00\\xff'",
    "new\nline\ttab\x00nul",
    "žluťoučký 🐎",
    "lone surrogate \udc80",
    "k" * 500 + "… (10000 characters)",
]


def test_cursor_gives_back_what_came_in_order_of_arrival() -> None:
    simulation = Simulation(3, 2, 3000, deaths=0)
    store, cursor = Store(max_actions=100_000), 0
    pieces = []
    for batch in simulation.batches(rows=777):
        store.apply(batch)
        cursor, rows = store.actions.since(cursor)
        pieces.append(rows)
        assert cursor == batch.actions_to == store.actions.total
    for column in ACTIONS.columns:
        joined = np.concatenate([rows[column.name] for rows in pieces])
        assert joined.dtype == np.dtype(column.dtype)
        sent = simulation.actions[column.name]
        if column.name in ("worker", "prefix", "source"):
            texts = store.strings.take(joined.tolist())
            assert texts == [simulation.strings[i] for i in sent.tolist()]
        else:
            np.testing.assert_array_equal(joined, sent)
    assert store.actions.since(cursor)[1]["start"].size == 0


def test_actions_can_be_fetched_in_pages() -> None:
    store = Store(max_actions=16_000)
    for batch in Simulation(2, 2, 2500).batches(rows=450):
        store.apply(batch)
    whole = store.actions.since(0)[1]
    cursor, pages = 0, []
    while cursor < store.actions.total:
        cursor, rows = store.actions.since(cursor, limit=321)
        pages.append(rows)
    assert max(len(page["start"]) for page in pages) == 321
    for name, column in whole.items():
        np.testing.assert_array_equal(np.concatenate([page[name] for page in pages]), column)


@pytest.mark.parametrize("cursor", [-1, 2, 10**9])
def test_cursor_that_was_never_given_is_refused(cursor: int) -> None:
    store = Store()
    store.apply(BatchMaker().action(0, 1).batch())
    with pytest.raises(ValueError, match=r"is not within 0 … 1"):
        store.actions.since(cursor)


def test_oldest_actions_are_given_up_in_blocks_and_counted() -> None:
    store, maker = Store(max_actions=1600), BatchMaker()
    for i in range(40):
        for j in range(83):
            maker.action(i + j / 100, i + j / 100 + 0.005, key=f"inc-{i % 20}-{j}")
        store.apply(maker.batch())
        actions = store.actions
        assert actions.total == 83 * (i + 1)
        assert actions.count + actions.evicted == actions.total
        assert actions.count <= 1600
    assert actions.evicted % 100 == 0
    assert actions.count > 1500
    assert actions.first_start > T0
    assert actions.last_stop == pytest.approx(T0 + 39.825)
    cursor, rows = actions.since(0)
    assert cursor == actions.total
    assert len(rows["start"]) == actions.count
    assert actions.query(T0 - 1, T0 + 50, None, 100_000, 10_000).answer().total == actions.count
    # A key that comes again is known as long as one of its actions is.
    assert all(actions.key(task) for task in rows["task"].tolist())


def test_bounds_hold_for_a_batch_larger_than_the_log() -> None:
    simulation = Simulation(2, 2, 5000)
    store = Store(max_actions=1000)
    store.apply(simulation.batch(0, len(simulation.actions["start"])))
    assert store.actions.total == len(simulation.actions["start"])
    assert 900 < store.actions.count <= 1000


def test_log_of_a_single_action_works() -> None:
    store = Store(max_actions=1)
    store.apply(BatchMaker().action(0, 1).action(1, 2).action(2, 3, key="last").batch())
    assert (store.actions.count, store.actions.evicted) == (1, 2)
    assert store.actions.key(int(store.actions.since(0)[1]["task"][0])) == "last"
    with pytest.raises(ValueError, match="at least 1 action"):
        Store(max_actions=0)


def test_keys_are_given_up_with_the_actions_that_need_them() -> None:
    store = Store(max_actions=20_000)
    for batch in Simulation(4, 4, 120_000, transfers=0, spills=0).batches():
        store.apply(batch)
    assert store.actions.key(0) == ""
    assert store._keys.nbytes < 6e6
    _, rows = store.actions.since(0)
    assert all(store.actions.key(task) for task in rows["task"][::100].tolist())


def test_odd_keys_come_back_as_they_were() -> None:
    store, maker = Store(), BatchMaker()
    for i, key in enumerate(ODD_KEYS):
        maker.action(i, i + 1, key=key)
    store.apply(maker.batch())
    _, rows = store.actions.since(0)
    assert [store.actions.key(task) for task in rows["task"].tolist()] == ODD_KEYS


def test_gaps_and_repeats_in_keys_are_harmless() -> None:
    keys = KeyTable()
    keys.extend(0, ["a", "b"])
    keys.extend(1, ["not b", "c"])
    keys.extend(10, ["k"])
    keys.extend(3, ["too late"])
    assert [keys[i] for i in (0, 1, 2, 3, 9, 10, 11, -1)] == ["a", "b", "c", "", "", "k", "", ""]


def test_only_the_columns_asked_for_are_read() -> None:
    store = Store()
    store.apply(Simulation(2, 2, 5).batch(0, 5))
    names = ("stop", "slot")
    _, rows = store.actions.since(0)
    stop, some = store.actions.since(0, 3, names)
    assert (stop, tuple(some)) == (3, names)
    for name in names:
        assert some[name].tolist() == rows[name][:3].tolist()
    _, none = store.actions.since(5, None, names)
    assert {name: (column.dtype, len(column)) for name, column in none.items()} == {
        name: (some[name].dtype, 0) for name in names
    }


def test_what_did_not_end_well_is_found_since_a_cursor() -> None:
    store = Store()
    maker = BatchMaker()
    outcomes = [Outcome.OK, Outcome.ERRED, Outcome.OK, Outcome.KILLED, Outcome.ERRED]
    for i, outcome in enumerate(outcomes):
        maker.action(10 - i, 20, outcome=outcome)
    store.apply(maker.batch())
    cursor, rows = store.actions.failed_since(0)
    assert cursor == len(outcomes)
    assert rows["outcome"].tolist() == [o for o in outcomes if o != Outcome.OK]
    assert store.actions.failed_since(2, ("outcome",))[1]["outcome"].tolist() == outcomes[3:]
    assert not len(store.actions.failed_since(cursor)[1]["start"])


def test_actions_lost_on_the_way_are_counted() -> None:
    store, maker = Store(), BatchMaker()
    store.apply(maker.action(0, 1).batch(actions_dropped=7))
    store.apply(maker.batch(actions_dropped=5))
    store.apply(maker.batch())
    assert (store.actions.dropped, store.actions.count) == (12, 1)


def test_all_kinds_and_outcomes_survive_sorting() -> None:
    store, maker = Store(), BatchMaker()
    sent = []
    for i, kind in enumerate(Kind):
        for j, outcome in enumerate((Outcome.OK, Outcome.ERRED, Outcome.KILLED)):
            maker.action(10 - i - j / 10, 11, kind=kind, outcome=outcome, nbytes=(1 << 40) * i - 1)
            sent.append((int(kind), int(outcome), (1 << 40) * i - 1))
    store.apply(maker.batch())
    _, rows = store.actions.since(0)
    columns = (rows[name].tolist() for name in ("kind", "outcome", "nbytes"))
    assert list(zip(*columns, strict=True)) == sent


def test_million_tasks_stay_within_the_memory_budget() -> None:
    """A quarter of a million, at a quarter of the 150 MB, in a log that keeps them all."""
    batches = list(Simulation(64, 4, 250_000).batches())
    gc.collect()
    tracemalloc.start()
    try:
        store = Store()
        for batch in batches:
            store.apply(batch)
        for earlier, later in pairwise((0.0, 0.2, 1.0)):
            span = store.actions.last_stop - store.actions.first_start
            begin = store.actions.first_start
            store.actions.query(begin + earlier * span, begin + later * span).answer()
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert store.actions.evicted == 0
    assert used < 150e6 / 4, f"{used / 1e6:.1f} MB"


def test_actions_are_found_by_the_key_of_their_task() -> None:
    store = Store(max_actions=6400)  # blocks of 400 rows
    for batch in Simulation(4, 4, 3000).batches(rows=700):
        store.apply(batch)
    _, all_rows = store.actions.since(0)
    for task in (0, 1234, int(all_rows["task"].max())):
        found = store.actions.of_key(store.actions.key(task))
        assert found["task"].tolist() == [task] * len(found["start"])
        assert sorted(found["start"].tolist()) == found["start"].tolist()
        assert len(found["start"]) == np.count_nonzero(all_rows["task"] == task) > 0
    for key in ("", "mul", store.actions.key(0)[:-1]):
        assert not len(store.actions.of_key(key)["start"])


def test_keys_that_are_parts_of_each_other_are_told_apart() -> None:
    keys = KeyTable()
    keys.extend(0, ["ab", "b", "", "aba", "ab", "é", "b\ud800"])
    found = {key: keys.find(key).tolist() for key in ("ab", "b", "a", "é", "b\ud800", "")}
    assert found == {"ab": [0, 4], "b": [1], "a": [], "é": [5], "b\ud800": [6], "": []}


def test_of_a_task_without_any_action_nothing_is_found() -> None:
    keys = KeyTable()
    keys.extend(0, ["inc-1"])
    log = ActionLog(SlotTable(StringTable()), keys)
    assert not len(log.of_key("inc-1")["start"])
