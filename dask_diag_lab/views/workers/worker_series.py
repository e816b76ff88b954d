"""Quantities of the workers over time: the mean of all, and the band from lowest to highest.

Recorded since the diagnostics began, whether anybody looked or not; traffic once for each host.
"""

from __future__ import annotations

import time as clock
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from dask_diag_lab.store.series import OF_PROCESS
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.base import Notice, Table
from dask_diag_lab.views.no_workers import no_workers
from dask_diag_lab.views.palette import data_colors
from dask_diag_lab.views.pane_size import pane_size
from dask_diag_lab.views.redrawn import RedrawnView
from dask_diag_lab.views.series_unit import WRITE, Unit
from dask_diag_lab.views.time_series import TimeLine, TimeSeries
from dask_diag_lab.views.workers import worker_metrics as wm
from dask_diag_lab.views.workers.process_bars import sharing_words

if TYPE_CHECKING:
    from bokeh.models.ui import UIElement

_LATE_S: Final = 30.0
"""A scheduler that ran so much longer than was recorded is worth a word."""

_PLURAL: Final = {"process": "processes"}
_UNITS: Final[Mapping[Unit, str]] = {"bytes": "B", "rate": "B/s", "percent": "%", "seconds": "s"}


@dataclass(frozen=True, slots=True)
class SeriesLine:
    """One line: its name in ``store.series``, its words, its colour among `DataColors`."""

    name: str
    title: str
    color: str


class WorkerSeries(RedrawnView):
    """Lines of ``store.series``."""

    moves_itself: ClassVar[bool] = True
    lines: ClassVar[Sequence[SeriesLine]] = ()
    unit: ClassVar[Unit] = "number"
    heading: ClassVar[str] = ""
    of: ClassVar[str] = "worker"
    """What the mean is over; `OF_PROCESS` is of processes where workers share one."""
    missing: ClassVar[str] = ""
    """Said when nobody reports any of the lines."""

    def _time_lines(self) -> list[TimeLine]:
        colors = data_colors(self.look)
        return [TimeLine(line.name, line.title, getattr(colors, line.color)) for line in self.lines]

    def build(self) -> UIElement:
        """Return the figure; see `View.build`."""
        self.picture = TimeSeries(self.look, self._time_lines(), unit=self.unit)
        self.figure = self.picture.model
        self.update()
        return self.figure

    def restyle_models(self) -> None:
        """Apply `look`; see `RedrawnView.restyle_models`."""
        self.picture.restyle(self.look, self._time_lines())

    def command(self, verb: str) -> None:
        """Obey ``live`` and ``fit``; see `TimeSeries.command`."""
        self.picture.command(verb)
        self._drawn = None

    def shown(self) -> object:
        """Return what differs when the picture has to; see `RedrawnView.shown`."""
        store = self.store
        known = (store.series.version, store.scheduler, store.nthreads.version)
        return known, self.look, pane_size(self.figure), self.picture.place

    def redraw(self) -> None:
        """Add the points that came; see `RedrawnView.redraw`."""
        self.picture.say(*self._titles())
        for name in (line.name for line in self.lines):
            line = self.store.series.get(name)
            self.picture.set(name, line.times, line.mean, line.low, line.high)
        empty = self._empty_words()
        self.notice = Notice(
            empty=empty, note="" if empty else self._note(), behind_s=self.picture.behind_s
        )

    def _empty_words(self) -> str:
        series = self.store.series
        if not len(series):
            return no_workers(self.store)
        return "" if set(series.names) & {line.name for line in self.lines} else self.missing

    def _titles(self) -> Sequence[str]:
        """Return what is true now, in ever fewer words: that it is a mean goes late.

        It would be taken for the sum of all.
        """
        series = self.store.series
        if not len(series):
            return ("",)
        last = [(line.title, series.get(line.name)) for line in self.lines]
        known = [(title, of.mean[-1], of.n[-1]) for title, of in last if of.n[-1]]
        if not known:
            return (f"{self.heading}: unknown",)
        told = [(WRITE[self.unit](float(mean)), title) for title, mean, _ in known]
        words = ", ".join(f"{value} {title}" for value, title in told)
        whole, number = f"{self.heading}: {words}", round(max(n for *_, n in known))
        if number == 1:
            return (whole,)
        mean_of = f"mean of {self._counted(number)}"
        shorter = [f"M{mean_of[1:]}: {words}"]
        shorter += [f"Mean: {said}" for said in (words, _fewer_words(told), *_figures(told))]
        full = f"{whole} · {mean_of}"
        return (f"{full}, band from lowest to highest", full, *shorter)

    def _counted(self, number: int) -> str:
        of = self._mean_of()
        return f"{fmt.count(number)} {_PLURAL.get(of, f'{of}s')}"

    def _note(self) -> str:
        shared = sharing_words(self.store.workers) if self._is_of_processes() else ""
        counted = f"{shared}, counted once" if shared else ""
        return "; ".join(words for words in (self._since(), counted) if words)

    def _mean_of(self) -> str:
        is_shared = self._is_of_processes() and self.store.workers.processes.n_shared
        return "process" if is_shared else self.of

    def _is_of_processes(self) -> bool:
        return all(line.name in OF_PROCESS for line in self.lines)

    def _since(self) -> str:
        scheduler, times = self.store.scheduler, self.store.series.get(self.lines[0].name).times
        if scheduler is None or times[0] - scheduler.started < _LATE_S:
            return ""
        since = clock.strftime("%H:%M:%S", clock.localtime(times[0]))
        earlier = fmt.duration(float(times[0]) - scheduler.started)
        return f"recorded since {since}; the scheduler had been running for {earlier} by then"

    def table(self) -> Table:
        """Return one row a point in time."""
        columns: dict[str, Sequence[Any]] = {}  # numbers and None
        units = {"time": "s"}
        for line in self.lines:
            series = self.store.series.get(line.name)
            columns.setdefault("time", series.times.tolist())
            for kind in ("mean", "low", "high", "total"):
                name = f"{line.title.replace(' ', '_')}_{kind}"
                values = getattr(series, kind).tolist()
                columns[name] = [value if np.isfinite(value) else None for value in values]
                if self.unit in _UNITS:
                    units[name] = _UNITS[self.unit]
        return Table(columns, units)


def _fewer_words(told: Sequence[tuple[str, str]]) -> str:
    """Return values and what they are of, but for the longest of the words."""
    longest = max((title for _, title in told), key=len)
    return ", ".join(value if title == longest else f"{value} {title}" for value, title in told)


def _figures(told: Sequence[tuple[str, str]]) -> Sequence[str]:
    """Return the values of several lines in their order, then those of fewer and fewer."""
    values = [value for value, _ in told]
    return [", ".join(values[:n]) for n in range(len(values), 0, -1)] if len(values) > 1 else []


class CpuSeries(WorkerSeries):
    """CPU of the worker processes over time."""

    lines = (SeriesLine("cpu", "CPU", "load_normal"),)
    unit = "percent"
    heading = "CPU over time"


class MemorySeries(WorkerSeries):
    """Memory of the worker processes and what they spilled, over time."""

    lines = (
        SeriesLine("memory", "process memory", "memory_ok"),
        SeriesLine("spilled", "spilled", "spilled"),
    )
    unit = "bytes"
    heading = "Memory over time"


class NetworkSeries(WorkerSeries):
    """Network traffic of the hosts over time."""

    lines = (
        SeriesLine(wm.NETWORK_READ, "received", "incoming"),
        SeriesLine(wm.NETWORK_WRITE, "sent", "outgoing"),
    )
    unit = "rate"
    heading = "Network over time"
    of = "host"
    missing = "No worker tells the network traffic of its host yet; heartbeats bring it."


class DiskSeries(WorkerSeries):
    """Disk traffic of the hosts over time."""

    lines = (
        SeriesLine(wm.DISK_READ, "read", "incoming"),
        SeriesLine(wm.DISK_WRITE, "written", "outgoing"),
    )
    unit = "rate"
    heading = "Disk over time"
    of = "host"
    missing = (
        "No worker tells the disk traffic of its host. Either no heartbeat has come yet, or "
        "distributed.admin.system-monitor.disk is off or the system does not count it."
    )
