"""Plots that are rows of data: what their columns mean, and the table that follows from it.

Also what plots have in common that are worked out off the loop, such as sums of the action log.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Generic, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from dask_diag_lab.jobs import Latest
from dask_diag_lab.store.sums import ALL, Sums
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.view import Caption, Control, LegendItem, Table, View

ColumnData = npt.NDArray[Any] | Sequence[Any]  # dtypes differ from column to column
Rows = Mapping[str, ColumnData]
"""Columns of equal length, by name."""

Unit = Literal["text", "key", "number", "count", "bytes", "rate", "percent", "seconds", "time"]
"""How a value is written.

``key`` is text whose end stays where it is shortened; ``count`` what there are no halves of;
``rate`` bytes a second; ``percent`` of values where 100 is everything; ``time`` seconds since the
epoch, written as time of day.
"""

MOMENT: Final = "s since the epoch"
"""Unit of a moment in a table: the page writes it as date and time of its reader."""
TABLE_UNITS: Final[Mapping[str, str]] = {
    "bytes": "B",
    "rate": "B/s",
    "percent": "%",
    "seconds": "s",
    "time": MOMENT,
}
"""The unit of a column in the table of a plot."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a plot's rows.

    Attributes
    ----------
    name : str
        Key in what `DataPlot.rows` returns, and in the plot's table.
    label : str
        What people read: the header of a table, a line of a tooltip.
    unit : str
        See `Unit`.
    share_of : str
        Column of which this one's share is shown as well; ``"sum"``: of the sum of all rows.
    adds : bool
        Whether numbers of several rows may be added up; of others a sum of rows has the range.
    shown : bool
        Whether tooltips have it.
    in_table : bool
        Whether the table has it.
    width : int
        Pixels in a `TablePlot`; 0: the usual one of the unit.
    """

    name: str
    label: str = ""
    unit: Unit = "text"
    share_of: str = ""
    adds: bool = True
    shown: bool = True
    in_table: bool = True
    width: int = 0

    @property
    def is_text(self) -> bool:
        return self.unit in ("text", "key")


class DataPlot(View):
    """A plot of rows: `rows` has the data, `columns` what it means.

    Attributes
    ----------
    columns : sequence of Column
        What tooltips and table have, in their order.
    empty : str
        Why there are no rows, and what to do; see `why_empty`.
    """

    columns: Sequence[Column] = ()
    empty: ClassVar[str] = "There is nothing to show yet."

    @abstractmethod
    def rows(self) -> Rows:
        """Return columns of equal length from ``self.history``: always the same names."""

    def headline(self) -> str:
        """Return one line with what matters now, most important first; there are rows."""
        return ""

    def note(self) -> str:
        """Return what was left out, merged or is an estimate; '' for nothing."""
        return ""

    def legend(self, rows: Rows) -> Sequence[LegendItem]:
        """Return what colours and marks mean."""
        del rows
        return ()

    def facts(self, rows: Rows) -> Sequence[tuple[str, str]]:
        """Return figures of the whole, such as totals, as label and value."""
        del rows
        return ()

    def own_controls(self) -> Sequence[Control]:
        """Return what the reader can set beside what its kind of plot has; also without rows."""
        return ()

    def controls(self, rows: Rows) -> Sequence[Control]:
        """Return what the reader can set where there are rows."""
        del rows
        return self.own_controls()

    def why_empty(self) -> str:
        """Return why there are no rows, and what to do."""
        return self.empty

    def draw_rows(self, rows: Rows) -> None:
        """Bring the picture, without its caption, up to date; there may be no rows."""

    def draw(self) -> None:
        """Draw the rows, and what stands around them; see `View.draw`."""
        rows = self.rows()
        self.draw_rows(rows)
        if not length(rows):
            self.caption = Caption(empty=self.why_empty(), controls=self.own_controls())
            return
        self.caption = Caption(
            headline=self.headline(),
            legend=self.legend(rows),
            controls=self.controls(rows),
            facts=self.facts(rows),
            note=self.note(),
        )

    def table(self) -> Table:
        """Return the rows; see `View.table`."""
        rows = self.rows()
        columns = self.columns or [Column(name) for name in rows]
        cells = {c.name: plain_column(rows[c.name]) for c in columns if c.in_table}
        units = {c.name: TABLE_UNITS[c.unit] for c in columns if c.unit in TABLE_UNITS}
        return Table(cells, {name: unit for name, unit in units.items() if name in cells})


def length(rows: Rows) -> int:
    """Return how many rows there are."""
    return len(next(iter(rows.values()), ()))


def plain_column(column: ColumnData) -> Sequence[Any]:
    """Return a column as plain values, None for what is not known."""
    if not isinstance(column, np.ndarray):
        return list(column)
    if column.dtype.kind == "f" and not np.isfinite(column).all():
        return [value if np.isfinite(value) else None for value in column.tolist()]
    values: list[Any] = column.tolist()
    return values


REST: Final = 20.0
"""Times as long as it took to work out, it is not worked out anew."""

T = TypeVar("T")


class JobView(View, Generic[T]):
    """A plot, or a part of one, of what is worked out off the loop, again when it has changed."""

    def set_up(self) -> None:
        """Make what it keeps; see `View.set_up`."""
        super().set_up()
        self._latest: Latest[T] = Latest(self.live.jobs, rest=REST)

    def state(self) -> object:
        """Return whether there is a new one; see `View.state`."""
        return super().state(), self._latest.version

    @property
    def is_behind(self) -> bool:
        """Whether a newer one is to come; see `View.is_behind`."""
        return super().is_behind or self._latest.is_late


class SumsView(JobView[Sums]):
    """A plot, or a part of one, of the sums of the action log over `View.period`."""

    has_period: ClassVar[bool] = True

    @property
    def sums(self) -> Sums | None:
        """The newest sums that there are; None before the first."""
        actions = self.history.actions
        return self._latest.get_or_start(self.period, actions.version, actions.sums(self.period))

    @property
    def since_text(self) -> str:
        """Which time the sums are of."""
        if self.period != ALL:
            return self.period_text
        begins = self.history.busy.start  # also of what the log gave up
        return f"since {fmt.clock(float(begins[0]))}" if len(begins) else ""
