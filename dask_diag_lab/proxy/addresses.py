"""Where dashboards are: which addresses may be contacted at all, resolved once and pinned.

Must not contact a dashboard; the only I/O is the one name resolution.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final, Literal
from urllib.parse import SplitResult, urlsplit

Ip = ipaddress.IPv4Address | ipaddress.IPv6Address

LOOPBACK_NAMES: Final = ("localhost", "127.0.0.1", "::1")
"""What may be added by hand unless the administrator says otherwise."""

METADATA_ADDRESSES: Final = frozenset(
    ipaddress.ip_address(text)
    for text in ("169.254.169.254", "fd00:ec2::254", "100.100.100.200", "192.0.0.192")
)
"""Credential services of cloud providers; never a dashboard, whatever the policy says."""

_LOOPBACK_URL = re.compile(r"http://(127\.0\.0\.1|\[::1\]):([1-9][0-9]{0,4})")
_HOST = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,251}[a-z0-9])?|[0-9a-f:.]{2,45}", re.IGNORECASE)
_PREFIX = re.compile(r"(?:/[A-Za-z0-9._~@-]+)*")
_PAGES: Final = frozenset(
    ("status", "workers", "tasks", "system", "profile", "graph", "groups", "info")
)
_RESOLVE_S: Final = 5.0


class AddressError(ValueError):
    """An address that is malformed or that the policy refuses; the text is for the user."""


@dataclass(frozen=True, slots=True)
class Address:
    """One dashboard's address, with the IP that every connection to it uses.

    Attributes
    ----------
    host : str
        The name or IP as it was given, without brackets: for ``Host`` and TLS.
    ip : str
        What is connected to. Never resolved again, so that a name cannot move later.
    prefix : str
        Path below which the dashboard lives: empty, or starting with a slash and not ending
        with one.
    """

    scheme: Literal["http", "https"]
    host: str
    port: int
    ip: str
    prefix: str = ""

    @property
    def netloc(self) -> str:
        """Host and port as in a URL."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def origin(self) -> str:
        """Scheme, host and port, without a slash at the end."""
        return f"{self.scheme}://{self.netloc}"

    @property
    def is_loopback(self) -> bool:
        """True when connections never leave this machine."""
        return ipaddress.ip_address(self.ip).is_loopback


@dataclass(frozen=True, slots=True)
class TypedAddress:
    """What a user typed, taken apart and not resolved yet."""

    scheme: Literal["http", "https"]
    host: str
    port: int
    prefix: str


def loopback_address(url: str) -> Address:
    """Return the address of a runtime record's URL.

    Raises
    ------
    AddressError
        When it is anything but ``http://127.0.0.1:<port>`` or ``http://[::1]:<port>``.
    """
    match = _LOOPBACK_URL.fullmatch(url)
    port = int(match[2]) if match else 0
    if match is None or port > 65535:
        raise AddressError("url is not http://127.0.0.1:<port> or http://[::1]:<port>")
    host = match[1].strip("[]")
    return Address("http", host, port, host)


def typed_address(text: str) -> TypedAddress:
    """Take a typed dashboard URL apart; a page name at its end (``/status``) is dropped.

    Raises
    ------
    AddressError
        When it is not a plain http or https URL.
    """
    text = text.strip()
    if len(text) > 500:
        raise AddressError("The address is too long. Give the dashboard's address only.")
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        port = parts.port
    except ValueError:
        raise AddressError("That is not an address. Give one like http://127.0.0.1:8787.") from None
    return _checked_parts(parts, port)


def _checked_parts(parts: SplitResult, port: int | None) -> TypedAddress:
    scheme, default_port = _scheme(parts)
    host = (parts.hostname or "").lower()
    if parts.username is not None or parts.password is not None:
        raise AddressError("The address holds a user name or password. Give it without.")
    if parts.query or parts.fragment:
        raise AddressError("The address has a part after “?” or “#”. Give it without.")
    if not _HOST.fullmatch(host):
        raise AddressError("That is not an address. Give one like http://127.0.0.1:8787.")
    if port == 0:
        raise AddressError("Port 0 is not a port. Give the one the dashboard listens on.")
    return TypedAddress(scheme, host, port or default_port, _prefix(parts))


def _scheme(parts: SplitResult) -> tuple[Literal["http", "https"], int]:
    match parts.scheme.lower():
        case "http":
            return "http", 80
        case "https":
            return "https", 443
        case _:
            raise AddressError("Only http and https addresses can be added.")


def _prefix(parts: SplitResult) -> str:
    segments = [segment for segment in parts.path.split("/") if segment]
    if segments and (segments[-1] in _PAGES or segments[-1].startswith("individual-")):
        segments.pop()
    prefix = "".join(f"/{segment}" for segment in segments)
    if not _PREFIX.fullmatch(prefix) or any(s in (".", "..") for s in segments):
        raise AddressError("The path of the address cannot be used. Give the dashboard's root.")
    return prefix


async def resolve(typed: TypedAddress, allowed_hosts: Sequence[str]) -> list[Address]:
    """Resolve a typed address once and return what the policy allows, in the resolver's order.

    Raises
    ------
    AddressError
        When the name does not resolve, or any of its IPs is refused.
    """
    if not _may_be_allowed(typed.host, allowed_hosts):
        raise AddressError(refusal(typed.host))
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(_RESOLVE_S):
            found = await loop.getaddrinfo(typed.host, typed.port, type=socket.SOCK_STREAM)
    except (OSError, TimeoutError, UnicodeError):
        raise AddressError(
            f"The name {typed.host} cannot be resolved from the Jupyter server. Check it."
        ) from None
    ips = list(dict.fromkeys(_plain(str(sockaddr[0])) for *_, sockaddr in found))
    if not ips or not all(is_allowed(typed.host, ip, allowed_hosts) for ip in ips):
        raise AddressError(refusal(typed.host))
    return [Address(typed.scheme, typed.host, typed.port, str(ip), typed.prefix) for ip in ips]


def refusal(host: str) -> str:
    """Return why a host is refused and what to do, for the user."""
    return (
        f"This Jupyter server does not open dashboards on {host}. Its administrator can allow "
        "the host with c.DaskDiagLab.allowed_hosts."
    )


def is_allowed(host: str, ip: Ip, allowed_hosts: Sequence[str]) -> bool:
    """Tell whether the policy allows to connect to ``ip`` under the name ``host``.

    An entry of the policy is a name, a pattern with ``*``, an IP or a network in CIDR form.
    Link-local, multicast, unspecified and cloud metadata addresses are refused always, and
    the name ``localhost`` has to mean this machine.
    """
    if ip in METADATA_ADDRESSES or ip.is_link_local or ip.is_multicast or ip.is_unspecified:
        return False
    if ip.is_reserved and not ip.is_loopback:
        return False
    if (host == "localhost" or host.endswith(".localhost")) and not ip.is_loopback:
        return False
    return any(_names(entry, host) or _contains(entry, ip) for entry in allowed_hosts)


def _may_be_allowed(host: str, allowed_hosts: Sequence[str]) -> bool:
    # Without a network in the policy a foreign name need not even be resolved: a resolver
    # query is already a message to the outside.
    return any(_names(entry, host) or "/" in entry for entry in allowed_hosts)


def _names(entry: str, host: str) -> bool:
    entry = entry.strip().strip("[]").lower()
    return fnmatchcase(host, entry) if "*" in entry else host == entry


def _contains(entry: str, ip: Ip) -> bool:
    if "/" not in entry:
        return False
    try:
        network = ipaddress.ip_network(entry.strip(), strict=False)
    except ValueError:
        return False
    return ip in network


def _plain(text: str) -> Ip:
    ip = ipaddress.ip_address(text.partition("%")[0])
    mapped = ip.ipv4_mapped if isinstance(ip, ipaddress.IPv6Address) else None
    return mapped or ip
