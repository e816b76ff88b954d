"""How large a figure is on the page, as the browser reports it, and what fits in there.

Goes by the *outer* size: the inner one depends on what was decided with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bokeh.core.property.descriptors import UnsetValueError
from bokeh.models import Plot

from dask_diag_lab.views.figure import restyle_figure, set_properties
from dask_diag_lab.views.look import Look

CHARACTER_PX: Final = 6.6
"""Mean width of a character at the 12 px of a view's default font; wide for most text."""

_SIDES_PX: Final = 28
_LEAST_FRAME_PX: Final = 40
EDGES_PX: Final = 48
"""Height that title and axis labels take from a figure, about."""


@dataclass(frozen=True, slots=True)
class PaneSize:
    """Width and height of a figure with everything around it, in CSS pixels.

    Attributes
    ----------
    width, height : int
    beside_px : float
        Height that the figure gave to what comes and goes beside it, see `room`; negative where
        it has more than it would with all of that.
    """

    width: int
    height: int
    beside_px: float = 0.0

    @property
    def is_narrow(self) -> bool:
        """Whether words and numbers beside bars have to go."""
        return self.width < 420

    @property
    def is_small(self) -> bool:
        """Whether there is no room for a legend."""
        return self.is_narrow or self.whole_px < 220

    @property
    def whole_px(self) -> float:
        """Height that does not change with what comes and goes beside the figure."""
        return self.height + self.beside_px

    @property
    def rows_px(self) -> int:
        """Height that is left for rows of data."""
        return max(self.height - EDGES_PX, 40)

    @property
    def title_characters(self) -> int:
        """How many characters of a title fit that begins at the left edge.

        A title is bold and so a little wider than other words.
        """
        return max(int((self.width - 16) / (CHARACTER_PX * 1.1)), 0)

    def frame_px(self, names_px: float) -> float:
        """Return how wide the frame is beside names of that width."""
        return max(self.width - names_px - _SIDES_PX, _LEAST_FRAME_PX)


USUAL_SIZE: Final = PaneSize(800, 420)
"""Assumed until a browser has told."""


def pane_size(plot: Plot) -> PaneSize:
    """Return the size that the page last reported, or the usual one before it has."""
    try:
        width, height = plot.outer_width, plot.outer_height
    except UnsetValueError:
        return USUAL_SIZE
    # Without any width it is not shown. Without any height a note may have taken all of it, which
    # would go and come for ever if the note were left out where the usual size is assumed.
    return PaneSize(width, max(height, 1)) if width else USUAL_SIZE


def restyle_pane(plot: Plot, look: Look) -> None:
    """Apply the look to a figure and to the element that holds it.

    Bokeh gives that element a white background, which shines through as a light seam between
    frame and border in dark.
    """
    restyle_figure(plot, look)
    set_properties(plot, styles={"background-color": look.background})
