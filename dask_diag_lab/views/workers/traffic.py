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
        totals = self.history.workers.totals()
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
        workers = self.history.workers
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
        return self.empty if len(self.history.workers) else no_workers(self.history)

    def open_row(self, key: str) -> None:
        """Open the table of all workers, which has their hosts."""
        del key
        self.open("workers")


@register_plot
class HostNetwork(HostTraffic):
    """Network traffic of each host."""

    name = "workers-network"

    metrics = (common.NETWORK_READ, common.NETWORK_WRITE)
    value = ("received", "sent")
    empty = common.NO_NETWORK


@register_plot
class HostDisk(HostTraffic):
    """Disk traffic of each host."""

    name = "workers-disk"

    metrics = (common.DISK_READ, common.DISK_WRITE)
    value = ("read", "written")
    empty = common.NO_DISK
