"""Runs: what each piece of the user's code made the cluster do.

The piece is a block of `dask_diag_lab.run`, else an executed cell of a notebook; of graphs that
neither is known of, a burst: graphs of one client with less than `BURST_GAP_S` without an
unfinished task between them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import inf, isfinite, nan
from typing import Any, Final, Literal

import numpy as np

from dask_diag_lab.schema import Kind, Outcome
from dask_diag_lab.store.arrays import Bools, Columns, Floats, GrowingArray, Ints
from dask_diag_lab.store.strings import StringTable
from dask_diag_lab.store.sums import BURST_GAP_S

MAX_RUNS: Final = 100
MAX_PIECES: Final = 100
MAX_MISSED: Final = 10_000_000
"""Graphs that the log may have lost between two batches: of more a batch is refused."""
TRAVEL_S: Final = 0.1
"""A graph may come so long after the cell that sent it has ended."""
LEAVING_S: Final = 0.5
"""The same of a block of `run` that is in no other one: it is left later, see `capture.run`."""
QUIET_S: Final = 0.5
"""Where the cluster has had nothing to do for so long, a run will get no further."""
FROM_WORKERS: Final = "Client-worker"
"""`distributed` begins so the ids of the clients that tasks make."""
MAX_NAME: Final = 80
_CALLS: Final = re.compile(r"\b(?:compute|persist|submit|map)\s*\(")

State = Literal["running", "done", "failed", "cancelled"]


@dataclass(slots=True)
class Piece:
    """A piece of the user's code.

    Attributes
    ----------
    id : str
        Of this execution.
    name : str
        What people see; '' for the largest prefix of what it runs.
    cell : str
        Id of the notebook's cell; '' where it is none.
    count : int
        Number of the execution, as in ``In [12]``; 0 where there is none.
    start, stop : float
        Seconds since the epoch by the scheduler's clock; infinite while it runs.
    clients : set of str
        Of each cluster that it had compute, the first client that it did so with:
        one set, which the tables of all these clusters share.
    """

    id: str
    name: str = ""
    cell: str = ""
    count: int = 0
    start: float = 0.0
    stop: float = inf
    clients: set[str] = field(default_factory=set)


@dataclass(slots=True)
class RunRecord:
    """One run.

    Attributes
    ----------
    number : int
        From 1 on.
    client : str
        Id of the client that sent its first graph.
    code : Piece
        Of a burst one that ends where it begins.
    start : float
        When its first graph came.
    last : float
        When its last graph came, or its last task ended.
    n_submitted, n_done, n_erred, n_attempts : int
        Tasks that were to be computed, those that ended well, those that failed, and attempts
        that failed and were tried again, or died with their worker.
    is_quiet : bool
        Whether what has not ended by now will not.
    is_nested : bool
        Whether its tasks submitted tasks.
    """

    number: int
    client: str
    code: Piece
    start: float
    last: float
    n_submitted: int = 0
    n_done: int = 0
    n_erred: int = 0
    n_attempts: int = 0
    is_quiet: bool = False
    seconds: dict[int, float] = field(default_factory=dict)  # by string id of the prefix
    is_nested: bool = False

    def name(self, strings: StringTable) -> str:
        """Return what people call it: as its code, else as what took most of its time."""
        largest = max(self.seconds, key=lambda prefix: self.seconds[prefix], default=0)
        return self.code.name or strings[largest] or f"Run {self.number}"

    @property
    def n_again(self) -> int:
        """Tasks that were done once more, for what was lost."""
        n_ended = self.n_done + self.n_erred
        return max(n_ended - self.n_submitted, 0) if self.n_submitted else 0

    @property
    def is_over(self) -> bool:
        """Whether its code, and all of its tasks, have ended."""
        has_all = self.n_done + self.n_erred >= self.n_submitted
        return isfinite(self.code.stop) and (has_all or self.is_quiet)

    @property
    def stop(self) -> float:
        """When it was over; infinite while it is not.

        After its last task, a cell that had several clusters compute may have waited for another
        one; a block has the duration of its code all the same.
        """
        is_shared = self.code.count > 0 and len(self.code.clients) > 1
        until = self.last if is_shared else max(self.last, self.code.stop)
        return until if self.is_over else inf

    @property
    def state(self) -> State:
        """How it is, or how it ended."""
        if not self.is_over:
            return "running"
        if self.n_erred:
            return "failed"
        return "done" if self.n_done >= self.n_submitted else "cancelled"


class RunTable:
    """The last runs of one scheduler, oldest first.

    Attributes
    ----------
    version : int
        Moves with every change.
    clients : set of str
        Ids of the clients whose code is told of by `note_code`.
    """

    SAVED = ("clients", "_records", "_pieces", "_run_of", "_carried", "_arrived", "_n_runs")

    def __init__(self) -> None:
        self.version = 0
        self.clients: set[str] = set()
        self._records: list[RunRecord] = []
        self._pieces: list[Piece] = []
        # By number of the graph, as the next two; 0 is that of none.
        self._run_of: GrowingArray[np.int32] = GrowingArray(np.int32, size=1)
        self._carried: GrowingArray[np.float64] = GrowingArray(np.float64, size=1)
        self._arrived: GrowingArray[np.float64] = GrowingArray(np.float64, nan, size=1)
        self._n_runs = 0

    def __iter__(self) -> Iterator[RunRecord]:
        return iter(self._records)

    def __len__(self) -> int:
        return len(self._records)

    def of_number(self, number: int) -> RunRecord | None:
        """Return a run; None where there is none, or it is kept no more."""
        return next((one for one in self._records if one.number == number), None)

    def of_code(self, id_: str) -> RunRecord | None:
        """Return the run of a piece of code; None where it had the cluster do nothing."""
        return self._newest(lambda one: one.code.id == id_)

    @property
    def n_graphs(self) -> int:
        """The highest number of a graph."""
        return len(self._run_of) - 1

    @property
    def carried(self) -> Floats:
        """The bytes that each task of a graph carries, by its number; 0 where it is not known."""
        return self._carried.values.copy()

    @property
    def arrived(self) -> Floats:
        """When each graph came, by its number; NaN where it is not known."""
        return self._arrived.values.copy()

    def is_other_than(self, number: int) -> Callable[[Ints], Bools]:
        """Return what tells, in any thread, which graphs by number are of another run than this.

        Number 0 is that of no run: none is of another one then.
        """
        run_of = self._run_of.values.copy()

        def is_other(graphs: Ints) -> Bools:
            run = run_of[np.where(graphs < len(run_of), graphs, 0)]
            other: Bools = (run != 0) & (run != (number or run))
            return other

        return is_other

    # --- code

    def note_code(self, piece: Piece) -> None:
        """Note that a piece of code of one of `clients` runs, or has ended."""
        known = next((one for one in self._pieces if one.id == piece.id), None)
        if known is None:
            self._pieces = [*self._pieces[-MAX_PIECES:], replace(piece)]
        elif known.stop != piece.stop:
            known.stop, known.count, known.name = piece.stop, piece.count, piece.name
            self.version += 1

    def _code_of(self, client: str, time: float) -> Piece | None:
        """Return the piece of code that sent a graph: the innermost."""
        if client not in self.clients:
            return None
        begun = [piece for piece in self._pieces if piece.start <= time]
        runs = [piece for piece in begun if time <= piece.stop]
        if all(piece.count for piece in runs):  # cells
            runs += [p for p in begun if not p.count and p.stop < time <= p.stop + LEAVING_S]
        ended = [piece for piece in begun if piece.count and time <= piece.stop + TRAVEL_S]
        return max(runs or ended, key=lambda piece: piece.start, default=None)

    # --- what a batch brings

    def submitted(self, graphs: Mapping[str, Any], n_before: int) -> None:
        """Take over rows of `schema.tables.GRAPHS`, whose number 0 is ``n_before`` here."""
        names = ("number", "carried", "time", "until", "client", "tasks")
        for wired, carried, *facts in zip(*(graphs[name].tolist() for name in names), strict=True):
            number = n_before + wired
            if number > self.n_graphs:  # else of a batch that failed in the middle
                self._run_of.extend_to(number + 1)
                self._run_of.values[number] = self._place(*facts).number
                self._carried.extend_to(number + 1)
                self._carried.values[number] = carried
                self._arrived.extend_to(number + 1)
                self._arrived.values[number] = facts[0]
        self.version += bool(len(graphs["number"]))

    def _place(self, time: float, until: float, client: str, n_tasks: int) -> RunRecord:
        """Return the run that a graph is of, with it."""
        code, record = self._code_of(client, time), None
        if code is not None:
            record = self.of_code(code.id)
        elif client.startswith(FROM_WORKERS):
            record = self._newest(lambda one: not one.is_over)
        else:
            record = self._newest(lambda one: one.client == client and not one.code.id)
            if record and record.is_over and time - record.last > BURST_GAP_S:
                record = None
        if record is None:
            self._n_runs += 1
            code = code or Piece("", start=time, stop=time)
            code.clients.add(client)
            record = RunRecord(self._n_runs, client, code, time, until)
            self._records = [*self._records[1 - MAX_RUNS :], record]
        record.last = max(record.last, until)
        record.n_submitted += n_tasks
        record.is_nested |= client.startswith(FROM_WORKERS)
        record.is_quiet = False
        return record

    def _newest(self, fits: Callable[[RunRecord], bool]) -> RunRecord | None:
        return next((one for one in reversed(self._records) if fits(one)), None)

    def took(self, rows: Columns) -> None:
        """Take over actions, in the history's numbers.

        Tasks that came with no graph that is known, such as those computed again, are the newest
        run's.
        """
        is_task = rows["kind"] == Kind.COMPUTE
        if not (self._records and is_task.any()):
            return
        outcome, prefix, stop = (rows[name][is_task] for name in ("outcome", "prefix", "stop"))
        took_s = stop - rows["start"][is_task]
        graph = rows["graph"][is_task]
        run = self._run_of.values[np.where(graph <= self.n_graphs, graph, 0)]
        run = np.where(run == 0, self._records[-1].number, run)
        for record in self._records:
            its = run == record.number
            if its.any():
                record.n_done += int(np.sum(outcome[its] == Outcome.OK))
                record.n_erred += int(np.sum(outcome[its] == Outcome.ERRED))
                tried = (Outcome.RETRIED, Outcome.KILLED)
                record.n_attempts += int(np.sum(np.isin(outcome[its], tried)))
                record.last = max(record.last, float(stop[its].max()))
                sums = np.bincount(prefix[its], took_s[its])
                for one in np.flatnonzero(sums).tolist():
                    record.seconds[one] = record.seconds.get(one, 0.0) + float(sums[one])
        self.version += 1

    def gave_up(self, time: float, n: int) -> None:
        """Note that tasks failed because their workers had died once too often.

        The log has only their attempts: they are of the newest run that had begun then.
        """
        record = self._newest(lambda one: one.start <= time)
        if record is not None:
            record.n_erred += n
            record.n_attempts = max(record.n_attempts - n, 0)
            self.version += 1

    def mark_idle(self, now: float, *, is_idle: bool) -> None:
        """Note whether the cluster has nothing to do."""
        for record in self._records:
            if is_idle and not record.is_quiet and now - record.last > QUIET_S:
                record.is_quiet = True
                self.version += 1

    def end(self, now: float) -> None:
        """Note that the cluster is gone, of whose code nobody tells any more."""
        for piece in self._pieces:
            piece.stop = min(piece.stop, now)
        self.mark_idle(inf, is_idle=True)


def name_of_code(code: str) -> str:
    """Return what a piece of code is called: its first line that has the cluster compute."""
    lines = [line for line in code.splitlines() if not line.lstrip().startswith("#")]
    calling = [line for line in lines if _CALLS.search(line)]
    return "".join(calling[:1]).strip()[:MAX_NAME]
