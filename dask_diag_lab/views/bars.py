"""Plots of horizontal bars, a row for each worker, host or prefix: declared here, laid out in JS.

A subclass says what a bar is made of and what its columns mean, as class attributes, and returns
the data in `rows`. How many rows there is room for, how they are sorted, merged, shortened and
scrolled, the axis and the tooltips are the business of `models.BarChart` in the browser.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

import numpy as np

from dask_diag_lab.views.data import Column, ColumnData, DataPlot, Rows, length
from dask_diag_lab.views.figure import Source, set_properties
from dask_diag_lab.views.look import data_colors, shade
from dask_diag_lab.views.models import BarChart
from dask_diag_lab.views.view import Control, LegendItem

if TYPE_CHECKING:
    from bokeh.models.ui import UIElement


SPECIAL: Final = ("host", "level_index", "remark", "color")
"""Columns that rows may have beside those that are declared; see `BarPlot.rows`."""

ROWS: Final = (("auto", "as they fit"), ("each", "each"), ("host", "by host"))
ORDERS: Final = (("size", "by size"), ("name", "by name"))

_AS_IT_IS: Final = (
    *("is_split", "merged_level", "limit", "track", "marks", "end", "noun", "label", "sort_by"),
    *("merges", "order", "keeps"),
)
"""Attributes that the browser is told."""

_SENT_AS: Final = {"f8": np.float32, "f4": np.float32, "u1": np.uint8}
"""Numbers are sent with as many digits as anybody can see; all others as float64."""

_FEW: Final = 8
"""So many rows fit in any pane: there is no question of putting some together."""
_FEW_PARTS: Final = 4
"""So many parts stay in the legend while no row has them."""


@dataclass(frozen=True, slots=True)
class Part:
    r"""One part of each bar.

    Attributes
    ----------
    column : str
        Its length, in `BarPlot.unit`; NaN where it is not known.
    label : str
        In the legend; '' has none.
    color : str
        Attribute of `palette.DataColors`, or ``#rrggbb``; '' for the colour of the row.
    alpha : float
    hatch : str
        Pattern over the colour, one of ``/ \ - | + x .``; '' for none.
    """

    column: str
    label: str = ""
    color: str = ""
    alpha: float = 1.0
    hatch: str = ""


@dataclass(frozen=True, slots=True)
class Level:
    """One of the colours that a row may have.

    Attributes
    ----------
    color : str
        Attribute of `palette.DataColors`, or ``#rrggbb``.
    sign : str
        Stands before the number of the row: colour is never the only signal.
    label : str
        In the legend, where levels have one.
    hatch : str
        Pattern over the whole bar, as of `Part`; with it, the level is in the legend while a row
        has it.
    """

    color: str
    sign: str = ""
    label: str = ""
    hatch: str = ""


class BarPlot(DataPlot):
    """A horizontal bar for each row.

    Attributes
    ----------
    parts : sequence of Part
        What a bar is made of, from the left, or from the top where `is_split`.
    is_split : bool
        Whether the parts of a bar lie below each other, each from 0.
    levels : sequence of Level
        What the column ``level_index`` counts; without that column all rows have the first.
    merged_level : {'most', 'worst'}
        Which level rows take that are put together: that of most of them, or the largest.
    value : sequence of str
        Columns that are written beside a bar; of several, those that are not 0. ``signs`` go
        before them.
    signs : sequence of str
    keeps : {'value', 'remark', 'all'}
        What is written where not all of it fits beside the bars: value or remark alone, or all of
        it, with the name, above each bar.
    limit : str
        Column with the length that a bar should not pass: a strong line, and a quiet bar up to it.
    track : str
        Column with the length of the quiet bar where there is no limit; '' for the whole width.
    marks : sequence of (label, share)
        Thin lines at shares of the limit; set on the instance where they change.
    end : float
        Where the axis ends; 0: a round number above the longest bar.
    noun, nouns : str
        What a row stands for.
    label : str
        Column that is written beside the bars.
    key : str
        Column that tells rows apart; it is given to `open_row`.
    sort_by : str
        Column that rows are sorted by, where they are; '' for the sum of the parts.
    order : {'own', 'size', 'name'}
        How rows are sorted while all fit.
    merges : {'mean', 'sum', 'none'}
        What becomes of rows that do not fit: groups of like rows with their mean, one bar with
        the sum of the smallest, or nothing: they can be scrolled to.
    """

    parts: Sequence[Part] = ()
    is_split: ClassVar[bool] = False
    levels: ClassVar[Sequence[Level]] = (Level("load_normal"),)
    merged_level: ClassVar[Literal["most", "worst"]] = "most"
    value: ClassVar[Sequence[str]] = ()
    signs: ClassVar[Sequence[str]] = ()
    keeps: ClassVar[Literal["value", "remark", "all"]] = "value"
    limit: ClassVar[str] = ""
    track: ClassVar[str] = ""
    marks: Sequence[tuple[str, float]] = ()
    end: ClassVar[float] = 0.0
    noun: ClassVar[str] = "row"
    nouns: ClassVar[str] = ""
    label: ClassVar[str] = "name"
    key: ClassVar[str] = "name"
    sort_by: ClassVar[str] = ""
    order: Literal["own", "size", "name"] = "own"
    merges: ClassVar[Literal["mean", "sum", "none"]] = "mean"

    _merging: str = "auto"

    def set_up(self) -> None:
        """Make what it keeps; see `View.set_up`."""
        self._source = Source(is_patched=True)

    # --- what a subclass says beside its attributes

    @abstractmethod
    def rows(self) -> Rows:
        """Return columns of equal length from ``self.history``: always the same names.

        Beside the columns that the attributes name these have a meaning: ``host``, by which rows
        may be put together; ``level_index``, the number of one of `levels`; ``remark``, a word or
        two about a row, such as why it has its level; ``color``, ``#rrggbb`` of a row.
        """

    def open_row(self, key: str) -> None:
        """Open what a click on a row asks for."""

    def legend(self, rows: Rows) -> Sequence[LegendItem]:
        """Return the legend: levels with a pattern that rows have, then parts; else all levels.

        Parts without a colour of their own are shown in the colour that most rows have; of many
        parts only those are there that a row has.
        """
        levels = Counter(np.asarray(rows.get("level_index", [0])).tolist())
        row_color = self._color(self.levels[levels.most_common(1)[0][0]].color)
        parts = [
            LegendItem(
                part.label,
                self._color(part.color) or row_color,
                "hatch" if part.hatch else "fill",
                part.alpha,
            )
            for part in self.parts
            if part.label
            and (len(self.parts) <= _FEW_PARTS or np.any(np.asarray(rows[part.column]) > 0))
        ]
        return [
            LegendItem(level.label, self._color(level.color), "hatch" if level.hatch else "fill")
            for index, level in enumerate(self.levels)
            if level.label and (not parts or (level.hatch and index in levels))
        ] + parts

    # --- the picture

    def build(self) -> UIElement:
        """Return the chart; see `View.build`."""
        self.chart = BarChart(source=self._source.model, sizing_mode="stretch_both", margin=0)
        self.chart.on_change("clicked", self._clicked)
        return self.chart

    def draw_rows(self, rows: Rows) -> None:
        """Send the columns that differ; see `DataPlot.draw_rows`."""
        if not length(rows):
            self._source.set({name: [] for name in self._source.model.data})
            return
        set_properties(self.chart, spec=json.dumps(self._spec(rows)), **self.look.style)
        columns: dict[str, ColumnData] = {}
        for name in self._used(rows):
            columns[name] = rows[name]
            if not isinstance(rows[name][0], str):
                numbers = np.asarray(rows[name])
                columns[name] = numbers.astype(_SENT_AS.get(numbers.dtype.str[1:], np.float64))
        self._source.set(columns)

    def state(self) -> object:
        """Return what the reader has set; see `View.state`."""
        return self._merging, self.order

    def set_control(self, name: str, value: str) -> None:
        """Put rows together, or order them, in another way; see `View.set_control`."""
        if name == "rows" and value in dict(ROWS):
            self._merging = value
        elif name == "order" and value in ("own", "size", "name"):
            self.order = value  # type: ignore[assignment]  # one of these

    def controls(self, rows: Rows) -> Sequence[Control]:
        """Return the controls of the plot, and those of its rows; see `DataPlot.controls`."""
        return [*self.own_controls(), *self._row_controls(rows)]

    def _row_controls(self, rows: Rows) -> Sequence[Control]:
        if self.merges == "sum" and self.order != "own":
            return [Control("order", "select", "Order", self.order, ORDERS)]
        if self.merges != "mean":
            return []
        n, hosts = length(rows), len(set(rows.get("host", ())))
        is_of_use = n > _FEW or 1 < hosts < n
        ways = ROWS if 1 < hosts < n else ROWS[:-1]
        return [Control("rows", "select", "Rows", self._merging, ways)] if is_of_use else []

    def _clicked(self, _attribute: str, _old: object, new: Sequence[str]) -> None:
        if new:
            self.open_row(new[0])

    def _used(self, rows: Rows) -> Sequence[str]:
        """Return the names of the columns that the chart reads."""
        shown = [column for column in self.columns if column.shown]
        names = [*SPECIAL, self.label, self.key, self.limit, self.track, self.sort_by, *self.value]
        names += [part.column for part in self.parts]
        names += [name for column in shown for name in (column.name, column.share_of)]
        return [name for name in dict.fromkeys(names) if name in rows]

    def _spec(self, rows: Rows) -> dict[str, Any]:
        """Return what `models.BarChart` is told of the columns, as JSON values."""
        columns = {column.name: column for column in self.columns}
        first = self.parts[0].column if self.parts else ""
        signs = zip_longest(self.value or [first], self.signs, fillvalue="")
        value = [{**asdict(columns.get(name, Column(name))), "sign": sign} for name, sign in signs]
        return {
            **{name: getattr(self, name) for name in _AS_IT_IS},
            "parts": [{**asdict(p), "color": self._color(p.color)} for p in self.parts],
            "levels": [{**asdict(v), "color": self._color(v.color)} for v in self.levels],
            "columns": [asdict(column) for column in self.columns if column.shown],
            "unit": next((columns[n].unit for n in (first, *self.value) if n in columns), "number"),
            "value": value,
            "nouns": self.nouns or f"{self.noun}s",
            "key": self.key if self.key in rows else self.label,
            "merging": self._merging,
            "opens": type(self).open_row is not BarPlot.open_row,
            "track_color": data_colors(self.look).track,
        }

    def _color(self, name: str) -> str:
        return shade(self.look, name) if name else ""
