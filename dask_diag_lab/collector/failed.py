"""How many tasks were erred when the engine forgot them: after that it cannot tell any more.

Must not keep anything of a single task, but of the one that was left last.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from distributed.scheduler import TaskGroup

MAX_SPANS: Final = 10_000
"""Spans with failed tasks that are remembered; the engine itself never drops one."""


class Failed:
    """Counts since the start; the transition hook tells what left the state and what went.

    The engine forgets an erred task by way of released, in one stimulus. One that is tried again
    goes from there to waiting, and is not counted.

    Attributes
    ----------
    last : tuple, optional
        Key and stimulus of the task that was erred until the last time one ceased to be.
    of_group : Counter of TaskGroup
        Of those that the engine knows, or that were not dropped here yet.
    of_prefix : Counter of str
    """

    def __init__(self) -> None:
        self.last: tuple[Any, Any] | None = None  # keys are of any type
        self.of_group: Counter[TaskGroup] = Counter()
        self.of_prefix: Counter[str] = Counter()
        self._of_span: Counter[str] = Counter()

    def forgotten(self, key: Any, stimulus: Any, group: TaskGroup) -> None:
        """Count a task that is forgotten, if it was erred until then."""
        if (key, stimulus) != self.last:
            return
        self.last = None
        self.of_group[group] += 1
        self.of_prefix[group.prefix.name] += 1
        if group.span_id:
            self._of_span[group.span_id] += 1
            if len(self._of_span) > MAX_SPANS:
                del self._of_span[next(iter(self._of_span))]

    def of_span(self, span_id: str) -> int:
        """Return how many there were in the groups of a span, without those inside it."""
        return self._of_span[span_id]

    def keep(self, there: Collection[TaskGroup]) -> None:
        """Forget all groups but those."""
        kept = set(there)
        self.of_group = Counter({g: number for g, number in self.of_group.items() if g in kept})
