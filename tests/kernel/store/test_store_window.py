"""The level-of-detail query against its definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.simulator import BEGIN, Simulation
from dask_diag_lab.schema import Kind, Outcome
from dask_diag_lab.store import History
from tests.kernel.store import brute
from tests.kernel.store.batches import T0, BatchMaker


@pytest.fixture(scope="module")
def busy() -> History:
    """Return a history of 16 slots with 5000 actions in full blocks, parts and a tail."""
    history = History(max_actions=16_000)  # blocks of 1000 rows
    for batch in Simulation(4, 4, 4000, errors=0.01).batches(rows=330):
        history.apply(batch)
    return history


@pytest.mark.parametrize("slots", [[0], [3, 7, 8], [15, 2], list(range(16)), []])
def test_only_slots_that_were_asked_for_are_answered(busy: History, slots: list[int]) -> None:
    t0, t1 = busy.actions.first_start, busy.actions.last_stop
    asked = np.array(slots, dtype=np.int64)
    answer = busy.actions.query(t0, t1, asked, 500, 2000).answer()
    brute.check(busy, answer, t0, t1, asked)
    assert set(answer.slot.tolist()) == set(slots)


times = st.integers(0, 64).map(lambda n: n / 16)
action = st.tuples(
    times,
    st.sampled_from([0.0, 1e-6, 0.001, 0.06, 0.1, 1.0, 30.0]),
    st.sampled_from(["tcp://w0:1", "tcp://w1:1"]),
    st.integers(1, 3),
    st.sampled_from(list(Kind)),
    st.sampled_from([Outcome.OK, Outcome.OK, Outcome.ERRED, Outcome.KILLED]),
)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(
    actions=st.lists(action, min_size=1, max_size=60),
    block=st.sampled_from([4, 16, 1000]),
    begin=st.floats(-2, 5),
    width=st.sampled_from([0.0, 0.01, 0.5, 3.0, 40.0]),
    pixels=st.sampled_from([1, 7, 100]),
    max_rects=st.sampled_from([1, 5, 1000]),
)
def test_any_actions_in_any_window_are_all_answered_for(
    actions: list[tuple[float, float, str, int, Kind, Outcome]],
    block: int,
    begin: float,
    width: float,
    pixels: int,
    max_rects: int,
) -> None:
    maker = BatchMaker()
    for start, seconds, worker, thread, kind, outcome in actions:
        maker.action(
            start, start + seconds, worker=worker, thread=thread, kind=kind, outcome=outcome
        )
    history = History(max_actions=block * 16)
    history.apply(maker.batch())
    t0, t1 = T0 + begin, T0 + begin + width
    answer = history.actions.query(t0, t1, None, pixels, max_rects).answer()
    rows = brute.inside(history, t0, t1, None)
    assert len(rows["start"]) == answer.count.sum()
    # Each outcome is shown in each slot that has it, over all the time that it took there.
    for outcome in Outcome:
        for slot in range(history.slots.count):
            mine = (rows["outcome"] == outcome) & (rows["slot"] == slot)
            shown = (answer.outcome == outcome) & (answer.slot == slot)
            assert mine.any() == shown.any()
            for start, stop in zip(rows["start"][mine], rows["stop"][mine], strict=True):
                covers = (answer.start[shown] <= start) & (answer.stop[shown] >= stop)
                assert covers.any()
    if 8 * answer.resolution_s <= width:
        brute.check(history, answer, t0, t1)


def test_short_transfer_is_not_hidden_by_long_task() -> None:
    maker = BatchMaker()
    maker.action(0, 10, prefix="long").action(0, 0.001, kind=Kind.TRANSFER, source="tcp://w1:1")
    history = History()
    history.apply(maker.batch())
    answer = history.actions.query(T0, T0 + 10, None, 2, 10).answer()
    assert answer.kind.tolist() == [Kind.COMPUTE, Kind.TRANSFER]
    assert history.strings.take(answer.source.tolist()) == ["", "tcp://w1:1"]


def test_nothing_merged_has_a_resolution_of_zero() -> None:
    history = History()
    history.apply(BatchMaker().action(0, 1).action(2, 3).batch())
    assert history.actions.query(T0, T0 + 4).answer().resolution_s == 0
    assert history.actions.query(T0, T0 + 4, None, 1).answer().resolution_s == 4


def test_empty_log_gives_an_empty_answer() -> None:
    answer = History().actions.query(T0, T0 + 1).answer()
    assert (len(answer.start), answer.resolution_s) == (0, 0)
    assert answer.prefix.dtype == np.int64


def test_a_window_has_each_action_that_a_picture_of_it_has(busy: History) -> None:
    first, last = busy.actions.first_start, busy.actions.last_stop
    for t0, t1 in ((-np.inf, np.inf), (first + 1, first + 3), (0.0, 1.0), (first, last)):
        rows, total = busy.actions.between(t0, t1)()
        expected = brute.inside(busy, t0, t1, None)
        assert total == len(rows["start"]) == len(expected["start"])
        assert rows["start"].tolist() == sorted(expected["start"].tolist())
        newest, n = busy.actions.between(t0, t1, 10)()
        assert (newest["start"].tolist(), n) == (rows["start"][-10:].tolist(), total)


def test_what_comes_and_goes_later_does_not_show_in_an_answer() -> None:
    asked = (BEGIN, BEGIN + 900, None, 300, 900)
    batches = list(Simulation(4, 4, 15_000, seed=3, errors=0.01).batches(rows=900))
    history, still = History(max_actions=8000), History(max_actions=8000)
    for batch in batches[:9]:
        history.apply(batch)
        still.apply(batch)
    query = history.actions.query(*asked)
    for batch in batches[9:]:
        history.apply(batch)
        history.actions.query(*asked).answer()
    assert history.actions.evicted > still.actions.evicted
    brute.same(query.answer(), still.actions.query(*asked).answer())
