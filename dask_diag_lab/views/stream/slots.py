"""A column source of many rows of which few change at a time: only those are sent.

A row that changed is patched where it is, a new one is appended, one that went is made to draw
nothing; after many of these all rows are sent afresh.
"""

from __future__ import annotations

from dataclasses import dataclass, field
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
Rows = npt.NDArray[np.intp]


def _no_rows() -> Rows:
    return np.empty(0, dtype=np.intp)


@dataclass(frozen=True, slots=True)
class Change:
    """What makes one set of rows of a source another.

    Attributes
    ----------
    columns : dict of str to ndarray
        The rows that are wanted.
    content : ndarray of uint64
        `row_hashes` of them.
    is_whole : bool
        All are sent afresh; the rest is empty then.
    slots, rows : ndarray of int
        Rows of the source that become others, and which of those that are wanted.
    hidden : ndarray of int
        Rows of the source that went.
    came : ndarray of int
        Rows that are wanted and are appended.
    patches : dict of str to list of (int, float)
        What is sent of those that became others or went, by column.
    """

    columns: Columns
    content: Hashes
    is_whole: bool = False
    slots: Rows = field(default_factory=_no_rows)
    rows: Rows = field(default_factory=_no_rows)
    hidden: Rows = field(default_factory=_no_rows)
    came: Rows = field(default_factory=_no_rows)
    patches: dict[str, list[tuple[int, float]]] = field(default_factory=dict)


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

    def change_to(self, columns: Columns) -> Change | None:
        """Return what it takes to show these rows, None where they are shown.

        Any thread may ask; the answer is good as long as nothing else is made of this source.
        """
        if not len(columns["left"]) and not len(self._content):
            return None
        content = row_hashes(columns, list(columns))
        if {name: column.dtype for name, column in columns.items()} != self._types:
            return Change(columns, content, is_whole=True)
        is_old, is_there = _shared(content, self._content)
        is_gone = ~is_there & (self._content != 0)
        n_new, n_gone = int(np.count_nonzero(~is_old)), int(np.count_nonzero(is_gone))
        if not n_new and not n_gone:
            return None
        n = len(content)
        is_worn = 4 * (self._n_hidden + max(n_gone - n_new, 0)) > n
        if n_new * _FULL_SHARE >= n or is_worn:
            return Change(columns, content, is_whole=True)
        return self._differences(columns, content, np.flatnonzero(~is_old), np.flatnonzero(is_gone))

    def _differences(self, columns: Columns, content: Hashes, new: Rows, gone: Rows) -> Change:
        """Have rows patched that changed, those hidden that went, those appended that came."""
        identity = row_hashes({name: columns[name][new] for name in IDENTITY}, IDENTITY)
        _, of_gone, of_new = np.intersect1d(self._identity[gone], identity, return_indices=True)
        slots, rows = gone[of_gone], new[of_new]
        hidden, came = np.delete(gone, of_gone), np.delete(new, of_new)
        patches: dict[str, list[tuple[int, float]]] = {}
        data: Columns = self.model.data  # type: ignore[assignment]  # arrays alone are put here
        for name, column in columns.items():
            wanted = column[rows]
            differs = np.flatnonzero(data[name][slots] != wanted)
            if differs.size:
                changed = slots[differs].tolist()
                patches[name] = list(zip(changed, _short(wanted[differs]), strict=True))
        if hidden.size:
            patches.setdefault("left", []).extend((slot, np.nan) for slot in hidden.tolist())
        return Change(
            columns, content, slots=slots, rows=rows, hidden=hidden, came=came, patches=patches
        )

    def make(self, change: Change) -> None:
        """Send a change, which was asked for since the last one was made."""
        columns, content = change.columns, change.content
        if change.is_whole:
            self._content, self._identity = content, row_hashes(columns, IDENTITY)
            self._types = {name: column.dtype for name, column in columns.items()}
            self._n_hidden = 0
            self.sent_rows += len(content)
            self.set(columns)
            return
        self._content[change.slots] = content[change.rows]
        self._content[change.hidden] = 0
        self._identity[change.hidden] = 0
        self._n_hidden += len(change.hidden)
        self._patch(change)
        came = change.came
        if len(came):
            some = {name: column[came] for name, column in columns.items()}
            self._content = np.concatenate((self._content, content[came]))
            self._identity = np.concatenate((self._identity, row_hashes(some, IDENTITY)))
            self.stream(some)
        self.sent_rows += len(change.slots) + len(came)

    def _patch(self, change: Change) -> None:
        """Change the page's rows and ours: `ColumnDataSource.patch` takes three times as long."""
        patches, model = change.patches, self.model
        if not patches:
            return
        data: Columns = model.data  # type: ignore[assignment]  # as in `_differences`
        for name in patches:
            data[name][change.slots] = change.columns[name][change.rows]
        data["left"][change.hidden] = np.nan
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
