"""Plots of the group Workers: memory and load; `traffic` has what moves between them."""

from __future__ import annotations

from typing import Final

from dask_diag_lab.views.plot import Plot

_PROCESS_MEMORY: Final = ("process memory", "ram", "rss", "spill", "spilled", "disk", "limit")

PLOTS: Final[tuple[Plot, ...]] = (
    Plot(
        name="workers-memory",
        title="Workers Memory",
        group="Workers",
        description="Memory of each worker by use, against its limit, and what was spilled.",
        help=(
            "One bar for each worker, up to the memory its process uses, and its limit.\n"
            "- solid: results that Dask manages\n"
            "- lighter: other memory of the process that stays\n"
            "- lightest: other memory of the last 30 s, often tasks at work\n"
            "- grey, at the end: spilled to disk\n"
            "- the number beside a bar: memory its process uses now\n"
            "- blue: all is well\n"
            "- orange, number after ▴: near the limit, where data is spilled\n"
            "- red, number after ‼: paused, leaving or close to being killed\n"
            "- the legend: in the colour that most bars have now\n"
            "- healthy: bars of like length and of one colour, without signs\n"
            "- one long bar: data is spread unevenly\n"
            "- much in the lighter parts: memory that Dask cannot spill; look for leaks and "
            "large temporary arrays"
        ),
        stock_title="Individual Workers Memory",
        keywords=(
            "bytes stored per worker",
            *_PROCESS_MEMORY,
            *("managed", "unmanaged", "leak", "paused", "out of memory", "oom"),
        ),
        view="workers.workers_memory:WorkersMemory",
    ),
    Plot(
        name="cluster-memory",
        title="Cluster Memory",
        group="Workers",
        description="Memory of all workers together by use, against the cluster's limit.",
        help=(
            "One bar for the whole cluster, up to the memory of all worker processes, and their "
            "limit.\n"
            "- solid: results that Dask manages\n"
            "- lighter: other memory of the processes that stays\n"
            "- lightest: other memory of the last 30 s\n"
            "- grey, at the end: spilled to disk\n"
            "- colour and sign: those of the worst worker, in words where you point at the bar; "
            "▴ near its limit, ‼ paused or close to being killed\n"
            "- healthy: no sign, and room to the right\n"
            "- a sign with room left: one worker holds too much; see Workers Memory\n"
            "- a full bar: release results, use smaller pieces or add workers"
        ),
        stock_title="Individual Cluster Memory",
        keywords=(
            "bytes stored",
            *_PROCESS_MEMORY,
            "total",
            *("managed", "unmanaged", "out of memory", "oom"),
        ),
        view="workers.cluster_memory:ClusterMemory",
    ),
    Plot(
        name="nprocessing",
        title="Tasks Processing",
        group="Workers",
        description="How many tasks each worker has been given and not finished.",
        help=(
            "One bar for each worker: the tasks it runs or has ready to run. The legend has the "
            "colours, and words stand beside the bar where there is room.\n"
            "- saturated: has more than it can soon do\n"
            "- idle: could take more\n"
            "- healthy: bars of like length, longer than the number of threads\n"
            "- some saturated and some idle at the same time: work is spread unevenly, often "
            "because data or restrictions tie it to a few workers\n"
            "- all idle and short: there are fewer tasks than threads, or they come too slowly; "
            "use more and smaller pieces"
        ),
        stock_title="Individual Nprocessing",
        keywords=("load", "balance", "saturated", "idle", "queue", "assigned", "stealing"),
        view="workers.tasks_processing:TasksProcessing",
    ),
    Plot(
        name="cpu",
        title="CPU",
        group="Workers",
        description="CPU use of each worker process; 100 % is one core.",
        help=(
            "One bar for each worker: the share of CPU its process uses, where 100 % is one "
            "core; the scale ends at all its threads at work.\n"
            "- healthy while tasks run: bars near the end\n"
            "- about 100 % with several threads: tasks hold Python's interpreter lock; use more "
            "processes with fewer threads\n"
            "- short bars while tasks run: they wait for the network or the disk"
        ),
        stock_title="Individual Cpu",
        keywords=("processor", "utilization", "cores", "gil", "load", "percent"),
        view="workers.cpu:Cpu",
    ),
    Plot(
        name="occupancy",
        title="Occupancy",
        group="Workers",
        description="For how many seconds each worker has work assigned, as Dask expects.",
        help=(
            "One bar for each worker: the time that its assigned tasks are expected to take, "
            "data transfers included, from the durations seen so far.\n"
            "- words and colour: the worker is saturated or idle\n"
            "- healthy: bars of like length\n"
            "- one bar far longer than the rest: that worker will finish last; its tasks are "
            "tied to it, or slower than others of their kind\n"
            "- functions that have not run yet: count with a guess of half a second"
        ),
        stock_title="Individual Occupancy",
        keywords=("expected", "seconds", "load", "balance", "saturated", "idle", "work"),
        view="workers.occupancy:Occupancy",
    ),
    Plot(
        name="workers",
        title="Workers",
        group="Workers",
        description="All that is known of each worker, in a sortable table with totals.",
        help=(
            "One row for each worker; the line above has the totals, with the traffic of a host "
            "counted once.\n"
            "- click a header: sort by it\n"
            "- click a row: that worker's page\n"
            "- columns of your own: `Worker.metrics`, once a worker reports them\n"
            "- columns that start with Host: traffic of the whole host, so workers that share "
            "one show the same\n"
            "- healthy: all are running and were seen lately\n"
            "- silent, in the warning colour: the scheduler has not heard of that worker for "
            "over a minute; its host may be overloaded or gone"
        ),
        stock_title="Individual Workers",
        keywords=(
            *("table", "list", "metrics", "custom", "sort", "status"),
            *("heartbeat", "host", "last seen", "fds"),
        ),
        view="workers.workers_table:WorkersTable",
    ),
    Plot(
        name="workers-cpu-timeseries",
        title="CPU over Time",
        group="Workers",
        description="CPU use of the workers over time: mean, lowest and highest.",
        help=(
            "CPU of the worker processes, where 100 % is one core; recorded since the "
            "diagnostics began, also while nobody looked.\n"
            "- line: mean over all workers, where those that share a process count once: a "
            "heartbeat tells of the whole process\n"
            "- band: from the lowest to the highest of these\n"
            "- 0 s below: the first heartbeat that was recorded\n"
            "- drag: pan\n"
            "- Ctrl-wheel: zoom\n"
            "- L: back to live\n"
            "- healthy while tasks run: near 100 % times the threads of a worker, with a narrow "
            "band\n"
            "- a wide band: some workers work while others wait\n"
            "- low everywhere: tasks wait for network or disk, or hold the interpreter lock"
        ),
        stock_title="Individual Workers Cpu Timeseries",
        keywords=("history", "processor", "average", "utilization", "resources", "trend"),
        view="workers.worker_series:CpuSeries",
    ),
    Plot(
        name="workers-memory-timeseries",
        title="Memory over Time",
        group="Workers",
        description="Memory of the workers over time: mean, lowest and highest.",
        help=(
            "Memory of the worker processes; recorded since the diagnostics began, also while "
            "nobody looked.\n"
            "- solid line: mean memory of a process; workers that share one count once\n"
            "- dashed line: mean of what the workers of a process spilled to disk\n"
            "- bands: from the lowest to the highest process\n"
            "- 0 s below: the first heartbeat that was recorded\n"
            "- drag: pan\n"
            "- Ctrl-wheel: zoom\n"
            "- L: back to live\n"
            "- healthy: it rises and falls with the work and returns to where it began\n"
            "- rising without end: results are held, or memory leaks\n"
            "- a wide band: data is spread unevenly"
        ),
        stock_title="Individual Workers Memory Timeseries",
        keywords=(
            "history",
            "bytes stored",
            "ram",
            "rss",
            "average",
            "spill",
            "resources",
            "trend",
            "leak",
        ),
        view="workers.worker_series:MemorySeries",
    ),
    Plot(
        name="gpu-utilization",
        title="GPU Utilization",
        group="Workers",
        description="How busy the GPU of each worker is.",
        help=(
            "One bar for each worker that reports a GPU: the share of time in which the GPU did "
            "something.\n"
            "- healthy while GPU tasks run: long bars\n"
            "- short bars: the GPU waits for data or for Python; use larger pieces, or more "
            "threads\n"
            "- nothing here: no worker reports a GPU"
        ),
        stock_title="Individual Gpu Utilization",
        keywords=("cuda", "nvidia", "nvml", "graphics card"),
        view="workers.gpu:GpuUtilization",
        only_with=("gpu",),
    ),
    Plot(
        name="gpu-memory",
        title="GPU Memory",
        group="Workers",
        description="How full the memory of each worker's GPU is.",
        help=(
            "One bar for each worker that reports a GPU: memory of the GPU in use by all "
            "programs, up to all that it has.\n"
            "- healthy: room to the right\n"
            "- full: the next allocation fails; use smaller pieces, or let dask-cuda spill to "
            "the host"
        ),
        stock_title="Individual Gpu Memory",
        keywords=("cuda", "nvidia", "nvml", "vram", "graphics card", "out of memory"),
        view="workers.gpu:GpuMemory",
        only_with=("gpu",),
    ),
    Plot(
        name="rmm-memory",
        title="RMM Memory",
        group="Workers",
        description="Memory that RMM has given out and holds in its pool on each GPU.",
        help=(
            "One bar for each worker that reports RMM; its line ends at what the GPU has.\n"
            "- solid: memory in use\n"
            "- lighter: free in the pool\n"
            "- healthy: solid below the pool\n"
            "- a full pool: allocations get slow or fail; make the pool larger or the pieces "
            "smaller"
        ),
        stock_title="Individual Rmm Memory",
        keywords=("cuda", "rapids", "pool", "allocator", "gpu", "vram"),
        view="workers.gpu:RmmMemory",
        only_with=("rmm",),
    ),
    Plot(
        name="worker",
        title="Worker",
        group="Workers",
        description="One worker: its tasks, transfers, call stacks now and logs.",
        help=(
            "One worker: on top what its last heartbeat told and what it told itself; below its "
            "tasks, its transfers, what its threads do now, or its log.\n"
            "- to choose one: the list, or a click on it in another plot\n"
            "- click a task, or the other end of a transfer: opens that\n"
            "- Profile: where this worker spent its time\n"
            "- healthy: as many tasks executing as it has threads, some ready, few waiting\n"
            "- many in flight or fetch: it waits for data of others\n"
            "- paused: it is short of memory\n"
            "- how often: it is asked every 2 s while you look; call stacks only when you press "
            "Ask now"
        ),
        stock_title="Individual Worker",
        keywords=(
            *("info", "detail", "executing", "ready", "waiting", "in memory", "call stack"),
            *("transfer log", "compression", "peer", "logs", "stuck", "hang", "versions"),
        ),
        view="workers.worker_page:WorkerPage",
    ),
)
