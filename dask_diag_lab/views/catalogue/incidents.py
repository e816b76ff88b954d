"""Plots of the group Tasks: what happened, the errors first."""

from __future__ import annotations

from typing import Final

from dask_diag_lab.views.plot import Plot

PLOTS: Final[tuple[Plot, ...]] = (
    Plot(
        name="exceptions",
        title="Exceptions",
        group="Tasks",
        description="Tasks that failed: how many, where, and with which error.",
        help=(
            "One row for each function and kind of error, that is one type raised at one place, "
            "which counts its tasks and has their last text.\n"
            "- other texts: errors of that kind that say something else, such as another number; "
            "up to so many where not all are kept\n"
            "- click a row: the whole traceback, when the first and the last one failed, the other "
            "texts, and the way to the page of the task that failed last\n"
            "- table: a row for each text that is kept, with its traceback\n"
            "- healthy: no rows\n"
            "- one worker in every row: something is wrong with that machine\n"
            "- KilledWorker: the workers died while they ran the task, most often for want of "
            "memory\n"
            "- what counts: all that failed since the diagnostics came, also before a restart of "
            "the cluster; a task that fails again counts again. The status bar counts only what is "
            "erred on the scheduler now\n"
            "- fewer tasks than are erred in Progress: the others never ran, since something that "
            "they need failed; they have no error of their own\n"
            "- how long: the last 100 different texts are kept, each with its last tasks, and "
            "those of the kind that has most go first; all are counted"
        ),
        stock_title="Individual Exceptions",
        keywords=("errors", "erred", "failed", "traceback", "failures", "killed", "crash"),
        view="tasks.exceptions:Exceptions",
    ),
    Plot(
        name="events",
        title="Events",
        group="Tasks",
        description="What happened to the cluster, and when.",
        help=(
            "A row for each kind of event on a time axis: workers came, retire, left, died, paused "
            "for their memory, began to spill; tasks failed or were moved to idle workers; graphs "
            "and clients came.\n"
            "- a mark with a number: so many events close together; a line behind it tells for "
            "how long they went on. Where there is no room for the number, point at the mark\n"
            "- a hollow mark: an end. The worker goes on, has no data on disk any more, or the "
            "client left; the number beside a full mark leaves ends out\n"
            "- spill: a megabyte or more went to disk, and 1 % of what was there, after nothing "
            "had for ten seconds, or after half of the last spill was gone\n"
            "- tasks of graphs: those that were new to the scheduler\n"
            "- recording began: what is before it is what the scheduler itself still knew\n"
            "- click an error: Exceptions\n"
            "- 0 s below: the first event, mostly the start of the cluster\n"
            "- drag: pan\n"
            "- Ctrl-wheel: zoom\n"
            "- healthy: graphs, and workers that come\n"
            "- workers that die, or pause and spill again and again: they are short of memory"
        ),
        stock_title="Individual Events",
        keywords=(
            *("timeline", "workers", "died", "killed", "restart", "paused", "spill", "stealing"),
            *("errors", "clients", "log", "history"),
        ),
        view="tasks.events:Events",
    ),
)
