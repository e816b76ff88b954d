"""How far a computation is, in words, as a line of a console, and as bars of a notebook.

Must not count: it shows reports, from whatever thread they come.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Final

from ipywidgets import HTML

from dask_diag_lab.views.format import count, duration, elide, plural

MAX_BARS: Final = 100
"""All of them are sent with each report."""
FAILURE_CHARACTERS: Final = 300

_BREAKS: Final = "overflow-wrap: anywhere; white-space: normal"
# In a narrow cell the bar gives way first, then the name goes on a line of its own.
_ROW: Final = """
<div style="display: flex; flex-flow: row wrap; align-items: center; line-height: 1.8">
  <span style="flex: none; width: 12em; text-align: right; margin-right: 8px">{counts}</span>
  <div role="progressbar" aria-label="{label}" aria-valuenow="{percent:.0f}" style="height: 1.4em;
       flex: 1 1 6em; min-width: 4em; max-width: 300px; background: var(--jp-layout-color2, #eee)">
    <div style="width: {percent}%; height: 100%; background: {color}"></div>
  </div>
  <code style="flex: 1 1 8em; min-width: 8em; margin-left: 1em; {breaks}">{label}</code>
</div>"""
_COLORS: Final = {
    "info": "var(--jp-brand-color1, #2196f3)",
    "success": "var(--jp-success-color1, #4caf50)",
    "warning": "var(--jp-warn-color1, #ff9800)",
    "danger": "var(--jp-error-color1, #f44336)",
}


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
        rows = [(g.pending, g.done, g.failed, g.skipped) for g in self.groups]
        return GroupCount("all", *map(sum, zip(*rows, strict=True)))

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
        is_stopped = counts.pending or counts.skipped or self.note
        state = "Failed" if counts.failed else "Stopped" if is_stopped else "Finished"
        state = state if self.is_last else "Computing"
        parts = [f"{state}: {count(counts.done)} of {plural(counts.total, 'task')}"]
        if counts.failed:
            parts.append(f"{count(counts.failed)} failed")
        if counts.skipped:
            parts.append(f"{count(counts.skipped)} will not run")
        return " · ".join([*parts, elapsed])


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
        line = " ".join(" | ".join(filter(None, parts)).splitlines())
        sys.stdout.write(f"\r{line:<{len(self._written)}}")
        sys.stdout.flush()
        self._written = line


class ProgressBars(HTML):  # type: ignore[misc]  # ipywidgets has no types
    """Bars that move until all tasks have ended.

    Attributes
    ----------
    report : Report
        What is shown.
    on_close : callable
        Called when the bars are taken away: nobody has to count any more.
    """

    def __init__(self) -> None:
        self.on_close: Callable[[], None] = lambda: None
        super().__init__()
        self.show(Report())

    def __repr__(self) -> str:
        return f"<{self.report.summary}>"

    def show(self, report: Report) -> None:
        """Bring the bars up to ``report``."""
        self.report = report
        groups = sorted(report.groups, key=lambda group: (-group.total, group.label))
        parts = [f"<b>{escape(report.summary)}</b>"]
        if report.problem:
            parts.append(f'<br><span style="{_BREAKS}">{escape(report.problem)}</span>')
        parts += [_row(group, is_last=report.is_last) for group in groups[:MAX_BARS]]
        if len(groups) > MAX_BARS:
            parts.append(f"<p>{count(len(groups) - MAX_BARS)} smaller groups are not shown.</p>")
        self.value = "".join(parts)

    def close(self) -> None:
        """Stop counting and take the bars away."""
        self.on_close()
        super().close()


def _row(group: GroupCount, *, is_last: bool) -> str:
    """Return one group: how many of how many, the bar, and the name."""
    counts = f"{count(group.done)} / {count(group.total)}"
    if group.failed:
        counts += f", {count(group.failed)} failed"
    state = "success" if group.done == group.total else "warning" if is_last else "info"
    return _ROW.format(
        counts=counts,
        percent=100 * group.share,
        color=_COLORS["danger" if group.failed else state],
        label=escape(group.label),
        breaks=_BREAKS,
    )
