"""Runs, and two of them beside each other."""

from __future__ import annotations

from typing import Any

import pytest
from bokeh.models import Plot

from dask_diag_lab.store import LiveSession
from dask_diag_lab.store.runs import Piece
from dask_diag_lab.views.format import clock
from dask_diag_lab.views.scheduler.budget import RunsPlot
from dask_diag_lab.views.scheduler.compare import Compare
from dask_diag_lab.views.stream.task_stream import TaskStream
from dask_diag_lab.views.view import ArgumentError, PlotLink
from tests.kernel.store.batches import T0, BatchMaker, worker_row
from tests.kernel.views.drawn import Drawn


def two_runs() -> LiveSession:
    """Return a session with a run of 10 s that computed for 4, and one of 6 s that did for 5."""
    live, maker = LiveSession(), BatchMaker()
    live.apply(maker.batch(workers=[worker_row("tcp://w0:1", nthreads=1)]))
    runs = live.history.runs
    runs.clients.add("mine")
    runs.note_code(Piece("1", "load()", "cell-1", 1, T0, T0 + 10))
    runs.note_code(Piece("2", "load()", "cell-2", 2, T0 + 20, T0 + 26))
    for at in range(4):
        maker.action(at, at + 1, prefix="old", graph=1)
    for at in range(5):
        maker.action(at + 20, at + 21, prefix="new", graph=2)
    maker.time = T0 + 30
    live.apply(maker.batch(graphs=[(1, 0.0, "mine", 4), (2, 20.0, "mine", 5)]))
    return live


def column(shown: Drawn[Any], name: str) -> dict[str, Any]:
    label = "name" if isinstance(shown.view, Compare) else "label"
    return dict(zip(shown.data[label], shown.data[name], strict=True))


def test_each_run_is_a_bar_as_long_as_it_took_newest_first() -> None:
    shown = Drawn(RunsPlot(two_runs()))
    assert list(shown.data["label"]) == ["[2] load()", "[1] load()"]
    assert shown.data["seconds"] == pytest.approx([6, 10])
    parts = [part.column for part in shown.view.parts]
    for row, took_s in enumerate((6, 10)):
        assert sum(shown.data[part][row] for part in parts) == pytest.approx(took_s)
    assert shown.data["client"] == pytest.approx([1, 6], abs=0.01)
    labels = [item.label for item in shown.view.caption.legend]
    assert {"Computing", "Client"} <= set(labels)
    assert "Disk" not in labels  # there was none


def test_a_click_on_a_run_opens_its_findings() -> None:
    view = RunsPlot(two_runs())
    view.open_row("2")
    assert view.plot_link is not None
    assert (view.plot_link.plot, view.plot_link.arguments) == ("findings", {"run": "2"})


def test_a_stream_counts_from_the_begin_of_the_run_that_it_shows() -> None:
    shown = Drawn(TaskStream(two_runs()))
    (axis,) = shown.models(Plot)[0].xaxis
    assert axis.axis_label == f"0 s is {clock(T0 + 20)}"
    shown.view.show({"run": "1"})
    shown.sent()
    assert axis.axis_label == f"0 s is {clock(T0)}"


def test_what_made_the_difference_adds_up_to_it() -> None:
    shown = Drawn(Compare(two_runs()))
    before, after = column(shown, "before"), column(shown, "after")
    assert (before.pop("Whole run"), after.pop("Whole run")) == pytest.approx((10, 6))
    assert sum(before.values()) == pytest.approx(10)
    assert sum(after.values()) == pytest.approx(6)
    assert column(shown, "remark")["Whole run"] == "−4.00 s"
    assert next(iter(before)) == "Client"  # differs most
    assert shown.view.caption.headline == "10.0 s → 6.00 s: −4.00 s"
    assert [item.label for item in shown.view.caption.legend] == ["[1] load()", "[2] load()"]


def test_tasks_that_only_one_run_had_are_said_to_be_so() -> None:
    shown = Drawn(Compare(two_runs(), arguments={"before": "1", "after": "2", "by": "tasks"}))
    assert column(shown, "remark") == {"new": "added", "old": "removed"}
    assert shown.view.table().columns["tasks_after"] == [5, 0]
    shown.view.set_control("by", "time")  # a category has no tasks
    assert list(shown.view.table().columns) == ["name", "before", "after", "step"]


def test_a_prefix_is_the_same_only_where_its_tasks_and_bytes_are_as_well() -> None:
    live, maker = LiveSession(), BatchMaker()
    for run, (n_tasks, nbytes) in enumerate([(1, 10**6), (100, 10**10)], 1):
        began = 20 * run
        maker.action(began, began + 1, prefix="alike", nbytes=10**6, graph=run)
        maker.action(began, began + 1, prefix="large", nbytes=nbytes, graph=run)
        for at in range(n_tasks):
            begin = began + at / n_tasks
            maker.action(begin, begin + 1 / n_tasks, prefix="many", graph=run)
    maker.time = T0 + 60
    live.apply(maker.batch(graphs=[(1, 20.0, "one", 3), (2, 40.0, "other", 102)]))
    shown = Drawn(Compare(live, arguments={"by": "tasks"}))
    assert column(shown, "remark") == {"alike": "same", "large": "±0 s", "many": "±0 s"}


def test_a_click_on_a_prefix_compares_where_its_code_took_long() -> None:
    shown = Drawn(Compare(two_runs(), arguments={"by": "tasks"}))
    shown.view.open_row("new")
    where = {"run": "2", "before": "1", "prefix": "new"}
    assert shown.view.plot_link == PlotLink("profile", where)


def test_a_click_on_the_whole_run_compares_all_code_and_one_on_a_category_shows_it() -> None:
    shown = Drawn(Compare(two_runs()))
    shown.view.open_row("Whole run")
    assert shown.view.plot_link == PlotLink("profile", {"run": "2", "before": "1"})
    shown.view.open_row("Client")
    assert shown.view.plot_link == PlotLink("budget", {"run": "2"})


def test_a_run_can_be_compared_with_another_one() -> None:
    shown = Drawn(Compare(two_runs()))
    shown.view.show({"before": "2", "after": "2"})
    shown.view.update()
    assert column(shown, "remark")["Whole run"] == "±0 s"


def test_a_run_that_is_not_kept_is_named() -> None:
    with pytest.raises(ArgumentError, match="no run 7"):
        Drawn(Compare(two_runs(), arguments={"before": "7"}))


def test_it_takes_two_runs() -> None:
    assert "Two runs are needed" in Drawn(Compare(LiveSession())).view.caption.empty
