"""The answers to `records.QUESTIONS`, a module for each kind or two.

Each takes the cluster and the arguments of the question, and returns plain data.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from dask_diag_lab.transport.answers.hardware import hardware
from dask_diag_lab.transport.answers.profiles import activity, profile
from dask_diag_lab.transport.answers.tasks import call_stacks, task
from dask_diag_lab.transport.answers.workers import logs, transfers, worker
from dask_diag_lab.transport.cluster import Cluster

__all__ = ["ANSWERS"]

ANSWERS: Final[Mapping[str, Callable[[Cluster, Mapping[str, str | float]], Awaitable[object]]]] = {
    "profile": profile,
    "activity": activity,
    "worker": worker,
    "transfers": transfers,
    "call-stacks": call_stacks,
    "logs": logs,
    "task": task,
    "hardware": hardware,
}
"""Who answers, by kind."""
