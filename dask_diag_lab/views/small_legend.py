"""A quiet legend below the plot, whose entries need no data to be there: one line, or a few."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from bokeh.core.properties import field
from bokeh.models import ColumnDataSource, Scatter
from bokeh.models.annotations import Legend, LegendItem
from bokeh.plotting import figure

from dask_diag_lab.views.figure import add_glyph, set_properties
from dask_diag_lab.views.pane_size import CHARACTER_PX

NO_HATCH: Final = "blank"
_LOOKS: Final = {
    "marker": "marker",
    "fill_color": "fill",
    "fill_alpha": "alpha",
    "line_color": "line",
    "hatch_pattern": "hatch",
    "hatch_color": "hatch_color",
}
"""Properties of a swatch, and the parts of an entry that give them."""
_SWATCH_PX: Final = 20
"""Of a line too; the swatch itself is less than half as large."""
_STANDOFF_PX: Final = (4, 0)
"""Between swatch and word; the second one of several lines."""
_SPACING_PX: Final = (10, 4)
_EDGE_PX: Final = 8
_LOWEST_PX: Final = 220
"""A lower figure has no room for a legend."""
_MOST_LINES: Final = 3


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry: a square (or other Bokeh marker) of ``fill``, outlined where ``line`` is given.

    ``hatch`` is a Bokeh hatch pattern drawn in ``hatch_color``.
    """

    label: str
    fill: str | None
    line: str | None = None
    alpha: float = 1.0
    marker: str = "square"
    hatch: str = NO_HATCH
    hatch_color: str = "#000000"


class SmallLegend:
    """The legend of a figure; made once, recoloured with the look, hidden where room is short.

    Attributes
    ----------
    n_lines : int
        Lines that are shown.
    """

    def __init__(self, plot: figure, entries: Sequence[Entry]) -> None:
        self._swatches = ColumnDataSource(data={name: [] for name in ("x", "y", *_LOOKS)})
        by_row: dict[str, Any] = {name: field(name) for name in _LOOKS}  # of several Bokeh types
        swatch = Scatter(x="x", y="y", size=10, hatch_scale=5, **by_row)
        renderer = add_glyph(plot, self._swatches, swatch)
        self._labels = [entry.label for entry in entries]
        self.n_lines = 0
        self._legend = Legend(
            orientation="horizontal",
            location="left",
            visible=False,
            margin=0,
            spacing=_SPACING_PX[0],
            label_standoff=_STANDOFF_PX[0],
            glyph_width=_SWATCH_PX,
            glyph_height=_SWATCH_PX,
            label_height=11,
        )
        items = [LegendItem(label=entry.label, index=i) for i, entry in enumerate(entries)]
        for item in items:
            item.update(renderers=[renderer])
        self._legend.update(items=items, padding=0)
        plot.add_layout(self._legend, "below")
        self.restyle(entries)

    def restyle(self, entries: Sequence[Entry]) -> None:
        """Give the swatches their colours anew; the entries are those of before."""
        nowhere = [float("nan")] * len(entries)
        looks = {name: [getattr(entry, of) for entry in entries] for name, of in _LOOKS.items()}
        if any(self._swatches.data[name] != values for name, values in looks.items()):
            self._swatches.data = {"x": nowhere, "y": nowhere, **looks}

    def show(self, *, is_shown: bool, width: int = 0, most_lines: int = 1) -> None:
        """Show the legend where it fits into ``width`` pixels and so many lines, or hide it."""
        self.n_lines = self._lines(width, most_lines) if is_shown else 0
        set_properties(self._legend, visible=bool(self.n_lines))
        if self.n_lines:
            spacing, standoff = (px[self.n_lines > 1] for px in (_SPACING_PX, _STANDOFF_PX))
            columns = self._columns(self.n_lines)
            set_properties(self._legend, ncols=columns, spacing=spacing, label_standoff=standoff)

    def height_px(self, width: int, most_lines: int = 1) -> int:
        """Return how high the legend is where it is shown in that room, 0 where it does not fit."""
        return _height_px(self._lines(width, most_lines))

    @property
    def shown_px(self) -> int:
        """Height that it takes now."""
        return _height_px(self.n_lines)

    def _lines(self, width: int, most_lines: int) -> int:
        lines = range(1, most_lines + 1) if self._labels else ()
        return next((n for n in lines if self._width_px(n) <= width), 0)

    def _columns(self, n_lines: int) -> int:
        return -(-len(self._labels) // n_lines)

    def _width_px(self, n_lines: int) -> float:
        """Return how wide the legend is in so many lines, whose entries are in columns."""
        columns, is_wrapped = self._columns(n_lines), n_lines > 1
        longest = (max(map(len, self._labels[column::columns])) for column in range(columns))
        more = _SWATCH_PX + _STANDOFF_PX[is_wrapped] + _SPACING_PX[is_wrapped]
        return sum(longest) * CHARACTER_PX + columns * more + is_wrapped * _EDGE_PX


def _height_px(n_lines: int) -> int:
    return max(n_lines * (_SWATCH_PX + _SPACING_PX[1]) - 2, 0)


def lines_for(height: float) -> int:
    """Return how many lines of a legend a figure of that many pixels has room for."""
    return 0 if height < _LOWEST_PX else _MOST_LINES
