"""How far a computation is, in words, as a line of a console, and as bars of a notebook.

Must not count: it shows reports, from whatever thread they come.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from html import escape
from math import inf
from typing import Any, Final

from ipywidgets import HTML, FloatProgress, HBox, Layout, VBox

from dask_diag_lab.notebook import WAIT_S, at_cell_ends, is_headless
from dask_diag_lab.server.context import until
from dask_diag_lab.views.format import count, duration, elide, plural

# Each is four widgets, of each of which the browser is told.
MAX_BARS: Final = 50
FAILURE_CHARACTERS: Final = 300
# Between two lines of a log file.
LOG_EVERY_S: Final = 5.0

_BREAKS: Final = "overflow-wrap: anywhere; white-space: normal; line-height: 1.6"


@dataclass(frozen=True, slots=True)
class GroupCount:
    """Tasks of one group by how far they are; ``skipped`` will not run.

    ``key`` is what the tasks are grouped by: a prefix, name and id of a span, or what a function
    returned.
    """

    key: Hashable
    pending: int = 0
    done: int = 0
    failed: int = 0
    skipped: int = 0

    @property
    def label(self) -> str:
        """What people read; an id is not for them."""
        return str(self.key[0] if isinstance(self.key, tuple) and self.key else self.key)

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
    left_s : float or None
        Until the end, if the rest takes as long as what has been done meanwhile; None where
        nothing has.
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
    left_s: float | None = None
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
        counts, elapsed = self.all, _time(self.elapsed_s)
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
        parts.append(elapsed)
        if self.left_s is not None and not self.is_last:
            parts.append(f"about {_time(self.left_s)} left")
        return " · ".join(parts)


class ProgressLine:
    """The last line of a terminal, written over and over: that of Dask's own bar.

    Elsewhere, as in a log file, a line every `LOG_EVERY_S` and at the end.

    Parameters
    ----------
    width : int
        Characters of the bar.

    Attributes
    ----------
    report : Report
        What is shown.
    """

    def __init__(self, width: int) -> None:
        self.report = Report()
        self._width = max(width, 1)
        self._written = ""
        self._next_s = LOG_EVERY_S

    def show(self, report: Report) -> None:
        """Write what is true now over what was there."""
        had_failed = bool(self.report.failure)  # nobody waits for the others
        self.report = report
        share = report.all.share if report.is_counted else 0.0
        bar = "#" * int(self._width * share)
        line = f"[{bar:<{self._width}}] | {int(100 * share)}% Completed | {_time(report.elapsed_s)}"
        if sys.stdout.isatty():
            sys.stdout.write(f"\r{line:<{len(self._written)}}")
        elif not had_failed and (
            report.is_last or report.failure or report.elapsed_s >= self._next_s
        ):
            sys.stdout.write(f"{line}\n")
            self._next_s = report.elapsed_s + LOG_EVERY_S
        sys.stdout.flush()
        self._written = line

    def close(self) -> None:
        """Erase the line where all is done, as Dask's own bar does; else say below it what is."""
        report = self.report
        is_done = report.is_last and report.all.share == 1 and not report.problem
        rest = " · ".join(filter(None, (report.summary, report.problem)))
        if sys.stdout.isatty():
            sys.stdout.write("\33[2K\r" if is_done else f"\n{rest}\n")
        elif not is_done:
            sys.stdout.write(f"{rest}\n")
        sys.stdout.flush()


class ProgressWidget(VBox):  # type: ignore[misc]  # ipywidgets has no types
    """Bars that move until all tasks have ended.

    What stands in them has the names that it has in the widget of `distributed`.

    Attributes
    ----------
    report : Report
        What is shown.
    elapsed_time : HTML
        One line about all tasks, and what went wrong.
    bars, bar_texts, bar_labels : dict
        The widgets of each group, by what the tasks are grouped by.
    on_close : callable
        Called when the bars are taken away: nobody has to count any more.
    """

    def __init__(self) -> None:
        self.on_close: Callable[[], None] = lambda: None
        self.elapsed_time = HTML()
        self.bars: dict[Hashable, Any] = {}  # ipywidgets has no types
        self.bar_texts: dict[Hashable, Any] = {}
        self.bar_labels: dict[Hashable, Any] = {}
        self._has_ended, self._shown = threading.Event(), threading.Event()
        # Replaced later: what it said before would stay where the kernel dies.
        self._text = "Progress of a computation"
        self._displays: list[Any] = []  # IPython's handles, which have no types
        super().__init__([self.elapsed_time])
        self.show(Report())

    def _ipython_display_(self) -> None:
        """Show them so that the text which a notebook saves beside them can be replaced."""
        from IPython.display import display

        self._displays.append(display(self._repr_mimebundle_(), raw=True, display_id=True))
        if self.report.is_last:
            self._save_text()
        elif is_headless():
            at_cell_ends(self._save_state)

    def _save_state(self, cell: str) -> bool:
        """Save text and widgets as they are at the end of a cell; return whether more may come."""
        for _ in range(2):  # the first one may have been begun before the end
            self._shown.clear()
            if not self._has_ended.is_set():
                self._shown.wait(WAIT_S / 2)
        self._text = f"{self.report.summary} · when {cell} ended"
        self._save_text()
        # What they sent since their own cell was not heard, nor that some were made.
        for row in (self, *self.children):
            for widget in (row, *getattr(row, "children", ())):
                for one in filter(None, (widget.layout, getattr(widget, "style", None), widget)):
                    one.send_state()
        return not self._has_ended.is_set()

    def _save_text(self) -> None:
        for shown in self._displays:
            shown.update(self._repr_mimebundle_(), raw=True)

    def __repr__(self) -> str:
        return f"<{self.report.summary if self.report.is_last else self._text}>"

    @property
    def status(self) -> str | None:
        """``"finished"`` or ``"error"``; None before the end."""
        is_finished = self.report.all.share == 1 and not self.report.problem
        return ("finished" if is_finished else "error") if self.report.is_last else None

    async def listen(self) -> None:
        """Return when the bars move no more: all has ended, or they were closed."""
        await until(self._has_ended.is_set, inf)

    def show(self, report: Report) -> None:
        """Bring the bars up to ``report``."""
        self.report = report
        groups = sorted(report.groups, key=lambda group: (-group.total, group.label))
        for group in groups:
            if group.key in self.bars or len(self.bars) < MAX_BARS:
                self._show_group(group, is_last=report.is_last)
        text = f"<b>{escape(report.summary)}</b>"
        if len(groups) > len(self.bars):
            text += f"<br>{count(len(groups) - len(self.bars))} smaller groups are not shown."
        if report.problem:
            text += f"<br>{escape(report.problem, quote=False)}"
        self.elapsed_time.value = f'<div style="{_BREAKS}">{text}</div>'
        if report.is_last:
            self._save_text()
            self._has_ended.set()
        self._shown.set()

    def _show_group(self, group: GroupCount, *, is_last: bool) -> None:
        """Bring one group up: how many of how many, the bar, and the name."""
        if group.key not in self.bars:
            text = self.bar_texts[group.key] = HTML(layout=Layout(width="12em"))
            bar = self.bars[group.key] = FloatProgress(max=1, tooltip=group.label)
            name = f'<code style="{_BREAKS}">{escape(group.label)}</code>'
            # In a narrow cell the name goes on a line of its own.
            label = self.bar_labels[group.key] = HTML(name, layout=Layout(flex="1 1 8em"))
            row = HBox((text, bar, label), layout=Layout(flex_flow="row wrap"))
            self.children: Any = (*self.children, row)  # as above
        counts = f"{count(group.done)} / {count(group.total)}"
        failed = f", {count(group.failed)} failed" if group.failed else ""
        self.bar_texts[group.key].value = f'<div style="text-align: right">{counts}{failed}</div>'
        state = "success" if group.share == 1 else "warning" if is_last else "info"
        self.bars[group.key].bar_style = "danger" if group.failed else state
        self.bars[group.key].value = group.share

    def close(self) -> None:
        """Stop counting and take the bars away."""
        self.on_close()
        self._has_ended.set()
        for row in self.children:
            for widget in (*getattr(row, "children", ()), row):
                widget.close()
        super().close()


def _time(seconds: float) -> str:
    """Return a time as consoles have had it: ``1.2 s``; from a minute on in larger units."""
    return f"{seconds:.1f} s" if seconds < 59.95 else duration(seconds)
