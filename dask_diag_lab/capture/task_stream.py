"""``get_task_stream``: what ran inside a block or between two times, drawn by the stream's view.

Must not touch the store but through `Diagnostics.submit`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

from dask_diag_lab.capture import task_rows
from dask_diag_lab.capture.block import Block
from dask_diag_lab.capture.task_rows import Moment, TaskRows

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
        For ``plot='save'``: a path, or a URL that ``fsspec`` can write; ``.gz`` compresses.
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


class TaskStreamCapture(Block):
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

    def __init__(self, client: Client | None, plot: Plotting, filename: str) -> None:
        super().__init__()
        if plot not in (True, False, "save"):
            raise ValueError(f"plot is {plot!r}; it may be True, False or 'save'")
        self.data: list[dict[str, Any]] = []  # in `distributed`'s form
        self.figure: Plot | None = None
        self._client = client
        self._plot = plot
        self._draws = bool(plot)
        self._filename = filename

    def read(
        self, diagnostics: Diagnostics, find: Callable[[Store], tuple[int, int]]
    ) -> Any:  # rows, or a pair
        """Do without a block what `Diagnostics.get_task_stream` does, between cursors."""
        self._diagnostics = diagnostics
        self._take(task_rows.between(self._ask, *self._ask_fresh(find)), "")
        return (self.data, self.figure) if self._plot else self.data

    def _finish(self, *, has_failed: bool) -> None:  # noqa: ARG002  # the same either way
        rows, _ = self._end()
        note = LOST.format(n=self.lost) if self.lost else ""
        if note:
            warnings.warn(note, RuntimeWarning, stacklevel=3)
        self._take(rows, note)
        if self._problem:
            raise RuntimeError(f"The end of the task stream is missing: {self._problem}.")

    def _take(self, rows: TaskRows, note: str) -> None:
        """Keep what ran, and its picture where one is wanted."""
        self.data.extend(task_rows.as_records(rows))
        if not self._plot:
            return
        from dask_diag_lab.capture.task_stream_figure import TITLE, figure_of, stream_panel
        from dask_diag_lab.server.saved import save_page, saved_page

        store = self._store_of(rows)
        panel = stream_panel(store, note)
        self.figure = figure_of(panel, store.slots.count)
        if self._plot == "save":
            save_page(self._filename, saved_page(TITLE, "", [panel]))
