"""What happened to the cluster, newest last: a bounded list."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

MAX_EVENTS = 10_000
# The detail of an event is whatever the engine logged: its types are not ours to know.
Event = tuple[float, str, Mapping[str, Any]]


class EventLog:
    """The newest events: ``rows`` of (time, kind, detail); ``dropped`` counts older ones."""

    def __init__(self, limit: int = MAX_EVENTS) -> None:
        self.version = 0
        self.total = 0
        self.rows: deque[Event] = deque(maxlen=limit)

    @property
    def dropped(self) -> int:
        """Events that were forgotten for want of room."""
        return self.total - len(self.rows)

    def extend(self, events: Sequence[Event]) -> None:
        """Append events in order of arrival."""
        if events:
            self.rows.extend(events)
            self.total += len(events)
            self.version += 1
