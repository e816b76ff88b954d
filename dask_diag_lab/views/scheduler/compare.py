"""Two runs beside each other: what they were made with, where the time went, which tasks differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Final, NamedTuple

import numpy as np

from dask_diag_lab.analysis.budget import CATEGORIES
from dask_diag_lab.analysis.case import Case, case_of
from dask_diag_lab.analysis.comparison import PrefixDifference, prefix_differences
from dask_diag_lab.jobs import Latest
from dask_diag_lab.store.runs import RunRecord
from dask_diag_lab.store.sums import Window
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.bars import BarPlot, Part
from dask_diag_lab.views.data import REST, Column, Rows
from dask_diag_lab.views.known_runs import version_of
from dask_diag_lab.views.names import shown_name
from dask_diag_lab.views.registry import register_plot
from dask_diag_lab.views.scheduler.runs import run_label
from dask_diag_lab.views.view import ArgumentError, Control, LegendItem

BY: Final = (("time", "time"), ("tasks", "tasks"))
MAX_NAME: Final = 30


class Side(NamedTuple):
    """What is known of one of two runs."""

    wall_s: float
    parts: Mapping[str, float]  # seconds of the run, by category
    n_workers: int
    n_threads: int

    @classmethod
    def of(cls, case: Case) -> Side:
        """Return that of a run."""
        threads = case.facts.workers["threads"]
        parts = {name: case.wall(name) for name in case.budget.seconds}
        return cls(case.wall_s, parts, len(threads), int(threads.sum()))


class Compared(NamedTuple):
    """Both runs, and the prefixes of both, largest difference first."""

    before: Side
    after: Side
    prefixes: list[PrefixDifference]


@register_plot
class Compare(BarPlot):
    """Two bars for each category of the budget, or for each prefix: the earlier run above."""

    name = "compare"
    reads = ("runs", "actions")
    needs = frozenset({"activities"})
    accepts: ClassVar[Mapping[str, str]] = {
        "before": "Number of a run, as in runs.json; by default the last but one.",
        "after": "Number of the run that it is compared with; by default the last one.",
        "by": "What the bars are of: time, by what the threads did, or tasks, by their prefix.",
    }
    choices: ClassVar[Mapping[str, Sequence[str]]] = {"by": [name for name, _ in BY]}

    columns = (
        Column("name", "", shown=False),
        Column("before", "Before", "seconds"),
        Column("after", "After", "seconds"),
        Column("step", "Difference", "seconds", shown=False),
        Column("remark", "Difference", in_table=False),
        Column("tasks_before", "Tasks before", "count"),
        Column("tasks_after", "Tasks after", "count"),
        Column("nbytes_before", "Results before", "bytes"),
        Column("nbytes_after", "Results after", "bytes"),
    )
    parts = (
        Part("before", "before", "load_normal"),
        Part("after", "after", "load_saturated"),
    )
    is_split = True
    value = ("after",)
    merges = "none"
    noun = "row"

    def set_up(self) -> None:
        """Make what it keeps; see `View.set_up`."""
        super().set_up()
        self._by = self.arguments.get("by", BY[0][0])
        self._latest: Latest[Compared] = Latest(self.live.jobs, rest=REST)

    def show(self, arguments: Mapping[str, str]) -> None:
        """Compare two others; see `View.show`."""
        super().show(arguments)
        self._by = arguments.get("by", self._by)

    def state(self) -> object:
        """Return what is shown, and whether it is worked out anew; see `View.state`."""
        versions = [version_of(self.live, one) for one in self.pair or ()]
        return super().state(), self._by, self._latest.version, versions

    @property
    def is_behind(self) -> bool:
        """Whether a newer one is to come; see `View.is_behind`."""
        return super().is_behind or self._latest.is_late

    @property
    def pair(self) -> tuple[RunRecord, RunRecord] | None:
        """The two runs; None while there is only one.

        Raises
        ------
        ArgumentError
            One that was asked for is not kept.
        """
        there = list(self.history.runs)
        last = [one for one in there if one.is_over][-2:]
        pair = [*[None] * (2 - len(last)), *last]
        for at, name in enumerate(("before", "after")):
            if number := self.number_argument(name):
                pair[at] = self.history.runs.of_number(number)
                if pair[at] is None:
                    raise ArgumentError(f"There is no run {number}, or it is kept no more.")
        before, after = pair
        return None if before is None or after is None else (before, after)

    @property
    def compared(self) -> Compared | None:
        """The newest; None before the first."""
        history, pair = self.history, self.pair
        if pair is None:
            return None

        def begin() -> Callable[[], Compared]:
            now = self.live.time
            reads = [
                case_of(history, Window(one.start, one.stop), max(now, one.last), one.number)
                for one in pair
            ]

            def make() -> Compared:
                before, after = (read() for read in reads)
                prefixes = prefix_differences(before, after)
                return Compared(Side.of(before), Side.of(after), prefixes)

            return make

        numbers = [one.number for one in pair]
        return self._latest.begun(numbers, [version_of(self.live, one) for one in pair], begin)

    def rows(self) -> Rows:
        """Return a row for the whole and one for each category, or one for each prefix."""
        its = self.compared
        if its is None:
            return self._columns([], [], [])
        if self._by == "time":
            a, b = its.before, its.after
            there = [name for name in CATEGORIES if name in a.parts or name in b.parts]
            steps = {name: b.parts.get(name, 0.0) - a.parts.get(name, 0.0) for name in there}
            there.sort(key=lambda name: -abs(steps[name]))
            return self._columns(
                ["Whole run", *(CATEGORIES[name].label for name in there)],
                [a.wall_s, *(a.parts.get(name, 0.0) for name in there)],
                [b.wall_s, *(b.parts.get(name, 0.0) for name in there)],
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
        unknown = np.full(len(names), np.nan)
        counts = {
            f"{what}_{side}": np.array(
                [float(getattr(getattr(one, side), field)) for one in found], dtype=np.float64
            )
            if found
            else unknown
            for what, field in (("tasks", "n_tasks"), ("nbytes", "nbytes"))
            for side in ("before", "after")
        }
        return {
            "name": names,
            "before": a,
            "after": b,
            "step": b - a,
            "remark": [
                one.status if one.status in ("same", "added", "removed") else word
                for one, word in zip(found, words, strict=True)
            ]
            if found
            else words,
            **counts,
        }

    def headline(self) -> str:
        """Return by how much they differ, and what they were made with where that differs."""
        its = self.compared
        assert its is not None  # it has rows
        a, b = its.before, its.after
        took = f"{fmt.duration(a.wall_s)} → {fmt.duration(b.wall_s)}"
        made_with = [
            f"{old} → {new} {what}"
            for what, old, new in (
                ("workers", a.n_workers, b.n_workers),
                ("threads", a.n_threads, b.n_threads),
            )
            if old != new
        ]
        return " · ".join([f"{took}: {fmt.signed(b.wall_s - a.wall_s)}", *made_with])

    def note(self) -> str:
        """Return what the bars are; see `DataPlot.note`."""
        if self._by == "time":
            return "Seconds of the run: the rows below the first add up to it, in both runs"
        return "Seconds of tasks that ended well; “same” is less than 5 % and 1 s"

    def why_empty(self) -> str:
        """Return that it takes two runs; see `DataPlot.why_empty`."""
        if self.pair is None:
            return "Two runs are needed: compute something twice, and what differs is here."
        return "The two runs are being compared."

    def legend(self, rows: Rows) -> Sequence[LegendItem]:
        """Return which run has which colour; see `BarPlot.legend`."""
        labels = [run_label(self.history, one, MAX_NAME) for one in self.pair or ()]
        items = super().legend(rows)
        return [replace(item, label=label) for item, label in zip(items, labels, strict=True)]

    def own_controls(self) -> Sequence[Control]:
        """Return what chooses what the bars are of."""
        return [Control("by", "choice", "By", self._by, BY)]

    def set_control(self, name: str, value: str) -> None:
        """Compare by something else; see `View.set_control`."""
        if name == "by" and value in dict(BY):
            self._by = value

    def open_row(self, key: str) -> None:
        """Open what the later run's time went to; of a prefix where its code took longer."""
        if self.pair is None:
            return
        before, after = (str(one.number) for one in self.pair)
        if self._by == "time":
            self.open("budget", run=after)
        elif its := self.compared:
            names = {shown_name(one.prefix, MAX_NAME): one.prefix for one in its.prefixes}
            if key in names:  # it may have been drawn by time
                self.open("profile", run=after, before=before, prefix=names[key])
