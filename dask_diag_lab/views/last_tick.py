"""The word of an upright axis' last tick inside the frame, where there is no room for the axis."""

from __future__ import annotations

from bokeh.models.annotations import Label
from bokeh.plotting import figure

from dask_diag_lab.views.figure import set_properties, smaller
from dask_diag_lab.views.look import Look


class LastTick:
    """One word below a grid line, at the frame's left edge."""

    def __init__(self, plot: figure) -> None:
        self._label = Label(x=2, x_units="screen", y=0, text_baseline="top")
        plot.add_layout(self._label)

    def restyle(self, look: Look) -> None:
        """Apply the look."""
        set_properties(
            self._label,
            text_color=look.muted,
            text_font=look.font,
            text_font_size=smaller(look.font_size),
            background_fill_color=look.background,
            background_fill_alpha=0.7,  # lines pass below it
        )

    def show(self, *, is_shown: bool) -> None:
        """Show it, or do not."""
        set_properties(self._label, visible=is_shown)

    def write(self, at: float, word: str) -> None:
        """Write the word at a position of the axis."""
        set_properties(self._label, y=at, text=word)
