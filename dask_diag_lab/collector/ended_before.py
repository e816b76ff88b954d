"""How many tasks had ended on a scheduler before anybody recorded them.

Must not visit single tasks, but those that erred last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from distributed.scheduler import Scheduler, TaskPrefix


def n_ended(scheduler: Scheduler) -> int:
    """Return how often a task has ended, since the engine last restarted.

    ``TaskPrefix.state_counts`` tells how often there was a result, and so also of those that were
    released and forgotten; data that was scattered, which nobody computed, is not counted. What
    failed is what the engine lists: its counts have tasks that erred for another one as well.
    """
    results = sum(
        prefix.state_counts.get("memory", 0)
        for prefix in scheduler.task_prefixes.values()
        if _has_run(prefix)
    )
    return results + sum(bool(e.exception_text or e.erred_on) for e in scheduler.erred_tasks)


def _has_run(prefix: TaskPrefix) -> bool:
    """Whether any of its tasks was computed.

    The engine forgets the average while one takes much longer than those before it.
    """
    return prefix.duration_average >= 0 or prefix.max_exec_time >= 0
