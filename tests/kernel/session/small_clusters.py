"""A small cluster in this process, its diagnostics, and what these may not leave behind."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from distributed import Client, LocalCluster

import dask_diag_lab
from dask_diag_lab.session import Diagnostics
from tests.kernel.dashboards import answer_of
from tests.kernel.serving import wait_until

PARTLY_CLOSED = [
    # `distributed` lets its HTTP server's socket go without closing it. Ours are counted.
    pytest.mark.filterwarnings(
        r"ignore:Exception ignored in. <socket\.socket:pytest.PytestUnraisableExceptionWarning"
    ),
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]


SMALL: dict[str, Any] = {
    "n_workers": 1,
    "threads_per_worker": 2,
    "processes": False,
    "protocol": "tcp://",
    "dashboard_address": ":0",
}


def small_cluster(**more: Any) -> LocalCluster:
    return LocalCluster(**SMALL | more)


@contextmanager
def attached(
    cluster: Any = None,
    **more: Any,  # whatever `Client` takes
) -> Iterator[tuple[Client, Diagnostics]]:
    """A client whose diagnostics are live; of a small cluster that it makes and closes itself."""
    options = SMALL | more if cluster is None else more
    with Client(cluster, set_as_default=False, **options) as client:
        diagnostics = dask_diag_lab.attach(client)
        wait_until(lambda: state_of(diagnostics) == "live", "never live")
        yield client, diagnostics


def health(diagnostics: Diagnostics) -> dict[str, Any]:
    """Ask the server as the sidebar does."""
    return dict(answer_of(diagnostics, "/health"))


def state_of(diagnostics: Diagnostics) -> str:
    return str(health(diagnostics)["state"])


def saved_runs(folder: Path) -> list[tuple[str, str, float]]:
    """Return name, state and number of tasks of each run, of each file in a folder."""
    found: list[tuple[str, str, float]] = []
    for file in folder.glob("run *.daskrun"):
        with dask_diag_lab.load(file) as recording:
            its = recording.table("runs").columns
            found += zip(its["label"], its["state"], its["tasks"], strict=True)
    return found


def our_threads() -> list[str]:
    names = (thread.name for thread in threading.enumerate())
    return [name for name in names if name.startswith("dask-diag-lab")]


def listening_ports() -> set[int]:
    return {c.laddr.port for c in psutil.Process().net_connections() if c.status == "LISTEN"}
