"""Progress as an ipywidgets box: one bar for each group of tasks.

Must not count: it shows reports, from whatever thread they come.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Final

from ipywidgets import HTML, FloatProgress, HBox, Layout, VBox

from dask_diag_lab.notebook.progress_report import (
    GroupCount,
    Report,
    largest_first,
    problem,
    summary,
)
from dask_diag_lab.views.format import count

MAX_BARS: Final = 50
"""A hundred widgets take a browser about a second to make."""


class ProgressBars(VBox):  # type: ignore[misc]  # ipywidgets has no types
    """Bars that move until all tasks have ended.

    Attributes
    ----------
    on_close : callable
        Called when the bars are taken away: nobody has to count any more.
    """

    def __init__(self) -> None:
        self._head = HTML()
        self._rows = VBox()
        self._bars: list[_Bar] = []
        self._report = Report()
        self.on_close: Callable[[], None] = lambda: None
        super().__init__(children=(self._head, self._rows))
        self.show(self._report)

    def __repr__(self) -> str:
        return f"<{summary(self._report)}>"

    def show(self, report: Report) -> None:
        """Bring the bars up to ``report``; only what changed is sent."""
        self._report = report
        text = problem(report)
        error = f'<br><span style="overflow-wrap: anywhere">{escape(text)}</span>' if text else ""
        self._head.value = f"<b>{escape(summary(report))}</b>{error}"
        if not (report.is_counted or report.is_last):
            return  # bars in order of size would change places
        groups = largest_first(report.groups, MAX_BARS)
        if len(groups) != len(self._bars):
            self._bars = [_Bar() for _ in groups]
            self._rows.children = tuple(bar.row for bar in self._bars)
        for bar, group in zip(self._bars, groups, strict=True):
            bar.show(group, is_last=report.is_last)

    def close(self) -> None:
        """Stop counting and take the bars away."""
        self.on_close()
        super().close()


# In a narrow cell the bar gives way first, then the name goes on a line of its own. Layouts are
# widgets too, but shared ones would be closed with the first bars that are: each gets its own.
_ROW: Final = {"flex_flow": "row wrap", "align_items": "center"}
_BAR: Final = {"flex": "1 1 6em", "width": "auto", "min_width": "4em", "max_width": "300px"}
_LABEL: Final = {"flex": "1 1 8em", "width": "auto", "min_width": "8em", "margin": "0 0 0 1em"}


class _Bar:
    """One group: how many of how many, the bar, and the name."""

    def __init__(self) -> None:
        self._counts = HTML(layout=Layout(width="12em", flex="none"))
        self._bar = FloatProgress(min=0, max=1, layout=_BAR)
        self._label = HTML(layout=_LABEL)
        self.row = HBox([self._counts, self._bar, self._label], layout=_ROW)

    def show(self, group: GroupCount, *, is_last: bool) -> None:
        words = f"{count(group.done)} / {count(group.total)}"
        if group.failed:
            words += f", {count(group.failed)} failed"
        self._counts.value = f'<div style="text-align: right">{words}</div>'
        self._label.value = _name(group.label)
        self._bar.value = group.share
        self._bar.bar_style = _style(group, is_last=is_last)


def _name(label: str) -> str:
    """Return a label that breaks where it has to: a name is never cut at the edge of a cell."""
    style = "overflow-wrap: anywhere; white-space: normal"
    return f'<code style="{style}">{escape(label)}</code>' if label else ""


def _style(group: GroupCount, *, is_last: bool) -> str:
    if group.failed:
        return "danger"
    if group.done == group.total:
        return "success"
    return "warning" if is_last else ""
