"""Whether the process behind an address is alive, the user's own and the one that announced it.

Asks the operating system only, never the dashboard. Calls block for some milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final

import psutil

from dask_diag_lab.proxy.addresses import Address
from dask_diag_lab.proxy.wire import RuntimeRecord

CLOCK_TOLERANCE_S: Final = 5.0
"""A process's start time is counted from the boot time, which moves when the clock is set."""


class Verdict(Enum):
    """What may be done with an address."""

    ALIVE = "alive"
    GONE = "gone"
    """The process that announced it has ended: the record is litter."""
    REFUSED = "refused"
    """Something else is there, or nothing: not to be contacted, least of all with a token."""


@dataclass(frozen=True, slots=True)
class Liveness:
    """A verdict with its reason in words for the log; empty when alive."""

    verdict: Verdict
    reason: str = ""


ALIVE: Final = Liveness(Verdict.ALIVE)


def check_record(record: RuntimeRecord, uid: int | None) -> Liveness:
    """Tell whether a record's process is the one that wrote it and still listens there."""
    try:
        process = psutil.Process(record.pid)
        return _check_process(process, record, uid)
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return Liveness(Verdict.GONE, f"its process {record.pid} has ended")
    except psutil.AccessDenied:
        return Liveness(Verdict.REFUSED, f"process {record.pid} may not be looked into")


def _check_process(process: psutil.Process, record: RuntimeRecord, uid: int | None) -> Liveness:
    if process.status() in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD):
        return Liveness(Verdict.GONE, f"its process {record.pid} has ended")
    if process.create_time() > record.started + CLOCK_TOLERANCE_S:
        return Liveness(Verdict.GONE, f"process {record.pid} is a later one with its number")
    if uid is not None and process.uids().real != uid:
        return Liveness(Verdict.REFUSED, f"process {record.pid} belongs to another user")
    for connection in process.net_connections(kind="tcp"):
        listens = connection.status == psutil.CONN_LISTEN and connection.laddr
        if listens and connection.laddr == (record.address.ip, record.address.port):
            return ALIVE
    return Liveness(
        Verdict.REFUSED, f"process {record.pid} does not listen on port {record.address.port}"
    )


def check_by_hand(address: Address, uid: int | None) -> Liveness:
    """Tell whether a loopback port that was added by hand belongs to this user or to root.

    On a shared machine port 8787 is somebody's, and a stock dashboard asks for no password.
    Root counts as one's own: port forwarders of container engines run as root. An address on
    another machine cannot be told and is left to the policy.
    """
    if uid is None or not address.is_loopback:
        return ALIVE
    owners = _listeners(address.port)
    if not owners:
        return Liveness(Verdict.REFUSED, f"nothing listens on {address.netloc}")
    if owners <= {uid, 0}:
        return ALIVE
    return Liveness(Verdict.REFUSED, f"the program on {address.netloc} is another user's")


def _listeners(port: int) -> set[int]:
    """Return the user ids of everything that listens on a port; -1 for an unknown owner."""
    tables = Path("/proc/net/tcp"), Path("/proc/net/tcp6")
    if tables[0].exists():
        return _proc_listeners(tables[0], port) | _proc_listeners(tables[1], port)
    # Elsewhere a user may look into own processes only, so what is not found is not own.
    for process in psutil.process_iter():
        try:
            connections = process.net_connections(kind="tcp")
            if any(c.status == psutil.CONN_LISTEN and c.laddr.port == port for c in connections):
                return {int(process.uids().real)}
        except psutil.Error:
            continue
    return {-1}


def _proc_listeners(path: Path, port: int) -> set[int]:
    # Columns: sl local_address rem_address st tx:rx tr:when retrnsmt uid (man 5 proc_net_tcp).
    # Every user may read the uid there, unlike a socket's process.
    owners: set[int] = set()
    try:
        with path.open(encoding="ascii") as table:
            rows = [line.split() for line in table][1:]
    except OSError:
        return owners
    for row in rows:
        if row[3] == "0A" and int(row[1].rpartition(":")[2], 16) == port:
            owners.add(int(row[7]))
    return owners
