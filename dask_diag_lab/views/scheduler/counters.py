"""What the scheduler counts: each counter with its sum and how fast it grows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.base import Notice, Table
from dask_diag_lab.views.data_table import SortableTable, TableColumn
from dask_diag_lab.views.redrawn import RedrawnView
from dask_diag_lab.views.scheduler.costs import WAITING

if TYPE_CHECKING:
    from bokeh.models.ui import UIElement

EMPTY: Final = "The scheduler has counted nothing yet. Run something, and counters appear here."
WINDOW_S: Final = 10.0
"""Over which the growth is measured: long enough to be read, short enough to be of now."""

COLUMNS: Final = (
    TableColumn("name", "Counter", "text", 176),
    TableColumn("value", "Sum", "number", 92),
    TableColumn("growth", "A second", "number", 84),
    TableColumn("unit", "Unit", "text", 60),
)


class Counters(RedrawnView):
    """The table ``counters``, sortable, with the growth of each over the last seconds."""

    needs = frozenset({"counters"})

    def build(self) -> UIElement:
        """Return the table; see `View.build`."""
        self._table = SortableTable(self.look, COLUMNS)
        self._seen: list[tuple[float, dict[str, float]]] = []
        self.restyle()
        model: UIElement = self._table.model
        return model

    def restyle_models(self) -> None:
        """Apply `look`; see `RedrawnView.restyle_models`."""
        self._table.restyle(self.look)

    def shown(self) -> object:
        """Return what differs when the table has to; see `RedrawnView.shown`."""
        return self.store.extras["counters"].version, self._is_over

    def redraw(self) -> None:
        """Show all counters; see `RedrawnView.redraw`."""
        counters = self.store.extras["counters"]
        if not len(counters):
            self._table.set({column.name: [] for column in COLUMNS})
            self.notice = Notice(empty=EMPTY if counters.is_known else WAITING)
            return
        names, values = counters["name"].tolist(), counters["value"]
        self._see(counters.told_at, dict(zip(names, values.tolist(), strict=True)))
        self._table.set(
            {
                "name": names,
                "value": values,
                "growth": self._growth(names, values),
                "unit": counters["unit"].tolist(),
            }
        )
        is_early = len(self._seen) < 2 and not self._is_over
        later = " · how fast they grow takes two readings" if is_early else ""
        self.notice = Notice(note=f"{self._about_sums(len(names))}{later}")

    @property
    def _is_over(self) -> bool:
        """Whether nothing is told any more, so that what grew before does not grow now."""
        return self.store.feed_state.state in ("lost", "closed")

    def _see(self, now: float, sums: dict[str, float]) -> None:
        """Keep the sums of ``now`` and those that they are compared with."""
        if self._seen and now - self._seen[-1][0] > WINDOW_S:
            self._seen.clear()  # nobody looked meanwhile: that growth would not be of now
        if not self._seen or now > self._seen[-1][0]:
            self._seen.append((now, sums))
        while len(self._seen) > 2 and now - self._seen[1][0] >= WINDOW_S:
            self._seen.pop(0)

    def _growth(self, names: list[str], values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the growth a second of each, NaN where nothing is there to compare."""
        if self._is_over or len(self._seen) < 2:
            return np.full(len(names), np.nan)
        (then, before), (now, _) = self._seen[0], self._seen[-1]
        old = np.array([before.get(name, 0.0) for name in names])
        growth = (values - old) / (now - then)
        return np.where(growth >= 0, growth, np.nan)  # what fell is of another scheduler

    def _about_sums(self, number: int) -> str:
        """Return what the sums are of, and of when where nobody has looked for a while."""
        told_at = self.store.extras["counters"].told_at
        is_old = self.store.time - told_at > WINDOW_S
        as_of = f" · as of {fmt.clock(told_at)}" if is_old else ""
        return f"{fmt.plural(number, 'counter')} since the scheduler began{as_of}"

    def table(self) -> Table:
        """Return name, sum and unit of each counter."""
        counters = self.store.extras["counters"]
        if len(counters):
            self.notice = replace(self.notice, note=self._about_sums(len(counters)))
        return Table({name: counters[name].tolist() for name in ("name", "value", "unit")})
