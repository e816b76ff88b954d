"""Plots of the group Workers: data on its way, by network and disk."""

from __future__ import annotations

from typing import Final

from dask_diag_lab.views.plot import Plot

PLOTS: Final[tuple[Plot, ...]] = (
    Plot(
        name="workers-transfer-bytes",
        title="Data Transfer",
        group="Workers",
        description="Bytes of results that each worker is receiving and sending now.",
        help=(
            "Two half bars for each worker, in bytes of results that are under way at this "
            "moment.\n"
            "- upper half: what it receives from other workers\n"
            "- lower half: what it sends to them\n"
            "- healthy: short, changing bars\n"
            "- long bars at all times: tasks wait for data; use larger pieces of work on each "
            "piece of data, or put tasks where their data is\n"
            "- one long lower bar: many workers want what one holds; scatter or replicate it"
        ),
        stock_title="Individual Workers Transfer Bytes",
        keywords=("network", "communication", "incoming", "outgoing", "transfer", "bandwidth"),
        view="workers.data_transfer:DataTransfer",
    ),
    Plot(
        name="workers-network",
        title="Network",
        group="Workers",
        description="Network traffic of each host, received and sent.",
        help=(
            "Two half bars for each host, in bytes a second, of all programs on it; workers that "
            "share a host share the bar.\n"
            "- upper half: what its network cards receive\n"
            "- lower half: what they send\n"
            "- healthy: well below what the network can do\n"
            "- near that for long: transfers hold the work up; see Transfers and Task Stream for "
            "which\n"
            "- traffic without transfers between workers: reading from and writing to remote "
            "storage"
        ),
        stock_title="Individual Workers Network",
        keywords=("bandwidth", "host", "traffic", "read", "write", "bytes per second"),
        view="workers.host_traffic:HostNetwork",
    ),
    Plot(
        name="workers-disk",
        title="Disk",
        group="Workers",
        description="Disk traffic of each host, read and written.",
        help=(
            "Two half bars for each host, in bytes a second, of all programs on it.\n"
            "- upper half: what its disks read\n"
            "- lower half: what they write\n"
            "- healthy: little, unless the work reads or writes local files\n"
            "- much writing with memory near its limit: workers are spilling; see Workers Memory\n"
            "- both at once and for long: data is spilled and read back again and again; release "
            "results, use smaller pieces or add memory"
        ),
        stock_title="Individual Workers Disk",
        keywords=("io", "spill", "host", "traffic", "read", "write", "bytes per second"),
        view="workers.host_traffic:HostDisk",
    ),
    Plot(
        name="workers-network-timeseries",
        title="Network over Time",
        group="Workers",
        description="Network traffic of the hosts over time: mean, lowest and highest.",
        help=(
            "Network traffic of the hosts, a host counted once however many workers it has; "
            "recorded since the diagnostics began.\n"
            "- solid line: mean of the bytes received a second\n"
            "- dashed line: mean of the bytes sent\n"
            "- bands: from the lowest to the highest host\n"
            "- 0 s below: the first heartbeat that was recorded\n"
            "- drag: pan\n"
            "- Ctrl-wheel: zoom\n"
            "- L: back to live\n"
            "- healthy: below what the network can do\n"
            "- long plateaus at the same height: the network is the limit"
        ),
        stock_title="Individual Workers Network Timeseries",
        keywords=("history", "bandwidth", "traffic", "average", "resources", "trend"),
        view="workers.worker_series:NetworkSeries",
    ),
    Plot(
        name="workers-disk-timeseries",
        title="Disk over Time",
        group="Workers",
        description="Disk traffic of the hosts over time: mean, lowest and highest.",
        help=(
            "Disk traffic of the hosts, a host counted once however many workers it has; "
            "recorded since the diagnostics began.\n"
            "- solid line: mean of the bytes read a second\n"
            "- dashed line: mean of the bytes written\n"
            "- bands: from the lowest to the highest host\n"
            "- 0 s below: the first heartbeat that was recorded\n"
            "- drag: pan\n"
            "- Ctrl-wheel: zoom\n"
            "- L: back to live\n"
            "- healthy: little, unless the work reads or writes local files\n"
            "- writing that begins when memory is near its limit: spilling"
        ),
        stock_title="Individual Workers Disk Timeseries",
        keywords=("history", "io", "spill", "traffic", "average", "resources", "trend"),
        view="workers.worker_series:DiskSeries",
    ),
    Plot(
        name="transfers",
        title="Transfers",
        group="Workers",
        description="Each transfer between workers: when, how much, how fast.",
        help=(
            "Each transfer in the logs of the workers, which remember the last ones. Rows are "
            "workers, or the peers of the worker chosen above.\n"
            "- above the middle of a row: data received\n"
            "- below it: data sent\n"
            "- width: the time it took\n"
            "- pale: a slow one\n"
            "- 0 s below: the first transfer in the logs when the plot was opened\n"
            "- drag: pan\n"
            "- Ctrl-wheel: zoom\n"
            "- the table: each with its size, what was on the wire after compression, keys and "
            "rate\n"
            "- healthy: short, strong marks\n"
            "- long pale marks: a slow connection, or a worker too busy to send\n"
            "- many short ones: tasks need many small results; use larger pieces"
        ),
        stock_title="Individual Transfers",
        keywords=(
            *("communication", "network", "logs", "peers", "compression"),
            *("bandwidth", "data transfer"),
        ),
        view="workers.transfers:Transfers",
    ),
    Plot(
        name="bandwidth-types",
        title="Bandwidth by Type",
        group="Workers",
        description="How fast data of each type moves between workers.",
        help=(
            "One bar for each type of data: a moving average over its transfers above 1 MB, "
            "serialization included.\n"
            "- healthy: near what the network can do for arrays and tables\n"
            "- one type far slower than others: it is expensive to serialize or does not "
            "compress; convert it before it is sent, for example to an array"
        ),
        stock_title="Individual Bandwidth Types",
        keywords=("network", "rate", "serialization", "transfer", "communication"),
        view="workers.bandwidth_bars:BandwidthTypes",
    ),
    Plot(
        name="bandwidth-workers",
        title="Bandwidth by Workers",
        group="Workers",
        description="How fast data moves from which worker to which.",
        help=(
            "One square for each pair of workers, from the worker of the row to that of the "
            "column: a moving average over transfers above 1 MB. With many workers pairs are "
            "bars, the slowest first.\n"
            "- paler: slower\n"
            "- click a square: the transfers of the worker that received\n"
            "- healthy: all alike\n"
            "- a pale row or column: that worker or its host has a slow network or is too busy"
        ),
        stock_title="Individual Bandwidth Workers",
        keywords=("network", "rate", "pairs", "heat map", "matrix", "transfer", "communication"),
        view="workers.bandwidth_workers:BandwidthWorkers",
    ),
)
