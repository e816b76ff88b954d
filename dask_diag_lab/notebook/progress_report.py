"""How far a computation is: counts by group, and what they are in words.

Pure: must not know who counted or who draws.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from dask_diag_lab.views.format import count, duration, elide, plural

FAILURE_CHARACTERS: Final = 300


@dataclass(frozen=True, slots=True)
class GroupCount:
    """Tasks of one group by how far they are; ``skipped`` will not run."""

    label: str
    pending: int
    done: int
    failed: int
    skipped: int

    @property
    def total(self) -> int:
        return self.pending + self.done + self.failed + self.skipped

    @property
    def share(self) -> float:
        """Share that is done; 1 when there are none."""
        return self.done / self.total if self.total else 1.0


@dataclass(frozen=True, slots=True)
class Report:
    """State of a computation.

    Attributes
    ----------
    groups : tuple of GroupCount
        In the order in which they were found.
    elapsed_s : float
        Since it was asked for.
    is_counted : bool
        All tasks have been found; until then there are more.
    is_last : bool
        Nothing more will come.
    failure : str
        The first failed task and its exception; '' when none has failed.
    note : str
        Why counting ended early or is incomplete; '' when all is well.
    """

    groups: tuple[GroupCount, ...] = ()
    elapsed_s: float = 0.0
    is_counted: bool = False
    is_last: bool = False
    failure: str = ""
    note: str = ""

    @property
    def all(self) -> GroupCount:
        """All groups as one."""
        return sum_of("all", self.groups)

    @property
    def is_success(self) -> bool:
        counts = self.all
        return self.is_last and self.is_counted and counts.done == counts.total and not self.note


def sum_of(label: str, groups: Iterable[GroupCount]) -> GroupCount:
    """Return several groups as one with this label."""
    rows = [(g.pending, g.done, g.failed, g.skipped) for g in groups]
    pending, done, failed, skipped = map(sum, zip((0, 0, 0, 0), *rows, strict=True))
    return GroupCount(label, pending, done, failed, skipped)


def largest_first(groups: Iterable[GroupCount], limit: int) -> list[GroupCount]:
    """Return at most ``limit`` groups, the largest first; the last one stands for the rest."""
    ordered = sorted(groups, key=lambda group: (-group.total, group.label))
    if len(ordered) <= limit:
        return ordered
    rest = ordered[limit - 1 :]
    return [*ordered[: limit - 1], sum_of(f"{count(len(rest))} more", rest)]


def summary(report: Report) -> str:
    """Return one line about all tasks."""
    counts = report.all
    if not report.is_counted and not report.is_last:
        found = f"Counting tasks: {count(counts.total)} so far"
        return f"{found} · {duration(report.elapsed_s)}"
    words = [f"{_state(report)}: {count(counts.done)} of {plural(counts.total, 'task')}"]
    if not counts.total and not report.note:
        words = ["Finished: no tasks"]
    if counts.failed:
        words.append(f"{count(counts.failed)} failed")
    if counts.skipped:
        words.append(f"{count(counts.skipped)} will not run")
    words.append(duration(report.elapsed_s))
    return " · ".join(words)


def problem(report: Report) -> str:
    """Return what went wrong, '' when nothing did."""
    parts = (elide(report.failure, FAILURE_CHARACTERS), report.note)
    return " ".join(part for part in parts if part)


def _state(report: Report) -> str:
    if not report.is_last:
        return "Computing"
    counts = report.all
    if counts.failed:
        return "Failed"
    return "Stopped" if counts.pending or counts.skipped or report.note else "Finished"
