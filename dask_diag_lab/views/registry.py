"""The only list of plots: routes, the JSON index, the sidebar and the documents derive from it.

Imports neither Bokeh nor any view until a plot is loaded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from dask_diag_lab.views.base import View

GROUPS: Final = ("Tasks", "Workers", "Profile", "Scheduler", "Yours")
"""Groups of plots, in the order in which they are shown."""


@dataclass(frozen=True, slots=True)
class Plot:
    """One plot of the catalogue.

    Attributes
    ----------
    name : str
        Its id in routes and layouts: the stock dashboard's name wherever there is one.
    title : str
        What people see.
    group : str
        One of `GROUPS`.
    description : str
        One sentence: what it shows.
    help : str
        A short paragraph: how to read it, what is healthy, what to do when it is not.
    stock_title : str
        Key of this plot in the stock dashboard's ``individual-plots.json``.
    keywords : sequence of str
        Words to find it by that are not in title and description.
    view : str
        ``"module:Class"``, the module relative to this package.
    """

    name: str
    title: str
    group: str
    description: str
    help: str
    stock_title: str
    keywords: Sequence[str]
    view: str

    def load(self) -> type[View]:
        """Import the plot's module and return its view class."""
        module, _, name = self.view.partition(":")
        loaded: type[View] = getattr(import_module(f"{__package__}.{module}"), name)
        return loaded


PLOTS: Final[tuple[Plot, ...]] = (
    Plot(
        name="task-stream",
        title="Task Stream",
        group="Tasks",
        description="What every thread of every worker did, moment by moment.",
        help=(
            "One row for each worker thread, time from left to right. A full-height block is a "
            "task that computed, in the colour of its function; a block with a pointed end still "
            "runs. Half-height blocks are other work of that thread: red moves data between "
            "workers, orange reads or writes spilled data on disk, grey unpacks tasks. Black and "
            "hatched with crosses: the task failed; dark red with stripes: its worker died. "
            "Empty space is an idle thread. Healthy: rows filled with colour and little else. "
            "Much red: tasks need data from elsewhere, so use larger chunks or fewer shuffles. "
            "Much orange: workers are short of memory. Many thin blocks with gaps: tasks are too "
            "small. Drag to pan, Ctrl-wheel to zoom, wheel to scroll the rows."
        ),
        stock_title="Individual Task Stream",
        keywords=(
            *("timeline", "gantt", "threads", "transfer", "communication", "disk", "spill"),
            *("idle", "straggler", "running", "killed", "erred", "duration"),
        ),
        view="task_stream:TaskStream",
    ),
    Plot(
        name="progress",
        title="Progress",
        group="Tasks",
        description="How many tasks of each function are done, running, waiting or failed.",
        help=(
            "One bar for each function, as long as its number of tasks, most tasks first. From "
            "the left: light colour is done and released, solid colour is done and held in "
            "memory, black is failed, grey is running or ready to run, grey with stripes is "
            "queued on the scheduler, red with stripes has no worker that may run it; the empty "
            "rest waits for other tasks. Healthy: bars fill one after the other and the solid "
            "part stays short. A long solid part holds memory: results are kept that nobody has "
            "used yet. Red stripes: check the workers' resources and restrictions. Black: see "
            "the error of that function."
        ),
        stock_title="Individual Progress",
        keywords=(
            *("tasks", "bars", "done", "erred", "errors", "failed", "queued", "waiting"),
            *("no-worker", "remaining", "prefix", "state"),
        ),
        view="progress:Progress",
    ),
    Plot(
        name="graph",
        title="Task Graph",
        group="Tasks",
        description="Tasks as dots and their dependencies as lines, coloured by state.",
        help=(
            "Each square is a task, each line leads to a task that needs its result; work flows "
            "from left to right. Grey waits, yellow is queued, green runs, red is held in "
            "memory, blue is released, black failed. Healthy: a green front moves to the right "
            "and red behind it turns blue soon. A broad red area holds memory. One square that "
            "many lines leave or enter can hold up everything behind it. With very many tasks "
            "the groups of tasks are drawn instead of single ones, and the plot says so."
        ),
        stock_title="Individual Graph",
        keywords=("dag", "dependencies", "nodes", "edges", "state", "structure", "erred"),
        view="task_graph:TaskGraph",
    ),
    Plot(
        name="workers-memory",
        title="Workers Memory",
        group="Workers",
        description="Memory of each worker by use, against its limit, and what was spilled.",
        help=(
            "One bar for each worker, up to the memory its process uses; grey after it has been "
            "spilled to disk. Solid: results that Dask manages. Lighter: other memory of the "
            "process that stays. Lightest: other memory that came within the last 30 s, often "
            "tasks at work. Blue: below the target. Orange: near the limit, data is being "
            "spilled. Red: the worker is paused, leaving or close to being killed. Healthy: "
            "blue bars of like length. One long bar: data is spread unevenly. Much light "
            "colour: memory that Dask cannot spill, look for leaks and large temporary arrays."
        ),
        stock_title="Individual Workers Memory",
        keywords=(
            *("bytes stored per worker", "ram", "rss", "spill", "spilled", "disk", "limit"),
            *("managed", "unmanaged", "leak", "paused", "out of memory", "oom"),
        ),
        view="workers_memory:WorkersMemory",
    ),
    Plot(
        name="cluster-memory",
        title="Cluster Memory",
        group="Workers",
        description="Memory of all workers together by use, against the cluster's limit.",
        help=(
            "One bar for the whole cluster, up to the memory of all worker processes; grey after "
            "it has been spilled to disk. Solid: results that Dask manages. Lighter: other "
            "memory of the processes that stays. Lightest: other memory of the last 30 s. The "
            "colour is that of the worst worker: blue fine, orange near its limit, red paused "
            "or close to being killed. Healthy: blue, with room to the right. Orange or red with "
            "room left: one worker holds too much, see Workers Memory. A full bar: release "
            "results, use smaller pieces or add workers."
        ),
        stock_title="Individual Cluster Memory",
        keywords=(
            *("bytes stored", "ram", "rss", "spill", "spilled", "disk", "limit", "total"),
            *("managed", "unmanaged", "out of memory", "oom"),
        ),
        view="cluster_memory:ClusterMemory",
    ),
    Plot(
        name="nprocessing",
        title="Tasks Processing",
        group="Workers",
        description="How many tasks each worker has been given and not finished.",
        help=(
            "One bar for each worker: the tasks it runs or has ready to run. Blue: as much as "
            "the others. Green: saturated, it has more than it can soon do. Red: idle, it could "
            "take more. Healthy: bars of like length, longer than the number of threads. Some "
            "green and some red at the same time: work is spread unevenly, often because data "
            "or restrictions tie it to a few workers. All red and short: there are fewer tasks "
            "than threads, or they come too slowly; use more and smaller pieces."
        ),
        stock_title="Individual Nprocessing",
        keywords=("load", "balance", "saturated", "idle", "queue", "assigned", "stealing"),
        view="tasks_processing:TasksProcessing",
    ),
    Plot(
        name="cpu",
        title="CPU",
        group="Workers",
        description="CPU use of each worker process; 100 % is one core.",
        help=(
            "One bar for each worker: the share of CPU its process uses, where 100 % is one "
            "core; the scale ends at all its threads at work. Healthy while tasks run: bars "
            "near the end. About 100 % with several threads: tasks hold Python's interpreter "
            "lock, so use more processes with fewer threads. Short bars while tasks run: they "
            "wait for the network or the disk."
        ),
        stock_title="Individual Cpu",
        keywords=("processor", "utilization", "cores", "gil", "load", "percent"),
        view="cpu:Cpu",
    ),
    Plot(
        name="occupancy",
        title="Occupancy",
        group="Workers",
        description="For how many seconds each worker has work assigned, as Dask expects.",
        help=(
            "One bar for each worker: the time that its assigned tasks are expected to take, "
            "data transfers included, from the durations seen so far. Blue: as much as the "
            "others. Green: saturated. Red: idle. Healthy: bars of like length. One bar far "
            "longer than the rest: that worker will finish last; its tasks are tied to it or "
            "slower than others of their kind. Functions that have not run yet count with a "
            "guess of half a second."
        ),
        stock_title="Individual Occupancy",
        keywords=("expected", "seconds", "load", "balance", "saturated", "idle", "work"),
        view="occupancy:Occupancy",
    ),
)


def get_plot(name: str) -> Plot:
    """Return the plot with this name.

    Raises
    ------
    KeyError
        If there is none; the message has the names there are.
    """
    for plot in PLOTS:
        if plot.name == name:
            return plot
    known = ", ".join(plot.name for plot in PLOTS)
    msg = f"there is no plot {name!r}; there are {known}"
    raise KeyError(msg)
