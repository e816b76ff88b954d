"""The collector's answers, checked and made into `schema.Batch`; keeps the cursors.

Must not talk to anybody.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from types import UnionType
from typing import Any, Final

import numpy as np

from dask_diag_lab.schema import STATES, Batch, Change, GraphChange, Kind, Outcome, SchedulerInfo
from dask_diag_lab.schema.columns import Columns, WireError, decoded, wire_error
from dask_diag_lab.schema.tables import ACTIONS, NODE_STATES, NODES, TABLES, THRESHOLDS

ROW: Final = np.dtype([(column.name, column.dtype) for column in ACTIONS.columns])
INT64: Final = 2**63


class Decoder:
    """Turns one collector's answers into batches.

    Attributes
    ----------
    epoch : str
        The collector that the cursors belong to; '' before the first answer.
    cursors : dict of str to int
        To be sent with the next pull.
    is_more : bool
        The last answer was cut: pull again at once.
    """

    def __init__(self) -> None:
        self.epoch = ""
        self.cursors: dict[str, int] = {}
        self.is_more = False
        self._next: tuple[str, dict[str, int], bool] = "", {}, False

    def decode(self, answer: Any) -> Batch:  # what a peer sent
        """Return the batch; `accept` it once it has been taken over.

        Raises
        ------
        WireError
            Naming the field that is wrong or missing.
        """
        epoch, cursors = member(answer, "epoch", str), numbers(answer, "cursors")
        tables = {
            name: Change(
                columns=decoded(TABLES[name], member(change, "rows", list)),
                removed=texts(change, "removed"),
                **members(change, dropped=int, is_full=bool),
            )
            for name, change in member(answer, "tables", dict).items()
            if name in TABLES
        }
        nodes, states = (tables.pop(table.name, None) for table in (NODES, NODE_STATES))
        given = members(answer, strings_from=int, keys_from=int, time=float, began=float)
        given |= {name: texts(answer, name) for name in ("strings", "keys")}
        n_strings = given["strings_from"] + len(given["strings"])
        n_tasks = given["keys_from"] + len(given["keys"])
        if (running := tables.get("running")) is not None:
            _check_below(running.columns, "running", {"worker": n_strings, "prefix": n_strings})
        columns = _actions(answer.get("actions"), n_strings, n_tasks)
        tables["actions"] = Change(columns, member(answer, "dropped", int))
        batch = Batch(
            epoch=epoch,
            received=time.time(),
            scheduler=_scheduler(member(answer, "scheduler", dict)),
            actions_to=member(answer["cursors"], "actions", int),
            graph=_graph(answer.get("graph"), nodes, states),
            tables=tables,
            left_out=numbers(answer, "left_out"),
            failed=_failed(answer),
            details=[_detail(pair) for pair in member(answer, "details", list)],
            **given,
        )
        if epoch == self.epoch:  # those of extras that were not wanted this time stay
            cursors = {**self.cursors, **cursors}
        self._next = epoch, cursors, member(answer, "is_more", bool)
        return batch

    def accept(self, names: Collection[str] | None = None) -> None:
        """Move the cursors past the last batch, or those of some of its tables.

        Until then the same rows can be pulled again.
        """
        self.epoch, cursors, self.is_more = self._next
        moved = {n: at for n, at in cursors.items() if names is None or n in names}
        self.cursors = moved if names is None else self.cursors | moved


def member(parent: Any, name: str, kind: type | UnionType) -> Any:  # what a peer sent
    """Return a field that must be there and of a type; unknown others are allowed."""
    if not isinstance(parent, Mapping):
        raise wire_error("answer", "a mapping", parent)
    if name not in parent:
        raise WireError(f"field {name!r} is missing")
    value = parent[name]
    if kind is float and type(value) is int:
        return float(value)
    if kind is list and isinstance(value, tuple):
        return value
    if kind is int:
        return whole(value, name)
    if not isinstance(value, kind):
        raise wire_error(name, getattr(kind, "__name__", str(kind)), value)
    return value


def members(parent: Any, **kinds: type | UnionType) -> dict[str, Any]:  # what a peer sent
    """Return several fields by name."""
    return {name: member(parent, name, kind) for name, kind in kinds.items()}


def whole(value: Any, field: str) -> int:  # what a peer sent
    """Return a whole number that fits 64 bits."""
    if type(value) is not int or not -INT64 <= value < INT64:
        raise wire_error(field, "a whole number", value)
    return value


def numbers(parent: Any, name: str) -> dict[str, int]:  # what a peer sent
    """Return a field that is a mapping to whole numbers."""
    given = member(parent, name, dict)
    return {key: whole(value, f"{name}.{key}") for key, value in given.items()}


def texts(parent: Any, name: str) -> Sequence[str]:  # what a peer sent
    """Return a field that is a list of text."""
    given: Sequence[str] = member(parent, name, list)
    if not all(type(text) is str for text in given):
        raise wire_error(name, "texts", given)
    return given


def _failed(answer: Mapping[str, Any]) -> dict[str, str]:
    failed: dict[str, str] = member(answer, "failed", dict)
    if not all(type(name) is str and type(why) is str for name, why in failed.items()):
        raise wire_error("failed", "texts by table", failed)
    return failed


def _scheduler(info: Mapping[str, Any]) -> SchedulerInfo:
    shares = member(info, "thresholds", dict)
    return SchedulerInfo(
        **members(info, id=str, address=str, n_workers=int, nthreads=int, n_erred=int),
        thresholds=members(shares, **dict.fromkeys(THRESHOLDS, float | None)),
    )


def _detail(pair: Any) -> tuple[int, bytes]:  # what a peer sent
    if not isinstance(pair, (list, tuple)) or list(map(type, pair)) != [int, bytes]:
        raise wire_error("details", "a number and bytes", pair)
    return whole(pair[0], "details"), pair[1]


def _actions(value: Any, n_strings: int, n_tasks: int) -> Columns:  # what a peer sent
    """Return packed rows as columns, ``stop`` never before ``start``."""
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise wire_error("actions", "bytes", value)
    if len(value) % ROW.itemsize:
        raise WireError(f"field 'actions': {len(value)} bytes are no whole rows")
    rows = np.frombuffer(value, dtype=ROW)
    limits = dict.fromkeys(("worker", "source", "prefix", "type"), n_strings)
    limits |= {"kind": len(Kind), "outcome": int(Outcome.RUNNING), "task": n_tasks}
    columns = {column.name: np.ascontiguousarray(rows[column.name]) for column in ACTIONS.columns}
    _check_below(columns, "actions", limits)
    if not (np.isfinite(columns["start"]).all() and np.isfinite(columns["stop"]).all()):
        raise WireError("field 'actions': a time that is not finite")
    # A worker's clock that was set back makes a task end before it began.
    columns["stop"] = np.maximum(columns["start"], columns["stop"])
    columns["nbytes"] = np.maximum(columns["nbytes"], -1)
    return columns


def _check_below(columns: Columns, table: str, limits: Mapping[str, int]) -> None:
    """Refuse numbers of strings, tasks and kinds that there are not."""
    for name, limit in limits.items():
        column = columns[name]
        if len(column) and not 0 <= int(column.min()) <= int(column.max()) < limit:
            raise WireError(f"field '{table}.{name}': a number beyond {limit - 1}")


def _graph(info: Any, nodes: Change | None, states: Change | None) -> GraphChange | None:
    """Return what changed in the graph; ``info`` is what a peer sent, None: not wanted."""
    if info is None:
        return None
    if states is not None:
        _check_below(states.columns, "node-states", {"state": len(STATES)})
    facts = members(info, is_exact=bool, total=int, limit=int)
    return GraphChange(nodes=nodes, states=states, **facts)
