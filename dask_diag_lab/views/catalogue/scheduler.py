"""Plots of the group Scheduler: The scheduler and the cluster as a whole."""

from __future__ import annotations

from typing import Final

from dask_diag_lab.views.plot import Plot

PLOTS: Final[tuple[Plot, ...]] = (
    Plot(
        name="costs",
        title="Where the Time Goes",
        group="Scheduler",
        description="Computing, waiting, network, disk, serialization, overhead and idle threads.",
        help=(
            "One bar for each kind of cost: seconds over all workers, and their share of the "
            "time that all worker threads offered since the scheduler started. The line above "
            "names the largest and what usually helps; when nothing runs, the largest but for "
            "idle threads.\n"
            "- plain: computing\n"
            "- rising stripes: tasks hold a thread without using the CPU\n"
            "- level lines: data moves\n"
            "- dots: data is packed and unpacked\n"
            "- empty: threads had nothing to do\n"
            "- healthy: computing is by far the longest\n"
            "- much overhead: tasks are too small\n"
            "- not here: the bandwidth of memory cannot be told apart from computing, compare it "
            "with the Hardware plot; what the scheduler itself costs is in Scheduler System"
        ),
        stock_title="Individual Costs",
        keywords=(
            *("overhead", "serialization", "network", "disk", "idle", "bottleneck", "slow"),
            *("compute", "summary", "why"),
        ),
        view="scheduler.costs:Costs",
    ),
    Plot(
        name="fine-performance-metrics",
        title="Fine Performance Metrics",
        group="Scheduler",
        description="What each function spent its time or bytes on, activity by activity.",
        help=(
            "One bar for each function, and one for fetching, sending, spilling and shuffling "
            "data, which run beside the tasks. Its parts are activities; point at one for its "
            "name.\n"
            "- plain: computes\n"
            "- rising stripes: waits inside a task\n"
            "- level lines: network\n"
            "- dots: packs and unpacks data\n"
            "- upright lines: disk\n"
            "- controls: seconds, bytes or counts, and one span of the computation; spans of one "
            "name are one, and those inside a span count for themselves\n"
            "- click a function: its profile\n"
            "- healthy: plain is most of each function's bar\n"
            "- how long: sums since the scheduler started, as the workers report them with their "
            "heartbeats"
        ),
        stock_title="Individual Fine Performance Metrics",
        keywords=(
            *("activity", "span", "serialize", "deserialize", "compress", "network", "disk"),
            *("gather-dep", "get-data", "thread-cpu", "spill"),
        ),
        view="scheduler.fine_metrics:FineMetrics",
    ),
    Plot(
        name="scheduler-system",
        title="Scheduler System",
        group="Scheduler",
        description="CPU, memory, network and open files of the scheduler over time.",
        help=(
            "Four charts of the scheduler itself: CPU, memory, network and open files; 100 % CPU "
            "is one core, and its event loop cannot use much more.\n"
            "- healthy: CPU well below 80 %, memory that falls when results are released, files "
            "that follow the number of workers\n"
            "- CPU near 100 %: the scheduler is what tasks wait for; use fewer and larger tasks\n"
            "- network: that of its whole host\n"
            "- 0 s below: the first sample that the scheduler still had\n"
            "- how long: the scheduler keeps an hour of samples, so the past is here even if "
            "nobody looked"
        ),
        stock_title="Individual Scheduler System",
        keywords=("cpu", "memory", "network", "file descriptors", "fds", "load", "resources"),
        view="scheduler.scheduler_system:SchedulerSystem",
    ),
    Plot(
        name="contention",
        title="Contention",
        group="Scheduler",
        description="How late the event loops are, and who waits for the interpreter's lock.",
        help=(
            "How often the event loops of scheduler and workers come round; below, where "
            "`gilknocker` is installed, the share of time in which a thread waited for Python's "
            "interpreter lock. The slowest workers are shown, ten at most.\n"
            "- healthy: every 20 ms\n"
            "- longer: something holds the loop up, and then heartbeats, transfers and task "
            "starts are late\n"
            "- stripes: more than 100 ms\n"
            "- lock high on workers: tasks of pure Python; use more processes with fewer threads\n"
            "- lock high on the scheduler: too many small tasks, or large graphs\n"
            "- click a worker: its page"
        ),
        stock_title="Individual Contention",
        keywords=("event loop", "gil", "tick", "lag", "latency", "interpreter lock"),
        view="scheduler.contention:Contention",
    ),
    Plot(
        name="stealing",
        title="Work Stealing",
        group="Scheduler",
        description="Tasks that were moved from busy workers to idle ones.",
        help=(
            "Above, tasks that were moved each second (solid), and moves that were asked for or "
            "were in vain, such as when the task had begun (dashed); below, for each worker, how "
            "many tasks went. The line below has the sum of each.\n"
            "- plain: the worker gave them away\n"
            "- striped: it took them\n"
            "- click a worker: its page\n"
            "- 0 s below the lines: the first decision that is shown\n"
            "- healthy: some moves at the beginning and end of a computation\n"
            "- many all the time: work is placed unevenly, because data is, or because durations "
            "differ much"
        ),
        stock_title="Individual Stealing",
        keywords=("balance", "steal", "idle", "saturated", "move", "victim", "thief"),
        view="scheduler.stealing:Stealing",
    ),
    Plot(
        name="shuffle",
        title="Shuffle",
        group="Scheduler",
        description="P2P shuffles: bytes sent, received and stored by each worker.",
        help=(
            "Above, for each worker, what a shuffle moved; below, what waits in its buffers, on "
            "a scale that ends at their limit. Workers report with their heartbeats: of a short "
            "shuffle some tell only a part, or nothing.\n"
            "- each bar, by parts: bytes it sent and, striped, received; in another colour bytes "
            "written to disk and, striped, read; its number is their sum\n"
            "- healthy: bars of like length and nearly empty buffers\n"
            "- one long bar: the data is skewed; look at the key it is shuffled by\n"
            "- full buffers: network or disk is the limit\n"
            "- how long: the last report of each shuffle stays"
        ),
        stock_title="Individual Shuffle",
        keywords=("p2p", "merge", "join", "set_index", "rechunk", "skew", "buffer"),
        view="scheduler.shuffle:Shuffle",
    ),
    Plot(
        name="hardware",
        title="Hardware",
        group="Scheduler",
        description="Bandwidth of memory, disk and network, measured when you ask for it.",
        help=(
            "Bandwidth of memory, disk and network by size of the block, as means over all "
            "workers there were when it was measured; of the network over pairs of them. Nothing "
            "is measured until you press the button.\n"
            "- the button: copies memory, writes to the workers' local disks and sends data "
            "between them, and slows down what runs meanwhile\n"
            "- healthy: bars grow with the size of the block, in memory up to that of the "
            "processor's caches\n"
            "- a larger block at less than half of a smaller one, in memory at less than a tenth: "
            "workers may have been busy, measure again when nothing runs\n"
            "- Bandwidth and Transfers far below these figures: blocks are small, or something "
            "else is the limit"
        ),
        stock_title="Individual Hardware",
        keywords=("bandwidth", "memory", "disk", "network", "benchmark", "speed"),
        view="scheduler.hardware:Hardware",
    ),
    Plot(
        name="counters",
        title="Counters",
        group="Scheduler",
        description="Everything the scheduler counts, and how fast it grows.",
        help=(
            "One row for each counter of the scheduler: its sum since the scheduler started, and "
            "its growth a second over the last ten seconds.\n"
            "- click a header: sort by it\n"
            "- healthy: all stand nearly still when nothing runs\n"
            "- one that grows fast: these messages or transitions keep the scheduler busy"
        ),
        stock_title="Individual Counters",
        keywords=("digests", "transitions", "messages", "rates", "statistics"),
        view="scheduler.counters:Counters",
    ),
)
