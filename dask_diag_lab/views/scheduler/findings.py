"""Why it is slow and what to change: a row for each finding of a period, most saving first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple

import numpy as np

from dask_diag_lab.analysis.case import Case, case_of
from dask_diag_lab.analysis.findings import TITLES, Finding, findings_of, verdict
from dask_diag_lab.store.sums import Window
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.data import Column, Rows
from dask_diag_lab.views.known_runs import run_label
from dask_diag_lab.views.registry import get_plot, register_plot
from dask_diag_lab.views.scheduler.budget import OfWork, WorkShown, work_of
from dask_diag_lab.views.tables import TablePlot
from dask_diag_lab.views.view import Control


class Answer(NamedTuple):
    """What was found, in one line, and each finding; whether more may come; and when it was."""

    verdict: str
    findings: list[Finding]
    is_over: bool
    window: Window


@register_plot
class Findings(OfWork[Answer], TablePlot):
    """Findings of a period; without one, of the work that goes on or was done last."""

    name = "findings"
    reads = (
        *("actions", "running", "activities", "workers"),
        *("events", "series", "groups", "prefixes"),
    )
    empty = "No task has run yet. Soon after the first ones it says here what is slow."

    columns = (
        Column("title", "Finding", width=95),
        Column("advice", "What to change", width=135),
        Column("text", "In numbers", width=166),
        Column("saved", "Saves up to", "seconds", shown=False),
        Column("share", "Of thread time", "percent", shown=False),
        Column("sure", "How sure", shown=False),
        Column("cause", shown=False),
        Column("where", shown=False),
        Column("code", shown=False),
    )
    key: ClassVar[str] = "cause"
    lines: ClassVar[int] = 5

    @property
    def answer(self) -> Answer | None:
        """The newest one; None before the first."""

        def begin(work: WorkShown) -> Callable[[], Answer]:
            read = case_of(self.history, work.window, work.now, work.run)
            return lambda: _answer(read())

        return self.of_work(begin)

    def rows(self) -> Rows:
        """Return a row for each finding."""
        found = self.answer.findings if self.answer else []
        return {
            "title": [TITLES[one.cause] for one in found],
            "text": [one.text for one in found],
            "advice": [one.advice for one in found],
            "saved": np.array([one.saved_s for one in found]),
            "share": np.array([100 * one.share for one in found]),
            "sure": [one.confidence for one in found],
            "cause": [one.cause for one in found],
            "where": [one.where for one in found],
            "code": [self._code] * len(found),
        }

    def cells(self, rows: Rows) -> Rows:
        """Return titles with what they save: three columns fit into a narrow pane."""
        found = self.answer.findings if self.answer else []
        return {**rows, "title": [_title(one) for one in found]}

    def headline(self) -> str:
        """Return the first one, what it saves and what to change; see `DataPlot.headline`."""
        its = self.answer
        assert its is not None  # it has rows
        first = its.findings[0]
        return f"{_title(first)}: {first.advice}"

    @property
    def _code(self) -> str:
        """The cell and the line of the user's code that this is of; '' where it is of several."""
        history, work = self.history, work_of(self.live, self.period, self.run)
        if work is None:
            return ""
        start, stop = work.window
        own = (one for one in history.runs if work.run in (0, one.number))
        found = [one for one in own if one.start < stop and one.stop > start]
        return run_label(history, found[0], 80) if len(found) == 1 else ""

    def note(self) -> str:
        """Return what it is of, and that more may come; see `DataPlot.note`."""
        more = ""
        if self.answer and not self.answer.is_over:
            more = "Work goes on: shares may fall, and more may come"
        return " · ".join(filter(None, (self._code, more)))

    def why_empty(self) -> str:
        """Return that there is nothing to report, or nothing yet; see `DataPlot.why_empty`."""
        its = self.answer
        return self.empty if its is None else f"{its.verdict}."

    def own_controls(self) -> Sequence[Control]:
        """Return a button for each finding, for those who have no pointer."""
        found = self.answer.findings if self.answer else []
        return [
            Control(one.cause, "button", f"Show me: {TITLES[one.cause].lower()}") for one in found
        ]

    def set_control(self, name: str, value: str) -> None:  # noqa: ARG002
        """Open what a button asks for; see `View.set_control`."""
        self.open_row(name)

    def open_row(self, key: str) -> None:
        """Open what shows that a finding is right."""
        if (its := self.answer) is None:
            return
        for one in its.findings:
            if one.cause == key:
                plot, arguments, window = one.evidence
                period = self.period_of(window, its.window) if get_plot(plot).has_period else {}
                self.open(plot, **arguments, **period)


def _title(its: Finding) -> str:
    saved = f", up to {fmt.duration(its.saved_s)}" if np.isfinite(its.saved_s) else ""
    return f"{TITLES[its.cause]}{its.hedge}{saved}"


def _answer(case: Case) -> Answer:
    found = findings_of(case, fmt.write)
    return Answer(verdict(case, found, fmt.write), found, case.is_over, case.facts.window)
