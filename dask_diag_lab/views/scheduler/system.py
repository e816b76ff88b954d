"""The processes of the cluster and their hosts: event loops, counts, bandwidth when asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from dask_diag_lab.store.arrays import Floats
from dask_diag_lab.store.queries import UNASKED, can_ask
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.bars import BarPlot, Level, Part
from dask_diag_lab.views.data import Column, Rows, Unit, plain_column
from dask_diag_lab.views.names import name_label
from dask_diag_lab.views.registry import register_plot
from dask_diag_lab.views.series import Line, Points, SeriesPlot
from dask_diag_lab.views.stack import ExtraPlot, ExtraStack, StackPlot
from dask_diag_lab.views.tables import TablePlot
from dask_diag_lab.views.view import Control, Table
from dask_diag_lab.views.workers.common import EVENT_LOOP, WorkerBars, metric

if TYPE_CHECKING:
    from dask_diag_lab.store.queries import Query

LATE_S: Final = 0.1
"""Five times `distributed`'s own interval of 20 ms (`distributed.admin.tick.interval`)."""


class ProcessBars(WorkerBars):
    """A bar for the scheduler and for each worker, the highest first.

    Attributes
    ----------
    metric, own : str
        What workers report with their heartbeats, and the column of the table ``system``.
    factor : float
        By which both are multiplied.
    """

    reads = ("system", "workers")
    noun, nouns = "process", "processes"
    label = "name"
    sort_by = "value"
    order = "size"
    parts = (Part("value"),)

    unit: ClassVar[Unit] = "number"
    metric: ClassVar[str] = ""
    own: ClassVar[str] = ""
    factor: ClassVar[float] = 1.0

    @property
    def columns(self) -> Sequence[Column]:  # type: ignore[override]  # in words of the subclass
        """Name of the process and its value."""
        return Column("name", "Process", shown=False), Column("value", self.title, self.unit)

    def values(self) -> Floats:
        """Return the value of the scheduler and those of all workers, NaN where not known."""
        own = self.history.extras["system"][self.own][-1:]
        values = [own if len(own) else [np.nan], metric(self.history.workers, self.metric)]
        return np.concatenate(values) * self.factor

    def rows(self) -> Rows:
        """Return a row for each process that reports; see `BarPlot.rows`."""
        workers, values = self.history.workers, self.values()
        names = ["Scheduler", *(name_label(name) for name in workers.name)]
        addresses = ["", *workers.address]
        known = np.flatnonzero(np.isfinite(values)).tolist()
        return {
            "worker": [addresses[index] for index in known],
            "name": [names[index] for index in known],
            "value": values[known],
        }

    def headline(self) -> str:
        """Return the scheduler's, and mean and highest of the workers."""
        own, *workers = self.values().tolist()
        workers = [value for value in workers if np.isfinite(value)]
        parts = [f"scheduler {fmt.write(self.unit, own)}"] if np.isfinite(own) else []
        if workers:
            mean, most = (fmt.write(self.unit, n) for n in (np.mean(workers), max(workers)))
            parts.append(f"workers {mean} on average, {most} at most")
        return f"{self.title}: {' · '.join(parts)}"

    def why_empty(self) -> str:
        """Return why no process reports; see `DataPlot.why_empty`."""
        return self.empty


class EventLoops(ProcessBars):
    """How late the event loop of each process is; 20 ms when nothing holds it up."""

    title, unit = "Event loop interval", "seconds"
    metric, own = EVENT_LOOP, "loop_s"
    end = LATE_S
    empty = "Waiting for the first heartbeat of a worker."


class InterpreterLock(ProcessBars):
    """The share of time in which a thread of each process waited for the interpreter's lock."""

    title, unit = "Waiting for the interpreter's lock", "percent"
    metric, own, factor = "gil_contention", "gil", 100.0
    end = 100.0
    empty = "Waiting for the lock is not measured: install gilknocker on scheduler and workers"


@register_plot
class Contention(StackPlot):
    """Event loop intervals, and the share of time in which threads waited for the GIL."""

    name = "contention"

    plots = (EventLoops, InterpreterLock)

    def table(self) -> Table:
        """Return one row for the scheduler and one for each worker."""
        names = ["Scheduler", *map(str, self.history.workers.name)]
        loops, locks = (part.values() for part in self.parts if isinstance(part, ProcessBars))
        columns = {EVENT_LOOP: loops.tolist(), "gil_contention": (locks / 100).tolist()}
        return Table({"name": names, **columns}, {EVENT_LOOP: "s"})


class SystemSeries(ExtraPlot, SeriesPlot):
    """Columns of the table ``system`` over time."""

    reads = ("system",)
    has_band = False
    empty = "No sample yet."

    def points(self, name: str) -> Points:
        """Return one column; see `SeriesPlot.points`."""
        system = self.extra
        values = np.asarray(system[name], dtype=np.float64)
        return Points(np.asarray(system["time"], dtype=np.float64), values, values, values)


class _Cpu(SystemSeries):
    title, unit = "CPU", "percent"
    lines = (Line("cpu", "", "load_normal"),)


class _Memory(SystemSeries):
    title, unit = "Memory", "bytes"
    lines = (Line("memory", "", "load_normal"),)


class _Network(SystemSeries):
    title, unit = "Network of its host", "rate"
    lines = (Line("read_bps", "in", "load_normal"), Line("write_bps", "out", "transfer"))


class _OpenFiles(SystemSeries):
    title, unit = "Open files", "count"
    lines = (Line("fds", "", "load_normal"),)


@register_plot
class SchedulerSystem(ExtraStack):
    """The scheduler's process over time: CPU, memory, the network of its host, open files."""

    name = "scheduler-system"

    plots = (_Cpu, _Memory, _Network, _OpenFiles)
    is_grid = True


@register_plot
class Counters(ExtraPlot, TablePlot):
    """What the scheduler counts: each counter with its sum."""

    name = "counters"

    reads = ("counters",)
    empty = "The scheduler has counted nothing yet. Run something, and counters appear here."
    columns = (
        Column("name", "Counter", width=176),
        Column("value", "Sum", "number", width=92),
        Column("unit", "Unit", width=60),
    )

    def rows(self) -> Rows:
        """Return a row for each counter."""
        names = (column.name for column in self.columns)
        return {name: plain_column(self.extra[name]) for name in names}

    def note(self) -> str:
        """Return how many there are, and when the scheduler sent them."""
        counters = self.extra
        n = fmt.plural(len(counters), "counter")
        return f"{n} since the scheduler began · as of {fmt.clock(counters.updated_at)}"


@register_plot
class Clients(ExtraPlot, TablePlot):
    """Who has results kept in memory: each client, and how many keys it wants."""

    name = "clients"

    reads = ("clients",)
    empty = "No client is connected, and nothing has results kept."
    columns = (
        Column("name", "Client", "key", width=260),
        Column("wanted", "Keys it wants", "count", width=100),
        Column("kind", "Kind", width=80),
    )

    def rows(self) -> Rows:
        """Return a row for each client; see `DataPlot.rows`."""
        clients = self.extra
        kinds = ["client" if is_client else "no client" for is_client in clients["is_connected"]]
        return {"name": clients["name"].tolist(), "wanted": clients["wanted"], "kind": kinds}

    def headline(self) -> str:
        """Return how many are connected, and what all want; see `DataPlot.headline`."""
        clients = self.extra
        connected = f"{fmt.count(clients['is_connected'].sum())} connected"
        wanted = fmt.plural(int(clients["wanted"].sum()), "key")
        return f"Clients: {connected} · {wanted} wanted, shared ones counted for each"


UNMEASURED: Final = (
    "Nothing was measured yet. “Measure now” copies memory, writes to disk and sends data between"
    " all workers for some seconds, which slows down whatever runs meanwhile."
)
NEEDED_BYTES: Final = 400 << 20
"""What the benchmark may take on a worker: two copies of blocks of 100 MiB, and some space."""
MEASURING: Final = (
    "Measuring disk, memory and network one after the other: on idle workers it takes 12 s."
)
NOBODY: Final = "there is no worker. Add some with cluster.scale(4)."
KINDS: Final = {"memory": "load_normal", "disk": "disk", "network": "transfer"}


@register_plot
class Hardware(BarPlot):
    """Bandwidth of memory, disk and network by size of the block, measured when asked for."""

    name = "hardware"

    columns = (
        Column("block", "Block", shown=False, in_table=False),
        Column("kind", "Kind", shown=False),
        Column("size", "Size of the block", "bytes"),
        Column("rate", "Bandwidth", "rate"),
    )
    parts = (Part("rate"),)
    merges = "none"
    levels = tuple(Level(color, label=kind) for kind, color in KINDS.items())
    reads = ("workers",)
    label = key = "block"
    noun = "measurement"

    _refused = ""

    @property
    def _query(self) -> Query | None:
        """What was asked by any page, so that each shows it and its table has it."""
        return self.live.queries.known("hardware")

    def rows(self) -> Rows:
        """Return a row for each kind and size; none before it was measured."""
        answer: Any = (self._query.answer if self._query is not None else None) or {}  # plain data
        found = [(at, kind, row) for at, kind in enumerate(KINDS) for row in answer.get(kind, ())]
        sizes = [fmt.binary(row["size"]) for _, _, row in found]
        return {
            "block": [f"{found[at][1].capitalize()} · {size}" for at, size in enumerate(sizes)],
            "kind": [kind for _, kind, _ in found],
            "size": np.array([row["size"] for _, _, row in found], dtype=np.int64),
            "rate": np.array([row["rate"] for _, _, row in found], dtype=np.float64),
            "level_index": np.array([at for at, _, _ in found], dtype=np.uint8),
        }

    def headline(self) -> str:
        """Return the best of each kind; see `DataPlot.headline`."""
        rows = self.rows()
        # Of one kind the largest comes last.
        best = dict(sorted(zip(rows["kind"], rows["rate"], strict=True), key=lambda row: row[1]))
        text = ", ".join(f"{kind} {fmt.si(best[kind], 'B/s')}" for kind in KINDS if kind in best)
        return f"Bandwidth: up to {text}"

    def note(self) -> str:
        """Return of whom and when it is, and what is doubtful; see `DataPlot.note`."""
        if self._query is None:
            return ""
        means = f"Means of all workers at {fmt.clock(self._query.answered_at)}"
        return " · ".join(filter(None, (self._happened(), means)))

    def why_empty(self) -> str:
        """Return why nothing was measured, and how to; see `DataPlot.why_empty`."""
        return self._happened() or (UNMEASURED if can_ask(self.live) else UNASKED)

    def state(self) -> object:
        """Return what differs while a measurement goes on; see `View.state`."""
        asked = self._query and (self._query.version, self._query.state)
        return super().state(), asked, self._refused, can_ask(self.live)

    def own_controls(self) -> Sequence[Control]:
        """Return the button, unless it was pressed; see `BarPlot.own_controls`."""
        is_asked = self._query is not None and self._query.state == "asked"
        control = Control("measure", "button", "Measure now")
        return [control] if can_ask(self.live) and not is_asked else []

    def set_control(self, name: str, value: str) -> None:
        """Ask the cluster: only ever done by the button.

        A worker without enough memory for it would be killed by its own limit.
        """
        if name != "measure":
            super().set_control(name, value)
            return
        self._refused = self._reason_against()
        if not self._refused:
            query = self.live.queries.ask("hardware")
            if query.state != "asked":  # measured before, perhaps for another page
                self.live.queries.ask_again(query)

    def _reason_against(self) -> str:
        workers = self.history.workers
        if not len(workers):
            return f"Not measured: {NOBODY}"
        free = workers.memory_limit - workers.memory
        n_short = int(((workers.memory_limit > 0) & (free < NEEDED_BYTES)).sum())
        return (
            f"Not measured: it needs {fmt.binary(NEEDED_BYTES)} of free memory on each worker, and"
            f" {fmt.plural(n_short, 'worker')} had less. Release results first."
        ) * bool(n_short)

    def _happened(self) -> str:
        """Return why what is shown is not what was asked for last; '' when it is."""
        query = self._query
        if self._refused or query is None:
            return self._refused
        if query.state == "asked":
            return MEASURING
        if query.state == "failed":
            return f"Not measured: {query.error}"
        return "" if query.answer and any(query.answer.values()) else f"Nothing measured: {NOBODY}"
