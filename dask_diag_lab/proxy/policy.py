"""What an administrator decides, and which addresses may be named: typed, resolved, allowed or not.

The settings are ``c.DaskDiagLab`` in Jupyter's configuration. Decides about addresses only; who
owns what listens there is the business of `sockets`.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Final

from traitlets import Bool, HasTraits, List, Unicode

from dask_diag_lab.proxy.client import Address, NotAllowedError


class Settings(HasTraits):
    """What an administrator may decide; `extension.DaskDiagLab` is configured with it."""

    relay = Bool(
        True,
        help="""Whether plots are relayed to the browser; when off, dashboards are only listed.""",
    ).tag(config=True)

    discover = Bool(
        True,
        help="""Whether Dask's own dashboards that run on this machine are found by themselves, in
        processes of the user of this server only.""",
    ).tag(config=True)

    dashboards = List(
        Unicode(),
        help="""Addresses of Dask's own dashboards that every user of this server sees, such as
        "http://scheduler.cluster.local:8787"; their hosts need no entry in allowed_hosts. They
        are tried again while they cannot be reached.""",
    ).tag(config=True)

    allowed_hosts = List(
        Unicode(),
        default_value=["localhost", "127.0.0.1", "::1"],
        help="""Hosts whose stock Dask dashboards users may add by hand: names, patterns such as
        "node*.cluster.local", IP addresses, or networks such as "10.1.0.0/16"; this machine only
        by default. Link-local and cloud metadata addresses are refused always. Clusters that are
        found by themselves need no entry.""",
    ).tag(config=True)


Ip = ipaddress.IPv4Address | ipaddress.IPv6Address

# Services of cloud providers that give credentials to whoever asks; never a dashboard, whatever the
# policy says. 169.254.0.0/16 and fe80::/10, where most of them are, are link-local and refused as
# such: AWS, Azure, GCP, Oracle, IBM, Tencent, Huawei, DigitalOcean, OpenStack.
METADATA_NETWORKS: Final = tuple(
    ipaddress.ip_network(text)
    for text in (
        "100.100.100.200",  # Alibaba
        "100.96.0.96",  # Volcengine
        "168.63.129.16",  # Azure's wire server
        "192.0.0.192",  # Oracle, classic
        "fd00:ec2::/32",  # AWS: metadata, credentials of pods, names, time
        "fd20:ce::254",  # GCP
        "fd00:c1::a9fe:a9fe",  # Oracle
        "fd00:a9fe:a9fe::1",  # Linode
        "fd00:42::42",  # Scaleway
    )
)

NO_ADDRESS: Final = (
    "That is not an address of a dashboard. Give one like http://127.0.0.1:8787, as the log of the "
    "scheduler and client.dashboard_link have it, without user name, password, “?” and “#”."
)
RESOLVE_S: Final = 5.0

# Scheme, host, port, path; a page's name at the end is dropped, and no segment may be "..".
_URL: Final = re.compile(
    r"(?:(https?)://)?([a-z0-9._-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::([0-9]{1,5}))?"
    r"((?:/(?!\.\.?(?:/|$))[a-z0-9._~@-]+)*?)"
    r"(?:/(?:status|workers|tasks|system|profile|graph|groups|info(?:/main/workers\.html)?|shuffle"
    r"|hardware|individual-[a-z-]*))?/?",
    re.IGNORECASE,
)


def read_address(url: str) -> Address:
    """Return the address that a typed URL names, without the page at its end (``/status``).

    Raises
    ------
    NotAllowedError
        When it is not a plain http or https URL.
    """
    match = _URL.fullmatch(url.strip())
    if match is None or int(match[3] or 0) > 65535:
        raise NotAllowedError(NO_ADDRESS)
    is_tls = (match[1] or "").lower() == "https"
    host, port = match[2].strip("[]").lower(), int(match[3] or (443 if is_tls else 80))
    return Address("https" if is_tls else "http", host, port, prefix=match[4])


async def resolve(address: Address, allowed_hosts: Sequence[str]) -> list[Address]:
    """Return what an address means and may be contacted, each pinned to one IP.

    Raises
    ------
    NotAllowedError
        When its name does not resolve, or not only to allowed addresses.
    """
    host = address.host
    refusal = NotAllowedError(
        f"This Jupyter server does not open dashboards on {host}. Its administrator can allow "
        "the host with c.DaskDiagLab.allowed_hosts in jupyter_server_config.py."
    )
    # Without a network in the policy a foreign name need not even be resolved: a resolver query is
    # already a message to the outside.
    if not any(_names(entry, host) or "/" in entry for entry in allowed_hosts):
        raise refusal
    try:
        async with asyncio.timeout(RESOLVE_S):
            loop = asyncio.get_running_loop()
            found = await loop.getaddrinfo(host, address.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):  # a timeout is an OSError
        raise NotAllowedError(
            f"The name {host} cannot be resolved by the Jupyter server."
        ) from None
    ips = list(dict.fromkeys(_plain(str(sockaddr[0])) for *_, sockaddr in found))
    if not ips or not all(is_allowed(host, ip, allowed_hosts) for ip in ips):
        raise refusal
    return [replace(address, ip=str(ip)) for ip in ips]


def is_allowed(host: str, ip: Ip, allowed_hosts: Sequence[str]) -> bool:
    """Tell whether the policy allows to connect to ``ip`` under the name ``host``.

    An entry of the policy is a name, a pattern with ``*``, an IP or a network in CIDR form.
    Link-local, multicast, unspecified and cloud metadata addresses are refused always, and the name
    ``localhost`` has to mean this machine.
    """
    is_metadata = any(ip in network for network in METADATA_NETWORKS)
    if is_metadata or ip.is_link_local or ip.is_multicast or ip.is_unspecified:
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
