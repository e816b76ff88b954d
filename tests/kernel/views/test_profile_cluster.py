"""The profile of a real computation, as `distributed`'s own client gives it."""

from __future__ import annotations

import time
from typing import Any

from distributed import Client

from dask_diag_lab.store import LiveSession
from dask_diag_lab.views.profile.profile import ProfileOfTasks
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


def profiled() -> dict[str, Any]:
    """Run a task on a real worker until its profile is enough; return `distributed`'s tree."""
    tree: dict[str, Any] = {"count": 0}
    with Client(n_workers=1, processes=False, dashboard_address=":0") as client:
        while tree["count"] < MIN_SAMPLES:
            client.submit(outermost, 0.5, pure=False).result(timeout=60)
            tree = client.profile("outermost")
    return tree


def test_the_function_that_ran_has_the_time_of_a_real_task() -> None:
    tree = profiled()
    live = LiveSession()
    live.apply(batch(workers=[worker(0)]))
    replies = Cluster(live, activity=activity({"outermost": [tree["count"]]}))
    replies.profiles[""] = answer(tree)
    page = ProfilePage(ProfileOfTasks(live))
    replies.reply()
    page.view.update()
    columns = page.view.table().columns
    own = dict(zip(columns["function"], columns["own_s"], strict=True))
    assert own["innermost"] >= 0.8 * sum(columns["own_s"])
    assert "innermost" in page.names
    # The line that ran when the frame was first sampled: either one of the loop.
    lines = {"while time.time() < stop:", "turns += sum(range(100))"}
    assert lines & set(page.frames["line"])
