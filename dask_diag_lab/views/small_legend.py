"""A legend of one quiet line below the plot, whose entries need no data to be there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bokeh.models import ColumnDataSource, Scatter
from bokeh.models.annotations import Legend, LegendItem
from bokeh.plotting import figure

from dask_diag_lab.views.figure import set_properties
from dask_diag_lab.views.pane_size import CHARACTER_PX

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
    hatch: str | None = None
    hatch_color: str = "#000000"


class SmallLegend:
    """The legend of a figure; made once, recoloured with the look, hidden where room is short."""

    def __init__(self, plot: figure, entries: Sequence[Entry]) -> None:
        # One point that is nowhere: a legend draws no swatch for a renderer without data.
        nowhere = ColumnDataSource({"x": [float("nan")], "y": [float("nan")]})
        self._renderers = [plot.add_glyph(nowhere, Scatter(x="x", y="y")) for _ in entries]
        self._characters = sum(len(entry.label) for entry in entries)
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
        self._legend.update(items=self._items(entries), padding=0)
        plot.add_layout(self._legend, "below")
        self.restyle(entries)

    def _items(self, entries: Sequence[Entry]) -> list[LegendItem]:
        items = []
        for entry, renderer in zip(entries, self._renderers, strict=True):
            item = LegendItem(label=entry.label)
            item.update(renderers=[renderer])
            items.append(item)
        return items

    def restyle(self, entries: Sequence[Entry]) -> None:
        """Give the swatches their colours anew; the entries are those of before."""
        for entry, renderer in zip(entries, self._renderers, strict=True):
            set_properties(
                renderer.glyph,
                marker=entry.marker,
                size=10,
                fill_color=entry.fill,
                fill_alpha=entry.alpha,
                line_color=entry.line,
                hatch_pattern=entry.hatch,
                hatch_color=entry.hatch_color,
                hatch_scale=5,
            )

    def show(self, *, is_shown: bool, width: int = 0) -> None:
        """Show the line where it fits into ``width`` pixels, or hide it."""
        needed = self._characters * CHARACTER_PX
        needed += len(self._renderers) * (_SWATCH_PX + _SPACING_PX + 4)
        set_properties(self._legend, visible=is_shown and bool(self._renderers) and needed <= width)
