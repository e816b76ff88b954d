"""A frame of transfers holds what the workers have in their logs, and says what is missing."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from distributed import Client, LocalCluster

from dask_diag_lab import transfers
from tests.kernel.serving import wait_until
from tests.kernel.session.small_clusters import PARTLY_CLOSED, small_cluster

pytestmark = [*PARTLY_CLOSED, pytest.mark.usefixtures("runtime_dir")]


@pytest.fixture
def cluster() -> Iterator[LocalCluster]:
    """A cluster in which the second worker got a megabyte of the first one."""
    with small_cluster(n_workers=2) as made, Client(made) as client:
        a, b = made.workers.values()
        x = client.submit(np.zeros, 125_000, workers=[a.address], key="x")
        client.submit(np.sum, x, workers=[b.address]).result()
        # The sender writes its line when the receiver has said that all came.
        wait_until(lambda: a.transfer_outgoing_log, "nothing was sent")
        yield made


def test_a_transfer_is_in_the_logs_of_both_workers(cluster: LocalCluster) -> None:
    pd = pytest.importorskip("pandas")
    a, b = (worker.address for worker in cluster.workers.values())
    frame = transfers().set_index("direction")
    ours = frame[frame.key == "x"]
    assert ours.loc[["received", "sent"], ["worker", "peer"]].to_numpy().tolist() == [
        [b, a],
        [a, b],
    ]
    assert (ours.nbytes >= 1_000_000).all()
    assert ours.compressed["sent"] > 0
    assert (ours.stop - ours.start).dt.total_seconds().to_numpy() == pytest.approx(ours.duration)
    assert (pd.Timestamp.now("UTC").tz_localize(None) - ours.stop).dt.total_seconds().max() < 60


def test_workers_that_do_not_answer_are_named(cluster: LocalCluster) -> None:
    pytest.importorskip("pandas")
    a, b = cluster.workers.values()
    b.blocked_handlers = ["run"]
    with pytest.warns(RuntimeWarning, match=f"{b.address} did not answer: .*blocked-handlers"):
        frame = transfers()
    assert set(frame.worker) == {a.address}
