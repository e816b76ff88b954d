"""Plots of workers and hosts: rows of workers in, headline, columns, remarks and table out."""

from __future__ import annotations

from typing import Any, TypeVar

import pytest

from dask_diag_lab.views.bars import BarPlot
from dask_diag_lab.views.view import PlotLink, View
from dask_diag_lab.views.workers.bars import (
    ClusterMemory,
    Cpu,
    GpuMemory,
    GpuUtilization,
    RmmMemory,
    WorkersMemory,
)
from dask_diag_lab.views.workers.over_time import (
    CpuSeries,
    MemorySeries,
    ResultsSeries,
)
from dask_diag_lab.views.workers.traffic import HostNetwork
from dask_diag_lab.views.workers.workers_table import WorkersTable
from tests.kernel.store.batches import THRESHOLDS
from tests.kernel.views.situations import GIB, batch, session_of, worker

NET = {"host_net_io.read_bps": 3e6, "host_net_io.write_bps": 1e6}
GPU = {"gpu_utilization": 40, "gpu_memory_used": 2 * GIB, "gpu-memory-total": 16 * GIB}

V = TypeVar("V", bound=View)


def drawn(view: V) -> V:
    """Return a view that was drawn."""
    view.build()
    view.update()
    return view


def shown(kind: type[BarPlot], *rows: dict[str, Any], **more: Any) -> BarPlot:
    """Return a plot of workers, drawn."""
    return drawn(kind(session_of(workers=list(rows), **more)))


def column(view: BarPlot, name: str) -> list[Any]:
    """Return a column as it is sent."""
    chart: Any = view.chart  # Bokeh's properties are not typed as their values
    return list(chart.source.data[name])


# --- load


def test_names_are_those_of_people_and_a_click_opens_the_worker() -> None:
    view = shown(Cpu, worker(0), worker(1, name="alpha"), worker(2, name="tcp://10.0.0.2:1"))
    assert column(view, "label") == ["worker 0", "alpha", "10.0.0.2:1"]
    view.open_row(worker(1)["address"])
    assert view.plot_link == PlotLink("worker", {"worker": worker(1)["address"]})
    view.plot_link = None
    view.open_row("tcp://gone:1")
    assert view.plot_link is None


# --- memory


def test_memory_is_stacked_by_use_and_spilled_comes_after_it() -> None:
    row = worker(0, managed=GIB, unmanaged_old=GIB // 2, spilled=2 * GIB)
    view = shown(WorkersMemory, row)
    parts = [column(view, part.column)[0] / GIB for part in view.parts]
    assert parts == [1.0, 0.5, 0.0, 2.0]
    headline = "Process memory: 1.50 GiB + 2.00 GiB spilled to disk · 1 worker"
    assert view.caption.headline == headline
    assert view.table().units["memory_limit"] == "B"


@pytest.mark.parametrize(
    ("given", "level", "remark"),
    [
        ({"managed": GIB, "spilled": 50 * GIB}, "ok", ""),
        ({"managed": int(2.5 * GIB)}, "may spill", "may spill to disk"),
        ({"managed": int(3.9 * GIB)}, "critical", "at its memory limit"),
        ({"managed": 1, "status": "paused"}, "paused", "paused"),
        ({"managed": 1, "status": "closing_gracefully"}, "critical", "closing gracefully"),
        ({"managed": 100 * GIB, "memory_limit": 0}, "ok", ""),
    ],
)
def test_level_follows_process_memory_and_status(
    given: dict[str, Any], level: str, remark: str
) -> None:
    view = shown(WorkersMemory, worker(0, **given))
    assert view.table().columns["level"] == [level]
    assert column(view, "remark") == [remark]


def test_paused_workers_have_a_pattern_of_their_own_in_bar_and_legend() -> None:
    running, paused = worker(0, managed=GIB), worker(1, managed=GIB, status="paused")
    view = shown(WorkersMemory, running, paused)
    level = view.levels[column(view, "level_index")[1]]
    assert level.hatch
    item = view.caption.legend[0]  # a small pane shows no more
    assert (item.label, item.shape) == (level.label, "hatch")
    assert "hatch" not in [one.shape for one in shown(WorkersMemory, running).caption.legend]


@pytest.mark.parametrize(
    ("share", "thresholds", "level"),
    [
        (0.59, THRESHOLDS, "ok"),
        (0.60, THRESHOLDS, "may spill"),
        (0.95, THRESHOLDS, "critical"),
        (0.65, {**THRESHOLDS, "target": None}, "ok"),
        (0.99, dict.fromkeys(THRESHOLDS), "ok"),
        (1.00, dict.fromkeys(THRESHOLDS), "critical"),
    ],
)
def test_levels_begin_at_the_thresholds_that_are_on(
    share: float, thresholds: dict[str, float | None], level: str
) -> None:
    row = worker(0, managed=int(share * 1000), memory_limit=1000)
    assert shown(WorkersMemory, row, thresholds=thresholds).table().columns["level"] == [level]


def test_cluster_memory_is_one_bar_in_the_level_of_the_worst_worker() -> None:
    rows = [worker(0, managed=GIB), worker(1, managed=3 * GIB), worker(2, status="paused")]
    view = shown(ClusterMemory, *rows)
    assert column(view, "level_index") == [3]
    assert column(view, "remark") == ["1 worker paused or at the limit"]
    assert view.caption.headline == "Process memory: 4.00 GiB · 33 % of 12.0 GiB"


def test_one_worker_without_limit_leaves_the_cluster_without_one() -> None:
    view = shown(ClusterMemory, worker(0, managed=GIB), worker(1, memory_limit=0))
    assert view.table().columns["memory_limit"] == [None]
    assert view.caption.headline == "Process memory: 1.00 GiB"


# --- traffic and GPUs


def test_host_of_several_workers_is_one_bar() -> None:
    rows = [worker(i, host="h", metrics=NET) for i in range(3)]
    view = shown(HostNetwork, *rows, worker(7, host="other", metrics=NET))
    assert view.caption.headline == "Network: 6.00 MB/s received, 2.00 MB/s sent"
    table = view.table().columns
    assert (table["host"], table["workers"]) == (["h", "other"], [3, 1])


@pytest.mark.parametrize("kind", [GpuUtilization, GpuMemory, RmmMemory])
def test_cluster_without_gpus_says_so(kind: type[BarPlot]) -> None:
    assert shown(kind, worker(0)).caption.empty.startswith("No worker reports")


def test_only_workers_that_report_a_gpu_have_a_bar() -> None:
    rows = [worker(0), worker(1, metrics=GPU), worker(2, metrics={**GPU, "gpu_utilization": 90})]
    view = shown(GpuUtilization, *rows)
    assert column(view, "gpu_utilization") == [40, 90]
    assert view.caption.headline == "GPU use: 65 % on average"


# --- workers that share a process


@pytest.mark.parametrize("kind", [WorkersTable, WorkersMemory, ClusterMemory, Cpu])
def test_plots_of_cpu_and_memory_say_which_workers_share_a_process(kind: type[View]) -> None:
    rows = [worker(n, process="inproc://host/17") for n in range(3)]
    note = drawn(kind(session_of(workers=[*rows, worker(3)]))).caption.note
    assert note.startswith("4 workers in 2 processes: each has an equal part")
    alone = session_of(workers=[worker(n) for n in range(3)])
    assert "processes" not in drawn(kind(alone)).caption.note


# --- over time


def test_series_are_recorded_before_anybody_looks() -> None:
    live = session_of(workers=[worker(0, cpu=10.0), worker(1, cpu=30.0)])
    live.apply(batch(time=1005.0, workers=[worker(0, cpu=50.0)]))
    view = drawn(CpuSeries(live))
    table = view.table()
    assert table.columns["CPU_mean"] == [20.0, 40.0]
    assert (table.columns["CPU_low"][0], table.columns["CPU_high"][0]) == (10.0, 30.0)
    assert table.units["CPU_mean"] == "%"
    assert view.caption.headline == "CPU over Time: mean 40 % CPU"
    assert [item.label for item in view.caption.legend] == ["CPU", "lowest to highest"]


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([0.1 * GIB] * 25, "a worker pauses in about 7.00 s"),  # 2.5 of 3.2 GiB are used
        ([0] * 25, "Memory over Time"),
        ([0.5 * GIB, -0.5 * GIB] * 13, "Memory over Time"),
    ],
    ids=["rising", "steady", "to and fro"],
)
def test_memory_that_rises_in_a_line_tells_when_a_worker_pauses(
    steps: list[float], said: str
) -> None:
    live, memory = session_of(workers=[worker(0)]), 0.0
    for at, step in enumerate(steps):
        memory += step
        live.apply(batch(time=1001.0 + at, workers=[worker(0, managed=round(memory))]))
    live.set_feed_state("live", "", 0.0)
    assert drawn(MemorySeries(live)).caption.headline.startswith(said)


def test_results_are_added_up_over_the_workers_at_each_time() -> None:
    live = session_of(workers=[worker(0, in_memory=3), worker(1, in_memory=4)])
    live.apply(batch(time=1005.0, workers=[worker(0, in_memory=0)]))
    view = drawn(ResultsSeries(live))
    assert view.table().columns == {"time": [1000.0, 1005.0], "results": [7, 4]}
    assert view.caption.headline == "Results in Memory over Time: 4 results"
    assert view.caption.note.endswith("copies of a result included")
