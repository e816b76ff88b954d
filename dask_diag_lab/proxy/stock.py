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
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, Literal

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

# Credential services of cloud providers; never a dashboard, whatever the policy says.
METADATA_ADDRESSES: Final = ("fd00:ec2::254", "100.100.100.200", "192.0.0.192")

NO_ADDRESS: Final = (
    "That is not an address. Give one like http://127.0.0.1:8787, without user name, password, "
    "“?” and “#”."
)
RESOLVE_S: Final = 5.0

# Scheme, host, port, path; a page's name at the end is dropped, and no segment may be "..".
_URL: Final = re.compile(
    r"(?:(https?)://)?([a-z0-9._-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::([0-9]{1,5}))?"
    r"((?:/(?!\.\.?(?:/|$))[a-z0-9._~@-]+)*?)"
    r"(?:/(?:status|workers|tasks|system|profile|graph|groups|info|individual-[a-z-]*))?/?",
    re.IGNORECASE,
)
_ROUTE: Final = re.compile(r"/?((?:statics/)?individual-([a-z0-9][a-z0-9-]{0,90})(?:\.html)?)")

# Groups of the catalogue for the stock dashboard's individual plots, by words of their names;
# others go under Scheduler.
_GROUPS: Final = (
    ("Tasks", re.compile("task|progress|graph|groups|exceptions|-key|-action|fine-")),
    ("Workers", re.compile("worker|memory|cpu|nprocessing|occupancy|bandwidth|contention|gpu")),
    ("Profile", re.compile("profile")),
)


# --- addresses: what a user typed, what the policy allows


async def resolve(url: str, allowed_hosts: Sequence[str]) -> list[Address]:
    """Return the addresses of a typed dashboard URL that may be contacted, each pinned to one IP.

    A page name at the URL's end (``/status``) is dropped. The name is resolved once.

    Raises
    ------
    RefusedError
        When it is not a plain http or https URL, does not resolve or is refused.
    """
    match = _URL.fullmatch(url.strip())
    if match is None or int(match[3] or 0) > 65535:
        raise RefusedError(NO_ADDRESS)
    is_tls = (match[1] or "").lower() == "https"
    host, port = match[2].strip("[]").lower(), int(match[3] or (443 if is_tls else 80))
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
            loop = asyncio.get_running_loop()
            found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):  # a timeout is an OSError
        raise RefusedError(f"The name {host} cannot be resolved by the Jupyter server.") from None
    ips = list(dict.fromkeys(_plain(str(sockaddr[0])) for *_, sockaddr in found))
    if not ips or not all(is_allowed(host, ip, allowed_hosts) for ip in ips):
        raise refusal
    scheme: Literal["http", "https"] = "https" if is_tls else "http"
    return [Address(scheme, host, port, str(ip), match[4]) for ip in ips]


def is_allowed(host: str, ip: Ip, allowed_hosts: Sequence[str]) -> bool:
    """Tell whether the policy allows to connect to ``ip`` under the name ``host``.

    An entry of the policy is a name, a pattern with ``*``, an IP or a network in CIDR form.
    Link-local, multicast, unspecified and cloud metadata addresses are refused always, and
    the name ``localhost`` has to mean this machine.
    """
    if str(ip) in METADATA_ADDRESSES or ip.is_link_local or ip.is_multicast or ip.is_unspecified:
        return False
    if not ip.is_loopback and (ip.is_reserved or f".{host}".endswith(".localhost")):
        return False
    return any(_names(entry, host) or _contains(entry, ip) for entry in allowed_hosts)


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
    if user_id is None or not ipaddress.ip_address(address.ip).is_loopback:
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
        with contextlib.suppress(psutil.Error):
            connections = process.net_connections(kind="tcp")
            if any(c.status == psutil.CONN_LISTEN and c.laddr.port == port for c in connections):
                return {int(process.uids().real)}
    return {-1}


# --- the dashboard


class StockDashboard(Dashboard):
    """A stock Dask dashboard; it runs inside the scheduler, so it is asked rarely.

    A stock page is sandboxed (see docs/decisions/0001-own-relay.md), so its origin is none and the
    browser sends no cookie with what the page loads. A random key in its address takes their place,
    made for a logged-in user and good for reading this one dashboard.
    """

    examine_s = 5.0
    advice = "Check the address and that its cluster runs."

    MAX_KEYS: Final = 256
    KEY_LIFETIME_S: Final = 12 * 3600.0

    def __init__(self, address: Address) -> None:
        # Always the same for the same address, so that adding twice is adding once.
        digest = hashlib.sha256(f"{address.origin}{address.prefix}".encode()).hexdigest()
        name, unknown = f"{address.netloc}{address.prefix}", SchedulerInfo(id="", address="")
        super().__init__(address, f"stock-{digest[:16]}", name, "stock", unknown)
        self._keys: dict[str, tuple[User, float]] = {}

    def issue_key(self, user: User) -> str:
        """Return a new key that lets ``user`` read this dashboard."""
        if len(self._keys) >= self.MAX_KEYS:
            del self._keys[next(iter(self._keys))]  # the oldest
        key = secrets.token_urlsafe(32)
        self._keys[key] = (user, time.monotonic() + self.KEY_LIFETIME_S)
        return key

    def user_of(self, key: str) -> User | None:
        """Return the user that a key stands for, None when it opens nothing (any more)."""
        user, expires_at = self._keys.get(key, (None, 0.0))
        return user if expires_at > time.monotonic() else None

    async def verify(self) -> None:
        """Look whose port it is now."""
        await asyncio.to_thread(check_owner, self.address)

    async def _ask(self) -> None:
        plots = plots_of_index(await self._get("/individual-plots.json"))
        if not plots:
            raise MessageError("it has no plots")
        if not self.info["plots"]:
            with contextlib.suppress(UpstreamError, MessageError):  # all else works without
                identity = await self._get("/json/identity.json")
                self.info = {**self.info, "scheduler": check(identity, SchedulerInfo)}
        self.info = {**self.info, "plots": plots}
        self.set_state("live")


def plots_of_index(index: object) -> list[PlotInfo]:
    """Turn a stock dashboard's ``individual-plots.json`` into plots; empty if it is not one."""
    plots: list[PlotInfo] = []
    for title, route in list(index.items())[:MAX_ROWS] if isinstance(index, dict) else ():
        if match := _ROUTE.fullmatch(str(route)):
            group = next((name for name, words in _GROUPS if words.search(match[2])), "Scheduler")
            short = title.removeprefix("Individual ")[:100]
            plots.append(PlotInfo(name=match[2], title=short, group=group, description=""))
            plots[-1]["route"] = match[1]
    return sorted(plots, key=lambda plot: plot["name"])
