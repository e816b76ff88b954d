"""What the scheduler counts: each counter with its sum and how fast it grows."""

from __future__ import annotations

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
        return self.store.extras["counters"].version

    def redraw(self) -> None:
        """Show all counters; see `RedrawnView.redraw`."""
        counters = self.store.extras["counters"]
        if not len(counters):
            self._table.set({column.name: [] for column in COLUMNS})
            self.notice = Notice(empty=EMPTY if counters.is_known else WAITING)
            return
        names, values = counters["name"].tolist(), counters["value"]
        self._table.set(
            {
                "name": names,
                "value": values,
                "growth": self._growth(names, values),
                "unit": counters["unit"].tolist(),
            }
        )
        self.notice = Notice(note=f"{fmt.plural(len(names), 'counter')} since the scheduler began")

    def _growth(self, names: list[str], values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the growth a second of each, NaN before there is anything to compare with."""
        now = self.store.time
        self._seen.append((now, dict(zip(names, values.tolist(), strict=True))))
        while len(self._seen) > 2 and now - self._seen[1][0] >= WINDOW_S:
            self._seen.pop(0)
        then, before = self._seen[0]
        if now - then <= 0:
            return np.full(len(names), np.nan)
        old = np.array([before.get(name, 0.0) for name in names])
        growth: npt.NDArray[np.float64] = (values - old) / (now - then)
        return growth

    def table(self) -> Table:
        """Return name, sum and unit of each counter."""
        counters = self.store.extras["counters"]
        return Table({name: counters[name].tolist() for name in ("name", "value", "unit")})
