"""The JSON that crosses a process border on the Jupyter server's side.

Each message is declared here, once, and checked against its declaration on arrival. The fixtures in
``tests/contract/fixtures`` hold this file, the kernel side and the front end together. Unknown
extra fields are left out, missing ones are an error.
"""

# No `from __future__ import annotations`: it would hide NotRequired from TypedDict.

import re
from types import UnionType
from typing import (
    Any,
    Final,
    Literal,
    NotRequired,
    TypedDict,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from dask_diag_lab.proxy.client import Address

T = TypeVar("T")

Kind = Literal["diagnostics", "stock"]
State = Literal["live", "stale", "unreachable"]

MAX_TEXT: Final = 1000
MAX_ROWS: Final = 500


class SchedulerMessage(TypedDict):
    """The scheduler behind a dashboard; both empty where they are unknown."""

    id: str
    address: str


class RecordedScheduler(SchedulerMessage):
    """The scheduler in a runtime record, with the link of Dask's own dashboard, '' for none."""

    dashboard: str


class PlotInfo(TypedDict):
    """One plot of a dashboard.

    ``route``, the plot's page relative to the dashboard, is there for stock dashboards only. A
    plot's help is not passed on: the browser asks the dashboard's own ``plots.json`` for it.
    ``unavailable`` says why the plot can have no data there.
    """

    name: str
    title: str
    group: str
    description: str
    keywords: NotRequired[list[str]]
    route: NotRequired[str]
    unavailable: NotRequired[str]


class TaskCounts(TypedDict):
    """Numbers of tasks."""

    total: int
    done: int
    erred: int
    processing: int


class Losses(TypedDict):
    """How many workers died of late, a sentence on the last one, and when; s since the epoch."""

    workers: int
    text: str
    time: float


class Summary(TypedDict):
    """The cluster in numbers; memory in bytes.

    A stock dashboard has workers and threads alone, and ``memory_limit`` once its cluster was idle:
    only then can it be asked for that.
    """

    workers: int
    threads: int
    memory_limit: NotRequired[int]
    memory: NotRequired[int]
    tasks: NotRequired[TaskCounts]
    losses: NotRequired[Losses]


class DashboardInfo(TypedDict):
    """One dashboard as the browser sees it: never an address to contact, never a token.

    Attributes
    ----------
    started : float or None
        When it began, seconds since the epoch; None for a stock dashboard.
    plots : list of PlotInfo
        Left out of a change that did not touch them.
    closed_at : float
        Seconds since the epoch; there only where its cluster has closed and its history is still
        shown.
    shown_with : str
        Of a stock dashboard whose scheduler has diagnostics here: the id of those.
    is_removable : bool
        Of a stock dashboard: whether it was added by hand; true for a recording that this Jupyter
        server has opened.
    cell : list of str
        As in `RuntimeRecord`.
    """

    id: str
    name: str
    kind: Kind
    kernel_id: str | None
    scheduler: SchedulerMessage
    started: float | None
    state: State
    reason: str | None
    summary: Summary | None
    plots: NotRequired[list[PlotInfo]]
    closed_at: NotRequired[float]
    shown_with: NotRequired[str]
    is_removable: NotRequired[bool]
    cell: NotRequired[list[str]]


class DashboardList(TypedDict):
    """Answer of ``GET api/dashboards`` and first message of ``WS api/events``."""

    dashboards: list[DashboardInfo]


class DashboardChanges(TypedDict):
    """Every later message of ``WS api/events``: new or changed dashboards, and ids that went."""

    changed: list[DashboardInfo]
    removed: list[str]


class RuntimeRecord(TypedDict):
    """A diagnostics server's announcement.

    Attributes
    ----------
    started : float
        When that server started, seconds since the epoch.
    host : str or None
        The machine that ``pid`` counts on. Home folders are shared between machines on clusters.
    start_ticks : int or None
        When the process started, as in field 22 of ``/proc/<pid>/stat``: unlike the times of day
        that psutil makes of it, it does not move when the clock is set.
    cell : list of str
        The id of the notebook's cell that made its client, and that of the run of the cell.
    """

    schema: Literal[1]
    id: str
    pid: int
    kernel_id: str | None
    url: str
    token: str
    name: str
    scheduler: RecordedScheduler
    started: float
    versions: dict[str, Any]  # of packages, for people who read the file
    host: NotRequired[str | None]
    start_ticks: NotRequired[int | None]
    cell: NotRequired[list[str]]


class KeptAddresses(TypedDict):
    """The file with the addresses that were added by hand."""

    schema: Literal[1]
    addresses: list[str]


class Health(Summary):
    """Answer of a diagnostics server's ``/health``.

    ``plots_version`` moves when its ``/plots.json`` changes. ``since``, in seconds since the epoch,
    is when it came into its state.
    """

    state: Literal["connecting", "live", "degraded", "lost", "closed"]
    reason: str
    plots_version: NotRequired[int]
    since: NotRequired[float]


class PlotList(TypedDict):
    """Answer of a diagnostics server's ``/plots.json``."""

    plots: list[PlotInfo]


class StockCounts(TypedDict):
    """Answer of a stock dashboard's ``/json/counts.json``; ``processing`` are tasks on workers."""

    workers: int
    cores: int
    tasks: int
    processing: int


class StockIdentity(SchedulerMessage):
    """Answer of a stock dashboard's ``/json/identity.json``; in bytes, of all workers together."""

    total_memory: NotRequired[int]


class MessageError(ValueError):
    """Data from another process that does not keep the contract; names the field, not its value."""


_LOOPBACK_URL: Final = re.compile(r"http://(127\.0\.0\.1|\[::1\]):([1-9][0-9]{0,4})")
_ID: Final = re.compile(r"[0-9a-f]{8,64}")
_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{32,512}")


def check_record(value: object) -> RuntimeRecord:
    """Return a runtime record's JSON value, checked.

    Raises
    ------
    MessageError
        Naming the first field that is missing or wrong.
    """
    record = check(value, RuntimeRecord)
    for field, text, pattern in (("id", record["id"], _ID), ("token", record["token"], _TOKEN)):
        if not pattern.fullmatch(text):
            raise MessageError(f"{field} is not what it has to be")
    loopback_address(record["url"])
    return record


def loopback_address(url: str) -> Address:
    """Return the address of a runtime record's URL.

    Raises
    ------
    MessageError
        When it is anything but ``http://127.0.0.1:<port>`` or ``http://[::1]:<port>``.
    """
    match = _LOOPBACK_URL.fullmatch(url)
    if match is None:
        raise MessageError("url is not http://127.0.0.1:<port> or http://[::1]:<port>")
    host = match[1].strip("[]")
    return Address("http", host, int(match[2]), host)


def check(value: object, expected: type[T]) -> T:
    """Return a parsed JSON value that has the fields of a declaration, without any others.

    Whole numbers count from 0 up; texts and lists are bounded.

    Raises
    ------
    MessageError
        Naming the first field that is missing or of another type.
    """
    checked: T = _check(value, expected, "the message")
    return checked


def _check(value: object, expected: Any, field: str) -> Any:  # Any: a type, and a value of it
    origin, arguments = get_origin(expected), get_args(expected)
    if origin in (UnionType, Union):
        return None if value is None else _check(value, arguments[0], field)
    if is_typeddict(expected) and isinstance(value, dict):
        if missing := expected.__required_keys__ - value.keys():
            raise MessageError(f"{min(missing)} is missing")
        kinds = get_type_hints(expected).items()
        return {name: _check(value[name], kind, name) for name, kind in kinds if name in value}
    if origin is list and isinstance(value, list) and len(value) <= MAX_ROWS:
        return [_check(entry, arguments[0], field) for entry in value]
    if not _is_plain(value, expected):
        raise MessageError(f"{field} is not what it has to be")
    return expected(value) if expected in (int, float) else value  # JSON does not tell 1.0 from 1


def _is_plain(value: object, expected: Any) -> bool:  # Any: as above
    match value:
        case int() | float() if expected in (int, float) and not isinstance(value, bool):
            is_whole = 0 <= value < 2**63 and value == int(value)
            return is_whole if expected is int else abs(value) < 2**63  # NaN is neither
        case bool():
            return expected is bool
        case str() if expected is str:
            return len(value) <= MAX_TEXT
        case dict():
            return get_origin(expected) is dict
    return value in get_args(expected)
