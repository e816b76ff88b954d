"""A legend of one quiet line below the plot, whose entries need no data to be there."""

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
_SPACING_PX: Final = 10


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
    """The legend of a figure; made once, recoloured with the look, hidden where room is short."""

    def __init__(self, plot: figure, entries: Sequence[Entry]) -> None:
        self._swatches = ColumnDataSource(data={name: [] for name in ("x", "y", *_LOOKS)})
        by_row: dict[str, Any] = {name: field(name) for name in _LOOKS}  # of several Bokeh types
        swatch = Scatter(x="x", y="y", size=10, hatch_scale=5, **by_row)
        renderer = add_glyph(plot, self._swatches, swatch)
        self._characters = sum(len(entry.label) for entry in entries)
        self._n_entries = len(entries)
        self._legend = Legend(
            orientation="horizontal",
            location="left",
            visible=False,
            margin=0,
            spacing=_SPACING_PX,
            label_standoff=4,
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

    def show(self, *, is_shown: bool, width: int = 0) -> None:
        """Show the line where it fits into ``width`` pixels, or hide it."""
        needed = self._characters * CHARACTER_PX
        needed += self._n_entries * (_SWATCH_PX + _SPACING_PX + 4)
        set_properties(self._legend, visible=is_shown and bool(self._n_entries) and needed <= width)
