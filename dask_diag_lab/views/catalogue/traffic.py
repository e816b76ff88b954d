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
            "Two half bars for each worker: above what it receives from other workers, below "
            "what it sends to them, in bytes that are under way at this moment. Healthy: short, "
            "changing bars. Long bars at all times: tasks wait for data; use larger pieces of "
            "work on each piece of data, or put tasks where their data is. One long lower bar: "
            "many workers want what one holds; scatter or replicate it."
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
            "Two half bars for each host: bytes a second that its network cards receive and "
            "send, of all programs on it. Workers that share a host share the bar. Healthy: "
            "well below what the network can do. Near that for long: transfers hold the work "
            "up, see Transfers and Task Stream for which. Traffic without transfers between "
            "workers: reading from and writing to remote storage."
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
            "Two half bars for each host: bytes a second that its disks read and write, of all "
            "programs on it. Healthy: little, unless the work reads or writes local files. Much "
            "writing with memory near its limit: workers are spilling, see Workers Memory. Both "
            "at once and for long: data is spilled and read back again and again; release "
            "results, use smaller pieces or add memory."
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
            "Lines are means over the hosts of the workers, solid for bytes received a second, "
            "dashed for sent; bands reach from the lowest to the highest host. A host counts "
            "once, however many workers it has. Recorded since the diagnostics began. Healthy: "
            "below what the network can do. Long plateaus at the same height: the network is "
            "the limit."
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
            "Lines are means over the hosts of the workers, solid for bytes read a second, "
            "dashed for written; bands reach from the lowest to the highest host. A host counts "
            "once, however many workers it has. Recorded since the diagnostics began. Healthy: "
            "little, unless the work reads or writes local files. Writing that begins when "
            "memory is near its limit is spilling."
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
            "Rows are workers, or the peers of the worker chosen above. A mark above the middle "
            "of a row is data received, below it data sent; its width is the time it took, and "
            "pale marks are slow ones. The table has each with its size, what was on the wire "
            "after compression, keys and rate. From the logs of the workers, which remember the "
            "last transfers each. Healthy: short, strong marks. Long pale marks: a slow "
            "connection, or a worker too busy to send. Many short ones: tasks need many small "
            "results; use larger pieces."
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
            "serialization included. Healthy: near what the network can do for arrays and "
            "tables. One type far slower than others: it is expensive to serialize or does not "
            "compress; convert it before it is sent, for example to an array."
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
            "column: a moving average over transfers above 1 MB; paler is slower. With many "
            "workers pairs are bars, the slowest first. Healthy: all alike. A pale row or "
            "column: that worker or its host has a slow network or is too busy. A click shows "
            "the transfers of the worker that received."
        ),
        stock_title="Individual Bandwidth Workers",
        keywords=("network", "rate", "pairs", "heat map", "matrix", "transfer", "communication"),
        view="workers.bandwidth_workers:BandwidthWorkers",
    ),
)
