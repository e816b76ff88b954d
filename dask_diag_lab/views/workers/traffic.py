"""Data on its way: results between workers, and the network and disk traffic of hosts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.bars import BarPlot, Part
from dask_diag_lab.views.data import Column, Rows
from dask_diag_lab.views.names import no_workers
from dask_diag_lab.views.registry import register_plot
from dask_diag_lab.views.workers import common
from dask_diag_lab.views.workers.common import WORKER, WorkerBars, metric, newest_by_host


@register_plot
class DataTransfer(WorkerBars):
    """Bytes that each worker receives from and sends to others right now."""

    name = "workers-transfer-bytes"
    title = "Data Transfer"
    description = "Bytes of results that each worker is receiving and sending now."
    help = (
        "Two half bars for each worker, in bytes of results that are under way at this "
        "moment.\n"
        "- upper half: what it receives from other workers\n"
        "- lower half: what it sends to them\n"
        "- healthy: short, changing bars\n"
        "- long bars at all times: tasks wait for data; use larger pieces of work on each "
        "piece of data, or put tasks where their data is\n"
        "- one long lower bar: many workers want what one holds; scatter or replicate it"
    )
    keywords = ("network", "communication", "incoming", "outgoing", "transfer", "bandwidth")

    columns = (
        *WORKER,
        Column("incoming_bytes", "Incoming", "bytes"),
        Column("outgoing_bytes", "Outgoing", "bytes"),
    )
    parts = (
        Part("incoming_bytes", "incoming, above", "incoming"),
        Part("outgoing_bytes", "outgoing, below", "outgoing"),
    )
    is_split = True
    value = ("incoming_bytes", "outgoing_bytes")
    signs = ("↓", "↑")

    def headline(self) -> str:
        """Return the sums; see `DataPlot.headline`."""
        totals = self.store.workers.totals()
        incoming, outgoing = fmt.binary(totals.incoming_bytes), fmt.binary(totals.outgoing_bytes)
        return f"Bytes in transfer: {incoming} incoming, {outgoing} outgoing"


class HostTraffic(BarPlot):
    """Bytes a second of each host, as the newest heartbeat of its workers tells it.

    The counters are the host's: one bar a host, however many workers it has.

    Attributes
    ----------
    metrics : sequence of str
        What comes in, what goes out; their columns are named in `value`.
    """

    reads = ("workers", "nthreads")
    group = "Workers"
    metrics: ClassVar[Sequence[str]] = ()
    is_split = True
    signs = ("↓", "↑")
    noun = "host"
    key = label = "host"

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        above, below = cls.value
        cls.parts = (
            Part(above, f"{above}, above", "incoming"),
            Part(below, f"{below}, below", "outgoing"),
        )
        cls.columns = (
            Column("host", shown=False),
            Column("workers", "Workers on this host", "count"),
            *(Column(name, name.capitalize(), "rate") for name in cls.value),
        )

    def rows(self) -> Rows:
        """Return a row for each host that anybody tells of; see `BarPlot.rows`."""
        workers = self.store.workers
        amounts = [newest_by_host(workers, metric(workers, key)) for key in self.metrics]
        hosts = Counter(workers.host)
        if not any(np.isfinite(list(amount.values())).any() for amount in amounts):
            hosts.clear()
        rates = {
            name: np.array([amount[host] for host in hosts])
            for name, amount in zip(self.value, amounts, strict=True)
        }
        return {"host": list(hosts), "workers": list(hosts.values()), **rates}

    def headline(self) -> str:
        """Return the sums; see `DataPlot.headline`."""
        rows = self.rows()
        sums = [f"{fmt.si(float(np.nansum(rows[name])), 'B/s')} {name}" for name in self.value]
        return f"{self.title}: {', '.join(sums)}"

    def why_empty(self) -> str:
        """Return why there is no host; see `DataPlot.why_empty`."""
        return self.empty if len(self.store.workers) else no_workers(self.store)

    def open_row(self, key: str) -> None:
        """Open the table of all workers, which has their hosts."""
        del key
        self.open("workers")


@register_plot
class HostNetwork(HostTraffic):
    """Network traffic of each host."""

    name = "workers-network"
    title = "Network"
    description = "Network traffic of each host, received and sent."
    help = (
        "Two half bars for each host, in bytes a second, of all programs on it; workers that "
        "share a host share the bar.\n"
        "- upper half: what its network cards receive\n"
        "- lower half: what they send\n"
        "- healthy: well below what the network can do\n"
        "- near that for long: transfers hold the work up; see Transfers and Task Stream for "
        "which\n"
        "- traffic without transfers between workers: reading from and writing to remote "
        "storage"
    )
    keywords = ("bandwidth", "host", "traffic", "read", "write", "bytes per second")

    metrics = (common.NETWORK_READ, common.NETWORK_WRITE)
    value = ("received", "sent")
    empty = common.NO_NETWORK


@register_plot
class HostDisk(HostTraffic):
    """Disk traffic of each host."""

    name = "workers-disk"
    title = "Disk"
    description = "Disk traffic of each host, read and written."
    help = (
        "Two half bars for each host, in bytes a second, of all programs on it.\n"
        "- upper half: what its disks read\n"
        "- lower half: what they write\n"
        "- healthy: little, unless the work reads or writes local files\n"
        "- much writing with memory near its limit: workers are spilling; see Workers Memory\n"
        "- both at once and for long: data is spilled and read back again and again; release "
        "results, use smaller pieces or add memory"
    )
    keywords = ("io", "spill", "host", "traffic", "read", "write", "bytes per second")

    metrics = (common.DISK_READ, common.DISK_WRITE)
    value = ("read", "written")
    empty = common.NO_DISK
