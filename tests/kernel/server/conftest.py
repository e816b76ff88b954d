"""What several tests of the server look at."""

from __future__ import annotations

import pytest

from benchmarks.simulator import Simulation
from dask_diag_lab.store import Store


@pytest.fixture(scope="module")
def simulated() -> Store:
    """A store of a small simulated cluster; nobody changes it."""
    store = Store()
    for batch in Simulation(n_workers=3, n_threads=2, n_tasks=300).batches():
        store.apply(batch)
    return store
