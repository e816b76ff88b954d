"""The collector's answers, checked and made into `schema.Batch`; keeps the cursors.

Must not talk to anybody.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from dask_diag_lab.schema import (
    ACTIONS,
    NODE_STATES,
    NODES,
    STATES,
    TABLES,
    THRESHOLDS,
    Batch,
    Change,
    GraphChange,
    Kind,
    Outcome,
    SchedulerInfo,
)
from dask_diag_lab.schema.columns import Columns, WireError, decoded, wire_error

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
        if epoch == self.epoch:  # those of extras that were not wanted this time stay
            cursors = {**self.cursors, **cursors}
        batch = _batch(answer, epoch)
        self._next = epoch, cursors, member(answer, "is_more", bool)
        return batch

    def accept(self) -> None:
        """Move the cursors past the last batch: until then the same rows can be pulled again."""
        self.epoch, self.cursors, self.is_more = self._next


def member(parent: Any, name: str, kind: type) -> Any:  # what a peer sent
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
        raise wire_error(name, kind.__name__, value)
    return value


def members(parent: Any, **kinds: type) -> dict[str, Any]:  # what a peer sent
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


def _batch(answer: Mapping[str, Any], epoch: str) -> Batch:
    strings_from, strings = _texts(answer, "strings")
    keys_from, keys = _texts(answer, "keys")
    actions, n_dropped = _pair(answer, "actions")
    tables = {
        name: _change(name, change)
        for name, change in member(answer, "tables", dict).items()
        if name in TABLES
    }
    columns = _actions(actions, strings_from + len(strings), keys_from + len(keys))
    tables["actions"] = Change(columns, whole(n_dropped, "actions.dropped"))
    return Batch(
        epoch=epoch,
        received=time.time(),
        scheduler=_scheduler(member(answer, "scheduler", dict)),
        strings_from=strings_from,
        strings=strings,
        actions_to=member(answer["cursors"], "actions", int),
        keys_from=keys_from,
        keys=keys,
        graph=_graph(
            answer.get("graph"), tables.pop(NODES.name, None), tables.pop(NODE_STATES.name, None)
        ),
        tables=tables,
        left_out=numbers(answer, "left_out"),
        **members(answer, time=float, began=float, cost_s=float),
    )


def _pair(answer: Mapping[str, Any], name: str) -> tuple[Any, Any]:  # what a peer sent
    pair = member(answer, name, list)
    if len(pair) != 2:
        raise wire_error(name, "a pair", pair)
    return pair[0], pair[1]


def _texts(answer: Mapping[str, Any], name: str) -> tuple[int, Sequence[str]]:
    first, texts = _pair(answer, name)
    if not isinstance(texts, (list, tuple)) or not all(type(text) is str for text in texts):
        raise wire_error(name, "texts", texts)
    return whole(first, name), texts


def _change(name: str, value: Any) -> Change:  # what a peer sent
    removed = member(value, "removed", list)
    if not all(type(text) is str for text in removed):
        raise wire_error(f"{name}.removed", "texts", removed)
    return Change(
        columns=decoded(TABLES[name], member(value, "columns", dict)),
        dropped=member(value, "dropped", int),
        removed=removed,
        is_full=member(value, "is_full", bool),
    )


def _scheduler(info: Mapping[str, Any]) -> SchedulerInfo:
    shares = member(info, "thresholds", dict)
    counts = members(info, n_workers=int, nthreads=int, memory_limit=int, n_erred=int)
    return SchedulerInfo(
        **members(info, id=str, address=str, started=float),
        **counts,
        thresholds={name: _share(shares.get(name)) for name in THRESHOLDS},
    )


def _share(value: Any) -> float | None:  # what a peer sent
    if value is None or (isinstance(value, (int, float)) and 0 < value < np.inf):
        return value
    raise wire_error("scheduler.thresholds", "a share of the limit", value)


def _actions(value: Any, n_strings: int, n_tasks: int) -> Columns:  # what a peer sent
    """Return packed rows as columns, ``stop`` never before ``start``."""
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise wire_error("actions", "bytes", value)
    if len(value) % ROW.itemsize:
        raise WireError(f"field 'actions': {len(value)} bytes are no whole rows")
    rows = np.frombuffer(value, dtype=ROW)
    limits = {
        "kind": len(Kind),
        "outcome": int(Outcome.RUNNING),
        "worker": n_strings,
        "source": n_strings,
        "prefix": n_strings,
        "task": n_tasks,
    }
    for name, limit in limits.items():
        if len(rows) and not 0 <= int(rows[name].min()) <= int(rows[name].max()) < limit:
            raise WireError(f"field 'actions.{name}': a number beyond {limit - 1}")
    columns = {column.name: np.ascontiguousarray(rows[column.name]) for column in ACTIONS.columns}
    if not (np.isfinite(columns["start"]).all() and np.isfinite(columns["stop"]).all()):
        raise WireError("field 'actions': a time that is not finite")
    # A worker's clock that was set back makes a task end before it began.
    columns["stop"] = np.maximum(columns["start"], columns["stop"])
    columns["nbytes"] = np.maximum(columns["nbytes"], -1)
    return columns


def _graph(info: Any, nodes: Change | None, states: Change | None) -> GraphChange | None:
    """Return what changed in the graph; ``info`` is what a peer sent, None: not wanted."""
    if info is None:
        return None
    changed = _rows(states)
    if not all(0 <= state < len(STATES) for _, state in changed):
        raise WireError("field 'node-states': no such state")
    removed = nodes.removed if nodes is not None else ()
    if not all(name.isdecimal() for name in removed):
        raise wire_error("nodes.removed", "numbers", removed)
    return GraphChange(
        is_snapshot=nodes is not None and nodes.is_full,
        added=sorted(_rows(nodes)),
        states=changed,
        removed=[int(name) for name in removed],
        **members(info, is_exact=bool, total=int, limit=int),
    )


def _rows(change: Change | None) -> list[Any]:  # tuples, by table
    if change is None:
        return []
    return list(zip(*(column.tolist() for column in change.columns.values()), strict=True))
