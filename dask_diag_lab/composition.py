"""What follows one scheduler: feed, store, server and record on one event loop, and its end.

With `session`, which gives it a thread, the only code that knows all of these packages. It needs
no Jupyter kernel: any process and any running loop will do.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from dask_diag_lab.jobs import JobRunner
from dask_diag_lab.server import Server, announce
from dask_diag_lab.store import Store
from dask_diag_lab.transport import FeedState, Following
from dask_diag_lab.views.asked import UNASKED

if TYPE_CHECKING:
    from distributed import Client

    from dask_diag_lab.schema import Batch
    from dask_diag_lab.store.queries import Query

logger = logging.getLogger(__name__)

T = TypeVar("T")
HISTORY_S: Final = 3.0
"""So long a new collector may take over what the scheduler remembers of before, bit by bit."""
HISTORY_PAUSE_S: Final = 0.05
"""Several times the pause between two bits of it."""
LIMITS: Final[Mapping[str, tuple[str | int, float, float]]] = {
    "max-actions": (2_000_000, 1000, inf),
    "interval": ("250ms", 0.05, 300),
    # Half of the collector's lease: it must not take a slow follower for one that has left.
    "idle-interval": ("2s", 0.05, 300),
}
"""Default, least and most of each setting; times in seconds. `dask_diag_lab.yaml` explains them."""

MAY_RUN: Final = "The client was closed; its cluster may still run."
NOT_ASKED: Final = "The client was closed; its cluster cannot be asked any more."
KEPT: Final = "The history is kept until the kernel stops."


@dataclass(slots=True)
class Target:
    """The scheduler to follow and how to reach it, as its client does.

    Attributes
    ----------
    scheduler_id : str
    address : str
        The address that the client is connected to, which a gateway may have made up.
    connection_args : mapping
        ``Client.connection_args``: TLS context and the like.
    """

    scheduler_id: str
    address: str
    connection_args: Mapping[str, Any]

    @classmethod
    def of(cls, client: Client) -> Target:
        """Return the scheduler of a connected client, without asking it anything.

        Raises
        ------
        RuntimeError
            The client is not connected.
        """
        # The public `scheduler_info()` makes a call; a busy scheduler would hold up the caller.
        scheduler_id = client._scheduler_identity.get("id")
        if client.status != "running" or not scheduler_id or client.scheduler is None:
            raise RuntimeError(
                f"The client is {client.status}, so there is no scheduler to look at."
                " Connect it first; `await client` does that for an asynchronous one."
            )
        return cls(str(scheduler_id), str(client.scheduler.addr), dict(client.connection_args))


@dataclass(frozen=True, slots=True)
class Settings:
    """The kernel's settings: actions kept, and seconds between two pulls."""

    max_actions: int
    interval_s: float
    idle_interval_s: float


def read_settings() -> Settings:
    """Return the settings of now; a value out of its limits is replaced, and the log says so."""
    from dask.utils import parse_timedelta

    return Settings(
        max_actions=int(_within("max-actions", float)),
        interval_s=_within("interval", parse_timedelta),
        idle_interval_s=_within("idle-interval", parse_timedelta),
    )


def _within(name: str, number: Any) -> float:  # Dask's functions have no types
    import dask

    default, least, most = LIMITS[name]
    given = dask.config.get(f"diag-lab.{name}", default)
    value = float(number(given))
    kept = min(max(value, least), most)
    if kept != value:
        unit = "" if name == "max-actions" else " s"
        logger.warning("diag-lab.%s is %s; it has been set to %g%s", name, given, kept, unit)
    return kept


class Composition:
    """What follows one scheduler, with store, server and record, all on the running loop.

    Parameters
    ----------
    target : Target
    dashboard_id, name : str
        Id of this dashboard, and what people call it.
    on_scheduler : callable, optional
        Called on the loop with the id of another scheduler that now answers at the address.
    on_data : callable, optional
        Called on the loop when there is something to show: once, with the first batch.
    is_ending : callable, optional
        Whether the client is being closed. Pictures are left alone from then on until `retire`,
        so that pages do not show how a cluster is taken down. The store takes all that comes: what
        is served afterwards is the last that was learnt.
    """

    def __init__(
        self,
        target: Target,
        dashboard_id: str,
        name: str,
        on_scheduler: Callable[[str], None] | None = None,
        on_data: Callable[[], None] = lambda: None,
        is_ending: Callable[[], bool] = lambda: False,
    ) -> None:
        self.url = ""
        self.token = secrets.token_urlsafe(32)
        self._target = target
        self._id = dashboard_id
        self._name = name
        self._on_scheduler = on_scheduler
        self._on_data = on_data
        self._is_ending = is_ending
        self._begun = time.time()
        self._kernel_id = announce.kernel_id()
        self._store: Store | None = None
        self._following: Following | None = None
        self._job_runner: JobRunner | None = None
        self._server: Server | None = None
        self._record: Path | None = None
        self._epoch = ""
        self._epoch_at = -inf

    @property
    def missing(self) -> str:
        """Why no plot can be shown, in words; '' when they can."""
        return "" if self._server is None else self._server.missing

    @property
    def has_data(self) -> bool:
        """Whether the scheduler has ever told anything."""
        return self._epoch != ""

    async def start(self) -> None:
        """Serve, announce, and begin to feed; returns before the first data."""
        settings = read_settings()
        self._store = Store(max_actions=settings.max_actions)
        self._following = Following(
            self._target.address,
            self._target.connection_args,
            on_batch=self._batch_came,
            on_state=self._state_changed,
            interval_s=settings.interval_s,
            idle_interval_s=settings.idle_interval_s,
        )
        self._store.queries.on_ask = self._ask_cluster
        self._job_runner = JobRunner(self._store, lambda _job: self._tick(is_awaited=True))
        self._server = Server(
            self._store,
            info=self.info,
            token=self.token,
            on_watch=self._watch_changed,
            catch_up=self._following.pull_briefly,
        )
        self.url = await self._server.start()
        self._record = announce.write_record(self._record_content())
        self._following.start()

    async def retire(self, *, is_cluster_closed: bool) -> None:
        """Let go of the scheduler, for good, and go on to serve what is known of it.

        Parameters
        ----------
        is_cluster_closed : bool
            Whether that is all there is to say. It may have been lost, or still run.
        """
        store, following = self._store, self._following
        if store is None or following is None:
            return
        last = following.state
        await self._leave_scheduler()
        is_lost = last.state == "lost"
        why = "" if is_cluster_closed else last.reason if is_lost else MAY_RUN
        reason = f"{why} {KEPT}" if why else ""  # without one, the browser has words of its own
        store.set_feed_state("closed", reason, last.since if is_lost else time.time())
        self._tick_soon(is_awaited=True)

    async def close(self) -> None:
        """Take everything down in reverse order, each also where one before failed.

        Harmless twice.
        """
        record, self._record = self._record, None
        server, self._server = self._server, None
        job_runner, self._job_runner = self._job_runner, None
        async with AsyncExitStack() as last_first:
            last_first.push_async_callback(self._leave_scheduler)
            if job_runner is not None:
                last_first.push_async_callback(job_runner.close)
            if server is not None:
                last_first.push_async_callback(server.stop)
            if record is not None:
                last_first.callback(announce.remove_record, record)

    async def _leave_scheduler(self) -> None:
        following, self._following = self._following, None
        if following is not None:
            await following.close()

    async def ask(self, function: Callable[[Store], T], *, is_fresh: bool) -> T:
        """Return ``function(store)``, after a pull of its own where it has to be fresh.

        Raises
        ------
        LinkLostError
            The scheduler could not be reached.
        RuntimeError
            All is closed.
        """
        if is_fresh:
            await self._catch_up()
        if self._store is None or self._following is None:
            raise RuntimeError("Dask diagnostics are closed.")
        return function(self._store)

    async def _catch_up(self) -> None:
        """Pull what has ended by now, history that a new collector takes over included."""
        before = -1
        while self._following is not None and self._store is not None:
            await self._following.pull()
            total = self._store.actions.total
            if total == before or time.monotonic() - self._epoch_at > HISTORY_S:
                return
            before = total
            await asyncio.sleep(HISTORY_PAUSE_S)

    async def learn_last(self) -> None:
        """Learn what any plot needs: later nobody can be asked."""
        if self._following is not None:
            await self._following.pull_all()

    def abandon_after_fork(self) -> None:
        """In a forked child: drop what must not stay open there."""
        self._record = None
        if self._server is not None:
            self._server.abandon_after_fork()

    def info(self) -> dict[str, Any]:  # JSON values
        """Return what the server says about this dashboard."""
        return {
            "id": self._id,
            "name": self._name,
            "kernel_id": self._kernel_id,
            "scheduler": {"id": self._target.scheduler_id, "address": self._target.address},
        }

    def _record_content(self) -> dict[str, Any]:  # JSON values
        return {
            "schema": announce.SCHEMA,
            **self.info(),
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "start_ticks": announce.start_ticks(),
            "url": self.url,
            "token": self.token,
            "started": self._begun,
            "versions": announce.versions(),
        }

    def _batch_came(self, batch: Batch) -> None:
        if batch.epoch != self._epoch:
            is_first = not self.has_data
            self._epoch, self._epoch_at = batch.epoch, time.monotonic()
            self._meet_scheduler(batch.scheduler.id)
            if is_first:
                self._on_data()
        if self._store is not None and self._server is not None:
            self._store.apply(batch)
            self._tick_soon()

    def _meet_scheduler(self, scheduler_id: str) -> None:
        """Another one may have been started where the one before was: this is its dashboard."""
        # Without a collector, one that does not tell its id is called by its address.
        if scheduler_id in (self._target.scheduler_id, self._target.address):
            return
        self._target.scheduler_id = scheduler_id
        if self._on_scheduler is not None:
            self._on_scheduler(scheduler_id)
        if self._record is None:
            return
        try:
            self._record = announce.write_record(self._record_content())
        except OSError as error:
            logger.warning("The record of these diagnostics cannot be renewed: %s", error)

    def _state_changed(self, state: FeedState) -> None:
        # A scheduler that is left is said to be closed: not yet when, nor why.
        is_followed = self._following is not None
        if self._store is not None and self._server is not None and is_followed:
            self._store.set_feed_state(state.state, state.reason, state.since)
            self._tick_soon(is_awaited=True)

    def _ask_cluster(self, query: Query) -> None:
        """Pass a view's question on; the pages are updated when it has been answered."""
        store, following = self._store, self._following
        if store is None:
            return
        if following is None:
            store.fail(query, NOT_ASKED if query.n_answers else UNASKED)
            return

        def answered(answer: object) -> None:
            store.answer(query, answer)
            self._tick_soon(is_awaited=True)

        def failed(words: str) -> None:
            store.fail(query, words)
            self._tick_soon(is_awaited=True)

        following.ask(query.kind, query.arguments, answered, failed)

    def _tick_soon(self, *, is_awaited: bool = False) -> None:
        """Update the pages, outside the feed: it pulls again what it could not hand over."""
        asyncio.get_running_loop().call_soon(lambda: self._tick(is_awaited=is_awaited))

    def _tick(self, *, is_awaited: bool = False) -> None:
        if self._server is None or (self._following is not None and self._is_ending()):
            return
        self._server.tick(is_awaited=is_awaited)

    def _watch_changed(self, is_watched: bool, wanted: frozenset[str]) -> None:
        if self._following is not None:
            self._following.watch(is_watched, wanted)
