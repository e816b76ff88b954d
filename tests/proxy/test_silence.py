"""A dashboard that does not answer in time: whose fault that is, as far as it can be told."""

from __future__ import annotations

import asyncio
import time

import pytest

from dask_diag_lab.proxy.extension import DaskDiagLab
from dask_diag_lab.proxy.health import examine, reason_of
from dask_diag_lab.proxy.processors import Reading, read_processors
from dask_diag_lab.proxy.upstream import Failure, UpstreamError
from tests.proxy.backends import Backend
from tests.proxy.client import Client


@pytest.mark.parametrize(
    ("busy_share", "is_told_of_processors"), [(0.0, False), (0.6, False), (1.0, True)]
)
def test_a_kernel_is_not_accused_alone_where_all_processors_are_busy(
    busy_share: float, is_told_of_processors: bool
) -> None:
    said = reason_of("a.ipynb", UpstreamError(Failure.TIMEOUT), busy_share)
    assert "holding the interpreter" in said
    assert ("processors" in said) is is_told_of_processors


def test_the_share_is_that_of_the_time_between_two_readings() -> None:
    assert Reading(10, 100).share_until(Reading(16, 108)) == pytest.approx(0.75)
    assert Reading(10, 100).share_until(Reading(10, 100)) == 0


def test_processors_that_work_are_counted_as_busy() -> None:
    before = read_processors()
    until = time.monotonic() + 0.5
    while time.monotonic() < until:
        sum(range(1000))
    assert 0 < before.share_until(read_processors()) <= 1


async def test_a_jupyter_server_that_was_held_up_itself_does_not_accuse_the_kernel(
    client: Client, backend: Backend, extension: DaskDiagLab
) -> None:
    backend.announce()
    (entry,) = await client.dashboards()
    (dashboard,) = extension.state.dashboards.all()
    assert entry["state"] == "live"
    asking = asyncio.ensure_future(examine(dashboard, 2.0))
    await asyncio.sleep(0)  # it has begun, and its time runs
    time.sleep(3)  # noqa: ASYNC251  # as another extension may do to the loop of all
    await asking
    assert dashboard.condition.state == "live"
