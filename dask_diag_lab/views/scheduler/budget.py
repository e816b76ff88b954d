"""What became of the thread time: of a period by category, and of the last runs side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

import numpy as np

from dask_diag_lab.analysis.budget import CATEGORIES, Budget, budget_of
from dask_diag_lab.analysis.facts import facts_of
from dask_diag_lab.store.sums import ALL, Window
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.bars import BarPlot, Part
from dask_diag_lab.views.data import Column, JobView, Rows, T
from dask_diag_lab.views.known_runs import known_run, run_label, version_of
from dask_diag_lab.views.names import shown_name, worker_label
from dask_diag_lab.views.registry import register_plot
from dask_diag_lab.views.view import Table, arguments_of, text_of

if TYPE_CHECKING:
    from dask_diag_lab.store import LiveSession

MOST_NAMED: Final = 3
LEAST_SHARE: Final = 0.0005
"""Less has no row: it would be "0 %". The table has it."""
SMALLEST_S: Final = 1e-9


class Style(NamedTuple):
    """How a category is shown, and what helps where it is the largest."""

    color: str
    hatch: str
    advice: str


STYLES: Final[Mapping[str, Style]] = {
    "computing": Style("load_saturated", "", "tasks use the CPU, as they should"),
    "waiting-in-tasks": Style(
        "memory_near", "/", "tasks wait for files, locks, the interpreter or a busy CPU"
    ),
    "failed": Style("killed", "x", "work was lost; see Exceptions"),
    "other-runs": Style("gone", "-", "another computation had the threads"),
    "deserialize": Style("deserialize", ".", "each task carries much; scatter it once"),
    "disk": Style("disk", "|", "data is spilled; use more memory or smaller pieces"),
    "paused": Style("memory_over", "x", "workers are paused; use more memory or smaller pieces"),
    "unknown": Style("gone", "/", "nobody recorded what was done"),
    "transfer": Style("transfer", "-", "use larger pieces, or fewer shuffles"),
    "starting": Style(
        "waiting", "\\", "tasks are on their way; where they are short, use larger pieces"
    ),
    "scheduler": Style(
        "waiting",
        "x",
        "tasks wait there; use fewer and larger ones, unless no worker may run them",
    ),
    "unbalanced": Style("memory_near", "x", "some workers have too much to do, others nothing"),
    "dependencies": Style("load_normal", "+", "tasks wait for others, or there are too few"),
    "client": Style("gone", "", "nothing was submitted; the code in between took it"),
}


class WorkShown(NamedTuple):
    """A stretch of time, the run that it is of (0: of none), and until when running tasks ran."""

    window: Window
    run: int
    now: float


def work_of(live: LiveSession, period: Window, run: int) -> WorkShown | None:
    """Return the work of a period or a run; None before any task.

    Without either it is the last run, which may go on; of work that belongs to no run all of it,
    since the last pause.
    """
    history, now = live.history, live.time
    if period != ALL:
        return WorkShown(period, run, now)
    start = history.busy.burst_start(history.running.places(now)[1])  # infinite before any task
    last = next((one for one in reversed(list(history.runs)) if one.n_submitted), None)
    if last is not None and (last.last >= start or not (isfinite(start) and last.is_over)):
        return WorkShown(Window(last.start, last.stop), last.number, max(now, last.last))
    if not isfinite(start):
        return None
    end = now if history.running.count else float(history.actions.last_stop)
    return WorkShown(Window(start), 0, end)


class OfWork(JobView[T]):
    """A plot of the work of a period; without one, of the run that goes on or was last."""

    has_period = True

    def of_work(self, begin: Callable[[WorkShown], Callable[[], T]]) -> T | None:
        """Return the newest that ``begin`` has made; None before the first, and before any task."""
        history, work = self.history, work_of(self.live, self.period, self.run)
        if work is None:
            return None
        record = history.runs.of_number(work.run)
        tables = (history.actions, history.running, history.activities, history.events)
        key: object = (*(table.version for table in tables), work.window)
        if record is not None:
            key = version_of(self.live, record)
        subject, at_once = work.run or work.window, record is not None and record.is_over
        return self._latest.get_or_begin(subject, key, lambda: begin(work), at_once=at_once)

    def state(self) -> object:
        """Return what changes also while only time passes; see `View.state`."""
        work = work_of(self.live, self.period, self.run)
        record = None if work is None else self.history.runs.of_number(work.run)
        return super().state(), record and version_of(self.live, record)

    def period_of(self, window: Window, whole: Window) -> dict[str, str]:
        """Return the arguments that other plots are asked for a part, or all, of the work with."""
        work = work_of(self.live, self.period, self.run)
        if work is not None and work.run and window == whole:
            return {"run": str(work.run)}
        return arguments_of(window)


@register_plot
class WhereTheTimeGoes(OfWork[Budget], BarPlot):
    """The budget of the work that is shown."""

    name = "budget"
    reads = ("actions", "running", "nthreads", "activities", "workers", "events", "prefixes")
    empty = "No task has run yet. As soon as one has, its time is here."

    choices: ClassVar[Mapping[str, Sequence[str]]] = {"by": ["prefix", "worker"]}

    columns = (
        Column("category", "Category", shown=False),
        Column("seconds", "Thread time", "seconds", share_of="offered"),
        Column("most", "Most of it"),
        Column("workers", "Workers"),
        Column("meaning", ""),
        Column("id", shown=False),
        Column("offered", "Offered by all threads", "seconds", shown=False, in_table=False),
    )
    parts = tuple(Part(name, "", of.color, hatch=of.hatch) for name, of in STYLES.items())
    label, key = "category", "id"
    value = ("seconds",)
    merges = "none"
    nouns = "categories"

    @property
    def budget(self) -> Budget | None:
        """The newest one; None before the first."""

        def begin(work: WorkShown) -> Callable[[], Budget]:
            read = facts_of(self.history, work.window, work.now, work.run)
            return lambda: budget_of(read())

        return self.of_work(begin)

    def rows(self) -> Rows:
        """Return a row for all of it, and one for each category."""
        its = self.budget
        offered_s = 0.0 if its is None else its.offered_s
        all_seconds = {} if its is None else its.seconds
        seconds = {name: s for name, s in all_seconds.items() if s >= LEAST_SHARE * offered_s}
        n = len(seconds) + bool(seconds)
        parts = {name: np.zeros(n) for name in STYLES}
        for row, (name, took_s) in enumerate(seconds.items(), 1):
            parts[name][[0, row]] = took_s
        labels = [CATEGORIES[name].label for name in seconds]
        return {
            "category": ["All threads", *labels] if seconds else [],
            "id": ["", *seconds][:n],
            "seconds": np.array([offered_s, *seconds.values()][:n]),
            "most": ["", *(self._most(its, name) for name in seconds)][:n] if its else [],
            "workers": ["", *(self._workers(its, name) for name in seconds)][:n] if its else [],
            "meaning": ["", *(CATEGORIES[name].meaning for name in seconds)][:n],
            "offered": np.full(n, offered_s),
            **parts,
        }

    def headline(self) -> str:
        """Return the largest categories, and what helps where the first is not computing."""
        its = self.budget
        assert its is not None  # it has rows
        ranked = sorted(its.seconds, key=lambda name: -its.seconds[name])
        shares = [
            f"{fmt.percent(its.seconds[name] / its.offered_s)} {CATEGORIES[name].label.lower()}"
            for name in ranked[:MOST_NAMED]
        ]
        return f"{', '.join(shares)}: {STYLES[ranked[0]].advice}"

    def note(self) -> str:
        """Return what the shares are of; see `DataPlot.note`."""
        its = self.budget
        assert its is not None
        offered, when = fmt.duration(its.offered_s), text_of(its.window)
        return f"Shares of the {offered} that all threads were there, {when}"

    def open_row(self, key: str) -> None:
        """Open the task stream with the moments of a category."""
        if (its := self.budget) is not None:
            shown = {"show": key} if key in CATEGORIES else {}
            self.open("task-stream", **self.period_of(its.window, its.window), **shown)

    def table(self) -> Table:
        """Return a row for each prefix, or worker, in each category, and one for what has none."""
        its, strings, by = self.budget, self.history.strings, self.arguments.get("by", "prefix")
        rows: list[tuple[str, str, float]] = []
        if its is not None:
            of_all = its.by_worker if by == "worker" else its.by_prefix
            for category, seconds in its.seconds.items():
                of = of_all.get(category, {})
                rows += [(category, strings[one], its_s) for one, its_s in of.items()]
                if (rest := seconds - sum(of.values())) > SMALLEST_S:
                    rows.append((category, "", rest))
        names = enumerate(("category", by, "seconds"))
        return Table({name: [row[at] for row in rows] for at, name in names}, {"seconds": "s"})

    def _workers(self, its: Budget, category: str) -> str:
        """Return the workers that most of a category belongs to; '' where there is but one."""
        of = its.by_worker.get(category, {})
        name = partial(worker_label, self.history)
        pairs = [(name(self.history.strings[one]), seconds) for one, seconds in of.items()]
        return largest(pairs) if len(of) > 1 else ""

    def _most(self, its: Budget, category: str) -> str:
        """Return the prefixes that most of a category belongs to."""
        of = its.by_prefix.get(category, {}).items()
        return largest(
            [(shown_name(self.history.strings[one], 40), seconds) for one, seconds in of]
        )


def largest(seconds: Sequence[tuple[str, float]]) -> str:
    """Return the names that most of the time belongs to, each with its own."""
    ranked = sorted(seconds, key=lambda item: -item[1])[:MOST_NAMED]
    return ", ".join(f"{name} {fmt.duration(its_s)}" for name, its_s in ranked)


@register_plot
class RunsPlot(BarPlot):
    """A bar for each run, newest first: as long as it took, in the parts of its budget."""

    name = "runs"
    reads = ("runs", "actions")
    needs = frozenset({"activities"})
    empty = "Nothing has been computed yet. What each cell has the cluster do is a run here."

    columns = (
        Column("label", "Run", shown=False),
        Column("number", "Number", shown=False),
        Column("state", "State"),
        Column("began", "Began", "time", adds=False),
        Column("seconds", "Took", "seconds"),
        Column("tasks", "Tasks", "count"),
        Column("idle", "Idle", "percent", adds=False),
        Column("remark", "First finding", shown=False),
    )
    parts = tuple(
        Part(name, CATEGORIES[name].label, of.color, hatch=of.hatch) for name, of in STYLES.items()
    )
    label = "label"
    key = "number"
    value = ("seconds",)
    keeps = "all"
    merges = "none"
    noun = "run"

    def state(self) -> object:
        """Return whether more is known of a run; see `View.state`."""
        known = [known_run(self.live, record) for record in self.history.runs]
        return super().state(), [id(one.budget) for one in known]

    def rows(self) -> Rows:
        """Return a row for each run."""
        records = list(self.history.runs)[::-1]
        known = [known_run(self.live, record) for record in records]
        now = self.live.time
        stops = [min(record.stop, max(now, record.start)) for record in records]
        began = np.array([record.start for record in records])
        parts = {
            part: np.array([one.wall_of(part) for one in known], dtype=np.float64)
            for part in STYLES
        }
        return {
            "label": [run_label(self.history, record) for record in records],
            "number": [str(record.number) for record in records],
            "state": [record.state for record in records],
            "began": began,
            "seconds": np.array(stops) - began,
            "tasks": np.array([record.n_done for record in records], dtype=np.float64),
            "idle": np.array([100 * one.idle_share for one in known]),
            "remark": [one.first_finding for one in known],
            **parts,
        }

    def headline(self) -> str:
        """Return how many there are, and how the last one is; see `DataPlot.headline`."""
        *_, last = self.history.runs
        return f"{fmt.plural(len(self.history.runs), 'run')}, the last is {last.state}"

    def note(self) -> str:
        """Return what a bar is made of; see `DataPlot.note`."""
        return "Newest first; what the threads did while each went on, as in Where the Time Goes"

    def open_row(self, key: str) -> None:
        """Open the findings of a run."""
        self.open("findings", run=key)
