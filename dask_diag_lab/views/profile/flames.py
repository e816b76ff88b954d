"""The figure of a flame graph: boxes with labels, rows that scroll, and a click that zooms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from bokeh.core.properties import value
from bokeh.events import Event, Tap
from bokeh.models import HoverTool, Quad, Range1d, Text, WheelPanTool
from bokeh.models.annotations import Title

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.figure import (
    Source,
    add_glyph,
    quiet_figure,
    quiet_hover,
    set_properties,
    smaller,
    tooltip_html,
)
from dask_diag_lab.views.look import Look
from dask_diag_lab.views.pane_size import PaneSize, pane_size, restyle_pane
from dask_diag_lab.views.profile.boxes import BOX_COLUMNS, LABEL_COLUMNS
from dask_diag_lab.views.profile.picture import Picture

ROW_PX: Final = 18
EDGE_PX: Final = 8
TITLE_PX: Final = 20
HOVER_LINES: Final = ("@title", "@where", "@source", "@whole", "@itself")


class Flames:
    """The flame graph of one page.

    Parameters
    ----------
    look : Look
    on_click : callable
        Takes the place of a click: share of the width, and rows from the top.

    Attributes
    ----------
    figure : figure
    boxes, labels : Source
    """

    def __init__(self, look: Look, on_click: Callable[[float, float], None]) -> None:
        self.boxes = Source(*BOX_COLUMNS)
        self.labels = Source(*LABEL_COLUMNS)
        self._rows = 1.0
        self._shown: Picture | None = None
        self._y = Range1d(start=10, end=0)
        self.figure = quiet_figure(
            look,
            x_range=Range1d(start=0, end=1),
            y_range=self._y,
            title="",
            x_axis_location=None,
            y_axis_location=None,
            frame_align=False,  # the timeline needs room for an axis, this does not
        )
        self.figure.grid.visible = False
        self._hover = self._draw(look)
        self._on_click = on_click
        self.figure.on_event(Tap, self._tapped)
        self.restyle(look)

    @property
    def size(self) -> PaneSize:
        """Size of the figure as the page last told."""
        return pane_size(self.figure)

    @property
    def width_px(self) -> float:
        """Width of the frame that boxes stand in."""
        return max(self.size.width - 2 * EDGE_PX, 1)

    @property
    def _room(self) -> float:
        """Rows that the figure has room for."""
        return max((self.size.height - TITLE_PX - EDGE_PX) / ROW_PX, 3.0)

    def show(self, picture: Picture | None, title: str) -> None:
        """Draw a picture, or nothing; the same one again costs nothing."""
        if picture is not self._shown:
            boxes, labels = (picture.boxes, picture.labels) if picture is not None else ({}, {})
            self.boxes.set({name: boxes.get(name, []) for name in BOX_COLUMNS})
            self.labels.set({name: labels.get(name, []) for name in LABEL_COLUMNS})
            self._shown = picture
            scene = picture.scene if picture is not None else None
            self._rows = scene.top + scene.icicle.rows if scene is not None else 1.0
        if isinstance(self.figure.title, Title):
            set_properties(self.figure.title, text=fmt.elide(title, self.size.title_characters))
        self._fit_rows()

    def to_top(self) -> None:
        """Scroll back to the first row."""
        set_properties(self._y, start=self._room, end=0)

    def restyle(self, look: Look) -> None:
        """Apply the look to what is not data."""
        restyle_pane(self.figure, look)
        set_properties(self._hover, tooltips=tooltip_html(look, *HOVER_LINES))
        set_properties(
            self._text, text_font=value(look.font), text_font_size=value(smaller(look.font_size))
        )
        set_properties(self._quad, hatch_color=look.foreground)

    def _draw(self, look: Look) -> HoverTool:
        self._quad = Quad(
            left="left",
            right="right",
            top="top",
            bottom="bottom",
            fill_color="fill",
            line_color="line",
            line_width="line_width",
            hatch_pattern="hatch",
            hatch_alpha=0.13,
            hatch_scale=10,
        )
        quads = add_glyph(self.figure, self.boxes.model, self._quad)
        self._text = Text(
            x="x",
            y="y",
            text="text",
            text_color="color",
            text_font_style="style",
            text_baseline="middle",
            x_offset=5,
        )
        add_glyph(self.figure, self.labels.model, self._text)
        hover = quiet_hover(look, *HOVER_LINES, renderers=[quads])
        wheel = WheelPanTool(dimension="height")
        self.figure.add_tools(hover, wheel)
        self.figure.toolbar.active_scroll = wheel
        return hover

    def _tapped(self, event: Event) -> None:
        if isinstance(event, Tap) and event.x is not None and event.y is not None:
            self._on_click(float(event.x), float(event.y))

    def _fit_rows(self) -> None:
        """Give every row its height; rows that find no room are scrolled to."""
        room = self._room
        bounds = (0, max(self._rows, room))
        top = min(max(_number(self._y.end), 0.0), bounds[1] - room)
        # The page keeps a range inside the bounds that it knows: those come first.
        set_properties(self._y, bounds=bounds)
        set_properties(self._y, start=top + room, end=top)


def _number(value: object) -> float:
    """Return an end of a range, which Bokeh declares as a date as well, as the number it is."""
    return float(value) if isinstance(value, (int, float)) else 0.0
