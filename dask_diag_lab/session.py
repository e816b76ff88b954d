"""The root of the kernel side: one `Diagnostics` a scheduler, each in a thread of its own.

Decides when diagnostics begin and end; `composition` has the parts.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import threading
import time
import warnings
from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, Final, Self, TypeVar

from dask_diag_lab.attached import Attached
from dask_diag_lab.clients import Clients, current_client
from dask_diag_lab.composition import Composition
from dask_diag_lab.parting import Parting
from dask_diag_lab.server import announce
from dask_diag_lab.target import Target

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
        self.begun_at = time.monotonic()
        self.clients = Clients()
        self._composition = Composition(
            target,
            self.id,
            self.name,
            on_scheduler=lambda new_id: _attached.rename(self, new_id),
            on_data=self._take_place,
            is_ending=lambda: not self.clients.has_open,
        )
        self._keeps_history = announce.connection_file() != ""
        self._is_retired = False
        self._parting = Parting()
        self._started: Future[None] = Future()
        self._end = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wake: asyncio.Event | None = None
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
        return self._is_retired or self._end.is_set()

    @property
    def has_data(self) -> bool:
        """Whether their scheduler has ever told anything."""
        return self._composition.has_data

    def close(self, timeout_s: float = CLOSE_TIMEOUT_S) -> None:
        """End server, feed and thread, and remove the record; harmless twice."""
        _attached.forget(self)
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
        self._started.add_done_callback(lambda _: self._ask(answer, function, is_fresh))
        return answer

    def _ask(self, answer: Future[T], function: Callable[[Store], T], is_fresh: bool) -> None:
        if error := self._started.exception():
            answer.set_exception(error)
            return
        asking = self._composition.ask(function, is_fresh=is_fresh)
        loop = self._loop
        with contextlib.suppress(RuntimeError):  # the loop has been closed
            if loop is not None and not self.is_closed:
                asked = asyncio.run_coroutine_threadsafe(asking, loop)
                asked.add_done_callback(lambda done: _pass_on(done, answer))
                return
        asking.close()
        answer.set_exception(RuntimeError(CLOSED))

    def start(self) -> None:
        """Start the thread; returns at once."""
        self._thread.start()

    async def part(self) -> None:
        """Wait until they know all they can, on the loop of a client that begins to close.

        While nobody looks that may be the last two seconds, and most of a short history. Does
        nothing where there is another client, or no history is kept.
        """
        if self._keeps_history and self._started.done() and not self.clients.has_open:
            self._look_now()
            await self._parting.wait()

    def abandon_after_fork(self) -> None:
        """In a forked child, where the thread does not run: let go without a word."""
        self._end.set()
        self._loop = self._wake = None
        self._composition.abandon_after_fork()

    def _run(self) -> None:
        try:
            asyncio.run(self._main())
        except Exception as error:  # the end of the thread's world: say it once, in the log
            logger.warning("Dask diagnostics could not run: %s", error, exc_info=error)
            if not self._started.done():
                self._started.set_exception(RuntimeError(f"Dask diagnostics: {error}"))
        finally:
            self._end.set()
            _attached.forget(self)

    async def _main(self) -> None:
        self._wake = wake = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        try:
            await self._composition.start()
            self._started.set_result(None)
            if await self._follow(wake):
                self._is_retired = True
                closed = self.clients.cluster_is_closed
                await self._composition.retire(is_cluster_closed=closed)
                while not self._end.is_set():
                    await wake.wait()
                    wake.clear()
        finally:
            # Before the rest: `attach` from here on makes new diagnostics.
            self._end.set()
            _attached.forget(self)
            self._parting.release()
            await self._composition.close()

    async def _follow(self, wake: asyncio.Event) -> bool:
        """Follow the scheduler for the clients; return whether the history is kept after them."""
        while not self._end.is_set():
            if self.clients.has_open:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(wake.wait(), CLIENT_CHECK_S)
                wake.clear()
                continue
            if self._keeps_history:
                await self._parting.learn(self._composition.learn_last)
            is_history = self._keeps_history and self.has_data and not self._end.is_set()
            fate = _attached.part(self, is_worth_keeping=is_history)
            if fate != "stay":
                return fate == "keep"
            self._parting.begin_anew()
        return False

    def _take_place(self) -> None:
        """With the first data: end the history that these diagnostics take the place of."""
        if not self._end.is_set():
            _attached.end_history()

    def _look_now(self) -> None:
        """Have the thread look at once whether it is to end; from any thread."""
        loop, wake = self._loop, self._wake
        if loop is not None and wake is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended by itself meanwhile
                loop.call_soon_threadsafe(wake.set)


def _pass_on(done: Future[T], answer: Future[T]) -> None:
    if done.cancelled():  # with all that was on the loop when it ended
        answer.set_exception(RuntimeError(CLOSED))
    elif error := done.exception():
        answer.set_exception(error)
    else:
        answer.set_result(done.result())


_attached: Final = Attached(Diagnostics)
_attached.follow_process()


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
    from dask_diag_lab.server import missing_bokeh

    if reason := missing_bokeh():
        warnings.warn(reason, RuntimeWarning, stacklevel=2)
    return diagnostics


def attach_quietly(client: Client) -> Diagnostics:
    """Do what `attach` does, without a warning: for the preload, which may not print."""
    return _attached.attach(Target.of(client), client)


async def part_with(client: Client) -> None:
    """Bring the diagnostics of a client that begins to close up to this moment.

    Waits a second at most, and only where their history is kept.
    """
    if (diagnostics := _attached.find(client)) is not None:
        await diagnostics.part()
