"""How far a computation is, in words, as a line of a console, and as bars of a notebook.

Must not count: it shows reports, from whatever thread they come.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from html import escape
from typing import Final

from ipywidgets import HTML, FloatProgress, HBox, Layout, VBox

from dask_diag_lab.views.format import count, duration, elide, plural

MAX_BARS: Final = 50
"""A hundred widgets take a browser about a second to make."""
FAILURE_CHARACTERS: Final = 300

# In a narrow cell the bar gives way first, then the name goes on a line of its own. Layouts are
# widgets too, but shared ones would be closed with the first bars that are: each gets its own.
_ROW: Final = {"flex_flow": "row wrap", "align_items": "center"}
_BAR: Final = {"flex": "1 1 6em", "width": "auto", "min_width": "4em", "max_width": "300px"}
_LABEL: Final = {"flex": "1 1 8em", "width": "auto", "min_width": "8em", "margin": "0 0 0 1em"}
_BREAKS: Final = "overflow-wrap: anywhere; white-space: normal"


@dataclass(frozen=True, slots=True)
class GroupCount:
    """Tasks of one group by how far they are; ``skipped`` will not run."""

    label: str
    pending: int = 0
    done: int = 0
    failed: int = 0
    skipped: int = 0

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
    def problem(self) -> str:
        """What went wrong, '' when nothing did."""
        return " ".join(filter(None, (elide(self.failure, FAILURE_CHARACTERS), self.note)))

    @property
    def summary(self) -> str:
        """One line about all tasks."""
        counts, elapsed = self.all, duration(self.elapsed_s)
        if not self.is_counted and not self.is_last:
            return f"Counting tasks · {elapsed}"
        if not counts.total and not self.note:
            return f"Finished: no tasks · {elapsed}"
        parts = [f"{self._state(counts)}: {count(counts.done)} of {plural(counts.total, 'task')}"]
        if counts.failed:
            parts.append(f"{count(counts.failed)} failed")
        if counts.skipped:
            parts.append(f"{count(counts.skipped)} will not run")
        return " · ".join([*parts, elapsed])

    def _state(self, counts: GroupCount) -> str:
        if not self.is_last:
            return "Computing"
        if counts.failed:
            return "Failed"
        return "Stopped" if counts.pending or counts.skipped or self.note else "Finished"


def sum_of(label: str, groups: Iterable[GroupCount]) -> GroupCount:
    """Return several groups as one with this label."""
    rows = [(g.pending, g.done, g.failed, g.skipped) for g in groups]
    return GroupCount(label, *map(sum, zip(*rows, strict=True))) if rows else GroupCount(label)


def largest_first(groups: Iterable[GroupCount], limit: int) -> list[GroupCount]:
    """Return at most ``limit`` groups, the largest first; the last one stands for the rest."""
    ordered = sorted(groups, key=lambda group: (-group.total, group.label))
    if len(ordered) <= limit:
        return ordered
    rest = ordered[limit - 1 :]
    return [*ordered[: limit - 1], sum_of(f"{count(len(rest))} more", rest)]


class ProgressLine:
    """The last line of a console, written over and over.

    Parameters
    ----------
    width : int
        Characters of the bar.
    """

    def __init__(self, width: int) -> None:
        self._width = max(width, 1)
        self._written = ""

    def show(self, report: Report) -> None:
        """Write what is true now over what was there."""
        bar = "#" * int(self._width * report.all.share) if report.is_counted else ""
        parts = (f"[{bar:<{self._width}}]", report.summary, report.problem)
        encoding = sys.stdout.encoding or "utf-8"
        line = " ".join(" | ".join(filter(None, parts)).splitlines())
        line = line.encode(encoding, "replace").decode(encoding)
        sys.stdout.write(f"\r{line:<{len(self._written)}}")
        sys.stdout.flush()
        self._written = line

    def end(self) -> None:
        """Go on to the next line, if there was anything."""
        if self._written:
            sys.stdout.write("\n")
            sys.stdout.flush()


class ProgressBars(VBox):  # type: ignore[misc]  # ipywidgets has no types
    """Bars that move until all tasks have ended.

    Attributes
    ----------
    report : Report
        What is shown.
    on_close : callable
        Called when the bars are taken away: nobody has to count any more.
    """

    def __init__(self) -> None:
        self._head = HTML()
        self._rows = VBox()
        self.bars: list[_Bar] = []
        self.report = Report()
        self.on_close: Callable[[], None] = lambda: None
        super().__init__(children=(self._head, self._rows))
        self.show(self.report)

    def __repr__(self) -> str:
        return f"<{self.report.summary}>"

    def show(self, report: Report) -> None:
        """Bring the bars up to ``report``; only what changed is sent."""
        self.report = report
        text = report.problem
        error = f'<br><span style="{_BREAKS}">{escape(text)}</span>' if text else ""
        self._head.value = f"<b>{escape(report.summary)}</b>{error}"
        groups = largest_first(report.groups, MAX_BARS)
        if len(groups) != len(self.bars):
            self.bars = [_Bar() for _ in groups]
            self._rows.children = tuple(bar.row for bar in self.bars)
        for bar, group in zip(self.bars, groups, strict=True):
            bar.show(group, is_last=report.is_last)

    def close(self) -> None:
        """Stop counting and take the bars away."""
        self.on_close()
        super().close()


class _Bar:
    """One group: how many of how many, the bar, and the name."""

    def __init__(self) -> None:
        self.group = GroupCount("")
        self._counts = HTML(layout=Layout(width="12em", flex="none"))
        self.bar = FloatProgress(min=0, max=1, layout=_BAR)
        self._label = HTML(layout=_LABEL)
        self.row = HBox([self._counts, self.bar, self._label], layout=_ROW)

    def show(self, group: GroupCount, *, is_last: bool) -> None:
        self.group = group
        words = f"{count(group.done)} / {count(group.total)}"
        if group.failed:
            words += f", {count(group.failed)} failed"
        self._counts.value = f'<div style="text-align: right">{words}</div>'
        name = f'<code style="{_BREAKS}">{escape(group.label)}</code>'
        self._label.value = name if group.label else ""
        self.bar.value = group.share
        done = "success" if group.done == group.total else "warning" if is_last else ""
        self.bar.bar_style = "danger" if group.failed else done
