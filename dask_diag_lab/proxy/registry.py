"""Which dashboards there are, kept fresh while somebody listens, and what changed since when.

Nobody listening, nothing runs: no timer, no request.
"""

from __future__ import annotations

import asyncio
import logging
from asyncio import Task
from collections.abc import AsyncGenerator, Callable, Container, Coroutine, Iterable, Mapping
from math import inf
from pathlib import Path
from typing import Any, Final

from dask_diag_lab.proxy.client import NotAllowedError
from dask_diag_lab.proxy.dashboard import Dashboard, DiagnosticsDashboard
from dask_diag_lab.proxy.discovery import SocketDiscovery
from dask_diag_lab.proxy.messages import (
    DashboardChanges,
    DashboardInfo,
    DashboardList,
)
from dask_diag_lab.proxy.policy import Settings, read_address
from dask_diag_lab.proxy.recordings import Recordings, id_of
from dask_diag_lab.proxy.records import RecordDiscovery
from dask_diag_lab.proxy.sockets import ProcessError
from dask_diag_lab.proxy.stock import AddressStore, StockDashboard

# A new cluster is listed, with its plots, within 0.5 s.
TICK_S: Final = 0.25
# Between two looks for the sockets of other programs.
LOOK_S: Final = 1.0
# Whoever asks for the list waits so long for what our own servers say, but for no other program: a
# kernel that holds the interpreter answers late, and is asked on.
ASKED_S: Final = 0.4
# Who asks once waits so long for programs that may be a dashboard.
ONCE_S: Final = 2.0
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


def listing_of(
    ours: Iterable[DiagnosticsDashboard],
    stocks: Iterable[StockDashboard],
    recordings: Container[str] = (),
) -> Listing:
    """Return dashboards as the browser may see them: each stock one knows whom it belongs to."""
    listing: Listing = {
        one.id: {**one.info, "is_removable": True} if one.id in recordings else one.info
        for one in ours
    }
    diagnostics = {info["scheduler"]["id"]: info["id"] for info in reversed(listing.values())}
    listed: set[str] = set()  # the same by another name or address is shown once
    for stock in sorted(stocks, key=lambda one: not one.is_listed_always):
        scheduler = stock.info["scheduler"]["id"]
        if scheduler in listed and not stock.is_listed_always:
            continue
        info = listing[stock.id] = {**stock.info, "is_removable": stock.is_added}
        if scheduler:
            listed.add(scheduler)
            if scheduler in diagnostics:
                info["shown_with"] = diagnostics[scheduler]
    return listing


class DashboardRegistry:
    """All dashboards of this user that this Jupyter server may show.

    Parameters
    ----------
    records : RecordDiscovery
        Finds those that announce themselves.
    settings : Settings
        Whether plots are relayed, and the policy for those that are added by hand.
    added : AddressStore
        Keeps those that are added by hand.
    kernels : callable
        Returns the ids of this server's kernels by the numbers of their processes.
    """

    def __init__(
        self,
        records: RecordDiscovery,
        settings: Settings,
        added: AddressStore,
        kernels: Callable[[], Mapping[int, str]],
    ) -> None:
        self._records, self.settings, self._added = records, settings, added
        self._sockets = SocketDiscovery(settings, kernels, self._take_found)
        self._recordings = Recordings()
        self._look_due_s = 0.0
        self._ours: dict[str, DiagnosticsDashboard] = {}
        self._stocks: dict[str, StockDashboard] = {}
        self._scanning = asyncio.Lock()
        self._tasks: dict[object, Task[None]] = {}  # by what they are about
        self._listeners: set[asyncio.Event] = set()
        self._watch: Task[None] | None = None
        for url in settings.dashboards:
            self._name(url, "c.DaskDiagLab.dashboards", is_added=False)
        for url in added.load():
            self._name(url, str(added.path), is_added=True)

    def _name(self, url: str, source: str, *, is_added: bool) -> None:
        """Take a dashboard that was named beforehand, by the administrator or by the user."""
        try:
            dashboard = self._stock(url, is_configured=not is_added)
        except NotAllowedError as error:
            LOG.warning("Ignoring an address in %s: %s", source, error)
            return
        dashboard = self._stocks.setdefault(dashboard.id, dashboard)
        dashboard.is_added |= is_added
        dashboard.is_configured |= not is_added

    def _stock(self, url: str, *, is_configured: bool) -> StockDashboard:
        given, allowed = read_address(url), self.settings.allowed_hosts
        return StockDashboard(given, [*allowed, given.host] if is_configured else allowed)

    @property
    def _dashboards(self) -> Mapping[str, Dashboard]:
        return {**self._ours, **self._stocks}

    @property
    def listing(self) -> Listing:
        """The dashboards as the browser may see them."""
        return listing_of(self._ours.values(), self._stocks.values(), self._recordings)

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
        self._begin_due(inf)
        if own := [self._tasks[one] for one in self._ours.values()]:
            await asyncio.wait(own, timeout=ASKED_S)
        return {"dashboards": list(self.listing.values())}

    async def refresh_all(self) -> None:
        """Look now for who asks once: wait for all, also for programs that may be a dashboard."""
        await self._scan()
        await self._look()
        await self._look()
        await self._sockets.wait(ONCE_S)
        await asyncio.gather(*map(self._examine, self._dashboards.values()))

    async def find(self, dashboard_id: str) -> Dashboard:
        """Return a dashboard that may be contacted now.

        Raises
        ------
        NotAllowedError
            When relaying is switched off; with status 404 when there is no such dashboard, or what
            listens at its address is not what it was.
        """
        if not self.settings.relay:
            raise NotAllowedError("Showing plots is switched off on this Jupyter server.")
        if not self.is_watching or dashboard_id not in self._dashboards:
            await self._scan()
        if (dashboard := self._dashboards.get(dashboard_id)) is None:
            raise NotAllowedError(NO_DASHBOARD, 404)
        try:
            await dashboard.verify()
        except ProcessError as error:
            raise NotAllowedError(dashboard.failure(error), 404) from None
        return dashboard

    async def add(self, url: str) -> tuple[DashboardInfo, bool]:
        """Add a stock dashboard by hand and keep it; the flag tells whether it is new by hand.

        Raises
        ------
        NotAllowedError
            With status 403 when the address is malformed or not allowed, with 502 when what is
            there is no Dask dashboard or not this user's.
        """
        if not self.settings.relay:
            raise NotAllowedError("Adding dashboards is switched off on this Jupyter server.")
        dashboard = self._stock(url, is_configured=False)
        dashboard = self._stocks.get(dashboard.id, dashboard)
        await dashboard.examine()
        if dashboard.info["state"] != "live":
            raise NotAllowedError(dashboard.info["reason"] or "", dashboard.status)
        dashboard = self._known(dashboard)  # found by itself, or by another name
        is_new, dashboard.is_added = not dashboard.is_added, True
        if is_new:
            self._stocks[dashboard.id] = dashboard
            await self._keep(dashboard, is_kept=True)
            self._publish()
        return self.listing[dashboard.id], is_new

    async def open(self, path: Path) -> tuple[DashboardInfo, bool]:
        """Serve a recording; the flag tells whether it was not served before.

        Raises
        ------
        NotAllowedError
            With status 422 when it is none, or damaged; the text says what is wrong with it.
        """
        if not self.settings.relay:
            raise NotAllowedError("Showing plots is switched off on this Jupyter server.")
        dashboard_id = id_of(path)
        await self._scan()
        # Another Jupyter server of this user may have opened it.
        is_new = dashboard_id not in self._ours and await self._recordings.open(path)
        await self._scan()
        if (dashboard := self._ours.get(dashboard_id)) is None:
            raise NotAllowedError(f"{path.name} is open, but its process is not found.", 502)
        await self._examine(dashboard)
        return self.listing[dashboard_id], is_new

    async def remove(self, dashboard_id: str) -> bool:
        """Remove what was added or opened by hand, and what its pages have open; else False."""
        if dashboard_id in self._recordings:
            await self._recordings.close(dashboard_id)
            await self._scan()
            self._publish()
            return True
        dashboard = self._stocks.get(dashboard_id)
        if dashboard is None or not dashboard.is_added:
            return False
        dashboard.is_added = False
        await self._keep(dashboard, is_kept=False)
        dashboard.close_sockets("This dashboard was removed.")
        self._drop_unwanted()
        self._publish()
        return True

    async def _keep(self, dashboard: StockDashboard, *, is_kept: bool) -> None:
        url = dashboard.given.url
        try:
            await asyncio.to_thread(self._added.change, url, is_kept=is_kept)
        except OSError as error:
            LOG.warning("%s cannot be written: %s", self._added.path, error.strerror)

    async def messages(self) -> AsyncGenerator[DashboardList | DashboardChanges]:
        """Listen: yield the dashboards of now, then what changes, for as long as it is read.

        Keeps no queue: a slow reader gets all that changed meanwhile at once.
        """
        if not self.is_watching:
            await self._scan()
        has_changed = asyncio.Event()
        self._listeners.add(has_changed)
        if self._watch is None:
            self._watch = self._begin(object(), self._keep_watching())  # one may be ending
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
        for task in tuple(self._tasks.values()):
            task.cancel()
            await asyncio.wait([task])
        await self._sockets.close()
        await self._recordings.close_all()

    async def _scan(self) -> None:
        """Bring the announced dashboards up to date; asks the operating system only."""
        async with self._scanning:
            found = await asyncio.to_thread(self._records.scan)
            known = self._ours
            self._ours = {
                one.record["id"]: DiagnosticsDashboard(one)
                if (before := known.get(one.record["id"])) is None or before.record != one.record
                else before
                for one in found
            }

    def _known(self, stock: StockDashboard) -> StockDashboard:
        """Return the same dashboard where it is known already, perhaps by another name."""
        return next((one for one in self._stocks.values() if _is_same(one, stock)), stock)

    def _take_found(self) -> None:
        """Bring the dashboards that are found by themselves up to date."""
        found = self._sockets.found
        for stock in self._stocks.values():
            if stock.place and stock.place.listener not in found:
                stock.forget_place()
        for listener, one in found.items():
            known = self._known(one)
            self._stocks[known.id] = found[listener] = known
            if one.place and known.place != one.place:
                known.set_place(one.place, one.address)
            known.set_scheduler(self._sockets.named.get(listener))
        self._drop_unwanted()
        self._publish()

    def _drop_unwanted(self) -> None:
        self._stocks = {
            stock.id: stock
            for stock in self._stocks.values()
            if stock.place or stock.is_listed_always
        }

    def _begin(self, key: object, work: Coroutine[Any, Any, None]) -> Task[None]:
        """Begin a task that is about the key."""
        self._tasks[key] = asyncio.create_task(work)
        self._tasks[key].add_done_callback(lambda _: self._tasks.pop(key))
        return self._tasks[key]

    def _begin_due(self, now_s: float) -> None:
        """Begin to look, and to ask dashboards how they are, where it is time and none is asked."""
        if self._look_due_s <= now_s and self._sockets not in self._tasks:
            self._begin(self._sockets, self._look())
        for one in self._dashboards.values():
            if one.due_s <= now_s and one not in self._tasks:
                self._begin(one, self._examine(one))

    async def _keep_watching(self) -> None:
        while True:
            try:
                await self._scan()
                self._begin_due(asyncio.get_running_loop().time())
                self._publish()
            except Exception:  # else the lists of all browsers would stand still until a restart
                LOG.exception("Watching the dashboards failed; it begins again.")
                await asyncio.sleep(RETRY_S)
            await asyncio.sleep(TICK_S)

    async def _look(self) -> None:
        await self._sockets.look([one.record for one in self._ours.values()])
        self._look_due_s = asyncio.get_running_loop().time() + LOOK_S
        self._take_found()

    async def _examine(self, dashboard: Dashboard) -> None:
        try:
            await dashboard.examine()
        except Exception:  # a dashboard that nobody has foreseen ends the list of no other
            LOG.exception("Asking %s how it is failed.", dashboard.name)
            dashboard.set_state("unreachable", f"What {dashboard.name} answers cannot be used.")
        dashboard.due_s = asyncio.get_running_loop().time() + dashboard.examine_s
        self._publish()

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
