"""Where the Time Goes: one bar that is all of the time, and a row for each category."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dask_diag_lab.schema import Kind, Outcome
from dask_diag_lab.store import LiveSession
from dask_diag_lab.views.scheduler.budget import WhereTheTimeGoes
from tests.kernel.store.batches import T0, BatchMaker, prefix_row, worker_row
from tests.kernel.views.drawn import Drawn
from tests.kernel.views.situations import batch, change

METRICS = [
    ("execute", "work", "thread-cpu", "seconds", 6.0),
    ("execute", "work", "thread-noncpu", "seconds", 2.0),
]


def at_work(**more: Any) -> LiveSession:
    """Return a session of two threads that worked for 10 s, and for 5 s one minute before."""
    live, maker = LiveSession(), BatchMaker()
    live.apply(maker.batch(workers=[worker_row("tcp://w0:1", nthreads=2)]))
    waits: dict[str, Any] = {"ready": np.nan, "assigned": np.nan, "report_delay": np.nan}
    maker.action(-60, -55, prefix="before", thread=1, **waits)
    maker.action(0, 8, prefix="work", thread=1, **waits)
    maker.action(0, 1, prefix="work", thread=2, outcome=Outcome.ERRED, **waits)
    maker.action(5, 10, prefix="late", thread=2, ready=2.0, assigned=1.0, report_delay=np.nan)
    maker.action(4, 5, prefix="late", thread=2, kind=Kind.TRANSFER, key="late-3", **waits)
    live.apply(maker.batch(**more))
    live.apply(replace(batch(time=T0 + 10, extras=change("activities", METRICS)), epoch="epoch-1"))
    return live


def seconds_of(shown: Drawn[WhereTheTimeGoes]) -> dict[str, float]:
    return dict(zip(shown.data["category"], shown.data["seconds"], strict=True))


def test_the_last_work_is_shown_and_its_categories_are_all_of_it() -> None:
    shown = Drawn(WhereTheTimeGoes(at_work()))
    seconds = seconds_of(shown)
    assert seconds.pop("All threads") == pytest.approx(20)
    assert sum(seconds.values()) == pytest.approx(20)
    assert seconds["Failed"] == pytest.approx(1)
    assert seconds["Waiting for data"] == pytest.approx(1)
    assert seconds["Waiting in tasks"] == pytest.approx(8 * 2 / 8)
    assert seconds["Computing"] == pytest.approx(8 * 6 / 8 + 5)
    assert seconds["Scheduler"] == pytest.approx(1)
    most = dict(zip(shown.data["category"], shown.data["most"], strict=True))
    assert most["Computing"] == "work 6.00 s, late 5.00 s"
    assert shown.view.caption.headline.startswith("55 % computing, ")
    assert "20.0 s that all threads were there, 10.0 s from" in shown.view.caption.note


@pytest.mark.parametrize(("cpu", "executing", "share"), [(0, 2, 1.0), (100, 2, 0.5), (200, 4, 0.0)])
def test_tasks_of_which_none_has_ended_wait_as_far_as_the_cpu_is_not_used(
    cpu: float, executing: int, share: float
) -> None:
    """Four at once on two threads are two, and two that have left them to these."""
    live, maker = LiveSession(), BatchMaker()
    at_work = worker_row("tcp://w0:1", nthreads=2, cpu=float(cpu), executing=executing)
    for maker.time in (T0, T0 + 1, T0 + 9):
        running = [(f"new-{n}", "tcp://w0:1", "new", 0.0) for n in range(executing)]
        live.apply(
            maker.batch(
                workers=[at_work], running=running, prefixes=[prefix_row("new", processing=2)]
            )
        )
    seconds = seconds_of(Drawn(WhereTheTimeGoes(live)))
    assert seconds.get("Waiting in tasks", 0.0) == pytest.approx(share * seconds["All threads"])


def test_a_longer_stretch_that_begins_alike_is_another_one() -> None:
    shown = Drawn(WhereTheTimeGoes(at_work(), arguments={"start": str(T0), "stop": str(T0 + 5)}))
    assert seconds_of(shown)["All threads"] == pytest.approx(10)
    shown.view.show({"start": str(T0), "stop": str(T0 + 10)})
    shown.view.update()
    assert seconds_of(shown)["All threads"] == pytest.approx(20)


def test_a_category_names_the_workers_that_make_it_up() -> None:
    live, maker = LiveSession(), BatchMaker()
    live.apply(maker.batch(workers=[worker_row(f"tcp://w{i}:1", nthreads=1) for i in range(2)]))
    maker.action(
        0, 8, worker="tcp://w0:1", prefix="work", ready=0.0, assigned=0.0, report_delay=0.0
    )
    maker.action(
        0, 2, worker="tcp://w1:1", prefix="work", ready=0.0, assigned=0.0, report_delay=0.0
    )
    maker.time = T0 + 8
    live.apply(maker.batch())
    period = {"start": str(T0), "stop": str(T0 + 8)}
    shown = Drawn(WhereTheTimeGoes(live, arguments={**period, "by": "worker"}))
    named = dict(zip(shown.data["category"], shown.data["workers"], strict=True))
    assert (named["Computing"], named["Dependencies"]) == ("w0:1 8.00 s, w1:1 2.00 s", "")
    columns = shown.view.table().columns
    rows = zip(columns["category"], columns["worker"], columns["seconds"], strict=True)
    assert sorted(rows) == [
        ("computing", "tcp://w0:1", pytest.approx(8)),
        ("computing", "tcp://w1:1", pytest.approx(2)),
        ("dependencies", "tcp://w1:1", pytest.approx(6)),
    ]


def test_a_click_on_a_category_shows_its_moments_in_the_task_stream() -> None:
    shown = Drawn(WhereTheTimeGoes(at_work()))
    shown.view.chart.update(clicked=["failed"])
    plot_link = shown.view.plot_link
    assert plot_link is not None
    arguments = dict(plot_link.arguments)
    assert (plot_link.plot, arguments.pop("show")) == ("task-stream", "failed")
    moments = [float(moment) - T0 for moment in arguments.values()]
    assert moments == pytest.approx([0, 10], abs=1e-5)
