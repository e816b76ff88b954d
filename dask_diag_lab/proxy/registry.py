"""Which dashboards there are, kept fresh while somebody listens, and what changed since when.

Nobody listening, nothing runs: no timer, no request.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from typing import Final

from jupyter_server.auth.identity import User

from dask_diag_lab.proxy.client import RefusedError
from dask_diag_lab.proxy.config import Settings
from dask_diag_lab.proxy.dashboard import Dashboard, DiagnosticsDashboard
from dask_diag_lab.proxy.discovery import Discovery, ProcessError
from dask_diag_lab.proxy.messages import DashboardChanges, DashboardInfo, DashboardList
from dask_diag_lab.proxy.stock import StockDashboard, resolve

# Between two looks for new clusters.
POLL_S: Final = 0.5
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
    """

    def __init__(self, discovery: Discovery, settings: Settings) -> None:
        self._discovery, self.settings = discovery, settings
        self._dashboards: dict[str, Dashboard] = {}
        self._scanning = asyncio.Lock()
        self._listeners: set[asyncio.Event] = set()
        self._watch: asyncio.Task[None] | None = None

    @property
    def listing(self) -> Listing:
        """The dashboards as the browser may see them."""
        return {dashboard.id: dashboard.info for dashboard in self._dashboards.values()}

    def find_key(self, key: str) -> tuple[str, User] | None:
        """Return the dashboard that the key of a sandboxed page opens, and for whom."""
        stock = [one for one in self._dashboards.values() if isinstance(one, StockDashboard)]
        return next(((one.id, user) for one in stock if (user := one.user_of(key))), None)

    @property
    def is_watching(self) -> bool:
        """True while somebody listens."""
        return bool(self._listeners)

    async def refresh(self) -> DashboardList:
        """Look once, now, and ask each dashboard how it is."""
        await self._scan()
        await asyncio.gather(*(one.examine() for one in self._dashboards.values()))
        self._publish()
        return {"dashboards": list(self.listing.values())}

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

    async def add(self, url: str) -> tuple[Dashboard, bool]:
        """Add a stock dashboard by hand; the flag tells whether it is new.

        Raises
        ------
        RefusedError
            With status 403 when the address is malformed or not allowed, with 502 when what is
            there is no Dask dashboard or not this user's.
        """
        if not self.settings.relay:
            raise RefusedError("Adding dashboards is switched off on this Jupyter server.")
        reason = None
        for address in await resolve(url, self.settings.allowed_hosts):
            added = StockDashboard(address)
            await added.examine()
            if added.info["state"] == "live":
                known = self._dashboards.setdefault(added.id, added)  # its pages keep their keys
                known.address, known.info = address, added.info
                self._publish()
                return known, known is added
            reason = reason or added.info["reason"]
        raise RefusedError(reason or "", 502)

    def remove(self, dashboard_id: str) -> bool:
        """Remove a dashboard that was added by hand; False when there is none."""
        if not isinstance(self._dashboards.get(dashboard_id), StockDashboard):
            return False
        del self._dashboards[dashboard_id]
        self._publish()
        return True

    async def messages(self) -> AsyncGenerator[DashboardList | DashboardChanges]:
        """Listen: yield the dashboards of now, then what changes, for as long as it is read.

        Keeps no queue: a slow reader gets all that changed meanwhile at once.
        """
        if not self.is_watching:
            await self._scan()
        has_changed = asyncio.Event()
        self._listeners.add(has_changed)
        if self._watch is None:
            self._watch = asyncio.create_task(self._keep_watching())
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
        """End all looking and wait until it has ended. Closing twice is harmless."""
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.wait([self._watch])

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

    async def _keep_watching(self) -> None:
        while True:
            try:
                await self._watch_all()
            except Exception:  # else the lists of all browsers would stand still until a restart
                LOG.exception("Watching the dashboards failed; it begins again.")
            await asyncio.sleep(RETRY_S)

    async def _watch_all(self) -> None:
        tasks: dict[Dashboard, asyncio.Task[None]] = {}
        async with asyncio.TaskGroup() as group:
            while True:
                await self._scan()
                present = set(self._dashboards.values())
                for dashboard in tasks.keys() - present:
                    tasks.pop(dashboard).cancel()
                for dashboard in present - tasks.keys():
                    tasks[dashboard] = group.create_task(self._keep_examining(dashboard))
                self._publish()
                await asyncio.sleep(POLL_S)

    async def _keep_examining(self, dashboard: Dashboard) -> None:
        while True:
            await dashboard.examine()
            self._publish()
            await asyncio.sleep(dashboard.examine_s)

    def _publish(self) -> None:
        for has_changed in self._listeners:
            has_changed.set()
