"""What the pictures of graphs share: a plane to pan and zoom, which shows all until it is moved."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Final

from bokeh.events import Event, Tap
from bokeh.models import PanTool, Range1d, WheelZoomTool
from bokeh.plotting import figure

from dask_diag_lab.views.figure import quiet_figure, restyle_figure, set_properties
from dask_diag_lab.views.tasks.graph_layout import Floats
from dask_diag_lab.views.view import View

if TYPE_CHECKING:
    from bokeh.models.ui import UIElement

_MARGIN: Final = 0.6
"""Layers or rows that are free beside the outermost."""
_MARGIN_SHARE: Final = 0.015
"""The same as a share of the picture: where rows are close, a mark is larger than one."""


class GraphPlane(View):
    """A graph that is shown whole until the reader moves it."""

    _fitted: tuple[object, ...] | None = None

    @abstractmethod
    def add_to(self, plot: figure) -> None:
        """Add the glyphs to the empty figure."""

    @abstractmethod
    def restyle_glyphs(self) -> None:
        """Apply `look` to the glyphs."""

    @abstractmethod
    def forget_places(self) -> None:
        """Lay out all anew with the next `draw`."""

    @abstractmethod
    def tapped(self, x: float, y: float) -> None:
        """Do what a click at a point of the plane means."""

    def build(self) -> UIElement:
        """Return the figure; see `View.build`."""
        self._x, self._y = Range1d(start=0, end=1), Range1d(start=1, end=0)
        plot = self.figure = quiet_figure(self.look, x_range=self._x, y_range=self._y)
        plot.axis.visible = False
        plot.grid.visible = False
        self.add_to(plot)
        pan, zoom = PanTool(), WheelZoomTool(modifiers={"ctrl": True})
        plot.add_tools(pan, zoom)
        plot.toolbar.update(active_drag=pan, active_scroll=zoom)
        plot.on_event(Tap, self._on_tap)
        self.restyle()
        return plot

    def restyle(self) -> None:
        """Apply `look`; see `View.restyle`."""
        restyle_figure(self.figure, self.look)
        self.restyle_glyphs()
        self.update()

    def command(self, verb: str) -> None:
        """``fit``: place everything anew, compactly, and show all of it; see `View.command`."""
        if verb == "fit":
            self.forget_places()
            self.show_all()
            self._drawn = None
            self.update()

    def _on_tap(self, event: Event) -> None:
        if isinstance(event, Tap) and event.x is not None and event.y is not None:
            self.tapped(event.x, event.y)

    def _ranges(self) -> tuple[object, ...]:
        return self._x.start, self._x.end, self._y.start, self._y.end

    @property
    def is_followed(self) -> bool:
        """Whether all of it is shown: the reader looks at no part of it."""
        return self._fitted is None or self._ranges() == self._fitted

    @property
    def visible_rows(self) -> float:
        """How many rows the reader sees."""
        start, end = self._y.start, self._y.end
        is_known = isinstance(start, int | float) and isinstance(end, int | float)
        return abs(float(start) - float(end)) if is_known else 1.0  # type: ignore[arg-type]  # no dates

    def show_all(self) -> None:
        """Follow the data again, wherever the reader has moved to."""
        self._fitted = None

    def fit(self, places: Floats, least: tuple[float, float] = (0.0, 0.0)) -> None:
        """Show all places, unless the reader looks at a part.

        Parameters
        ----------
        places : ndarray of float64, shape (n, 2)
        least : tuple of float
            Layers and rows of a picture at least: few boxes need not fill the pane.
        """
        if not self.is_followed or not len(places):
            return
        ends = []
        for low, high, least_span in zip(
            places.min(axis=0), places.max(axis=0), least, strict=True
        ):
            margin = max(_MARGIN, _MARGIN_SHARE * (high - low), (least_span - (high - low)) / 2)
            ends.append((float(low - margin), float(high + margin)))
        (left, right), (top, bottom) = ends
        set_properties(self._x, start=left, end=right)
        set_properties(self._y, start=bottom, end=top)
        self._fitted = self._ranges()
