"""The tables of `records.EXTRAS`: worked out while somebody wants them, once for all.

Must not know what is in a table: `sources` names the function that fills each.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from dask_diag_lab.collector.extra_metrics import FineTable, activities, counters
from dask_diag_lab.collector.extra_spans import SpanTable
from dask_diag_lab.collector.extra_stealing import StealingSource
from dask_diag_lab.collector.extra_system import SystemSource
from dask_diag_lab.collector.extra_tasks import durations
from dask_diag_lab.collector.extra_transfers import bandwidth_types, bandwidth_workers
from dask_diag_lab.collector.shuffles import Shuffles
from dask_diag_lab.collector.throttle import Throttle

if TYPE_CHECKING:
    from distributed.scheduler import Scheduler, TaskGroup

logger = logging.getLogger(__name__)

INTERVAL_S: Final = 0.5
"""Shortest time between two looks at one table: heartbeats do not come more often."""

KEPT_S: Final = 60.0
"""So long the rows of a table are kept that nobody wants any more; they are made anew then."""

Cells = tuple[Any, ...]  # one row: columns differ in type


class Source(NamedTuple):
    """How one extra is filled.

    Attributes
    ----------
    n_columns : int
    max_rows : int
        As in `records.EXTRAS`.
    fill : callable
        Takes the scheduler and returns all rows, those to keep last; or, for a log, makes the
        object whose ``read`` returns new rows and how many were lost before them.
    is_log : bool
    """

    n_columns: int
    max_rows: int
    fill: Callable[[Any], Any]
    is_log: bool = False


def sources(
    held: Callable[[TaskGroup], int],
    failed: Callable[[str], int],
    shuffles: Shuffles,
    errors: Callable[[], list[tuple[Any, ...]]],
) -> Mapping[str, Source]:
    """Return how each extra is filled.

    Parameters
    ----------
    held : callable
        Tells the bytes in memory of a task group.
    failed : callable
        Tells for the id of a span how many of its tasks were erred when they were forgotten.
    shuffles : Shuffles
    errors : callable
        Returns the rows of that name.
    """
    return {
        "durations": Source(3, 20_000, durations),
        "bandwidth-types": Source(2, 1_000, bandwidth_types),
        "bandwidth-workers": Source(3, 20_000, bandwidth_workers),
        "system": Source(10, 7_200, SystemSource, is_log=True),
        "errors": Source(10, 1_000, lambda _: errors()),
        "stealing": Source(8, 10_000, StealingSource, is_log=True),
        "counters": Source(3, 2_000, counters),
        "activities": Source(5, 20_000, activities),
        "fine": Source(6, 20_000, FineTable().rows),
        "spans": Source(9, 1_000, SpanTable(held, failed).rows),
        "shuffles": Source(13, 20_000, shuffles.rows),
    }


class Answer(NamedTuple):
    """Wire form of `records.ExtraChange`: columns, rows left out, and the next cursor."""

    columns: tuple[tuple[Any, ...], ...]
    dropped: int
    cursor: int


class _Whole:
    """A table that is sent whole; its cursor is the number of its changes."""

    def __init__(self, scheduler: Scheduler, source: Source) -> None:
        self._scheduler = scheduler
        self._source = source
        self._rows: list[Cells] | None = None
        self._n_left_out = 0
        self._version = 0

    def refresh(self) -> None:
        """Fill the table anew; an equal one changes nothing."""
        rows: list[Cells] = list(self._source.fill(self._scheduler))
        n_left_out = max(0, len(rows) - self._source.max_rows)
        self.put(rows[n_left_out:], n_left_out)

    def put(self, rows: list[Cells], n_left_out: int = 0) -> None:
        if rows != self._rows or n_left_out != self._n_left_out:
            self._rows, self._n_left_out = rows, n_left_out
            self._version += 1

    def since(self, cursor: int) -> Answer | None:
        if cursor == self._version or self._rows is None:
            return None
        columns = _columns(self._rows, self._source.n_columns)
        return Answer(columns, self._n_left_out, self._version)

    def give_up(self) -> None:
        self.put([])

    def forget(self) -> None:
        """Let the rows go; the version stays, so that nobody takes the next ones for these."""
        self._rows = None


class _Log:
    """Rows that are appended; its cursor is the number of rows that ever were."""

    def __init__(self, scheduler: Scheduler, source: Source) -> None:
        self._reader = source.fill(scheduler)
        self._n_columns = source.n_columns
        self._rows: deque[Cells] = deque(maxlen=source.max_rows)
        self._total = 0
        self._is_read = False

    def refresh(self) -> None:
        """Append what is new."""
        rows, lost = self._reader.read()
        if self._is_read and lost:  # before the first look nothing was promised to anybody
            self._rows.clear()  # rows are found by counting back from the newest: no gap between
            self._total += lost
        self._rows.extend(rows)
        self._total += len(rows)
        self._is_read = True

    def since(self, cursor: int) -> Answer | None:
        """Return the rows after ``cursor``; 0 is somebody who has nothing and misses nothing."""
        known = cursor - 1  # so that 0 is nobody's cursor, and an empty log is told once
        if known == self._total or not self._is_read:
            return None
        n = min(len(self._rows), self._total - max(known, 0))
        rows = list(self._rows)[len(self._rows) - n :]
        dropped = 0 if known < 0 else self._total - known - n
        return Answer(_columns(rows, self._n_columns), dropped, self._total + 1)

    def give_up(self) -> None:
        self._is_read = True


class Extras:
    """All extras of one scheduler; nothing is looked at that nobody wants."""

    def __init__(self, scheduler: Scheduler, sources: Mapping[str, Source]) -> None:
        self._scheduler = scheduler
        self._sources = sources
        self._tables: dict[str, _Whole | _Log] = {}
        self._throttles: dict[str, Throttle] = {}
        self._asked: dict[str, float] = {}
        self._broken: set[str] = set()

    def answer(
        self, wanted: Iterable[str], cursors: Mapping[str, int]
    ) -> dict[str, tuple[Any, ...]]:
        """Return what changed of the wanted tables since the cursors; unknown names are skipped."""
        answers: dict[str, tuple[Any, ...]] = {}
        for name in wanted:
            if name in self._sources:
                change = self._refreshed(name).since(cursors.get(name, 0))
                if change is not None:
                    answers[name] = tuple(change)
        return answers

    def forget_unwanted(self, kept_s: float = KEPT_S) -> None:
        """Let the rows go of tables that nobody has wanted for a while.

        Those of logs stay: they are bounded, and their source may have lost them meanwhile.
        """
        until = time.monotonic() - kept_s
        for name in [name for name, asked in self._asked.items() if asked < until]:
            del self._asked[name]
            table = self._tables[name]
            if isinstance(table, _Whole) and name not in self._broken:
                table.forget()
                self._throttles[name].reset()

    def clear(self) -> None:
        """Let all rows go."""
        self._asked.clear()
        self._tables.clear()

    def _refreshed(self, name: str) -> _Whole | _Log:
        table = self._tables.get(name)
        if table is None:
            source = self._sources[name]
            table = (_Log if source.is_log else _Whole)(self._scheduler, source)
            self._tables[name] = table
            self._throttles[name] = Throttle()
        self._asked[name] = time.monotonic()
        throttle = self._throttles[name]
        if name not in self._broken and throttle.is_due():
            throttle.begin()
            try:
                table.refresh()
            except Exception:
                # The engine's insides differ between versions: the other tables go on.
                logger.exception("dask_diag_lab leaves the table %s empty from now on", name)
                self._broken.add(name)
                table.give_up()
            throttle.done(INTERVAL_S)
        return table


def _columns(rows: Sequence[Cells], n_columns: int) -> tuple[tuple[Any, ...], ...]:
    return tuple(zip(*rows, strict=True)) if rows else ((),) * n_columns
