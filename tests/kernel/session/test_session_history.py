"""What is known of a cluster is served after its end, in a kernel: one history, until `close`."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from typing import Any

import dask
import pytest
from distributed import Client, LocalCluster, SchedulerPlugin

import dask_diag_lab
from dask_diag_lab import session
from dask_diag_lab.server import announce
from dask_diag_lab.session import Diagnostics
from dask_diag_lab.store.queries import UNASKED
from dask_diag_lab.store.runs import Piece
from dask_diag_lab.transport import feed
from tests.kernel.dashboards import answer_of
from tests.kernel.serving import LIMIT_S, records_in, wait_until
from tests.kernel.session.small_clusters import (
    PARTLY_CLOSED,
    attached,
    health,
    our_threads,
    saved_runs,
    state_of,
)

pytestmark = [pytest.mark.usefixtures("a_kernel"), *PARTLY_CLOSED]


@pytest.fixture
def a_kernel(
    nothing_is_left: None, runtime_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """This process counts as a kernel."""
    file = runtime_dir / "kernel-0b8f3c52-7d0e.json"
    monkeypatch.setattr(announce, "connection_file", lambda: str(file))
    # Else a busy machine is not waited for.
    monkeypatch.setattr(feed, "BRIEFLY_S", LIMIT_S)
    monkeypatch.setattr(session, "LAST_S", LIMIT_S)
    with dask.config.set({"distributed.client.preload": ["dask_diag_lab.preload"]}):
        yield


def is_served(diagnostics: Diagnostics) -> bool:
    try:
        return bool(answer_of(diagnostics, "/plots.json"))
    except (OSError, HTTPException):  # refused, or cut off in the middle of the answer
        return False


@contextmanager
def history_of(diagnostics: Diagnostics) -> Iterator[dict[str, Any]]:
    """Wait for the end of the cluster; yield the health of what is kept, and let go of that."""
    wait_until(lambda: state_of(diagnostics) == "closed", "it does not say that it is closed")
    yield health(diagnostics)
    diagnostics.close()


def n_known(diagnostics: Diagnostics) -> int:
    """Return what has happened so far, with what the scheduler knows now."""
    asked = diagnostics.submit(lambda live: live.history.actions.total, is_fresh=True)
    return asked.result(60)


def n_shown(diagnostics: Diagnostics, plot: str) -> int:
    return int(answer_of(diagnostics, f"/plots/{plot}.json")["rows"])


def n_computed(diagnostics: Diagnostics) -> int:
    """Return the tasks in the stream; what took 5 ms on a busy machine is called disk work, too."""
    kinds: list[str] = answer_of(diagnostics, "/plots/task-stream.json")["columns"]["kind"]
    return kinds.count("compute")


class SlowToClose(SchedulerPlugin):
    """As where tasks go on: a scheduler that still answers when its workers have left."""

    async def close(self) -> None:
        await asyncio.sleep(1)


def compute(client: Client, n: int = 50) -> None:
    client.gather(client.map(abs, range(n), pure=False))


def test_a_closed_cluster_is_served_with_all_its_tasks_until_it_is_ended(runtime_dir: Path) -> None:
    with attached() as (client, diagnostics):
        compute(client)  # nobody looks: what is pulled every two seconds would lack this
        failing = client.submit(divmod, 1, 0)
        wait_until(lambda: failing.status == "error", "it does not fail")
    with history_of(diagnostics) as known:
        assert known["reason"] == ""  # the page tells the time of the end, by its own clock
        assert known["workers"] == 0
        assert diagnostics.is_closed
        assert n_computed(diagnostics) == 51
        assert n_shown(diagnostics, "workers-memory") == 1
        assert n_shown(diagnostics, "exceptions") == 1  # which nobody had opened
        assert answer_of(diagnostics, "/plots/profile.json")["note"] == f"No profile: {UNASKED}"
        assert len(records_in(runtime_dir)) == 1
        with pytest.raises(RuntimeError, match="closed"):
            diagnostics.submit(lambda live: live.history.actions.total).result(timeout=60)
    assert not is_served(diagnostics)
    assert not our_threads()


def test_runs_and_plots_of_a_closed_cluster_are_found() -> None:
    with attached() as (client, diagnostics):
        compute(client)
    with history_of(diagnostics):
        for given in (None, client):
            found = dask_diag_lab.runs(given)
            assert isinstance(found, list)
            assert [(run.state, run.n_tasks) for run in found] == [("done", 50)]
            assert dask_diag_lab.plot("budget", given).dashboard_id == diagnostics.id
    with pytest.raises(RuntimeError, match="closed"):
        dask_diag_lab.runs(client)


def test_the_run_of_a_cell_that_closes_its_cluster_is_saved(tmp_path: Path) -> None:
    with dask.config.set({"diag-lab.record-runs": str(tmp_path)}):
        with attached() as (client, diagnostics):
            diagnostics.note_code(Piece("1", "cell", "c1", count=1, start=time.time() - 9))
            compute(client)
        with history_of(diagnostics):
            wait_until(lambda: saved_runs(tmp_path), "not saved")
    assert saved_runs(tmp_path) == [("[1] cell", "done", 50)]


@pytest.mark.parametrize("is_own", [False, True])
def test_what_was_known_before_a_shutdown_is_kept(cluster: LocalCluster, is_own: bool) -> None:
    with attached(None if is_own else cluster) as (client, diagnostics):
        compute(client)
        # `distributed` tells nobody before it closes a cluster by this.
        assert n_known(diagnostics) >= 50
        client.shutdown()
        with history_of(diagnostics) as known:
            assert known["reason"] == ""
            assert n_computed(diagnostics) == 50


def test_how_a_cluster_is_taken_down_is_not_shown() -> None:
    fast = {"diag-lab.idle-interval": "50ms"}
    with dask.config.set(fast), attached(n_workers=2) as (client, diagnostics):
        client.register_plugin(SlowToClose())
        results = client.map(abs, range(50), pure=False)
        wait_until(lambda: health(diagnostics)["tasks"]["done"] == 50, "not counted")
        cluster: Any = client.cluster  # has no types
        cluster.close()
    with history_of(diagnostics) as known:
        assert known["tasks"]["done"] == len(results)
        assert n_shown(diagnostics, "workers-memory") == 2


def test_a_cluster_that_goes_on_without_its_object_is_followed(cluster: LocalCluster) -> None:
    looks: list[int] = []

    class Gateway:
        scheduler_address = cluster.scheduler_address
        status = "running"

        @property
        def shutdown_on_close(self) -> bool:
            looks.append(1)
            return False

    gateway = Gateway()
    with attached(gateway) as (client, diagnostics):
        gateway.status = "closed"
        compute(client)
        looks.clear()
        wait_until(lambda: len(looks) > 2, "nobody looks whether it is closed")
        assert n_known(diagnostics) >= 50
        assert state_of(diagnostics) == "live"
    with history_of(diagnostics):
        assert n_computed(diagnostics) == 50


def test_closing_a_client_does_not_wait_for_diagnostics_that_are_held_up(
    cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "LAST_S", 0.1)
    release = threading.Event()
    with attached(cluster) as (client, diagnostics):
        held = diagnostics.submit(lambda _: release.wait(60))
        client.close()
        assert not held.done()
        release.set()
    with history_of(diagnostics):
        pass


def test_the_history_that_is_kept_is_that_of_the_cluster_which_closed_last(
    cluster: LocalCluster, runtime_dir: Path
) -> None:
    with attached(cluster) as (_, older):
        with attached() as (_, newer):
            pass
        wait_until(lambda: state_of(newer) == "closed", "no history")
        assert state_of(older) == "live"
    with history_of(older):
        wait_until(lambda: not is_served(newer), "there are two histories")
        assert len(records_in(runtime_dir)) == 1


def test_a_client_of_a_cluster_that_goes_on_says_so_and_a_new_one_takes_the_historys_place(
    cluster: LocalCluster, runtime_dir: Path
) -> None:
    with attached(cluster.scheduler_address) as (client, diagnostics):
        futures = client.map(abs, range(5))
        wait_until(lambda: health(diagnostics)["tasks"]["done"] == len(futures), "not counted")
    wait_until(lambda: state_of(diagnostics) == "closed", "no history")
    assert "The client was closed." in health(diagnostics)["reason"]
    assert health(diagnostics)["tasks"]["done"] == len(futures)
    scheduler: Any = cluster.scheduler
    wait_until(lambda: not any("diag" in name for name in scheduler.plugins), "a plugin stays")
    with attached(cluster) as (_, again):
        wait_until(lambda: not is_served(diagnostics), "the history stays")
        wait_until(lambda: len(records_in(runtime_dir)) == 1, "its record stays")
    with history_of(again):
        pass


def test_a_cluster_that_closes_after_its_client_is_said_to_be_closed(cluster: LocalCluster) -> None:
    with attached(cluster) as (client, diagnostics):
        compute(client)
    with history_of(diagnostics) as known:
        assert "The client was closed." in known["reason"]
        cluster.close()
        wait_until(lambda: not health(diagnostics)["reason"], "the end of the cluster is not said")
        assert state_of(diagnostics) == "closed"


def test_a_scheduler_that_went_first_is_closed_since_it_was_lost(cluster: LocalCluster) -> None:
    with attached(cluster.scheduler_address) as (_, diagnostics):
        cluster.close()
        wait_until(lambda: state_of(diagnostics) == "lost", "the loss is not said")
        lost = health(diagnostics)
    with history_of(diagnostics) as known:
        assert known["since"] == lost["since"]
        assert known["reason"] == f"{lost['reason']} The history is kept until the kernel stops."
        assert "cannot be reached" in known["reason"]
        # A plot that nobody had opened before.
        assert answer_of(diagnostics, "/plots/exceptions.json")["note"] == UNASKED
