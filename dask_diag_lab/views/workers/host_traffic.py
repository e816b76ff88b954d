"""Network and disk traffic of each host, as the newest heartbeat of its workers tells it.

The counters are the host's: one bar a host, however many workers it has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.base import Table
from dask_diag_lab.views.workers import worker_metrics as wm
from dask_diag_lab.views.workers.in_out_bars import Floats, InOutBars
from dask_diag_lab.views.workers.worker_hosts import Hosts


class HostTraffic(InOutBars):
    """Bytes a second of each host."""

    unit = "rate"
    ticks: ClassVar[Callable[[float, int], list[float]]] = staticmethod(fmt.number_ticks)
    noun = "host"
    smallest = 1e5
    keys: ClassVar[tuple[str, str]] = ("", "")
    """Heartbeat metrics: what comes in, what goes out."""
    missing: ClassVar[str] = ""
    """Said when no worker tells."""
    _known: tuple[int, tuple[Floats, Floats]] | None = None

    def amounts(self) -> tuple[Floats, Floats]:
        """Return bytes a second of each host; see `InOutBars.amounts`."""
        workers = self.store.workers
        if self._known is None or self._known[0] != workers.version:
            hosts = self.worker_hosts()
            incoming, outgoing = (
                hosts.newest(wm.metric(workers, key), workers.last_seen) for key in self.keys
            )
            self._known = (workers.version, (incoming, outgoing))
        return self._known[1]

    def write(self, amount: float) -> str:
        """Return a rate in words."""
        return fmt.si(amount, "B/s") if np.isfinite(amount) else "unknown"

    def names(self) -> Sequence[str]:
        """Return the names of the hosts."""
        return self.worker_hosts().names

    def hosts(self) -> Hosts:
        """Return a host for each bar."""
        names = self.worker_hosts().names
        return Hosts(names, np.arange(len(names)))

    def headline(self, index: int) -> tuple[str, str]:
        """Return the name of a host, and how many workers it has."""
        hosts = self.worker_hosts()
        number = fmt.plural(int(hosts.workers[index]), "worker")
        return f"Host {hosts.names[index]}", f"{number}; the whole host's traffic"

    def empty_words(self) -> str:
        """Return why there is nothing to draw; see `WorkerBars.empty_words`."""
        empty = super().empty_words()
        if empty or any(np.isfinite(amount).any() for amount in self.amounts()):
            return empty
        return self.missing

    def open_one(self, worker: int) -> None:
        """Open the host's worker if it has one only, else the table of all workers."""
        hosts, workers = self.worker_hosts(), self.store.workers
        members = np.flatnonzero(hosts.of_worker == worker)
        if len(members) == 1:
            self.open("worker", worker=workers.address[int(members[0])])
        else:
            self.open("workers")

    def table(self) -> Table:
        """Return one row a host, in bytes a second."""
        hosts = self.worker_hosts()
        columns: dict[str, Sequence[object]] = {
            "host": hosts.names,
            "workers": hosts.workers.tolist(),
        }
        names = [word.replace(" ", "_") for word in self.words]
        for name, amount in zip(names, self.amounts(), strict=True):
            columns[name] = [value if np.isfinite(value) else None for value in amount.tolist()]
        return Table(columns, dict.fromkeys(names, "B/s"))


class HostNetwork(HostTraffic):
    """Network traffic of each host."""

    heading = "Network"
    words = ("received", "sent")
    sorted_by = "network traffic"
    keys = (wm.NETWORK_READ, wm.NETWORK_WRITE)
    missing = "No worker tells the network traffic of its host yet; heartbeats bring it."


class HostDisk(HostTraffic):
    """Disk traffic of each host."""

    heading = "Disk"
    words = ("read", "written")
    sorted_by = "disk traffic"
    keys = (wm.DISK_READ, wm.DISK_WRITE)
    missing = (
        "No worker tells the disk traffic of its host. Either no heartbeat has come yet, or "
        "distributed.admin.system-monitor.disk is off or the system does not count it."
    )
