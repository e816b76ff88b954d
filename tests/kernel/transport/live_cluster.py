"""A real scheduler with workers in the test's own loop, and a feed with all that it brought."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import dask.config
import pytest
from distributed import Client, Scheduler, Worker

from dask_diag_lab.collector import NAME, Collector
from dask_diag_lab.schema import STATES, Batch, FeedState, Kind, Outcome
from dask_diag_lab.store import History
from dask_diag_lab.store.tables import NamedTable
from dask_diag_lab.transport import Feed
from dask_diag_lab.transport import feed as feeds
from tests.kernel.serving import until


def inc(x: int) -> int:
    return x + 1


def wait_for(path: str, x: object = None) -> object:
    while not os.path.exists(path):  # noqa: PTH110 - runs on a worker
        time.sleep(0.01)
    return x


class Seen:
    """All batches and states of a feed, and the history that is made of them."""

    def __init__(self) -> None:
        self.batches: list[Batch] = []
        self.states: list[FeedState] = []
        self.history = History()

    def on_batch(self, batch: Batch) -> None:
        self.history.apply(batch)
        self.batches.append(batch)

    @property
    def last(self) -> Batch:
        return self.batches[-1]

    @property
    def epoch(self) -> str:
        return self.last.epoch

    @property
    def state(self) -> str:
        return self.states[-1].state if self.states else ""

    @property
    def rows(self) -> list[dict[str, Any]]:
        """All actions, with texts in place of numbers."""
        _, found = self.history.actions.since(0)
        columns: dict[str, Any] = {name: column.tolist() for name, column in found.items()}
        for name in ("worker", "source", "prefix"):
            columns[name] = self.history.strings.take(columns[name])
        columns["key"] = self.history.actions.keys(found["task"]).tolist()
        columns |= {"kind": map(Kind, columns["kind"]), "outcome": map(Outcome, columns["outcome"])}
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    @property
    def computed(self) -> list[dict[str, Any]]:
        """All rows of work.

        `distributed` writes down disk work wherever 5 ms passed, and on a busy machine they pass.
        """
        return [row for row in self.rows if row["kind"] is Kind.COMPUTE]

    def of(self, key: str) -> list[dict[str, Any]]:
        return [row for row in self.rows if row["key"] == key]

    @property
    def prefixes(self) -> dict[str, Any]:
        return rows_of(self.history.prefixes)

    @property
    def groups(self) -> dict[str, Any]:
        return rows_of(self.history.groups) | rows_of(self.history.ended_groups)

    @property
    def workers(self) -> dict[str, Any]:
        return rows_of(self.history.workers)

    @property
    def nodes(self) -> list[str]:
        """Keys of the tasks of the exact graph."""
        return list(self.history.graph.nodes.names)

    @property
    def running(self) -> list[str]:
        """Keys of the tasks that run."""
        return list(self.history.running.rows(0.0)["key"])

    @property
    def graphs(self) -> list[tuple[Any, ...]]:
        return [row for batch in self.batches for row in batch.rows("graphs")]

    @property
    def events(self) -> list[tuple[Any, ...]]:
        return [row for batch in self.batches for row in batch.rows("events")]

    def happened(self, kind: str) -> list[Mapping[str, Any]]:
        return [detail for _, known, detail in self.events if known == kind]

    def extra(self, name: str) -> list[dict[str, Any]]:
        """Return the rows of an extra table."""
        columns = self.history.extras[name].columns
        cells = zip(*(values.tolist() for values in columns.values()), strict=True)
        return [dict(zip(columns, row, strict=True)) for row in cells]


def rows_of(table: NamedTable) -> dict[str, Any]:
    """Return the rows of a table by name."""
    return {name: table.row(name) for name in table.names}


@asynccontextmanager
async def feeding(address: str, **options: Any) -> AsyncIterator[tuple[Feed, Seen]]:
    """Run a feed to ``address`` that pulls every 20 ms and retries at once, and let it begin.

    ``wanted`` are names of extras, and "graph"; ``timeout_s`` is waited for an answer, and
    ``collector`` makes what is sent.
    """
    seen = Seen()
    options = {
        "connection_args": {},
        "on_batch": seen.on_batch,
        "on_state": seen.states.append,
        "interval_s": 0.02,
        "idle_interval_s": 0.02,
        **options,
    }
    wanted = frozenset(options.pop("wanted", ()))
    timeout_s = options.pop("timeout_s", feeds.ANSWER_S)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(feeds, "RETRY_S", 0.05)
        patched.setattr(feeds, "ANSWER_S", timeout_s)
        patched.setattr(feeds, "CONNECT_TIMEOUT_S", min(timeout_s, feeds.CONNECT_TIMEOUT_S))
        patched.setattr(feeds, "Collector", options.pop("collector", Collector))
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
