"""``performance_report``: one HTML file of what ran in a block, made from the history.

Must not touch the history but through `Diagnostics`, and does its work in the thread of its caller:
the scheduler is asked what a live plot asks.
"""

from __future__ import annotations

import inspect
import sys
import time
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from dask_diag_lab.capture import task_rows
from dask_diag_lab.capture.block import CaptureBlock
from dask_diag_lab.capture.task_rows import TIMEOUT_S, TaskRows
from dask_diag_lab.schema import Kind, Outcome
from dask_diag_lab.views import format as fmt

if TYPE_CHECKING:
    from dask_diag_lab.server.saved import PlotRequest

# Data is awaited for 30 s at most; after that a busy process may still draw for long.
DRAW_TIMEOUT_S: Final = 600.0
NO_CODE: Final = "<Code not available>"


class performance_report(CaptureBlock):  # noqa: N801  # `distributed`'s name for it
    """Write one HTML file of what ran in a block: ``with performance_report("report.html"): …``.

    Takes what `distributed`'s context manager of this name takes, and needs no dashboard. The file
    has everything in it and opens without network: a summary with the calling code, the plots as
    they are live (task stream, progress, compute time, memory, profiles, transfers and bandwidths,
    metrics, the scheduler's process), the scheduler's log, versions and settings that bear on
    speed, without secrets. It is written also where the block raises. With an asynchronous client
    it is used with ``async with``.

    Parameters
    ----------
    filename : str
        A path, or a URL that ``fsspec`` can write; an ending like ``.gz`` compresses.
    stacklevel : int
        Whose code is shown: 1 is the function that has the block, 2 its caller.
    mode : str, optional
        One of Bokeh's. With ``"cdn"`` the file is smaller and the browser fetches BokehJS; with
        any other, and by default, everything is in the file.
    storage_options : dict, optional
        For ``fsspec.open``.

    Raises
    ------
    ValueError
        There is no client; no such ``mode``.
    RuntimeError
        At the begin of the block: its scheduler cannot be reached. At the end: the client was
        closed in the block.
    OSError
        At the begin of the block: the file cannot be written. At the end, where that shows only
        then: the message names a temporary file that has the report. Where the block itself
        raised, a warning says so instead.
    """

    def __init__(
        self,
        filename: str = "dask-report.html",
        stacklevel: int = 1,
        mode: str | None = None,
        storage_options: dict[str, Any] | None = None,  # fsspec's own
    ) -> None:
        super().__init__()
        if mode is not None:
            from bokeh.resources import Resources

            Resources(mode)  # type: ignore[arg-type]  # raises as `distributed` does
        self.filename, self._mode = filename, mode
        self._what = f"The performance report {filename}"
        self.storage_options = storage_options
        self._output = filename
        self._output_options = {"auto_mkdir": True, **(storage_options or {})}  # as `distributed`
        self._depth = max(stacklevel, 1)
        self._code = NO_CODE

    def __enter__(self) -> Self:
        self._code = _source_at(self._depth + 1)
        return super().__enter__()

    async def __aenter__(self) -> Self:
        self._code = _source_at(self._depth + 1)
        return await super().__aenter__()

    def _finish(self) -> None:
        from dask_diag_lab.server.saved import save_page

        save_page(self._output, self._page(), self._output_options)

    def _page(self) -> str:
        from dask_diag_lab.server.pages import facts_of
        from dask_diag_lab.server.saved import Panel, live_panels, render, saved_page

        # First of all: it tells of the cluster as it is now.
        asked = self._diagnostics.draw(partial(facts_of, since=self._start_s))
        rows, stop_s = self._end()
        self._await_reports(stop_s)
        plots = partial(live_panels, wanted=_requests(self._start_s, stop_s))
        live = self._diagnostics.draw(plots).result(DRAW_TIMEOUT_S)
        facts = asked.result(TIMEOUT_S)
        notes = []
        if self._problem:
            notes.append(f"The end is missing: {self._problem}.")
        if self.lost:
            lost = fmt.plural(self.lost, "action")
            notes.append(f"{lost} of this time were lost: buffers were full.")
        summary = render(
            "summary.html",
            note=" ".join(notes),
            facts=_facts(rows, self._start_s, stop_s),
            code=self._code,
            **facts,
        )
        system = Panel("Logs and Settings", render("system.html", **facts))
        panels = [*live[:2], Panel("Summary", summary), *live[2:], system]
        began = (
            f"{time.strftime('%Y-%m-%d', time.localtime(self._start_s))} {fmt.clock(self._start_s)}"
        )
        return saved_page("Dask Performance Report", began, panels, self._mode)


def _requests(start_s: float, stop_s: float) -> list[PlotRequest]:
    """Return the live plots of a report, in the order of its tabs."""
    from dask_diag_lab.server.saved import PlotRequest

    period = {"start": f"{start_s:.6f}", "stop": f"{stop_s:.6f}"}
    return [
        PlotRequest("budget", period),
        PlotRequest("findings", period),
        PlotRequest("task-stream", period),
        PlotRequest("progress", period),
        PlotRequest("compute-time-per-key", period),
        PlotRequest("workers-memory-timeseries", period, "Memory"),
        PlotRequest("workers-cpu-timeseries", period, "CPU"),
        PlotRequest("profile", period),
        PlotRequest("profile-server", {"source": "worker-loops", **period}, "Worker Loops"),
        PlotRequest("profile-server", {"source": "scheduler-loop", **period}, "Scheduler Loop"),
        PlotRequest("transfers", period),
        PlotRequest("bandwidth-workers", period),
        PlotRequest("bandwidth-types", {}),
        PlotRequest("fine-performance-metrics", period, "Fine Metrics"),
        PlotRequest("exceptions", period),
        PlotRequest("scheduler-system", period, "Scheduler"),
    ]


def _source_at(depth: int) -> str:
    """Return the code that runs so many calls above the caller, '' for this package's own."""
    try:
        frame = sys._getframe(depth)
        if str(frame.f_globals.get("__name__")).startswith("dask_diag_lab."):  # the command
            return ""
        return inspect.getsource(frame)
    except (OSError, TypeError, ValueError):  # as typed at a prompt; there are not so many
        shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
        return NO_CODE if shell is None else str(shell.history_manager.input_hist_raw[-1])  # a cell


def _facts(rows: TaskRows, start_s: float, stop_s: float) -> list[tuple[str, str]]:
    """Return names and values of what ran, as the summary has them; those without a value go."""
    kind, outcome = rows.columns["kind"], rows.columns["outcome"]
    is_task = kind == Kind.COMPUTE
    n_tasks, n_failed = int(is_task.sum()), int((is_task & (outcome != Outcome.OK)).sum())
    took_s = rows.columns["stop"] - rows.columns["start"]
    seconds = np.bincount(kind, took_s, len(task_rows.ACTIONS)).tolist()
    return [
        ("Began", time.strftime("%Y-%m-%d %H:%M:%S %Z", time.localtime(start_s))),
        ("Duration", fmt.duration(stop_s - start_s)),
        ("Tasks", fmt.count(n_tasks)),
        ("Failed", fmt.count(n_failed) if n_failed else ""),
        *(
            (f"Time in {name}", fmt.duration(s) if s else "")
            for name, s in zip(task_rows.ACTIONS, seconds, strict=True)
        ),
    ]
