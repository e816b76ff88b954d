"""``progress``: how far given futures and all that they need have come.

Must not count or draw bars itself; decides between notebook and console.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, Final

from dask.utils import parse_timedelta
from distributed.client import futures_of
from distributed.utils import is_kernel

from dask_diag_lab.notebook.progress_follower import Follower
from dask_diag_lab.notebook.progress_report import Report, problem, summary

if TYPE_CHECKING:
    from dask_diag_lab.notebook.progress_widget import ProgressBars

GROUPS: Final = ("prefix", "spans")
JOIN_S: Final = 0.2


def progress(
    *futures: Any,  # futures, collections, and lists of such
    notebook: bool | None = None,
    multi: bool = True,
    complete: bool = True,
    group_by: str | Callable[[Any], Hashable] = "prefix",
    interval: str | float = "200ms",
    width: int = 40,
) -> ProgressBars | None:
    """Show how far futures are, with all the tasks that they need.

    Takes what the engine's function of this name takes. In a notebook it returns a widget at
    once, which goes on while cells run; a cell shows it as its result or with ``display``. In a
    console it blocks until all is done. It ends by itself with the computation or the client.
    Failed tasks are counted and the first one is named, and the others are waited for.

    Parameters
    ----------
    *futures
        Futures, collections that were persisted, and lists of such.
    notebook : bool, optional
        Default: whether this is a Jupyter kernel.
    multi : bool
        One bar for each group, in a notebook.
    complete : bool
        Count tasks that were done before, too.
    group_by : 'prefix', 'spans' or callable
        A callable takes a key, and runs on the scheduler.
    interval : str or float
        Time between two looks; a number is in seconds.
    width : int
        Characters of the bar in a console.

    Raises
    ------
    ValueError
        For another ``group_by``, or an ``interval`` that is not above 0.
    """
    if group_by not in GROUPS and not callable(group_by):
        raise ValueError(f"group_by is {group_by!r}; it may be 'prefix', 'spans' or a callable")
    interval_s = _seconds(interval)
    given = futures_of(futures)
    client = given[0].client if given else None
    keys = list({future.key for future in given})
    is_notebook = is_kernel() if notebook is None else notebook
    is_grouped = is_notebook and multi

    def follower(draw: Callable[[Report], None]) -> Follower:
        return Follower(
            client,
            keys,
            group_by=group_by if is_grouped else None,
            is_complete=complete,
            interval_s=interval_s,
            draw=draw,
        )

    if is_notebook:
        return _show(follower)
    _wait(follower, width)
    return None


def _seconds(interval: str | float) -> float:
    seconds = float(parse_timedelta(interval, default="s"))
    if not seconds > 0:
        raise ValueError(f"interval is {interval!r}; it has to be above 0")
    return seconds


def _show(make: Callable[[Callable[[Report], None]], Follower]) -> ProgressBars:
    from dask_diag_lab.notebook.progress_widget import ProgressBars

    bars = ProgressBars()
    follower = make(bars.show)
    bars.on_close = follower.stop
    follower.start()
    return bars


def _wait(make: Callable[[Callable[[Report], None]], Follower], width: int) -> None:
    line = _Line(width)
    follower = make(line.show)
    follower.start()
    try:
        while not follower.join(JOIN_S):
            pass  # a join without a timeout would not hear Ctrl-C on every system
    except KeyboardInterrupt:
        follower.stop()
        follower.join(JOIN_S)
        raise
    finally:
        line.end()


class _Line:
    """The last line of a console, written over and over."""

    def __init__(self, width: int) -> None:
        self._width = max(width, 1)
        self._written = ""

    def show(self, report: Report) -> None:
        bar = "#" * int(self._width * report.all.share) if report.is_counted else ""
        parts = (f"[{bar:<{self._width}}]", summary(report), problem(report))
        self._write(" | ".join(part for part in parts if part))

    def end(self) -> None:
        """Go on to the next line, if there was anything."""
        if self._written:
            sys.stdout.write("\n")
            sys.stdout.flush()

    def _write(self, text: str) -> None:
        encoding = sys.stdout.encoding or "utf-8"
        text = " ".join(text.splitlines()).encode(encoding, "replace").decode(encoding)
        sys.stdout.write(f"\r{text:<{len(self._written)}}")
        sys.stdout.flush()
        self._written = text
