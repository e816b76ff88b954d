"""``get_task_stream``: what ran inside a block or between two times, as rows and as a picture.

Must not touch the history but through `Diagnostics`.
"""

from __future__ import annotations

import asyncio
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal

from dask_diag_lab.capture import task_rows
from dask_diag_lab.capture.block import CaptureBlock, IncompleteError
from dask_diag_lab.capture.task_rows import TIMEOUT_S, Moment, TaskRows

if TYPE_CHECKING:
    from bokeh.models import Plot
    from bokeh.resources import Resources
    from distributed import Client

Plotting = bool | Literal["save"]
LOST: Final = "{n} of the actions in this block were lost: the diagnostics were overrun."


def get_task_stream(
    client: Client | None = None,
    plot: Plotting = False,
    filename: str = "task-stream.html",
    bokeh_resources: Resources | None = None,  # noqa: ARG001  # see below
    *,
    start: Moment | None = None,
    stop: Moment | None = None,
    count: int | None = None,
) -> Any:  # what it is depends on the arguments, and on the client
    """Collect what ran while a block was active, or between two times.

    ``with get_task_stream() as ts: …`` is `distributed`'s context manager of this name. With any of
    ``start``, ``stop`` and ``count`` it returns at once what ended before, as
    ``Client.get_task_stream`` does: recorded since `attach`.

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
    start, stop : float or str, optional
        Tasks that ended from one time on, and before the other: seconds since the epoch by the
        scheduler's clock, so long before now, as ``"60s"`` or ``"-500 ms"``, or ISO 8601.
    count : int, optional
        So many: the first after ``start`` or, without one, the last. Not obeyed where both
        ``start`` and ``stop`` are given.

    Returns
    -------
    TaskStreamCapture, list of dict, tuple, or coroutine
        The context manager. Or one dict for each task, in order of arrival, see
        `TaskStreamCapture.data`; with ``plot`` a pair of that and the `bokeh.models.Plot`; of an
        asynchronous client a coroutine of these.

    Raises
    ------
    TypeError, ValueError
        A time that is none; for another ``plot``; there is no client.
    RuntimeError
        The client is not connected, at the begin of a block at the latest; or the scheduler
        cannot be reached.
    """
    capture = TaskStreamCapture(client, plot, filename)
    if start is None and stop is None and count is None:
        return capture
    read = partial(capture.read, start, stop, count)
    return asyncio.to_thread(read) if capture.attach().asynchronous else read()


class TaskStreamCapture(CaptureBlock):
    """Collects what runs while a block is active; made by `get_task_stream`.

    All that has ended when the block ends is in; what ended before it began is not, whatever the
    clocks of the workers say. With an asynchronous client it is used with ``async with``.

    Attributes
    ----------
    data : list of dict
        One for each task that ended, empty until the block has ended: ``key``, ``worker``
        (address), ``thread``, ``status`` ("OK", "error", or "killed" when the worker died),
        ``startstops`` (what the thread did for it: ``action``, ``start`` and ``stop`` in seconds
        since the epoch on the scheduler's clock, and ``source`` for transfers), ``stimulus_id``.
        Of a result ``nbytes``, ``typename``, ``type`` (pickled) and ``metadata``; of a failed task
        ``cause``, ``exception`` and ``traceback`` (pickled), ``exception_text`` and
        ``traceback_text``. Left out are what of a key is beyond 500 characters, a type whose pickle
        is longer than some 240 bytes, such as a class of the notebook itself, and what was raised
        by more than one in eighty tasks or takes more than 16 kB.
    figure : bokeh.models.Plot or None
        To see it in a notebook: ``bokeh.io.output_notebook()`` after the block, also where it was
        called before, and then ``bokeh.io.show(ts.figure)``. Bokeh loads the scripts of what is
        imported by then, and what draws this figure is imported by the block.
    lost : int
        Actions of the block that are missing here because buffers were full; a warning tells too.

    Raises
    ------
    ValueError
        There is no client.
    RuntimeError
        At the begin of the block: the client is not connected. At either end: its scheduler
        cannot be reached; what is known by then is in `data`. Where the block itself raised, a
        warning says so instead.
    """

    _what = "All of the task stream"

    def __init__(self, client: Client | None, plot: Plotting, filename: str) -> None:
        super().__init__()
        if plot not in (True, False, "save"):
            raise ValueError(f"plot is {plot!r}; it may be True, False or 'save'")
        self.data: list[dict[str, Any]] = []  # in `distributed`'s form
        self.figure: Plot | None = None
        self._client = client
        self._plot = plot
        self._draws = bool(plot)
        self._output = filename if plot == "save" else ""

    def read(self, start: Moment | None, stop: Moment | None, count: int | None) -> Any:
        """Do without a block what `get_task_stream` does at once; returns rows, or a pair."""
        find = partial(task_rows.find_tasks, start=start, stop=stop, count=count)
        self._start()
        rows = task_rows.between(self._ask, *self._ask(find))
        begin_s = rows.columns["start"].min(initial=self._start_s)
        self._take(rows, begin_s, begin_s)
        return (self.data, self.figure) if self._plot else self.data

    def _finish(self) -> None:
        rows, stop_s = self._end()
        if self.lost:
            warnings.warn(LOST.format(n=self.lost), RuntimeWarning, stacklevel=4)
        self._take(rows, self._start_s, stop_s)
        if self._problem:
            raise IncompleteError(f"The end of the task stream is missing: {self._problem}.")

    def _take(self, rows: TaskRows, start_s: float, stop_s: float) -> None:
        """Keep what ran, and the picture of that time where one is wanted."""
        self.data.extend(task_rows.as_records(rows))
        if not self._plot:
            return
        from dask_diag_lab.server.saved import (
            PlotRequest,
            live_panels,
            picture_of,
            save_page,
            saved_page,
        )

        # A worker's clock is known to some 0.1 s, so that a task may seem to end outside the block.
        ends_s = rows.columns["stop"]
        start_s = ends_s.min(initial=start_s + 0.001) - 0.001
        stop_s = ends_s.max(initial=stop_s) + 0.001
        period = {"start": f"{start_s:.6f}", "stop": f"{stop_s:.6f}"}
        wanted = [PlotRequest("task-stream", period)]
        [panel] = self._diagnostics.draw(partial(live_panels, wanted=wanted)).result(TIMEOUT_S)
        figure: Any = picture_of(panel)
        height = min(max(18 * (figure.y_range.bounds[1] + 0.5) + 100, 300), 800)  # px, of its rows
        figure.update(title=panel.headline, sizing_mode="stretch_width", height=height)
        self.figure = figure
        if self._output:
            save_page(self._output, saved_page("Dask task stream", "", [panel]))
