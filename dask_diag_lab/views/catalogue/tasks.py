"""Plots of the group Tasks: what runs, ran and waits; `incidents` has errors and events."""

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
            "One row for each worker thread, time from left to right; empty space is an idle "
            "thread. The title tells what share of the visible threads' time went into "
            "computing, transfer, disk and idling.\n"
            "- full height: a task computed, in the colour of its function, whose name is what "
            "Dask cuts out of the key; with a pointed end it still runs\n"
            "- lower, in the middle of its row: short tasks in one block, as high as the share of "
            "time they took, but at least 15 %, so that it is seen\n"
            "- red, half as high: data moved between workers, the fainter the shorter it took; "
            "its grey end is the estimated share of (de)serialization\n"
            "- orange, lower still: spilled data was read or written on disk; Dask also says so of "
            "anything that keeps a worker's store busy for more than 5 ms, which needs no disk on "
            "a busy machine\n"
            "- black, with a rim or crosses: the task failed\n"
            "- dark, with stripes: its worker died\n"
            "- dashed line: a worker died, or a restart\n"
            "- a name with ✕, and grey stripes from there on: the worker left or died; Events "
            "tells which\n"
            "- click a block: the profile of its function, with a button for the page of the task; "
            "once more: that page\n"
            "- click a worker's name: its page\n"
            "- 0 s below: when this burst of work began, after a pause of 10 s or more; after F, "
            "the first task\n"
            "- drag: pan\n"
            "- wheel: scroll the rows\n"
            "- Ctrl-wheel: zoom\n"
            "- Alt-drag or Ctrl-drag: zoom to a stretch of time\n"
            "- the table: every action of the window\n"
            "- healthy: above 80 % computing, rows filled with colour and little else\n"
            "- more than 10 % transfer: tasks need data from elsewhere; use larger chunks or "
            "fewer shuffles\n"
            "- disk, and spilled memory in Cluster Memory: workers are short of memory\n"
            "- thin blocks with gaps: tasks are too small, below some 100 ms\n"
            "- long gaps: too few tasks for so many threads, or one that all others wait for"
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
            "One bar for each function, those with work left first, then those with most tasks. "
            "All are of one length, and their parts are shares of the tasks; from the left:\n"
            "- light colour: done and released\n"
            "- solid colour: done and held in memory\n"
            "- black: failed; see Exceptions\n"
            "- grey: running or ready to run\n"
            "- grey with stripes: queued on the scheduler\n"
            "- coloured stripes: no worker may run it; check the workers' resources and "
            "restrictions\n"
            "- empty: waits for other tasks\n"
            "- what counts: all that was done or failed since the diagnostics came, also what the "
            "scheduler has forgotten, as after a restart; so a cell that runs again adds to the "
            "bar, and the status bar, which counts what is erred now, may show fewer\n"
            "- computed again: counts once while the scheduler still knows the task, as after its "
            "result was released or lost with a worker\n"
            "- cancelled before they ran: by prefix, such tasks leave the bar\n"
            "- names: the part of a key that Dask itself cuts out as its prefix, so odd keys share "
            "odd names, such as “Other” for numbers and “data” for a bare hash\n"
            "- controls: bars can be groups or spans as well, and in the order in which work "
            "flows; groups that the scheduler has dropped stay, as done or failed, and a new one "
            "of the same name goes on from there\n"
            "- controls in a small pane: behind a button, which comes with the pointer, the Tab "
            "key or a finger\n"
            "- by span: a span counts the tasks of the spans inside it as well, so bars add up to "
            "more than all tasks, and also what ran before the diagnostics came\n"
            "- wheel: scroll, where not all fit\n"
            "- time left: an estimate, remaining tasks by what a task has cost lately\n"
            "- healthy: bars fill one after the other, and the solid part stays short\n"
            "- a long solid part: memory is held by results that nobody has used yet"
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
            "from left to right.\n"
            "- form and colour: the state, as the legend has it; hollow has not begun, an "
            "outline runs\n"
            "- drag: pan\n"
            "- Ctrl-wheel: zoom\n"
            "- healthy: a front of tasks that are processing moves to the right, and what is in "
            "memory behind it is released soon\n"
            "- a broad area in memory: takes room that others need\n"
            "- one task that many lines leave or enter: can hold up everything behind it\n"
            "- faint lines: many of them side by side; zoom in to tell them apart\n"
            "- parts without lines between them: lie side by side, as the pane has room; the rows "
            "of small ones are further apart beside a large one\n"
            "- tasks that the scheduler has forgotten: leave the picture, while Progress still "
            "counts them; their room closes up once it is most of the picture\n"
            "- very many tasks: their groups are drawn instead, and the plot says so"
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
            "One bar for each function with results in memory, longest first or by name. A "
            "result counts once, however many workers hold a copy, and also while it is spilled "
            "to disk.\n"
            "- healthy: what is large is what you still need\n"
            "- a long bar of a step on the way: a future or a `persist` still holds it, or many "
            "tasks that need it have not run yet\n"
            "- how sure: sizes are exact; only where the scheduler already had more than 20 000 "
            "tasks when the diagnostics came, those of functions with released results begin as "
            "the mean size of a result"
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
            "One bar for each function: the time in which threads computed its tasks since the "
            "scheduler started, and its share of all computing.\n"
            "- healthy: the longest bar is the work you came for; it is where faster code pays "
            "most\n"
            "- many tasks with a mean of a few milliseconds: they cost more to schedule than to "
            "compute; make the chunks larger\n"
            "- not here: moving data and disk, see Aggregate Time per Action"
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
            "One bar for each action, summed up over all workers since the scheduler started.\n"
            "- point at a bar: the functions that it was most for\n"
            "- healthy: compute is by far the longest\n"
            "- long transfer: tasks need much data from other workers\n"
            "- disk: Dask says so of anything that keeps a worker's store busy for more than 5 ms, "
            "which needs no disk on a busy machine\n"
            "- long disk bars, and spilled memory in Cluster Memory: workers are short of memory"
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
            "Lines lead to the groups that need its results; work flows from left to right.\n"
            "- in a box: name, tasks done of all, memory held and thread time, as far as they fit; "
            "zoom in or point at it for all\n"
            "- the strip at its bottom: fills like a bar of Progress\n"
            "- thick outline: tasks of it are being processed\n"
            "- click a box: the profile of that function\n"
            "- drag: pan\n"
            "- Ctrl-wheel: zoom\n"
            "- healthy: few thick outlines, which move to the right\n"
            "- much memory in a group whose dependents wait: something else they need is late\n"
            "- parts without lines between them: lie side by side, as the pane has room; the rows "
            "of small ones are further apart beside a large one\n"
            "- tasks of all: as in Progress by group, with those done and forgotten; but groups "
            "that the scheduler has dropped are not drawn, and Progress alone still counts them\n"
            "- more than 200 groups: a box is all groups of one prefix, and the plot says so"
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
            "All that is known of one task: state, dependencies, workers, times, changes of "
            "state, error with its traceback, or what it does now.\n"
            "- to choose one: click it in the Task Stream or the Task Graph, or type its key\n"
            "- click another task: goes there\n"
            "- Ask now: asks again at once; of a task that is with a worker it shows the call "
            "stack of that moment\n"
            "- healthy: in memory, or released once all that need it are done\n"
            "- it waits: look at those it waits for\n"
            "- it runs for long: look at its call stack\n"
            "- it failed because of another: that one is named\n"
            "- forgotten by the scheduler: where and when it ran is still told, from what these "
            "diagnostics recorded\n"
            "- story: only what the scheduler remembers, some 1000 changes of all tasks together"
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
            "that computed its tasks, averaged over each step.\n"
            "- the line: how many threads the cluster had\n"
            "- point at a moment: its figures\n"
            "- 0 s below: the start of the first task\n"
            "- drag: pan\n"
            "- Ctrl-wheel: zoom\n"
            "- healthy: the areas reach up to the line\n"
            "- a gap under the line: threads without work; too few tasks at that stage, or tasks "
            "that wait for data\n"
            "- areas above the line: tasks that left their thread and run beside those that have "
            "one\n"
            "- a long thin tail: a few stragglers"
        ),
        stock_title="Individual Group Progress",
        keywords=("parallelism", "threads", "utilization", "occupancy", "area", "stages", "tail"),
        view="tasks.group_progress:TaskGroupProgress",
    ),
)
