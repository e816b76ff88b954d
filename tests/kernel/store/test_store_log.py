"""The action log: cursors, eviction, keys, and what all of it weighs."""

from __future__ import annotations

import gc
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.simulator import Simulation
from dask_diag_lab.schema.tables import ACTIONS
from dask_diag_lab.store import History
from dask_diag_lab.store.actions import KeyTable
from tests.kernel.store.batches import T0, BatchMaker


def test_cursor_gives_back_what_came_in_order_of_arrival() -> None:
    simulation = Simulation(3, 2, 3000, deaths=0)
    history, cursor = History(max_actions=100_000), 0
    pieces = []
    for batch in simulation.batches(rows=777):
        history.apply(batch)
        cursor, rows = history.actions.since(cursor)
        pieces.append(rows)
        assert cursor == batch.actions_to == history.actions.total
    for column in ACTIONS.columns:
        joined = np.concatenate([rows[column.name] for rows in pieces])
        assert joined.dtype == np.dtype(column.dtype)
        sent = simulation.actions[column.name]
        if column.name in ("worker", "prefix", "source"):
            texts = history.strings.take(joined.tolist())
            assert texts == [simulation.strings[i] for i in sent.tolist()]
        else:
            np.testing.assert_array_equal(joined, sent)
    assert history.actions.since(cursor)[1]["start"].size == 0


def test_oldest_actions_are_given_up_in_blocks_and_counted() -> None:
    history, maker = History(max_actions=1600), BatchMaker()
    for i in range(40):
        for j in range(83):
            maker.action(i + j / 100, i + j / 100 + 0.005)
        history.apply(maker.batch())
        actions = history.actions
        assert actions.total == 83 * (i + 1)
        assert actions.count + actions.evicted == actions.total
        assert actions.count <= 1600
    assert actions.count > 1500
    assert actions.first_start > T0
    assert actions.last_stop == pytest.approx(T0 + 39.825)
    cursor, rows = actions.since(0)
    assert cursor == actions.total
    assert len(rows["start"]) == actions.count
    answer = actions.query(T0 - 1, T0 + 50, None, 100_000, 10_000).answer()
    assert answer.count.sum() == actions.count
    assert all(actions.key(task) for task in rows["task"].tolist())


def test_actions_lost_on_the_way_are_counted() -> None:
    history, maker = History(), BatchMaker()
    history.apply(maker.action(0, 1).batch(actions_dropped=7))
    history.apply(maker.batch(actions_dropped=5))
    history.apply(maker.batch())
    assert (history.actions.dropped, history.actions.count) == (12, 1)
    broken = maker.action(1, 2).batch(actions_dropped=3, graphs=[(10**9, 0.0, "mine", 1)])
    for _ in range(2):  # it is sent again
        with pytest.raises(ValueError, match="graph"):
            history.apply(broken)
    assert (history.actions.dropped, history.actions.count) == (12, 1)


def test_million_tasks_stay_within_the_memory_budget() -> None:
    """A tenth of them, at a tenth of what they may take, in a log that keeps them all."""
    batches = list(Simulation(64, 4, 100_000).batches())
    gc.collect()
    tracemalloc.start()
    try:
        history = History()
        for batch in batches:
            history.apply(batch)
        for earlier, later in pairwise((0.0, 0.2, 1.0)):
            span = history.actions.last_stop - history.actions.first_start
            begin = history.actions.first_start
            history.actions.query(begin + earlier * span, begin + later * span).answer()
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert history.actions.evicted == 0
    # The room of the series, and of what was drawn, is the same for any number of tasks.
    assert used < 12e6 + 120e6 / 10, f"{used / 1e6:.1f} MB"


def test_actions_are_found_by_the_key_of_their_task() -> None:
    history = History(max_actions=6400)  # blocks of 400 rows
    for batch in Simulation(4, 4, 3000).batches(rows=700):
        history.apply(batch)
    _, all_rows = history.actions.since(0)
    for task in (0, 1234, int(all_rows["task"].max())):
        found = history.actions.of_key(history.actions.key(task))
        assert found["task"].tolist() == [task] * len(found["start"])
        assert sorted(found["start"].tolist()) == found["start"].tolist()
        assert len(found["start"]) == np.count_nonzero(all_rows["task"] == task) > 0
    for key in ("", "mul", history.actions.key(0)[:-1]):
        assert not len(history.actions.of_key(key)["start"])


TOKENS = [f"{i:x}".zfill(32) for i in (0, 7, 2**128 - 1)]
PARTS = st.one_of(st.sampled_from(["-", "\0", "\xfe", "\xff", *TOKENS, f"-{TOKENS[0]}"]), st.text())
KEYS = st.lists(st.lists(PARTS, max_size=5).map("".join), max_size=20)


@settings(max_examples=25)
@given(parts=st.lists(KEYS, max_size=4))
def test_every_key_is_given_back_as_it_came_and_found(parts: list[list[str]]) -> None:
    keys, known = KeyTable(), [key for part in parts for key in part]
    for part in parts:
        keys.extend(keys.stop, part)
    ordinals = np.arange(-1, len(known) + 1)
    assert keys.take(ordinals).tolist() == ["", *known, ""]
    assert [keys[i] for i in range(len(known))] == known
    for key in known:
        assert keys.find(key).tolist() == [i for i, one in enumerate(known) if one == key]
