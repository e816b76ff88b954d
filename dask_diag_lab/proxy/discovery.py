"""Finds Dask's own dashboards: those that runtime records name, and those of other programs.

What no record names is looked for among the listening sockets of this user's processes. A socket
is asked once, and only in a process that may be a scheduler. Its web server opens before all other
ports, which are not asked while that serves a dashboard: a TLS port would log a warning about
whoever connects. Nor are the processes that a scheduler, or a kernel with a record, has started.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from math import inf
from typing import Final

from dask_diag_lab.proxy.client import UpstreamTimeoutError
from dask_diag_lab.proxy.messages import RuntimeRecord, SchedulerMessage
from dask_diag_lab.proxy.policy import Settings
from dask_diag_lab.proxy.sockets import (
    USER_ID,
    Listener,
    Owner,
    listeners,
    own_hosts,
    port_among,
    schedulers_of,
    speaks_first,
)
from dask_diag_lab.proxy.stock import Place, StockDashboard

# A program that gives no answer is asked again after a pause as long as it has been there, which
# doubles, up to this.
MAX_PAUSE_S: Final = 60.0
MAX_ASKED: Final = 64

LOG: Final = logging.getLogger(__name__)


class SocketDiscovery:
    """Looks for Dask's own dashboards when asked to.

    Parameters
    ----------
    settings : Settings
        Whether to look at all.
    kernels : callable
        Returns the ids of this server's kernels by the numbers of their processes.
    on_found : callable
        Is called when a dashboard was found.

    Attributes
    ----------
    found : dict
        The dashboards there are, by their sockets.
    named : dict
        The schedulers of those that records name.
    """

    def __init__(
        self,
        settings: Settings,
        kernels: Callable[[], Mapping[int, str]],
        on_found: Callable[[], None],
    ) -> None:
        self.found: dict[Listener, StockDashboard] = {}
        self.named: dict[Listener, SchedulerMessage] = {}
        self._settings, self._kernels, self._on_found = settings, kernels, on_found
        self._seen_s: dict[Listener, float] = {}  # when each was first there
        self._owners: dict[Listener, Owner | None] = {}  # None where it is not to be asked
        self._due_s: dict[Listener, float] = {}  # not asked before; never again for inf
        self._asking: dict[int, asyncio.Task[None]] = {}  # by process
        self._failure = ""

    async def look(self, records: Collection[RuntimeRecord]) -> None:
        """Look once and begin to ask; forget what is gone.

        A socket is asked at the second look that sees it: a server of ours writes its record
        meanwhile. Where the table may not be read, as in hardened containers, the log says so once.
        """
        if not self._settings.discover:
            return
        try:
            present, hosts = await asyncio.to_thread(lambda: (_own_listeners(), own_hosts()))
            for known in (self.found, self._seen_s, self._owners, self._due_s):
                for gone in known.keys() - present:
                    del known[gone]
            if new := self._seen_s.keys() - self._owners.keys():
                owners = await asyncio.to_thread(schedulers_of, new)
                self._owners |= owners | dict.fromkeys(new - owners.keys())
        except OSError as error:
            if self._failure != str(error):
                self._failure = str(error)
                LOG.warning("Dask's own dashboards are not looked for: %s.", error)
            return
        self._seen_s = {one: self._seen_s.get(one, time.monotonic()) for one in present}
        self._name(records, hosts)
        self._begin({record["pid"] for record in records})

    async def wait(self, timeout_s: float) -> None:
        """Wait for those that are being asked, but not for long: a busy one answers late."""
        if self._asking:
            await asyncio.wait(self._asking.values(), timeout=timeout_s)

    async def close(self) -> None:
        """Ask no more."""
        for task in self._asking.values():
            task.cancel()
        await asyncio.gather(*self._asking.values(), return_exceptions=True)

    def _name(self, records: Collection[RuntimeRecord], hosts: Collection[str]) -> None:
        """Learn which sockets are those of the dashboards in records.

        A record's link and its scheduler are known to belong together where one process listens on
        both ports: a link may be that of a tunnel. A scheduler without a port is in the process of
        the record.
        """
        owners = reversed(self._owners.items())  # of one for IPv4 and one for IPv6 the first counts
        held = {(one.port, owner.process.pid): one for one, owner in owners if owner}
        self.named = {}
        for record in records:
            scheduler = record["scheduler"]
            port = port_among(hosts, scheduler["address"])
            link_port = port_among(hosts, scheduler["dashboard"])
            for (held_port, pid), one in held.items():
                is_inside = (port, pid) in held if port else pid == record["pid"]
                if held_port == link_port and is_inside:
                    info = SchedulerMessage(id=scheduler["id"], address=scheduler["address"])
                    self.named.setdefault(one, info)

    def _begin(self, record_pids: Collection[int]) -> None:
        by_process: dict[int, list[Listener]] = {}
        for listener, owner in self._owners.items():
            if owner and self._due_s.get(listener, 0.0) < inf:
                by_process.setdefault(owner.process.pid, []).append(listener)
        taken = {place.process.pid for one in self.found.values() if (place := one.place)}
        taken.update(record_pids)
        now_s = time.monotonic()
        for pid, listening in by_process.items():
            owner = self._owners[listening[0]]
            asked = [one for one in listening if one in self.named]
            if not asked and owner and not {pid, *owner.ancestors} & taken:
                # One that a process in question has started is perhaps a worker of it.
                asked = listening if by_process.keys().isdisjoint(owner.ancestors) else []
            asked = [one for one in asked if self._due_s.get(one, 0.0) <= now_s]
            if asked and owner and pid not in self._asking and len(self._asking) < MAX_ASKED:
                self._asking[pid] = asyncio.create_task(self._ask(owner, asked))

    async def _ask(self, owner: Owner, listening: list[Listener]) -> None:
        try:
            await self._ask_each(owner, listening)
        finally:
            del self._asking[owner.process.pid]

    async def _ask_each(self, owner: Owner, listening: list[Listener]) -> None:
        """Ask the sockets of a process, in the order in which they were opened."""
        for one in listening:
            self._due_s[one] = inf
            try:
                dashboard = await self._dashboard_at(one, owner)
            except (TimeoutError, UpstreamTimeoutError):
                now_s = time.monotonic()
                pause_s = min(MAX_PAUSE_S, now_s - self._seen_s.get(one, now_s))
                self._due_s[one] = now_s + pause_s
                return
            except OSError:
                continue  # gone
            if dashboard is not None:
                self.found[one] = dashboard
                self._on_found()
                if one not in self.named:
                    return

    async def _dashboard_at(self, listener: Listener, owner: Owner) -> StockDashboard | None:
        if listener not in self.named and await speaks_first(listener.address):
            return None
        kernels = self._kernels()
        pids = (owner.process.pid, *owner.ancestors)
        kernel_id = next((kernels[pid] for pid in pids if pid in kernels), None)
        place = Place(listener, owner.process, kernel_id)
        dashboard = StockDashboard(listener.address, (), place)
        dashboard.set_scheduler(self.named.get(listener))
        is_dask = await dashboard.is_dask()
        if not is_dask and dashboard.is_suspect:  # it ended what is no TLS
            secure = replace(listener.address, scheme="https", is_known=True)
            dashboard = StockDashboard(secure, (), place)
            dashboard.set_scheduler(self.named.get(listener))
            is_dask = await dashboard.is_dask()
        return dashboard if is_dask else None


def _own_listeners() -> set[Listener]:
    return {one for one in listeners() if one.user_id == USER_ID}
