"""What the tests of sessions share."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from distributed import LocalCluster

from tests.kernel.serving import wait_until
from tests.kernel.session.small_clusters import listening_ports, our_threads, small_cluster


@pytest.fixture
def nothing_is_left(runtime_dir: object) -> Iterator[None]:
    """No thread of ours, no listening socket and no record may outlive a test."""
    wait_until(lambda: not our_threads(), "those of a test before this one go on")
    before = listening_ports()
    yield
    gc.collect()
    wait_until(lambda: not our_threads(), "threads are left")
    wait_until(lambda: listening_ports() <= before, "a socket is left")


@pytest.fixture
def cluster() -> Iterator[LocalCluster]:
    with small_cluster() as made:
        yield made
