"""A captured task stream holds what ended inside its block: all of that, and nothing else."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import distributed
import numpy as np
import pytest
from bokeh.resources import CDN
from distributed import Client, LocalCluster, wait

import dask_diag_lab
from dask_diag_lab import get_task_stream
from dask_diag_lab.capture import task_rows
from dask_diag_lab.capture.task_rows import key_of
from dask_diag_lab.schema import Kind
from tests.kernel.capture.saved import plots
from tests.kernel.serving import run, wait_until

pytestmark = [
    pytest.mark.usefixtures("runtime_dir"),
    pytest.mark.filterwarnings(
        r"ignore:Exception ignored in. <socket\.socket:pytest.PytestUnraisableExceptionWarning"
    ),
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]


def small_cluster(**more: Any) -> LocalCluster:
    given: dict[str, Any] = {"n_workers": 2, "threads_per_worker": 2, "processes": False, **more}
    return LocalCluster(dashboard_address=":0", protocol="tcp://", **given)


@pytest.fixture
def client() -> Iterator[Client]:
    with small_cluster() as cluster:
        with Client(cluster) as made:
            yield made
            diagnostics = dask_diag_lab.attach(made)
        wait_until(lambda: diagnostics.is_closed, "it outlives its client")


def inc(x: int) -> int:
    return x + 1


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


def test_long_captures_are_copied_bit_by_bit(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_rows, "ROWS_AT_ONCE", 7)
    with get_task_stream() as ts:
        futures = client.map(inc, range(50), pure=False)
        wait(futures)
    actions = [[action["action"] for action in row["startstops"]] for row in ts.data]
    assert [names.count("compute") for names in actions] == [1] * 50
    assert keys(ts.data) == {future.key for future in futures}


def test_a_call_returns_what_the_engine_returns(client: Client) -> None:
    client.get_task_stream()  # it records from its first call on
    assert get_task_stream(start=0) == []
    x = da.random.default_rng(1).random((100, 100), chunks=(50, 50))
    (x + x.T).sum().compute()
    middle = time.time() + 0.05
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


@pytest.mark.parametrize(
    ("start", "error"), [("soon", ValueError), ("5 parsecs", KeyError), ([1], TypeError)]
)
def test_a_start_that_is_no_time_is_refused(
    client: Client, start: Any, error: type[Exception]
) -> None:
    with pytest.raises(error):
        get_task_stream(client, start=start)


def test_the_figure_is_the_task_stream_of_the_block(client: Client) -> None:
    wait(client.map(inc, range(5), pure=False))
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


def drawn(figure: Any) -> int:
    """Return the rectangles of work; what took 5 ms on a busy machine may be called disk work."""
    kinds = [np.asarray(data["kind"]) for data in work_in(figure)]
    return sum(int(np.count_nonzero(kind == Kind.COMPUTE)) for kind in kinds)


def tasks_drawn(figure: Any) -> int:
    """Return the tasks in these rectangles: one stands for several short ones side by side."""
    pairs = [pair for d in work_in(figure) for pair in zip(d["kind"], d["count"], strict=True)]
    return sum(int(count) for kind, count in pairs if kind == Kind.COMPUTE)


def test_a_saved_page_needs_no_network(client: Client, tmp_path: Path) -> None:
    path = tmp_path / "stream <1>.html"
    with get_task_stream(plot="save", filename=str(path)) as ts:
        wait(client.map(inc, range(10), pure=False))
    page = path.read_text(encoding="utf-8")
    assert ts.figure is not None
    assert not re.search(r'(?:src|href)="(?!data:)', page)
    assert str(ts.data[0]["key"]) in json.dumps(plots(page)["task-stream"])
    assert len(page) < 1_000_000


def test_a_saved_page_has_all_threads_and_keys_which_nobody_can_fetch(tmp_path: Path) -> None:
    path = str(tmp_path / "stream.html")
    with (
        small_cluster(n_workers=1, threads_per_worker=300) as cluster,
        Client(cluster) as client,
        get_task_stream(plot="save", filename=path) as ts,
    ):
        wait(client.map(time.sleep, [1] * 300, pure=False))
        wait(client.map(inc, range(900), pure=False))
    assert len({row["thread"] for row in ts.data}) == 300
    assert tasks_drawn(ts.figure) == 1200
    stream = json.dumps(plots(Path(path).read_text(encoding="utf-8"))["task-stream"])
    assert all(row["key"] in stream for row in ts.data)


def test_asynchronous_clients_use_it_asynchronously() -> None:
    async def story() -> None:
        async with (
            small_cluster(asynchronous=True) as cluster,
            Client(cluster, asynchronous=True) as client,
        ):
            with pytest.raises(TypeError, match="async with"), get_task_stream(client):
                pass
            async with get_task_stream(client, plot=True) as ts:
                futures = client.map(inc, range(30), pure=False)
                await wait(futures)
            assert keys(ts.data) == {future.key for future in futures}
            assert tasks_drawn(ts.figure) == 30
            assert await get_task_stream(client, start=0) == ts.data
            diagnostics = dask_diag_lab.attach(client)
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(None, wait_until, lambda: diagnostics.is_closed, "not closed")
        await loop.shutdown_default_executor()

    run(story(), 60)


def test_a_scheduler_lost_in_the_block_raises_and_what_came_is_kept() -> None:
    cluster = small_cluster()

    def story() -> None:
        with stream:
            futures = client.map(inc, range(3), pure=False)
            client.gather(futures)
            with get_task_stream(client):
                pass  # brings the store up to now
            cluster.close()

    with Client(cluster.scheduler_address, set_as_default=False) as client:
        stream = get_task_stream(client)
        with pytest.raises(RuntimeError, match="end of the task stream is missing"):
            story()
        assert len(stream.data) == 3


def test_the_error_of_a_block_is_not_hidden(client: Client) -> None:
    stream = get_task_stream()

    def story() -> None:
        with stream:
            wait(client.map(inc, range(3), pure=False))
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        story()
    assert len(stream.data) == 3


def test_other_plots_are_refused() -> None:
    with pytest.raises(ValueError, match="'save'"):
        get_task_stream(plot="show")  # type: ignore[arg-type]  # what is wrong with it


@pytest.mark.parametrize(
    "key",
    [
        "inc-1",
        ("x-1", 0, 2),
        ("a b", "c'd"),
        (("n", 1), 2.5),
        "(not a tuple)",
        "('cut…",
        ("x", np.int64(3)),
    ],
)
def test_keys_come_back_from_their_text(key: Any) -> None:
    text = str(key)
    is_plain = "np." not in text
    assert key_of(text) == (key if is_plain else text)


def test_actions_given_up_meanwhile_are_counted(client: Client) -> None:
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
    assert 1100 <= kept + stream.lost < 1.2 * 1100
