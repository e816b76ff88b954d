"""Diagnostics of the clusters of this process: when they begin and end. `attach` makes them.

Each cluster has one `Diagnostics`, which runs a `Composition` on an event loop in a thread of its
own and ends with the last client of that cluster; that of a recording, which `load` makes, ends
when it is closed. In a Jupyter kernel what it knows is still
served after that: the history of the cluster that closed last, until another cluster is attached or
the kernel stops. `_Attachments` keeps which are open and whose history is kept. `CellWatch` tells
them which cell of a notebook runs, so that what it has a cluster do is named after it.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import logging
import os
import secrets
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from dask_diag_lab.composition import Composition, Recording, Target, own_listen
from dask_diag_lab.server import announce, missing_bokeh
from dask_diag_lab.server.context import until
from dask_diag_lab.store.runs import Piece, name_of_code

if TYPE_CHECKING:
    from distributed import Client
    from IPython.core.interactiveshell import InteractiveShell

    from dask_diag_lab.server.context import ServerContext
    from dask_diag_lab.store import LiveSession

T = TypeVar("T")
logger = logging.getLogger(__name__)

START_TIMEOUT_S: Final = 30.0
CLOSE_TIMEOUT_S: Final = 10.0
CLOSED: Final = (
    "These Dask diagnostics are closed: their client was, or `close` was called. Ask before that."
)
# How often the clients are looked at: one that says nothing of its end is missed this soon.
CLIENT_CHECK_S: Final = 0.5
# So long closing a client waits until its history has its end.
LAST_S: Final = 1.0


class Diagnostics:
    """The live diagnostics of one scheduler, in a thread of their own; `attach` makes them.

    They end with the last client that they were attached for, with `close`, or with the process.
    Those of a recording, which `load` makes, show what was known when it was saved.
    In a Jupyter kernel what they know is still served when their last client has closed: until
    diagnostics of another cluster take their place there, or `close`.
    """

    def __init__(self, source: Target | Recording) -> None:
        self.id: str = secrets.token_hex(8)
        self.name: str = source.name or announce.session_name(kernel=announce.kernel_id())
        self.scheduler_id, self.address = source.scheduler_id, source.address
        self._is_recording = isinstance(source, Recording)
        self._clients: list[weakref.ref[Client]] = []  # keeps none of them alive
        self._composition = Composition(source, self.id, self.name, own_listen(), self._is_ending)
        self._keeps_history = announce.connection_file() != ""
        self._keeps_end = self._keeps_history or self._composition.saves_runs
        self._is_history = False
        self._n_keeping = 0
        self._why_closed = CLOSED
        self._started: Future[None] = Future()
        self._end = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._is_serving, self._wake = asyncio.Event(), asyncio.Event()
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
        return f"<Diagnostics {self.id} of {self.name!r}: {state}>"

    def table(self, plot: str, **arguments: str) -> Any:  # a `Table`, or a coroutine of it
        """Return what a plot shows as columns, with their units: ``pandas.DataFrame(t.columns)``.

        Parameters
        ----------
        plot : str
            Name, such as ``"progress"``; `plots` has them.
        **arguments : str
            What to show of many, as of `dask_diag_lab.plot`; ``start``, ``stop`` and ``count`` of
            a task stream or a profile.

        Returns
        -------
        Table
            `Table.note` says what is left out or late, or why there are no rows. On the loop of an
            asynchronous client a coroutine of it.

        Raises
        ------
        ValueError
            There is no such plot, or no such argument; the message has those that there are.
        RuntimeError
            These diagnostics are closed, or Bokeh is missing.
        """
        from dask_diag_lab.server.export import read_table

        return self.call(lambda: read_table(self.url, plot, arguments))

    def export(self, plot: str, path: str | os.PathLike[str], **arguments: str) -> Any:
        """Write what a plot shows to a file.

        Parameters
        ----------
        plot, **arguments
            As of `table`.
        path : str or path
            Also a URL that fsspec knows. Its ending says what is written: ``.csv`` or ``.json``,
            of a task stream also ``.trace.json`` (Chrome Trace Event Format, for
            https://ui.perfetto.dev), of a profile ``.speedscope.json`` (for
            https://www.speedscope.app). A ``.gz`` behind it compresses.

        Returns
        -------
        None
            Or a coroutine, on the loop of an asynchronous client.

        Raises
        ------
        ValueError
            As of `table`; or the plot has no such file.
        OSError
            The file cannot be written.
        RuntimeError
            As of `table`.
        """
        from dask_diag_lab.server.export import download

        return self.call(lambda: download(self.url, plot, os.fspath(path), arguments))

    def save(self, path: str | os.PathLike[str], *, run: int = 0) -> Any:
        """Write all that is known of the cluster to a file, with the profile of all tasks.

        Parameters
        ----------
        path : str or path
            Such as ``"etl.daskrun"``; `dask_diag_lab.load`, the command ``dask-diag-lab open`` and
            a double click in JupyterLab open it.
        run : int
            Number of the run that its plots show at first; 0 for none. All is written in any case.

        Returns
        -------
        None
            Or a coroutine, on the loop of an asynchronous client.

        Raises
        ------
        OSError
            The file cannot be written; nothing is left of it.
        RuntimeError
            These diagnostics are closed.
        """
        selection = {"run": str(run)} if run else {}

        def save() -> None:
            taken = self._run_soon(lambda: self._composition.snapshot(selection), of_history=True)
            taken.result(START_TIMEOUT_S)(Path(path))

        return self.call(save)

    def submit(
        self,
        function: Callable[[LiveSession], T],
        *,
        is_fresh: bool = False,
        of_history: bool = False,
    ) -> Future[T]:
        """Run ``function(live)`` on the loop of these diagnostics: the only way to what is known.

        Returns at once.

        Parameters
        ----------
        function : callable
            Takes the `LiveSession`, returns data of its own: nothing that changes later. It holds
            up every plot while it runs.
        is_fresh : bool
            Bring its history up to what the scheduler knows now before that.
        of_history : bool
            Also after their last client has closed, while they are served: with what is known.

        Returns
        -------
        Future
            Its exception is that of ``function``, a ``LinkLostError`` when the scheduler could not
            be reached, or a RuntimeError when these diagnostics ended.
        """
        ask = self._composition.ask
        is_fresh = is_fresh and not (of_history and self._is_history)
        return self._run_soon(lambda: ask(function, is_fresh=is_fresh), of_history=of_history)

    def draw(
        self,
        function: Callable[[ServerContext], Coroutine[Any, Any, T]],
        *,
        of_history: bool = False,
    ) -> Future[T]:
        """Run a coroutine function with what plots are drawn from; fails as `submit` does.

        With ``of_history`` also after their last client has closed, while they are served.
        """

        async def run() -> T:
            return await function(await self._composition.server.context())

        return self._run_soon(run, of_history=of_history)

    def query(self, kind: str, **arguments: str | float) -> Future[Any]:  # plain data, by kind
        """Ask the cluster one of `schema.tables.QUERIES`; `transport.answers` describes results.

        Fails as `submit` does, and with a RuntimeError that says why there is no answer.
        """
        return self._run_soon(lambda: self._composition.query(kind, arguments))

    def _run_soon(
        self, make: Callable[[], Coroutine[Any, Any, T]], *, of_history: bool = False
    ) -> Future[T]:
        """Run a coroutine on the loop once it serves; see `submit`."""
        answer: Future[T] = Future()

        async def run() -> None:
            await self._is_serving.wait()
            answer.set_result(await make())

        def end(ran: Future[None]) -> None:
            if ran.cancelled():  # with all that was on the loop when it ended
                answer.set_exception(RuntimeError(self._why_closed))
            elif (error := ran.exception()) is not None:
                answer.set_exception(error)

        running = run()
        with contextlib.suppress(RuntimeError):  # the loop has been closed
            if not (self._end.is_set() if of_history else self.is_closed):
                asyncio.run_coroutine_threadsafe(running, self._loop).add_done_callback(end)
                return answer
        running.close()
        answer.set_exception(RuntimeError(self._why_closed))
        return answer

    def call(self, function: Callable[[], T]) -> T | Coroutine[Any, Any, T]:
        """Call what blocks; on the loop of an asynchronous client return a coroutine that does."""
        if any(client.asynchronous for client in self._living):
            return asyncio.to_thread(function)
        return function()

    # --- for `_Attachments`

    def start(self) -> None:
        """Start the thread; returns at once."""
        self._thread.start()

    def add(self, client: Client) -> None:
        """Stay for `client` too; harmless to repeat."""
        if not self.is_for(client):
            self._clients.append(weakref.ref(client))
            name = str(client.id)
            self.submit(lambda live: live.history.runs.clients.add(name))

    def note_code(self, piece: Piece) -> None:
        """Note that a piece of the code of their clients runs, or has ended."""
        self.submit(lambda live: live.note_code(piece))

    @contextlib.contextmanager
    def kept(self) -> Iterator[None]:
        """Stay in this block, though the last client closes in it."""
        self._n_keeping += 1
        try:
            yield
        finally:
            self._n_keeping -= 1
            self._look_now()

    @property
    def has_other_blocks(self) -> bool:
        """Whether more than one block of `kept` is open."""
        return self._n_keeping > 1

    def is_for(self, client: Client) -> bool:
        """Whether they were attached for `client`."""
        return any(known is client for known in self._living)

    # --- clients

    @property
    def _living(self) -> list[Client]:
        return [client for known in self._clients if (client := known()) is not None]

    def _has_client(self) -> bool:
        """Whether one of them, and its cluster, is neither closed nor closing, nor forgotten.

        A recording needs none.
        """
        is_left = all(_is_closed(one) or _is_closed(one.cluster) for one in self._living)
        return self._is_recording or not is_left

    def _is_ending(self) -> bool:
        """Whether the cluster is about to end: a kernel that shuts down ends its workers first."""
        return not self._has_client() or bool(getattr(_shell(), "exit_now", False))

    def _is_over(self) -> bool:
        """Whether to follow no more; where runs are saved also in a kernel that shuts down.

        With workers in processes it is often killed before it comes to what is done at exit.
        """
        return self._is_ending() if self._composition.saves_runs else not self._has_client()

    @property
    def _is_cluster_closed(self) -> bool:
        """Whether the cluster is known to close, or to have closed, once no client is open.

        Where clients are closed and nobody says anything of the cluster, it may still run.
        """
        clusters = (client.cluster for client in self._living)
        return any(map(_is_closed, clusters))

    async def final_pull(self) -> None:
        """On the loop of a client that begins to close, wait until they know all they can.

        While nobody looks that may be the last two seconds, and most of a short history. Waits
        `LAST_S` at most, and not where there is another client, or neither history nor runs are
        kept.
        """
        if self._keeps_end and not self._has_client():
            self._look_now()
            await until(lambda: self.is_closed or self._has_client(), LAST_S)

    # --- in the thread

    def _run(self) -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                runner.run(self._main())
        except Exception as error:  # the end of the thread's world: say it once, in the log
            logger.warning("Dask diagnostics could not run: %s", error, exc_info=error)
            if not self._started.done():
                self._started.set_exception(RuntimeError(f"Dask diagnostics: {error}"))

    async def _main(self) -> None:
        try:
            await self._composition.start()
            self._is_serving.set()
            self._started.set_result(None)
            while not self._end.is_set() and not self._is_history:
                await self._follow()
            if self._is_history:
                await self._composition.detach()
                # One that shuts its cluster down does that only now.
                await until(lambda: self._end.is_set() or not self._is_closing(), LAST_S)
                self._composition.mark_closed(is_cluster_closed=self._is_cluster_closed)
                await self._see_cluster_close()
            while not self._end.is_set():
                await self._wait()
        except Exception as error:  # before those are told who wait for an answer
            self._why_closed = f"These Dask diagnostics could not run: {error}"
            raise
        finally:
            # Before the rest: `attach` from here on makes new diagnostics.
            self._end.set()
            _attachments.forget(self)
            await self._composition.close()

    async def _follow(self) -> None:
        """Follow the scheduler while there is a client; then end, or become its history."""
        if not self._is_over() or self._n_keeping:
            await self._wait(CLIENT_CHECK_S)
            return
        if self._keeps_end:
            await self._composition.feed.pull_all()
        with _attachments.lock:
            if not self._is_over() or self._n_keeping:  # attached meanwhile for another one
                return
            if self._keeps_history and self._composition.has_data and not self._end.is_set():
                self._is_history = True
                _attachments.keep(self)
            else:
                self._end.set()

    async def _see_cluster_close(self) -> None:
        """Say it of a cluster that closes after its client, as the next line of a cell has it."""
        while not self._end.is_set() and any(client.cluster for client in self._living):
            if self._is_cluster_closed:
                self._composition.mark_closed(is_cluster_closed=True)
                return
            await self._wait(CLIENT_CHECK_S)

    def _is_closing(self) -> bool:
        return any(client.status == "closing" for client in self._living)

    async def _wait(self, at_most_s: float | None = None) -> None:
        """Wait until there may be something to do, or for so long."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._wake.wait(), at_most_s)
        self._wake.clear()

    def _look_now(self) -> None:
        """Have the thread look at once whether it is to end; from any thread."""
        with contextlib.suppress(RuntimeError):  # the loop has ended by itself meanwhile
            self._loop.call_soon_threadsafe(self._wake.set)


def _is_closed(one: Any) -> bool:  # a client; whatever has a scheduler's address; None for none
    """Whether a client or a cluster is closed, or begins to close."""
    if not getattr(one, "shutdown_on_close", True):  # as gateways have it: the cluster goes on
        return False
    status = getattr(one, "status", "")
    return getattr(status, "name", status) in ("closing", "closed")  # gateways have plain words


def _shell() -> InteractiveShell | None:
    """Return what executes cells here, None where nothing does."""
    shell: InteractiveShell | None
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell


class CellWatch:
    """Follows the cells that a shell executes.

    Parameters
    ----------
    shell : InteractiveShell
        It may execute a cell now.
    on_change : callable
        Takes a `Piece` of this process's clock when a cell begins, and when it ends.

    Attributes
    ----------
    running : Piece or None
        The cell that is executed.
    """

    def __init__(self, shell: InteractiveShell, on_change: Callable[[Piece], None]) -> None:
        self._shell, self._on_change = shell, on_change
        self.running: Piece | None = None
        code = announce.running_code()
        if code or announce.own_kernel() is None:  # else a widget's button made the client
            self._begin(code, announce.running_cell().get("cell", [None])[0])
        shell.events.register("pre_run_cell", self._began)
        shell.events.register("post_run_cell", self._ended)

    def _began(self, info: Any) -> None:  # IPython's ExecutionInfo
        if info.store_history:  # else a magic runs its cell once more
            self._end()
            self._begin(info.raw_cell, getattr(info, "cell_id", None))

    def _begin(self, code: str, cell: str | None) -> None:
        # Not `execution_count`: some versions of IPython count a cell before it runs, others after.
        count, now = int(self._shell.displayhook.prompt_count), time.time()
        self.running = Piece(secrets.token_hex(8), name_of_code(code), cell or "", count, start=now)
        self._on_change(replace(self.running))

    def _ended(self, result: Any) -> None:  # IPython's ExecutionResult
        if result.info.store_history:
            if self.running is not None and result.execution_count is not None:
                self.running.count = result.execution_count
            self._end()

    def _end(self) -> None:
        ended, self.running = self.running, None
        if ended is not None:
            ended.stop = time.time()
            self._on_change(ended)


class _Attachments:
    """The diagnostics of this process: open ones by scheduler id, recordings, and the one history.

    They belong to the process and not to a caller: attaching has to be idempotent for any number
    of clients that do not know of each other. There is a history, that of the cluster which closed
    last, until another cluster is attached: it may be 150 MB.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._cells: CellWatch | None = None
        self._open: dict[str, Diagnostics] = {}
        self._history: Diagnostics | None = None
        self._loaded: set[Diagnostics] = set()

    def attach(self, target: Target, client: Client) -> Diagnostics:
        """Return the diagnostics of `target`, started now if there were none."""
        with self.lock:
            found = self._open.get(target.scheduler_id) or self._at(target.address)
            if found is not None and not found.is_closed:
                self._open.pop(found.scheduler_id, None)
                found.scheduler_id = target.scheduler_id
                self._open[target.scheduler_id] = found
                found.add(client)
                return found
            if self._history is not None:
                self._history.close(timeout_s=0)
            made = self._open[target.scheduler_id] = Diagnostics(target)
            made.add(client)
            made.start()
            self._follow_cells(made)
            return made

    def _follow_cells(self, diagnostics: Diagnostics) -> None:
        """Tell diagnostics that are new which cell runs, and all which run from now on."""
        if (shell := _shell()) is None:
            return
        if self._cells is None:
            self._cells = CellWatch(shell, self._note_cell)
        if self._cells.running is not None:
            diagnostics.note_code(self._cells.running)

    def _note_cell(self, cell: Piece) -> None:
        for diagnostics in list(self._open.values()):
            diagnostics.note_code(cell)

    def load(self, path: Path) -> Diagnostics:
        """Return diagnostics of a recording, started now."""
        made = Diagnostics(Recording(path))
        with self.lock:
            self._loaded.add(made)
        made.start()
        return made

    def _at(self, address: str) -> Diagnostics | None:
        """Return the open diagnostics of an address: where a scheduler has been started anew."""
        return next((one for one in self._open.values() if one.address == address), None)

    def of_scheduler(self, scheduler_id: str) -> Diagnostics | None:
        """Return the open diagnostics of a scheduler, None for none."""
        return self._open.get(scheduler_id)

    async def final_pull(self, client: Client) -> None:
        """Bring the history of a client that begins to close up to now, in a second at most."""
        with self.lock:
            found = [one for one in self._open.values() if one.is_for(client)]
        for diagnostics in found:
            await diagnostics.final_pull()

    def forget(self, diagnostics: Diagnostics) -> None:
        """Remove `diagnostics`; harmless when it is not here."""
        with self.lock:
            if self._open.get(diagnostics.scheduler_id) is diagnostics:
                del self._open[diagnostics.scheduler_id]
            if self._history is diagnostics:
                self._history = None
            self._loaded.discard(diagnostics)

    def history_of(self, client: Client | None) -> Diagnostics | None:
        """Return the history that is kept, if it is of a client's cluster, or of any where None."""
        kept = self._history
        return kept if kept is not None and (client is None or kept.is_for(client)) else None

    def keep(self, diagnostics: Diagnostics) -> None:
        """Make an open one the history, in the place of the one before."""
        with self.lock:
            self.forget(diagnostics)
            before, self._history = self._history, diagnostics
        if before is not None:
            before.close(timeout_s=0)

    def close_all(self) -> None:
        """At interpreter exit: leave no record behind."""
        for diagnostics in (*self._open.values(), *self._loaded, self._history):
            if diagnostics is not None:
                diagnostics.close(timeout_s=2)


_attachments: Final = _Attachments()
atexit.register(_attachments.close_all)
if hasattr(os, "register_at_fork"):  # nothing of ours runs in a child, and nothing is its to remove
    os.register_at_fork(after_in_child=lambda: _Attachments.__init__(_attachments))


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
    ValueError
        There is no client.
    RuntimeError
        It is not connected.
    """
    from distributed import default_client

    diagnostics = attach_quietly(default_client() if client is None else client)
    if reason := missing_bokeh():
        warnings.warn(reason, RuntimeWarning, stacklevel=2)
    return diagnostics


def known_of(client: Client | None = None) -> Diagnostics:
    """Do what `attach` does; of a cluster that has closed return what is kept of it, if it is."""
    try:
        return attach(client)
    except (RuntimeError, ValueError):
        if (kept := _attachments.history_of(client)) is None:
            raise
        return kept


def load(path: str | os.PathLike[str]) -> Diagnostics:
    """Open a recording: what `Diagnostics.save` and `Run.save` have written.

    There need be no cluster and no client. In a Jupyter kernel it is in the Dask sidebar, by the
    name of its file, until it is closed.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    Diagnostics
        Of which `table`, `export`, `plots`, `url` and `close` work as of a cluster; what its
        workers would have to be asked for is not there.

    Raises
    ------
    ValueError
        It is no recording, a part of one, or of a newer version; the text says what to do.
    OSError
        The file cannot be read.
    """
    return _attachments.load(Path(path))


def attach_quietly(client: Client) -> Diagnostics:
    """Do what `attach` does, without a warning: for the preload, which may not print."""
    return _attachments.attach(Target.of(client), client)


diagnostics_of: Final = _attachments.of_scheduler
final_pull: Final = _attachments.final_pull
