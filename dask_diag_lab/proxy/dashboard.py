"""One dashboard as the Jupyter server knows it: where it is, how it is, what it shows."""

from __future__ import annotations

import asyncio
import json
from abc import ABC, abstractmethod
from typing import ClassVar, Final

from tornado.httputil import HTTPHeaders
from tornado.iostream import StreamClosedError
from tornado.websocket import WebSocketHandler

from dask_diag_lab.proxy.client import Address, Exchange, UpstreamError, UpstreamTimeoutError
from dask_diag_lab.proxy.messages import (
    DashboardInfo,
    Health,
    Kind,
    MessageError,
    PlotList,
    SchedulerMessage,
    State,
    Summary,
    check,
    loopback_address,
)
from dask_diag_lab.proxy.records import Announcement, find_process, is_running
from dask_diag_lab.proxy.sockets import ProcessError

# The identity of a stock scheduler has some 1 kB for each worker.
MAX_ANSWER_BYTES: Final = 16 * 1024 * 1024

# A kernel that computes in pure Python on a busy machine may take a second or two to answer.
EXAMINE_TIMEOUT_S: Final = 5.0

HOLDING: Final = (
    "The kernel is holding the interpreter, or all processors of this machine are busy. The "
    "picture catches up."
)


class Dashboard(ABC):
    """What both kinds of dashboard share.

    Attributes
    ----------
    info : DashboardInfo
        The dashboard as the browser may see it; replaced, never changed in place.
    credentials : dict
        Headers that open the dashboard; they must never leave for anywhere else.
    is_suspect : bool
        True after a failure: something else may be at its address now.
    sockets : set
        The websockets that are relayed now.
    due_s : float
        When to ask next how it is, by the clock of the loop.
    """

    due_s = 0.0

    # Between two questions how it is.
    examine_s = 1.0
    # What a user may do when it cannot be contacted.
    advice: ClassVar[str]

    def __init__(
        self,
        address: Address,
        dashboard_id: str,
        name: str,
        kind: Kind,
        scheduler: SchedulerMessage,
    ) -> None:
        self.address = address
        self.id, self.name, self.kind = dashboard_id, name, kind
        self.credentials: dict[str, str] = {}
        self.is_suspect = False
        self.sockets: set[WebSocketHandler] = set()
        self.info: DashboardInfo = {
            "id": dashboard_id,
            "name": name,
            "kind": kind,
            "kernel_id": None,
            "scheduler": scheduler,
            "started": None,
            "state": "unreachable",
            "reason": f"Waiting for the first answer of {name}.",
            "summary": None,
            "plots": [],
        }

    def close_sockets(self, reason: str, code: int = 1008) -> None:
        """Close what is relayed of it."""
        for socket in tuple(self.sockets):
            socket.close(code, reason)

    def set_state(self, state: State, reason: str | None = None) -> None:
        """Set how it is, with the reason in words for the user where there is one."""
        self.info = {**self.info, "state": state, "reason": reason}
        self.info.pop("closed_at", None)

    async def examine(self) -> None:
        """Bring state and plots up to date, when the dashboard may be contacted."""
        try:
            await self.verify()
            await self._ask()
        except (ProcessError, MessageError, UpstreamError) as error:
            self.is_suspect |= isinstance(error, UpstreamError)
            self.set_state("unreachable", self.failure(error))

    def failure(self, error: Exception) -> str:
        """Say why it is not contacted, or how a contact failed, and what to do about it."""
        verb = "" if isinstance(error, UpstreamError) else "cannot be used: "
        return f"{self.name} {verb}{error}. {self.advice}"

    @abstractmethod
    async def verify(self) -> None:
        """Make sure, before each contact, that what is at the address is what it was.

        Raises
        ------
        ProcessError
            When it must not be contacted.
        """

    @abstractmethod
    async def _ask(self) -> None:
        """Ask it for its state and its plots; may raise `UpstreamError` and `MessageError`."""

    async def _get(self, path: str) -> object:
        """Return the JSON value at a path of the dashboard."""
        code, _, content = await self._fetch(path, "application/json")
        if code != 200:
            raise MessageError(f"its {path} answered with status {code}")
        try:
            return json.loads(content)
        except (ValueError, RecursionError):
            raise MessageError(f"its {path} is not JSON") from None

    async def _fetch(self, path: str, accepted: str) -> tuple[int, HTTPHeaders, bytes]:
        heads: list[tuple[int, HTTPHeaders]] = []
        content = bytearray()

        async def keep(chunk: bytes) -> None:
            content.extend(chunk)
            if len(content) > MAX_ANSWER_BYTES:
                raise StreamClosedError

        headers = {"Accept": accepted, **self.credentials}
        exchange = Exchange(self.address, EXAMINE_TIMEOUT_S, lambda *head: heads.append(head), keep)
        await exchange.run("GET", f"{self.address.prefix}{path}", headers)
        return *heads[0], bytes(content)


class DiagnosticsDashboard(Dashboard):
    """A diagnostics server that has announced itself by a runtime record."""

    advice = "Run the cell that makes the client again."

    def __init__(self, announcement: Announcement) -> None:
        record = self.record = announcement.record
        address = loopback_address(record["url"])
        # Without the link: the browser gets no address.
        scheduler = check(record["scheduler"], SchedulerMessage)
        super().__init__(address, record["id"], record["name"], "diagnostics", scheduler)
        self.info["kernel_id"], self.info["started"] = record["kernel_id"], record["started"]
        if "cell" in record:
            self.info["cell"] = record["cell"]
        self.credentials = {"Authorization": f"token {record['token']}"}
        self._process = announcement.process
        self._plots_version: int | None = None

    async def verify(self) -> None:
        """Look whether its process still runs and, after a failure, whether it still listens."""
        if self.is_suspect or not is_running(self._process):
            await asyncio.to_thread(find_process, self.record)
            self.is_suspect = False

    def failure(self, error: Exception) -> str:
        """Say what a kernel does that gives no answer though it lives, or that versions differ."""
        if isinstance(error, UpstreamTimeoutError):
            return HOLDING
        if isinstance(error, MessageError):
            advice = "Update dask-diag-lab, for kernel and Jupyter, then restart the kernel."
            return f"The diagnostics of {self.name} cannot be used: {error}. {advice}"
        return super().failure(error)

    async def _ask(self) -> None:
        health = check(await self._get("/health"), Health)
        plots_version = health.get("plots_version", 0)
        if self._plots_version != plots_version:
            plots = check(await self._get("/plots.json"), PlotList)
            self.info = {**self.info, "plots": plots["plots"]}
            self._plots_version = plots_version
        is_over = health["state"] in ("lost", "closed")
        self.set_state("stale" if is_over else "live", health["reason"] or None)
        if health["state"] == "closed" and "since" in health:
            self.info["closed_at"] = health["since"]  # the browser says it, by its own clock
        self.info["summary"] = check(health, Summary)
