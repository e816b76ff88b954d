"""The level-of-detail query against its definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.simulator import Simulation
from dask_diag_lab.schema import Kind, Outcome
from dask_diag_lab.store import History
from dask_diag_lab.store.arrays import Ints
from tests.kernel.store import brute
from tests.kernel.store.batches import T0, BatchMaker


@pytest.fixture(scope="module")
def busy() -> History:
    """Return a history of 16 slots with 5000 actions in full blocks, parts and a tail."""
    history = History(max_actions=16_000)  # blocks of 1000 rows
    for batch in Simulation(4, 4, 4000, errors=0.01).batches(rows=330):
        history.apply(batch)
    return history


WINDOWS = [
    *((-0.5, 1.5), (0.4, 0.6), (0.5, 0.51), (0.731, 0.7311)),
    *((0.99, 5.0), (-3.0, 0.01), (0.25, 0.25), (2.0, 3.0)),
]


@pytest.mark.parametrize(
    ("width_px", "max_rects"), [(800, 30_000), (800, 2000), (800, 700), (12, 30_000), (800, 100)]
)
def test_answer_is_what_the_definition_says(busy: History, width_px: int, max_rects: int) -> None:
    first, span = busy.actions.first_start, busy.actions.last_stop - busy.actions.first_start
    for begin, end in WINDOWS:
        t0, t1 = first + begin * span, first + end * span
        answer = busy.actions.query(t0, t1, None, width_px, max_rects).answer()
        assert len(answer) <= max_rects
        if 8 * answer.resolution_s <= max(t1 - t0, 1e-9):
            brute.check(busy, answer, t0, t1)


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
    assert answer.total == len(rows["start"]) == answer.count.sum()
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


def test_task_much_longer_than_the_window_is_drawn_in_it() -> None:
    maker = BatchMaker()
    for i in range(200):
        maker.action(i, i + 0.5, thread=1)
    maker.action(0, 1000, thread=2, prefix="long")
    history = History(max_actions=320)  # blocks of 20: the long one is in the last
    history.apply(maker.batch())
    answer = history.actions.query(T0 + 50.6, T0 + 50.7).answer()
    assert history.strings.take(answer.prefix.tolist()) == ["long"]


def test_buckets_do_not_move_when_the_window_pans(busy: History) -> None:
    first = busy.actions.first_start
    one = busy.actions.query(first + 10, first + 30, None, 100, 1000).answer()
    other = busy.actions.query(first + 10.37, first + 30.37, None, 100, 1000).answer()
    assert one.resolution_s == other.resolution_s > 0
    middle = (one.start > first + 12) & (one.start < first + 28)
    shifted = (other.start > first + 12) & (other.start < first + 28)
    for name in ("start", "stop", "task", "count"):
        np.testing.assert_array_equal(getattr(one, name)[middle], getattr(other, name)[shifted])


def test_nothing_merged_has_a_resolution_of_zero() -> None:
    history = History()
    history.apply(BatchMaker().action(0, 1).action(2, 3).batch())
    assert history.actions.query(T0, T0 + 4).answer().resolution_s == 0
    assert history.actions.query(T0, T0 + 4, None, 1).answer().resolution_s == 4


def test_empty_log_gives_an_empty_answer() -> None:
    answer = History().actions.query(T0, T0 + 1).answer()
    assert (len(answer), answer.total, answer.resolution_s) == (0, 0, 0)
    assert answer.prefix.dtype == np.int64


@pytest.mark.parametrize(
    ("t0", "t1", "slots", "width", "rects", "message"),
    [
        (2, 1, None, 10, 10, "later end"),
        (np.nan, 1, None, 10, 10, "later end"),
        (0, np.inf, None, 10, 10, "later end"),
        (0, 1, None, 0, 10, "width 0"),
        (0, 1, None, 10, 0, "0 rects"),
        (0, 1, np.array([0, 9]), 10, 10, "slots 0 … 9"),
        (0, 1, np.array([-1]), 10, 10, "slots -1"),
    ],
)
def test_senseless_questions_are_refused_in_words(
    t0: float, t1: float, slots: Ints | None, width: int, rects: int, message: str
) -> None:
    history = History()
    history.apply(BatchMaker().action(0, 1).batch())
    with pytest.raises(ValueError, match=message):
        history.actions.query(t0, t1, slots, width, rects).answer()
