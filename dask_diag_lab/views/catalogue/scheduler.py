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
            "One bar for each kind of cost, in seconds over all workers, and its share of the "
            "time that all worker threads offered since the scheduler started. The line above "
            "names the largest and what usually helps. Healthy: computing is by far the longest. "
            "Rising stripes: tasks hold a thread without using the CPU. Level lines: data moves. "
            "Dots: data is packed and unpacked. Much overhead: tasks are too small. A long empty "
            "bar: threads had nothing to do. The bandwidth of memory cannot be told apart from "
            "computing; compare it with the Hardware plot. What the scheduler itself costs is in "
            "Scheduler System."
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
            "data, which run beside the tasks. The parts are activities: plain computes, rising "
            "stripes wait inside a task, level lines are network, dots pack and unpack data, "
            "upright lines are disk; point at one for its name. Choose seconds, bytes or counts, "
            "and one span of the computation. Healthy: plain is most of each function's bar. "
            "Sums since the scheduler started, as the workers report them with their heartbeats. "
            "Click a function for its profile."
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
            "Four charts of the scheduler itself; 100 % CPU is one core, and its event loop "
            "cannot use much more. Healthy: CPU well below 80 %, memory that falls when results "
            "are released, files that follow the number of workers. CPU near 100 %: the scheduler"
            " is what tasks wait for; use fewer and larger tasks. The network is that of its "
            "whole host. The scheduler keeps an hour of samples, so the past is here even if "
            "nobody looked."
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
            "Healthy: the event loop of scheduler and workers comes round every 20 ms. Longer "
            "means that something holds it up, and then heartbeats, transfers and task starts "
            "are late. With stripes: more than 100 ms. Below, where `gilknocker` is installed: "
            "the share of time in which a thread waited for Python's interpreter lock. High on "
            "workers: tasks of pure Python; use more processes with fewer threads. High on the "
            "scheduler: too many small tasks, or large graphs. The ten slowest workers are "
            "shown; click one for its page."
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
            "Above: tasks moved each second, and moves that were asked for or came to nothing. "
            "Below: for each worker how many tasks it gave away (plain) and took (striped). "
            "Healthy: some moves at the beginning and end of a computation. Many all the time: "
            "work is placed unevenly, because data is, or because durations differ much. Click a "
            "worker for its page."
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
            "Above: for each worker the bytes it sent and received, and then those it wrote to "
            "and read from disk in another colour; received and read are striped. Below: what "
            "waits in its buffers now, on a scale that ends at their limit. Healthy: bars of "
            "like length and nearly empty buffers. One long bar: the data is skewed, look at the "
            "key it is shuffled by. Full buffers: network or disk is the limit. The last report "
            "of each shuffle stays."
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
            "Nothing is measured until you press the button: the benchmark copies memory, writes "
            "to the workers' local disks and sends data between them, and slows down what runs "
            "meanwhile. Bars are means over all workers by size of the block; healthy is that "
            "they grow with it. Compare them with what Bandwidth and Transfers show of the real "
            "computation: far below these figures, blocks are small or something else is the "
            "limit."
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
            "One row for each counter of the scheduler: its sum since the scheduler started and "
            "its growth a second over the last ten seconds. Click a header to sort. Healthy: all "
            "stand nearly still when nothing runs. Useful to see which messages or transitions "
            "keep the scheduler busy."
        ),
        stock_title="Individual Counters",
        keywords=("digests", "transitions", "messages", "rates", "statistics"),
        view="scheduler.counters:Counters",
    ),
)
