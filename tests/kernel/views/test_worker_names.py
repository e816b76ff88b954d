"""Names of workers: short where room is short, kept when the worker is gone, in one order."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dask_diag_lab.records import Batch, ExtraChange
from dask_diag_lab.store import Store
from dask_diag_lab.views.base import View
from dask_diag_lab.views.catalogue.workers import PLOTS
from dask_diag_lab.views.no_workers import NO_DATA, NO_WORKERS, no_workers
from dask_diag_lab.views.scheduler.stealing import Stealing
from dask_diag_lab.views.worker_names import short_names, short_worker_words, worker_name
from dask_diag_lab.views.workers.bandwidth_bars import BandwidthPairs
from dask_diag_lab.views.workers.bandwidth_workers import BandwidthWorkers
from dask_diag_lab.views.workers.cpu import Cpu
from dask_diag_lab.views.workers.occupancy import Occupancy
from dask_diag_lab.views.workers.tasks_processing import TasksProcessing
from dask_diag_lab.views.workers.worker_bars import WorkerBars
from dask_diag_lab.views.workers.workers_memory import WorkersMemory
from dask_diag_lab.views.workers.workers_table import WorkersTable
from tests.kernel.views.situations import Page, batch, store_of, worker

BARS = (Cpu, Occupancy, TasksProcessing, WorkersMemory)


def labels(view: WorkerBars) -> list[str]:
    """Return the names beside the bars, from the top."""
    axis = view.figure.yaxis[0]
    assert axis.visible
    named = dict(axis.major_label_overrides)
    return [str(named[tick]) for tick in view.picture.y_ticker.ticks]


@pytest.mark.parametrize(
    ("names", "width", "short"),
    [
        (["0", "12"], 5, ["0", "12"]),
        (["SLURMCluster-9", "SLURMCluster-10"], 7, ["9", "10"]),
        (["worker10", "worker11"], 6, ["10", "11"]),
        (["10.0.0.1:4001", "10.0.0.1:4023"], 6, ["4001", "4023"]),
        (["10.0.0.1:4000", "10.0.0.23:4000"], 6, ["1", "23"]),
        (["node-3f2a7b", "node-3f2a9b"], 5, ["…2a7b", "…2a9b"]),
        (["the-only-worker"], 8, ["the-o…er"]),
        (["worker-a", "worker-b"], 1, ["a", "b"]),
        (["worker-ab", "worker-cd"], 1, ["…", "…"]),
        ([], 5, []),
    ],
)
def test_short_names_keep_what_tells_workers_apart(
    names: list[str], width: int, short: list[str]
) -> None:
    assert short_names(names, width) == short


def test_words_that_are_no_workers_keep_their_ends_beside_short_names() -> None:
    words = ["Scheduler", "Mean of 12 workers", "Worker pool-7", "Worker pool-10"]
    assert short_worker_words(words, 10) == ["Scheduler", "Mean o…ers", "pool-7", "pool-10"]
    assert short_worker_words(words, 20) == words


@pytest.mark.parametrize("view", BARS)
@pytest.mark.parametrize("width", [220, 300, 860])
def test_every_plot_names_its_bars_in_the_same_natural_order(
    view: type[WorkerBars], width: int
) -> None:
    rows = [
        worker(n, name=f"SLURMCluster-{n}", host="10.0.0.1", address=f"tcp://10.0.0.1:{n}")
        for n in (10, 2, 1)
    ]
    store = store_of(workers=rows[:1])
    store.apply(batch(workers=rows))
    drawn = view(store)
    Page(drawn, width, 240)
    prefix = "SLURMCluster-" if width == 860 else ""
    assert labels(drawn) == [prefix + number for number in ("1", "2", "10")]


def test_workers_of_a_host_are_together_in_bars_and_table() -> None:
    rows = [worker(host, name=name) for host, name in ((10, "a1"), (9, "b10"), (11, "b2"))]
    store = store_of(workers=rows)
    drawn = Cpu(store)
    Page(drawn)
    assert labels(drawn) == ["b10", "a1", "b2"]
    assert WorkersTable(store).table().columns["name"] == ["Total", *labels(drawn)]


def test_thin_rows_have_every_second_name() -> None:
    drawn = Cpu(store_of(workers=[worker(n) for n in range(20)]))
    Page(drawn, 300, 250)
    assert labels(drawn) == [str(n) for n in range(0, 20, 2)]


def gone(*, extras: dict[str, ExtraChange] | None = None) -> Store:
    """Return a store in which worker 1 left and worker 0 is there."""
    store = store_of(workers=[worker(0, name="alpha"), worker(1, name="beta")])
    left = worker(1)["address"]
    rows = [worker(0, name="alpha")]
    store.apply(batch(workers=rows, removed_workers=[left], extras=extras or {}))
    return store


def test_worker_that_left_keeps_its_name_and_is_marked() -> None:
    store = gone()
    assert worker_name(store, worker(0)["address"]) == "alpha"
    assert worker_name(store, worker(1)["address"]) == "beta (left)"
    assert worker_name(store, "tcp://10.0.0.99:1") == "10.0.0.99:1"


def test_work_stealing_names_a_worker_that_left() -> None:
    moved: dict[str, list[object]] = {
        "time": [100.0],
        "event": ["confirmed"],
        "key": ["inc-1"],
        "victim": [worker(1)["address"]],
        "thief": [worker(0)["address"]],
    }
    store = gone()
    missing = {c.name for c in store.extras["stealing"].extra.columns} - moved.keys()
    view = Stealing(gone(extras={"stealing": ExtraChange(moved | {n: [0.0] for n in missing}, 0)}))
    view.build()
    names = view._bars.figure.yaxis[0].major_label_overrides
    assert sorted(names.values()) == ["Worker alpha", "Worker beta (left)"]


def test_bandwidth_names_a_worker_that_left() -> None:
    ends = [worker(1)["address"]], [worker(0)["address"]]
    pairs = {"source": ends[0], "destination": ends[1], "rate": [1e8]}
    view = BandwidthWorkers(gone(extras={"bandwidth-workers": ExtraChange(pairs, 0)}))
    view.build()
    assert view.map.squares.model.data["pair"] == ["beta (left) → alpha"]


def test_pairs_have_both_names_shortened_as_in_plots_of_workers() -> None:
    rows = [worker(n, name=f"SLURMCluster-{n}") for n in range(50)]
    gone = "tcp://10.0.0.99:4000"
    addresses = [row["address"] for row in rows]
    columns = {
        "source": [*addresses[1:], gone],
        "destination": [*addresses[:-1], addresses[0]],
        "rate": [1e6 * (n + 2) for n in range(49)] + [1e6],
    }
    extras = {"bandwidth-workers": ExtraChange(columns, 0)}
    view = BandwidthPairs(store_of(workers=rows, extras=extras))
    Page(view, 300, 240)
    assert labels(view)[:2] == ["10.…0 → 0", "2 → 1"]
    hover = view.bars.model.data
    assert [hover[f"hover{line}"][2] for line in range(3)] == [
        "SLURMCluster-2 → SLURMCluster-1",
        f"from {addresses[2]}",
        f"to {addresses[1]}",
    ]


def all_left() -> Batch:
    """Return a batch by which there were four threads once and are none now."""
    return replace(batch(nthreads=0, workers=[]), nthreads=[(10.0, 4), (3723.0, 0)])


def test_no_workers_is_told_from_no_workers_any_more() -> None:
    assert no_workers(Store()) == NO_DATA
    store = store_of(nthreads=0, workers=[])
    assert no_workers(store) == NO_WORKERS
    store.apply(all_left())
    assert no_workers(store).startswith("No workers now: the last one left at ")
    assert ":02:03. Add some with cluster.scale(4)." in no_workers(store)


@pytest.mark.parametrize("name", [plot.name for plot in PLOTS if not plot.only_with])
def test_every_plot_of_workers_says_that_they_are_gone(name: str) -> None:
    plot = next(plot for plot in PLOTS if plot.name == name)
    store = store_of(nthreads=0, workers=[])
    view: View = plot.load()(store)
    view.build()
    view.update()
    assert view.notice.empty == NO_WORKERS
    store.apply(all_left())
    view.update()
    assert view.notice.empty.startswith("No workers now: the last one left at ")
