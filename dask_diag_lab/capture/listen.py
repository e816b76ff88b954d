"""``listen``: calls a function of the user's with every task that ends, while others run.

Must not touch the store but through `Diagnostics.submit` and on its loop.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Self

from dask_diag_lab.capture.task_rows import (
    TIMEOUT_S,
    Position,
    TaskRows,
    as_records,
    capture_rows,
    position,
)
from dask_diag_lab.transport.link import LinkLostError

if TYPE_CHECKING:
    from distributed import Client

    from dask_diag_lab.session import Diagnostics
    from dask_diag_lab.store import Store

logger = logging.getLogger(__name__)

Records = list[dict[str, Any]]  # in `distributed`'s form

POLL_S: Final = 0.25
# So long `Listener.close` waits for the function to end what it does.
LEFT_S: Final = 1.0


class Listener:
    """Calls a function with the tasks that ended, until `close`; made by `listen`.

    The function runs in a thread of its own, one call at a time: it may take its time without
    holding up the plots. What it has not been given yet waits in the history of the plots.

    Attributes
    ----------
    lost : int
        Actions of tasks that the function was not given, because it was too slow or because
        the diagnostics were overrun.
    error : Exception or None
        What the function raised; it is not called again after that.
    """

    def __init__(self, function: Callable[[Records], object], diagnostics: Diagnostics) -> None:
        self.lost = 0
        self.error: Exception | None = None
        self._function = function
        self._diagnostics = diagnostics
        self._is_closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="dask-diag-lab-listen", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Tell the function of nothing more; harmless twice."""
        self._is_closed.set()
        if threading.current_thread() is not self._thread:
            self._thread.join(LEFT_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _run(self) -> None:
        try:
            at = self._begin()
        except (RuntimeError, TimeoutError) as error:
            if not self._is_closed.is_set():
                logger.warning("A listener gets no tasks: %s", error)
            return
        with contextlib.suppress(RuntimeError, TimeoutError):  # the diagnostics have ended
            self._follow(at)

    def _begin(self) -> Position:
        """Return where to begin: with what is known where the scheduler does not answer now."""
        try:
            return self._diagnostics.submit(position, is_fresh=True).result(TIMEOUT_S)
        except LinkLostError:
            return self._diagnostics.submit(position).result(TIMEOUT_S)

    def _follow(self, at: Position) -> None:
        while not (self._is_closed.is_set() or self._diagnostics.is_closed):
            rows, now = self._diagnostics.submit(partial(_read, at=at)).result(TIMEOUT_S)
            self.lost += now.cursor - at.cursor - len(rows) + now.dropped - at.dropped
            at = now
            if not len(rows):
                self._is_closed.wait(POLL_S)
                continue
            try:
                self._function(list(as_records(rows)))
            except Exception as error:  # the user's own: it must not end the diagnostics
                logger.warning("A listener failed and is not called again", exc_info=error)
                self.error = error
                self.close()


def _read(store: Store, at: Position) -> tuple[TaskRows, Position]:
    """Return what ended since a position, and where to go on."""
    rows = capture_rows(store, at.cursor, store.actions.total)
    return rows, Position(rows.cursor, store.actions.dropped)


def listen(function: Callable[[Records], object], client: Client | None = None) -> Listener:
    """Call ``function`` with every task that ends from now on, a list of records at a time.

    Parameters
    ----------
    function : callable
        Takes a list of dicts, one for each task: those of `TaskStreamCapture.data`. It is called
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
