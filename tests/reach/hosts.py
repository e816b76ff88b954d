"""Machines of the tests' own: network namespaces with one cable between them, and a firewall."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

_CLONE_NEWNET: Final = 0x40000000  # <linux/sched.h>


def _ip(*words: str) -> str:
    command = ["ip", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=20).stdout


@dataclass
class Host:
    """One machine.

    Attributes
    ----------
    name : str
        Of its network namespace.
    address : str
        Its IPv4 address on the cable.
    log : Path
        What its programs print.
    """

    name: str
    address: str
    log: Path
    _started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Put this thread, and what it starts, on this machine for a while."""
        with Path("/proc/thread-self/ns/net").open() as before:
            with Path(f"/run/netns/{self.name}").open() as there:
                _enter(there.fileno())
            try:
                yield
            finally:
                _enter(before.fileno())

    def start(self, module: str, *arguments: str, **environment: str) -> None:
        """Run a Python module as a program of this machine, until it is switched off."""
        with self.entered(), self.log.open("ab") as log:
            self._started.append(
                subprocess.Popen(
                    [sys.executable, "-m", module, *arguments],
                    env=os.environ | environment,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                )
            )

    def reaches(self, address: str, port: int, timeout_s: float = 1.0) -> bool:
        """Return whether a connection to another machine's port is made."""
        with self.entered(), suppress(OSError):
            socket.create_connection((address, port), timeout_s).close()
            return True
        return False

    def switch_off(self) -> None:
        """End all programs at once, also those that programs have started."""
        for pid in _ip("netns", "pids", self.name).split():
            with suppress(ProcessLookupError):  # it ended by itself
                os.kill(int(pid), signal.SIGKILL)
        for process in self._started:
            process.wait()


def _enter(namespace: int) -> None:
    # `os.setns` came with Python 3.12.
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(namespace, _CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "This network namespace cannot be entered")


@contextmanager
def two_hosts(folder: Path, open_port: int) -> Iterator[tuple[Host, Host]]:
    """Yield a cluster's machine and a user's, whose firewall lets one TCP port of the first pass.

    Everything else that the cluster's machine sends is dropped, answers included, as most firewalls
    do: who tries waits for an answer that does not come.

    Raises
    ------
    OSError, subprocess.CalledProcessError
        This machine permits no network namespaces, or has no ``ip``.
    """
    names = [f"ddl-{os.getpid()}-{role}" for role in ("cluster", "user")]
    hosts = [Host(n, f"10.77.0.{i}", folder / f"{n}.log") for i, n in enumerate(names, 1)]
    cluster, user = hosts
    try:
        for host in hosts:
            _ip("netns", "add", host.name)
        _ip(*f"link add eth0 netns {names[0]} type veth peer name eth0 netns {names[1]}".split())
        for host in hosts:
            _ip("-n", host.name, "address", "add", f"{host.address}/24", "dev", "eth0")
            _ip("-n", host.name, "link", "set", "lo", "up")
            _ip("-n", host.name, "link", "set", "eth0", "up")
        rule = f"-n {cluster.name} rule add to {user.address}"
        _ip(*f"{rule} pref 1 ipproto tcp sport {open_port} lookup main".split())
        _ip(*f"{rule} pref 2 blackhole".split())
        yield cluster, user
    finally:
        for host in hosts:
            with suppress(OSError, subprocess.CalledProcessError):  # it was never made
                host.switch_off()
                _ip("netns", "delete", host.name)
