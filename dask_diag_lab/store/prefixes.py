"""Task counts and sizes by prefix, largest first."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from dask_diag_lab.records import STATES
from dask_diag_lab.store.arrays import Floats, Ints, Row, frozen
from dask_diag_lab.store.groups import GroupTable


class PrefixTable:
    """Prefixes in order of their task counts, forgotten tasks included.

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

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def names(self) -> list[str]:
        """Prefixes, the one with most tasks first."""
        return [row["name"] for row in self._sorted]

    @property
    def states(self) -> Ints:
        """Tasks in each of `STATES`, one row a prefix."""
        counts = np.zeros((len(self._sorted), len(STATES)), dtype=np.int64)
        for index, row in enumerate(self._sorted):
            counts[index] = row["states"]
        return frozen(counts)

    @property
    def nbytes(self) -> Ints:
        """Bytes in memory of each."""
        return np.array([row["nbytes"] for row in self._sorted], dtype=np.int64)

    @property
    def duration(self) -> Floats:
        """Mean seconds of a task of each; NaN while unknown."""
        return np.array([row["duration"] for row in self._sorted], dtype=np.float64)

    @property
    def topological(self) -> Ints:
        """Order in which work flows: indices of prefixes, those that others depend on first.

        Prefixes that depend on each other keep the order in which they appeared.
        """
        seen = (self.version, self._groups.version)
        if self._topological is None or self._topological[0] != seen:
            self._topological = seen, self._flow()
        return self._topological[1]

    def update(self, rows: Iterable[Row]) -> None:
        """Take over rows of `PREFIXES`; prefixes not among them stay as they are."""
        is_changed = False
        for row in rows:
            known = self._rows.get(row["name"])
            if known is None or not _equal(known, row):
                self._rows[row["name"]] = dict(row)
                is_changed = True
        if is_changed:
            self._changed()

    def clear(self) -> None:
        """Forget all prefixes."""
        if self._rows:
            self._rows = {}
            self._changed()

    def _changed(self) -> None:
        self._sorted = sorted(self._rows.values(), key=lambda row: -sum(row["states"]))
        self.version += 1

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
