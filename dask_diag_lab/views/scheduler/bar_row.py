"""Figures of bars that lie below each other, or side by side where the pane is low and wide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from bokeh.models import Column

from dask_diag_lab.views.bar_figure import ROW_MIN_PX
from dask_diag_lab.views.figure import set_properties
from dask_diag_lab.views.pane_size import EDGES_PX

if TYPE_CHECKING:
    from dask_diag_lab.views.scheduler.part_bars import PartBars

LEAST_WIDTH_PX: Final = 180
"""A figure of bars with names and values beside them is not narrower than this."""
LEAST_HEIGHT_PX: Final = 2 * ROW_MIN_PX + EDGES_PX
"""A figure of less height would not have room for two bars."""


class BarRow:
    """Several figures in one place.

    Parameters
    ----------
    bars : sequence of PartBars

    Attributes
    ----------
    model : Column
        For the layout.
    is_row : bool
        Whether they lie side by side.
    """

    def __init__(self, bars: Sequence[PartBars]) -> None:
        self.bars = tuple(bars)
        self.is_row = False
        self.model = Column(
            children=[each.figure for each in bars], sizing_mode="stretch_both", spacing=0
        )

    @property
    def width(self) -> int:
        """How wide all of it is."""
        widths = [each.size.width for each in self.bars if each.figure.visible]
        return sum(widths) if self.is_row else max(widths, default=0)

    def arrange(self, n_bars: Sequence[int]) -> None:
        """Let the figures lie so that their bars fit, where that can be.

        Parameters
        ----------
        n_bars : sequence of int
            How many each has; a figure without any is not shown, nor one without room.
        """
        filled = [each for each, n in zip(self.bars, n_bars, strict=True) if n]
        n_shown = self._turn(len(filled), max(n_bars))
        for each in self.bars:
            set_properties(each.figure, visible=each in filled[:n_shown])

    def _turn(self, n_filled: int, n_bars: int) -> int:
        """Lie as the pane asks for; return for how many figures there is room."""
        sizes = [each.size for each in self.bars if each.figure.visible]
        if not sizes or not n_filled:
            return n_filled
        width, height = self.width, max(size.height for size in sizes)
        if not self.is_row:
            height = sum(size.height for size in sizes)
        is_low = height < n_filled * (n_bars * ROW_MIN_PX + EDGES_PX)
        self.is_row = is_low and width >= n_filled * LEAST_WIDTH_PX
        set_properties(self.model, styles={"flex-direction": "row" if self.is_row else "column"})
        return n_filled if self.is_row else fitting_figures(height, n_filled, n_bars)


def fitting_figures(height: int, n_figures: int, n_bars: int) -> int:
    """Return how many figures below each other show the most bars; at least one.

    One more figure takes room for its title and axis from the bars of all: so a pane that grows
    never shows fewer bars than before.

    Parameters
    ----------
    height : int
        Of all together, in pixels.
    n_figures, n_bars : int
        How many there are, and how many bars each has at most.
    """

    def shown(number: int) -> tuple[int, int]:
        rows = (height / number - EDGES_PX) // ROW_MIN_PX
        return number * min(int(rows), n_bars), number

    most = min(max(height // LEAST_HEIGHT_PX, 1), n_figures)
    return max(range(1, most + 1), key=shown)
