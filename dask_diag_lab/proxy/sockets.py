"""The listening sockets of this machine, and the processes that hold them.

Asks the operating system. All but `speaks_first`, which connects to a port, block (process tables)
and belong in a thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import itertools
import os
import re
import socket
import struct
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Final
from urllib.parse import urlsplit

import psutil

from dask_diag_lab.proxy.client import Address

# Who we are; None where the system has no user ids.
USER_ID: Final = os.getuid() if hasattr(os, "getuid") else None

# How long a server may take to speak first. Dask's comms and ZMQ do so within a millisecond; the
# rest is for a machine with all processors busy.
GREETING_S: Final = 0.6

_TABLES: Final = (
    (Path("/proc/net/tcp"), socket.AF_INET),
    (Path("/proc/net/tcp6"), socket.AF_INET6),
)

# `dask worker` and what its nannies start: their dashboards are not a cluster's, and a TLS port
# of theirs logs a warning about whoever connects.
_WORKER: Final = re.compile(r"dask[-_ /]*(?:cuda[-_ ]*)?worker", re.IGNORECASE)

# A Jupyter server by its command line: its runtime folder may be another than ours.
_JUPYTER: Final = re.compile(r"(?:jupyter(?:hub|lab)?|notebook)(?:[-_.](?!py$)\w+)*")


class ProcessError(Exception):
    """A process that must not be contacted, least of all with a token; the text says why."""


@dataclass(frozen=True, slots=True)
class Listener:
    """A listening TCP socket.

    Attributes
    ----------
    inode : int
        Tells it from a later one on the same port; the id of the process where there are no inodes.
    """

    ip: str
    port: int
    user_id: int | None
    inode: int

    @property
    def address(self) -> Address:
        """Where it is contacted from this machine."""
        ip = ipaddress.ip_address(self.ip)
        if ip.is_unspecified:
            ip = ipaddress.ip_address("127.0.0.1" if ip.version == 4 else "::1")
        return Address("http", str(ip), self.port, str(ip))


@dataclass(frozen=True, slots=True)
class Owner:
    """The process that holds a listening socket.

    Attributes
    ----------
    ancestors : tuple of int
        The numbers of the process that has started it, of that one's, and so on.
    """

    process: psutil.Process
    ancestors: tuple[int, ...]


def listeners() -> list[Listener]:
    """Return all listening sockets; without ``/proc`` those of this user's processes.

    Raises
    ------
    OSError
        When the table may not be read, as in hardened containers.
    """
    if not _TABLES[0][0].exists():
        return list(_listeners_by_process())
    # Columns: sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode (man 5
    # proc_net_tcp). Every user may read the uid there, unlike a socket's process.
    found = []
    for path, family in _TABLES:
        with contextlib.suppress(FileNotFoundError), path.open(encoding="ascii") as table:
            table.readline()
            for row in map(str.split, table):
                # Linux lists all that listen before the first connection, and to make the lines of
                # those takes it ten milliseconds on a busy machine.
                if row[3] != "0A":
                    break
                host, _, port = row[1].partition(":")
                # Words of 32 bits, each a number of this machine.
                words = [int(host[i : i + 8], 16) for i in range(0, len(host), 8)]
                ip = socket.inet_ntop(family, struct.pack(f"={len(words)}I", *words))
                found.append(Listener(ip, int(port, 16), int(row[7]), int(row[9])))
    return found


def _listeners_by_process() -> Iterator[Listener]:
    # A user may look into own processes only, so what is not found is not own.
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            user_id = None if USER_ID is None else int(process.uids().real)
            for ip, port in addresses_of(process):
                yield Listener(ip, port, user_id, process.pid)


def addresses_of(process: psutil.Process) -> set[tuple[str, int]]:
    """Return the IPs and ports that a process itself listens on.

    Raises
    ------
    psutil.Error
        When it has gone, or may not be looked into.
    """
    connections = process.net_connections(kind="tcp")
    listening = (one.laddr for one in connections if one.status == psutil.CONN_LISTEN)
    return {(one.ip, one.port) for one in listening}


def own_hosts() -> frozenset[str]:
    """Return the IPs of this machine, and ``localhost``; without its IPs where nobody may know."""
    found = {"localhost", "127.0.0.1", "::1"}
    with contextlib.suppress(OSError):
        addresses = (one.address for each in psutil.net_if_addrs().values() for one in each)
        found.update(one.partition("%")[0] for one in addresses)
    return frozenset(found)


def port_among(hosts: Collection[str], url: str) -> int | None:
    """Return the port of a URL on one of these hosts; None elsewhere, and where it has none."""
    with contextlib.suppress(ValueError):
        parts = urlsplit(url)
        return parts.port if parts.hostname in hosts else None
    return None


def check_owner(address: Address, user_id: int | None = USER_ID) -> None:
    """Make sure that a port of this machine belongs to this user or to root.

    On a shared machine port 8787 is somebody's, and a stock dashboard asks no password. Root counts
    as one's own: port forwarders of container engines run as root. An address on another machine
    cannot be known and is left to the policy, and so is a port of this one that a container engine
    forwards without a listener, as it does not on loopback. Blocks for some milliseconds.

    Raises
    ------
    ProcessError
        When it is another user's, nobody listens, or that may not be known.
    """
    is_loopback = ipaddress.ip_address(address.ip).is_loopback
    if user_id is None or not (is_loopback or address.ip in own_hosts()):
        return
    try:
        owners = {one.user_id for one in listeners() if one.port == address.port}
    except OSError as error:
        reason = f"whose program is on {address.netloc} cannot be told ({error})"
        raise ProcessError(reason) from None
    if is_loopback and not owners:
        raise ProcessError(f"nothing listens on {address.netloc}")
    if not owners <= {user_id, 0}:
        raise ProcessError(f"the program on {address.netloc} is another user's")


def schedulers_of(wanted: Collection[Listener]) -> dict[Listener, Owner]:
    """Return the processes that hold listening sockets, where they may be schedulers.

    Those of one process are in the order of their descriptors, which as a rule is that in which
    they were opened; Linux numbers inodes for each processor by itself.
    """
    found: dict[Listener, Owner] = {}
    by_inode: dict[int, list[Listener]] = {}
    for one in sorted(wanted, key=lambda one: one.port):
        by_inode.setdefault(one.inode, []).append(one)
    for pid in psutil.pids():
        with contextlib.suppress(OSError, psutil.Error):
            held = list(itertools.chain(*(by_inode.get(one, ()) for one in _inodes(pid))))
            # A forked process has its parent's sockets too, and the higher number.
            held = [one for one in held if one not in found]
            if held and (owner := _scheduler(psutil.Process(pid))):
                found |= dict.fromkeys(held, owner)
    return found


def _inodes(pid: int) -> list[int]:
    if not _TABLES[0][0].exists():
        return [pid]
    folder, inodes = f"/proc/{pid}/fd/", []
    # Thousands of descriptors; Path would take four times as long.
    for descriptor in sorted(os.listdir(folder), key=int):  # noqa: PTH208
        with contextlib.suppress(OSError):  # closed meanwhile
            name = os.readlink(folder + descriptor)  # noqa: PTH115
            if name.startswith("socket:["):
                inodes.append(int(name[8:-1]))
    return inodes


def _scheduler(process: psutil.Process) -> Owner | None:
    """Return a process that has what a scheduler has loaded, so that others are left in peace.

    A database or a debugger must not even be connected to.
    """
    parents, command = process.parents(), process.cmdline()
    if any(_WORKER.search(" ".join(one.cmdline()[:4])) for one in (process, *parents)):
        return None
    names = (PurePath(path).name for path in command[:3])
    if process.pid == os.getpid() or any(map(_JUPYTER.fullmatch, names)):
        return None
    maps = Path(f"/proc/{process.pid}/maps")
    if maps.exists():  # Dask's comms are msgpack
        has_dask = b"msgpack" in maps.read_bytes()
    else:
        has_dask = process.name().lower().startswith(("python", "dask"))
    return Owner(process, tuple(one.pid for one in parents)) if has_dask else None


async def speaks_first(address: Address) -> bool:
    """Tell whether a server does so, as Dask's comms and ZMQ do and HTTP never does.

    Raises
    ------
    OSError
        When nobody is there.
    """
    reader, writer = await asyncio.wait_for(
        asyncio.open_connection(address.ip, address.port), timeout=GREETING_S
    )
    try:
        async with asyncio.timeout(GREETING_S):
            greeting = await reader.read(4096)
    except TimeoutError:
        return False
    else:
        # Dask's handshake is the same both ways, after its length: sent back it is complete, and
        # the end of the connection is no line in the log of that program.
        if int.from_bytes(greeting[:8], "little") == len(greeting) - 8:
            writer.write(greeting)
            with contextlib.suppress(OSError):
                await writer.drain()
        return True
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
