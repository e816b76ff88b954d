"""Names of workers: short where room is short, kept when the worker is gone, in one order."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace

import pytest

from dask_diag_lab.records import Batch, ExtraChange
from dask_diag_lab.store import Store
from dask_diag_lab.views.base import View
from dask_diag_lab.views.catalogue.workers import PLOTS
from dask_diag_lab.views.no_workers import NO_DATA, NO_WORKERS, no_workers
from dask_diag_lab.views.scheduler.stealing import Stealing
from dask_diag_lab.views.worker_names import (
    NamedWorkers,
    name_in_words,
    short_names,
    worker_name,
)
from dask_diag_lab.views.workers.bandwidth_bars import BandwidthPairs
from dask_diag_lab.views.workers.bandwidth_workers import BandwidthWorkers
from dask_diag_lab.views.workers.bar_names import axis_title
from dask_diag_lab.views.workers.cpu import Cpu
from dask_diag_lab.views.workers.data_transfer import DataTransfer
from dask_diag_lab.views.workers.host_traffic import HostNetwork
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


@pytest.mark.parametrize("name", ["rack-a-node{:04d}-of-the-lab.example.org", "{:04d}.lab:{:05d}"])
def test_a_thousand_long_names_are_shortened_in_few_steps(name: str) -> None:
    names, calls = [name.format(n, n) for n in range(1000)], Counter[str]()
    before = sys.getprofile()
    sys.setprofile(lambda _frame, event, _of: calls.update([event]))
    try:
        short = short_names(names, 5)
    finally:
        sys.setprofile(before)
    assert len(set(short)) == 1000
    assert calls.total() < 25 * 1000


def test_only_a_bare_number_is_called_a_worker() -> None:
    names = ("0", "0 (left)", "alpha", "SLURMCluster-3", "tcp://10.0.0.1:1")
    words = ["worker 0", "worker 0 (left)", "alpha", "SLURMCluster-3", "10.0.0.1:1"]
    assert [name_in_words(name) for name in names] == words


@pytest.mark.parametrize("view", [*BARS, DataTransfer])
@pytest.mark.parametrize(
    ("name", "words"), [("0", "worker 0"), ("alpha", "alpha"), ("tcp://10.0.0.1:1", "10.0.0.1:1")]
)
def test_every_hover_begins_with_the_worker_in_the_same_words(
    view: type[WorkerBars], name: str, words: str
) -> None:
    drawn = view(store_of(workers=[worker(0, name=name)]))
    Page(drawn)
    assert drawn.bars.model.data["hover0"][0] == words


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
    assert labels(drawn) == [f"worker {n}" for n in range(0, 20, 2)]


@pytest.mark.parametrize(
    ("width", "n", "first", "title"),
    [
        (860, 100, "worker 0", None),
        (320, 4, "worker 0", None),
        (200, 4, "0", "worker"),  # no room for the word beside each
        (320, 5000, "0", "worker"),
    ],
)
def test_workers_that_are_called_by_numbers_are_called_workers_at_the_axis(
    width: int, n: int, first: str, title: str | None
) -> None:
    drawn = Cpu(store_of(workers=[worker(i) for i in range(n)]))
    Page(drawn, width, 420)
    assert labels(drawn)[0] == first
    assert drawn.figure.yaxis[0].axis_label == title


def test_pairs_of_workers_that_are_called_by_numbers_say_so() -> None:
    ends = [[worker(i)["address"] for i in pair] for pair in ((0, 1), (1, 0))]
    pairs = {
        "source": [a for a, _ in ends],
        "destination": [b for _, b in ends],
        "rate": [1e6, 2e6],
    }
    store = store_of(
        workers=[worker(0), worker(1)], extras={"bandwidth-workers": ExtraChange(pairs)}
    )
    drawn = BandwidthPairs(store)
    page = Page(drawn, 860, 420)
    assert labels(drawn)[0] == "worker 0 → worker 1"
    assert drawn.figure.yaxis[0].axis_label is None
    page.resize(320, 220)
    assert labels(drawn)[0] == "0 → 1"
    assert drawn.figure.yaxis[0].axis_label == "worker"


def test_workers_with_names_of_their_own_are_called_by_these_alone() -> None:
    drawn = Cpu(store_of(workers=[worker(0, name="alpha"), worker(1, name="tcp://10.0.0.1:1")]))
    Page(drawn, 860, 420)
    assert labels(drawn) == ["alpha", "10.0.0.1:1"]
    assert drawn.figure.yaxis[0].axis_label is None


@pytest.mark.parametrize("width", [200, 300, 400, 860])
@pytest.mark.parametrize("by", ["worker", "host", "traffic"])
def test_what_is_left_of_an_address_is_not_called_a_worker_at_the_axis(width: int, by: str) -> None:
    metrics = {"host_net_io.read_bps": 3e6, "host_net_io.write_bps": 1e6}
    rows = [
        worker(n, name=f"tcp://{host}:40{n}", host=host, metrics=metrics)
        for n, host in enumerate(f"192.168.100.{end}" for end in (11, 11, 12, 13))
    ]
    store = store_of(workers=rows)
    drawn = HostNetwork(store) if by == "traffic" else Cpu(store)
    page = Page(drawn, width, 420)
    drawn.command("by-host" if by == "host" else "by-worker")
    page.sent()
    assert len(labels(drawn)) == (4 if by == "worker" else 3)
    if width <= 300:
        assert by == "worker" or labels(drawn)[0] == "11"
    assert drawn.figure.yaxis[0].axis_label is None


def test_hosts_that_are_called_by_numbers_are_not_called_workers_at_the_axis() -> None:
    metrics = {"host_net_io.read_bps": 3e6, "host_net_io.write_bps": 1e6}
    store = store_of(workers=[worker(n, host=str(n // 2), metrics=metrics) for n in range(6)])
    traffic = HostNetwork(store)
    Page(traffic, 200, 420)
    assert labels(traffic) == ["0", "1", "2"]
    assert traffic.figure.yaxis[0].axis_label is None
    drawn = Cpu(store)
    page = Page(drawn, 200, 420)
    assert drawn.figure.yaxis[0].axis_label == "worker"
    drawn.command("by-host")
    page.sent()
    assert labels(drawn) == ["0", "1", "2"]
    assert drawn.figure.yaxis[0].axis_label is None


@pytest.mark.parametrize(
    ("named", "title"),
    [
        ([("", "")], None),
        ([("0", "0")], "worker"),
        ([("0", "worker 0")], None),
        ([("10.0.0.1:4001", "4001")], None),
        ([("alpha", "alpha"), ("7", "7")], "worker"),
        ([("0 (left)", "0 (left)")], "worker"),
        ([("0", "worker 0 → beta"), ("beta", "worker 0 → beta")], None),
        ([], None),
    ],
)
def test_the_axis_says_of_what_bare_numbers_are(
    named: list[tuple[str, str]], title: str | None
) -> None:
    assert axis_title(named) == title


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


def test_a_worker_that_is_there_has_not_left_though_its_name_is_empty() -> None:
    store = store_of(workers=[worker(0, name="")])
    address = worker(0)["address"]
    assert NamedWorkers.of(store).names([address]) == {address: worker_name(store, address)}


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
    assert sorted(names.values()) == ["alpha", "beta (left)"]


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
