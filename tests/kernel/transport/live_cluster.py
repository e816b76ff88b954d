"""A real scheduler with workers in the test's own loop, and a feed with all that it brought."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import dask.config
from distributed import Client, Scheduler, Worker

from dask_diag_lab.collector import NAME, Collector
from dask_diag_lab.schema import EXTRAS, STATES, TABLES, Batch, FeedState, Kind, Outcome
from dask_diag_lab.store.tables import ExtraTable
from dask_diag_lab.transport import Feed
from tests.kernel.serving import until


def rows_of(batch: Batch, table: str) -> list[dict[str, Any]]:
    """Return the rows of a table that a batch brought, as mappings."""
    names = [column.name for column in TABLES[table].columns]
    return [dict(zip(names, row, strict=True)) for row in batch.rows(table)]


class Seen:
    """All batches and states of a feed, and the tables a session would keep."""

    def __init__(self) -> None:
        self.batches: list[Batch] = []
        self.states: list[FeedState] = []
        self.strings: list[str] = []
        self.keys: dict[int, str] = {}
        self.rows: list[dict[str, Any]] = []
        self.prefixes: dict[str, Mapping[str, Any]] = {}
        self.groups: dict[str, Mapping[str, Any]] = {}
        self.workers: dict[str, Mapping[str, Any]] = {}
        self.nodes: dict[int, tuple[Any, ...]] = {}
        self.node_states: dict[int, int] = {}
        self.running: list[tuple[str, str, str, float]] = []
        self.events: list[tuple[float, str, Mapping[str, Any]]] = []
        self.graphs: list[tuple[Any, ...]] = []
        self.extras = {table.name: ExtraTable(table) for table in EXTRAS}
        self.dropped = 0
        self.epoch = ""

    @property
    def last(self) -> Batch:
        return self.batches[-1]

    @property
    def state(self) -> str:
        return self.states[-1].state if self.states else ""

    def on_batch(self, batch: Batch) -> None:
        if batch.epoch != self.epoch:
            self.epoch, self.strings = batch.epoch, []
            self.keys, self.nodes, self.node_states = {}, {}, {}
            self.prefixes, self.groups, self.workers = {}, {}, {}
            for table in self.extras.values():
                table.clear()
        assert batch.strings_from == len(self.strings)
        self.strings += batch.strings
        self.batches.append(batch)
        self.keys.update(enumerate(batch.keys, batch.keys_from))
        self.dropped += batch.tables["actions"].dropped
        self.events += batch.rows("events")
        self.graphs += batch.rows("graphs")
        for name in batch.tables.keys() & self.extras.keys():
            self.extras[name].apply(batch.tables[name], batch.time)
        self._actions(batch)
        self._tables(batch)
        self._graph(batch)

    def _actions(self, batch: Batch) -> None:
        for row in rows_of(batch, "actions"):
            for name in ("worker", "source", "prefix"):
                row[name] = self.strings[row[name]]
            row["key"] = self.keys[row["task"]]
            row["kind"] = Kind(row["kind"])
            row["outcome"] = Outcome(row["outcome"])
            self.rows.append(row)

    def _tables(self, batch: Batch) -> None:
        known = {"prefixes": self.prefixes, "groups": self.groups, "workers": self.workers}
        for name, table in known.items():
            change = batch.tables.get(name)
            if change is not None:
                if change.is_full:
                    table.clear()
                for gone in change.removed:
                    del table[gone]
                table.update({next(iter(row.values())): row for row in rows_of(batch, name)})
        if "running" in batch.tables:
            self.running = [
                (key, self.strings[worker], self.strings[prefix], start)
                for key, worker, prefix, start, _ in batch.rows("running")
            ]

    def _graph(self, batch: Batch) -> None:
        change = batch.graph
        if change is None:
            return
        if change.is_snapshot:
            self.nodes, self.node_states = {}, {}
        for node, *rest in change.added:
            assert set(rest[3]) <= self.nodes.keys() | {n for n, *_ in change.added}
            self.nodes[node] = tuple(rest)
        self.node_states.update(change.states)
        for node in change.removed:
            self.nodes.pop(node, None)
            self.node_states.pop(node, None)

    def extra(self, name: str) -> list[dict[str, Any]]:
        """Return the rows of an extra table."""
        columns = self.extras[name].columns
        cells = zip(*(values.tolist() for values in columns.values()), strict=True)
        return [dict(zip(columns, row, strict=True)) for row in cells]

    @property
    def computed(self) -> list[dict[str, Any]]:
        """All rows of work.

        `distributed` writes down disk work wherever 5 ms passed, and on a busy machine they pass.
        """
        return [row for row in self.rows if row["kind"] is Kind.COMPUTE]

    def of(self, key: str) -> list[dict[str, Any]]:
        return [row for row in self.rows if row["key"] == key]

    def happened(self, kind: str) -> list[Mapping[str, Any]]:
        return [detail for _, known, detail in self.events if known == kind]


@asynccontextmanager
async def feeding(address: str, **options: Any) -> AsyncIterator[tuple[Feed, Seen]]:
    """Run a feed to ``address`` that pulls every 20 ms and retries at once, and let it begin.

    ``wanted`` are names of extras, and "graph".
    """
    seen = Seen()
    options = {
        "connection_args": {},
        "on_batch": seen.on_batch,
        "on_state": seen.states.append,
        "interval_s": 0.02,
        "idle_interval_s": 0.02,
        "retry_s": 0.05,
        **options,
    }
    wanted = frozenset(options.pop("wanted", ()))
    feed = Feed(address, options.pop("connection_args"), **options)
    feed.watch(False, wanted)
    feed.start()
    try:
        await until(lambda: feed.state.state != "connecting")
        yield feed, seen
    finally:
        await feed.close()


def connected(address: str, **options: Any) -> Any:  # `distributed`'s Client has no types
    """Return a client for ``async with``."""
    make: Any = Client
    return make(address, asynchronous=True, set_as_default=False, **options)


@asynccontextmanager
async def cluster(
    n_workers: int = 1,
    *,
    scheduler: Mapping[str, Any] | None = None,
    worker: Mapping[str, Any] | None = None,
    config: Mapping[str, Any] | None = None,
) -> AsyncIterator[tuple[Scheduler, list[Any], Any]]:  # workers, whose attributes have no types
    """Start a scheduler on loopback, workers with a thread in this process, and a client."""
    settings = {
        "distributed.admin.event-loop-monitor-interval": "1h",
        "distributed.scheduler.active-memory-manager.start": False,
        "distributed.worker.profile.enabled": False,
        **(config or {}),
    }
    host = {"host": "127.0.0.1", "port": 0, "dashboard_address": "127.0.0.1:0", **(scheduler or {})}
    each = {"nthreads": 1, "dashboard_address": ":0", **(worker or {})}
    async with AsyncExitStack() as stack:
        stack.enter_context(dask.config.set(settings))
        s = await stack.enter_async_context(Scheduler(**host))
        workers = [
            await stack.enter_async_context(Worker(s.address, name=f"w{index}", **each))
            for index in range(n_workers)
        ]
        yield (
            s,
            workers,
            await stack.enter_async_context(connected(s.address, security=host.get("security"))),
        )


def states(row: Mapping[str, Any]) -> dict[str, int]:  # rows of many types
    """Return the task counts of a row of `PREFIXES` or `GROUPS` by state."""
    return dict(zip(STATES, row["states"], strict=True))


def registered(s: Scheduler) -> Collector | None:
    """Return the collector that lives on a scheduler."""
    plugin = s.plugins.get(NAME)
    assert plugin is None or isinstance(plugin, Collector)
    return plugin


def traces(s: Scheduler) -> list[str]:
    """Return what of ours is on a scheduler."""
    return [
        *(name for name in s.plugins if "diag" in name),
        *(name for name in s.handlers if "diag" in name),
        *(name for name in s.periodic_callbacks if "diag" in name),
    ]
