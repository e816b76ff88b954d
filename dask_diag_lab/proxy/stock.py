"""A stock Dask dashboard: what it shows, how it is asked, where those added by hand are kept.

It runs inside the scheduler, so it is asked for two routes only, and rarely: each of its plots'
pages would build a document there.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import logging
import os
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final
from urllib.parse import urljoin

import psutil

from dask_diag_lab.proxy.client import (
    Address,
    RefusedError,
    UpstreamError,
    UpstreamTimeoutError,
)
from dask_diag_lab.proxy.dashboard import HOLDING, Dashboard
from dask_diag_lab.proxy.discovery import is_running, read_owned
from dask_diag_lab.proxy.messages import (
    MAX_ROWS,
    KeptAddresses,
    MessageError,
    PlotInfo,
    SchedulerInfo,
    Summary,
    check,
)
from dask_diag_lab.proxy.policy import A_SCHEDULER, read_address, resolve
from dask_diag_lab.proxy.sockets import (
    Listener,
    ProcessError,
    addresses_of,
    check_owner,
    greets,
    is_own_host,
    listeners,
)

EXAMINE_S: Final = 5.0
# The longest pause between two tries to reach one that does not answer.
MAX_PAUSE_S: Final = 20.0
# The page of workers is made on the scheduler's loop, 1 kB for each: once a minute with 1000.
WORKERS_S_EACH: Final = 0.06
# What it says is not taken from ``identity.json``: while workers have tasks to tell of, distributed
# fails to make that, with a traceback where the user sees it. So it is asked for the id alone, when
# no worker has a task, and only elsewhere: a process here is known by its ports. ``counts.json``
# visits every task.
INDEX: Final = "/individual-plots.json"
WORKERS_PAGE: Final = "/info/main/workers.html"
NONE: Final[tuple[tuple[str, ...], ...]] = ((),) * 5

LOG: Final = logging.getLogger(__name__)

_SCHEDULER: Final = re.compile(r'<h1 class="title">\s*Scheduler\s+([a-z]{2,9}://[^\s<>"]{1,200})')
# Address, threads, memory, its limit and tasks in process.
_WORKERS: Final = re.compile(
    r'<td><a href="\.\./worker/[^"]{1,600}">([^<\s]{1,200})</a></td>\s*<td>[^<]*</td>\s*'
    r"<td>\s*([0-9]{1,6})\s*</td>\s*<td[^>]*>[^<]*</td>\s*"
    r'<td>\s*<progress class="progress" value="([0-9]{1,15})[^"]*" max="([0-9]{1,15}|None)">'
    r"\s*</progress>\s*</td>\s*<td[^>]*>[^<]*</td>\s*<td>\s*([0-9]{1,9})\s*</td>"
)
_ROUTE: Final = re.compile(r"/?((?:statics/)?individual-([a-z0-9][a-z0-9-]{0,90})(?:\.html)?)")
_PORT: Final = re.compile(r":([0-9]{1,5})$")

# Groups of the catalogue for the stock dashboard's individual plots, by words of their names;
# others go under Scheduler.
_GROUPS: Final = (
    ("Tasks", re.compile("task|progress|graph|groups|exceptions|-key|-action|fine-")),
    ("Workers", re.compile("worker|memory|cpu|nprocessing|occupancy|bandwidth|contention|gpu")),
    ("Profile", re.compile("profile")),
)


@dataclass(frozen=True, slots=True)
class Found:
    """The process of a dashboard that was found by itself.

    Attributes
    ----------
    name : str
        Of the notebook that it belongs to; empty elsewhere.
    """

    listener: Listener
    process: psutil.Process
    kernel_id: str | None
    name: str

    def verify(self, *, is_suspect: bool) -> None:
        """Make sure that it is still that process and, after a failure, that socket."""
        if not is_running(self.process) or (is_suspect and self.listener not in listeners()):
            raise ProcessError("has ended")

    def listening_ports(self) -> frozenset[int]:
        """Return the ports that its process listens on; blocks for a millisecond."""
        with contextlib.suppress(psutil.Error):
            return frozenset(port for _, port in addresses_of(self.process))
        return frozenset()


class StockDashboard(Dashboard):
    """A stock Dask dashboard.

    Parameters
    ----------
    given : Address
        Where somebody said that it is, or where it was found.
    allowed_hosts : sequence of str
        The policy for the address; not asked where the dashboard was found.
    found : Found, optional
        Its process, where it was found by itself.

    Attributes
    ----------
    is_configured, is_added : bool
        Whether the administrator has named it, or the user.
    status : int
        Of an answer that refuses it, when it cannot be added.
    named_ports : frozenset of int
        The ports that it says are its scheduler's and its workers'.
    ports : frozenset of int
        Those that its process listens on, where the id of its scheduler is unknown.
    """

    examine_s = EXAMINE_S
    advice = (
        "Check the address, with https:// where it has a certificate and with its prefix, and that "
        "its cluster runs."
    )
    is_configured = False
    is_added = False
    status = 502
    named_ports: frozenset[int] = frozenset()

    def __init__(
        self, given: Address, allowed_hosts: Sequence[str], found: Found | None = None
    ) -> None:
        self.given, self._allowed_hosts = given, allowed_hosts
        # Always the same for the same address, so that adding twice is adding once.
        digest = hashlib.sha256(given.url.encode()).hexdigest()
        name, unknown = f"{given.netloc}{given.prefix}", SchedulerInfo(id="", address="")
        super().__init__(given, f"stock-{digest[:16]}", name, "stock", unknown)
        self._workers_due_s = 0.0
        self._is_idle = False
        self.ports: frozenset[int] = frozenset()
        self.found: Found | None = None
        if found is not None:
            self.take(found, given)

    def take(self, found: Found, address: Address) -> None:
        """Know its process from now on."""
        self.found, self.address = found, address
        name = found.name or self.name
        self.info = {**self.info, "kernel_id": found.kernel_id, "name": name}

    def lose(self) -> None:
        """Its process, or its socket, has ended; what was added by hand stays listed."""
        self.found = None
        self.info = {**self.info, "kernel_id": None, "name": self.name, "summary": None}

    async def verify(self) -> None:
        """Look whose port it is now."""
        if self.found is not None:
            await asyncio.to_thread(self.found.verify, is_suspect=self.is_suspect)
        elif not self.address.ip:
            raise ProcessError("has not answered yet")
        else:
            await asyncio.to_thread(check_owner, self.address)

    async def examine(self) -> None:
        """Bring it up to date; one that is not found by itself is looked up again when it is gone.

        Its name may mean several addresses, or others than it did.
        """
        if self.found is not None or self.info["state"] == "live":
            await super().examine()
        else:
            await self._examine_each()
        is_live = self.info["state"] == "live"
        self.examine_s = EXAMINE_S if is_live else min(MAX_PAUSE_S, self.examine_s * 1.5)

    async def _examine_each(self) -> None:
        try:
            addresses = await resolve(self.given, self._allowed_hosts)
        except RefusedError as error:
            self.status = error.status
            self.set_state("unreachable", str(error))
            return
        self.status = 502
        for address in addresses:
            self.address = address
            if await self._is_scheduler():
                self.set_state("unreachable", A_SCHEDULER.format(host=address.host))
                return
            await super().examine()
            if self.info["state"] == "live":
                return

    async def _is_scheduler(self) -> bool:
        """Tell whether that is the port for Dask's own messages, which logs an error about HTTP."""
        try:
            await self.verify()
            return self.address.scheme == "http" and await greets(self.address)
        except (OSError, ProcessError):
            return False

    async def is_dask(self) -> bool:
        """Tell whether it is a Dask dashboard at all.

        Raises
        ------
        UpstreamTimeoutError
            When it says nothing.
        """
        try:
            # One without a dashboard would import Bokeh, on its loop, to tell of its plots.
            if not await self._place_of_root():
                return False
            await self._ask()
        except UpstreamTimeoutError:
            raise
        except (MessageError, UpstreamError) as error:
            self.is_suspect = isinstance(error, UpstreamError)
            return False
        return True

    def failure(self, error: Exception) -> str:
        """Say what a scheduler inside a kernel does that gives no answer though it lives."""
        if isinstance(error, UpstreamTimeoutError) and self.info["kernel_id"]:
            return HOLDING
        if isinstance(error, ProcessError) and self.found is not None:
            return f"{self.name} {error}."
        return super().failure(error)

    async def _ask(self) -> None:
        try:
            plots = plots_of_index(await self._get(INDEX))
        except MessageError:
            if not await self._find_prefix():
                raise
            plots = plots_of_index(await self._get(INDEX))
        if not plots:
            raise MessageError("it has no plots")
        self.info = {**self.info, "plots": plots}
        now_s = asyncio.get_running_loop().time()
        if now_s >= self._workers_due_s or self.info["state"] != "live":
            try:
                await self._ask_workers()
            except (UpstreamError, MessageError) as error:  # all else works without
                LOG.info("%s is shown without its workers: %s.", self.name, error)
            n_workers = (self.info["summary"] or NO_SUMMARY)["workers"]
            self._workers_due_s = now_s + max(EXAMINE_S, n_workers * WORKERS_S_EACH)
        self.is_suspect = False
        self.set_state("live")

    async def _find_prefix(self) -> bool:
        """Learn a prefix that nobody has named."""
        address = self.address
        if address.prefix:
            return False
        try:
            place = read_address(urljoin(f"{address.origin}/", await self._place_of_root()))
        except (ValueError, RefusedError):
            return False
        if (place.scheme, place.netloc) != (address.scheme, address.netloc) or not place.prefix:
            return False
        self.address = replace(address, prefix=place.prefix)
        shown, self.name = self.name, f"{self.name}{place.prefix}"
        if self.info["name"] == shown:
            self.info = {**self.info, "name": self.name}
        return True

    async def _place_of_root(self) -> str:
        """Return where the root leads to: that of a dashboard to its status page."""
        return str((await self._fetch("/", "text/html"))[1].get("Location", ""))

    async def _ask_workers(self) -> None:
        page = (await self._read(WORKERS_PAGE, "text/html")).decode(errors="replace")
        scheduler, workers = _SCHEDULER.search(page), _WORKERS.findall(page)
        if scheduler is None or len(workers) != page.count('href="../worker/'):
            self.info = {**self.info, "summary": None}  # another template: nothing instead of half
            raise MessageError(f"its {WORKERS_PAGE} is of a version that is not known")
        known = self.info["scheduler"]
        scheduler_id = known["id"] if known["address"] == scheduler[1] else ""
        names, threads, memory, limits, processing = zip(*workers, strict=True) if workers else NONE
        self.info = {
            **self.info,
            "scheduler": {"id": scheduler_id, "address": scheduler[1]},
            "summary": {
                "workers": len(workers),
                "threads": sum(map(int, threads)),
                # None where one worker has none, as in our own summary.
                "memory_limit": 0 if {"0", "None"} & {*limits} else sum(map(int, limits)),
                "memory": sum(map(int, memory)),
            },
        }
        named = (scheduler[1], *names)
        self.named_ports = frozenset(int(one[1]) for one in map(_PORT.search, named) if one)
        was_idle, self._is_idle = self._is_idle, not any(map(int, processing))
        if scheduler_id:
            return
        if self.found is not None:
            self.ports = await asyncio.to_thread(self.found.listening_ports)
        elif (was_idle and self._is_idle) or not workers:
            identity = check(await self._get("/json/identity.json"), SchedulerInfo)
            self.info = {**self.info, "scheduler": identity}

    def scheduler_among(self, ids: Mapping[str, str]) -> str:
        """Return its scheduler's id; of some by their addresses that in its process; else ''."""
        if known := self.info["scheduler"]["id"]:
            return known
        for address, scheduler_id in ids.items():
            host, _, port = address.rpartition("://")[2].rpartition(":")
            is_inside = port.isdecimal() and int(port) in self.ports and is_own_host(host)
            if is_inside or (self.found and address == self.info["scheduler"]["address"]):
                return scheduler_id
        return ""


NO_SUMMARY: Final[Summary] = {"workers": 0, "threads": 0, "memory_limit": 0, "memory": 0}


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


class Keeper:
    """Keeps the addresses that were added by hand in a file of the user's own.

    Several Jupyter servers share it; each change reads it again.
    """

    MAX_BYTES: Final = 256 * 1024

    def __init__(self, path: Path) -> None:
        self.path = path

    def load(self) -> list[str]:
        """Return the addresses; what they are is not known to be fit for anything.

        Raises
        ------
        MessageError
            When there is a file, but not one that this has written.
        """
        try:
            content = read_owned(self.path, self.MAX_BYTES)
            return check(json.loads(content), KeptAddresses)["addresses"]
        except FileNotFoundError:
            return []
        except (ValueError, RecursionError) as error:
            reason = error if isinstance(error, MessageError) else "it is not JSON"
            raise MessageError(str(reason)) from None

    def change(self, url: str, *, is_kept: bool) -> None:
        """Keep an address, or not any more.

        Raises
        ------
        OSError
            When the file cannot be written.
        """
        try:
            kept = self.load()
        except MessageError:
            kept = []  # what cannot be read is written anew
        urls = [*(one for one in kept if one != url), *([url] if is_kept else [])][-MAX_ROWS:]
        content: KeptAddresses = {"schema": 1, "addresses": urls}
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        half = self.path.with_name(f"{self.path.name}.{secrets.token_hex(8)}")
        descriptor = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(content, file)
            half.replace(self.path)
        finally:
            half.unlink(missing_ok=True)
