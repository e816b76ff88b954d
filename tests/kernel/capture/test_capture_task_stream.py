"""A captured task stream holds what ended inside its block: all of that, and nothing else."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import distributed
import pytest
from bokeh.resources import CDN
from dask.utils_test import inc
from distributed import Client, wait

import dask_diag_lab
from dask_diag_lab import get_task_stream
from dask_diag_lab.schema import Kind
from dask_diag_lab.views.stream.frame import PAGE_ROWS
from tests.kernel.capture.saved import plots
from tests.kernel.serving import LIMIT_S
from tests.kernel.session.small_clusters import PARTLY_CLOSED, small_cluster

pytestmark = [pytest.mark.usefixtures("runtime_dir"), *PARTLY_CLOSED]


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with small_cluster(n_workers=2) as cluster, Client(cluster) as made:
        assert dask_diag_lab.attach(made).url  # its record is not in the folder of a test
        yield made


@pytest.fixture
def new_client() -> Iterator[Client]:
    with small_cluster(n_workers=2) as cluster, Client(cluster) as made:
        yield made


N_THREADS = PAGE_ROWS + 20
ALL_THREADS = threading.Barrier(N_THREADS)


def meet(_: int) -> None:
    """Take each thread once: the workers are in this process."""
    ALL_THREADS.wait(LIMIT_S)


def fail() -> None:
    raise ValueError("no")


def keys(rows: list[dict[str, Any]]) -> set[Any]:  # keys are of any hashable type
    return {row["key"] for row in rows}


def test_what_ended_in_the_block_is_in_and_nothing_from_before_or_after(client: Client) -> None:
    before = client.map(inc, range(20), pure=False)
    wait(before)
    with get_task_stream() as ts:
        inside = client.map(inc, range(300), pure=False)
        client.gather(inside)
        assert ts.data == []
    after = client.map(inc, range(20), pure=False)
    wait(after)
    assert keys(ts.data) == {future.key for future in inside}
    assert len(ts.data) == 300
    assert ts.lost == 0
    assert ts.figure is None


def test_it_tells_what_the_engine_tells(client: Client) -> None:
    with distributed.get_task_stream() as theirs, get_task_stream() as ours:
        x = da.random.default_rng(1).random((200, 200), chunks=(50, 50))
        (x + x.T).sum().compute()
        wait(client.submit(fail))
    assert len(ours.data) == len(theirs.data) > 10
    own = {row["key"]: row for row in ours.data}
    for row in theirs.data:
        startstops = tuple(dict(action) for action in row["startstops"])
        assert own[row["key"]] == {**row, "startstops": startstops}
    assert {"OK", "error"} == {row["status"] for row in ours.data}
    assert "transfer" in {a["action"] for row in ours.data for a in row["startstops"]}


def test_a_call_returns_what_the_engine_returns(new_client: Client) -> None:
    client = new_client
    client.get_task_stream()  # it records from its first call on
    assert get_task_stream(start=0) == []
    x = da.random.default_rng(1).random((100, 100), chunks=(50, 50))
    (x + x.T).sum().compute()
    time.sleep(0.5)  # `distributed` looks for times in the order of arrival
    middle = time.time()
    wait(client.map(time.sleep, [0.2 + i / 100 for i in range(9)], pure=False))
    for given in (
        *({"start": 0}, {"start": middle}, {"stop": middle}, {"start": "1 hour", "stop": "0 s"}),
        *({"count": 5}, {"start": middle, "count": 3}, {"stop": middle, "count": 3}),
        *({"start": 0, "stop": middle, "count": 1}, {"start": "3600"}),
    ):
        theirs = [row["key"] for row in client.get_task_stream(**given)]
        assert [row["key"] for row in get_task_stream(**given)] == theirs
        assert len(theirs) >= 3
    moment = datetime.fromtimestamp(middle, UTC).isoformat()
    assert get_task_stream(start=moment) == get_task_stream(start=middle)
    assert get_task_stream(count=0) == get_task_stream(start="-0s") == []


def test_a_call_draws_and_saves(client: Client, tmp_path: Path) -> None:
    get_task_stream(start=0)
    wait(client.map(inc, range(5), pure=False))
    more: Any = {"plot": "save", "filename": str(tmp_path / "a.html"), "bokeh_resources": CDN}
    rows, figure = get_task_stream(count=3, **more)
    assert len(rows) == 3 <= tasks_drawn(figure) <= 5  # and what ran at the same time
    nothing, empty = get_task_stream(start=time.time() - 1000, stop=time.time() - 900, plot=True)
    assert (nothing, tasks_drawn(empty)) == ([], 0)
    assert "task-stream" in plots((tmp_path / "a.html").read_text(encoding="utf-8"))


def test_a_start_that_is_no_time_is_refused(client: Client) -> None:
    wrong: dict[Any, type[Exception]] = {"soon": ValueError, "5 parsecs": KeyError, (1,): TypeError}
    for start, error in wrong.items():
        with pytest.raises(error):
            get_task_stream(client, start=start)


def test_the_figure_is_the_task_stream_of_the_block(client: Client) -> None:
    with get_task_stream(plot=True) as ts:
        wait([*client.map(inc, range(40), pure=False), client.submit(fail)])
    assert ts.figure is not None
    assert ts.figure.document is None
    assert tasks_drawn(ts.figure) == 41
    assert "4 threads" in str(ts.figure.title.text)


def work_in(figure: Any) -> list[Any]:  # a Plot; its renderers have no common type
    """Return the columns of each source of rectangles of work."""
    sources = {r.data_source.id: r.data_source.data for r in figure.renderers}
    return [data for data in sources.values() if "task" in data]


def tasks_drawn(figure: Any) -> int:
    """Return the tasks in these rectangles: one stands for several short ones side by side."""
    pairs = [pair for d in work_in(figure) for pair in zip(d["kind"], d["count"], strict=True)]
    return sum(int(count) for kind, count in pairs if kind == Kind.COMPUTE)


def test_a_saved_page_has_all_threads_and_keys_which_nobody_can_fetch(tmp_path: Path) -> None:
    path = str(tmp_path / "stream.html")
    with (
        small_cluster(threads_per_worker=N_THREADS) as cluster,
        Client(cluster) as client,
        get_task_stream(plot="save", filename=path) as ts,
    ):
        wait(client.map(meet, range(N_THREADS), pure=False))
        wait(client.map(inc, range(N_THREADS), pure=False))
    assert len({row["thread"] for row in ts.data}) == N_THREADS
    assert tasks_drawn(ts.figure) == 2 * N_THREADS
    stream = json.dumps(plots(Path(path).read_text(encoding="utf-8"))["task-stream"])
    assert all(row["key"] in stream for row in ts.data)


def test_a_scheduler_lost_in_the_block_raises_and_what_came_is_kept() -> None:
    cluster = small_cluster()

    def story() -> None:
        with stream:
            futures = client.map(inc, range(3), pure=False)
            client.gather(futures)
            with get_task_stream(client):
                pass  # brings the session up to now
            cluster.close()

    with Client(cluster.scheduler_address, set_as_default=False) as client:
        stream = get_task_stream(client)
        with pytest.raises(RuntimeError, match="end of the task stream is missing"):
            story()
        assert len(stream.data) == 3


def test_other_plots_are_refused() -> None:
    with pytest.raises(ValueError, match="'save'"):
        get_task_stream(plot="show")  # type: ignore[arg-type]  # what is wrong with it


def test_actions_given_up_meanwhile_are_counted(new_client: Client) -> None:
    client = new_client

    def story() -> None:
        with stream:
            wait(client.map(inc, range(1100), pure=False))

    with dask.config.set({"diag-lab.max-actions": 1000}), dask_diag_lab.attach(client):
        stream = get_task_stream()
        with pytest.warns(RuntimeWarning, match="of the actions in this block were lost"):
            story()
    assert stream.lost >= 100
    kept = sum(len(row["startstops"]) for row in stream.data)
    # An action for each task, and one more where a busy machine took 5 ms.
    assert 1100 <= kept + stream.lost <= 2 * 1100
