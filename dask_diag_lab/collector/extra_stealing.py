"""The extra log of tasks that were to be moved between workers, from the topic ``stealing``.

Must not follow tasks: the stealing extension logs what it does.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any, Final

from dask_diag_lab.collector.strings import key_text

if TYPE_CHECKING:
    from distributed.scheduler import Scheduler

TOPIC: Final = "stealing"
MAX_ROWS: Final = 2_000
"""Rows of one look, about 5 ms; what is more is read at the next one."""

NAMES: Final = {"confirm": "confirmed"}

Row = tuple[float, str, str, int, str, str, float, float]


def rows_of(at: float, message: Any) -> list[Row]:  # the engine's own, by version
    """Return the moves that one message of `WorkStealing` is about; none if it is not known.

    ``("request", [(time, level, key, cost, victim, its occupancy, thief, its occupancy), …])``,
    ``("confirm" or "already-computing", key, state, victim, thief, stimulus)``,
    ``("reschedule", flag, key, state, victim, thief, stimulus)`` and
    ``("stale-response" or "already-aborted", key, state, victim, stimulus)``.
    """
    if not isinstance(message, (tuple, list)) or not message:
        return []
    event, *parts = message
    if event == "request" and len(parts) == 1:
        return [
            (begun, "request", key_text(key), level, str(victim), str(thief), float(v), float(t))
            for begun, level, key, _, victim, v, thief, t in parts[0]
        ]
    if event == "reschedule":
        parts = parts[1:]
    victim, thief = "", ""
    if len(parts) == 5:
        victim, thief = str(parts[2]), str(parts[3])
    elif len(parts) == 4:
        victim = str(parts[2] or "")
    else:
        return []
    name = NAMES.get(event, key_text(event))
    return [(at, name, key_text(parts[0]), -1, victim, thief, math.nan, math.nan)]


class StealingSource:
    """Reads new messages of the topic, which keeps a bounded number of them."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._seen = 0

    def read(self) -> tuple[list[Row], int]:
        """Return new rows, and how many messages were lost before them."""
        broker = getattr(self._scheduler, "_broker", None)
        topic = getattr(broker, "_topics", {}).get(TOPIC)
        if topic is None:
            return [], 0
        new = topic.count - self._seen
        n = max(0, min(new, len(topic.events)))
        lost = max(0, new - n)
        self._seen += lost
        rows: list[Row] = []
        for at, message in itertools.islice(topic.events, len(topic.events) - n, None):
            rows += rows_of(at, message)
            self._seen += 1
            if len(rows) >= MAX_ROWS:
                break
        return rows, lost
