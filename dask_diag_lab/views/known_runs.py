"""What became of each run: worked out once, in jobs, for all who ask."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Final, NamedTuple

from dask_diag_lab.analysis.budget import BUSY
from dask_diag_lab.analysis.case import case_of
from dask_diag_lab.analysis.facts import cpu_report_s
from dask_diag_lab.analysis.findings import TITLES, Finding, findings_of
from dask_diag_lab.jobs import Latest
from dask_diag_lab.store.sums import Window
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.data import REST
from dask_diag_lab.views.names import shown_name
from dask_diag_lab.views.view import ArgumentError

if TYPE_CHECKING:
    from dask_diag_lab.store import History, LiveSession
    from dask_diag_lab.store.runs import RunRecord


PACE_S: Final = 1.0
"""A run that goes on is worked out anew so often; more seldom, where that takes long: `REST`."""


class KnownRun(NamedTuple):
    """What a job has worked out of a run; `budget` is empty before."""

    offered_s: float = 0.0
    wall_s: float = 0.0
    budget: Mapping[str, float] = {}
    findings: Sequence[Finding] = ()

    @property
    def idle_share(self) -> float:
        """The share of the thread time without a task; NaN where it is not known."""
        busy_s = sum(self.budget.get(name, 0.0) for name in BUSY)
        return 1 - busy_s / self.offered_s if self.offered_s else float("nan")

    def wall_of(self, category: str) -> float:
        """Return the part of a category in the seconds that the run took."""
        share = self.budget.get(category, 0.0) / self.offered_s if self.offered_s else 0.0
        return share * self.wall_s

    @property
    def first_finding(self) -> str:
        """The first finding in a few words; '' where there is none."""
        for first in self.findings[:1]:
            saved = f": up to {fmt.duration(first.saved_s)}" if isfinite(first.saved_s) else ""
            return f"{TITLES[first.cause].lower()}{first.hedge}{saved}"
        return ""


def run_label(history: History, record: RunRecord, width: int | None = None) -> str:
    """Return what a run is called beside others: by its cell, as in the sidebar."""
    name, count = record.name(history.strings), record.code.count
    return shown_name(f"[{count}] {name}" if count else name, width)


def other_run(
    live: LiveSession, dashboard_id: str, number: int
) -> tuple[str, LiveSession, RunRecord]:
    """Return a run of another dashboard, by default its last one, with its name; blocks.

    Raises
    ------
    ArgumentError
        It cannot be reached, or does not know that run.
    """
    try:
        name, other = live.read_other(dashboard_id, number)
    except ValueError as error:
        raise ArgumentError(str(error)) from error
    runs = other.history.runs
    record = runs.of_number(number) if number else next(reversed(list(runs)), None)
    if record is None:
        raise ArgumentError(f"There is no run {number or ''} in {name}, or it is kept no more.")
    return name, other, record


def version_of(live: LiveSession, record: RunRecord) -> object:
    """Return what changes when a run has to be worked out anew.

    One that goes on has to be as time passes: also where no task ends, its threads are idle or not.
    One that is over has to be once more, when its workers have told what they did with the CPU.
    """
    is_reported = live.time > record.stop + cpu_report_s(live.history)
    return record.start, record.stop, is_reported if record.is_over else live.time // PACE_S


def known_run(live: LiveSession, record: RunRecord) -> KnownRun:
    """Return the newest that is known of a run, and begin what is missing."""
    number, all_known = record.number, live.known_runs
    if number not in all_known:
        gone = all_known.keys() - {one.number for one in live.history.runs}
        for one in gone:
            del all_known[one]
    latest: Latest[KnownRun] = all_known.setdefault(number, Latest(live.jobs, rest=REST))
    window = Window(record.start, record.stop)

    def begin() -> Callable[[], KnownRun]:
        read = case_of(live.history, window, max(live.time, record.last), number)

        def make() -> KnownRun:
            case = read()
            its, found = case.budget, findings_of(case, fmt.write)
            return KnownRun(its.offered_s, case.wall_s, its.seconds, found)

        return make

    version, at_once = version_of(live, record), record.is_over
    return latest.get_or_begin(record.start, version, begin, at_once=at_once) or KnownRun()
