"""A stock Dask dashboard that a user added by hand: verified, named, and looked after.

Must only ask for two JSON routes. What the user typed becomes an address in `addresses`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Final

from dask_diag_lab.proxy.addresses import Address
from dask_diag_lab.proxy.dashboard import Condition, Dashboard
from dask_diag_lab.proxy.fields import MAX_ROWS
from dask_diag_lab.proxy.upstream import UpstreamError, fetch
from dask_diag_lab.proxy.wire import PlotEntry, SchedulerEntry

MAX_INDEX_BYTES: Final = 256 * 1024
MAX_IDENTITY_BYTES: Final = 16 * 1024 * 1024
"""``identity.json`` lists every worker with all its metrics: some 3 kB each."""

_ROUTE = re.compile(r"/?((?:statics/)?individual-([a-z0-9][a-z0-9-]{0,90})(?:\.html)?)")

# Groups of the catalogue for the stock dashboard's individual plots; others go under Scheduler.
_GROUPS: Final[Mapping[str, str]] = {
    name: group
    for group, names in {
        "Tasks": (
            "task-stream progress graph groups group-progress compute-time-per-key exceptions "
            "aggregate-time-per-action memory-by-key fine-performance-metrics"
        ),
        "Workers": (
            "workers-memory cluster-memory workers-transfer-bytes cpu nprocessing occupancy "
            "workers bandwidth-types bandwidth-workers workers-network workers-disk contention "
            "workers-network-timeseries workers-cpu-timeseries workers-memory-timeseries "
            "workers-disk-timeseries gpu-memory gpu-utilization rmm-memory"
        ),
        "Profile": "profile profile-server",
        "Scheduler": "scheduler-system cluster-map",
    }.items()
    for name in names.split()
}


class NotADashboardError(Exception):
    """Nothing that answers like a Dask dashboard; the text is for the user."""


def stock_id(address: Address) -> str:
    """Return the id of a dashboard added by hand, always the same for the same address."""
    name = f"{address.origin}{address.prefix}"
    return f"stock-{hashlib.sha256(name.encode()).hexdigest()[:16]}"


async def verify(addresses: Sequence[Address], timeout_s: float) -> Dashboard:
    """Ask each IP of a name in turn and return the dashboard at the first that is one.

    Raises
    ------
    NotADashboardError
        Saying what is there instead.
    """
    reason = ""
    for address in addresses:
        try:
            plots = await _plots(address, timeout_s)
        except NotADashboardError as error:
            reason = reason or str(error)
            continue
        return Dashboard(
            id=stock_id(address),
            name=f"{address.netloc}{address.prefix}",
            kind="stock",
            address=address,
            scheduler=await _scheduler(address, timeout_s),
            condition=Condition("live"),
            plots=plots,
            plots_of=address,
        )
    raise NotADashboardError(reason)


async def examine(dashboard: Dashboard, timeout_s: float) -> None:
    """Bring a stock dashboard's condition and plots up to date."""
    try:
        dashboard.plots = await _plots(dashboard.address, timeout_s)
        dashboard.condition = Condition("live")
    except NotADashboardError as error:
        dashboard.condition = Condition(
            "unreachable",
            f"{error} Check that its cluster still runs, or remove it from the list.",
        )


async def _plots(address: Address, timeout_s: float) -> list[PlotEntry]:
    where = f"{address.netloc}{address.prefix}"
    try:
        code, content = await fetch(
            address,
            f"{address.prefix}/individual-plots.json",
            [("Host", address.netloc), ("Accept", "application/json")],
            timeout_s=timeout_s,
            max_bytes=MAX_INDEX_BYTES,
        )
    except UpstreamError as error:
        raise NotADashboardError(f"No answer from a dashboard at {where}: {error}.") from None
    if code != 200:
        raise NotADashboardError(
            f"What answers at {where} is not an open Dask dashboard (status {code})."
        )
    plots = parse_index(content)
    if not plots:
        raise NotADashboardError(f"What answers at {where} is not a Dask dashboard with plots.")
    return plots


def parse_index(content: bytes) -> list[PlotEntry]:
    """Turn a stock dashboard's ``individual-plots.json`` into plots; empty if it is not one."""
    try:
        index = json.loads(content)
    except (ValueError, RecursionError):
        return []
    if not isinstance(index, dict):
        return []
    plots: list[PlotEntry] = []
    for title, route in list(index.items())[:MAX_ROWS]:
        match = _ROUTE.fullmatch(route) if isinstance(route, str) else None
        if match is None:
            continue
        plot: PlotEntry = {
            "name": match[2],
            "title": title.removeprefix("Individual ")[:100],
            "group": _GROUPS.get(match[2], "Scheduler"),
            "description": "",
            "route": match[1],
        }
        plots.append(plot)
    return sorted(plots, key=lambda plot: plot["name"])


async def _scheduler(address: Address, timeout_s: float) -> SchedulerEntry:
    """Ask which scheduler it is; both empty where that cannot be told."""
    try:
        code, content = await fetch(
            address,
            f"{address.prefix}/json/identity.json",
            [("Host", address.netloc), ("Accept", "application/json")],
            timeout_s=timeout_s,
            max_bytes=MAX_IDENTITY_BYTES,
        )
        identity = json.loads(content) if code == 200 else None
    except (UpstreamError, ValueError, RecursionError):
        identity = None
    if not isinstance(identity, dict):
        return {"id": "", "address": ""}
    found = identity.get("id"), identity.get("address")
    return {
        "id": found[0][:200] if isinstance(found[0], str) else "",
        "address": found[1][:200] if isinstance(found[1], str) else "",
    }
