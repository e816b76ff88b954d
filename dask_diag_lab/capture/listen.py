"""``listen``: a function of the user's is told of every task that ends, while it ends.

Must not touch the store but through `Diagnostics.submit` and on its loop.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Final, Self

from dask_diag_lab.capture.task_rows import TaskRows, as_records, capture_rows

if TYPE_CHECKING:
    from types import TracebackType

    from distributed import Client

    from dask_diag_lab.session import Diagnostics
    from dask_diag_lab.store import Store

logger = logging.getLogger(__name__)

Records = list[dict[str, Any]]  # in `distributed`'s form

MAX_WAITING: Final = 200_000
"""Actions, of some 800 bytes each, that wait for a slow function; more are lost, and counted."""

LEFT_S: Final = 1.0
"""So long `Listener.close` waits for the function to end what it does."""


class Listener:
    """Calls a function with the tasks that ended, until `close`; made by `listen`.

    The function runs in a thread of its own, one call at a time: it may take its time without
    holding up the plots.

    Attributes
    ----------
    lost : int
        Actions of tasks that the function was not told of, because it was too slow or because
        the diagnostics were overrun.
    error : Exception or None
        What the function raised; it is not called again after that.
    """

    def __init__(self, function: Callable[[Records], object], diagnostics: Diagnostics) -> None:
        self.lost = 0
        self.error: Exception | None = None
        self._function = function
        self._diagnostics = diagnostics
        self._cursor = 0
        self._dropped = 0
        self._waiting: SimpleQueue[tuple[int, Records]] = SimpleQueue()
        self._n_waiting = 0
        self._counting = threading.Lock()
        self._is_closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="dask-diag-lab-listen", daemon=True)
        self._thread.start()
        begun = diagnostics.submit(self._begin, is_fresh=True)
        begun.add_done_callback(self._begin_anyway)

    def _begin_anyway(self, begun: Future[None]) -> None:
        """Begin with what is known where the scheduler could not be reached at that moment.

        Its tasks are told once it is back; where there are no diagnostics any more, nothing will.
        """
        if begun.exception() is not None:
            again = self._diagnostics.submit(self._begin)
            again.add_done_callback(self._give_up)

    def _give_up(self, begun: Future[None]) -> None:
        error = begun.exception()
        if error is not None and not self._is_closed.is_set():
            logger.warning("A listener is told of no task: %s", error)
            self._is_closed.set()

    def close(self) -> None:
        """Tell the function of nothing more; harmless twice."""
        if self._is_closed.is_set():
            return
        self._is_closed.set()
        self._diagnostics.submit(self._end)
        if threading.current_thread() is not self._thread:
            self._thread.join(LEFT_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    # On the loop of the diagnostics.

    def _begin(self, store: Store) -> None:
        self._cursor, self._dropped = store.actions.total, store.actions.dropped
        if not self._is_closed.is_set():
            store.on_apply.append(self._hear)

    def _end(self, store: Store) -> None:
        with contextlib.suppress(ValueError):  # it had not begun
            store.on_apply.remove(self._hear)

    def _hear(self, store: Store) -> None:
        actions = store.actions
        self.lost += actions.dropped - self._dropped
        self._dropped = actions.dropped
        while self._cursor < actions.total:
            rows = capture_rows(store, self._cursor, actions.total)
            self.lost += rows.cursor - self._cursor - len(rows)
            self._cursor = rows.cursor
            self._keep(rows)

    def _keep(self, rows: TaskRows) -> None:
        with self._counting:
            has_room = self._n_waiting + len(rows) <= MAX_WAITING
            self._n_waiting += len(rows) if has_room else 0
        if has_room:
            self._waiting.put((len(rows), list(as_records(rows))))
        else:
            self.lost += len(rows)

    # In the thread of the function.

    def _run(self) -> None:
        while not (self._is_closed.is_set() or self._diagnostics.is_closed):
            try:
                n_rows, records = self._waiting.get(timeout=0.2)
            except Empty:
                continue
            with self._counting:
                self._n_waiting -= n_rows
            try:
                self._function(records)
            except Exception as error:  # the user's own: it must not end the diagnostics
                logger.warning("A listener failed and is not called again", exc_info=error)
                self.error = error
                self.close()


def listen(function: Callable[[Records], object], client: Client | None = None) -> Listener:
    """Call ``function`` with every task that ends from now on, a list of records at a time.

    Parameters
    ----------
    function : callable
        Takes a list of dicts, one for each task: those of `get_task_stream.data`. It is called
        in a thread of its own, four times a second while somebody looks at a plot and every two
        seconds else (``diag-lab.idle-interval``).
    client : distributed.Client, optional
        Default: the current client.

    Returns
    -------
    Listener
        Ends with `Listener.close`, at the end of a ``with`` block, or with the client.

    Raises
    ------
    TypeError
        ``function`` cannot be called.
    RuntimeError
        There is no connected client.

    Examples
    --------
    >>> slow = []
    >>> def note(tasks):
    ...     for task in tasks:
    ...         if task["startstops"][-1]["stop"] - task["startstops"][-1]["start"] > 60:
    ...             slow.append(task["key"])
    >>> listener = dask_diag_lab.listen(note)  # doctest: +SKIP
    """
    from dask_diag_lab.session import attach

    if not callable(function):
        raise TypeError(f"listen wants a function, not {function!r}")
    return Listener(function, attach(client))
