"""Task counts and sizes by prefix: those with work left first, then by size."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from dask_diag_lab.records import STATES
from dask_diag_lab.store.arrays import Floats, Ints, Row, frozen
from dask_diag_lab.store.groups import GroupTable
from dask_diag_lab.store.rates import Rates

_UNFINISHED: Final = [STATES.index(s) for s in ("waiting", "no-worker", "queued", "processing")]


class PrefixTable:
    """Prefixes with tasks that have not ended, then the others; most tasks first in both.

    Tasks that were done and then forgotten stay counted, also when a computation is repeated: the
    groups of a prefix add up to the same number. Spans may add up to more, as they also count what
    ran before the recording began.

    Parameters
    ----------
    groups : GroupTable
        Knows which prefix depends on which.
    """

    def __init__(self, groups: GroupTable) -> None:
        self.version = 0
        self._groups = groups
        self._rows: dict[str, Row] = {}
        self._sorted: list[Row] = []
        self._topological: tuple[tuple[int, int], Ints] | None = None
        self._rates = Rates()
        self._now = 0.0

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def names(self) -> list[str]:
        """Prefixes in the order of this table."""
        return [row["name"] for row in self._sorted]

    @property
    def states(self) -> Ints:
        """Tasks in each of `STATES`, one row a prefix."""
        counts = [row["states"] for row in self._sorted]
        return frozen(np.array(counts, dtype=np.int64).reshape(-1, len(STATES)))

    @property
    def nbytes(self) -> Ints:
        """Bytes in memory of each; -1 where nobody tells, as without the collector."""
        return np.array([row["nbytes"] for row in self._sorted], dtype=np.int64)

    @property
    def duration(self) -> Floats:
        """Mean seconds of a task of each; NaN while unknown."""
        return np.array([row["duration"] for row in self._sorted], dtype=np.float64)

    @property
    def rate(self) -> Floats:
        """Tasks of each that end in a second, as observed; NaN where too few were seen to end.

        See `Rates.rate` for the formula; ``now`` is the time of the last batch. It falls when
        nothing ends any more, which moves no version: nothing arrives that could. Tasks that
        wait, divided by it, are an estimate of the seconds left that takes everything into
        account that slows a cluster down, unlike `duration`.
        """
        rates = [self._rates.rate(row["name"], self._now) for row in self._sorted]
        return np.array(rates, dtype=np.float64)

    @property
    def topological(self) -> Ints:
        """Order in which work flows: indices of prefixes, those that others depend on first.

        Prefixes that depend on each other keep the order in which they appeared.
        """
        seen = (self.version, self._groups.version)
        if self._topological is None or self._topological[0] != seen:
            self._topological = seen, self._flow()
        return self._topological[1]

    def update(self, rows: Iterable[Row], removed: Iterable[str] = (), time: float = 0.0) -> None:
        """Forget removed prefixes and take over rows of `PREFIXES` as of ``time``.

        The others stay.
        """
        is_changed = False
        self._now = time
        for name in removed:
            self._rates.remove(name)
            is_changed |= self._rows.pop(name, None) is not None
        for row in rows:
            known = self._rows.get(row["name"])
            if known is None or not _equal(known, row):
                self._rows[row["name"]] = dict(row)
                left = sum(row["states"][state] for state in _UNFINISHED)
                self._rates.update(row["name"], time, sum(row["states"]) - left)
                is_changed = True
        if is_changed:
            self._changed()

    def clear(self) -> None:
        """Forget all prefixes."""
        self._rates.clear()
        if self._rows:
            self._rows = {}
            self._changed()

    def _changed(self) -> None:
        self._sorted = sorted(self._rows.values(), key=self._rank)
        self.version += 1

    def _rank(self, row: Row) -> tuple[bool, int]:
        is_done = not any(row["states"][state] for state in _UNFINISHED)
        return is_done, -sum(row["states"])

    def _flow(self) -> Ints:
        needs = self._groups.prefix_dependencies()
        index = {name: i for i, name in enumerate(self.names)}
        waiting = {n: {d for d in needs.get(n, ()) if d in index} for n in self._rows}
        order: list[int] = []
        while waiting:
            ready = [name for name, missing in waiting.items() if not missing]
            # A circle: sum → getitem → sum is common. Its first member goes on.
            ready = ready or [min(waiting, key=lambda name: len(waiting[name]))]
            for name in ready:
                del waiting[name]
                order.append(index[name])
            for missing in waiting.values():
                missing.difference_update(ready)
        return frozen(np.array(order, dtype=np.int64))


def _equal(a: Row, b: Row) -> bool:
    """Tell whether two rows are equal, NaN being equal to NaN."""
    same_duration = a["duration"] == b["duration"] or (
        a["duration"] != a["duration"] and b["duration"] != b["duration"]
    )
    return same_duration and a["nbytes"] == b["nbytes"] and list(a["states"]) == list(b["states"])
