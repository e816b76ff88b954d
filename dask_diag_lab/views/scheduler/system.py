"""The processes of the cluster: their event loops, and what the scheduler takes and counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.bars import Level, Part
from dask_diag_lab.views.data import Column, Rows, Unit
from dask_diag_lab.views.names import name_label
from dask_diag_lab.views.registry import register_plot
from dask_diag_lab.views.series import Line, Points, SeriesPlot
from dask_diag_lab.views.stack import ExtraPlot, ExtraStack, StackPlot
from dask_diag_lab.views.tables import TablePlot
from dask_diag_lab.views.view import Table
from dask_diag_lab.views.workers.common import EVENT_LOOP, WorkerBars, metric

Floats = npt.NDArray[np.float64]

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
    high : float
        More than this is marked.
    """

    reads = ("system", "workers")
    noun, nouns = "process", "processes"
    label = "name"
    sort_by = "value"
    order = "size"
    merged_level = "worst"
    levels = (Level("load_normal"), Level("memory_near", "▴"))
    parts = (Part("value"),)

    unit: ClassVar[Unit] = "number"
    metric: ClassVar[str] = ""
    own: ClassVar[str] = ""
    factor: ClassVar[float] = 1.0
    high: ClassVar[float] = 0.0

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
        is_high = values[known] > self.high
        return {
            "worker": [addresses[index] for index in known],
            "name": [names[index] for index in known],
            "value": values[known],
            "level_index": is_high.astype(np.uint8),
            "remark": ["high" if high else "" for high in is_high.tolist()],
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
    metric, own, high = EVENT_LOOP, "loop_s", LATE_S
    end = LATE_S
    empty = "Waiting for the first heartbeat of a worker."


class InterpreterLock(ProcessBars):
    """The share of time in which a thread of each process waited for the interpreter's lock."""

    title, unit = "Waiting for the interpreter's lock", "percent"
    metric, own, factor, high = "gil_contention", "gil", 100.0, 50.0
    end = 100.0
    empty = "Waiting for the lock is not measured: install gilknocker on scheduler and workers"


@register_plot
class Contention(StackPlot):
    """Event loop intervals, and the share of time in which threads waited for the GIL."""

    name = "contention"

    plots = (EventLoops, InterpreterLock)

    def update(self) -> None:
        """Say why waiting for the lock is not shown: few have installed what measures it."""
        super().update()
        self.caption = replace(self.caption, note=self.parts[1].caption.empty)

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

    def headline(self) -> str:
        """Return what is so now; see `SeriesPlot.headline`."""
        system = self.extra
        newest = ((fmt.write(self.unit, system[line.name][-1]), line.label) for line in self.lines)
        return f"{self.title}: {', '.join(' '.join(now).strip() for now in newest)}"


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


WINDOW_S: Final = 10.0
"""Over which growth is measured: long enough to be read, short enough to be of now."""


@register_plot
class Counters(ExtraPlot, TablePlot):
    """What the scheduler counts: each counter with its sum and how fast it grows."""

    name = "counters"

    reads = ("counters",)
    empty = "The scheduler has counted nothing yet. Run something, and counters appear here."
    columns = (
        Column("name", "Counter", width=176),
        Column("value", "Sum", "number", width=92),
        Column("growth", "A second", "number", width=84, in_table=False),
        Column("unit", "Unit", width=60),
    )

    _seen: Sequence[tuple[float, Mapping[str, float]]] = ()

    def rows(self) -> Rows:
        """Return a row for each counter; its growth is NaN at the first look."""
        counters = self.extra
        names, values = counters["name"].tolist(), counters["value"]
        now = counters.updated_at
        recent = [reading for reading in self._seen if now - WINDOW_S <= reading[0] < now]
        self._seen = [*recent, (now, dict(zip(names, values.tolist(), strict=True)))]
        then, before = self._seen[0]
        old = np.array([before.get(name, 0.0) for name in names])
        growth = (values - old) / (now - then) if now > then else np.full(len(names), np.nan)
        growth[growth < 0] = np.nan  # what fell is of another scheduler
        return {
            "name": names,
            "value": values,
            "growth": growth,
            "unit": counters["unit"].tolist(),
        }

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
