"""Which dashboards there are, kept fresh while somebody listens, and what changed since when.

Nobody listening, nothing runs: no timer, no request.
"""

from __future__ import annotations

import asyncio
import logging
from asyncio import Task
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

from dask_diag_lab.proxy.client import RefusedError
from dask_diag_lab.proxy.config import Settings
from dask_diag_lab.proxy.dashboard import Dashboard, DiagnosticsDashboard
from dask_diag_lab.proxy.discovery import Discovery
from dask_diag_lab.proxy.finder import Finder
from dask_diag_lab.proxy.keys import Keys
from dask_diag_lab.proxy.messages import (
    DashboardChanges,
    DashboardInfo,
    DashboardList,
    MessageError,
)
from dask_diag_lab.proxy.policy import read_address
from dask_diag_lab.proxy.sockets import ProcessError
from dask_diag_lab.proxy.stock import Keeper, StockDashboard

# Between two looks for new clusters.
POLL_S: Final = 0.2
# Between two looks for stock dashboards, and the share of the time that looking may take: the table
# of a machine with very many connections is long.
LOOK_S: Final = 0.7
LOOK_SHARE: Final = 0.02
# Whoever asks for the list waits so long for what our own servers say, but for no other program: a
# kernel that holds the interpreter answers late, and is asked on.
ASKED_S: Final = 0.4
# After an error that nobody has foreseen.
RETRY_S: Final = 5.0

LOG: Final = logging.getLogger(__name__)

NO_DASHBOARD: Final = (
    "There is no such dashboard; its cluster may have closed. Run the cell that makes the client "
    "again."
)

# The dashboards at one moment, by id, in the order in which they came.
Listing = dict[str, DashboardInfo]


def changes_between(before: Listing, after: Listing) -> DashboardChanges | None:
    """Return what a listener who knows `before` needs to know; None when that is nothing."""
    changed = []
    for dashboard_id, info in after.items():
        known = before.get(dashboard_id)
        if known == info:
            continue
        change = info.copy()
        if known is not None and known["plots"] == info["plots"]:
            del change["plots"]
        changed.append(change)
    removed = [dashboard_id for dashboard_id in before if dashboard_id not in after]
    return {"changed": changed, "removed": removed} if changed or removed else None


class Registry:
    """All dashboards of this user that this Jupyter server may show.

    Parameters
    ----------
    discovery : Discovery
        Finds those that announce themselves.
    settings : Settings
        Whether plots are relayed, and the policy for those that are added by hand.
    keeper : Keeper
        Keeps those that are added by hand.
    kernels : callable
        Returns the ids of this server's kernels by the numbers of their processes.

    Attributes
    ----------
    keys : Keys
        Of the sandboxed pages.
    """

    def __init__(
        self,
        discovery: Discovery,
        settings: Settings,
        keeper: Keeper,
        kernels: Callable[[], Mapping[int, str]],
    ) -> None:
        self._discovery, self.settings, self._keeper = discovery, settings, keeper
        self.keys = Keys()
        self._finder = Finder(settings, discovery.folder, kernels, self._take_found)
        self._dashboards: dict[str, Dashboard] = {}
        self._scanning = asyncio.Lock()
        self._tasks: dict[object, Task[None]] = {}  # by what they are about
        self._listeners: set[asyncio.Event] = set()
        self._watch: Task[None] | None = None
        for url in settings.dashboards:
            self._name(url, "c.DaskDiagLab.dashboards", is_added=False)
        try:
            kept = keeper.load()
        except MessageError as error:
            LOG.warning("Dashboards added by hand are lost, as %s: %s.", keeper.path, error)
            kept = []
        for url in kept:
            self._name(url, str(keeper.path), is_added=True)

    def _name(self, url: str, source: str, *, is_added: bool) -> None:
        """Take a dashboard that was named beforehand, by the administrator or by the user."""
        try:
            dashboard = self._stock(url, is_configured=not is_added)
        except RefusedError as error:
            LOG.warning("Ignoring an address in %s: %s", source, error)
            return
        known = self._dashboards.setdefault(dashboard.id, dashboard)
        if isinstance(known, StockDashboard):
            known.is_added |= is_added
            known.is_configured |= not is_added

    def _stock(self, url: str, *, is_configured: bool) -> StockDashboard:
        settings = self.settings
        given = replace(read_address(url), ca_file=settings.certificate_authorities)
        hosts = [*settings.allowed_hosts, given.host] if is_configured else settings.allowed_hosts
        return StockDashboard(given, hosts)

    @property
    def _stocks(self) -> list[StockDashboard]:
        return [one for one in self._dashboards.values() if isinstance(one, StockDashboard)]

    @property
    def listing(self) -> Listing:
        """The dashboards as the browser may see them: each stock one knows whom it belongs to."""
        listing: Listing = {}
        shown: dict[str, str] = {}
        ids: dict[str, str] = {}  # of schedulers, by their addresses
        for dashboard in self._dashboards.values():
            if not isinstance(dashboard, StockDashboard):
                listing[dashboard.id] = dashboard.info
                own = dashboard.info["scheduler"]
                shown.setdefault(own["id"], dashboard.id)
                ids[own["address"]] = own["id"]
        named = [one for one in self._stocks if one.is_added or one.is_configured]
        listed: set[str] = set()  # the same by another name or address is shown once
        for stock in (*named, *(one for one in self._stocks if one not in named)):
            scheduler = stock.scheduler_among(ids)
            if scheduler and scheduler in listed and stock not in named:
                continue
            listed.add(scheduler)
            info = listing[stock.id] = {**stock.info, "is_removable": stock.is_added}
            if scheduler in shown and scheduler:
                info["shown_with"] = shown[scheduler]
        return listing

    @property
    def is_watching(self) -> bool:
        """True while somebody listens."""
        return bool(self._listeners)

    def dashboard(self, dashboard_id: str) -> Dashboard:
        """Return one that is listed."""
        return self._dashboards[dashboard_id]

    async def refresh(self) -> DashboardList:
        """Look now, and ask each dashboard how it is.

        What others answer is in the next list: only our own servers are waited for, not for long.
        """
        await self._scan()
        if self.settings.discover and not self.is_watching:
            self._begin(self._finder, self._look)
        for one in self._dashboards.values():
            self._begin(one, partial(self._examine, one))
        own = [task for one, task in self._tasks.items() if isinstance(one, DiagnosticsDashboard)]
        if own:
            await asyncio.wait(own, timeout=ASKED_S)
        self._publish()
        return {"dashboards": list(self.listing.values())}

    async def refresh_all(self) -> None:
        """Look now for who asks once: wait for all, also for programs that may be a dashboard."""
        await self._scan()
        await self._finder.look(self._own_ports)
        await self._finder.wait()
        await asyncio.gather(*map(self._examine, self._dashboards.values()))

    def _begin(self, key: object, work: Callable[[], Coroutine[Any, Any, None]]) -> Task[None]:
        """Begin a task, unless there is one about the same."""
        if key not in self._tasks:
            self._tasks[key] = asyncio.create_task(work())
            self._tasks[key].add_done_callback(lambda _: self._tasks.pop(key))
        return self._tasks[key]

    async def find(self, dashboard_id: str) -> Dashboard:
        """Return a dashboard that may be contacted now.

        Raises
        ------
        RefusedError
            When relaying is switched off; with status 404 when there is no such dashboard, or what
            listens at its address is not what it was.
        """
        if not self.settings.relay:
            raise RefusedError("Showing plots is switched off on this Jupyter server.")
        if not self.is_watching or dashboard_id not in self._dashboards:
            await self._scan()
        dashboard = self._dashboards.get(dashboard_id)
        if dashboard is None:
            raise RefusedError(NO_DASHBOARD, 404)
        try:
            await dashboard.verify()
        except ProcessError as error:
            raise RefusedError(dashboard.failure(error), 404) from None
        return dashboard

    async def add(self, url: str) -> tuple[DashboardInfo, bool]:
        """Add a stock dashboard by hand and keep it; the flag tells whether it is new by hand.

        Raises
        ------
        RefusedError
            With status 403 when the address is malformed or not allowed, with 502 when what is
            there is no Dask dashboard or not this user's.
        """
        if not self.settings.relay:
            raise RefusedError("Adding dashboards is switched off on this Jupyter server.")
        added = self._stock(url, is_configured=False)
        known = self._dashboards.get(added.id)
        dashboard = known if isinstance(known, StockDashboard) else added
        await dashboard.examine()
        if dashboard.info["state"] != "live":
            raise RefusedError(dashboard.info["reason"] or "", dashboard.status)
        same = (one for one in self._stocks if _is_same(one, dashboard))
        dashboard = next(same, dashboard)  # found by itself, or by another name
        is_new, dashboard.is_added = not dashboard.is_added, True
        if is_new:
            self._dashboards[dashboard.id] = dashboard
            await self._keep(dashboard, is_kept=True)
            self._publish()
        return self.listing[dashboard.id], is_new

    async def remove(self, dashboard_id: str) -> bool:
        """Remove a dashboard that was added by hand, and what its pages have open; else False."""
        dashboard = self._dashboards.get(dashboard_id)
        if not isinstance(dashboard, StockDashboard) or not dashboard.is_added:
            return False
        dashboard.is_added = False
        await self._keep(dashboard, is_kept=False)
        dashboard.close_sockets("This dashboard was removed.")
        self.keys.end(dashboard_id)
        self._drop_unwanted()
        self._publish()
        return True

    async def _keep(self, dashboard: StockDashboard, *, is_kept: bool) -> None:
        url = dashboard.given.url
        try:
            await asyncio.to_thread(self._keeper.change, url, is_kept=is_kept)
        except OSError as error:
            LOG.warning("%s cannot be written: %s", self._keeper.path, error.strerror)

    async def messages(self) -> AsyncGenerator[DashboardList | DashboardChanges]:
        """Listen: yield the dashboards of now, then what changes, for as long as it is read.

        Keeps no queue: a slow reader gets all that changed meanwhile at once.
        """
        if not self.is_watching:
            await self._scan()
        has_changed = asyncio.Event()
        self._listeners.add(has_changed)
        if self._watch is None:
            self._watch = self._begin(object(), self._keep_watching)  # one may be ending
        try:
            listing = self.listing
            yield {"dashboards": list(listing.values())}
            while True:
                await has_changed.wait()
                has_changed.clear()
                before, listing = listing, self.listing
                if changes := changes_between(before, listing):
                    yield changes
        finally:
            self._listeners.discard(has_changed)
            if not self.is_watching and self._watch is not None:
                self._watch.cancel()
                self._watch = None

    async def close(self) -> None:
        """End all looking and close every socket. Closing twice is harmless."""
        for dashboard in self._dashboards.values():
            dashboard.close_sockets("The Jupyter server stops.", 1001)
        self.keys.end()
        for task in tuple(self._tasks.values()):
            task.cancel()
            await asyncio.wait([task])
        await self._finder.close()

    async def _scan(self) -> None:
        """Bring the announced dashboards up to date; asks the operating system only."""
        async with self._scanning:
            found = await asyncio.to_thread(self._discovery.scan)
            announced = {one.record["id"]: one for one in found}
            for known in list(self._dashboards.values()):
                if isinstance(known, DiagnosticsDashboard):
                    one = announced.get(known.id)
                    if one is None or one.record != known.record:
                        del self._dashboards[known.id]
            for dashboard_id, announcement in announced.items():
                if dashboard_id not in self._dashboards:
                    self._dashboards[dashboard_id] = DiagnosticsDashboard(announcement)

    def _own_ports(self) -> set[int]:
        """Return the ports of our servers and their schedulers, not asked what they are."""
        ours = [one for one in self._dashboards.values() if isinstance(one, DiagnosticsDashboard)]
        named = (one.record["scheduler"]["address"].rpartition(":")[2] for one in ours)
        return {one.address.port for one in ours} | {int(one) for one in named if one.isdecimal()}

    def _take_found(self) -> None:
        """Bring the dashboards that are found by themselves up to date."""
        for stock in self._stocks:
            if stock.found and stock.found.listener not in self._finder.found:
                stock.lose()
        for listener, found in self._finder.found.items():
            same = (one for one in self._stocks if _is_same(one, found))
            known = next(same, found)
            self._dashboards[known.id] = self._finder.found[listener] = known
            if found.found and known.found != found.found:
                known.take(found.found, found.address)
        self._drop_unwanted()
        self._publish()

    def _drop_unwanted(self) -> None:
        for stock in self._stocks:
            if not (stock.found or stock.is_added or stock.is_configured):
                del self._dashboards[stock.id]
                self.keys.end(stock.id)

    async def _keep_watching(self) -> None:
        while True:
            try:
                await self._watch_all()
            except Exception:  # else the lists of all browsers would stand still until a restart
                LOG.exception("Watching the dashboards failed; it begins again.")
            await asyncio.sleep(RETRY_S)

    async def _watch_all(self) -> None:
        tasks: dict[Dashboard, Task[None]] = {}
        async with asyncio.TaskGroup() as group:
            group.create_task(self._keep_looking())
            while True:
                await self._scan()
                present = set(self._dashboards.values())
                for dashboard in tasks.keys() - present:
                    tasks.pop(dashboard).cancel()
                for dashboard in present - tasks.keys():
                    tasks[dashboard] = group.create_task(self._keep_examining(dashboard))
                self._publish()
                await asyncio.sleep(POLL_S)

    async def _look(self) -> None:
        await self._finder.look(self._own_ports)
        self._take_found()
        await asyncio.sleep(max(LOOK_S, self._finder.took_s / LOOK_SHARE))

    async def _keep_looking(self) -> None:
        while self.settings.discover:
            await self._look()

    async def _keep_examining(self, dashboard: Dashboard) -> None:
        while True:
            await self._examine(dashboard)
            self._publish()
            await asyncio.sleep(dashboard.examine_s)

    async def _examine(self, dashboard: Dashboard) -> None:
        try:
            await dashboard.examine()
        except Exception:  # a dashboard that nobody has foreseen ends the list of no other
            LOG.exception("Asking %s how it is failed.", dashboard.name)
            dashboard.set_state("unreachable", f"What {dashboard.name} answers cannot be used.")

    def _publish(self) -> None:
        for has_changed in self._listeners:
            has_changed.set()


def _is_same(one: StockDashboard, other: StockDashboard) -> bool:
    scheduler, place = one.info["scheduler"]["id"], one.address
    return (
        one.id == other.id
        or (place.ip, place.port, place.prefix)
        == (other.address.ip, other.address.port, other.address.prefix)
        or (scheduler != "" and scheduler == other.info["scheduler"]["id"])
    )
