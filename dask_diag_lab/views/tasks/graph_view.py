"""What the two pictures of the task graph share: a plane to pan and zoom, that follows the data.

What is drawn on it is the subclass's.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Final

from bokeh.events import Event, Tap
from bokeh.models import PanTool, Range1d, WheelZoomTool
from bokeh.models.annotations import Title
from bokeh.plotting import figure

from dask_diag_lab.views.figure import quiet_figure, set_properties
from dask_diag_lab.views.pane_size import PaneSize, pane_size, restyle_pane
from dask_diag_lab.views.redrawn import RedrawnView
from dask_diag_lab.views.small_legend import Entry, SmallLegend
from dask_diag_lab.views.tasks.layout.packing import rounded_shape

if TYPE_CHECKING:
    from bokeh.models.ui import UIElement

    from dask_diag_lab.views.tasks.group_graph import GroupGraph

MARGIN: Final = 0.6
"""Layers or rows that are free beside the outermost."""
_BOX_PX: Final = (260, 104)
"""Largest distance between two boxes of groups: few of them need not fill the pane."""
_TITLE_PX: Final = 26
_LEAST_PX: Final = 172
"""Height that a legend leaves to the graph."""
_LINES: Final = 3
_NARROW_PX: Final = 60
_TURNED_PX: Final = 300
"""Largest distance between rows where layers are narrower than that: names stand upright there."""

Extent = tuple[float, float, float, float]
"""Smallest x, largest x, smallest y and largest y."""


class GraphView(RedrawnView):
    """A graph that is shown whole until the user moves it."""

    moves_itself: ClassVar[bool] = True

    _fitted: Extent | None = None

    @abstractmethod
    def add_to(self, plot: figure) -> None:
        """Add the glyphs to the empty figure."""

    @abstractmethod
    def restyle_glyphs(self) -> None:
        """Apply `look` to the glyphs."""

    @abstractmethod
    def legend_entries(self) -> Sequence[Sequence[Entry]]:
        """Return the entries of each legend: one is shown at a time, as the picture is."""

    @abstractmethod
    def tapped(self, x: float, y: float) -> None:
        """Do what a click at a point of the plane means."""

    @abstractmethod
    def draw(self, size: PaneSize) -> None:
        """Bring glyphs, title and notice up to date; `fit` what there is."""

    @abstractmethod
    def seen(self) -> object:
        """Return something that differs when the data did."""

    @abstractmethod
    def lay_out_anew(self) -> None:
        """Forget where nodes are."""

    def build(self) -> UIElement:
        """Return the figure; see `View.build`."""
        self._title = Title(text=" ")
        self._x, self._y = Range1d(start=0, end=1), Range1d(start=1, end=0)
        plot = self.figure = quiet_figure(
            self.look, title=self._title, x_range=self._x, y_range=self._y
        )
        plot.axis.visible = False
        plot.grid.visible = False
        self.add_to(plot)
        pan, zoom = PanTool(), WheelZoomTool(modifiers={"ctrl": True})
        plot.add_tools(pan, zoom)
        plot.toolbar.update(active_drag=pan, active_scroll=zoom)
        plot.on_event(Tap, self._on_tap)
        self.legends = [SmallLegend(plot, entries) for entries in self.legend_entries()]
        self.restyle()
        return plot

    def restyle_models(self) -> None:
        """Apply `look`; see `RedrawnView.restyle_models`."""
        restyle_pane(self.figure, self.look)
        self.restyle_glyphs()
        for legend, entries in zip(self.legends, self.legend_entries(), strict=True):
            legend.restyle(entries)

    def command(self, verb: str) -> None:
        """``fit``: place everything anew, compactly, and show all of it; see `View.command`."""
        if verb == "fit":
            self.lay_out_anew()
            self.show_all()
            self._drawn = None
            self.update()

    def shown(self) -> object:
        """Return what differs when the picture has to; see `RedrawnView.shown`."""
        return self.seen(), pane_size(self.figure), self._ranges(), self.look

    def redraw(self) -> None:
        """Draw the graph; see `RedrawnView.redraw`."""
        self.draw(pane_size(self.figure))

    def _on_tap(self, event: Event) -> None:
        if isinstance(event, Tap) and event.x is not None and event.y is not None:
            self.tapped(event.x, event.y)

    def show_all(self) -> None:
        """Follow the data again, wherever the user has moved to."""
        self._fitted = None

    def fit(self, extent: Extent) -> None:
        """Show all of it, unless the user looks at a part."""
        x0, x1, y0, y1 = extent
        whole = (x0 - MARGIN, x1 + MARGIN, y1 + MARGIN, y0 - MARGIN)
        if not self.is_followed:
            return
        set_properties(self._x, start=whole[0], end=whole[1])
        set_properties(self._y, start=whole[2], end=whole[3])
        self._fitted = whole

    def set_title(self, text: str) -> None:
        """Set the line above the picture."""
        set_properties(self._title, text=text or " ")

    def _ranges(self) -> Extent:
        ends = (self._x.start, self._x.end, self._y.start, self._y.end)
        x0, x1, y1, y0 = (end if isinstance(end, float | int) else 0.0 for end in ends)
        return x0, x1, y1, y0

    def show_legend(self, size: PaneSize, shown: int | None) -> None:
        """Show one of the legends or none; it may take several lines of a narrow pane."""
        room_px = size.height - _TITLE_PX - _LEAST_PX
        for index, legend in enumerate(self.legends):
            is_shown = index == shown and legend.height_px(size.width, _LINES) <= room_px
            legend.show(is_shown=is_shown, width=size.width, most_lines=_LINES)

    @property
    def is_followed(self) -> bool:
        """Whether all of it is shown: the user looks at no part of it."""
        return self._fitted is None or self._ranges() == self._fitted

    def draw_groups(self, groups: GroupGraph, size: PaneSize) -> None:
        """Bring a picture of groups up to date and show all of it."""
        shape = self.shape(size, _BOX_PX)
        groups.update(self.look, self.cell_px(size), may_close=self.is_followed, shape=shape)
        self.fit(roomy(groups.extent(), self.frame_px(size)))
        groups.update(self.look, self.cell_px(size), may_close=False, shape=shape)

    def frame_px(self, size: PaneSize) -> tuple[float, float]:
        """Return about how wide and how high the frame is."""
        height = size.height - _TITLE_PX - sum(legend.shown_px for legend in self.legends)
        is_bare = not any(legend.n_lines for legend in self.legends)
        if is_bare and any(legend.height_px(size.width, _LINES) for legend in self.legends):
            # As much as there is beside the legend when it comes: that must not cost names.
            height = min(height, _LEAST_PX)
        return max(size.width - 8, 40), max(height, 40)

    def shape(self, size: PaneSize, cell: tuple[float, float]) -> float:
        """Return the shape of the frame in cells of some proportions; see `rounded_shape`."""
        width, height = self.frame_px(size)
        return rounded_shape(width / cell[0], height / cell[1])

    def cell_px(self, size: PaneSize) -> tuple[float, float]:
        """Return the pixels between two layers and between two rows as they are shown."""
        x0, x1, y1, y0 = self._ranges()
        width, height = self.frame_px(size)
        # Whole pixels: a hair's breadth of zoom must not send new sizes.
        return float(round(width / max(x1 - x0, 1e-9))), round(height / max(y1 - y0, 1e-9), 1)


def roomy(extent: Extent, frame_px: tuple[float, float]) -> Extent:
    """Return ``extent`` widened so that boxes do not get larger than they should."""
    (x0, x1, y0, y1), (width, height) = extent, frame_px
    box_px = width / (x1 - x0 + 2 * MARGIN)
    largest_px = _TURNED_PX if box_px < _NARROW_PX else _BOX_PX[1]
    wide = max(width / _BOX_PX[0] - 2 * MARGIN - (x1 - x0), 0) / 2
    tall = max(height / largest_px - 2 * MARGIN - (y1 - y0), 0) / 2
    return x0 - wide, x1 + wide, y0 - tall, y1 + tall
