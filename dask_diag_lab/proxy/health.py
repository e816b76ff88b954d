"""Asks a diagnostics server how it is and what it shows, and says so in words.

Must not decide whether the dashboard may be contacted: the caller has checked its process.
"""

from __future__ import annotations

import json
import time
from functools import partial
from typing import Final

from dask_diag_lab.proxy.dashboard import Condition, Dashboard
from dask_diag_lab.proxy.fields import WireError
from dask_diag_lab.proxy.processors import read_processors
from dask_diag_lab.proxy.upstream import Failure, UpstreamError, fetch
from dask_diag_lab.proxy.wire import Health, parse_health, parse_plots

MAX_HEALTH_BYTES: Final = 64 * 1024
MAX_PLOTS_BYTES: Final = 2 * 1024 * 1024

HOLDING: Final = "The kernel is holding the interpreter; the picture catches up when it lets go."
OVERLOADED: Final = (
    "The kernel does not answer in time: all processors of this machine are busy, or the kernel is "
    "holding the interpreter. The picture catches up."
)
BUSY_SHARE: Final = 0.9
"""With this much of all processors at work, a kernel may be late without holding anything."""
LATE_S: Final = 0.5
"""A timeout that is noticed so much later tells of this server, which was held up itself."""


async def examine(dashboard: Dashboard, timeout_s: float) -> None:
    """Bring a diagnostics dashboard's condition up to date, and its plots when they are others."""
    processors = read_processors()
    try:
        health = parse_health(await _get(dashboard, "/health", timeout_s, MAX_HEALTH_BYTES))
        plots_of = (dashboard.identity, health.plots_version)
        if dashboard.plots_of != plots_of:
            plots = await _get(dashboard, "/plots.json", timeout_s, MAX_PLOTS_BYTES)
            dashboard.plots = parse_plots(plots)
            dashboard.plots_of = plots_of
        dashboard.condition = condition_of(dashboard.name, health)
    except (UpstreamError, WireError) as error:
        busy_share = processors.share_until(read_processors())
        reason = reason_of(dashboard.name, error, busy_share)
        dashboard.condition = Condition("unreachable", reason, dashboard.condition.summary)


async def _get(dashboard: Dashboard, path: str, timeout_s: float, max_bytes: int) -> object:
    address = dashboard.address
    headers = [("Host", address.netloc), ("Accept", "application/json"), *dashboard.credentials]
    ask = partial(fetch, address, path, headers, timeout_s=timeout_s, max_bytes=max_bytes)
    begun = time.monotonic()
    try:
        code, content = await ask()
    except UpstreamError as error:
        is_late = time.monotonic() - begun > timeout_s + LATE_S
        if error.failure is not Failure.TIMEOUT or not is_late:
            raise
        code, content = await ask()  # the answer may have been here, and nobody looked
    if code in (401, 403):
        raise WireError("it refused the token of its own runtime record")
    if code != 200:
        raise WireError(f"its {path} answered with status {code}")
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise WireError(f"its {path} is not JSON") from None


def condition_of(name: str, health: Health) -> Condition:
    """Put what a diagnostics server said of itself into the three states of the browser."""
    reason = health.reason or None
    match health.state:
        case "live" | "degraded":
            return Condition("live", reason, health.summary)
        case "connecting":
            return Condition(
                "live", reason or f"{name} is connecting to its scheduler.", health.summary
            )
        case "lost":
            default = (
                f"Cannot reach the scheduler of {name}. Its history is kept until the kernel "
                "stops. Run the cell that makes the client again."
            )
            return Condition("stale", reason or default, health.summary)
        case "closed":  # the browser puts the time into words, by its own clock
            return Condition("stale", reason, health.summary, health.since)


def reason_of(name: str, error: UpstreamError | WireError, busy_share: float) -> str:
    """Say why a dashboard whose process lives gave no usable answer.

    `busy_share` is how much of all processors was at work while it was asked.
    """
    if isinstance(error, WireError):
        return (
            f"The diagnostics of {name} cannot be used: {error}. Update dask-diag-lab where the "
            "kernel and where Jupyter runs to one version, then restart the kernel."
        )
    match error.failure:
        case Failure.TIMEOUT:
            return OVERLOADED if busy_share > BUSY_SHARE else HOLDING
        case Failure.REFUSED:
            return (
                f"The diagnostics of {name} cannot be reached. Run the cell that makes the "
                "client again."
            )
        case Failure.BROKEN:
            return (
                f"The diagnostics of {name} broke off an answer. If this stays, restart the kernel."
            )
