"""Extras about tasks: what time went into.

Must not visit single tasks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dask_diag_lab.collector.strings import key_text

if TYPE_CHECKING:
    from distributed.scheduler import Scheduler


def durations(scheduler: Scheduler) -> list[tuple[str, str, float]]:
    """Return prefix, action and seconds: `TaskPrefix.all_durations`."""
    rows = []
    for prefix in getattr(scheduler, "task_prefixes", {}).values():
        spent = getattr(prefix, "all_durations", None)
        if spent:
            name = key_text(prefix.name)
            rows += [(name, key_text(action), float(spent[action])) for action in spent]
    return rows
