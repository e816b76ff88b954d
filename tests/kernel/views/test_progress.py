"""Progress: what is done, in memory, failed and waiting, by prefix, group or span; time left."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from dask_diag_lab.collector.workers import OVER_MEMORY
from dask_diag_lab.schema import STATES, Change
from dask_diag_lab.store import LiveSession
from dask_diag_lab.views.format import clock
from dask_diag_lab.views.look import LIGHT, prefix_color
from dask_diag_lab.views.names import RECENT_S
from dask_diag_lab.views.tasks.progress import Progress, estimate
from dask_diag_lab.views.view import ArgumentError
from tests.kernel.store.batches import T0, group_row, prefix_row
from tests.kernel.views.conftest import Feed
from tests.kernel.views.situations import MIB, batch, session_of


class Bars:
    """A view that is built, and what its picture is made of."""

    def __init__(self, live: LiveSession, arguments: dict[str, str] | None = None) -> None:
        self.view = Progress(live, LIGHT, arguments)
        self.view.build()
        self.view.update()

    def __getitem__(self, column: str) -> list[Any]:  # of numbers or text
        self.view.update()
        return list(self.view.bars.model.data[column])


def spans(*rows: tuple[str, float, dict[str, int]], **columns: list[Any]) -> dict[str, Change]:
    """Return the extra table of spans: name, start and tasks by state."""
    n = len(rows)
    given: dict[str, list[Any]] = {  # columns differ in type
        "name": [name for name, _, _ in rows],
        "start": [start for _, start, _ in rows],
        "states": [tuple(counts.get(state, 0) for state in STATES) for _, _, counts in rows],
        "nbytes": [MIB] * n,
        "seconds": [10.0] * n,
    }
    return {"spans": Change({**given, **columns})}


def test_each_state_has_its_part_and_what_is_forgotten_stays_done() -> None:
    row = prefix_row(
        "inc", released=10, memory=20, erred=10, processing=20, queued=10, no_worker=10
    )
    row["states"][STATES.index("forgotten")] = 5
    bars = Bars(session_of(prefixes=[row]))
    parts = ("released", "memory", "erred", "processing", "queued", "no_worker", "forgotten")
    assert [bars[part][0] for part in parts] == [15, 20, 10, 20, 10, 10, 5]
    assert (bars["done"], bars["total"]) == ([35], [85])


def test_prefixes_are_ordered_by_their_number_of_tasks_or_by_flow() -> None:
    groups = [
        group_row("load-1", "load", memory=5),
        group_row("sum-1", "sum", ["load-1"], waiting=50),
    ]
    rows = [prefix_row("load", memory=5), prefix_row("sum", waiting=50)]
    bars = Bars(session_of(prefixes=rows, groups=groups))
    assert bars["name"] == ["sum", "load"]
    bars.view.set_control("order", "topological")
    assert bars["name"] == ["load", "sum"]
    bars.view.set_control("order", "size")
    assert bars["name"] == ["sum", "load"]


def test_bars_by_group_have_the_colour_of_their_prefix() -> None:
    groups = [group_row("x-1", "x", memory=4), group_row("x-2", "x", ["x-1"], waiting=9)]
    live = session_of(prefixes=[prefix_row("x", memory=4, waiting=9)], groups=groups)
    bars = Bars(live)
    bars.view.set_control("by", "group")
    assert bars["name"] == ["x-2", "x-1"]
    assert set(bars["color"]) == {prefix_color(live.history.prefix_index.index("x"), LIGHT)}
    bars.view.set_control("order", "topological")
    assert bars["name"] == ["x-1", "x-2"]
    assert bars.view.table().columns["group"] == ["x-1", "x-2"]
    assert [control.value for control in bars.view.caption.controls] == ["group", "topological"]


def test_a_group_that_the_scheduler_dropped_stays_as_done_and_more_are_noted() -> None:
    groups = [group_row("x-1", "x", memory=4), group_row("x-2", "x", ["x-1"], waiting=9)]
    live = session_of(prefixes=[prefix_row("x", memory=4, waiting=9)], groups=groups)
    bars = Bars(live, {"by": "group", "order": "topological"})
    assert bars.view.caption.note == ""
    live.apply(batch(groups=[group_row("x-1", "x", forgotten=4)], left_out={"groups": 2}))
    assert (bars["name"], bars["done"]) == (["x-1", "x-2"], [4, 0])
    assert bars.view.caption.note == "2 older groups that ended not kept"
    bars.view.set_control("by", "prefix")
    bars.view.update()
    assert bars.view.caption.note == ""


def test_arguments_choose_bars_and_order_and_others_are_refused() -> None:
    live = session_of(
        prefixes=[prefix_row("inc", memory=3)], groups=[group_row("inc-1", "inc", memory=3)]
    )
    bars = Bars(live, {"by": "group", "order": "topological"})
    assert bars["name"] == ["inc-1"]
    bars.view.show({"by": "prefix"})
    assert bars["name"] == ["inc"]
    assert bars.view.order == "topological"
    with pytest.raises(ArgumentError, match="“order” is one of “size”, “topological”, not “x”"):
        bars.view.show({"order": "x"})
    with pytest.raises(ArgumentError, match="no argument “worker”; those it has: “by”, “order”"):
        Progress(live, LIGHT, {"worker": "a"})


# --- spans


def test_bars_by_span_come_by_tasks_or_by_begin() -> None:
    known = spans(("first", 1.0, {"memory": 5}), ("later", math.nan, {"waiting": 9}))
    bars = Bars(session_of(prefixes=[prefix_row("x", memory=5, waiting=9)], extras=known))
    assert bars.view.needs == frozenset()
    bars.view.set_control("by", "span")
    assert bars.view.needs == {"spans"}
    assert bars["name"] == ["later", "first"]
    assert bars["duration"] == [pytest.approx(math.nan, nan_ok=True), 2.0]
    bars.view.set_control("order", "topological")
    assert bars["name"] == ["first", "later"]


def test_no_spans_and_no_answer_have_different_empty_texts() -> None:
    live = session_of(prefixes=[prefix_row("x", memory=5)])
    bars = Bars(live)
    bars.view.set_control("by", "span")
    bars.view.update()
    assert bars.view.caption.empty.startswith("Waiting")
    live.apply(batch(extras=spans()))
    bars.view.update()
    assert "distributed.span" in bars.view.caption.empty
    assert bars.view.caption.controls


# --- time left


def test_headline_has_share_time_left_and_all_states() -> None:
    rows = [
        prefix_row("a", 2.0, waiting=40, processing=8, memory=10),
        prefix_row("b", 1.0, queued=24, released=5, erred=2),
    ]
    bars = Bars(session_of(prefixes=rows, nthreads=8))
    assert bars.view.caption.headline == (
        "17 % of 89 tasks done · about 15.0 s left (estimate)"
        " · 2 erred · 8 processing · 10 in memory · 24 queued · 40 waiting"
    )


def test_prefixes_that_have_not_begun_make_it_a_lower_bound() -> None:
    rows = [prefix_row("a", 2.0, waiting=40), prefix_row("b", math.nan, waiting=9)]
    headline = Bars(session_of(prefixes=rows, nthreads=8)).view.caption.headline
    assert "at least 10.0 s left (estimate)" in headline


@pytest.mark.parametrize(
    ("row", "nthreads"),
    [
        (prefix_row("a", math.nan, waiting=4), 8),
        (prefix_row("a", 1.0, waiting=4), 0),
        (prefix_row("a", 1.0, memory=4), 8),
        (prefix_row("a", 1.0, waiting=4, no_worker=1), 8),
    ],
)
def test_no_estimate_without_grounds_for_one(row: dict[str, object], nthreads: int) -> None:
    bars = Bars(session_of(prefixes=[row], nthreads=nthreads))
    assert " left" not in bars.view.caption.headline


def test_workers_that_died_of_late_stand_with_their_cause_below_the_bars(feed: Feed) -> None:
    def death(at: float, worker: str) -> tuple[float, str, dict[str, Any]]:
        return T0 + at, "worker-killed", {"worker": worker, "cause": OVER_MEMORY, "lost_tasks": 1}

    feed.send(50, events=[death(10, "tcp://w0:1")], prefixes=[prefix_row("inc", memory=3)])
    bars = Bars(feed.live)
    assert bars.view.caption.note == f"worker w0:1 died at {clock(T0 + 10)}: {OVER_MEMORY}"
    feed.send(60, events=[death(52, "tcp://w1:1")])
    bars.view.update()
    assert bars.view.caption.note == (
        f"worker w1:1 died at {clock(T0 + 52)}: {OVER_MEMORY} · 2 workers died within 42.0 s"
    )
    feed.now += RECENT_S
    bars.view.update()
    assert bars.view.caption.note == ""


def test_time_left_is_reckoned_with_recorded_times_and_goes_down(feed: Feed) -> None:
    feed.maker.action(-30, 0)
    rows = [prefix_row("inc", 5.0, processing=1, memory=1)]
    feed.send(5.0, running=[("inc-a", "tcp://w0:1", "inc", 0.0)], prefixes=rows)
    bars = Bars(feed.live)
    assert "25.0 s left" in bars.view.caption.headline
    feed.now += 15.0
    bars.view.update()
    assert "10.0 s left" in bars.view.caption.headline


def test_a_straggler_has_a_button_for_its_call_stack(feed: Feed) -> None:
    for at in range(3):
        feed.maker.action(at, at + 1)
    running = [("inc-a", "tcp://w0:1", "inc", 3.0)]
    feed.send(9.0, running=running, prefixes=[prefix_row("inc", processing=1, memory=3)])
    view = Bars(feed.live).view
    assert view.caption.controls[-1].label == "Call stack: inc, 6.00 s"
    assert "left" not in view.caption.headline
    view.set_control("call-stack", "")
    assert view.plot_link is not None
    assert view.plot_link.arguments == {"key": "inc-a", "show": "call-stack"}


def reckon(
    left: int, mean_s: float, busy: float, nthreads: int, elapsed: Sequence[float] = ()
) -> float:
    """Return the estimate for one prefix, of which tasks have run for so many seconds."""
    prefix = np.zeros(len(elapsed), dtype=np.int64)
    one = np.array([left]), np.array([mean_s])
    return estimate(*one, busy, nthreads, prefix, np.array(elapsed, dtype=np.float64))


@pytest.mark.parametrize(
    ("seconds", "given"),
    [
        (8, (16, 2.0, 0.0, 8, [0] * 4)),
        (4, (16, 2.0, 0.0, 8)),
        (40, (80, 4.0, 8.0, 8)),
        (40, (80, 4.0, 80.0, 8)),
        (100, (100_000, 10e-6, 0.01, 8, [0])),  # threads idle between such short tasks
        (30, (1, 30.0, 0.0, 8)),  # however many threads there are
    ],
)
def test_only_threads_that_are_at_work_count(seconds: float, given: tuple[Any, ...]) -> None:
    assert reckon(*given) == pytest.approx(seconds)


def test_what_runs_has_some_of_its_time_behind_it() -> None:
    elapsed = [25.0, 20.0, 22.0, 24.0]
    assert reckon(4, 30.0, 0.0, 4, elapsed) == pytest.approx(10)  # the last to begin
    assert reckon(4, 30.0, 0.0, 4, [100.0] * 4) == pytest.approx(3)  # not taken to be done
    assert reckon(8, 30.0, 0.0, 4, elapsed) == pytest.approx((240 - 91) / 4)
