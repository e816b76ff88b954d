"""What a task stream draws beside rectangles: ends of workers, events, the chosen rectangle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from bokeh.models import HoverTool, Quad, Scatter, Segment
from bokeh.models.renderers import GlyphRenderer
from bokeh.plotting import figure

from dask_diag_lab.views.figure import Source, add_glyph, quiet_hover, set_properties, tooltip_html
from dask_diag_lab.views.look import Look
from dask_diag_lab.views.palette import data_colors

GONE_ALPHA: Final = 0.12
_LINE_PX, _HALO_PX = 2.0, 5.0
"""Outline of the chosen rectangle, and what it is laid on, so that it is told from neighbours."""
RING_PX: Final = _HALO_PX / 2
"""So far outside of the rectangle the middle of both is: it keeps all of its colour."""
_BOX: Final[dict[str, Any]] = {  # arguments of `Quad`, of several types
    "left": "left",
    "right": "right",
    "top": "top",
    "bottom": "bottom",
}
EVENT_LINES: Final = ("@title", "@text", "@clock")

if TYPE_CHECKING:
    Renderer = GlyphRenderer[Any]  # of any glyph


class Marks:
    """The marks of one figure.

    Attributes
    ----------
    gone : Source
        Where workers that left had their rows: ``left``, ``right``, ``top``, ``bottom``,
        ``middle``, ``lane``.
    events : Source
        Moments at which the cluster lost a worker or began anew: ``at``, ``top``, ``bottom``,
        ``title``, ``text``, ``clock``.
    chosen : Source
        The outline around the chosen rectangle, `RING_PX` off its edges: ``left``, ``right``,
        ``top``, ``bottom``.
    band : GlyphRenderer
        Of ``gone``, for a hover.
    hover : HoverTool
        Of the events.
    """

    def __init__(self, plot: figure, look: Look) -> None:
        self.gone = Source("left", "right", "top", "bottom", "middle", "lane")
        self.events = Source("at", "top", "bottom", "title", "text", "clock")
        self.chosen = Source("left", "right", "top", "bottom")
        self._plot = plot
        band = Quad(
            **_BOX,
            fill_alpha=GONE_ALPHA,
            line_color=None,
            hatch_pattern="right_diagonal_line",
            hatch_alpha=0.35,
            hatch_scale=8,
            hatch_weight=0.5,
        )
        self.band: Renderer = add_glyph(plot, self.gone.model, band)
        self.hover: HoverTool = quiet_hover(look, *EVENT_LINES)

    def add_above(self, killed: Source) -> None:
        """Add what lies above the rectangles; ``killed`` are those that died with a worker."""
        ends = Segment(x0="left", x1="left", y0="top", y1="bottom", line_width=2)
        self._ends = add_glyph(self._plot, self.gone.model, ends)
        self._crosses = [
            add_glyph(
                self._plot,
                source.model,
                Scatter(x=x, y=y, marker="x", size=9, line_width=2, fill_color=None),
            )
            for x, y, source in (("left", "middle", self.gone), ("right", "lane", killed))
        ]
        line = Segment(x0="at", x1="at", y0="top", y1="bottom", line_width=1.5, line_dash=[5, 3])
        self._lines = add_glyph(self._plot, self.events.model, line)
        pin = Scatter(x="at", y="top", marker="inverted_triangle", size=10, line_color=None)
        self._pins = add_glyph(self._plot, self.events.model, pin)
        self._halo, self._outline = (
            add_glyph(self._plot, self.chosen.model, Quad(**_BOX, fill_alpha=0, line_width=width))
            for width in (_HALO_PX, _LINE_PX)
        )
        self.hover.renderers = [self._pins, self._lines]
        self._plot.add_tools(self.hover)

    def restyle(self, look: Look) -> None:
        """Apply a look; no data is sent again."""
        colors = data_colors(look)
        set_properties(self.band.glyph, fill_color=colors.gone, hatch_color=colors.gone)
        set_properties(self._ends.glyph, line_color=colors.gone)
        for cross, color in zip(self._crosses, (look.foreground, colors.killed_mark), strict=True):
            set_properties(cross.glyph, line_color=color)
        set_properties(self._lines.glyph, line_color=look.foreground)
        set_properties(self._pins.glyph, fill_color=look.foreground)
        set_properties(self._halo.glyph, line_color=look.background)
        set_properties(self._outline.glyph, line_color=look.foreground)
        set_properties(self.hover, tooltips=tooltip_html(look, *EVENT_LINES))
