"""A plot that is rows and one Bokeh figure: for what is neither bars, a table nor a series."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bokeh.models.layouts import Column as Stack
from bokeh.models.renderers import GlyphRenderer

from dask_diag_lab.views.data import DataPlot, Rows, length
from dask_diag_lab.views.figure import Source, quiet_figure, quiet_hover
from dask_diag_lab.views.models import SteadyRenderer
from dask_diag_lab.views.view import Caption, check_lengths

if TYPE_CHECKING:
    from bokeh.models import ColumnDataSource
    from bokeh.models.renderers import Renderer
    from bokeh.models.ui import UIElement
    from bokeh.plotting import figure

    from dask_diag_lab.views.look import Look


class FigureView(DataPlot):
    """A plot made of `rows`, drawn by `make_figure`.

    Its table, the text of an empty plot, the colours of the page and their change, and that
    nothing is sent while nothing changes come with it.
    """

    _look: Look | None = None

    @abstractmethod
    def make_figure(self, source: ColumnDataSource) -> figure:
        """Return a figure, made with `new_figure`, that draws the columns of `source`.

        Called once for each pane, and again when the page changes its colours, which are in
        ``self.look``.
        """

    def adjust(self, picture: figure, rows: Rows) -> None:
        """Fit ranges and the like to new rows."""

    def new_figure(self, *, hover: Sequence[str] = (), **options: Any) -> figure:
        """Return an empty figure in the look of the page.

        Parameters
        ----------
        hover : sequence of str
            Lines of the tooltip, such as ``("@worker", "@tasks tasks")``; the first one is bold.
        **options
            What `bokeh.plotting.figure` takes; ``y_range=[]`` for an axis of names.
        """
        made = quiet_figure(self.look, **options)
        made.on_change("renderers", _make_steady)
        if hover:
            made.add_tools(quiet_hover(self.look, *hover))
        return made

    def build(self) -> UIElement:
        """Return what holds the figure; see `View.build`."""
        self._source = Source(*self.rows(), is_patched=True)
        self._stack = Stack(sizing_mode="stretch_both", margin=0)
        self._renew_figure()
        return self._stack

    def draw(self) -> None:
        """Send the columns if they differ; see `View.draw`."""
        rows = self.rows()
        check_lengths(rows)  # Bokeh draws what it can of others, and says so nowhere
        if self._look != self.look:
            self._renew_figure()
        self._source.set(rows)
        self.adjust(self._figure, rows)
        if length(rows):
            self.caption = Caption(headline=self.headline(), note=self.note())
        else:
            self.caption = Caption(empty=self.why_empty())

    def _renew_figure(self) -> None:
        self._look = self.look
        self._figure = self.make_figure(self._source.model)
        self._stack.children = [self._figure]
        self._stack.styles = {"background-color": self.look.background}


def _make_steady(_attr: str, old: Sequence[Renderer], new: Sequence[Renderer]) -> None:
    """Have what a figure's own methods add painted by `SteadyRenderer`s, which they do not make.

    They are not replaced: whoever called the method, the legend or a graph holds these already.
    """
    for added in new:
        if added not in old:
            for part in added.select({"type": GlyphRenderer}):  # two in a graph or a contour
                if type(part) is GlyphRenderer:
                    part.__class__ = SteadyRenderer  # which adds no property
