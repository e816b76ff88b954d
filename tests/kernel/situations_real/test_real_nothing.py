"""Clusters without tasks and without workers: every plot says why it is empty, none fails."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dask_diag_lab.views.registry import PLOTS
from tests.kernel.situations_real.reading import Situation, situation

NAMES = [plot.name for plot in PLOTS]

ONLY_OF_WORKERS = {
    *("workers-memory", "cluster-memory", "nprocessing", "cpu", "occupancy", "workers"),
    *("workers-transfer-bytes", "workers-network", "workers-disk", "worker"),
    *("gpu-utilization", "gpu-memory", "rmm-memory"),
    *("workers-cpu-timeseries", "workers-memory-timeseries"),
    *("workers-network-timeseries", "workers-disk-timeseries"),
}
SHOWN_WITHOUT_TASKS = {
    *(ONLY_OF_WORKERS - {"gpu-utilization", "gpu-memory", "rmm-memory"}),
    *("scheduler-system", "contention", "counters"),
    "events",  # when the workers came
}
"""They have something to show of workers that do nothing; all others have to say why not."""

SHOWN_WITHOUT_WORKERS = {
    *("scheduler-system", "contention", "counters"),
    "events",  # when the client came
}


@pytest.fixture(scope="module")
def idle() -> Iterator[Situation]:
    """Two workers that have nothing to do."""
    with situation(n_workers=2, threads_per_worker=1) as found:
        found.seen(lambda: len(found.table("workers-memory")["worker"]), (2).__eq__)
        yield found


@pytest.fixture(scope="module")
def deserted() -> Iterator[Situation]:
    """A scheduler without a worker."""
    with situation(n_workers=0) as found:
        yield found


@pytest.mark.parametrize("name", NAMES)
def test_without_tasks_a_plot_shows_the_workers_or_says_why_it_is_empty(
    idle: Situation, name: str
) -> None:
    def is_said(words: str) -> bool:
        if name in SHOWN_WITHOUT_TASKS:
            return not words
        return words.endswith(".") and "Waiting" not in words

    idle.seen(lambda: _words(idle, name), is_said)


@pytest.mark.parametrize("name", NAMES)
def test_without_workers_a_plot_says_why_it_is_empty(deserted: Situation, name: str) -> None:
    def is_said(words: str) -> bool:
        is_reason = words.endswith(".") or name in SHOWN_WITHOUT_WORKERS
        return is_reason and (name not in ONLY_OF_WORKERS or "worker" in words.lower())

    deserted.seen(lambda: _words(deserted, name), is_said)


def _words(found: Situation, name: str) -> str:
    """Return why a plot is empty, or ''."""
    found.table(name)  # somebody looks, so that its data is sent
    notice = found.notice(name)
    # The one plot that is empty until its button is pressed, which it shows, says so beside it.
    return notice.empty or (notice.note if name == "hardware" else "")


# Real are the time of idle threads, and event loops, which run also where no task does.
@pytest.mark.parametrize(
    "name", sorted(set(NAMES) - SHOWN_WITHOUT_TASKS - {"costs", "profile-server"})
)
def test_what_is_empty_has_no_rows_that_were_made_up(idle: Situation, name: str) -> None:
    assert not any(map(len, idle.table(name).values()))
