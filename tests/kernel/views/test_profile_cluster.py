"""The profile of a real computation, as `distributed`'s own client gives it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from distributed import Client, LocalCluster
from distributed import profile as engine
from distributed.core import Server

from dask_diag_lab.store import Store
from dask_diag_lab.transport import answers
from dask_diag_lab.views.look import LIGHT
from dask_diag_lab.views.profile.profile import ProfileOfEventLoops, ProfileOfTasks
from tests.kernel.transport.asking import asking, profile_of
from tests.kernel.transport.live_cluster import cluster
from tests.kernel.views.profiles import Cluster, ProfilePage, activity, answer
from tests.kernel.views.situations import batch, worker

MIN_SAMPLES = 30


def innermost(stop: float) -> int:
    turns = 0
    while time.time() < stop:
        turns += sum(range(100))
    return turns


def outermost(seconds: float) -> int:
    return innermost(time.time() + seconds)


def _profiled(seconds: float, is_enough: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Run a task on a real worker until its profile is enough; return `distributed`'s tree."""
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as local,
        Client(local) as client,
    ):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            client.submit(outermost, seconds, pure=False).result(timeout=60)
            tree: dict[str, Any] = client.profile("outermost")
            if is_enough(tree):
                return tree
    raise AssertionError("no profile within a minute")


def test_the_function_that_ran_has_the_time_of_a_real_task() -> None:
    tree = _profiled(0.5, lambda found: found["count"] >= MIN_SAMPLES)
    store = Store()
    store.apply(batch(workers=[worker(0)]))
    replies = Cluster(store, activity=activity({"outermost": [tree["count"]]}))
    replies.profiles[""] = answer(tree)
    page = ProfilePage(ProfileOfTasks(store))
    replies.reply()
    page.view.update()
    columns = page.view.table().columns
    own = dict(zip(columns["function"], columns["own_s"], strict=True))
    assert own["innermost"] >= 0.8 * sum(columns["own_s"])
    assert "innermost" in page.names
    # The line that ran when the frame was first sampled: either one of the loop.
    lines = {"while time.time() < stop:", "turns += sum(range(100))"}
    assert lines & set(page.frames["line"])


def _hold_the_loop() -> None:
    """Do on an event loop what should not be done there."""
    end = time.perf_counter() + 0.1
    while time.perf_counter() < end:
        pass


@contextmanager
def _sampled_loop(server: Server) -> Iterator[None]:
    """Have this thread's loop sampled as `distributed` does on all Pythons but 3.11 (`Server`)."""
    is_over = threading.Event()
    options: Any = {"omit": ("profile.py", "selectors.py"), "stop": is_over.is_set}
    loop: Any = server.io_loop  # with what `distributed` adds to it
    before = loop.profile
    loop.profile = engine.watch(interval="5ms", cycle="20ms", **options)
    try:
        yield
    finally:
        is_over.set()
        loop.profile = before


def _samples_of(function: str, node: dict[str, Any]) -> int:
    """Return how often a function is in a tree; distributed counts a frame after it came there."""
    own = node["count"] if node["description"]["name"] == function else 0
    return own + sum(_samples_of(function, child) for child in node["children"].values())


async def _answer_about(source: str, function: str) -> dict[str, Any]:
    """Return a real scheduler's answer about a loop in which `function` has been seen."""
    config = {"distributed.worker.profile.enabled": True, "distributed.worker.profile.cycle": "1s"}
    async with cluster(config=config) as (scheduler, _, _), asking(scheduler.address) as ask:
        with _sampled_loop(scheduler):
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline:
                _hold_the_loop()
                found: dict[str, Any] = await ask("profile", **profile_of(source))
                if _samples_of(function, found["tree"]):
                    return found
    raise AssertionError("the loop was never seen at work within a minute")


@pytest.mark.parametrize("source", ["scheduler-loop", "worker-loops"])
def test_what_holds_up_a_real_event_loop_is_seen(
    source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # So that the worker need not have run for long.
    monkeypatch.setattr(answers, "RECENT_S", 0.2)
    found = asyncio.run(_answer_about(source, "_hold_the_loop"))
    assert found["missing"] == {}
    store = Store()
    store.apply(batch(workers=[worker(0)]))
    replies = Cluster(store, activity={"times": [], "counts": [], "prefixes": {}, "missing": {}})
    replies.profiles[""] = found
    page = ProfilePage(ProfileOfEventLoops(store, LIGHT, {"source": source}))
    replies.reply()
    page.view.update()
    assert "_hold_the_loop" in page.names
    assert "1 s per sample" in page.view.caption.note
    # Counted at the function itself, not at its caller as the samples of tasks are.
    columns = page.view.table().columns
    own = dict(zip(columns["function"], columns["own_s"], strict=True))
    assert own["_hold_the_loop"] > 0
