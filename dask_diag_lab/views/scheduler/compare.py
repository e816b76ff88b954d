"""Two runs beside each other: what they were made with, where the time went, which tasks differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Final, NamedTuple

import numpy as np

from dask_diag_lab.analysis.budget import CATEGORIES
from dask_diag_lab.analysis.case import Case, case_of
from dask_diag_lab.analysis.comparison import (
    PrefixDifference,
    Setting,
    different_settings,
    prefix_differences,
    settings_of,
)
from dask_diag_lab.store import LiveSession
from dask_diag_lab.store.runs import RunRecord
from dask_diag_lab.store.sums import Window
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.bars import BarPlot, Part
from dask_diag_lab.views.data import Column, JobView, Rows
from dask_diag_lab.views.known_runs import other_run, run_label, version_of
from dask_diag_lab.views.names import shown_name
from dask_diag_lab.views.registry import register_plot
from dask_diag_lab.views.view import ArgumentError, Control, LegendItem

BY: Final = (("time", "time"), ("tasks", "tasks"))
MAX_NAME: Final = 30
WHOLE: Final = "Whole run"
SECONDS: Final = (
    Column("name", "", shown=False),
    Column("before", "Before", "seconds"),
    Column("after", "After", "seconds"),
    Column("step", "Difference", "seconds", shown=False),
)
OF_TASKS: Final = (
    Column("tasks_before", "Tasks before", "count"),
    Column("tasks_after", "Tasks after", "count"),
    Column("nbytes_before", "Results before", "bytes"),
    Column("nbytes_after", "Results after", "bytes"),
)


class Side(NamedTuple):
    """One of two runs, as it is read: in a job."""

    label: str
    case: Case
    versions: Mapping[str, str | None]

    @classmethod
    def read(cls, live: LiveSession, record: RunRecord, of: str = "") -> Callable[[], Side]:
        """Return what reads a run; ``of`` names another cluster than that of the plot."""
        window, now = Window(record.start, record.stop), max(live.time, record.last)
        read = case_of(live.history, window, now, record.number)
        label = " · ".join(filter(None, (run_label(live.history, record, MAX_NAME), of)))
        return lambda: cls(label, read(), live.versions)


class Compared(NamedTuple):
    """What is shown of two runs, the earlier one first."""

    labels: tuple[str, str]
    wall_s: tuple[float, float]
    parts: tuple[Mapping[str, float], Mapping[str, float]]  # seconds of the run, by category
    settings: list[Setting]  # that differ
    prefixes: list[PrefixDifference]  # of both, largest difference first

    @classmethod
    def of(cls, before: Side, after: Side) -> Compared:
        """Return what is shown of both."""
        a, b = before.case, after.case
        parts = [{name: its.wall(name) for name in its.budget.seconds} for its in (a, b)]
        made_with = [settings_of(its.case, its.versions) for its in (before, after)]
        return cls(
            (before.label, after.label),
            (a.wall_s, b.wall_s),
            (parts[0], parts[1]),
            different_settings(*made_with),
            prefix_differences(a, b),
        )


@register_plot
class Compare(JobView[Compared | str], BarPlot):
    """Two bars for each category of the budget, or for each prefix: the earlier run above."""

    name = "compare"
    reads = ("runs", "actions")
    needs = frozenset({"activities"})
    # Numbers of runs, by default the last two, and the id of the earlier one's dashboard.
    accepts: ClassVar[Sequence[str]] = ("before", "after", "before_of")
    choices: ClassVar[Mapping[str, Sequence[str]]] = {"by": [name for name, _ in BY]}

    parts = (
        Part("before", "before", "load_normal"),
        Part("after", "after", "load_saturated"),
    )
    is_split = True
    value, signs = ("before", "after"), ("", "→")
    keeps = "remark"
    merges = "none"
    noun = "row"

    def set_up(self) -> None:
        """Make what it keeps; see `View.set_up`."""
        super().set_up()
        self._by = self.arguments.get("by", BY[0][0])
        self._problem = ""

    @property
    def columns(self) -> Sequence[Column]:  # type: ignore[override]  # the reader chooses
        """Seconds, and of prefixes how many tasks and results these are of."""
        return (*SECONDS, *OF_TASKS) if self._by == "tasks" else SECONDS

    @property
    def _other(self) -> str:
        """Id of the dashboard of the earlier run; '' where it is this one."""
        return self.arguments.get("before_of", "")

    def show(self, arguments: Mapping[str, str]) -> None:
        """Compare two others; see `View.show`."""
        super().show(arguments)
        self._by = arguments.get("by", self._by)

    def state(self) -> object:
        """Return what is shown, and whether it is worked out anew; see `View.state`."""
        versions = [version_of(self.live, one) for one in self._own or ()]
        return super().state(), self._by, versions

    @property
    def _own(self) -> list[RunRecord] | None:
        """Those of the two runs that are of this cluster; None where one is missing.

        Raises
        ------
        ArgumentError
            One that was asked for is not kept.
        """
        names = ("after",) if self._other else ("before", "after")
        last = [one for one in self.history.runs if one.is_over][-len(names) :]
        found = [*[None] * (len(names) - len(last)), *last]
        for at, name in enumerate(names):
            if number := self.number_argument(name):
                found[at] = self.history.runs.of_number(number)
                if found[at] is None:
                    raise ArgumentError(f"There is no run {number}, or it is kept no more.")
        there = [one for one in found if one is not None]
        return there if len(there) == len(names) else None

    @property
    def compared(self) -> Compared | None:
        """The newest; None before the first."""
        live, own, other = self.live, self._own, self._other
        if own is None:
            return None
        number = self.number_argument("before") if other else 0

        def begin() -> Callable[[], Compared | str]:
            reads = [Side.read(live, one) for one in own]

            def make() -> Compared | str:
                if not other:
                    return Compared.of(*(read() for read in reads))
                try:
                    name, session, record = other_run(live, other, number)
                except ArgumentError as error:
                    return str(error)
                return Compared.of(Side.read(session, record, name)(), *(read() for read in reads))

            return make

        numbers = [other, number, *(one.number for one in own)]
        its = self._latest.get_or_begin(numbers, [version_of(live, one) for one in own], begin)
        self._problem = its if isinstance(its, str) else ""
        return None if isinstance(its, str) else its

    def rows(self) -> Rows:
        """Return a row for the whole and one for each category, or one for each prefix."""
        its = self.compared
        if its is None:
            return self._columns([], [], [])
        if self._by == "time":
            a, b = its.parts
            there = [name for name in CATEGORIES if name in a or name in b]
            steps = {name: b.get(name, 0.0) - a.get(name, 0.0) for name in there}
            there.sort(key=lambda name: -abs(steps[name]))
            return self._columns(
                [WHOLE, *(CATEGORIES[name].label for name in there)],
                [its.wall_s[0], *(a.get(name, 0.0) for name in there)],
                [its.wall_s[1], *(b.get(name, 0.0) for name in there)],
            )
        found = its.prefixes
        return self._columns(
            [shown_name(one.prefix, MAX_NAME) for one in found],
            [one.before.seconds for one in found],
            [one.after.seconds for one in found],
            found,
        )

    def _columns(
        self,
        names: Sequence[str],
        before: Sequence[float],
        after: Sequence[float],
        found: Sequence[PrefixDifference] = (),
    ) -> Rows:
        a, b = np.array(before, dtype=np.float64), np.array(after, dtype=np.float64)
        words = [fmt.signed(step) for step in (b - a).tolist()]
        changes = [one.status for one in found] or [""] * len(names)
        counts = {
            f"{what}_{side}": np.array([getattr(getattr(one, side), field) for one in found], "f8")
            for what, field in (("tasks", "n_tasks"), ("nbytes", "nbytes"))
            for side in ("before", "after")
        }
        return {
            "name": names,
            "before": a,
            "after": b,
            "step": b - a,
            "remark": [
                change if change in ("same", "added", "removed") else word
                for change, word in zip(changes, words, strict=True)
            ],
            **(counts if self._by == "tasks" else {}),
        }

    def headline(self) -> str:
        """Return by how much they differ, and what they were made with where that differs."""
        its = self.compared
        assert its is not None  # it has rows
        a, b = its.wall_s
        took = f"{fmt.duration(a)} → {fmt.duration(b)}: {fmt.signed(b - a)}"
        made_with = [f"{one.name} {one.before} → {one.after}" for one in its.settings]
        return " · ".join([took, *made_with])

    def note(self) -> str:
        """Return what the bars are; see `DataPlot.note`."""
        if self._by == "time":
            return "Seconds of the run: the rows below the first add up to it, in both runs"
        return (
            "Seconds of tasks that ended well; “same”: within 5 % and 1 s, in tasks and bytes too"
        )

    def why_empty(self) -> str:
        """Return that it takes two runs; see `DataPlot.why_empty`."""
        if self._own is None:
            return "Two runs are needed: compute something twice, and what differs is here."
        return self._problem or "The two runs are being compared."

    def legend(self, rows: Rows) -> Sequence[LegendItem]:
        """Return which run has which colour; see `BarPlot.legend`."""
        items, its = super().legend(rows), self.compared
        assert its is not None  # it has rows
        return [replace(item, label=label) for item, label in zip(items, its.labels, strict=True)]

    def own_controls(self) -> Sequence[Control]:
        """Return what chooses what the bars are of."""
        return [Control("by", "select", "By", self._by, BY)]

    def set_control(self, name: str, value: str) -> None:
        """Compare by something else; see `View.set_control`."""
        if name == "by" and value in dict(BY):
            self._by = value

    def open_row(self, key: str) -> None:
        """Open what the later run's time went to; of all or of a prefix where code took longer."""
        own, its = self._own, self.compared
        if own is None or its is None:
            return
        after = str(own[-1].number)
        before = {"before": str(own[0].number)}
        if self._other:
            given = self.arguments.get("before")
            before = {"before": given, "before_of": self._other} if given else {}
        names = {shown_name(one.prefix, MAX_NAME): one.prefix for one in its.prefixes}
        if self._by == "time" and key == WHOLE:
            self.open("profile", run=after, **before)
        elif self._by == "time":
            self.open("budget", run=after)
        elif key in names:  # it may have been drawn by time
            # Of another dashboard only that of all tasks is there.
            self.open("profile", run=after, prefix=names[key], **({} if self._other else before))
