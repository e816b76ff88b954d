"""``run``: what became of the threads' time while a block was active, and what to change."""

from __future__ import annotations

import operator
import os
import re
import secrets
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from html import escape
from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from dask_diag_lab.analysis.budget import BUSY, CATEGORIES, Facts, budget_of
from dask_diag_lab.analysis.case import Case, case_of
from dask_diag_lab.analysis.comparison import settings_of
from dask_diag_lab.analysis.estimates import CriticalPath, Estimate, critical_path, what_if
from dask_diag_lab.analysis.facts import cpu_report_s
from dask_diag_lab.analysis.findings import Finding, findings_of, verdict
from dask_diag_lab.capture.block import CaptureBlock, IncompleteError, end_of, error_text
from dask_diag_lab.capture.task_rows import TIMEOUT_S
from dask_diag_lab.schema import Kind, Outcome
from dask_diag_lab.server import announce
from dask_diag_lab.store import recording
from dask_diag_lab.store.runs import Piece, RunRecord, RunTable, State, name_of_code
from dask_diag_lab.store.sums import ALL, Window
from dask_diag_lab.transport.link import LinkLostError
from dask_diag_lab.views import format as fmt

if TYPE_CHECKING:
    from distributed import Client

    from dask_diag_lab.session import Diagnostics
    from dask_diag_lab.store import LiveSession
    from dask_diag_lab.store.strings import StringTable

SHORT: Final = 24
"""Shorter cells of a table are one line."""
NAMED: Final = 3
"""Prefixes named in each category."""

COMPARISONS: Final[Mapping[str, Callable[[float, float], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_LIMIT: Final = re.compile(r"([a-z -]+?) *([<>]=?) *(\d+(?:\.\d+)?) *(%|s)")
_NAMES: Final = {its.label.lower(): name for name, its in CATEGORIES.items()}
_NO_FINDINGS: Final = re.compile(r"no findings(?: above (\d+(?:\.\d+)?) *(%|s))?")


class CheckError(AssertionError):
    """A run did not keep to what was asked of it; the text has the figures."""


def run(name: str | None = None, client: Client | None = None) -> Run:
    """Find out what became of the threads' time while a block is active.

    ``with run("etl") as its: …``, then ``print(its)``; of an asynchronous client ``async with``.
    What a block inside another one submits is of the inner run alone: in the outer one its tasks
    are *other runs*. A block whose own code submits nothing is of all that ran in its time.

    Parameters
    ----------
    name : str, optional
        Default: the line of the notebook's cell that has the cluster compute; without one, the
        prefix that took most of the time.
    client : distributed.Client, optional
        Default: the current client.

    Returns
    -------
    Run

    Raises
    ------
    ValueError, RuntimeError
        As `Run`.
    """
    return Run(name, client)


def runs(
    client: Client | Diagnostics | None = None,
) -> list[Run] | Coroutine[Any, Any, list[Run]]:
    """Return the last runs of a cluster, oldest first: what each piece of code had it do.

    A piece is a block of `run`, else a cell of this notebook; where neither is known, as of other
    notebooks, graphs of one client without ten idle seconds between them.

    Parameters
    ----------
    client : distributed.Client or Diagnostics, optional
        Such as the recording that `load` returned. Default: the current client; in a notebook
        without one, the last, whose cluster has closed.

    Returns
    -------
    list of Run
        At most the last 100. Of an asynchronous client a coroutine of it.

    Raises
    ------
    ValueError
        There is no client.
    RuntimeError
        Its scheduler cannot be reached, or the diagnostics are closed.
    """
    from dask_diag_lab.session import Diagnostics, known_of

    of = client if isinstance(client, Diagnostics) else known_of(client)

    def read() -> list[Run]:
        asked = of.submit(_numbers, is_fresh=True, of_history=True)
        return [Run.of_number(of, number) for number in asked.result(TIMEOUT_S)]

    return of.call(read)


def _numbers(live: LiveSession) -> list[int]:
    return [one.number for one in live.history.runs]


class Run(CaptureBlock):
    """What one piece of code made the cluster do, and where its time went; made by `run`.

    All but the name is known when the block has ended. Where its tasks go on then, or it stood in
    another block and workers have not told yet what its tasks waited, it is read anew whenever it
    is printed, checked or asked for its findings.

    Attributes
    ----------
    number : int
        By which plots are asked for it (``run="3"``); 0 where the cluster did nothing.
    name : str
    cell : str
        Id of the notebook's cell; '' where it was none.
    state : {'running', 'done', 'failed', 'cancelled'}
    start, stop : float
        Seconds since the epoch on the scheduler's clock; while it runs, ``stop`` is now.
    n_tasks, n_failed, n_attempts, n_again : int
        Tasks that ended well in it, those that failed, attempts that were tried again, and tasks
        that were computed once more because their results were lost.
    offered_s : float
        Seconds that all worker threads together were there.
    budget : dict of str to float
        What they went to, by category: seconds, which add up to ``offered_s``. The categories are
        those of the plot *Where the Time Goes*; those of 0 s are left out.
    prefixes : dict of str to (dict of str to float)
        Of the categories that belong to tasks: the seconds of each prefix, most first.
    settings : dict of str to str
        What it was made with: workers, threads and versions.

    Raises
    ------
    ValueError
        There is no client.
    RuntimeError
        At the begin of the block: the client is not connected, or its scheduler cannot be
        reached. At its end: it cannot be reached any more; what is known by then is here. Where
        the block itself raised, a warning says so instead.
    """

    _what = "What became of the time"
    _draws = False

    def __init__(self, name: str | None, client: Client | None) -> None:
        super().__init__()
        self.name, self.number, self.cell = name or "", 0, ""
        self._is_named = bool(name)
        self.state: State = "running"
        self.start = self.stop = self.offered_s = 0.0
        self.n_tasks = self.n_failed = self.n_attempts = self.n_again = 0
        self.budget: dict[str, float] = {}
        self.prefixes: dict[str, dict[str, float]] = {}
        self.settings: dict[str, str] = {}
        self._versions: Mapping[str, str | None] = {}
        self._read: Callable[[], Case] | None = None
        self._again: Callable[[], None] | None = None  # of one that goes on
        self._client = client

    def save(self, path: str | os.PathLike[str]) -> Any:
        """Write what is known of the cluster to a file whose plots show this run at first.

        Called when the block has ended, and before its client is closed. One that `compare` has
        read from a file is there already.

        Parameters
        ----------
        path : str or path
            As of `Diagnostics.save`; so are what is returned and what is raised.

        Raises
        ------
        RuntimeError
            Also: the block has not ended, or submitted nothing of its own.
        """
        if not self.stop:
            raise RuntimeError("The run is not over: save it behind its block.")
        if not self.number:
            raise RuntimeError("The block submitted nothing: `Diagnostics.save` has all that ran.")
        return self._diagnostics.save(path, run=self.number)

    def __str__(self) -> str:
        if not self.stop:
            return f"{self.name or 'Run'}: not over yet"
        self._renew()
        rows = [
            f"{share:>7}  {took:>12}  {label:<16}  {most}".rstrip()
            for share, took, label, most in self._shares()
        ]
        found = [f"{saved:>18}  {text}: {advice}" for saved, text, advice in self._advice()]
        none = [] if self._problem else [self.verdict]
        return "\n".join([self._headline, *rows, "", *(found or none), *self._missing])

    @property
    def duration(self) -> float:
        """Seconds that it took; while it runs, so far."""
        return self.stop - self.start

    def __repr__(self) -> str:
        return f"<Run {self.number}: {self.name}>"

    def _repr_html_(self) -> str:
        if not self.stop:
            return escape(str(self))
        self._renew()
        none = "" if self._problem else f"<p>{escape(self.verdict)}</p>"
        found = html_table(self._advice()) or none
        found += "".join(f"<p>{escape(line)}</p>" for line in self._missing)
        return f"<strong>{escape(self._headline)}</strong>{html_table(self._shares())}{found}"

    def critical_path(self) -> CriticalPath:
        """Return what the end of the run waited for, and what more workers would bring.

        Raises
        ------
        RuntimeError
            The block has not ended.
        """
        return critical_path(self.case())

    def what_if(self, threads: int | None = None, transfer: float = 1.0) -> Estimate:
        """Return how long it would have taken with other threads or faster transfers.

        Of more threads there is no estimate where starting tasks took more than a quarter of the
        thread time; else it takes for granted that there are processors for them.

        Parameters
        ----------
        threads : int, optional
            Default: as many as there were.
        transfer : float
            So many times what moving data took; 0 for none.

        Raises
        ------
        ValueError
            `threads` is less than 1, or `transfer` less than 0 or infinite.
        RuntimeError
            The block has not ended.
        """
        return what_if(self.case(), threads, transfer)

    def check(self, *checks: str) -> None:
        """Raise where the run does not keep to what is asked of it, for scripts and CI.

        Parameters
        ----------
        *checks : str
            ``"idle<30%"``: of the thread time, for any category of the budget, ``idle`` (threads
            that had no task) or ``computing``, with ``<``, ``<=``, ``>`` or ``>=``, a share or
            seconds; ``"duration<60s"``; ``"no findings"``; ``"no findings above 10%"`` of the
            duration.

        Raises
        ------
        AssertionError
            The run does not pass them; the message has the figures of each.
        ValueError
            One cannot be understood; the message has what can be.
        RuntimeError
            The block has not ended.
        """
        if self._again is not None:  # what tasks waited decides
            with suppress(RuntimeError):  # the diagnostics are closed
                self._await_reports(self.stop)
        self._renew()
        found = self._found[0]
        failures = [failure for one in checks if (failure := self._failure_of(one, found))]
        if failures:
            raise CheckError(f"{self.name}: {'; '.join(failures)}")

    def _failure_of(self, check: str, findings: Sequence[Finding]) -> str:
        """Return why the run does not pass a check, '' where it does."""
        name, comparison, limit, unit = parsed_check(check)
        if not name:
            least = _in_seconds(limit, unit, self.duration)
            over = [one for one in findings if not one.saved_s <= least]  # of NaN: not known
            return "; ".join(f"{one.text} ({fmt.write('seconds', one.saved_s)})" for one in over)
        idle_s = self.offered_s - sum(self.budget.get(name, 0.0) for name in BUSY)
        seconds = dict.fromkeys(CATEGORIES, 0.0) | self.budget
        seconds |= {"idle": idle_s, "duration": self.duration}
        if COMPARISONS[comparison](seconds[name], _in_seconds(limit, unit, self.offered_s)):
            return ""
        is_share = self.offered_s and unit == "%"
        share = f", {fmt.percent(seconds[name] / self.offered_s)}" if is_share else ""
        return f"{name} is {fmt.duration(seconds[name])}{share}, not {comparison}{limit}{unit}"

    @property
    def findings(self) -> list[Finding]:
        """Why it took so long and what to change, at most five, most saving first."""
        self._renew()
        return self._found[0]

    @property
    def verdict(self) -> str:
        """The first of the findings in one line, or that there are none."""
        return self._found[1]

    @cached_property
    def _found(self) -> tuple[list[Finding], str]:
        case = self.case()
        found = findings_of(case, fmt.write)
        return found, verdict(case, found, fmt.write)

    def case(self) -> Case:
        """Return all that is known of it, read anew: kept, it would take as much as the log.

        Raises
        ------
        RuntimeError
            The block has not ended.
        """
        if self._read is None:
            raise RuntimeError(f"{self.name or 'The run'} is not over yet: ask after its block.")
        return self._read()

    def _shares(self) -> list[tuple[str, ...]]:
        """Return share, seconds, name and largest prefixes of each category."""
        return [
            (
                fmt.percent(seconds / self.offered_s),
                fmt.duration(seconds),
                CATEGORIES[of].label,
                ", ".join(
                    f"{prefix} {fmt.duration(its)}"
                    for prefix, its in list(self.prefixes.get(of, {}).items())[:NAMED]
                ),
            )
            for of, seconds in self.budget.items()
        ]

    def _advice(self) -> list[tuple[str, ...]]:
        """Return what each finding saves, where that is known, its text and its advice."""
        return [
            (
                f"saves up to {fmt.duration(one.saved_s)}" if isfinite(one.saved_s) else "",
                one.text + one.hedge,
                one.advice,
            )
            for one in self._found[0]
        ]

    def _renew(self) -> None:
        """Take what is known by now of a run that went on when it was read last."""
        if self._again is not None:
            with suppress(LinkLostError, TimeoutError, RuntimeError):  # the diagnostics are closed
                self._again()
                self.__dict__.pop("_found", None)

    @property
    def _headline(self) -> str:
        failed = f", {fmt.count(self.n_failed)} failed" if self.n_failed else ""
        if self.n_attempts:
            failed += f", {fmt.plural(self.n_attempts, 'failed attempt')} tried again"
        if self.n_again:
            failed += f", {fmt.count(self.n_again)} computed again"
        return (
            f"{self.name}: {fmt.duration(self.stop - self.start)}"
            f" · {fmt.plural(self.n_tasks, 'task')}{failed}"
            f" · {fmt.duration(self.offered_s)} of worker threads"
        )

    @property
    def _missing(self) -> list[str]:
        return [f"The end of the run is missing: {self._problem}."] if self._problem else []

    @classmethod
    def of_number(cls, diagnostics: Diagnostics, number: int) -> Self:
        """Return a run that the history of a cluster has, as it is now."""
        its = cls(None, None)
        its._diagnostics = diagnostics
        its._take(lambda runs: runs.of_number(number))
        return its

    @classmethod
    def of_file(cls, path: Path) -> Self:
        """Return the run that was saved in a recording, else the last one there.

        Raises
        ------
        ValueError
            It is no recording, or there is no run in it.
        OSError
            It cannot be read.
        """
        live = recording.load(path)
        last = max((one.number for one in live.history.runs), default=0)
        if not (number := int(live.selection.get("run", last))):
            raise ValueError(f"There is no run in {path}.")
        its = cls(None, None)
        its._take(lambda runs: runs.of_number(number), ask=lambda read: read(live))
        return its

    def _start(self) -> None:
        super()._start()
        self.name = self.name or name_of_code(announce.running_code())
        self._is_named = bool(self.name)
        cell = announce.running_cell().get("cell", [""])[0]
        self._code = Piece(secrets.token_hex(8), self.name, cell, start=time.time())
        self._diagnostics.note_code(replace(self._code))

    def _finish(self) -> None:
        stop_s = inf
        try:
            stop_s = self._ask(end_of, is_fresh=True)
        except (LinkLostError, TimeoutError) as error:
            self._problem = error_text(error)
        self._code.stop = time.time()
        self._diagnostics.note_code(self._code)
        if not self._diagnostics.has_other_blocks:  # the time of these is not ours
            self._await_reports(stop_s)
        self.name = self.name or f"Run of {fmt.clock(self._start_s)}"
        self._take(lambda runs: runs.of_code(self._code.id), Window(self._start_s, stop_s))
        if self._problem:
            raise IncompleteError(f"The end of the run is missing: {self._problem}.")

    def _take(
        self,
        find: Callable[[RunTable], RunRecord | None],
        window: Window = ALL,
        ask: Callable[[Callable[[LiveSession], Any]], Any] | None = None,
    ) -> None:
        """Take what is known of a run, in all of its time or in a window."""

        def read(
            live: LiveSession,
        ) -> tuple[Callable[[], Case], StringTable, RunRecord | None, bool]:
            history, now, within = live.history, end_of(live), window
            self._versions = live.versions
            record = find(history.runs)
            self.state = "done"
            if record is not None:
                self.number, self.cell, self.state = record.number, record.code.cell, record.state
                if not self._is_named:
                    self.name = record.name(history.strings)
                within = Window(record.start, record.stop)
            is_settled = self.state != "running" and now > within.stop + cpu_report_s(history)
            make = case_of(history, within, now, self.number)
            return make, history.strings, record, is_settled

        self._read, strings, record, is_settled = (ask or self._ask)(read)
        self._again = partial(self._take, find, window) if ask is None and not is_settled else None
        self.settings = settings_of(case := self._read(), self._versions)
        self._count(found := case.facts)
        if record is not None:  # it knows of those that failed because their workers died
            gave_up = max(record.n_erred - self.n_failed, 0)
            self.n_failed += gave_up
            self.n_attempts = max(self.n_attempts - gave_up, 0)
            self.n_again = record.n_again
            self.n_tasks -= min(self.n_again, self.n_tasks)
        its = budget_of(found)
        self.start, self.stop = its.window
        self.offered_s, self.budget = its.offered_s, its.seconds
        self.prefixes = {
            category: {strings[p]: s for p, s in sorted(of.items(), key=lambda item: -item[1])}
            for category, of in its.by_prefix.items()
            if of
        }

    def _count(self, found: Facts) -> None:
        actions, window = found.actions, found.window
        is_its = (actions["stop"] > window.start) & (actions["stop"] <= window.stop)
        is_its &= (actions["kind"] == Kind.COMPUTE) & (actions["outcome"] != Outcome.RUNNING)
        is_its &= ~actions["is_other"]
        each = np.bincount(actions["outcome"][is_its], minlength=len(Outcome)).tolist()
        self.n_tasks, self.n_failed = each[Outcome.OK], each[Outcome.ERRED]
        self.n_attempts = each[Outcome.RETRIED] + each[Outcome.KILLED]


def parsed_check(check: str) -> tuple[str, str, str, str]:
    """Return what is checked ('' for findings), the comparison, the limit and its unit.

    Raises
    ------
    ValueError
        As `Run.check`.
    """
    asked, names = str(check).strip().lower(), [*CATEGORIES, "idle", "duration"]
    if found := _NO_FINDINGS.fullmatch(asked):
        return "", "<=", found[1] or "0", found[2] or "s"
    parts = _LIMIT.fullmatch(asked)
    name = "" if parts is None else _NAMES.get(parts[1], parts[1])
    if parts is None or name not in names or (name == "duration" and parts[4] == "%"):
        raise ValueError(
            f"“{str(check)[:60]}” is no check: write “no findings”, “no findings above 10%”, or"
            " what is to be below or above a share or seconds, such as “idle<30%” or"
            " “duration<60s”, of"
            f" {', '.join(names)}."
        )
    return name, parts[2], parts[3], parts[4]


def html_table(rows: Sequence[tuple[str, ...]]) -> str:
    """Return rows of text as HTML; '' for none."""
    narrow = ' style="white-space: nowrap"'  # else Jupyter breaks each number at its unit
    lines = (
        "".join(f"<td{narrow * (len(cell) < SHORT)}>{escape(cell)}</td>" for cell in row)
        for row in rows
    )
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table>{body}</table>" if body else ""


def _in_seconds(limit: str, unit: str, whole_s: float) -> float:
    return float(limit) * (whole_s / 100 if unit == "%" else 1.0)
