"""A column source of many rows of which few change at a time: only those are sent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.views.figure import Source

IDENTITY: Final = ("left", "y", "kind")
"""Columns by which a row that changed is known to be the same one."""

_FULL_SHARE: Final = 3
"""All is sent when more than one in so many rows is new, or draws nothing."""
_MIX: Final = np.uint64(0x9E3779B97F4A7C15)

Columns = dict[str, npt.NDArray[Any]]  # dtypes differ from column to column
Hashes = npt.NDArray[np.uint64]


class PatchedSource(Source):
    """A `Source` whose columns are arrays of equal length, sent as differences.

    A row that changed is patched where it is, a new one is appended, one that went is made to
    draw nothing; after many of these all rows are sent afresh.
    """

    def __init__(self, *columns: str) -> None:
        super().__init__(*columns)
        self._content: Hashes = np.empty(0, dtype=np.uint64)
        self._identity = self._content
        self._types: list[np.dtype[Any]] = []

    def show(self, columns: Columns) -> None:
        """Have exactly these rows drawn, in any order."""
        content, types = _hashes(columns.values()), [column.dtype for column in columns.values()]
        identity = _hashes(columns[name] for name in IDENTITY)
        place = _places(content, self._content)
        is_gone = self._content != 0
        is_gone[place[place >= 0]] = False
        new, gone = np.flatnonzero(place < 0), np.flatnonzero(is_gone)
        if not len(new) and not len(gone):
            return
        n_hidden = len(self._content) - len(content) + len(new)
        if types != self._types or _FULL_SHARE * max(len(new), n_hidden) >= len(content):
            self._content, self._identity, self._types = content, identity, types
            self.set(columns)
            return
        _, of_gone, of_new = np.intersect1d(
            self._identity[gone], identity[new], return_indices=True
        )
        hidden, came = np.delete(gone, of_gone), np.delete(new, of_new)
        self._change(columns, gone[of_gone], new[of_new], hidden)
        self._content[gone[of_gone]] = content[new[of_new]]
        self._content[hidden] = self._identity[hidden] = 0
        self._content = np.concatenate((self._content, content[came]))
        self._identity = np.concatenate((self._identity, identity[came]))
        if len(came):
            self.stream({name: column[came] for name, column in columns.items()})

    def _change(self, columns: Columns, places: Any, rows: Any, hidden: Any) -> None:  # of intp
        """Change what differs in some places, and make others draw nothing."""
        data: Columns = self.model.data  # type: ignore[assignment]  # arrays alone are put here
        patches: dict[str, Any] = {"left": [(place, np.nan) for place in hidden.tolist()]}
        for name, column in columns.items():
            at = np.flatnonzero(data[name][places] != column[rows])
            values = column[rows[at]]
            if values.dtype == np.float32:  # as a double it has twice the digits
                values = values.astype("U").astype(np.float64)
            changed = zip(places[at].tolist(), values.tolist(), strict=True)
            patches.setdefault(name, []).extend(changed)
        self.model.patch({name: patch for name, patch in patches.items() if patch})


def _places(hashes: Hashes, among: Hashes) -> npt.NDArray[np.intp]:
    """Return the place of each hash among others, -1 where it is not there."""
    order = np.append(np.argsort(among), -1)
    places = order[np.searchsorted(among[order[:-1]], hashes)]
    return np.where(np.append(among, np.uint64(0))[places] == hashes, places, -1)


def _hashes(columns: Iterable[npt.NDArray[Any]]) -> Hashes:
    """Return a number for each row that tells rows with different content apart; never 0."""
    hashes: Any = np.uint64(0)
    for column in columns:
        bits = column.view(f"u{column.itemsize}") if column.dtype.kind == "f" else column
        hashes = (hashes ^ bits.astype(np.uint64)) * _MIX
        hashes ^= hashes >> np.uint64(29)
    return np.asarray(hashes | np.uint64(1))
