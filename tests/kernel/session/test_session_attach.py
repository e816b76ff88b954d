"""Diagnostics begin with a client and end with the last one, and leave nothing behind."""

from __future__ import annotations

import asyncio
import gc
import json
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from distributed import Client, LocalCluster, Security, get_client

import dask_diag_lab
from dask_diag_lab.collector import NAME
from dask_diag_lab.composition import Composition
from dask_diag_lab.session import Diagnostics
from tests.kernel.dashboards import answer_at, answer_of, door_of
from tests.kernel.serving import records_in, run, wait_until

pytestmark = [
    pytest.mark.usefixtures("runtime_dir"),
    # `distributed` lets its HTTP server's socket go without closing it. Ours are counted below.
    pytest.mark.filterwarnings(
        r"ignore:Exception ignored in. <socket\.socket:pytest.PytestUnraisableExceptionWarning"
    ),
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """No thread of ours and no listening socket may outlive a test."""
    before = listening_ports()
    yield
    gc.collect()
    wait_until(lambda: not our_threads(), f"threads are left: {our_threads()}")
    wait_until(lambda: listening_ports() <= before, "a socket is left")


@pytest.fixture
def cluster() -> Iterator[LocalCluster]:
    with small_cluster() as made:
        yield made


def small_cluster(**more: Any) -> LocalCluster:
    given: dict[str, Any] = {"protocol": "tcp://", **more}
    return LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0", **given
    )


def our_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "dask-diag-lab"]


def listening_ports() -> set[int]:
    return {c.laddr.port for c in psutil.Process().net_connections() if c.status == "LISTEN"}


def record_of(folder: Path) -> dict[str, Any]:
    wait_until(lambda: any(p.suffix == ".json" for p in records_in(folder)), "no record")
    (path,) = (p for p in records_in(folder) if p.suffix == ".json")
    return dict(json.loads(path.read_text()))


def health(diagnostics: Diagnostics) -> dict[str, Any]:
    """Ask the server as the sidebar does."""
    return dict(answer_of(diagnostics, "/health"))


def is_live(diagnostics: Diagnostics) -> bool:
    return bool(health(diagnostics)["state"] == "live")


def has_plugin(client: Client) -> bool:
    found = client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.plugins))
    return NAME in found


def test_attaching_does_not_wait_until_it_serves(
    cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    release, begun, start = threading.Event(), threading.Event(), Composition.start

    async def held(composition: Composition) -> None:
        await asyncio.to_thread(release.wait, 30)
        begun.set()
        await start(composition)

    monkeypatch.setattr(Composition, "start", held)
    with Client(cluster) as client:
        diagnostics = dask_diag_lab.attach(client)
        assert not begun.is_set()
        release.set()
        wait_until(lambda: is_live(diagnostics), "never live")
    wait_until(lambda: diagnostics.is_closed, "it outlives its client")


def test_it_is_there_and_serves_live_data(cluster: LocalCluster, runtime_dir: Path) -> None:
    with Client(cluster) as client:
        diagnostics = dask_diag_lab.attach(client)
        wait_until(lambda: is_live(diagnostics), "never live")
        assert client.gather(client.map(abs, range(10))) == list(range(10))
        wait_until(lambda: health(diagnostics)["tasks"]["total"] == 0, "tasks are kept")
        assert health(diagnostics)["threads"] == 2
        record = record_of(runtime_dir)
        assert record["id"] == diagnostics.id
        assert diagnostics.url.startswith(record["url"])
        assert record["token"] in diagnostics.url
        assert record["token"] not in repr(diagnostics)
        assert "task-stream" in diagnostics.plots
    wait_until(lambda: diagnostics.is_closed, "it outlives its client")


def test_any_number_of_clients_share_one_and_the_last_one_ends_it(cluster: LocalCluster) -> None:
    with Client(cluster) as first:
        diagnostics = dask_diag_lab.attach()
        with Client(cluster, set_as_default=False) as second:
            assert dask_diag_lab.attach(second) is diagnostics
            wait_until(lambda: is_live(diagnostics), "never live")
            assert has_plugin(first)
            assert len(our_threads()) == 1
        assert not diagnostics.is_closed
        assert is_live(diagnostics)
    wait_until(lambda: diagnostics.is_closed, "it outlives its clients")


def test_nothing_of_ours_stays_on_a_scheduler_that_goes_on(cluster: LocalCluster) -> None:
    with Client(cluster) as watcher:
        with Client(cluster, set_as_default=False) as client:
            diagnostics = dask_diag_lab.attach(client)
            wait_until(lambda: is_live(diagnostics), "never live")
            assert has_plugin(watcher)
        wait_until(lambda: not our_threads(), "it outlives its client")
        wait_until(lambda: not has_plugin(watcher), "the plugin stays")


def test_closing_by_hand_is_enough_and_harmless_twice(cluster: LocalCluster) -> None:
    with Client(cluster) as client:
        with dask_diag_lab.attach(client) as diagnostics:
            url = diagnostics.url
        diagnostics.close()
        assert not our_threads()
        with pytest.raises(urllib.error.URLError):
            urllib.request.urlopen(url, timeout=2)
        again = dask_diag_lab.attach(client)
        assert again.id != diagnostics.id
        again.close()


def test_closing_before_it_has_started_leaves_nothing(cluster: LocalCluster) -> None:
    with Client(cluster) as client:
        dask_diag_lab.attach(client).close()


def test_a_forgotten_client_ends_it_too(cluster: LocalCluster) -> None:
    client = Client(cluster, set_as_default=False)
    diagnostics = dask_diag_lab.attach(client)
    client.close()
    del client
    wait_until(lambda: diagnostics.is_closed, "it outlives its client")


def test_in_process_clusters_work() -> None:
    with small_cluster(protocol="inproc://") as cluster, Client(cluster) as client:
        diagnostics = dask_diag_lab.attach(client)
        wait_until(lambda: is_live(diagnostics), "never live")
        assert health(diagnostics)["workers"] == 1


def test_clients_that_tasks_make_in_this_process_share_it(cluster: LocalCluster) -> None:
    def attach_inside() -> str:
        return dask_diag_lab.attach(get_client()).id

    with Client(cluster) as client:
        diagnostics = dask_diag_lab.attach(client)
        assert client.submit(attach_inside, pure=False).result(timeout=60) == diagnostics.id
        wait_until(lambda: is_live(diagnostics), "never live")


def test_tls_is_taken_from_the_client() -> None:
    security = Security.temporary()
    with (
        small_cluster(protocol="tls://", security=security) as cluster,
        Client(cluster, security=security) as client,
    ):
        assert client.scheduler.addr.startswith("tls://")
        diagnostics = dask_diag_lab.attach(client)
        wait_until(lambda: is_live(diagnostics), "never live")


def test_an_asynchronous_client_works() -> None:
    async def story() -> None:
        async with (
            LocalCluster(
                n_workers=1,
                threads_per_worker=1,
                processes=False,
                dashboard_address=":0",
                asynchronous=True,
            ) as cluster,
            Client(cluster, asynchronous=True) as client,
        ):
            diagnostics = dask_diag_lab.attach(client)
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(None, wait_until, lambda: is_live(diagnostics), "never live")
            assert (await loop.run_in_executor(None, health, diagnostics))["workers"] == 1
        await loop.run_in_executor(None, wait_until, lambda: diagnostics.is_closed, "not closed")
        await loop.shutdown_default_executor()

    run(story())


def test_a_cluster_made_again_gets_diagnostics_of_its_own(runtime_dir: Path) -> None:
    ids = set()
    for _ in range(2):
        with small_cluster() as cluster, Client(cluster) as client:
            diagnostics = dask_diag_lab.attach(client)
            wait_until(lambda d=diagnostics: is_live(d), "never live")  # type: ignore[misc]
            record = record_of(runtime_dir)
            assert record["scheduler"]["address"] == cluster.scheduler_address
            ids.add(diagnostics.id)
        wait_until(lambda d=diagnostics: d.is_closed, "not closed")  # type: ignore[misc]
    assert len(ids) == 2


def test_a_lost_scheduler_is_said_while_the_client_lives(runtime_dir: Path) -> None:
    cluster = small_cluster()
    client = Client(cluster.scheduler_address)
    try:
        diagnostics = dask_diag_lab.attach(client)
        wait_until(lambda: is_live(diagnostics), "never live")
        cluster.close()
        wait_until(lambda: health(diagnostics)["state"] == "lost", "not said")
        assert health(diagnostics)["reason"]
        assert record_of(runtime_dir)["id"] == diagnostics.id
    finally:
        client.close()
    wait_until(lambda: diagnostics.is_closed, "not closed")


def test_a_scheduler_started_again_at_its_address_is_followed() -> None:
    first = small_cluster()
    address = first.scheduler_address
    with Client(address) as client:
        diagnostics = dask_diag_lab.attach(client)
        wait_until(lambda: is_live(diagnostics), "never live")
        first.close()
        wait_until(lambda: health(diagnostics)["state"] == "lost", "not said")
        with small_cluster(scheduler_port=int(address.rpartition(":")[2])):
            wait_until(lambda: is_live(diagnostics), "never live again")
            client.close()
    wait_until(lambda: diagnostics.is_closed, "not closed")


def test_two_clusters_are_told_apart(runtime_dir: Path) -> None:
    with (
        small_cluster() as one,
        small_cluster() as two,
        Client(one) as first,
        Client(two) as second,
    ):
        found = [dask_diag_lab.attach(client) for client in (first, second)]
        assert found[0].scheduler_id != found[1].scheduler_id
        for diagnostics in found:
            wait_until(lambda d=diagnostics: is_live(d), "never live")  # type: ignore[misc]
        assert len(records_in(runtime_dir)) == 2
        one_door, other_door = (door_of(diagnostics) for diagnostics in found)
        with pytest.raises(urllib.error.HTTPError, match="403"):
            answer_at(other_door.url, one_door.token, "/health")
        assert one_door.url != other_door.url


def test_without_a_client_it_says_what_to_do() -> None:
    with pytest.raises(RuntimeError, match=r"client = Client\(\)"):
        dask_diag_lab.attach()


def test_a_closed_client_is_named_as_the_reason(cluster: LocalCluster) -> None:
    client = Client(cluster)
    client.close()
    with pytest.raises(RuntimeError, match="closed"):
        dask_diag_lab.attach(client)
