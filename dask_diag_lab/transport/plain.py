"""What a scheduler without the collector tells: the engine's own calls, made into batches.

Must not send anything to the scheduler but questions.
"""

from __future__ import annotations

import math
import time
import uuid
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

import numpy as np
from dask.utils import key_split

from dask_diag_lab.collector.actions import KINDS
from dask_diag_lab.collector.strings import Strings, key_text
from dask_diag_lab.collector.workers import flatten, process_of
from dask_diag_lab.records import (
    ACTIONS,
    STATES,
    Batch,
    ExtraChange,
    Kind,
    Outcome,
    SchedulerInfo,
)
from dask_diag_lab.transport import wire
from dask_diag_lab.transport.link import Link, RefusedError
from dask_diag_lab.transport.plain_extras import STEALING, PlainExtras
from dask_diag_lab.transport.source import Pulled

FIRST_TASKS: Final = 10_000
"""Ended tasks asked for at the first pull."""

MISSING: Final = (
    "running tasks, tasks killed with their worker, queued and forgotten counts, result sizes of "
    "prefixes, groups, the task graph, occupancy, events but those of workers, and of what only "
    "some plots need all but bandwidth and stealing"
)

LEFT_BEHIND: Final = (
    "The scheduler records ended tasks by its own task stream for this, and goes on with it."
)
"""Asking for the task stream begins it where it was not there, and nothing tells whether it was:
taking it away again could take it from an open dashboard."""

CALLS: Final = {
    "identity": "workers",
    "get_task_prefix_states": "task counts",
    "get_task_stream": "ended tasks",
    "events": "stealing",
}
"""The engine's calls used, and what is missing where one is blocked."""


class PlainSource:
    """Batches of less content, for schedulers that cannot have a collector.

    Attributes
    ----------
    degraded : str
        Why, and what is missing, in words for the user.
    """

    is_more = False

    def __init__(self, link: Link, address: str, reason: str, *, timeout_s: float) -> None:
        self._link = link
        self._address = address
        self._reason = reason
        self._timeout_s = timeout_s
        self._epoch = uuid.uuid4().hex
        self._strings = Strings()
        self._blocked: set[str] = set()
        self._n_strings = self._n_actions = self._n_tasks = 0
        self._next_index: int | None = None
        self._workers: set[str] = set()
        self._prefixes: set[str] = set()
        self._extras = PlainExtras()
        self._nthreads = -1
        self._began = 0.0
        self._has_begun_stream = False

    @property
    def degraded(self) -> str:
        lacking = "".join(f", {CALLS[op]}" for op in CALLS if op in self._blocked)
        left = f" {LEFT_BEHIND}" if self._has_begun_stream else ""
        return f"{self._reason} Missing: {MISSING}{lacking}.{left}"

    async def leave(self) -> None:
        """Nothing of ours is there."""

    async def pull(self, wanted: Collection[str] = ()) -> Pulled:
        """Return what the allowed calls tell, and of what is ``wanted`` what they give of it.

        Raises
        ------
        LinkLostError
            The connection is of no use any more.
        wire.WireError
            An answer is not what the engine of this version gives.
        """
        identity = await self._ask("identity")
        prefixes = await self._ask("get_task_prefix_states")
        records, dropped = await self._stream()
        batch = self._batch(identity)
        batch.extras = await self._extra_changes(wanted)
        if not self._began:
            self._began = _first_stop(records, batch.time)
        batch.began = self._began
        if prefixes is not None:
            batch.prefixes = [
                _prefix(wire.text(name, "prefixes"), wire.mapping(counts, "prefixes"))
                for name, counts in wire.mapping(prefixes, "prefixes").items()
            ]
            # The engine tells of none whose tasks are all forgotten.
            told = {row["name"] for row in batch.prefixes}
            batch.removed_prefixes = tuple(sorted(self._prefixes - told))
            self._prefixes = told
        self._add_actions(batch, records)
        batch.actions_dropped = dropped
        self._n_actions += dropped
        batch.actions_to = self._n_actions
        batch.strings_from = self._n_strings
        batch.strings = self._strings.since(self._n_strings)
        self._n_strings = len(self._strings.texts)
        # Nothing is asked twice here, so there is nothing to do once the batch is taken over.
        return batch, lambda: None

    async def _extra_changes(self, wanted: Collection[str]) -> dict[str, ExtraChange]:
        """Return what the allowed calls tell of the tables that are wanted."""
        changes = self._extras.changes(wanted)
        if STEALING in wanted:
            events = await self._ask("events", topic=STEALING)
            stolen = None if events is None else self._extras.stolen(events)
            if stolen is not None:
                changes[STEALING] = stolen
        return changes

    async def _ask(self, op: str, **message: Any) -> Any:  # what a peer sent; None where blocked
        if op in self._blocked:
            return None
        try:
            return await self._link.call(op, timeout_s=self._timeout_s, **message)
        except RefusedError:
            self._blocked.add(op)  # asking again would fill the scheduler's log
            return None

    async def _stream(self) -> tuple[Sequence[Any], int]:
        """Return new records of the stock task stream, and how many were lost before them."""
        if "get_task_stream" in self._blocked:
            return (), 0
        index = await self._ask("get_task_stream_index")
        if index is None:  # without it the whole buffer would come each time
            self._blocked.add("get_task_stream")
            return (), 0
        index = wire.whole(index, "get_task_stream_index")
        if self._next_index is None:
            self._next_index = max(0, index - FIRST_TASKS)
            self._has_begun_stream = index == 0
        if index <= self._next_index:
            return (), 0
        answer = await self._ask("get_task_stream", start_index=self._next_index)
        records = wire.items(() if answer is None else answer, "get_task_stream")
        lost = max(0, index - self._next_index - len(records)) if answer is not None else 0
        self._next_index += lost + len(records)
        return records, lost

    def _batch(self, identity: Any) -> Batch:  # what a peer sent
        facts = {} if identity is None else wire.mapping(identity, "identity")
        info = SchedulerInfo(
            id=str(facts.get("id", self._address)),
            address=str(facts.get("address", self._address)),
            started=wire.number(facts.get("started", 0.0), "identity.started"),
            n_workers=wire.whole(facts.get("n_workers", 0), "identity.n_workers"),
            nthreads=wire.whole(facts.get("total_threads", 0), "identity.total_threads"),
            memory_limit=wire.whole(facts.get("total_memory", 0), "identity.total_memory"),
            thresholds={},
        )
        now = time.time()
        batch = Batch(
            epoch=self._epoch, time=now, received=now, scheduler=info, degraded=self.degraded
        )
        if identity is not None:
            workers = wire.mapping(facts.get("workers", {}), "identity.workers")
            self._extras.see_workers(workers)
            batch.workers = [_worker(address, workers[address]) for address in workers]
            batch.removed_workers = tuple(sorted(self._workers - set(workers)))
            self._workers = set(workers)
            if info.nthreads != self._nthreads:
                self._nthreads = info.nthreads
                batch.nthreads = [(now, info.nthreads)]
        return batch

    def _add_actions(self, batch: Batch, records: Sequence[Any]) -> None:
        rows: list[tuple[Any, ...]] = []  # columns of ACTIONS
        keys: list[str] = []
        for record in records:
            facts = wire.mapping(record, "get_task_stream")
            actions = [
                a
                for a in wire.items(facts.get("startstops") or (), "startstops")
                if wire.mapping(a, "startstops").get("action") in KINDS
            ]
            if actions:
                key = wire.member(facts, "key")
                rows += [self._row(facts, a, self._n_tasks + len(keys)) for a in actions]
                keys.append(key_text(key))
        self._n_actions += len(rows)
        batch.keys_from, batch.keys = self._n_tasks, keys
        self._n_tasks += len(keys)
        if rows:
            columns = zip(ACTIONS, zip(*rows, strict=True), strict=True)
            batch.actions = {c.name: np.array(values, dtype=c.dtype) for c, values in columns}

    def _row(self, facts: Mapping[str, Any], action: Mapping[str, Any], task: int) -> Any:
        kind = KINDS[action["action"]]
        source = str(action.get("source", "")) if kind == Kind.TRANSFER else ""
        return (
            wire.number(wire.member(action, "start"), "startstops.start"),
            wire.number(wire.member(action, "stop"), "startstops.stop"),
            kind,
            Outcome.OK if facts.get("status") == "OK" else Outcome.ERRED,
            self._strings.add_address(str(facts.get("worker") or "")),
            wire.whole(facts.get("thread") or 0, "thread"),
            self._strings.add_address(source),
            self._strings.add(key_split(facts["key"])),
            task,
            wire.whole(facts.get("nbytes", -1), "nbytes"),
        )


def _first_stop(records: Sequence[Any], now: float) -> float:
    """Return when the oldest of the records ended, ``now`` where there is none."""
    if not records:
        return now
    actions = wire.items(wire.mapping(records[0], "get_task_stream").get("startstops") or (), "")
    stops = [wire.member(wire.mapping(a, "startstops"), "stop") for a in actions]
    return min([now, *(wire.number(stop, "startstops.stop") for stop in stops)])


def _prefix(name: str, counts: Mapping[str, Any]) -> Mapping[str, Any]:
    states = [wire.whole(counts.get(state, 0), f"prefixes.{state}") for state in STATES]
    return {"name": key_text(name), "states": states, "nbytes": -1, "duration": math.nan}


def _worker(address: str, value: Any) -> Mapping[str, Any]:  # what a peer sent
    """Return a row of `records.WORKERS` from ``WorkerState.identity()``."""
    facts = wire.mapping(value, "identity.workers")
    metrics = wire.mapping(facts.get("metrics", {}), "identity.metrics")
    spilled = metrics.get("spilled_bytes", {})
    transfer = metrics.get("transfer", {})
    tasks = metrics.get("task_counts", {})
    memory = wire.whole(metrics.get("memory", 0), "identity.metrics.memory")
    held = metrics.get("managed_bytes", 0) - spilled.get("memory", 0)
    managed = min(memory, max(0, int(held)))
    return {
        "address": address,
        "name": key_text(facts.get("name", address)),
        "host": str(facts.get("host", "")),
        "process": process_of(address, "", 0, None),  # the engine's call does not tell the number
        "nthreads": wire.whole(facts.get("nthreads", 0), "identity.nthreads"),
        "memory_limit": wire.whole(facts.get("memory_limit") or 0, "identity.memory_limit"),
        "status": str(facts.get("status", "")),
        "last_seen": wire.number(facts.get("last_seen", 0.0), "identity.last_seen"),
        "cpu": wire.number(metrics.get("cpu", 0.0), "identity.metrics.cpu"),
        "memory": memory,
        "managed": managed,
        "unmanaged_old": 0,
        "unmanaged_recent": memory - managed,
        "spilled": int(spilled.get("disk", 0)),
        "processing": sum(tasks.get(s, 0) for s in ("waiting", "ready", "executing")),
        "executing": tasks.get("executing", 0),
        "occupancy": 0.0,
        "is_idle": False,
        "is_saturated": False,
        "incoming_bytes": transfer.get("incoming_bytes", 0),
        "outgoing_bytes": transfer.get("outgoing_bytes", 0),
        "metrics": dict(flatten(metrics)),
    }
