"""Diagnostics begin with a client and end with the last one, and leave nothing behind."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import urllib.error
from pathlib import Path
from typing import Any

import pytest
from distributed import Client, LocalCluster, get_client

import dask_diag_lab
from dask_diag_lab.collector import NAME
from dask_diag_lab.composition import Composition
from tests.kernel.dashboards import address_of, answer_at
from tests.kernel.serving import records_in, wait_until
from tests.kernel.session.small_clusters import (
    PARTLY_CLOSED,
    attached,
    health,
    our_threads,
    small_cluster,
    state_of,
)

pytestmark = [pytest.mark.usefixtures("nothing_is_left"), *PARTLY_CLOSED]


def record_of(folder: Path) -> dict[str, Any]:
    (path,) = records_in(folder)
    return dict(json.loads(path.read_text()))


def has_plugin(client: Client) -> bool:
    found = client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.plugins))
    return NAME in found


def test_attaching_does_not_wait_until_it_serves(
    cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    release, start = threading.Event(), Composition.start

    async def held(composition: Composition) -> None:
        await asyncio.to_thread(release.wait, 30)
        await start(composition)

    monkeypatch.setattr(Composition, "start", held)
    with Client(cluster) as client:
        diagnostics = dask_diag_lab.attach(client)
        release.set()
        wait_until(lambda: state_of(diagnostics) == "live", "never live")
    wait_until(lambda: diagnostics.is_closed, "it outlives its client")


def test_all_works_where_it_cannot_be_announced(
    cluster: LocalCluster, runtime_dir: Path, caplog: pytest.LogCaptureFixture
) -> None:
    runtime_dir.write_text("a file, and no folder")
    distributed = logging.getLogger("distributed")
    distributed.addHandler(caplog.handler)  # it hands nothing on
    try:
        with attached(cluster) as (client, diagnostics):
            client.submit(abs, -1).result()
            table = diagnostics.table
            wait_until(lambda: table("progress").columns["prefix"] == ["abs"], "no data")
    finally:
        distributed.removeHandler(caplog.handler)
        runtime_dir.unlink()
    warnings = [record for record in caplog.records if record.levelno >= logging.WARNING]
    said = [record.getMessage() for record in warnings]
    assert [line for line in said if "JupyterLab cannot find this process" in line] == said


def test_the_record_has_the_link_of_dasks_own_dashboard(
    cluster: LocalCluster, runtime_dir: Path
) -> None:
    with attached(cluster.scheduler_address) as (client, _):
        assert record_of(runtime_dir)["scheduler"]["dashboard"] == client.dashboard_link != ""


def test_where_nothing_can_listen_the_reason_is_given_and_not_that_the_client_was_closed(
    cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def failing(_: Composition) -> None:
        raise OSError("no port is free")

    monkeypatch.setattr(Composition, "start", failing)
    with Client(cluster) as client:
        diagnostics = dask_diag_lab.attach(client)
        with pytest.raises(RuntimeError, match="no port is free"):
            diagnostics.submit(lambda live: live.time).result(20)
        wait_until(lambda: "could not run" in caplog.text, "not said")


def test_a_cluster_has_the_name_that_it_was_given_else_that_of_its_process(
    cluster: LocalCluster, runtime_dir: Path
) -> None:
    with small_cluster(name="training") as named, attached(named) as (_, diagnostics):
        diagnostics.url  # noqa: B018  # it is announced
        assert record_of(runtime_dir)["name"] == diagnostics.name == "training"
    with attached(cluster) as (_, diagnostics):
        assert diagnostics.name.startswith("python ")


def test_it_is_there_and_serves_live_data(cluster: LocalCluster, runtime_dir: Path) -> None:
    with attached(cluster) as (client, diagnostics):
        assert client.gather(client.map(abs, range(10))) == list(range(10))
        wait_until(lambda: health(diagnostics)["tasks"]["total"] == 0, "tasks are kept")
        assert health(diagnostics)["threads"] == 2
        record = record_of(runtime_dir)
        assert record["id"] == diagnostics.id
        assert record["scheduler"]["address"] == cluster.scheduler_address
        assert (record["url"], record["token"]) == address_of(diagnostics)
        assert record["token"] not in repr(diagnostics)
        assert "task-stream" in diagnostics.plots
    wait_until(lambda: diagnostics.is_closed, "it outlives its client")


def test_any_number_of_clients_share_one_and_the_last_one_ends_it(cluster: LocalCluster) -> None:
    with Client(cluster) as watcher:
        with attached(cluster) as (_, diagnostics):
            with attached(cluster) as (_, again):
                assert again is diagnostics
                assert has_plugin(watcher)
                assert len(our_threads()) == 1
            assert state_of(diagnostics) == "live"
        wait_until(lambda: diagnostics.is_closed, "it outlives its clients")
        wait_until(lambda: not has_plugin(watcher), "the plugin stays")


def test_clients_that_tasks_make_in_this_process_share_it(cluster: LocalCluster) -> None:
    with attached(cluster) as (client, diagnostics):
        inside = client.submit(lambda: dask_diag_lab.attach(get_client()).id, pure=False)
        assert inside.result(60) == diagnostics.id


def test_closing_by_hand_is_enough_and_harmless_twice(cluster: LocalCluster) -> None:
    with Client(cluster) as client:
        with dask_diag_lab.attach() as diagnostics:
            address = address_of(diagnostics)
        diagnostics.close()
        assert not our_threads()
        with pytest.raises(urllib.error.URLError):
            answer_at(*address, "/health")
        again = dask_diag_lab.attach(client)  # closed before it has started
        assert again.id != diagnostics.id
        again.close()


def test_what_is_no_client_is_refused_as_such() -> None:
    not_one: Any = "tcp://127.0.0.1:8786"
    with pytest.raises(TypeError, match="is no client"):
        dask_diag_lab.attach(not_one)
    with pytest.raises(TypeError, match="is no client"), dask_diag_lab.run("a run", not_one):
        pass


def test_a_lost_scheduler_is_reported_and_one_started_again_at_its_address_is_followed(
    runtime_dir: Path,
) -> None:
    first = small_cluster()
    address = first.scheduler_address
    with attached(address) as (_, diagnostics):
        first.close()
        wait_until(lambda: state_of(diagnostics) == "lost", "not said")
        assert health(diagnostics)["reason"]
        assert record_of(runtime_dir)["id"] == diagnostics.id
        port = int(address.rpartition(":")[2])
        with small_cluster(scheduler_port=port) as again, Client(again) as client:
            wait_until(lambda: state_of(diagnostics) == "live", "never live again")
            assert dask_diag_lab.attach(client) is diagnostics
            scheduler_id = again.scheduler.id
            wait_until(
                lambda: record_of(runtime_dir)["scheduler"]["id"] == scheduler_id, "the old one"
            )
            diagnostics.close()


def test_two_clusters_have_dashboards_of_their_own(
    cluster: LocalCluster, runtime_dir: Path
) -> None:
    with small_cluster() as two, attached(cluster) as (_, one), attached(two) as (_, other):
        assert one.scheduler_id != other.scheduler_id
        assert len(records_in(runtime_dir)) == 2
        with pytest.raises(urllib.error.HTTPError, match="403"):
            answer_at(address_of(other).url, address_of(one).token, "/health")
