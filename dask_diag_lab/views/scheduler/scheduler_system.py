"""The scheduler's own process over time: CPU, memory, the network of its host, open files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np
from bokeh.models import Column, Row

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.base import Notice, Table
from dask_diag_lab.views.figure import set_properties
from dask_diag_lab.views.palette import data_colors
from dask_diag_lab.views.pane_size import pane_size
from dask_diag_lab.views.redrawn import RedrawnView
from dask_diag_lab.views.scheduler.costs import WAITING
from dask_diag_lab.views.series_unit import Unit
from dask_diag_lab.views.time_series import TimeLine, TimeSeries

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bokeh.models.ui import UIElement

    from dask_diag_lab.views.look import Look

BUSY_PERCENT: Final = 80.0
"""Of one core: the scheduler's loop is one thread, so it cannot do much more."""


@dataclass(frozen=True, slots=True)
class _Chart:
    """One of the small charts: its title, unit, and the columns it draws with their words."""

    title: str
    unit: Unit
    columns: Sequence[tuple[str, str]]


_CHARTS: Final = (
    _Chart("CPU", "percent", (("cpu", "CPU"),)),
    _Chart("Memory", "bytes", (("memory", "Memory"),)),
    _Chart("Network of its host", "rate", (("read_bps", "In"), ("write_bps", "Out"))),
    _Chart("Open files", "number", (("fds", "Open files"),)),
)


_WRITERS: Final[Mapping[str, fmt.Writer]] = {
    "percent": lambda value: f"{fmt.significant(value)} %",
    "bytes": fmt.binary,
    "rate": lambda value: fmt.si(value, "B/s"),
}


class SchedulerSystem(RedrawnView):
    """Four small charts of the table ``system``."""

    needs = frozenset({"system"})
    moves_itself: ClassVar[bool] = True

    def build(self) -> UIElement:
        """Return two rows of two charts; see `View.build`."""
        self._charts = [
            TimeSeries(self.look, _lines(chart, self.look), unit=chart.unit, band=False)
            for chart in _CHARTS
        ]
        models: list[UIElement] = [chart.model for chart in self._charts]
        rows: list[UIElement] = [
            Row(children=models[:2], sizing_mode="stretch_both", spacing=0),
            Row(children=models[2:], sizing_mode="stretch_both", spacing=0),
        ]
        self._root = Column(children=rows, sizing_mode="stretch_both", spacing=0)
        self.restyle()
        return self._root

    def restyle_models(self) -> None:
        """Apply `look`; see `RedrawnView.restyle_models`."""
        set_properties(self._root, styles={"background-color": self.look.background})
        for chart, series in zip(_CHARTS, self._charts, strict=True):
            series.restyle(self.look, _lines(chart, self.look))

    def command(self, verb: str) -> None:
        """Pass ``live`` and ``fit`` on to the charts."""
        for series in self._charts:
            series.command(verb)

    def shown(self) -> object:
        """Return what differs when the picture has to; see `RedrawnView.shown`."""
        places = tuple((series.place, pane_size(series.model)) for series in self._charts)
        return self.store.extras["system"].version, places, self.look

    def redraw(self) -> None:
        """Draw the samples; see `RedrawnView.redraw`."""
        system = self.store.extras["system"]
        if not len(system):
            self.notice = Notice(empty=WAITING if not system.is_known else "No sample yet.")
            return
        times = system["time"]
        for chart, series in zip(_CHARTS, self._charts, strict=True):
            series.say(*_titles(chart, [float(system[name][-1]) for name, _ in chart.columns]))
            for name, _ in chart.columns:
                series.set(name, times, system[name])
        self.notice = Notice(note=self._note())

    def _note(self) -> str:
        """Say what is wrong, where anything is."""
        recent = self.store.extras["system"]["cpu"][-10:]
        cpu = float(np.mean(recent))
        if cpu < BUSY_PERCENT:
            return ""
        return (
            f"The scheduler uses {fmt.count(cpu)} % of a core: it may be what tasks wait for."
            " Fewer and larger tasks help."
        )

    def table(self) -> Table:
        """Return every sample."""
        system = self.store.extras["system"]
        units = {column.name: column.unit for column in system.extra.columns if column.unit}
        return Table({name: system[name].tolist() for name in system.columns}, units)


def _lines(chart: _Chart, look: Look) -> list[TimeLine]:
    colors = data_colors(look)
    shades = (colors.load_normal, colors.transfer)
    return [TimeLine(name, title, shades[at]) for at, (name, title) in enumerate(chart.columns)]


def _titles(chart: _Chart, values: Sequence[float]) -> Sequence[str]:
    """Return what is true now, in ever fewer words."""
    write = _WRITERS.get(chart.unit, fmt.count)
    said = [write(value) for value in values]
    if len(said) == 1:
        return (f"{chart.title}: {said[0]}",)
    words = [
        f"{text} {title.lower()}" for text, (_, title) in zip(said, chart.columns, strict=True)
    ]
    short = chart.title.split(" ")[0]
    return f"{chart.title}: {', '.join(words)}", f"{short}: {', '.join(words)}"
