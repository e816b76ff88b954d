"""What earlier groups of a name did: the engine makes a group anew that it had dropped.

Must not look at the scheduler.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from dask_diag_lab.collector.changes import Row


class Work(NamedTuple):
    """What groups of one name did: tasks done and failed, seconds, first start and last stop.

    As in the engine's groups both times are 0 where none has run.
    """

    done: int
    failed: int
    seconds: float
    start: float
    stop: float

    def plus(self, done: int, failed: int, seconds: float, start: float, stop: float) -> Work:
        """Return the sum with what another group did."""
        if not any(self):  # as of nearly all; `NOTHING` is no name here, see below
            return Work(done, failed, seconds, start, stop)
        return Work(
            self.done + done,
            self.failed + failed,
            self.seconds + seconds,
            min(filter(None, (self.start, start)), default=0.0),
            max(self.stop, stop),
        )


NOTHING: Final = Work(0, 0, 0.0, 0.0, 0.0)
"""Not to be named within `Work`: a class sent by value cannot hold an instance of its own."""


class EarlierGroups:
    """For each group that is there, by its name, what those did that had the name before."""

    def __init__(self) -> None:
        self._work: dict[str, Work] = {}

    def of(self, name: str, row: Row | None) -> Work:
        """Return what earlier ones did, from now on for a group that is there.

        Parameters
        ----------
        name : str
        row : tuple, optional
            The row of that name so far: where none was there, that of a group that ended.
        """
        known = self._work.get(name)
        if known is None:
            known = self._work[name] = _of_row(row)
        return known

    def take(self, name: str, row: Row | None) -> Work:
        """Return the same for a group that has gone, and forget it: its row is to tell it."""
        known = self._work.pop(name, None)
        return _of_row(row) if known is None else known


def _of_row(row: Row | None) -> Work:
    if row is None:
        return NOTHING
    times = (0.0 if math.isnan(time) else time for time in row[5:7])
    *_, failed, done = row[2]
    return Work(done, failed, row[4], *times)
