"""Names of workers: short where room is short, kept when the worker is gone, in one order."""

from __future__ import annotations

import pytest

from dask_diag_lab.schema import Batch
from dask_diag_lab.store import Store
from dask_diag_lab.views.registry import get_plot
from dask_diag_lab.views.worker_names import (
    NO_DATA,
    NO_WORKERS,
    NamedWorkers,
    name_label,
    no_workers,
    short_names,
    worker_name,
)
from tests.kernel.views.situations import batch, store_of, worker


@pytest.mark.parametrize(
    ("names", "width", "short"),
    [
        (["0", "12"], 5, ["0", "12"]),
        (["SLURMCluster-9", "SLURMCluster-10"], 7, ["9", "10"]),
        (["10.0.0.1:4000", "10.0.0.23:4000"], 6, ["1", "23"]),
        (["node-3f2a7b", "node-3f2a9b"], 5, ["…2a7b", "…2a9b"]),
        (["the-only-worker"], 8, ["…-worker"]),
        ([], 5, []),
    ],
)
def test_short_names_keep_what_tells_workers_apart(
    names: list[str], width: int, short: list[str]
) -> None:
    assert short_names(names, width) == short


def test_only_a_bare_number_is_called_a_worker() -> None:
    names = ("0", "0 (left)", "alpha", "SLURMCluster-3", "tcp://10.0.0.1:1")
    words = ["worker 0", "worker 0 (left)", "alpha", "SLURMCluster-3", "10.0.0.1:1"]
    assert [name_label(name) for name in names] == words


def test_worker_that_left_keeps_its_name_and_is_marked() -> None:
    store = store_of(workers=[worker(0, name="alpha"), worker(1, name="beta")])
    left = [worker(1)["address"]]
    store.apply(batch(workers=[worker(0, name="alpha")], removed_workers=left))
    assert worker_name(store, worker(0)["address"]) == "alpha"
    assert worker_name(store, worker(1)["address"]) == "beta (left)"
    assert worker_name(store, "tcp://10.0.0.99:1") == "10.0.0.99:1"
    addresses = [worker(i)["address"] for i in range(2)]
    assert [*NamedWorkers.of(store).names(addresses).values()] == ["alpha", "beta (left)"]


def all_left() -> Batch:
    """Return a batch by which there were four threads once and are none now."""
    return batch(nthreads=0, workers=[], history=[(10.0, 4), (3723.0, 0)])


def test_no_workers_is_told_from_no_workers_any_more() -> None:
    assert no_workers(Store()) == NO_DATA
    store = store_of(nthreads=0, workers=[])
    assert no_workers(store) == NO_WORKERS
    store.apply(all_left())
    assert no_workers(store).startswith("No workers now: the last one left at ")
    assert ":02:03. Add some with cluster.scale(4)." in no_workers(store)


@pytest.mark.parametrize(
    "name", ["workers-memory", "cluster-memory", "cpu", "workers", "workers-cpu-timeseries"]
)
def test_every_plot_of_workers_says_that_they_are_gone(name: str) -> None:
    store = store_of(nthreads=0, workers=[])
    view = get_plot(name)(store)
    view.build()
    view.update()
    assert view.caption.empty == NO_WORKERS
    store.apply(all_left())
    view.update()
    assert view.caption.empty.startswith("No workers now: the last one left at ")
