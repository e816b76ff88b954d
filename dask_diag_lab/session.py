"""Diagnostics of the clusters of this process: when they begin and end. `attach` makes them.

Each cluster has one `Diagnostics`, which runs a `Composition` on an event loop in a thread of its
own and ends with the last client of that cluster. In a Jupyter kernel what it knows is still
served after that: the history of the cluster that closed last, until another cluster has something
to show or the kernel stops. `_Attachments` keeps which are open and whose history is kept.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import logging
import os
import secrets
import threading
import time
import warnings
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from dask_diag_lab.composition import Composition, Target
from dask_diag_lab.server import announce, missing_bokeh

if TYPE_CHECKING:
    from distributed import Client

    from dask_diag_lab.store import Store

T = TypeVar("T")
logger = logging.getLogger(__name__)

START_TIMEOUT_S: Final = 30.0
CLOSE_TIMEOUT_S: Final = 10.0
CLOSED: Final = "These Dask diagnostics are closed: their client was."
CLIENT_CHECK_S: Final = 0.5
"""How often the clients are looked at: one that says nothing of its end is missed this soon."""
LAST_S: Final = 1.0
"""So long closing a client waits until its history has its end."""


class Diagnostics:
    """The live diagnostics of one scheduler, in a thread of their own; `attach` makes them.

    They end with the last client that they were attached for, with `close`, or with the process.
    In a Jupyter kernel what they know is still served when their last client has closed: until
    diagnostics of another cluster take their place there, or `close`.
    """

    def __init__(self, target: Target) -> None:
        self.id: str = secrets.token_hex(8)
        self.name: str = announce.session_name(kernel=announce.kernel_id())
        self.scheduler_id: str = target.scheduler_id
        self._begun_at = time.monotonic()
        self._clients: list[weakref.ref[Client]] = []  # keeps none of them alive
        self._clients_own_cluster = False
        self._composition = Composition(
            target,
            self.id,
            self.name,
            on_scheduler=lambda new_id: _attachments.rename(self, new_id),
            on_data=self._data_came,
            is_ending=lambda: not self._has_client(),
        )
        self._keeps_history = announce.connection_file() != ""
        self._is_history = False
        self._learning: asyncio.Task[None] | None = None
        self._started: Future[None] = Future()
        self._end = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wake = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="dask-diag-lab", daemon=True)

    @property
    def url(self) -> str:
        """Address of the status page with the token in it: for your browser, not for sharing.

        Waits until the server listens, a fraction of a second after `attach`.
        """
        self._started.result(START_TIMEOUT_S)
        return f"{self._composition.url}/status?token={self._composition.token}"

    @property
    def plots(self) -> tuple[str, ...]:
        """Names of the plots, for `dask_diag_lab.plot` and for Lab."""
        from dask_diag_lab.views.registry import all_plots

        return tuple(plot.name for plot in all_plots())

    @property
    def missing(self) -> str:
        """Why no plot can be shown, in words; '' when they can."""
        self._started.result(START_TIMEOUT_S)
        return self._composition.missing

    @property
    def is_closed(self) -> bool:
        """Whether they follow their scheduler no more, also while their history is served."""
        return self._is_history or self._end.is_set()

    def close(self, timeout_s: float = CLOSE_TIMEOUT_S) -> None:
        """End server, feed and thread, and remove the record; harmless twice."""
        _attachments.forget(self)
        self._end.set()
        self._look_now()
        if threading.current_thread() is not self._thread and self._thread.is_alive():
            self._thread.join(timeout_s)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self.is_closed else "open"
        return f"<Diagnostics {self.id} of {self.name!r}: {state}, {len(self.plots)} plots>"

    def submit(self, function: Callable[[Store], T], *, is_fresh: bool = False) -> Future[T]:
        """Run ``function(store)`` on the loop of these diagnostics: the only way to the store.

        Returns at once.

        Parameters
        ----------
        function : callable
            Takes the store, returns data of its own: nothing that changes later. It holds up
            every plot while it runs.
        is_fresh : bool
            Bring the store up to what the scheduler knows now before that.

        Returns
        -------
        Future
            Cannot be cancelled. Its exception is that of ``function``, a ``LinkLostError`` when
            the scheduler could not be reached, or a RuntimeError when these diagnostics ended.
        """
        answer: Future[T] = Future()
        answer.set_running_or_notify_cancel()

        async def ask() -> None:
            try:
                answer.set_result(await self._composition.ask(function, is_fresh=is_fresh))
            except asyncio.CancelledError:  # with all that was on the loop when it ended
                answer.set_exception(RuntimeError(CLOSED))
            except Exception as error:  # noqa: BLE001  # of whoever asked
                answer.set_exception(error)

        def begin(started: Future[None]) -> None:
            if error := started.exception():
                answer.set_exception(error)
                return
            asking = ask()
            with contextlib.suppress(RuntimeError):  # the loop has been closed
                if self._loop is not None and not self.is_closed:
                    asyncio.run_coroutine_threadsafe(asking, self._loop)
                    return
            asking.close()
            answer.set_exception(RuntimeError(CLOSED))

        self._started.add_done_callback(begin)
        return answer

    # --- for `_Attachments`

    def start(self) -> None:
        """Start the thread; returns at once."""
        self._thread.start()

    def add(self, client: Client) -> None:
        """Stay for `client` too; harmless to repeat."""
        if not self.is_for(client):
            self._clients.append(weakref.ref(client))
            # As `distributed` decides it: a client closes no cluster but the one that it has made.
            is_given = getattr(client, "_start_arg", None) is not None
            self._clients_own_cluster |= client.cluster is not None and not is_given

    def is_for(self, client: Client) -> bool:
        """Whether they were attached for `client`."""
        return any(known is client for known in self._living)

    def is_newer(self, other: Diagnostics) -> bool:
        """Whether they began after `other` and show a cluster: one that answered."""
        return self._begun_at > other._begun_at and self._composition.has_data

    def abandon_after_fork(self) -> None:
        """In a forked child, where the thread does not run: let go of everything, touch nothing."""
        self._end.set()
        self._loop = None
        self._composition.abandon_after_fork()

    # --- clients

    @property
    def _living(self) -> list[Client]:
        return [client for known in self._clients if (client := known()) is not None]

    def _has_client(self) -> bool:
        """Whether one of them has not been closed, nor forgotten, nor begins to close."""
        return any(client.status not in ("closing", "closed") for client in self._living)

    @property
    def _is_cluster_closed(self) -> bool:
        """Whether the cluster is known to close, or to have closed, once no client is open.

        Where clients are closed and nobody says anything of the cluster, it may still run.
        """
        clusters = (client.cluster for client in self._living)
        return self._clients_own_cluster or any(map(_is_closed, clusters))

    async def learn_last(self) -> None:
        """On the loop of a client that begins to close, wait until they know all they can.

        While nobody looks that may be the last two seconds, and most of a short history. Waits
        `LAST_S` at most, and not where there is another client, or no history is kept.
        """
        loop = self._loop
        if not self._keeps_history or loop is None or self._has_client():
            return
        self._look_now()
        learning = asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._learn_last(), loop))
        await asyncio.wait([learning], timeout=LAST_S)

    async def _learn_last(self) -> None:
        """Learn the last once, however many wait for it."""
        if self._learning is None:
            self._learning = asyncio.create_task(self._composition.learn_last())
        try:
            await asyncio.shield(self._learning)
        except Exception as error:  # a history without its end is better than none
            logger.warning("A history may lack its end: %s", error, exc_info=error)

    # --- in the thread

    def _run(self) -> None:
        try:
            asyncio.run(self._main())
        except Exception as error:  # the end of the thread's world: say it once, in the log
            logger.warning("Dask diagnostics could not run: %s", error, exc_info=error)
            if not self._started.done():
                self._started.set_exception(RuntimeError(f"Dask diagnostics: {error}"))
        finally:
            self._end.set()
            _attachments.forget(self)

    async def _main(self) -> None:
        self._loop = asyncio.get_running_loop()
        try:
            await self._composition.start()
            self._started.set_result(None)
            if await self._follow():
                self._is_history = True
                await self._composition.retire(is_cluster_closed=self._is_cluster_closed)
                while not self._end.is_set():
                    await self._wait()
        finally:
            # Before the rest: `attach` from here on makes new diagnostics.
            self._end.set()
            _attachments.forget(self)
            await self._composition.close()

    async def _follow(self) -> bool:
        """Follow the scheduler for the clients; return whether the history is kept after them."""
        while not self._end.is_set():
            if self._has_client():
                self._learning = None  # there will be more to learn
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._wait(), CLIENT_CHECK_S)
                continue
            if self._keeps_history:
                await self._learn_last()
                await self._until_closed()
            is_ended = self._end.is_set()
            is_history = self._keeps_history and self._composition.has_data and not is_ended
            with _attachments.lock:
                if self._has_client():  # attached meanwhile for another one
                    continue
                return is_history and _attachments.keep(self)
        return False

    async def _until_closed(self) -> None:
        """Wait for clients that close: one that shuts its cluster down does that only now."""
        deadline = time.monotonic() + LAST_S
        while any(client.status == "closing" for client in self._living):
            if time.monotonic() > deadline or self._end.is_set():
                return
            await asyncio.sleep(CLIENT_CHECK_S / 10)

    async def _wait(self) -> None:
        await self._wake.wait()
        self._wake.clear()

    def _look_now(self) -> None:
        """Have the thread look at once whether it is to end; from any thread."""
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended by itself meanwhile
                self._loop.call_soon_threadsafe(self._wake.set)

    def _data_came(self) -> None:
        """With the first data, end the history whose place these diagnostics take."""
        if not self._end.is_set():
            _attachments.end_history()


def _is_closed(cluster: Any) -> bool:  # whatever has a scheduler's address; None for none
    status = getattr(cluster, "status", "")
    return getattr(status, "name", status) in ("closing", "closed")  # gateways have plain words


class _Attachments:
    """The diagnostics of this process: the open ones by scheduler id, and the one history.

    They belong to the process and not to a caller: attaching has to be idempotent for any number
    of clients that do not know of each other.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._open: dict[str, Diagnostics] = {}
        self._history: Diagnostics | None = None  # may be 150 MB: never more than one

    def attach(self, target: Target, client: Client) -> Diagnostics:
        """Return the diagnostics of `target`, started now if there were none."""
        with self.lock:
            found = self._open.get(target.scheduler_id)
            if found is not None and not found.is_closed:
                found.add(client)
                return found
            made = self._open[target.scheduler_id] = Diagnostics(target)
            made.add(client)
            made.start()
            return made

    def find(self, client: Client) -> Diagnostics | None:
        """Return the open diagnostics that were attached for `client`, None for none."""
        with self.lock:
            return next((one for one in self._open.values() if one.is_for(client)), None)

    def forget(self, diagnostics: Diagnostics) -> None:
        """Remove `diagnostics`; harmless when it is not here."""
        with self.lock:
            if self._open.get(diagnostics.scheduler_id) is diagnostics:
                del self._open[diagnostics.scheduler_id]
            if self._history is diagnostics:
                self._history = None

    def keep(self, diagnostics: Diagnostics) -> bool:
        """Keep a history in the place of the one before, unless there is a newer cluster."""
        with self.lock:
            self.forget(diagnostics)
            if any(other.is_newer(diagnostics) for other in self._open.values()):
                return False
            before, self._history = self._history, diagnostics
        if before is not None:
            before.close(timeout_s=0)
        return True

    def end_history(self) -> None:
        """End the history: a new cluster has something to show."""
        with self.lock:
            history = self._history
        if history is not None:
            history.close(timeout_s=0)

    def rename(self, diagnostics: Diagnostics, scheduler_id: str) -> None:
        """File `diagnostics` under the scheduler that took the place of theirs, if none are."""
        with self.lock:
            other, before = self._open.get(scheduler_id), diagnostics.scheduler_id
            if self._open.get(before) is diagnostics and (other is None or other.is_closed):
                del self._open[before]
                self._open[scheduler_id] = diagnostics
                diagnostics.scheduler_id = scheduler_id

    def close_all(self) -> None:
        """At interpreter exit: leave no record behind."""
        for diagnostics in self._all():
            diagnostics.close(timeout_s=2)

    def after_fork(self) -> None:
        """In a forked child: nothing of ours runs there, and nothing may be removed by it."""
        abandoned = self._all()
        self.lock = threading.RLock()  # one that was held at the fork stays held
        self._open, self._history = {}, None
        for diagnostics in abandoned:
            diagnostics.abandon_after_fork()

    def _all(self) -> list[Diagnostics]:
        history = [] if self._history is None else [self._history]
        return [*self._open.values(), *history]


_attachments: Final = _Attachments()
atexit.register(_attachments.close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_attachments.after_fork)


def current_client() -> Client:
    """Return the client that `distributed` takes where none is named.

    Raises
    ------
    RuntimeError
        There is none; the message says how to make one.
    """
    from distributed import default_client

    current: Callable[[], Client] = default_client  # `distributed` has no types
    try:
        return current()
    except ValueError as error:
        raise RuntimeError(
            "There is no Dask client yet. Make one, for example with"
            " `from distributed import Client; client = Client()`."
        ) from error


def attach(client: Client | None = None) -> Diagnostics:
    """Show the cluster of `client` in JupyterLab's Dask sidebar; harmless to repeat.

    In a notebook this happens by itself with every ``Client()``. Returns at once; the server is
    up a fraction of a second later.

    Parameters
    ----------
    client : distributed.Client, optional
        Default: the current client (``distributed.default_client()``).

    Raises
    ------
    RuntimeError
        There is no client, or it is not connected.
    """
    diagnostics = attach_quietly(current_client() if client is None else client)
    if reason := missing_bokeh():
        warnings.warn(reason, RuntimeWarning, stacklevel=2)
    return diagnostics


def attach_quietly(client: Client) -> Diagnostics:
    """Do what `attach` does, without a warning: for the preload, which may not print."""
    return _attachments.attach(Target.of(client), client)


async def learn_last(client: Client) -> None:
    """Bring the history of a client that begins to close up to this moment, in a second at most."""
    if (diagnostics := _attachments.find(client)) is not None:
        await diagnostics.learn_last()
