"""The collector's answers, checked and made into `records.Batch`; keeps the cursors.

Must not talk to anybody.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypedDict

import numpy as np

from dask_diag_lab.records import (
    ACTIONS,
    GROUPS,
    PREFIXES,
    RUNNING,
    STATES,
    THRESHOLDS,
    WORKERS,
    ActionColumns,
    Batch,
    Column,
    GraphChange,
    SchedulerInfo,
)
from dask_diag_lab.transport import wire
from dask_diag_lab.transport.decode_extras import extra_changes

ROW: Final = np.dtype([(column.name, column.dtype) for column in ACTIONS])
"""The packed row of `collector.actions.ROW`."""

Rows = Sequence[Mapping[str, Any]]  # rows of tables with columns of several types


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
        self._names: dict[str, set[str]] = {"prefixes": set(), "groups": set(), "workers": set()}

    def decode(self, answer: Any) -> tuple[Batch, Callable[[], None]]:  # what a peer sent
        """Return the batch and a function that moves the cursors past it.

        Call that function once the batch has been taken over: until then the same rows can be
        pulled again.

        Raises
        ------
        wire.WireError
            Naming the field that is wrong or missing.
        """
        answer = wire.mapping(answer, "answer")
        epoch = wire.text(wire.member(answer, "epoch"), "epoch")
        cursors = wire.mapping(wire.member(answer, "cursors"), "cursors")
        cursors = {name: wire.whole(cursor, f"cursors.{name}") for name, cursor in cursors.items()}
        if epoch == self.epoch:  # those of extras that were not wanted this time stay
            cursors = {**self.cursors, **cursors}
        names = self._names if epoch == self.epoch else {table: set() for table in self._names}
        batch, names, is_more = _batch(answer, epoch, names)

        def accept() -> None:
            self.epoch, self.cursors, self._names = epoch, cursors, names
            self.is_more = is_more

        return batch, accept


def _batch(
    answer: Mapping[str, Any],
    epoch: str,
    names: Mapping[str, set[str]],
) -> tuple[Batch, dict[str, set[str]], bool]:
    member = wire.member
    strings_from = wire.whole(member(answer, "strings_from"), "strings_from")
    strings = wire.texts(member(answer, "strings"), "strings")
    n_strings = strings_from + len(strings)
    actions, is_more = _log(member(answer, "actions"), n_strings)
    prefixes, gone_prefixes, all_prefixes = _changes(answer, "prefixes", PREFIXES, names)
    groups, gone_groups, all_groups = _changes(answer, "groups", GROUPS, names)
    workers, gone_workers, all_workers = _changes(answer, "workers", WORKERS, names)
    batch = Batch(
        epoch=epoch,
        time=wire.number(member(answer, "time"), "time"),
        received=time.time(),
        scheduler=_scheduler(member(answer, "scheduler")),
        strings_from=strings_from,
        strings=strings,
        **actions,
        began=wire.number(member(answer, "began"), "began"),
        running=_running(member(answer, "running"), n_strings),
        prefixes=prefixes,
        removed_prefixes=gone_prefixes,
        groups=groups,
        removed_groups=gone_groups,
        workers=workers,
        removed_workers=gone_workers,
        nthreads=_nthreads(member(answer, "nthreads")),
        graph=_graph(member(answer, "graph")),
        events=_events(member(answer, "events")),
        extras=extra_changes(member(answer, "extras")),
        left_out=_left_out(member(answer, "left_out")),
        cost_s=wire.number(member(answer, "cost_s"), "cost_s"),
    )
    known = {"prefixes": all_prefixes, "groups": all_groups, "workers": all_workers}
    return batch, known, is_more


class _Log(TypedDict):
    """The fields of a batch that tell of actions."""

    actions: ActionColumns | None
    actions_to: int
    actions_dropped: int
    keys_from: int
    keys: Sequence[str]


def _log(value: Any, n_strings: int) -> tuple[_Log, bool]:  # from here on: Any is what a peer sent
    """Return what the answer tells of actions, and whether more of them wait to be pulled."""
    rows, cursor, dropped, first, texts, is_more = wire.items(value, "actions", 6)
    keys_from, keys = wire.whole(first, "actions.keys_from"), wire.texts(texts, "actions.keys")
    return {
        "actions": _actions(rows, n_strings, keys_from + len(keys)),
        "actions_to": wire.whole(cursor, "actions.cursor"),
        "actions_dropped": wire.whole(dropped, "actions.dropped"),
        "keys_from": keys_from,
        "keys": keys,
    }, wire.flag(is_more, "actions.is_more")


def _scheduler(value: Any) -> SchedulerInfo:
    info = wire.mapping(value, "scheduler")
    shares = wire.mapping(wire.member(info, "thresholds"), "scheduler.thresholds")
    return SchedulerInfo(
        id=wire.text(wire.member(info, "id"), "scheduler.id"),
        address=wire.text(wire.member(info, "address"), "scheduler.address"),
        started=wire.number(wire.member(info, "started"), "scheduler.started"),
        n_workers=wire.whole(wire.member(info, "n_workers"), "scheduler.n_workers"),
        nthreads=wire.whole(wire.member(info, "nthreads"), "scheduler.nthreads"),
        memory_limit=wire.whole(wire.member(info, "memory_limit"), "scheduler.memory_limit"),
        thresholds={
            name: wire.positive_share(shares.get(name), f"scheduler.thresholds.{name}")
            for name in THRESHOLDS
        },
        n_erred=wire.whole(wire.member(info, "n_erred"), "scheduler.n_erred"),
    )


def _actions(value: Any, n_strings: int, n_tasks: int) -> ActionColumns | None:
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise wire.fail("actions.rows", "bytes", value)
    if len(value) % ROW.itemsize:
        raise wire.WireError(f"field 'actions.rows': {len(value)} bytes are no whole rows")
    if not value:
        return None
    rows = np.frombuffer(value, dtype=ROW)
    for name in ("worker", "source", "prefix"):
        if int(rows[name].max()) >= n_strings:
            raise wire.WireError(f"field 'actions.{name}': an id without a string")
    if int(rows["task"].max()) >= n_tasks:
        raise wire.WireError("field 'actions.task': a task without a key")
    return {column.name: np.ascontiguousarray(rows[column.name]) for column in ACTIONS}


def _changes(
    answer: Mapping[str, Any],
    table: str,
    columns: Sequence[Column],
    known_by_table: Mapping[str, set[str]],
) -> tuple[Rows | None, tuple[str, ...], set[str]]:
    """Return changed rows, names that went, and all names known after that."""
    value, known = wire.member(answer, table), known_by_table[table]
    if value is None:
        return None, (), known
    is_full, sent, removed = wire.items(value, table, 3)
    rows = [_row(row, table, columns) for row in wire.items(sent, table)]
    names = {row[columns[0].name] for row in rows}
    gone = wire.texts(removed, f"{table}.removed")
    if wire.flag(is_full, f"{table}.is_full"):
        return rows, tuple(sorted(known - names)), names
    return rows, gone, (known - set(gone)) | names


def _row(value: Any, table: str, columns: Sequence[Column]) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for column, item in zip(columns, wire.items(value, table, len(columns)), strict=True):
        field = f"{table}.{column.name}"
        if column.name == "states":
            counts = wire.items(item, field, len(STATES))
            row[column.name] = [wire.whole(count, field) for count in counts]
        elif column.name == "metrics":
            pairs = [wire.items(pair, field, 2) for pair in wire.items(item, field)]
            row[column.name] = {wire.text(name, field): metric for name, metric in pairs}
        elif column.name == "dependencies":
            row[column.name] = wire.texts(item, field)
        elif column.dtype == "O":
            row[column.name] = wire.text(item, field)
        else:
            row[column.name] = wire.cell(item, column, field)
    return row


def _running(value: Any, n_strings: int) -> Sequence[tuple[str, int, int, float]] | None:
    if value is None:
        return None
    rows = []
    for item in wire.items(value, "running"):
        key, worker, prefix, start = wire.items(item, "running", len(RUNNING))
        if not max(wire.whole(worker, "running.worker"), wire.whole(prefix, "running.prefix")) < (
            n_strings
        ):
            raise wire.WireError("field 'running': an id without a string")
        rows.append((wire.text(key, "running.key"), worker, prefix, wire.number(start, "running")))
    return rows


def _nthreads(value: Any) -> Sequence[tuple[float, int]]:
    pairs = [wire.items(pair, "nthreads", 2) for pair in wire.items(value, "nthreads")]
    return [(wire.number(at, "nthreads"), wire.whole(n, "nthreads")) for at, n in pairs]


def _graph(value: Any) -> GraphChange | None:
    if value is None:
        return None
    parts = wire.items(value, "graph", 8)
    is_snapshot, is_exact, total, limit, added, states, removed, is_followed = parts
    return GraphChange(
        is_snapshot=wire.flag(is_snapshot, "graph.is_snapshot"),
        is_exact=wire.flag(is_exact, "graph.is_exact"),
        total=wire.whole(total, "graph.total"),
        limit=wire.whole(limit, "graph.limit"),
        added=[_node(node) for node in wire.items(added, "graph.added")],
        states=[_node_state(pair) for pair in wire.items(states, "graph.states")],
        removed=[wire.whole(n, "graph.removed") for n in wire.items(removed, "graph.removed")],
        is_followed=wire.flag(is_followed, "graph.is_followed"),
    )


def _node(value: Any) -> tuple[int, str, str, str, Sequence[int]]:
    node, key, prefix, group, dependencies = wire.items(value, "graph.added", 5)
    return (
        wire.whole(node, "graph.added.node"),
        wire.text(key, "graph.added.key"),
        wire.text(prefix, "graph.added.prefix"),
        wire.text(group, "graph.added.group"),
        [wire.whole(n, "graph.added.dependencies") for n in wire.items(dependencies, "graph")],
    )


def _node_state(value: Any) -> tuple[int, int]:
    node, state = wire.items(value, "graph.states", 2)
    if not 0 <= wire.whole(state, "graph.states") < len(STATES):
        raise wire.fail("graph.states", "an index of a state", state)
    return wire.whole(node, "graph.states"), state


def _left_out(value: Any) -> dict[str, int]:
    counts = wire.mapping(value, "left_out")
    return {name: wire.whole(count, f"left_out.{name}") for name, count in counts.items()}


def _events(value: Any) -> Sequence[tuple[float, str, Mapping[str, Any]]]:
    events = []
    for item in wire.items(value, "events"):
        at, kind, detail = wire.items(item, "events", 3)
        pairs = [wire.items(pair, "events", 2) for pair in wire.items(detail, "events")]
        plain = {wire.text(name, "events"): thing for name, thing in pairs}
        events.append((wire.number(at, "events.time"), wire.text(kind, "events.kind"), plain))
    return events
