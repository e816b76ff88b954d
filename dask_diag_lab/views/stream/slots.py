"""A column source of many rows of which few change at a time: only those are sent.

A row that changed is patched where it is, a new one is appended, one that went is made to draw
nothing; after many of these all rows are sent afresh.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
from bokeh.document.events import ColumnsPatchedEvent

from dask_diag_lab.views.figure import Source
from dask_diag_lab.views.stream.rects import Columns

IDENTITY: Final = ("left", "lane", "kind")
"""Columns by which a row that changed is known to be the same one."""
ROUNDED: Final = frozenset({"busy", "longest"})
"""Sums of many numbers, whose last bits depend on how they were added up."""
PATCH_BYTES: Final = 16
"""About what one patched number takes on its way."""

_FULL_SHARE: Final = 3
"""All is sent when more than one in so many rows is new."""
_MIX: Final = np.uint64(0x9E3779B97F4A7C15)

Hashes = npt.NDArray[np.uint64]


class SlotSource(Source):
    """A `Source` whose columns are arrays of equal length, sent as differences.

    Attributes
    ----------
    sent_rows : int
        Rows that were sent so far.
    """

    def __init__(self, *columns: str) -> None:
        super().__init__(*columns)
        self.sent_rows = 0
        self._content: Hashes = np.empty(0, dtype=np.uint64)
        self._identity: Hashes = np.empty(0, dtype=np.uint64)
        self._types: dict[str, np.dtype[Any]] = {}
        self._n_hidden = 0

    def put(self, columns: Columns) -> bool:
        """Show these rows; return whether anything was sent."""
        if not len(columns["left"]) and not len(self._content):
            return False
        content = row_hashes(columns, list(columns))
        if {name: column.dtype for name, column in columns.items()} != self._types:
            return self._put_all(columns, content)
        is_old, is_there = _shared(content, self._content)
        is_gone = ~is_there & (self._content != 0)
        n_new, n_gone = int(np.count_nonzero(~is_old)), int(np.count_nonzero(is_gone))
        if not n_new and not n_gone:
            return False
        n = len(content)
        is_worn = 4 * (self._n_hidden + max(n_gone - n_new, 0)) > n
        if n_new * _FULL_SHARE >= n or is_worn:
            return self._put_all(columns, content)
        self._change(columns, content, np.flatnonzero(~is_old), np.flatnonzero(is_gone))
        return True

    def _put_all(self, columns: Columns, content: Hashes) -> bool:
        self._content = content
        self._identity = row_hashes(columns, IDENTITY)
        self._types = {name: column.dtype for name, column in columns.items()}
        self._n_hidden = 0
        self.sent_rows += len(content)
        return self.set(columns)

    def _change(
        self,
        columns: Columns,
        content: Hashes,
        new: npt.NDArray[np.intp],
        gone: npt.NDArray[np.intp],
    ) -> None:
        """Patch rows that changed, hide those that went, append those that came."""
        identity = row_hashes({name: columns[name][new] for name in IDENTITY}, IDENTITY)
        _, of_gone, of_new = np.intersect1d(self._identity[gone], identity, return_indices=True)
        slots, rows = gone[of_gone], new[of_new]
        hidden = np.delete(gone, of_gone)
        came = np.delete(new, of_new)
        self._content[slots] = content[rows]
        self._content[hidden] = 0
        self._identity[hidden] = 0
        self._n_hidden += len(hidden)
        self._patch(columns, slots, rows, hidden)
        if len(came):
            self._content = np.concatenate((self._content, content[came]))
            self._identity = np.concatenate((self._identity, np.delete(identity, of_new)))
            self.stream({name: column[came] for name, column in columns.items()})
        self.sent_rows += len(slots) + len(came)

    def _patch(
        self,
        columns: Columns,
        slots: npt.NDArray[np.intp],
        rows: npt.NDArray[np.intp],
        hidden: npt.NDArray[np.intp],
    ) -> None:
        """Change the page's rows and ours: `ColumnDataSource.patch` takes three times as long."""
        patches: dict[str, list[tuple[int, float]]] = {}
        model = self.model
        data: Columns = model.data  # type: ignore[assignment]  # arrays alone are put here
        for name, column in columns.items():
            kept, wanted = data[name], column[rows]
            differs = np.flatnonzero(kept[slots] != wanted)
            if differs.size:
                wanted, changed = wanted[differs], slots[differs]
                patches[name] = list(zip(changed.tolist(), _short(wanted), strict=True))
                kept[changed] = wanted
        if hidden.size:
            patches.setdefault("left", []).extend((slot, np.nan) for slot in hidden.tolist())
            data["left"][hidden] = np.nan
        if patches:
            if model.document is not None:
                hint = ColumnsPatchedEvent(model.document, model, "data", patches)
                model.trigger("data", data, data, hint=hint)
            self.sent_bytes += PATCH_BYTES * sum(len(patch) for patch in patches.values())


def _shared(some: Hashes, others: Hashes) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Return which of some values are others, and which of the others are some of them."""
    some_order, other_order = np.argsort(some), np.argsort(others)
    # A search for ascending values goes on where it was: less than half of the time.
    ordered, other_ordered = some[some_order], others[other_order]
    return (
        _found(ordered, other_ordered, some_order),
        _found(other_ordered, ordered, other_order),
    )


def _found(sought: Hashes, ordered: Hashes, order: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
    """Return which values are among ``ordered``, in the order that ``sought`` was taken from."""
    found = np.zeros(len(sought), dtype=np.bool_)
    if len(ordered):
        at = np.searchsorted(ordered, sought)
        at[at == len(ordered)] = 0
        found[order] = ordered[at] == sought
    return found


def row_hashes(columns: Columns, names: list[str] | tuple[str, ...]) -> Hashes:
    """Return a number for each row that tells rows with different content apart; never 0."""
    hashes: Hashes = np.zeros(len(columns[names[0]]), dtype=np.uint64)
    for name in names:
        bits = _bits(columns[name])
        if name in ROUNDED:
            bits >>= np.uint64(6)
        hashes = (hashes ^ bits) * _MIX
        hashes ^= hashes >> np.uint64(29)
    return hashes | np.uint64(1)


def _bits(column: npt.NDArray[Any]) -> Hashes:  # of any number
    if column.dtype.kind == "f":
        column = np.ascontiguousarray(column).view(f"u{column.dtype.itemsize}")
    return column.astype(np.uint64)


def _short(column: npt.NDArray[Any]) -> list[Any]:  # of any number
    """Return numbers as short as they can be written without becoming others."""
    if column.dtype != np.float32:
        return list(column.tolist())
    short = column.astype(np.float64)
    magnitude = np.floor(np.log10(np.maximum(np.abs(short), 1e-12)))
    for digits in (9, 8, 7):  # the fewest that will do are written last
        scale = 10.0 ** np.maximum(digits - 1 - magnitude, 0)
        rounded = np.rint(short * scale) / scale
        is_same = rounded.astype(np.float32) == column
        short[is_same] = rounded[is_same]
    return list(short.tolist())
