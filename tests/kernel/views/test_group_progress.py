"""Task Group Progress: threads at work by prefix and time, cheap to keep, never standing still."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.simulator import Simulation
from dask_diag_lab.schema import Kind
from dask_diag_lab.store import LiveSession
from dask_diag_lab.views import data
from dask_diag_lab.views.tasks.group_progress import MAX_BINS, TaskGroupProgress
from tests.kernel.store.batches import T0
from tests.kernel.views.conftest import Feed
from tests.kernel.views.drawn import Drawn

RUNNING = ("inc-a", "tcp://w0:1", "inc", 0.0)
"""A task that has been running since `T0`."""


@pytest.fixture(autouse=True)
def restless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a view count anew at once."""
    monkeypatch.setattr(data, "REST", 0.0)


def opened(live: LiveSession) -> tuple[TaskGroupProgress, Drawn[TaskGroupProgress]]:
    view = TaskGroupProgress(live)
    return view, Drawn(view)


def thread_seconds(view: TaskGroupProgress) -> dict[str, float]:
    """Return the sum over time of what is stacked, by prefix."""
    columns = view.table().columns
    sums: dict[str, float] = {}
    rows = zip(*(columns[name] for name in ("prefix", "start", "stop", "threads")), strict=True)
    for prefix, start, stop, threads in rows:
        sums[prefix] = sums.get(prefix, 0.0) + (stop - start) * threads
    return sums


def test_threads_are_those_that_computed_and_seconds_are_shared_out_exactly(feed: Feed) -> None:
    random = np.random.default_rng(1)
    expected: dict[str, float] = {}
    for thread in range(200):
        start, took = random.uniform(0, 100), random.exponential(3.0)
        prefix = f"p{thread % 4}"
        expected[prefix] = expected.get(prefix, 0.0) + took
        feed.maker.action(start, start + took, prefix=prefix, worker=f"tcp://w{thread}:1")
    feed.maker.action(0, 5, kind=Kind.TRANSFER)
    feed.send(150.0)
    view, _ = opened(feed.live)
    assert thread_seconds(view) == pytest.approx(expected)
    table = view.table().columns
    assert len(set(table["start"])) <= MAX_BINS


def test_areas_are_not_painted_before_they_have_points(feed: Feed) -> None:
    """BokehJS would paint them for ever."""
    view, page = opened(feed.live)
    assert not any(area.visible for area in page.plot.renderers)
    assert view.caption.empty.startswith("No task has run yet")
    feed.maker.action(0, 1)
    feed.send(1)
    page.sent()
    assert all(area.visible for area in page.plot.renderers)
    assert view.caption.empty == ""


def test_running_tasks_count_as_far_as_they_have_come_and_the_picture_goes_on(feed: Feed) -> None:
    feed.send(10.0, running=[RUNNING])
    view, page = opened(feed.live)
    assert thread_seconds(view) == {"inc": pytest.approx(10.0)}
    assert page.sent() == []
    feed.now += 30.0
    assert page.sent()
    assert thread_seconds(view) == {"inc": pytest.approx(40.0)}
    feed.maker.action(0, 42, key="inc-a")
    feed.send(42.5, running=[])
    page.sent()
    assert thread_seconds(view) == {"inc": pytest.approx(42.0)}


def test_threads_with_tasks_too_short_for_a_heartbeat_count(feed: Feed) -> None:
    for i in range(100):
        start = i / 50
        feed.maker.action(start, start + 0.0198).action(start, start + 0.0199, thread=2)
    feed.send(2.0, nthreads=[(T0, 4)])
    view, page = opened(feed.live)
    assert view.caption.headline == "2 of 4 threads in tasks lately"
    feed.now += 30
    page.sent()
    assert view.caption.headline == "0 of 4 threads in tasks lately"
    for stop, mean in ((1.0, "1.98"), (0.1, "1.99"), (20.0, "0.198")):
        view.show({"start": str(T0), "stop": str(T0 + stop)})
        page.sent()
        assert view.caption.headline == f"{mean} threads in tasks on average"


def test_many_prefixes_share_one_layer_and_the_plot_says_so(feed: Feed) -> None:
    for i in range(30):
        feed.maker.action(0, 1 + i, prefix=f"p{i}", thread=i + 1)
    feed.send(40.0)
    view, _ = opened(feed.live)
    assert len(view.caption.legend) == 13
    assert sum(thread_seconds(view).values()) == pytest.approx(sum(range(1, 31)))
    assert "18 smaller prefixes in one grey area" in view.caption.note
    parts = view.rows()["parts"][0].split("\n")
    assert (len(parts), parts[0]) == (13, "others: 18.0")


def test_the_seconds_of_a_long_history_are_those_of_its_tasks() -> None:
    live = LiveSession()
    for batch in Simulation(4, 4, 2000).batches():
        live.apply(batch)
    view, _ = opened(live)
    rows = live.history.actions.since(0)[1]
    took = (rows["stop"] - rows["start"])[rows["kind"] == Kind.COMPUTE]
    # One task that failed comes without its thread, and is drawn in another's.
    assert sum(thread_seconds(view).values()) == pytest.approx(took.sum(), rel=1e-3)
