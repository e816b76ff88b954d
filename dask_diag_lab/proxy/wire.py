"""What crosses the process border on the Jupyter server's side, checked on arrival.

The runtime record and the answers of dashboards come in; the dashboards answer goes out. The
JSON fixtures in ``tests/contract/fixtures`` hold this file, the kernel side and ``src/wire.ts``
together. Unknown extra fields are allowed, missing ones are an error.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NotRequired, TypedDict

from dask_diag_lab.proxy.addresses import Address, AddressError, loopback_address
from dask_diag_lab.proxy.fields import (
    MAX_TEXT,
    WireError,
    count,
    mapping,
    nullable_text,
    number,
    rows,
    text,
)

SCHEMA: Final = 1
"""Version of the runtime record that is understood."""

MAX_HELP: Final = 8000
MAX_VERSIONS: Final = 50

Kind = Literal["diagnostics", "stock"]
State = Literal["live", "stale", "unreachable"]
FeedState = Literal["connecting", "live", "degraded", "lost", "closed"]

_RECORD_ID = re.compile(r"[0-9a-f]{8,64}")
_TOKEN = re.compile(r"[A-Za-z0-9_-]{32,512}")
_PLOT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class SchedulerEntry(TypedDict):
    """The scheduler behind a dashboard; both empty where they are unknown."""

    id: str
    address: str


class PlotEntry(TypedDict):
    """One plot of a dashboard.

    ``help`` and ``keywords`` are passed on where the dashboard tells them; ``route``, the plot's
    page relative to the dashboard, is there for stock dashboards only.
    """

    name: str
    title: str
    group: str
    description: str
    help: NotRequired[str]
    keywords: NotRequired[list[str]]
    route: NotRequired[str]


class TasksEntry(TypedDict):
    """Numbers of tasks."""

    total: int
    done: int
    erred: int
    processing: int


class SummaryEntry(TypedDict):
    """The cluster in numbers; memory in bytes."""

    workers: int
    threads: int
    memory_limit: int
    memory: int
    tasks: TasksEntry


class DashboardEntry(TypedDict):
    """One dashboard as the browser sees it: never an address to contact, never a token.

    ``closed_at``, in seconds since the epoch, is there where its cluster has closed and what was
    known of it is still shown.
    """

    id: str
    name: str
    kind: Kind
    kernel_id: str | None
    scheduler: SchedulerEntry
    state: State
    reason: str | None
    plots: list[PlotEntry]
    summary: SummaryEntry | None
    closed_at: NotRequired[float]


class DashboardsAnswer(TypedDict):
    """Answer of ``GET api/dashboards`` and every message of ``WS api/events``."""

    dashboards: list[DashboardEntry]


@dataclass(frozen=True, slots=True)
class RuntimeRecord:
    """A diagnostics server's announcement.

    Attributes
    ----------
    started : float
        When that server started, seconds since the epoch.
    host : str or None
        Name of the machine that ``pid`` counts on; None where the record does not say. Home
        folders are shared between machines on clusters.
    """

    id: str
    pid: int
    kernel_id: str | None
    address: Address
    token: str = field(repr=False)
    name: str
    scheduler: SchedulerEntry
    started: float
    versions: tuple[tuple[str, str], ...]
    host: str | None = None


@dataclass(frozen=True, slots=True)
class Health:
    """Answer of a diagnostics server's ``/health``.

    ``plots_version`` moves when its ``/plots.json`` changes; 0 from versions that do not tell.
    ``since``, in seconds since the epoch, is when it came into its state; None likewise.
    """

    state: FeedState
    reason: str
    summary: SummaryEntry
    plots_version: int
    since: float | None = None


def parse_record(value: object) -> RuntimeRecord:
    """Check a runtime record's JSON value.

    Raises
    ------
    WireError
        Naming the first field that is missing or wrong, never its value.
    """
    data = mapping(value, "the record")
    if data.get("schema") != SCHEMA or isinstance(data.get("schema"), bool):
        raise WireError(f"schema is not {SCHEMA}: another version of dask_diag_lab wrote it")
    identity, token = text(data, "id"), text(data, "token")
    if not _RECORD_ID.fullmatch(identity):
        raise WireError("id is not 8 to 64 lower-case hex digits")
    if not _TOKEN.fullmatch(token):
        raise WireError("token is not 32 to 512 URL-safe characters")
    pid = count(data, "pid")
    if pid == 0:
        raise WireError("pid is 0")
    try:
        address = loopback_address(text(data, "url"))
    except AddressError as error:
        raise WireError(str(error)) from None
    return RuntimeRecord(
        id=identity,
        pid=pid,
        kernel_id=nullable_text(data, "kernel_id"),
        address=address,
        token=token,
        name=text(data, "name"),
        scheduler=_scheduler(data),
        started=number(data, "started"),
        versions=_versions(data),
        host=nullable_text(data, "host") if "host" in data else None,
    )


def parse_health(value: object) -> Health:
    """Check the JSON value of ``/health``; raises `WireError`."""
    data = mapping(value, "the health answer")
    state = data.get("state")
    match state:
        case "connecting" | "live" | "degraded" | "lost" | "closed":
            since = number(data, "since") if "since" in data else None
            return Health(state, text(data, "reason"), _summary(data), _plots_version(data), since)
        case _:
            raise WireError("state is none of connecting, live, degraded, lost, closed")


def _plots_version(data: Mapping[str, object]) -> int:
    return count(data, "plots_version") if "plots_version" in data else 0


def parse_plots(value: object) -> list[PlotEntry]:
    """Check the JSON value of ``/plots.json``; raises `WireError`."""
    plots = rows(mapping(value, "the plots answer"), "plots")
    return [_plot(mapping(plot, "a plot")) for plot in plots]


def check_dashboards(value: object) -> DashboardsAnswer:
    """Check a dashboards answer, the one contract that goes out; raises `WireError`."""
    entries = rows(mapping(value, "the answer"), "dashboards")
    return {"dashboards": [check_dashboard(entry) for entry in entries]}


def check_dashboard(value: object) -> DashboardEntry:
    """Check one dashboard of an answer; raises `WireError`."""
    data = mapping(value, "a dashboard")
    identity = text(data, "id")
    if not identity:
        raise WireError("id is empty")
    summary = data.get("summary")
    entry: DashboardEntry = {
        "id": identity,
        "name": text(data, "name"),
        "kind": _kind(data),
        "kernel_id": nullable_text(data, "kernel_id"),
        "scheduler": _scheduler(data),
        "state": _state(data),
        "reason": nullable_text(data, "reason"),
        "plots": [_plot(mapping(plot, "a plot")) for plot in rows(data, "plots")],
        "summary": None if summary is None else _summary(mapping(summary, "summary")),
    }
    if "closed_at" in data:
        entry["closed_at"] = number(data, "closed_at")
    return entry


def _kind(data: Mapping[str, object]) -> Kind:
    match data.get("kind"):
        case "diagnostics" | "stock" as kind:
            return kind
        case _:
            raise WireError("kind is neither diagnostics nor stock")


def _state(data: Mapping[str, object]) -> State:
    match data.get("state"):
        case "live" | "stale" | "unreachable" as state:
            return state
        case _:
            raise WireError("state is none of live, stale, unreachable")


def _plot(data: Mapping[str, object]) -> PlotEntry:
    name = text(data, "name")
    if not _PLOT_NAME.fullmatch(name):
        raise WireError("name of a plot has odd characters")
    plot: PlotEntry = {
        "name": name,
        "title": text(data, "title"),
        "group": text(data, "group"),
        "description": text(data, "description"),
    }
    explanation, keywords = data.get("help"), data.get("keywords")
    if isinstance(explanation, str):
        plot["help"] = explanation[:MAX_HELP]
    if isinstance(keywords, list):
        plot["keywords"] = [str(word)[:100] for word in keywords[:50]]
    return plot


def _scheduler(data: Mapping[str, object]) -> SchedulerEntry:
    scheduler = mapping(data.get("scheduler"), "scheduler")
    return {"id": text(scheduler, "id"), "address": text(scheduler, "address")}


def _summary(data: Mapping[str, object]) -> SummaryEntry:
    tasks = mapping(data.get("tasks"), "tasks")
    return {
        "workers": count(data, "workers"),
        "threads": count(data, "threads"),
        "memory_limit": count(data, "memory_limit"),
        "memory": count(data, "memory"),
        "tasks": {
            "total": count(tasks, "total"),
            "done": count(tasks, "done"),
            "erred": count(tasks, "erred"),
            "processing": count(tasks, "processing"),
        },
    }


def _versions(data: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    versions = mapping(data.get("versions"), "versions")
    if len(versions) > MAX_VERSIONS:
        raise WireError("versions is too long")
    return tuple(sorted((str(name), str(versions[name])[:MAX_TEXT]) for name in versions))
