"""Stock Dask dashboards that a user adds by hand: the address policy, what they show, their pages.

Must only ask for two JSON routes, and only where the administrator's policy allows it.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import ipaddress
import re
import secrets
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, Literal
from urllib.parse import SplitResult, urlsplit

import psutil
from jupyter_server.auth.identity import User

from dask_diag_lab.proxy.client import Address, RefusedError, UpstreamError
from dask_diag_lab.proxy.dashboard import Dashboard
from dask_diag_lab.proxy.discovery import USER_ID, ProcessError
from dask_diag_lab.proxy.messages import (
    MAX_ROWS,
    MessageError,
    PlotInfo,
    SchedulerInfo,
    check,
)

Ip = ipaddress.IPv4Address | ipaddress.IPv6Address

METADATA_ADDRESSES: Final = frozenset(
    ipaddress.ip_address(text)
    for text in ("169.254.169.254", "fd00:ec2::254", "100.100.100.200", "192.0.0.192")
)
"""Credential services of cloud providers; never a dashboard, whatever the policy says."""

NO_ADDRESS: Final = "That is not an address. Give one like http://127.0.0.1:8787."

RESOLVE_S: Final = 5.0
MAX_INDEX_BYTES: Final = 256 * 1024
MAX_IDENTITY_BYTES: Final = 16 * 1024 * 1024
"""``identity.json`` lists every worker with all its metrics: some 3 kB each."""

_PORTS: Final[Mapping[str, int]] = {"http": 80, "https": 443}
_HOST = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,251}[a-z0-9])?|[0-9a-f:.]{2,45}")
_SEGMENT = re.compile(r"(?!\.\.?$)[A-Za-z0-9._~@-]+")
_PAGE = re.compile(r"status|workers|tasks|system|profile|graph|groups|info|individual-.*")
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
    }.items()
    for name in names.split()
}


# --- addresses: what a user typed, what the policy allows


async def resolve(url: str, allowed_hosts: Sequence[str]) -> list[Address]:
    """Return the addresses of a typed dashboard URL that may be contacted, each pinned to one IP.

    A page name at the URL's end (``/status``) is dropped. The name is resolved once.

    Raises
    ------
    RefusedError
        When it is not a plain http or https URL, does not resolve or is refused.
    """
    parts, port = _split(url.strip())
    scheme: Literal["http", "https"] = "https" if parts.scheme.lower() == "https" else "http"
    host, prefix = (parts.hostname or "").lower(), _prefix(parts.path)
    refusal = RefusedError(
        f"This Jupyter server does not open dashboards on {host}. Its administrator can allow "
        "the host with c.DaskDiagLab.allowed_hosts."
    )
    # Without a network in the policy a foreign name need not even be resolved: a resolver query is
    # already a message to the outside.
    if not any(_names(entry, host) or "/" in entry for entry in allowed_hosts):
        raise refusal
    try:
        async with asyncio.timeout(RESOLVE_S):
            found = await asyncio.get_running_loop().getaddrinfo(
                host, port, type=socket.SOCK_STREAM
            )
    except (OSError, TimeoutError, UnicodeError):
        raise RefusedError(
            f"The name {host} cannot be resolved from the Jupyter server. Check it."
        ) from None
    ips = list(dict.fromkeys(_plain(str(sockaddr[0])) for *_, sockaddr in found))
    if not ips or not all(is_allowed(host, ip, allowed_hosts) for ip in ips):
        raise refusal
    return [Address(scheme, host, port, str(ip), prefix) for ip in ips]


def is_allowed(host: str, ip: Ip, allowed_hosts: Sequence[str]) -> bool:
    """Tell whether the policy allows to connect to ``ip`` under the name ``host``.

    An entry of the policy is a name, a pattern with ``*``, an IP or a network in CIDR form.
    Link-local, multicast, unspecified and cloud metadata addresses are refused always, and
    the name ``localhost`` has to mean this machine.
    """
    if ip in METADATA_ADDRESSES or ip.is_link_local or ip.is_multicast or ip.is_unspecified:
        return False
    if not ip.is_loopback and (ip.is_reserved or f".{host}".endswith(".localhost")):
        return False
    return any(_names(entry, host) or _contains(entry, ip) for entry in allowed_hosts)


def _split(text: str) -> tuple[SplitResult, int]:
    """Take a typed URL apart; return it with its port."""
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        port = _PORTS.get(parts.scheme.lower(), 0) if parts.port is None else parts.port
    except ValueError:
        raise RefusedError(NO_ADDRESS) from None
    if parts.scheme.lower() not in _PORTS:
        raise RefusedError("Only http and https addresses can be added.")
    if len(text) > 500 or not _HOST.fullmatch((parts.hostname or "").lower()):
        raise RefusedError(NO_ADDRESS)
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise RefusedError("Give the address without user name, password, “?” and “#”.")
    return parts, port


def _prefix(path: str) -> str:
    segments = [segment for segment in path.split("/") if segment]
    if segments and _PAGE.fullmatch(segments[-1]):
        segments.pop()
    if not all(_SEGMENT.fullmatch(segment) for segment in segments):
        raise RefusedError("The path of the address cannot be used. Give the dashboard's root.")
    return "".join(f"/{segment}" for segment in segments)


def _names(entry: str, host: str) -> bool:
    entry = entry.strip().strip("[]").lower()
    return fnmatchcase(host, entry) if "*" in entry else host == entry


def _contains(entry: str, ip: Ip) -> bool:
    try:
        return "/" in entry and ip in ipaddress.ip_network(entry.strip(), strict=False)
    except ValueError:
        return False


def _plain(text: str) -> Ip:
    ip = ipaddress.ip_address(text.partition("%")[0])
    mapped = ip.ipv4_mapped if isinstance(ip, ipaddress.IPv6Address) else None
    return mapped or ip


# --- owners: on a shared machine port 8787 is somebody's, and a stock dashboard asks no password


def check_owner(address: Address, user_id: int | None = USER_ID) -> None:
    """Make sure that a port of this machine belongs to this user or to root.

    Root counts as one's own: port forwarders of container engines run as root. An address on
    another machine cannot be known and is left to the policy. Blocks for some milliseconds.

    Raises
    ------
    ProcessError
        When it is another user's, or nobody listens.
    """
    if user_id is None or not address.is_loopback:
        return
    owners = _listeners(address.port)
    if not owners:
        raise ProcessError(f"nothing listens on {address.netloc}")
    if not owners <= {user_id, 0}:
        raise ProcessError(f"the program on {address.netloc} is another user's")


def _listeners(port: int) -> set[int]:
    """Return the user ids of everything that listens on a port; -1 for an unknown owner."""
    tables = [path for path in map(Path, ("/proc/net/tcp", "/proc/net/tcp6")) if path.exists()]
    if tables:
        # Columns: sl local_address rem_address st tx:rx tr:when retrnsmt uid (man 5 proc_net_tcp).
        # Every user may read the uid there, unlike a socket's process.
        rows = [line.split() for path in tables for line in path.read_text("ascii").splitlines()]
        listening = [row for row in rows if row[3] == "0A"]
        return {int(row[7]) for row in listening if int(row[1].rpartition(":")[2], 16) == port}
    # Elsewhere a user may look into own processes only, so what is not found is not own.
    for process in psutil.process_iter():
        try:
            connections = process.net_connections(kind="tcp")
            if any(c.status == psutil.CONN_LISTEN and c.laddr.port == port for c in connections):
                return {int(process.uids().real)}
        except psutil.Error:
            continue
    return {-1}


# --- the dashboard


class StockDashboard(Dashboard):
    """A stock Dask dashboard; it runs inside the scheduler, so it is asked rarely."""

    examine_factor = 5
    advice = "Check the address and that its cluster runs."

    def __init__(self, address: Address) -> None:
        # Always the same for the same address, so that adding twice is adding once.
        digest = hashlib.sha256(f"{address.origin}{address.prefix}".encode()).hexdigest()
        name, unknown = f"{address.netloc}{address.prefix}", SchedulerInfo(id="", address="")
        super().__init__(address, f"stock-{digest[:16]}", name, "stock", unknown)

    async def verify(self) -> None:
        """Look whose port it is now."""
        await asyncio.to_thread(check_owner, self.address)

    def misfit(self, error: MessageError) -> str:
        """Say that something else is there."""
        return f"What answers at {self.name} is not a Dask dashboard: {error}. {self.advice}"

    async def _ask(self, timeout_s: float) -> None:
        index = await self._get("/individual-plots.json", timeout_s, MAX_INDEX_BYTES)
        plots = plots_of_index(index)
        if not plots:
            raise MessageError("it has no plots")
        if not self.info["plots"]:
            await self._ask_scheduler(timeout_s)
        self.info = {**self.info, "plots": plots}
        self.set_state("live")

    async def _ask_scheduler(self, timeout_s: float) -> None:
        with contextlib.suppress(UpstreamError, MessageError):  # all else works without
            identity = await self._get("/json/identity.json", timeout_s, MAX_IDENTITY_BYTES)
            self.info = {**self.info, "scheduler": check(identity, SchedulerInfo)}


def plots_of_index(index: object) -> list[PlotInfo]:
    """Turn a stock dashboard's ``individual-plots.json`` into plots; empty if it is not one."""
    plots: list[PlotInfo] = []
    for title, route in list(index.items())[:MAX_ROWS] if isinstance(index, dict) else ():
        match = _ROUTE.fullmatch(route) if isinstance(route, str) else None
        if match is not None:
            plots.append(
                {
                    "name": match[2],
                    "title": title.removeprefix("Individual ")[:100],
                    "group": _GROUPS.get(match[2], "Scheduler"),
                    "description": "",
                    "route": match[1],
                }
            )
    return sorted(plots, key=lambda plot: plot["name"])


# --- pages: a stock page is sandboxed (see docs/decisions/0001-own-relay.md), so its origin is none
# and the browser sends no cookie with what the page loads. A key in its address takes their place.


@dataclass(frozen=True, slots=True)
class FrameKey:
    """What a key opens, for whom, and until when on the monotonic clock."""

    dashboard_id: str
    user: User
    expires_at: float


class FrameKeys:
    """Random keys, each made for a logged-in user and good for reading one stock dashboard."""

    MAX_KEYS: Final = 256
    LIFETIME_S: Final = 12 * 3600.0

    def __init__(self) -> None:
        self._keys: dict[str, FrameKey] = {}

    def issue(self, dashboard_id: str, user: User) -> str:
        """Return a new key that lets ``user`` read a dashboard."""
        if len(self._keys) >= self.MAX_KEYS:
            del self._keys[next(iter(self._keys))]  # the oldest
        key = secrets.token_urlsafe(32)
        self._keys[key] = FrameKey(dashboard_id, user, time.monotonic() + self.LIFETIME_S)
        return key

    def find(self, key: str) -> FrameKey | None:
        """Return what a key opens, None when it opens nothing (any more)."""
        found = self._keys.get(key)
        return found if found is not None and found.expires_at > time.monotonic() else None

    def revoke(self, dashboard_id: str) -> None:
        """Void every key of a dashboard."""
        self._keys = {key: k for key, k in self._keys.items() if k.dashboard_id != dashboard_id}
