"""``get_task_stream``: what ran inside a block or between two times, drawn by the stream's view.

Must not touch the store but through `Diagnostics.submit`.
"""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Self, TypeVar

from dask_diag_lab.capture import task_rows
from dask_diag_lab.capture.task_rows import TIMEOUT_S, Moment, Position, TaskRows
from dask_diag_lab.transport.link import LinkLostError

if TYPE_CHECKING:
    from bokeh.models import Plot
    from bokeh.resources import Resources
    from distributed import Client

    from dask_diag_lab.session import Diagnostics
    from dask_diag_lab.store import Store

T = TypeVar("T")
Plotting = bool | Literal["save"]
LOST: Final = "{n} of the actions in this block were lost: the diagnostics were overrun."


def get_task_stream(
    client: Client | None = None,
    plot: Plotting = False,
    filename: str = "task-stream.html",
    bokeh_resources: Resources | None = None,
    *,
    start: Moment | None = None,
    stop: Moment | None = None,
    count: int | None = None,
) -> Any:  # what it is depends on the arguments, and on the client
    """Collect what ran while a block was active, or between two times.

    ``with get_task_stream() as ts: …`` is `distributed`'s context manager of this name. With any of
    ``start``, ``stop`` and ``count`` it returns at once what ended before, as
    `Diagnostics.get_task_stream` does.

    Parameters
    ----------
    client : distributed.Client, optional
        Default: the current client.
    plot : bool or 'save'
        Make a figure as well, and with ``'save'`` write it to ``filename``.
    filename : str
        For ``plot='save'``.
    bokeh_resources : bokeh.resources.Resources, optional
        Taken for compatibility: a saved page has all it needs, and opens without network.
    start, stop, count
        As of `Diagnostics.get_task_stream`.

    Returns
    -------
    TaskStreamCapture, list of dict, tuple, or coroutine
        The context manager; or what `Diagnostics.get_task_stream` returns.

    Raises
    ------
    ValueError
        For another ``plot``.
    RuntimeError
        There is no connected client, at the begin of a block at the latest.
    """
    if start is None and stop is None and count is None:
        return TaskStreamCapture(client, plot, filename)
    from dask_diag_lab.session import attach

    return attach(client).get_task_stream(start, stop, count, plot, filename, bokeh_resources)


class TaskStreamCapture:
    """Collects what runs while a block is active; made by `get_task_stream`.

    All that has ended when the block ends is in; what ended before it began is not, whatever the
    clocks of the workers say. With an asynchronous client it is used with ``async with``.

    Attributes
    ----------
    data : list of dict
        One for each task that ended, empty until the block has ended: ``key``, ``worker``
        (address), ``thread``, ``status`` ("OK", "error", or "killed" when the worker died),
        ``startstops`` (what the thread did for it: ``action``, ``start`` and ``stop`` in seconds
        since the epoch on the scheduler's clock, and ``source`` for transfers) and, for results,
        ``nbytes``. Keys beyond 500 characters are cut.
    figure : bokeh.models.Plot or None
        To see it in a notebook: ``bokeh.io.output_notebook()`` after the block, also where it was
        called before, and then ``bokeh.io.show(ts.figure)``. Bokeh loads the scripts of what is
        imported by then, and what draws this figure is imported by the block.
    lost : int
        Actions of the block that are missing here because buffers were full; a warning tells too.

    Raises
    ------
    RuntimeError
        At the begin of the block: there is no connected client. At either end: its scheduler
        cannot be reached; what is known by then is in `data`.
    """

    _diagnostics: Diagnostics
    _begin: Position

    def __init__(self, client: Client | None, plot: Plotting, filename: str) -> None:
        if plot not in (True, False, "save"):
            raise ValueError(f"plot is {plot!r}; it may be True, False or 'save'")
        self.data: list[dict[str, Any]] = []  # in `distributed`'s form
        self.figure: Plot | None = None
        self.lost = 0
        self._client = client
        self._plot = plot
        self._filename = filename

    def __enter__(self) -> Self:
        if self._attach().asynchronous:
            raise TypeError("The client is asynchronous: write `async with get_task_stream(…)`.")
        self._start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._finish()

    async def __aenter__(self) -> Self:
        self._attach()
        await asyncio.to_thread(self._start)
        return self

    async def __aexit__(self, *exception: object) -> None:
        await asyncio.to_thread(self._finish)

    def read(
        self, diagnostics: Diagnostics, find: Callable[[Store], tuple[int, int]]
    ) -> Any:  # rows, or a pair
        """Do without a block what `Diagnostics.get_task_stream` does, between cursors."""
        self._diagnostics = diagnostics
        rows = task_rows.between(self._ask, *self._ask_fresh(find))
        self.data.extend(task_rows.as_records(rows))
        if not self._plot:
            return self.data
        self._draw(rows, "")
        return self.data, self.figure

    def _attach(self) -> Client:
        from dask_diag_lab.session import attach, current_client

        if self._plot:
            # What is missing for a figure is said before the block, not after an hour in it.
            import dask_diag_lab.capture.task_stream_figure  # noqa: F401
        client = current_client() if self._client is None else self._client
        self._diagnostics = attach(client)
        return client

    def _start(self) -> None:
        self._begin = self._ask_fresh(task_rows.position)

    def _ask_fresh(self, function: Callable[[Store], T]) -> T:
        try:
            return self._ask(function, is_fresh=True)
        except (LinkLostError, TimeoutError) as error:
            raise RuntimeError(f"No task stream can be captured: {_error_text(error)}.") from error

    def _finish(self) -> None:
        problem: Exception | None = None
        try:
            end = self._ask(task_rows.position, is_fresh=True)
        except (LinkLostError, TimeoutError) as error:
            problem = error
            end = self._ask(task_rows.position)
        self._collect(end)
        if problem is not None:
            message = f"The end of the task stream is missing: {_error_text(problem)}."
            raise RuntimeError(message) from problem

    def _collect(self, end: Position) -> None:
        rows = task_rows.between(self._ask, self._begin.cursor, end.cursor)
        self.data.extend(task_rows.as_records(rows))
        n_recorded = end.cursor - self._begin.cursor
        self.lost = n_recorded - len(rows) + end.dropped - self._begin.dropped
        note = LOST.format(n=self.lost) if self.lost else ""
        if note:
            warnings.warn(note, RuntimeWarning, stacklevel=4)
        if self._plot:
            self._draw(rows, note)

    def _draw(self, rows: TaskRows, lost: str) -> None:
        from dask_diag_lab.capture.task_stream_figure import figure_of, save_stream, store_of

        workers, now = self._ask(task_rows.surroundings)
        seen = {rows.texts[i] for i in set(rows.columns["worker"].tolist())}
        shown = [w for w in workers if isnan(w.ended) or w.address in seen]
        store = store_of(rows, shown, now)
        self.figure = figure_of(store)
        if self._plot == "save":
            save_stream(store, lost, Path(self._filename))

    def _ask(self, function: Callable[[Store], T], *, is_fresh: bool = False) -> T:
        return self._diagnostics.submit(function, is_fresh=is_fresh).result(TIMEOUT_S)


def _error_text(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return f"the diagnostics did not answer in {TIMEOUT_S:g} s"
    return str(error).rstrip(".")
