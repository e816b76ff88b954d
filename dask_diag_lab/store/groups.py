"""Task groups and what they depend on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np

from dask_diag_lab.records import GROUPS, STATES
from dask_diag_lab.store.arrays import Floats, Ints, Row, frozen

_COLUMNS = tuple(column.name for column in GROUPS)


class GroupTable:
    """Groups in order of their appearance.

    Attributes
    ----------
    version : int
        Moves with any change.
    structure_version : int
        Moves when groups came or went or their dependencies changed.
    """

    def __init__(self) -> None:
        self.version = 0
        self.structure_version = 0
        self._rows: dict[str, Row] = {}
        self._states: tuple[int, Ints] = (-1, np.empty(0, dtype=np.int64))

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def names(self) -> list[str]:
        """Names of the groups."""
        return list(self._rows)

    @property
    def prefix(self) -> list[str]:
        """Prefix of each."""
        return [row["prefix"] for row in self._rows.values()]

    @property
    def states(self) -> Ints:
        """Tasks in each of `STATES`, one row a group."""
        if self._states[0] != self.version:
            counts = chain.from_iterable(row["states"] for row in self._rows.values())
            flat = np.fromiter(counts, np.int64, len(self._rows) * len(STATES))
            self._states = self.version, frozen(flat.reshape(-1, len(STATES)))
        return self._states[1]

    @property
    def nbytes(self) -> Ints:
        """Bytes in memory of each."""
        return np.array([row["nbytes"] for row in self._rows.values()], dtype=np.int64)

    @property
    def duration(self) -> Floats:
        """Sum of all durations of each, seconds."""
        return self._floats("duration")

    @property
    def start(self) -> Floats:
        """First start of each; NaN before."""
        return self._floats("start")

    @property
    def stop(self) -> Floats:
        """Last stop of each; NaN before."""
        return self._floats("stop")

    @property
    def dependencies(self) -> list[tuple[str, ...]]:
        """Names of the groups that each depends on; some may be gone already."""
        return [tuple(row["dependencies"]) for row in self._rows.values()]

    def prefix_dependencies(self) -> dict[str, set[str]]:
        """Return for each prefix the other prefixes that its groups depend on."""
        needs: dict[str, set[str]] = {}
        for row in self._rows.values():
            mine = needs.setdefault(row["prefix"], set())
            for name in row["dependencies"]:
                if name in self._rows and self._rows[name]["prefix"] != row["prefix"]:
                    mine.add(self._rows[name]["prefix"])
        return needs

    def update(self, rows: Iterable[Row], removed: Sequence[str] = ()) -> None:
        """Take over rows of `GROUPS` and forget removed ones; the others stay as they are."""
        is_changed = is_restructured = False
        for name in removed:
            is_restructured |= self._rows.pop(name, None) is not None
        for row in rows:
            known = self._rows.get(row["name"])
            if known is None or list(known["dependencies"]) != list(row["dependencies"]):
                is_restructured = True
            if known is None or _values(known) != _values(row):
                self._rows[row["name"]] = dict(row)
                is_changed = True
        self.structure_version += is_restructured
        self.version += is_changed or is_restructured

    def clear(self) -> None:
        """Forget all groups."""
        self.update((), list(self._rows))

    def _floats(self, column: str) -> Floats:
        return np.array([row[column] for row in self._rows.values()], dtype=np.float64)


def _values(row: Row) -> tuple[str, ...]:
    # Text of a row: NaN is equal to NaN in it, and lists to tuples of the same values.
    return tuple(
        repr(list(row[name]) if name in ("states", "dependencies") else row[name])
        for name in _COLUMNS
    )
