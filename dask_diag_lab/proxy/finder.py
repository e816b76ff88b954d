"""Finds stock dashboards: among the listening sockets of this user's processes, by asking them.

Each socket is asked once. Only processes that may be schedulers are, and in them the web server
first, which opens before all other ports and names those: a TLS port would log a warning about
whoever connects, another comm has to be greeted back.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Final

import psutil

from dask_diag_lab.proxy.client import UpstreamTimeoutError
from dask_diag_lab.proxy.config import Settings
from dask_diag_lab.proxy.sockets import (
    GREETING_S,
    USER_ID,
    Listener,
    greets,
    listeners,
    may_be_scheduler,
    processes_of,
)
from dask_diag_lab.proxy.stock import Found, StockDashboard

# Between a look that sees a new socket and asking it: our own server writes its record meanwhile.
SETTLE_S: Final = 0.4
# In a kernel ``Client()`` announces ours that much later than its cluster's dashboard listens:
# until then nobody is to open the other one for it.
CLIENT_S: Final = 1.2
# Before the rest of a process with a dashboard, and the processes it has started, are asked.
NEXT_S: Final = 2.0
# How long a further port may take to speak first: most are comms, of a process that may be busy,
# and one that is sent HTTP logs an error.
ELDER_S: Final = 5.0
# A scheduler that gives no answer is asked again after pauses that grow up to this.
MAX_PAUSE_S: Final = 60.0
MAX_PROCESSES: Final = 64

_Candidate = tuple[psutil.Process, list[Listener], set[int]]

LOG: Final = logging.getLogger(__name__)


class Finder:
    """Looks for stock dashboards when asked to.

    Parameters
    ----------
    settings : Settings
        Whether to look at all.
    runtime_folder : Path
        Where the user's Jupyter servers have their files: those are not asked.
    kernels : callable
        Returns the ids of this server's kernels by the numbers of their processes.
    on_found : callable
        Is called when a dashboard was found.

    Attributes
    ----------
    found : dict
        The dashboards there are, by their sockets.
    took_s : float
        Processor time of the last look.
    """

    def __init__(
        self,
        settings: Settings,
        runtime_folder: Path,
        kernels: Callable[[], Mapping[int, str]],
        on_found: Callable[[], None],
    ) -> None:
        self.found: dict[Listener, StockDashboard] = {}
        self.took_s = 0.0
        self._settings, self._runtime_folder = settings, runtime_folder
        self._kernels, self._on_found = kernels, on_found
        # Sockets that were asked, and from when on they may be asked again.
        self._due_s: dict[Listener, float] = {}
        self._pause_s: dict[Listener, float] = {}
        self._asking: dict[int, asyncio.Task[None]] = {}
        self._looking = asyncio.Lock()
        self._failure = ""

    async def look(self, known_ports: Callable[[], Collection[int]]) -> None:
        """Look once for new sockets and begin to ask them; forget those that are gone.

        ``known_ports`` are those of our own servers and their schedulers. Fails never: the list of
        our own does not depend on others.
        """
        async with self._looking:
            try:
                if self._settings.discover and await self._forget_and_list(known_ports()):
                    await asyncio.sleep(SETTLE_S)
                    await self._begin(await self._forget_and_list(known_ports()))
            except Exception as error:  # such as a table that may not be read in this container
                if self._failure != str(error):
                    self._failure = str(error)
                    LOG.warning("Dask's own dashboards are not looked for: %s.", error)
                    LOG.debug("Why not", exc_info=True)

    async def wait(self) -> None:
        """Wait for those that are being asked, but not for long: a busy one answers late."""
        if self._asking:
            await asyncio.wait(self._asking.values(), timeout=NEXT_S)

    async def close(self) -> None:
        """Ask no more."""
        for task in self._asking.values():
            task.cancel()
        await asyncio.gather(*self._asking.values(), return_exceptions=True)

    def _forget_task(self, task: asyncio.Task[None]) -> None:
        self._asking = {pid: one for pid, one in self._asking.items() if one is not task}
        if not task.cancelled() and (error := task.exception()):
            LOG.error("Asking a process for a dashboard failed.", exc_info=error)

    async def _forget_and_list(self, known_ports: Collection[int]) -> list[Listener]:
        present, self.took_s = await asyncio.to_thread(_present)
        for known in (self.found, self._due_s, self._pause_s):
            for gone in known.keys() - present:
                del known[gone]
        now_s = time.monotonic()
        named = frozenset(known_ports) | self._named_ports
        return [
            one
            for one in present
            if one.user_id == USER_ID
            and one not in self.found
            and self._due_s.get(one, 0.0) <= now_s
            and one.port not in named
        ]

    @property
    def _named_ports(self) -> frozenset[int]:
        return frozenset[int]().union(*(one.named_ports for one in self.found.values()))

    async def _begin(self, new: Collection[Listener]) -> None:
        candidates = await asyncio.to_thread(self._candidates, new)
        for one in new:
            self._due_s[one] = float("inf")
        busy = {process.pid for process, *_ in candidates} | self._asking.keys()
        for process, listening, line in candidates:
            if line & busy or process.pid in self._asking or len(self._asking) >= MAX_PROCESSES:
                self._postpone(listening, NEXT_S)  # it is named by who has started it, perhaps
                continue
            task = asyncio.create_task(self._ask_all(process, listening, line))
            self._asking[process.pid] = task
            task.add_done_callback(self._forget_task)

    def _candidates(self, new: Collection[Listener]) -> list[_Candidate]:
        """Return the processes that may be schedulers, with their sockets and their ancestors."""
        by_process: dict[psutil.Process, list[Listener]] = {}
        for one, process in processes_of(new).items():
            by_process.setdefault(process, []).append(one)
        candidates = []
        for process, listening in by_process.items():
            records = (f"{kind}-{process.pid}.json" for kind in ("jpserver", "nbserver"))
            is_jupyter = any((self._runtime_folder / name).exists() for name in records)
            if process.pid != os.getpid() and not is_jupyter and may_be_scheduler(process):
                with contextlib.suppress(psutil.Error):
                    line = {one.pid for one in process.parents()}
                    candidates.append((process, listening, line))
        return candidates

    async def _ask_all(
        self, process: psutil.Process, listening: list[Listener], line: set[int]
    ) -> None:
        elders = [
            one
            for one in self.found.values()
            if one.found and one.found.process.pid in {process.pid, *line}
        ]
        schedulers = [elder.info["scheduler"]["address"] for elder in elders]
        if not all(schedulers):  # it has just begun and has no address yet
            self._postpone(listening, NEXT_S)
        elif not any(address.startswith("tls") for address in schedulers):
            await self._ask_each(process, listening, ELDER_S if elders else GREETING_S)

    async def _ask_each(
        self, process: psutil.Process, listening: list[Listener], patience_s: float
    ) -> None:
        ports: set[int] = set()  # a server for IPv4 and IPv6 has two sockets
        for i, one in enumerate(listening):
            if one.port in ports | self._named_ports:
                continue
            ports.add(one.port)
            try:
                if await greets(one.address, patience_s):
                    continue
                found = await asyncio.to_thread(_describe, one, process, self._kernels())
                dashboard = StockDashboard(one.address, (), found)
                is_dask = await dashboard.is_dask()
                if not is_dask and dashboard.is_suspect:  # it ended what is no TLS
                    secure = replace(one.address, scheme="https", is_known=True)
                    dashboard = StockDashboard(secure, (), found)
                    is_dask = await dashboard.is_dask()
            except (TimeoutError, UpstreamTimeoutError):
                pause_s = self._pause_s[one] = min(MAX_PAUSE_S, self._pause_s.get(one, 1.0) * 2)
                self._postpone(listening[i:], pause_s)
                return
            except OSError:  # gone
                continue
            if is_dask:
                if found.kernel_id:
                    await asyncio.sleep(CLIENT_S)
                self.found[one] = dashboard
                self._on_found()
                self._postpone([rest for rest in listening[i:] if rest.port not in ports], NEXT_S)
                return

    def _postpone(self, listening: Collection[Listener], pause_s: float) -> None:
        for one in listening:
            self._due_s[one] = time.monotonic() + pause_s


def _present() -> tuple[set[Listener], float]:
    begun_s = time.thread_time()
    return set(listeners()), time.thread_time() - begun_s


def _describe(listener: Listener, process: psutil.Process, kernels: Mapping[int, str]) -> Found:
    kernel_id, name = None, ""
    with contextlib.suppress(psutil.Error, OSError):
        line = (process, *process.parents())
        kernel_id = next((kernels[one.pid] for one in line if one.pid in kernels), None)
        if kernel_id:  # Jupyter tells a kernel, and it its children, whose document it has
            name = PurePath(process.environ().get("JPY_SESSION_NAME", "")).name
    return Found(listener, process, kernel_id, name)
