"""Captures over TLS, of clusters that lose a worker or the scheduler, and of a closed client."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dask
import pytest
from bokeh.document import Document
from distributed import Client, Security, wait

import dask_diag_lab
from dask_diag_lab import MemorySampler, get_task_stream, performance_report, profile, transfers
from tests.kernel.capture.saved import fact, plots
from tests.kernel.serving import run, until, wait_until
from tests.kernel.session.small_clusters import PARTLY_CLOSED, small_cluster

pytestmark = [*PARTLY_CLOSED, pytest.mark.usefixtures("runtime_dir")]


def test_all_of_them_work_over_tls(capsys: pytest.CaptureFixture[str]) -> None:
    security, sampler = Security.temporary(), MemorySampler()
    with (
        small_cluster(n_workers=2, protocol="tls://", security=security) as cluster,
        Client(cluster.scheduler_address, security=security) as client,
    ):
        a, b = client.scheduler_info()["workers"]
        with get_task_stream() as stream, sampler.sample("run"):
            data = client.submit(bytes, 1000, key="data", workers=[a])
            dask_diag_lab.progress(client.submit(len, data, workers=[b]), notebook=False)
        assert [row["worker"] for row in stream.data] == [a, b]
        assert "100% Completed" in capsys.readouterr().out
        assert sampler.samples["run"]
        assert profile(merge_workers=False).keys() == {a, b}
        assert "data" in set(transfers().key)


def test_all_of_them_are_awaited_with_an_asynchronous_client(tmp_path: Path) -> None:
    async def story() -> None:
        options: dict[str, Any] = {"asynchronous": True}
        async with small_cluster(**options) as cluster, Client(cluster, **options) as client:
            with pytest.raises(TypeError, match="async with"), get_task_stream(client):
                pass
            report = performance_report(str(tmp_path / "report.html"))
            stream = get_task_stream(client, plot=True)
            async with report, stream, sampler.sample("run"):
                futures = client.map(str, range(30), pure=False)
                await client.gather(futures)
            assert {row["key"] for row in stream.data} == {future.key for future in futures}
            assert stream.figure is not None
            assert await get_task_stream(client, start=0) == stream.data
            assert (await profile(client=client)).keys() == (await client.profile()).keys()
            assert "direction" in await transfers(client)
            diagnostics = dask_diag_lab.attach(client)
        await until(lambda: diagnostics.is_closed, "it outlives its client")

    sampler = MemorySampler()
    run(story(), 60)
    assert sampler.samples["run"]
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert fact(page, "Tasks") == "30"
    assert "await client.gather" in page  # the calling code


@pytest.fixture(scope="module")
def loss(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    """Return what captures have of a block in which the only worker died and was replaced."""
    file, sampler = tmp_path_factory.mktemp("loss") / "report.html", MemorySampler()
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        small_cluster(processes=True, threads_per_worker=1) as cluster,
        Client(cluster) as client,
    ):
        (worker,) = client.scheduler_info()["workers"]
        sample = sampler.sample("run", interval=0.01, per_worker=True)
        report, run = performance_report(str(file)), dask_diag_lab.run("loss")
        with report, get_task_stream() as stream, sample, run:
            client.gather(client.map(str, range(5), pure=False))
            dying = client.submit(os._exit, 1, key="die-1")
            bars: Any = dask_diag_lab.progress(dying, notebook=True)
            wait(dying)
            client.gather(client.map(str, range(7), pure=False))  # where the nanny replaced it
        wait_until(lambda: bars.report.is_last, "the bars go on")
    found = {
        "run": run,
        "worker": worker,
        "page": file.read_text(encoding="utf-8"),
        "rows": stream.data,
    }
    return SimpleNamespace(**found, samples=sampler.samples, progress=bars.report.all)


def test_a_report_has_a_worker_s_death_and_what_ran_after_it(loss: SimpleNamespace) -> None:
    assert (fact(loss.page, "Tasks"), fact(loss.page, "Failed")) == ("13", "1")
    stream: Any = plots(loss.page)["task-stream"]
    ends: Any = Document.from_json(stream).select_one({"name": "gone"})
    assert len(ends.data_source.data["left"]) == 1


def test_a_stream_tells_what_each_worker_did_and_which_task_died(loss: SimpleNamespace) -> None:
    told = [(row["status"], row["worker"] == loss.worker) for row in loss.rows]
    assert told == [("OK", True)] * 5 + [("killed", True)] + [("OK", False)] * 7


def test_a_run_in_which_a_task_died_too_often_has_failed(loss: SimpleNamespace) -> None:
    assert (loss.run.state, loss.run.n_failed, loss.run.n_attempts) == ("failed", 1, 0)
    assert "12 tasks, 1 failed · " in str(loss.run)


def test_samples_go_on_though_those_of_a_worker_end_with_it(loss: SimpleNamespace) -> None:
    assert loss.samples[f"run/{loss.worker}"][-1] < loss.samples["run"][-1]


def test_progress_counts_a_task_that_died_as_failed(loss: SimpleNamespace) -> None:
    assert (loss.progress.failed, loss.progress.total) == (1, 1)


@pytest.mark.filterwarnings("ignore:All of the task stream could not be kept:RuntimeWarning")
@pytest.mark.parametrize("make", [performance_report, lambda _: get_task_stream()])
def test_the_error_of_a_block_goes_on_though_its_scheduler_is_lost(
    tmp_path: Path, make: Callable[[str], Any]
) -> None:
    file, cluster = tmp_path / "report.html", small_cluster()

    def story() -> None:
        with make(str(file)):
            client.gather(client.map(str, range(3)))
            get_task_stream(start=0)  # brings the session up to now
            cluster.close()
            raise KeyError("mine")

    with Client(cluster.scheduler_address) as client, pytest.raises(KeyError, match="mine"):
        story()
    if file.exists():
        page = file.read_text(encoding="utf-8")
        assert fact(page, "Tasks") == "3"
        assert "The end is missing: The scheduler" in page


def test_without_a_connected_client_all_say_why() -> None:
    with small_cluster() as cluster, Client(cluster, set_as_default=False) as closed:
        pass
    calls: list[Callable[..., object]] = [dask_diag_lab.attach, transfers, profile]
    calls += [
        partial(dask_diag_lab.plot, "cpu"),
        partial(get_task_stream, start=0),
        lambda **on: get_task_stream(**on).__enter__(),
    ]
    calls += [lambda **on: MemorySampler().sample(**on).__enter__()]
    for call in calls:
        with pytest.raises(ValueError, match=r"client = Client\("):
            call()
        with pytest.raises(RuntimeError, match="client is closed"):
            call(client=closed)
