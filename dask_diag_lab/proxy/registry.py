"""Which dashboards there are, the one owner of their state.

Looks only when it is asked to; who asks again and again is `lookout`. Must not know the requests
of browsers.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Final, Protocol

from dask_diag_lab.proxy import health, stock
from dask_diag_lab.proxy.addresses import Address, AddressError, resolve, typed_address
from dask_diag_lab.proxy.dashboard import Condition, Dashboard
from dask_diag_lab.proxy.discovery import RECHECK_S, Discovery
from dask_diag_lab.proxy.liveness import Liveness, Verdict, check_by_hand
from dask_diag_lab.proxy.wire import DashboardsAnswer

MAX_BY_HAND: Final = 32


class UnknownDashboardError(Exception):
    """No dashboard with that id, or none that may be contacted now; the text is for the user."""


class Settings(Protocol):
    """What is read of the configuration."""

    @property
    def allowed_hosts(self) -> list[str]: ...

    @property
    def health_timeout_s(self) -> float: ...


class Dashboards:
    """All dashboards of this user that this Jupyter server may show.

    Parameters
    ----------
    discovery : Discovery
        Finds the announced ones.
    settings : Settings
        The policy and the timeout for those added by hand.
    """

    def __init__(self, discovery: Discovery, settings: Settings) -> None:
        self.text = json.dumps({"dashboards": []})
        self.on_change: Callable[[], None] = lambda: None
        self._discovery = discovery
        self._settings = settings
        self._found: dict[str, Dashboard] = {}
        self._by_hand: dict[str, Dashboard] = {}
        self._scanning = asyncio.Lock()

    @property
    def answer(self) -> DashboardsAnswer:
        """The dashboards as the browser may see them."""
        return {"dashboards": [dashboard.entry for dashboard in self.all()]}

    def all(self) -> list[Dashboard]:
        """Return announced ones in the order of their beginning, then those added by hand."""
        found = sorted(self._found.values(), key=_beginning)
        return [*found, *self._by_hand.values()]

    def publish(self) -> None:
        """Tell of what changed since the last time, if anything did."""
        text = json.dumps(self.answer)
        if text != self.text:
            self.text = text
            self.on_change()

    async def scan(self, recheck_s: float = RECHECK_S) -> None:
        """Bring the announced dashboards up to date; asks the operating system only.

        Processes that were checked less than ``recheck_s`` ago are not checked again.
        """
        async with self._scanning:
            records = await asyncio.to_thread(self._discovery.scan, recheck_s)
        found = {}
        for record in records.values():
            known = self._found.get(record.id)
            is_same = known is not None and known.record == record
            found[record.id] = known if known and is_same else Dashboard.of_record(record)
        self._found = found

    async def refresh(self, *, is_watched: bool) -> None:
        """Look once, now. Dashboards that are watched anyway are asked only if they are new."""
        await self.scan(recheck_s=0.0)
        asked = [d for d in self.all() if not is_watched or d.plots_of is None]
        await asyncio.gather(*(self.examine(dashboard) for dashboard in asked))
        self.publish()

    async def examine(self, dashboard: Dashboard) -> None:
        """Ask one dashboard how it is, when its process may be contacted."""
        liveness = await self._check(dashboard)
        timeout_s = self._settings.health_timeout_s
        if liveness.verdict is not Verdict.ALIVE:
            dashboard.condition = Condition("unreachable", _not_contacted(dashboard, liveness))
            if dashboard.record is not None:
                await self.scan(recheck_s=0.0)  # it leaves the list
        elif dashboard.kind == "diagnostics":
            await health.examine(dashboard, timeout_s)
        else:
            await stock.examine(dashboard, timeout_s)

    async def contactable(self, dashboard_id: str) -> Dashboard:
        """Return a dashboard whose process was checked just now.

        Raises
        ------
        UnknownDashboardError
            When there is none, or what listens at its address is not what it was.
        """
        dashboard = self._find(dashboard_id)
        if dashboard is None:
            await self.scan()
            dashboard = self._find(dashboard_id)
        if dashboard is None:
            raise UnknownDashboardError(
                "There is no such dashboard; its cluster may have closed. Run the cell that "
                "makes the client again."
            )
        liveness = await self._check(dashboard)
        if liveness.verdict is not Verdict.ALIVE:
            raise UnknownDashboardError(_not_contacted(dashboard, liveness))
        return dashboard

    async def add(self, url: str) -> tuple[Dashboard, bool]:
        """Add a stock dashboard by hand; the flag tells whether it is new.

        Raises
        ------
        AddressError
            When the address is malformed or refused.
        stock.NotADashboardError
            When what answers there is no Dask dashboard.
        """
        addresses = await resolve(typed_address(url), self._settings.allowed_hosts)
        is_new = stock.stock_id(addresses[0]) not in self._by_hand
        if is_new and len(self._by_hand) >= MAX_BY_HAND:
            raise AddressError(
                f"{MAX_BY_HAND} dashboards have been added by hand. Remove one first."
            )
        own = await self._own(addresses)
        dashboard = await stock.verify(own, self._settings.health_timeout_s)
        self._by_hand[dashboard.id] = dashboard
        self.publish()
        return dashboard, is_new

    def remove(self, dashboard_id: str) -> bool:
        """Remove a dashboard that was added by hand; False when there is none."""
        is_known = self._by_hand.pop(dashboard_id, None) is not None
        self.publish()
        return is_known

    async def _own(self, addresses: list[Address]) -> list[Address]:
        checks = [
            (address, await asyncio.to_thread(check_by_hand, address, self._discovery.uid))
            for address in addresses
        ]
        own = [address for address, liveness in checks if liveness.verdict is Verdict.ALIVE]
        if not own:
            raise AddressError(
                f"This dashboard is not shown: {checks[0][1].reason}. Check the address."
            )
        return own

    async def _check(self, dashboard: Dashboard) -> Liveness:
        if dashboard.record is not None:
            return await asyncio.to_thread(self._discovery.check, dashboard.record)
        return await asyncio.to_thread(check_by_hand, dashboard.address, self._discovery.uid)

    def _find(self, dashboard_id: str) -> Dashboard | None:
        return self._found.get(dashboard_id) or self._by_hand.get(dashboard_id)


def _beginning(dashboard: Dashboard) -> tuple[float, str]:
    return (dashboard.record.started if dashboard.record else 0.0, dashboard.id)


def _not_contacted(dashboard: Dashboard, liveness: Liveness) -> str:
    todo = (
        "Run the cell that makes the client again."
        if dashboard.kind == "diagnostics"
        else "Check that its cluster still runs, or remove it from the list."
    )
    return f"{dashboard.name} is not contacted: {liveness.reason}. {todo}"
