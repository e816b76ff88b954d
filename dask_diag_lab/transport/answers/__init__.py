"""The answers to `records.QUESTIONS`, a module for each kind or two.

Each takes the cluster and the arguments of the question, and returns plain data.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final

from dask_diag_lab.transport.answers.hardware import hardware
from dask_diag_lab.transport.answers.profiles import activity, profile
from dask_diag_lab.transport.answers.tasks import call_stacks, task
from dask_diag_lab.transport.answers.workers import logs, transfers, worker
from dask_diag_lab.transport.cluster import Cluster

__all__ = ["ANSWERS", "Answering"]

Arguments = Mapping[str, str | float]


@dataclass(frozen=True, slots=True)
class Answering:
    """How questions of one kind are answered.

    Attributes
    ----------
    answer : callable
        Answers one.
    is_wide : callable
        Tells of its arguments whether it may go to all workers.
    """

    answer: Callable[[Cluster, Arguments], Awaitable[object]]
    is_wide: Callable[[Arguments], bool]


def _always(_: Arguments) -> bool:
    return True


def _never(_: Arguments) -> bool:
    return False


def _names_no_worker(arguments: Arguments) -> bool:
    return not arguments["worker"]


def _samples_all(arguments: Arguments) -> bool:
    return arguments["source"] != "scheduler-loop" and _names_no_worker(arguments)


ANSWERS: Final[Mapping[str, Answering]] = {
    "profile": Answering(profile, _samples_all),
    "activity": Answering(activity, _names_no_worker),
    "worker": Answering(worker, _never),
    "transfers": Answering(transfers, _names_no_worker),
    # Of a task, too: without the collector only asking all workers tells which one runs it.
    "call-stacks": Answering(call_stacks, _names_no_worker),
    "logs": Answering(logs, _never),
    "task": Answering(task, _never),
    "hardware": Answering(hardware, _always),
}
"""Who answers, by kind."""
