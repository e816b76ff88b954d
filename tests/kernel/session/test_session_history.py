"""What is known of a cluster is served after its end, in a kernel: one history, until `close`."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPException
from pathlib import Path
from typing import Any

import dask
import psutil
import pytest
from distributed import Client, LocalCluster

import dask_diag_lab
from dask_diag_lab.composition import Composition
from dask_diag_lab.server import announce
from dask_diag_lab.session import Diagnostics
from dask_diag_lab.views.asked import UNASKED
from tests.kernel.dashboards import answer_of
from tests.kernel.serving import records_in, wait_until

pytestmark = [
    pytest.mark.usefixtures("a_kernel"),
    # `distributed` lets its HTTP server's socket go without closing it. Ours are counted below.
    pytest.mark.filterwarnings(
        r"ignore:Exception ignored in. <socket\.socket:pytest.PytestUnraisableExceptionWarning"
    ),
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]

SMALL: dict[str, Any] = {
    "n_workers": 1,
    "threads_per_worker": 2,
    "processes": False,
    "dashboard_address": ":0",
}


@pytest.fixture
def a_kernel(runtime_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """This process counts as a kernel; no thread or listening socket may outlive a test."""
    file = runtime_dir / "kernel-0b8f3c52-7d0e.json"
    monkeypatch.setattr(announce, "connection_file", lambda: str(file))
    before = listening_ports()
    with dask.config.set({"distributed.client.preload": ["dask_diag_lab.preload"]}):
        yield
    gc.collect()
    wait_until(lambda: not our_threads(), "threads are left")
    wait_until(lambda: listening_ports() <= before, "a socket is left")


def listening_ports() -> set[int]:
    return {c.laddr.port for c in psutil.Process().net_connections() if c.status == "LISTEN"}


def our_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("dask-diag-lab")]


def small_cluster() -> LocalCluster:
    return LocalCluster(**SMALL)


@contextmanager
def attached(cluster: LocalCluster | str | None = None) -> Iterator[tuple[Client, Diagnostics]]:
    """A client whose diagnostics are live; of a small cluster that it makes and closes itself."""
    with Client(cluster, set_as_default=False, **({} if cluster else SMALL)) as client:
        diagnostics = dask_diag_lab.attach(client)
        wait_until(lambda: state_of(diagnostics) == "live", "never live")
        yield client, diagnostics


def state_of(diagnostics: Diagnostics) -> str:
    return str(answer_of(diagnostics, "/health")["state"])


def tasks_done(diagnostics: Diagnostics) -> int:
    return int(answer_of(diagnostics, "/health")["tasks"]["done"])


def is_served(diagnostics: Diagnostics) -> bool:
    try:
        return bool(answer_of(diagnostics, "/plots.json"))
    except (OSError, HTTPException):  # refused, or cut off in the middle of the answer
        return False


def closed(diagnostics: Diagnostics) -> dict[str, Any]:
    """Wait for the end of the cluster; return the health of what is kept."""
    wait_until(lambda: state_of(diagnostics) == "closed", "it does not say that it is closed")
    return dict(answer_of(diagnostics, "/health"))


def test_a_closed_cluster_is_served_with_all_its_tasks_until_it_is_ended(runtime_dir: Path) -> None:
    with attached() as (client, diagnostics):
        # Nobody looks: what is pulled every two seconds would lack them.
        client.gather(client.map(abs, range(50)))
    health = closed(diagnostics)
    assert health["reason"] == ""  # the page tells the time of the end, by its own clock
    assert health["workers"] == 0
    assert diagnostics.is_closed
    assert answer_of(diagnostics, "/plots/task-stream.json")["rows"] == 50
    assert answer_of(diagnostics, "/plots/workers-memory.json")["rows"] == 1
    assert len(records_in(runtime_dir)) == 1
    with pytest.raises(RuntimeError, match="closed"):
        diagnostics.submit(lambda store: store.actions.total).result(timeout=60)
    diagnostics.close()
    assert not is_served(diagnostics)
    assert not our_threads()
    diagnostics.close()


def test_the_last_is_learnt_also_of_a_client_that_does_not_wait_for_it() -> None:
    """`Client.close` says so to others before it does to us: we may look in between."""
    never = dask.config.set({"diag-lab.idle-interval": "60s"})
    with never, small_cluster() as cluster, attached(cluster) as (client, diagnostics):
        client.gather(client.map(abs, range(50)))
        client.status = "closing"
        closed(diagnostics)
        assert answer_of(diagnostics, "/plots/task-stream.json")["rows"] == 50
    diagnostics.close()


@pytest.mark.parametrize("is_own", [False, True])
def test_what_was_known_before_a_shutdown_is_kept(is_own: bool) -> None:
    with ExitStack() as end:
        cluster = None if is_own else end.enter_context(small_cluster())
        client, diagnostics = end.enter_context(attached(cluster))
        client.gather(client.map(abs, range(50)))
        # `distributed` tells nobody before it closes a cluster by this.
        assert diagnostics.submit(lambda s: s.actions.total, is_fresh=True).result(60) == 50
        client.shutdown()
        assert closed(diagnostics)["reason"] == ""
        assert answer_of(diagnostics, "/plots/task-stream.json")["rows"] == 50
    diagnostics.close()


def test_a_client_that_comes_while_the_last_is_learnt_keeps_the_plots_live(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    go_on = threading.Event()
    learn_last = Composition.learn_last

    async def held(composition: Composition) -> None:
        await learn_last(composition)
        await asyncio.to_thread(go_on.wait, 60)

    monkeypatch.setattr(Composition, "learn_last", held)
    with small_cluster() as cluster, attached(cluster) as (first, diagnostics):
        first.close()
        with attached(cluster) as (client, again):
            go_on.set()
            assert again is diagnostics
            client.gather(client.map(abs, range(50)))
            assert again.submit(lambda s: s.actions.total, is_fresh=True).result(60) == 50
            client.gather(client.map(abs, range(50, 60)))
        closed(diagnostics)
        assert answer_of(diagnostics, "/plots/task-stream.json")["rows"] == 60
    diagnostics.close()


def test_what_only_an_open_plot_asks_for_is_in_the_history_too() -> None:
    with small_cluster() as cluster, attached(cluster) as (client, diagnostics):
        failing = client.submit(divmod, 1, 0)
        wait_until(lambda: failing.status == "error", "it does not fail")
    closed(diagnostics)
    try:
        assert answer_of(diagnostics, "/plots/exceptions.json")["rows"] == 1
    finally:
        diagnostics.close()


def test_closing_a_client_does_not_wait_for_diagnostics_that_are_held_up() -> None:
    release = threading.Event()
    with small_cluster() as cluster, attached(cluster) as (client, diagnostics):
        held = diagnostics.submit(lambda _: release.wait(60))
        client.close()
        assert not held.done()
        release.set()
    closed(diagnostics)
    diagnostics.close()


def test_a_question_to_a_closed_cluster_is_answered_in_words() -> None:
    with small_cluster() as cluster, attached(cluster) as (_, diagnostics):
        pass
    closed(diagnostics)
    try:
        assert UNASKED in answer_of(diagnostics, "/plots/profile.json")["note"]
    finally:
        diagnostics.close()


def test_diagnostics_of_a_new_cluster_take_the_place_of_a_history(runtime_dir: Path) -> None:
    with small_cluster() as cluster, attached(cluster) as (_, first):
        pass
    closed(first)
    with small_cluster() as cluster, attached(cluster) as (_, second):
        wait_until(lambda: not is_served(first), "the history stays")
        wait_until(lambda: len(records_in(runtime_dir)) == 1, "its record stays")
    closed(second)
    second.close()


def test_the_history_that_is_kept_is_that_of_the_cluster_which_closed_last() -> None:
    with small_cluster() as one, attached(one) as (_, older):
        with small_cluster() as two, attached(two) as (_, newer):
            pass
        closed(newer)
        assert state_of(older) == "live"
    closed(older)
    wait_until(lambda: not is_served(newer), "there are two histories")
    older.close()


@pytest.mark.parametrize("by_address", [False, True])
def test_a_client_of_a_cluster_that_goes_on_says_so_and_leaves_it(
    runtime_dir: Path, by_address: bool
) -> None:
    with small_cluster() as cluster:
        with attached(cluster.scheduler_address if by_address else cluster) as (
            client,
            diagnostics,
        ):
            futures = client.map(abs, range(5))
            wait_until(lambda: tasks_done(diagnostics) == len(futures), "they are not counted")
        assert "may still run" in closed(diagnostics)["reason"]
        assert tasks_done(diagnostics) == len(futures)
        plugins = cluster.scheduler.plugins
        wait_until(lambda: not any("diag" in name for name in plugins), "the plugin stays")
        with attached(cluster.scheduler_address) as (_, again):
            wait_until(lambda: not is_served(diagnostics), "the history stays")
            assert len(records_in(runtime_dir)) == 1
        closed(again)
        again.close()


def test_a_killed_scheduler_is_closed_since_it_was_lost() -> None:
    code = (
        "from distributed import LocalCluster; import sys\n"
        "c = LocalCluster(n_workers=0, dashboard_address=':0')\n"
        "print(c.scheduler_address, flush=True); sys.stdin.read()"
    )
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", code], **pipes) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        with attached(address) as (_, diagnostics):
            os.kill(process.pid, signal.SIGKILL)
            wait_until(lambda: state_of(diagnostics) == "lost", "the loss is not said")
            lost = answer_of(diagnostics, "/health")
    health = closed(diagnostics)
    assert health["since"] == lost["since"]
    assert health["reason"] == f"{lost['reason']} The history is kept until the kernel stops."
    assert "is gone" in health["reason"]
    # A plot that nobody had opened before.
    assert answer_of(diagnostics, "/plots/exceptions.json")["note"] == UNASKED
    diagnostics.close()
