"""``progress``: how far given futures and all that they need have come.

Must not count or draw bars itself; decides between notebook and console.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from dask.utils import parse_timedelta
from distributed.client import Future, futures_of
from distributed.utils import is_kernel

from dask_diag_lab.notebook.progress_follower import Follower, GroupBy
from dask_diag_lab.notebook.progress_line import ProgressLine

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
    is_notebook = is_kernel() if notebook is None else notebook
    bars_by = group_by if is_notebook and multi else None
    make = _follower_of(
        futures_of(futures), bars_by, is_complete=complete, interval_s=_seconds(interval)
    )
    if is_notebook:
        return _show(make)
    _wait(make, width)
    return None


def _seconds(interval: str | float) -> float:
    seconds = float(parse_timedelta(interval, default="s"))
    if not seconds > 0:
        raise ValueError(f"interval is {interval!r}; it has to be above 0")
    return seconds


def _follower_of(
    futures: Sequence[Future[Any]],  # of any result
    group_by: GroupBy,
    *,
    is_complete: bool,
    interval_s: float,
) -> partial[Follower]:
    """Return what makes the follower of futures once it is told who draws."""
    return partial(
        Follower,
        futures[0].client if futures else None,
        list({future.key for future in futures}),
        group_by=group_by,
        is_complete=is_complete,
        interval_s=interval_s,
    )


def _show(make: partial[Follower]) -> ProgressBars:
    from dask_diag_lab.notebook.progress_widget import ProgressBars

    bars = ProgressBars()
    follower = make(draw=bars.show)
    bars.on_close = follower.stop
    follower.start()
    return bars


def _wait(make: partial[Follower], width: int) -> None:
    line = ProgressLine(width)
    follower = make(draw=line.show)
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
