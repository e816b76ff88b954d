"""The processes of the cluster: their event loops, and what the scheduler takes and counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.bars import BarPlot, Level, Part
from dask_diag_lab.views.data import Column, Rows, Unit
from dask_diag_lab.views.look import LIGHT, Look
from dask_diag_lab.views.registry import register_plot
from dask_diag_lab.views.scheduler.costs import WAITING
from dask_diag_lab.views.series import Line, Points, SeriesPlot
from dask_diag_lab.views.stack import StackPlot
from dask_diag_lab.views.tables import TablePlot
from dask_diag_lab.views.view import Table
from dask_diag_lab.views.worker_names import name_in_words, open_worker

if TYPE_CHECKING:
    from dask_diag_lab.store import Store

Floats = npt.NDArray[np.float64]

LOOP: Final = "event_loop_interval"
GIL: Final = "gil_contention"
LATE_S: Final = 0.1
"""Five times `distributed`'s own interval of 20 ms (`distributed.admin.tick.interval`)."""
NO_GIL: Final = (
    "Waiting for the interpreter's lock is not measured: install gilknocker on scheduler and"
    " workers for that"
)
NOTHING_COUNTED: Final = (
    "The scheduler has counted nothing yet. Run something, and counters appear here."
)
BUSY_PERCENT: Final = 80.0
"""Of one core: the scheduler's loop is one thread, so it cannot do much more."""


class ProcessBars(BarPlot):
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
    label, key = "name", "worker"
    sort_by = "value"
    order = "size"
    merged_level = "worst"
    levels = (Level("load_normal"), Level("memory_near", "▴"))
    empty = "Waiting for the first heartbeat of a worker."

    title: ClassVar[str] = ""
    unit: ClassVar[Unit] = "number"
    metric: ClassVar[str] = ""
    own: ClassVar[str] = ""
    factor: ClassVar[float] = 1.0
    high: ClassVar[float] = 0.0

    def rows(self) -> Rows:
        """Return a row for each process that reports; see `BarPlot.rows`."""
        workers, values = self.store.workers, measured(self.store, self.metric, self.own)
        names = ["Scheduler", *(name_in_words(name) for name in workers.name)]
        addresses = ["", *workers.address]
        known = np.flatnonzero(np.isfinite(values))
        shown = values[known] * self.factor
        is_high = shown > self.high
        return {
            "worker": [addresses[index] for index in known.tolist()],
            "name": [names[index] for index in known.tolist()],
            "value": shown,
            "level_index": is_high.astype(np.uint8),
            "remark": ["high" if high else "" for high in is_high.tolist()],
        }

    def headline(self) -> str:
        """Return the scheduler's, and mean and highest of the workers."""
        values = measured(self.store, self.metric, self.own)
        own, workers = values[0] * self.factor, values[1:] * self.factor
        workers = workers[np.isfinite(workers)]
        parts = [f"scheduler {fmt.write(self.unit, own)}"] if np.isfinite(own) else []
        if len(workers):
            mean, most = (fmt.write(self.unit, float(n)) for n in (workers.mean(), workers.max()))
            parts.append(f"workers {mean} on average, {most} at most")
        return f"{self.title}: {' · '.join(parts)}"

    def open_row(self, key: str) -> None:
        """Open the page of a worker."""
        open_worker(self, key)


def measured(store: Store, metric: str, own: str) -> Floats:
    """Return the value of the scheduler and those of all workers, NaN where not known."""
    system, workers = store.extras["system"], store.workers
    nan = float("nan")
    values = [float(system[own][-1]) if len(system) else nan]
    values += [float(metrics.get(metric, nan)) for metrics in workers.metrics]
    return np.array(values, dtype=np.float64)


class EventLoops(ProcessBars):
    """How late the event loop of each process is; 20 ms when nothing holds it up."""

    title, unit = "Event loop interval", "seconds"
    columns = (
        Column("name", "Process", shown=False),
        Column("value", "Event loop interval", "seconds"),
    )
    parts = (Part("value"),)
    metric, own, high = LOOP, "loop_s", LATE_S
    end = LATE_S


class InterpreterLock(ProcessBars):
    """The share of time in which a thread of each process waited for the interpreter's lock."""

    title, unit = "Waiting for the interpreter's lock", "percent"
    columns = (
        Column("name", "Process", shown=False),
        Column("value", "Time with a waiting thread", "percent"),
    )
    parts = (Part("value"),)
    metric, own, factor, high = GIL, "gil", 100.0, 50.0
    end = 100.0
    empty = NO_GIL


@register_plot
class Contention(StackPlot):
    """Event loop intervals, and the share of time in which threads waited for the GIL."""

    name = "contention"
    title = "Contention"
    group = "Scheduler"
    description = "How late the event loops are, and who waits for the interpreter's lock."
    help = (
        "How often the event loops of scheduler and workers come round; below, where "
        "`gilknocker` is installed, the share of time in which a thread waited for Python's "
        "interpreter lock. The slowest workers are shown, ten at most.\n"
        "- healthy: every 20 ms\n"
        "- longer: something holds the loop up, and then heartbeats, transfers and task "
        "starts are late\n"
        "- stripes: more than 100 ms\n"
        "- lock high on workers: tasks of pure Python; use more processes with fewer threads\n"
        "- lock high on the scheduler: too many small tasks, or large graphs\n"
        "- click a worker: its page"
    )
    keywords = ("event loop", "gil", "tick", "lag", "latency", "interpreter lock")

    needs = frozenset({"system"})
    plots = (EventLoops, InterpreterLock)

    def update(self) -> None:
        """Say as well where the lock is not measured; see `View.update`."""
        super().update()
        loops, lock = (part.caption for part in self.parts)
        if lock.empty and not loops.empty:
            self.caption = replace(self.caption, note=NO_GIL)

    def table(self) -> Table:
        """Return one row for the scheduler and one for each worker."""
        names = ["Scheduler", *map(str, self.store.workers.name)]
        loops, locks = (measured(self.store, *of) for of in ((LOOP, "loop_s"), (GIL, "gil")))
        return Table({"name": names, LOOP: loops.tolist(), GIL: locks.tolist()}, {LOOP: "s"})


class SystemSeries(SeriesPlot):
    """Columns of the table ``system`` over time."""

    reads = ("system",)
    has_band = False

    def points(self, name: str) -> Points:
        """Return one column; see `SeriesPlot.points`."""
        system = self.store.extras["system"]
        values = np.asarray(system[name], dtype=np.float64)
        return Points(np.asarray(system["time"], dtype=np.float64), values, values, values)

    def headline(self) -> str:
        """Return what is so now; see `SeriesPlot.headline`."""
        system = self.store.extras["system"]
        now = [
            f"{fmt.write(self.unit, float(system[line.name][-1]))} {line.label}".strip()
            for line in self.lines
        ]
        return f"{self.title}: {', '.join(now)}"

    def why_empty(self) -> str:
        """Return whether there will be samples."""
        return "No sample yet." if self.store.extras["system"].is_known else WAITING


class _Cpu(SystemSeries):
    title, unit = "CPU", "percent"
    lines = (Line("cpu", "", "load_normal"),)

    def note(self) -> str:
        """Return what is wrong, where anything is."""
        cpu = float(np.mean(self.store.extras["system"]["cpu"][-10:]))
        if cpu < BUSY_PERCENT:
            return ""
        return (
            f"The scheduler uses {fmt.count(cpu)} % of a core: it may be what tasks wait for."
            " Fewer and larger tasks help."
        )


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
class SchedulerSystem(StackPlot):
    """The scheduler's process over time: CPU, memory, the network of its host, open files."""

    name = "scheduler-system"
    title = "Scheduler System"
    group = "Scheduler"
    description = "CPU, memory, network and open files of the scheduler over time."
    help = (
        "Four charts of the scheduler itself: CPU, memory, network and open files; 100 % CPU "
        "is one core, and its event loop cannot use much more.\n"
        "- healthy: CPU well below 80 %, memory that falls when results are released, files "
        "that follow the number of workers\n"
        "- CPU near 100 %: the scheduler is what tasks wait for; use fewer and larger tasks\n"
        "- network: that of its whole host\n"
        "- 0 s below: the first sample that the scheduler still had\n"
        "- how long: the scheduler keeps an hour of samples, so the past is here even if "
        "nobody looked"
    )
    keywords = ("cpu", "memory", "network", "file descriptors", "fds", "load", "resources")

    needs = frozenset({"system"})
    plots = (_Cpu, _Memory, _Network, _OpenFiles)
    is_grid = True

    def table(self) -> Table:
        """Return every sample."""
        system = self.store.extras["system"]
        units = {column.name: column.unit for column in system.table.columns if column.unit}
        return Table({name: system[name].tolist() for name in system.columns}, units)


WINDOW_S: Final = 10.0
"""Over which growth is measured: long enough to be read, short enough to be of now."""


@register_plot
class Counters(TablePlot):
    """What the scheduler counts: each counter with its sum and how fast it grows."""

    name = "counters"
    title = "Counters"
    group = "Scheduler"
    description = "Everything the scheduler counts, and how fast it grows."
    help = (
        "One row for each counter of the scheduler: its sum since the scheduler started, and "
        "its growth a second over the last ten seconds.\n"
        "- click a header: sort by it\n"
        "- healthy: all stand nearly still when nothing runs\n"
        "- one that grows fast: these messages or transitions keep the scheduler busy"
    )
    keywords = ("digests", "transitions", "messages", "rates", "statistics")

    reads = ("counters",)
    columns = (
        Column("name", "Counter", width=176),
        Column("value", "Sum", "number", width=92),
        Column("growth", "A second", "number", width=84, in_table=False),
        Column("unit", "Unit", width=60),
    )

    def __init__(
        self, store: Store, look: Look = LIGHT, arguments: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(store, look, arguments)
        self._seen: list[tuple[float, dict[str, float]]] = []

    def rows(self) -> Rows:
        """Return a row for each counter."""
        counters = self.store.extras["counters"]
        names, values = counters["name"].tolist(), counters["value"]
        return {
            "name": names,
            "value": values,
            "growth": self._growth(names, values),
            "unit": counters["unit"].tolist(),
        }

    def draw(self) -> None:
        """Compare with what was seen before; see `View.draw`."""
        counters = self.store.extras["counters"]
        sums = zip(counters["name"].tolist(), counters["value"].tolist(), strict=True)
        if len(counters):
            self._see(counters.told_at, dict(sums))
        super().draw()

    def note(self) -> str:
        """Return what the sums are of, and of when where nobody has looked for a while."""
        counters = self.store.extras["counters"]
        is_old = self.store.time - counters.told_at > WINDOW_S
        as_of = f" · as of {fmt.clock(counters.told_at)}" if is_old else ""
        is_early = len(self._seen) == 1 and not self._is_over
        later = " · how fast they grow takes two readings" if is_early else ""
        return f"{fmt.plural(len(counters), 'counter')} since the scheduler began{as_of}{later}"

    def why_empty(self) -> str:
        """Return whether there will be counters; see `DataPlot.why_empty`."""
        return NOTHING_COUNTED if self.store.extras["counters"].is_known else WAITING

    def state(self) -> object:
        """Return whether nothing is told any more; see `View.state`."""
        return self._is_over

    @property
    def _is_over(self) -> bool:
        return self.store.feed_state.state in ("lost", "closed")

    def _see(self, now: float, sums: dict[str, float]) -> None:
        """Keep the sums of ``now`` and those that they are compared with."""
        if self._seen and now - self._seen[-1][0] > WINDOW_S:
            self._seen.clear()  # nobody looked meanwhile: that growth would not be of now
        if not self._seen or now > self._seen[-1][0]:
            self._seen.append((now, sums))
        while len(self._seen) > 2 and now - self._seen[1][0] >= WINDOW_S:
            self._seen.pop(0)

    def _growth(self, names: Sequence[str], values: Floats) -> Floats:
        """Return the growth a second of each, NaN where nothing is there to compare."""
        if self._is_over or len(self._seen) < 2:
            return np.full(len(names), np.nan)
        (then, before), (now, _) = self._seen[0], self._seen[-1]
        old = np.array([before.get(name, 0.0) for name in names])
        growth = (values - old) / (now - then)
        return np.where(growth >= 0, growth, np.nan)  # what fell is of another scheduler
