"""Live tables as the collector sent them: rows with names, updated row by row, and the extras."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import nan
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.schema import STATES, Change, GraphChange
from dask_diag_lab.schema.columns import arrays, empty
from dask_diag_lab.schema.tables import NODE_STATES, NODES, PREFIXES, TableSchema
from dask_diag_lab.store.arrays import Ints, Row, frozen

Cells = list[Any] | npt.NDArray[Any]  # the column decides


class NamedTable:
    """Rows found by their first column, in order of appearance; each column is an attribute.

    Columns of numbers are read-only arrays, those of text, tuples and mappings are lists: both of
    length n, one for each row.

    Attributes
    ----------
    version : int
        Moves with every change.
    """

    SAVED = ("_columns",)

    def __init__(self, table: TableSchema) -> None:
        self.version = 0
        self._table = table
        self._key = table.columns[0].name
        self._columns = empty(table)
        self._index: dict[str, int] = {}
        self._shown: dict[str, Cells] = {}
        self._shown_version: object = None

    def restored(self) -> None:
        """Find the rows by their names again."""
        self._index = {name: i for i, name in enumerate(self._columns[self._key].tolist())}
        self.version += 1

    def __len__(self) -> int:
        return len(self._index)

    def __contains__(self, name: object) -> bool:
        return name in self._index

    def __getattr__(self, name: str) -> Any:  # the declaration of the column decides
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self.column(name)
        except KeyError:
            raise AttributeError(f"the table {self._table.name!r} has no {name!r}") from None

    @property
    def names(self) -> list[str]:
        """Names of the rows, in the order of this table."""
        return list(self.column(self._key))

    def column(self, name: str) -> Cells:
        """Return a column by name, in the order of this table; KeyError when there is none."""
        if self._shown_version != (version := self._order_version()):
            self._shown, self._shown_version = {}, version
        if name not in self._shown:
            column = self._columns[name]
            order = self._order()
            ordered = column if order is None else column[order]
            is_object = column.dtype == object
            self._shown[name] = ordered.tolist() if is_object else frozen(ordered.copy())
        return self._shown[name]

    def row(self, name: str) -> Row | None:
        """Return a row, None where there is none of that name."""
        at = self._index.get(name)
        if at is None:
            return None
        return {
            column: values[at].tolist() if values.dtype != object else values[at]
            for column, values in self._columns.items()
        }

    def update(self, change: Change) -> None:
        """Take over rows that are new or changed, and forget those that went."""
        new = change.columns
        names: list[str] = new[self._key].tolist()
        gone = self._index.keys() - set(names) if change.is_full else change.removed
        is_changed = self._remove([name for name in gone if name in self._index])
        n = len(self._index)
        added = [name for name in dict.fromkeys(names) if name not in self._index]
        self._index.update((name, n + i) for i, name in enumerate(added))
        rows = [self._index[name] for name in names]
        if added or not all(_same(self._columns[c][rows], values) for c, values in new.items()):
            is_changed = True
            for name, column in self._columns.items():
                grown = np.empty((n + len(added), *column.shape[1:]), dtype=column.dtype)
                grown[:n] = column
                grown[rows] = new[name]
                self._columns[name] = grown
        self.version += is_changed

    def clear(self) -> None:
        """Forget all rows."""
        self.update(Change(empty(self._table), is_full=True))

    def _order(self) -> npt.NDArray[np.int64] | None:
        """Return the row of each one shown; None as they came."""
        return None

    def _order_version(self) -> object:
        """Return what moves when rows or their order changed."""
        return self.version

    def _remove(self, names: Sequence[str]) -> bool:
        if not names:
            return False
        is_kept = np.ones(len(self._index), dtype=bool)
        is_kept[[self._index[name] for name in names]] = False
        self._columns = {name: column[is_kept] for name, column in self._columns.items()}
        self._index = {name: i for i, name in enumerate(self._columns[self._key].tolist())}
        return True


def _same(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> bool:
    """Tell whether two columns are equal, NaN being equal to NaN."""
    return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")


MAX_NEEDS: Final = 5_000
"""Tasks whose dependencies stay known, of each `MAX_NEEDED`."""
MAX_NEEDED: Final = 32
UNFINISHED: Final = [STATES.index(s) for s in ("waiting", "no-worker", "queued", "processing")]


class GraphTable(NamedTable):
    """Rows that depend on each other, in order of their appearance: groups, and single tasks.

    Attributes
    ----------
    structure_version : int
        Moves when rows came or went or their dependencies changed.
    """

    def __init__(self, table: TableSchema) -> None:
        super().__init__(table)
        self.structure_version = 0

    def update(self, change: Change) -> None:
        before = (self.names, self.dependencies)
        super().update(change)
        self.structure_version += before != (self.names, self.dependencies)


class TaskGraph:
    """The task graph as far as the collector follows it; lays nothing out.

    Attributes
    ----------
    is_followed : bool
        Whether anything is known: the scheduler follows single tasks only while somebody looks
        at a plot that needs them, or wishes for them (`schema.tables.GRAPH`), so at first there is
        nothing here.
    is_exact : bool
        False when the cluster has more tasks than ``limit``: then there are no nodes.
    total, limit : int
        Tasks of the scheduler, and how many are followed one by one.
    nodes : GraphTable
        The tasks: the columns of `NODES` are attributes.
    """

    SAVED = ("is_followed", "is_exact", "total", "limit", "nodes", "_states", "_needs_text")

    def __init__(self) -> None:
        self._needs: dict[str, list[str]] = {}  # by key, also of tasks that are forgotten
        self.is_followed, self.is_exact, self.total, self.limit = False, True, 0, 0
        self.nodes, self._states = GraphTable(NODES), NamedTable(NODE_STATES)
        self._n_changes = 0

    @property
    def _needs_text(self) -> str:
        """As one text, it is in a file in a tenth of the time."""
        return json.dumps(self._needs)

    @_needs_text.setter
    def _needs_text(self, text: str) -> None:
        self._needs = dict(json.loads(text))

    @property
    def version(self) -> int:
        """Moves with any change."""
        return self._n_changes + self.nodes.version + self._states.version

    @property
    def state(self) -> Ints:
        """Index into `STATES` of each node."""
        state = dict(zip(self._states.names, self._states.state.tolist(), strict=True))
        return np.array([state.get(key, 0) for key in self.nodes.names], dtype=np.int64)

    @property
    def edges(self) -> Ints:
        """Pairs of node indices, shape (m, 2): the first is needed by the second."""
        at = {key: index for index, key in enumerate(self.nodes.names)}
        needs = enumerate(self.nodes.dependencies)
        pairs = [(at[one], index) for index, needed in needs for one in needed if one in at]
        return np.array(pairs, dtype=np.int64).reshape(-1, 2)

    def kin_of(self, key: str) -> dict[str, list[dict[str, str]]]:
        """Return what a task needed and what needed it, as the scheduler would; {} if unknown."""
        if key not in self._needs:
            return {}
        dependents = [one for one, needed in self._needs.items() if key in needed]
        kin = {"dependencies": self._needs[key], "dependents": dependents}
        return {name: [{"key": one} for one in keys] for name, keys in kin.items()}

    def update(self, change: GraphChange) -> None:
        """Apply what changed since the last batch."""
        facts = (True, change.is_exact, change.total, change.limit)
        self._n_changes += facts != (self.is_followed, self.is_exact, self.total, self.limit)
        self.is_followed, self.is_exact, self.total, self.limit = facts
        if change.nodes is not None:
            names, needed = (change.nodes.columns[n].tolist() for n in ("key", "dependencies"))
            few = (keys[:MAX_NEEDED] for keys in needed)
            self._needs.update(zip(names, few, strict=True))
            for one in list(self._needs)[:-MAX_NEEDS]:
                del self._needs[one]
        for table, its in ((self.nodes, change.nodes), (self._states, change.states)):
            if its is not None:
                table.update(its)

    def clear(self) -> None:
        """Forget the graph of a scheduler that is gone."""
        self._n_changes += self.is_followed
        self.is_followed, self.is_exact, self.total = False, True, 0
        self.nodes.clear()
        self._states.clear()


class PrefixTable(NamedTable):
    """Prefixes with tasks that have not ended, then the others; most tasks first in both.

    The columns of `PREFIXES` are attributes. Tasks that were done and then forgotten stay counted.
    """

    def __init__(self) -> None:
        super().__init__(PREFIXES)

    def _order(self) -> Ints:
        states = self._columns["states"]
        is_done = ~states[:, UNFINISHED].any(axis=1)
        return np.lexsort((-states.sum(axis=1), is_done))


ExtraColumn = npt.NDArray[Any]  # dtypes differ; text and tuples are object arrays


class ExtraTable:
    """One extra table, as columns of equal length.

    Attributes
    ----------
    version : int
        Moves when the content changed.
    is_known : bool
        Whether anything arrived yet; a table may well be known and empty.
    updated_at : float
        Scheduler's clock when the content was as it is here, NaN before. Nothing is sent while
        nobody looks, so that may be long ago.
    columns : mapping of str to ndarray
        By the names of the table; dtype object for text and tuples.
    dropped : int
        Rows of a log that were lost, here or on the scheduler; of another table, rows that are
        not here because there are too many.
    """

    SAVED = ("is_known", "updated_at", "dropped", "columns")

    def __init__(self, table: TableSchema) -> None:
        self.table = table
        self._is_log = table.sent == "log"
        self.version = 0
        self.is_known = False
        self.updated_at = nan
        self.dropped = 0
        self.columns: dict[str, ExtraColumn] = empty(table)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __getitem__(self, name: str) -> ExtraColumn:
        return self.columns[name]

    def apply(self, change: Change, time: float) -> None:
        """Append the rows of a log, or replace those of another table; ``time`` as `updated_at`."""
        new = arrays(self.table, change.columns)
        self.dropped = change.dropped + (self.dropped if self._is_log else 0)
        if self._is_log and self.is_known:
            before = self.columns
            new = {name: np.concatenate([before[name], new[name]]) for name in before}
        n = len(next(iter(new.values())))
        if n > self.table.max_rows:
            self.dropped += n - self.table.max_rows
            new = {name: column[-self.table.max_rows :] for name, column in new.items()}
        self.columns = new
        self.updated_at = time
        self.is_known = True
        self.version += 1

    def clear(self) -> None:
        """Forget all rows: they belong to a collector that is gone."""
        if self.is_known:
            self.columns = empty(self.table)
            self.is_known = False
            self.updated_at = nan
            self.dropped = 0
            self.version += 1
