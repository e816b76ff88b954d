"""Plots of the group Tasks: what runs, ran and waits."""

from __future__ import annotations

from typing import Final

from dask_diag_lab.views.plot import Plot

PLOTS: Final[tuple[Plot, ...]] = (
    Plot(
        name="task-stream",
        title="Task Stream",
        group="Tasks",
        description="What every thread of every worker did, moment by moment.",
        help=(
            "One row for each worker thread, time from left to right. A full-height block is a "
            "task that computed, in the colour of its function; a block with a pointed end still "
            "runs. Lower blocks are other work of that thread: one half as high moves data "
            "between workers, and its grey end is the estimated share of (de)serialization; one "
            "lower still reads or writes spilled data on disk. Black with a rim or crosses: the "
            "task failed; dark with stripes: its worker died. A dashed line marks a worker that "
            "died or a restart. Empty space is an idle thread. The title tells what share of the "
            "visible threads' time went into computing, transfer, disk and idling. Healthy: "
            "above 80 % computing, rows filled with colour and little else. More than 10 % "
            "transfer: tasks need data from elsewhere, so use larger chunks or fewer shuffles. "
            "Disk at all: workers are short of memory. Much idle time in thin blocks with gaps: "
            "tasks are too small, below some 100 ms; in long gaps: too few tasks for so many "
            "threads, or one that all others wait for. Tap a block for the profile of its "
            "function, once more for the task; tap a worker's name for its page. Drag to pan, "
            "Ctrl-wheel to zoom, Alt-drag or Ctrl-drag to zoom to a stretch, wheel to scroll the "
            "rows. The table has every action of the window."
        ),
        stock_title="Individual Task Stream",
        keywords=(
            *("timeline", "gantt", "threads", "transfer", "communication", "disk", "spill"),
            *("idle", "straggler", "running", "killed", "erred", "duration"),
        ),
        view="stream.task_stream:TaskStream",
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
            "queued on the scheduler, with coloured stripes has no worker that may run it; the "
            "empty rest waits for other tasks. Healthy: bars fill one after the other and the "
            "solid part stays short. A long solid part holds memory: results are kept that "
            "nobody has used yet. Coloured stripes: check the workers' resources and "
            "restrictions. Black: see Exceptions. Bars can be groups or spans as well, and in "
            "the order in which work flows; the wheel scrolls where not all fit. The time left "
            "is an estimate: remaining tasks by what a task has cost lately."
        ),
        stock_title="Individual Progress",
        keywords=(
            *("tasks", "bars", "done", "erred", "errors", "failed", "queued", "waiting"),
            *("no-worker", "remaining", "prefix", "state"),
        ),
        view="tasks.progress:Progress",
    ),
    Plot(
        name="graph",
        title="Task Graph",
        group="Tasks",
        description="Tasks as dots and their dependencies as lines, coloured by state.",
        help=(
            "Each mark is a task, each line leads to a task that needs its result; work flows "
            "from left to right. Form and colour of a mark tell the state, as the legend has it: "
            "hollow has not begun, an outline runs. Healthy: a front of tasks that are "
            "processing moves to the right, and what is in memory behind it is released soon. A "
            "broad area in memory takes room that others need. One task that many lines leave or "
            "enter can hold up everything behind it. With very many tasks the groups of tasks "
            "are drawn instead of single ones, and the plot says so."
        ),
        stock_title="Individual Graph",
        keywords=("dag", "dependencies", "nodes", "edges", "state", "structure", "erred"),
        view="tasks.task_graph:TaskGraph",
    ),
    Plot(
        name="memory-by-key",
        title="Memory by Key",
        group="Tasks",
        description="How much memory the results of each function take now.",
        help=(
            "One bar for each function with results in memory, longest first; the order can be "
            "by name instead. A result counts once, however many workers hold a copy, and also "
            "while it is spilled to disk. Healthy: what is large is what you still need. A long "
            "bar of something that was only a step on the way: a future or a `persist` still "
            "holds it, or many tasks that need it have not run yet. Sizes are exact; only where "
            "the scheduler already had more than 20 000 tasks when the diagnostics came, those of "
            "functions with released results begin as the mean size of a result."
        ),
        stock_title="Individual Memory By Key",
        keywords=("bytes", "size", "results", "prefix", "leak", "held", "managed", "nbytes"),
        view="tasks.memory_by_key:MemoryByKey",
    ),
    Plot(
        name="compute-time-per-key",
        title="Compute Time per Key",
        group="Tasks",
        description="How long worker threads computed the tasks of each function.",
        help=(
            "One bar for each function: the sum over all threads of the time in which its tasks "
            "computed, since the scheduler started, and its share of all computing. Moving data "
            "and disk are not in it; Aggregate Time per Action has them. Healthy: the longest bar "
            "is the work you came for; it is where faster code pays most. Many tasks with a mean "
            "of a few milliseconds cost more to schedule than to compute: make the chunks larger."
        ),
        stock_title="Individual Compute Time Per Key",
        keywords=("duration", "seconds", "slow", "hot", "prefix", "cost", "profile", "share"),
        view="tasks.time_by_prefix:ComputeTimePerKey",
    ),
    Plot(
        name="aggregate-time-per-action",
        title="Aggregate Time per Action",
        group="Tasks",
        description="How much thread time went into computing, moving data and disk.",
        help=(
            "One bar for each action, summed up over all workers since the scheduler started. "
            "Healthy: compute is by far the longest. A long transfer bar: tasks need much data "
            "from other workers. Long disk bars: workers are short of memory and spill. The "
            "hover names the functions that it was most for."
        ),
        stock_title="Individual Aggregate Time Per Action",
        keywords=("transfer", "disk", "spill", "deserialize", "communication", "overhead", "sum"),
        view="tasks.time_by_prefix:AggregateTimePerAction",
    ),
    Plot(
        name="groups",
        title="Task Group Graph",
        group="Tasks",
        description="Groups of tasks with what each has done, and what needs what.",
        help=(
            "Each box is a group: the tasks that one call or one operation on a collection made. "
            "Lines lead to the groups that need its results; work flows from left to right. In a "
            "box: name, tasks done of all, memory held and thread time. The strip at its bottom "
            "fills like a bar of Progress, and a thick outline says that tasks of it are being "
            "processed. Healthy: few thick outlines that move to the right. Much memory in a "
            "group whose dependents wait: something else they need is late. A click opens the "
            "profile of that function. Drag to pan, Ctrl-wheel to zoom. With more than 200 "
            "groups a box is all groups of one prefix, and the plot says so."
        ),
        stock_title="Individual Groups",
        keywords=("dag", "dependencies", "nodes", "layers", "structure", "blockwise", "prefix"),
        view="tasks.task_groups:TaskGroupGraph",
    ),
    Plot(
        name="task",
        title="Task",
        group="Tasks",
        description="One task: state, dependencies, times, error, call stack now and story.",
        help=(
            "Click a task in the Task Stream or Task Graph, or type a key. On top stands what "
            "the scheduler knows of the task; below are the tasks it depends on and that need "
            "it, the workers that run or hold it, its times, its changes of state, its error "
            "with the traceback, or what it does now. A click on another task goes there. "
            "Healthy: in memory, or released once all that need it are done. "
            "A task that waits: look at those it waits for. One that runs for long: look at its "
            "call stack. One that failed because of another names that. The story covers only "
            "what the scheduler remembers, some 1000 changes of all tasks together."
        ),
        stock_title="Individual Task",
        keywords=(
            *("info", "detail", "key", "exception", "traceback", "why", "stuck", "story"),
            *("dependencies", "dependents", "who has", "priority", "retries", "annotations"),
        ),
        view="tasks.task_page:TaskPage",
    ),
    Plot(
        name="group-progress",
        title="Task Group Progress",
        group="Tasks",
        description="How many threads computed tasks of each function, over time.",
        help=(
            "Stacked areas, one colour for each function: their height is the number of threads "
            "that computed its tasks, averaged over each step. The line is the number of threads "
            "the cluster had. Healthy: the areas reach up to the line. A gap under the line is "
            "threads without work: too few tasks at that stage, or tasks waiting for data. A long "
            "thin tail is a few stragglers. Point at a moment for its figures; drag to pan, "
            "Ctrl-wheel to zoom."
        ),
        stock_title="Individual Group Progress",
        keywords=("parallelism", "threads", "utilization", "occupancy", "area", "stages", "tail"),
        view="tasks.group_progress:TaskGroupProgress",
    ),
    Plot(
        name="exceptions",
        title="Exceptions",
        group="Tasks",
        description="Tasks that failed: how many, where, and with which error.",
        help=(
            "One row for each function and error; equal errors are one row that counts its tasks. "
            "Click a row for the whole traceback and for the page of the task that failed last. "
            "Healthy: no rows. One worker in every row: something is wrong with that machine. "
            "KilledWorker: the workers died while they ran the task, most often for want of "
            "memory. The scheduler keeps the last errors only; older ones are counted."
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
            "A row for each kind of event on a time axis: workers came, left or died, paused for "
            "their memory, began to spill; tasks failed or were moved to idle workers; graphs and "
            "clients came. A mark with a number stands for so many events close together, and a "
            "line behind it for how long they went on. Healthy: graphs, and workers that come. "
            "Workers that die, or that pause and spill again and again, are short of memory. A "
            "click on an error opens Exceptions."
        ),
        stock_title="Individual Events",
        keywords=(
            *("timeline", "workers", "died", "killed", "restart", "paused", "spill", "stealing"),
            *("errors", "clients", "log", "history"),
        ),
        view="tasks.events:Events",
    ),
)
