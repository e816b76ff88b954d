"""Names of workers are kept when the workers are gone."""

from __future__ import annotations

from dask_diag_lab.store import History
from tests.kernel.store.batches import BatchMaker, worker_row

A, B = "tcp://a:1", "tcp://b:1"


def test_name_of_a_worker_that_left_is_remembered() -> None:
    history, maker = History(), BatchMaker()
    history.apply(maker.batch(workers=[worker_row(A, name="first"), worker_row(B, name="second")]))
    history.apply(maker.batch(workers=[worker_row(B, name="second")], removed_workers=[A]))
    assert history.workers.name == ["second"]
    assert history.seen_workers.names == {A: "first", B: "second"}


def test_worker_that_came_and_left_between_two_batches_has_its_name_from_the_event() -> None:
    history, maker = History(), BatchMaker()
    arrival = (0.0, "worker-added", {"worker": A, "name": "short-lived", "nthreads": 1})
    history.apply(maker.batch(workers=[], events=[arrival], removed_workers=[A]))
    assert history.seen_workers.names == {A: "short-lived"}
