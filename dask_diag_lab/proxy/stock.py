"""A stock Dask dashboard: what it shows, how it is asked, where those added by hand are kept.

It runs inside the scheduler, so it is asked for few routes, and rarely: each of its plots' pages
would build a document there.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import json
import logging
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final
from urllib.parse import urljoin

import psutil

from dask_diag_lab.proxy.client import (
    Address,
    NotAllowedError,
    UpstreamError,
    UpstreamTimeoutError,
)
from dask_diag_lab.proxy.dashboard import HOLDING, Dashboard
from dask_diag_lab.proxy.messages import (
    MAX_ROWS,
    KeptAddresses,
    MessageError,
    PlotInfo,
    SchedulerMessage,
    StockCounts,
    StockIdentity,
    Summary,
    check,
)
from dask_diag_lab.proxy.policy import read_address, resolve
from dask_diag_lab.proxy.records import is_running, read_owned
from dask_diag_lab.proxy.sockets import (
    Listener,
    ProcessError,
    check_owner,
    listeners,
)

EXAMINE_S: Final = 5.0
# The longest pause between two tries to reach one that does not answer.
MAX_PAUSE_S: Final = 20.0
# ``counts.json`` visits every task on the scheduler's loop, 0.4 s for a million on a busy machine:
# that is once a minute.
COUNTS_S_EACH: Final = 60e-6

INDEX: Final = "/individual-plots.json"
COUNTS: Final = "/json/counts.json"
# While workers have tasks to tell of, distributed (2026.8) fails to make it, with a traceback where
# the user sees it: their times have tuples as keys. So it is asked for when no worker has had a
# task for longer than their heartbeats are apart, which is 0.5 s for ten, up to n / 100 s for n.
IDENTITY: Final = "/json/identity.json"
IDLE_S: Final = 2.0
IDLE_S_EACH: Final = 0.02

LOG: Final = logging.getLogger(__name__)

_ROUTE: Final = re.compile(r"/?((?:statics/)?individual-([a-z0-9][a-z0-9-]{0,90})(?:\.html)?)")


@dataclass(frozen=True, slots=True)
class Place:
    """The process and the socket of a dashboard on this machine."""

    listener: Listener
    process: psutil.Process
    kernel_id: str | None

    def verify(self, *, is_suspect: bool) -> None:
        """Make sure that it is still that process and, after a failure, that socket."""
        if not is_running(self.process) or (is_suspect and self.listener not in listeners()):
            raise ProcessError("has ended")


class StockDashboard(Dashboard):
    """A stock Dask dashboard.

    Parameters
    ----------
    given : Address
        Where somebody said that it is, or where it was found.
    allowed_hosts : sequence of str
        The policy for the address; not asked where the dashboard was found.
    place : Place, optional
        Its process, where it was found by itself.

    Attributes
    ----------
    is_configured, is_added : bool
        Whether the administrator has named it, or the user.
    status : int
        Of an answer that refuses it, when it cannot be added.
    named : SchedulerMessage or None
        Its scheduler, where a kernel's record names this as the dashboard of that: the kernel tells
        of that scheduler.
    """

    examine_s = EXAMINE_S
    advice = (
        "Check the address, with https:// where it has a certificate and with its prefix, and that "
        "its cluster runs."
    )
    is_configured = False
    is_added = False
    status = 502
    named: SchedulerMessage | None = None

    def __init__(
        self, given: Address, allowed_hosts: Sequence[str], place: Place | None = None
    ) -> None:
        self.given, self._allowed_hosts = given, allowed_hosts
        # Always the same for the same address, so that adding twice is adding once.
        digest = hashlib.sha256(given.url.encode()).hexdigest()
        name, unknown = f"{given.netloc}{given.prefix}", SchedulerMessage(id="", address="")
        super().__init__(given, f"stock-{digest[:16]}", name, "stock", unknown)
        self._counts_due_s = 0.0
        self._idle_since_s = inf
        self._identified: tuple[int, int] | None = None  # workers and threads it was asked with
        self._memory_limit: int | None = None
        self.place: Place | None = None
        if place is not None:
            self.set_place(place, given)

    @property
    def is_listed_always(self) -> bool:
        """Whether somebody has named it, so that it stays when it is gone."""
        return self.is_added or self.is_configured

    def set_place(self, place: Place, address: Address) -> None:
        """Know its process from now on."""
        self.place, self.address = place, address
        self.info = {**self.info, "kernel_id": place.kernel_id}

    def forget_place(self) -> None:
        """Its process, or its socket, has ended; what was added by hand stays listed."""
        self.place = self.named = None
        self.info = {**self.info, "kernel_id": None, "summary": None}

    def set_scheduler(self, named: SchedulerMessage | None) -> None:
        """Take the scheduler of which a record says that this is the dashboard, if any does."""
        self.named = named
        if named is not None:
            self.info = {**self.info, "scheduler": named, "summary": None}

    async def verify(self) -> None:
        """Look whose port it is now."""
        if self.place is not None:
            await asyncio.to_thread(self.place.verify, is_suspect=self.is_suspect)
        elif not self.address.ip:
            raise ProcessError("has not answered yet")
        else:
            await asyncio.to_thread(check_owner, self.address)

    async def examine(self) -> None:
        """Bring it up to date; one that is not found by itself is looked up again when it is gone.

        Its name may mean several addresses, or others than it did.
        """
        if self.place is not None or self.info["state"] == "live":
            await super().examine()
        else:
            await self._examine_each()
        if self.info["state"] != "live":
            self.examine_s = min(MAX_PAUSE_S, self.examine_s * 1.5)
        else:
            is_waiting = self._identified is None and self._idle_since_s < inf
            self.examine_s = IDLE_S if is_waiting else EXAMINE_S

    async def _examine_each(self) -> None:
        try:
            addresses = await resolve(self.given, self._allowed_hosts)
        except NotAllowedError as error:
            self.status = error.status
            self.set_state("unreachable", str(error))
            return
        self.status = 502
        for address in addresses:
            self.address = address
            await super().examine()
            if self.info["state"] == "live":
                return

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
        if isinstance(error, ProcessError) and self.place is not None:
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
        if self.info["state"] != "live":  # it may have been started anew
            self._identified, self._idle_since_s, self._counts_due_s = None, inf, 0.0
        try:
            await self._ask_counts()
        except (UpstreamError, MessageError) as error:  # all else works without
            LOG.info("%s is shown without its workers: %s.", self.name, error)
        self.is_suspect = False
        self.set_state("live")

    async def _ask_counts(self) -> None:
        """Learn how large its cluster is and, while that is idle, which."""
        now_s = asyncio.get_running_loop().time()
        if self.named is not None or now_s < self._counts_due_s:
            return
        counts = check(await self._get(COUNTS), StockCounts)
        self._counts_due_s = now_s + counts["tasks"] * COUNTS_S_EACH
        # Tasks that come in bursts can look idle each time; a notebook is to hear nothing of us.
        is_in_kernel = self.place is not None and self.place.kernel_id is not None
        is_idle = counts["processing"] == 0 and not is_in_kernel
        workers = counts["workers"]
        self._idle_since_s = min(self._idle_since_s, now_s) if is_idle else inf
        size = workers, counts["cores"]
        # One that has no workers yet has some in the next moment, where a cell makes it.
        is_empty = workers == 0 and not is_in_kernel
        is_safe = is_empty or now_s - self._idle_since_s >= max(IDLE_S, workers * IDLE_S_EACH)
        if is_safe and size != self._identified:
            identity = check(await self._get(IDENTITY), StockIdentity)
            self._memory_limit, self._identified = identity.get("total_memory"), size
            scheduler = SchedulerMessage(id=identity["id"], address=identity["address"])
            self.info = {**self.info, "scheduler": scheduler}
        summary = Summary(workers=workers, threads=counts["cores"])
        if self._memory_limit is not None and size == self._identified:
            summary["memory_limit"] = self._memory_limit
        self.info = {**self.info, "summary": summary}

    async def _find_prefix(self) -> bool:
        """Learn a prefix that nobody has named."""
        address = self.address
        if address.prefix:
            return False
        try:
            place = read_address(urljoin(f"{address.origin}/", await self._place_of_root()))
        except (ValueError, NotAllowedError):
            return False
        if (place.scheme, place.netloc) != (address.scheme, address.netloc) or not place.prefix:
            return False
        self.address = replace(address, prefix=place.prefix)
        self.name = f"{self.name}{place.prefix}"
        self.info = {**self.info, "name": self.name}
        return True

    async def _place_of_root(self) -> str:
        """Return where the root leads to: that of a dashboard to its status page."""
        return str((await self._fetch("/", "text/html"))[1].get("Location", ""))


@functools.cache
def _texts() -> Mapping[str, Mapping[str, str]]:
    """Return what is said of each known plot, by name, in the order of lists."""
    return tomllib.loads(Path(__file__).with_name("stockplots.toml").read_text(encoding="utf-8"))


def plots_of_index(index: object) -> list[PlotInfo]:
    """Turn a stock dashboard's ``individual-plots.json`` into plots; empty if it is not one."""
    plots: dict[str, PlotInfo] = {}
    for title, route in list(index.items())[:MAX_ROWS] if isinstance(index, dict) else ():
        if match := _ROUTE.fullmatch(str(route)):
            texts = _texts().get(name := match[2], {})
            plots[name] = PlotInfo(
                name=name,
                title=texts.get("title", title.removeprefix("Individual ")[:100]),
                group=texts.get("group", "Scheduler"),
                description=texts.get("description", ""),
                route=match[1],
            )
    known = [name for name in _texts() if name in plots]
    return [plots[name] for name in (*known, *sorted(plots.keys() - known))]


class AddressStore:
    """Keeps the addresses that were added by hand in a file of the user's own.

    Several Jupyter servers share it; each change reads it again.
    """

    MAX_BYTES: Final = 256 * 1024

    def __init__(self, path: Path) -> None:
        self.path = path

    def load(self) -> list[str]:
        """Return the addresses; what they are is not known to be fit for anything.

        None, and a line in the log, where there is a file, but not one that this has written.
        """
        try:
            return check(read_owned(self.path, self.MAX_BYTES), KeptAddresses)["addresses"]
        except FileNotFoundError:
            return []
        except MessageError as error:
            LOG.warning("Dashboards added by hand are lost, as %s: %s.", self.path, error)
            return []

    def change(self, url: str, *, is_kept: bool) -> None:
        """Keep an address, or not any more.

        Raises
        ------
        OSError
            When the file cannot be written.
        """
        kept = [one for one in self.load() if one != url]
        urls = [*kept, *([url] if is_kept else [])][-MAX_ROWS:]
        content: KeptAddresses = {"schema": 1, "addresses": urls}
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Made with mode 0600, and whole at any time: another server may read or write it.
        with NamedTemporaryFile("w", dir=self.path.parent, delete=False) as file:
            half = Path(file.name)
        try:
            half.write_text(json.dumps(content), encoding="utf-8")
            half.replace(self.path)
        finally:
            half.unlink(missing_ok=True)
