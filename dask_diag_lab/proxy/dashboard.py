"""One dashboard as the Jupyter server knows it: where it is, how it is, what it shows."""

from __future__ import annotations

import asyncio
import json
from abc import ABC, abstractmethod
from typing import ClassVar, Final

import psutil

from dask_diag_lab.proxy.client import Address, UpstreamError, UpstreamTimeoutError, fetch
from dask_diag_lab.proxy.discovery import Announcement, ProcessError, find_process, is_running
from dask_diag_lab.proxy.messages import (
    DashboardInfo,
    Health,
    Kind,
    MessageError,
    PlotList,
    SchedulerInfo,
    State,
    Summary,
    check,
    loopback_address,
)

MAX_HEALTH_BYTES: Final = 64 * 1024
MAX_PLOTS_BYTES: Final = 2 * 1024 * 1024

HOLDING: Final = "The kernel is holding the interpreter; the picture catches up when it lets go."
OVERLOADED: Final = (
    "The kernel does not answer in time: all processors of this machine are busy, or the kernel is "
    "holding the interpreter. The picture catches up."
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
    """

    examine_factor: ClassVar[int] = 1
    """How many times less often than `Settings.health_interval_s` it is asked."""
    advice: ClassVar[str]
    """What a user may do when it cannot be contacted."""

    def __init__(
        self, address: Address, dashboard_id: str, name: str, kind: Kind, scheduler: SchedulerInfo
    ) -> None:
        self.address = address
        self.id, self.name, self.kind = dashboard_id, name, kind
        self.credentials: dict[str, str] = {}
        self.is_suspect = False
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

    def set_state(self, state: State, reason: str | None = None) -> None:
        """Set how it is, with the reason in words for the user where there is one."""
        self.info = {**self.info, "state": state, "reason": reason}
        self.info.pop("closed_at", None)

    async def examine(self, timeout_s: float) -> None:
        """Bring state and plots up to date, when the dashboard may be contacted."""
        try:
            await self.verify()
            await self._ask(timeout_s)
        except ProcessError as error:
            self.set_state("unreachable", self.refusal(error))
        except MessageError as error:
            self.set_state("unreachable", self.misfit(error))
        except UpstreamError as error:
            self.is_suspect = True
            self.set_state("unreachable", self.failure(error))

    def refusal(self, error: ProcessError) -> str:
        """Say why it is not contacted, for the user."""
        return f"{self.name} is not contacted: {error}. {self.advice}"

    def failure(self, error: UpstreamError) -> str:
        """Say how a contact failed, for the user."""
        return f"{self.name} {error}. {self.advice}"

    @abstractmethod
    async def verify(self) -> None:
        """Make sure, before each contact, that what is at the address is what it was.

        Raises
        ------
        ProcessError
            When it must not be contacted.
        """

    @abstractmethod
    def misfit(self, error: MessageError) -> str:
        """Say that its answers are not what they have to be, for the user."""

    @abstractmethod
    async def _ask(self, timeout_s: float) -> None:
        """Ask it for its state and its plots; may raise `UpstreamError` and `MessageError`."""

    async def _get(self, path: str, timeout_s: float, max_bytes: int) -> object:
        """Return the JSON value at a path of the dashboard."""
        headers = {"Accept": "application/json", **self.credentials}
        target = f"{self.address.prefix}{path}"
        code, content = await fetch(self.address, target, headers, timeout_s, max_bytes)
        if code in (401, 403) and self.credentials:
            raise MessageError("it refused the token of its own runtime record")
        if code != 200:
            raise MessageError(f"its {path} answered with status {code}")
        try:
            return json.loads(content)
        except (ValueError, RecursionError):
            raise MessageError(f"its {path} is not JSON") from None


class DiagnosticsDashboard(Dashboard):
    """A diagnostics server that has announced itself by a runtime record."""

    advice = "Run the cell that makes the client again."

    def __init__(self, announcement: Announcement) -> None:
        record = self.record = announcement.record
        address = loopback_address(record["url"])
        super().__init__(address, record["id"], record["name"], "diagnostics", record["scheduler"])
        self.info["kernel_id"], self.info["started"] = record["kernel_id"], record["started"]
        self.credentials = {"Authorization": f"token {record['token']}"}
        self._process = announcement.process
        self._plots_version: int | None = None

    async def verify(self) -> None:
        """Look whether its process still runs and, after a failure, whether it still listens."""
        if self.is_suspect or not is_running(self._process):
            self._process = await asyncio.to_thread(find_process, self.record)
            self.is_suspect = False

    def failure(self, error: UpstreamError) -> str:
        """Say what a kernel does that gives no answer: its process lives."""
        if not isinstance(error, UpstreamTimeoutError):
            return super().failure(error)
        is_overloaded = psutil.getloadavg()[0] > (psutil.cpu_count() or 1)
        return OVERLOADED if is_overloaded else HOLDING

    def misfit(self, error: MessageError) -> str:
        """Say that the two sides do not fit."""
        return (
            f"The diagnostics of {self.name} cannot be used: {error}. Update dask-diag-lab where "
            "the kernel and where Jupyter runs to one version, then restart the kernel."
        )

    async def _ask(self, timeout_s: float) -> None:
        health = check(await self._get("/health", timeout_s, MAX_HEALTH_BYTES), Health)
        plots_version = health.get("plots_version", 0)
        if self._plots_version != plots_version:
            plots = check(await self._get("/plots.json", timeout_s, MAX_PLOTS_BYTES), PlotList)
            self.info = {**self.info, "plots": plots["plots"]}
            self._plots_version = plots_version
        self._take_health(health)

    def _take_health(self, health: Health) -> None:
        """Put what a diagnostics server says of itself into the three states of the browser."""
        reason = health["reason"] or None
        match health["state"]:
            case "live" | "degraded":
                self.set_state("live", reason)
            case "connecting":
                self.set_state("live", reason or f"{self.name} is connecting to its scheduler.")
            case "lost":
                default = (
                    f"Cannot reach the scheduler of {self.name}. Its history is kept until the "
                    "kernel stops. Run the cell that makes the client again."
                )
                self.set_state("stale", reason or default)
            case "closed":
                self.set_state("stale", reason)
                if "since" in health:  # the browser puts the time into words, by its own clock
                    self.info["closed_at"] = health["since"]
        self.info["summary"] = check(health, Summary)
