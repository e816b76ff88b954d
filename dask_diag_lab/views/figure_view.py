"""A plot that is columns and one Bokeh figure: the short way to a plot of your own.

A subclass says which columns and how they are drawn; what every plot has to do is done here.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from bokeh.models import HoverTool
from bokeh.models.renderers import GlyphRenderer

from dask_diag_lab.views.base import Notice, Table, View, check_lengths
from dask_diag_lab.views.figure import (
    Source,
    quiet_figure,
    quiet_hover,
    restyle_figure,
    set_properties,
    tooltip_html,
)
from dask_diag_lab.views.scripted import SteadyRenderer
from dask_diag_lab.views.zero_base import ZeroBase

if TYPE_CHECKING:
    from bokeh.models import ColumnDataSource
    from bokeh.models.renderers import Renderer
    from bokeh.plotting import figure

    from dask_diag_lab.views.figure import ColumnData
    from dask_diag_lab.views.look import Look

_COLORS = ("fill_color", "line_color", "hatch_color", "text_color")


class FigureView(View):
    """A plot made of `columns`, drawn by `draw`.

    Its table, the words for an empty plot, the colours of the page and their change, and that
    nothing is sent while nothing changes come with it.

    Attributes
    ----------
    empty : str
        Said in the place of the picture while there are no rows: why, and what to do.
    units : mapping of str to str
        Unit of each column that has one, for the table.
    """

    empty: ClassVar[str] = "There is nothing to show yet."
    units: ClassVar[Mapping[str, str]] = {}

    _hover: tuple[str, ...] = ()
    _base = ZeroBase("xy")

    @abstractmethod
    def columns(self) -> Mapping[str, ColumnData]:
        """Return columns of equal length from ``self.store``: always the same names."""

    @abstractmethod
    def draw(self, source: ColumnDataSource) -> figure:
        """Return a figure, made with `new_figure`, that draws the columns of `source`; called once.

        Colours taken from ``self.look`` change with it.
        """

    def adjust(self, picture: figure, columns: Mapping[str, ColumnData]) -> None:
        """Fit ranges, title and the like to new columns."""

    def note(self) -> str:
        """Return what was left out, merged or is an estimate; '' for nothing."""
        return ""

    def new_figure(self, *, hover: Sequence[str] = (), **options: Any) -> figure:
        """Return an empty figure in the look of the page.

        Parameters
        ----------
        hover : sequence of str
            Lines of the hover, such as ``("@worker", "@tasks tasks")``; the first one is bold.
        **options
            What `bokeh.plotting.figure` takes; ``y_range=[]`` for an axis of names.
        """
        picture = quiet_figure(self.look, **options)
        picture.on_change("renderers", _make_steady)
        self._base = ZeroBase(dimension for dimension in "xy" if f"{dimension}_range" in options)
        self._hover = tuple(hover)
        if hover:
            picture.add_tools(quiet_hover(self.look, *hover))
        return picture

    def build(self) -> figure:
        """Return the figure that `draw` made."""
        self._seen = -1
        self._is_adjusted = True
        self._source = Source(*self.columns())
        self._drawn_in = self.look
        self._picture = self.draw(self._source.model)
        self._base.apply(self._picture)
        restyle_figure(self._picture, self.look)
        return self._picture

    def update(self) -> None:
        """Send the columns if they differ."""
        if self._seen == self.store.version:
            return
        version = self.store.version
        columns = self.columns()
        check_lengths(columns)  # Bokeh draws what it can of others, and says so in no place seen
        if self._source.set(columns) or not self._is_adjusted:
            self._is_adjusted = False
            self._base.check(self._picture, columns)
            self.adjust(self._picture, columns)
            self._is_adjusted = True
        has_rows = any(len(column) for column in columns.values())
        self.notice = Notice(empty="" if has_rows else self.empty, note=self.note())
        self._seen = version  # not before: what could not be drawn is tried, and told, again

    def table(self) -> Table:
        """Return the columns."""
        return Table(_lists(self.columns()), self.units)

    def restyle(self) -> None:
        """Take over the colours of the page, also where glyphs have them."""
        before, self._drawn_in = self._drawn_in, self.look
        restyle_figure(self._picture, self.look)
        new = _translation(before, self.look)
        for renderer in self._picture.renderers:
            if isinstance(renderer, GlyphRenderer):
                glyph = renderer.glyph
                old = {name: getattr(glyph, name, None) for name in _COLORS}
                set_properties(
                    glyph,
                    **{n: new[c] for n, c in old.items() if isinstance(c, str) and c in new},
                )
        for tool in self._picture.select(HoverTool):
            set_properties(tool, tooltips=tooltip_html(self.look, *self._hover))

    def show(self, arguments: Mapping[str, str]) -> None:
        """Show something else with the next update."""
        super().show(arguments)
        self._seen = -1


def _make_steady(_attr: str, old: Sequence[Renderer], new: Sequence[Renderer]) -> None:
    """Have what a figure's own methods add painted by `SteadyRenderer`s, which they do not make.

    They are not replaced: whoever called the method, the legend or a graph holds these already.
    """
    for added in new:
        if added not in old:
            for part in added.select({"type": GlyphRenderer}):  # two in a graph or a contour
                if type(part) is GlyphRenderer:
                    part.__class__ = SteadyRenderer  # which adds no property


def _lists(columns: Mapping[str, ColumnData]) -> dict[str, Sequence[Any]]:
    return {
        name: column.tolist() if isinstance(column, np.ndarray) else column
        for name, column in columns.items()
    }


def _translation(before: Look, after: Look) -> dict[str, str]:
    """Return the new colour for each colour of the look before."""
    names = [field.name for field in fields(before)]
    pairs = {getattr(before, name): getattr(after, name) for name in names}
    return {old: new for old, new in pairs.items() if old.startswith("#")}
