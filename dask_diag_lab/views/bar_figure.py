"""The frame of horizontal bars: names at the left, a value beside each bar, room for both.

Knows Bokeh and the look; what the bars are made of comes from whoever uses it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bokeh.core.properties import value
from bokeh.models import ColumnDataSource, FixedTicker, HBar, Range1d, Text
from bokeh.models.annotations import Title

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.figure import add_glyph, quiet_figure, set_properties, smaller
from dask_diag_lab.views.pane_size import CHARACTER_PX, PaneSize, pane_size, restyle_pane
from dask_diag_lab.views.text_room import font_px
from dask_diag_lab.views.title_words import fitting_title

if TYPE_CHECKING:
    from dask_diag_lab.views.look import Look

BAR_HEIGHT: Final = 0.8
ROW_MIN_PX: Final = 17
ROW_MAX_PX: Final = 34
MAX_BARS: Final = 100

_NAME_SHARE: Final = 0.3
"""Share of the width that names may take."""
_NAME_CHARACTERS: Final = (9, 36)
_TITLE_SIDES_PX: Final = 20
_VALUE_SHARE: Final = 0.75
"""Share of the bars' width that values beside them may take."""


@dataclass(frozen=True, slots=True)
class Scale:
    """How lengths are written along the axis.

    Attributes
    ----------
    unit : str
        As in `format.tick_labels`: bytes, seconds, percent or number; ``rate`` for B/s.
    ticks : callable
        Returns round numbers from 0 to an end, about as many as wanted.
    """

    unit: str
    ticks: Callable[[float, int], list[float]] = fmt.number_ticks

    def labels(self, ticks: Sequence[float]) -> Mapping[float, str]:
        """Return the words of some ticks."""
        if self.unit == "rate":
            return {tick: fmt.si(tick, "B/s") if tick else "0" for tick in ticks}
        return fmt.tick_labels(ticks, self.unit)


SECONDS: Final = Scale("seconds", fmt.duration_ticks)
BYTES: Final = Scale("bytes", fmt.binary_ticks)
RATE: Final = Scale("rate")
NUMBER: Final = Scale("number")
PERCENT: Final = Scale("percent")


class BarFigure:
    """A figure with a row for each bar, the first one on top.

    Parameters
    ----------
    look : Look
    bar : HBar
        The bars; added to the figure with `source`.
    source : ColumnDataSource
    values : ColumnDataSource
        ``y``, ``value``, and the column named by `value_at`, where the text of a bar begins.

    Attributes
    ----------
    figure : figure
    bars : GlyphRenderer
    end : float
        Where the scale ends.
    controls_px : int
        Height of what is shown above the figure and comes and goes with the size of the pane.
    is_only : bool
        Whether a page has no other figure: then it takes the title off the canvas.
    """

    def __init__(
        self,
        look: Look,
        bar: HBar,
        source: ColumnDataSource,
        values: ColumnDataSource,
        value_at: str,
    ) -> None:
        self.end = 1.0
        self.controls_px = 0
        self.is_only = False
        self._font_px = font_px(look.font_size)
        self._bar = bar
        self._title = Title(text=" ")
        self._x, self._y = Range1d(start=0, end=1), Range1d(start=1, end=0)
        self._x_ticker, self._y_ticker = FixedTicker(ticks=[0]), FixedTicker(ticks=[])
        plot = quiet_figure(look, title=self._title, x_range=self._x, y_range=self._y)
        plot.update(min_border_left=8, min_border_right=20)
        plot.ygrid.visible = False
        plot.xaxis.ticker = plot.xgrid.ticker = self._x_ticker
        plot.yaxis.ticker = self._y_ticker
        self.figure = plot
        self.bars = add_glyph(plot, source, bar)
        self._text = Text(x=value_at, y="y", text="value", text_baseline="middle", x_offset=6)
        add_glyph(plot, values, self._text)

    @property
    def size(self) -> PaneSize:
        """How large the figure is on the page."""
        return pane_size(self.figure)

    @property
    def room(self) -> int:
        """How many bars there is room for.

        Controls take none of it: rows are a little lower with them, so that a pane which grows
        until it has room for controls shows no fewer bars.
        """
        rows_px = self.size.rows_px + self.controls_px
        return min(max(int(rows_px // ROW_MIN_PX), 2), MAX_BARS)

    @property
    def name_characters(self) -> int:
        """How long a name may be."""
        least, most = _NAME_CHARACTERS
        return min(max(int(self.size.width * _NAME_SHARE / CHARACTER_PX), least), most)

    def restyle(self, look: Look) -> None:
        """Apply another look."""
        restyle_pane(self.figure, look)
        self._font_px = font_px(look.font_size)
        set_properties(
            self.figure.yaxis[0],
            major_tick_line_color=None,
            major_label_text_color=look.foreground,
        )
        # The lightest colours of a palette would be lost on a light canvas without an outline.
        set_properties(self._bar, line_color=look.foreground, line_alpha=0.35, line_width=1)
        set_properties(
            self._text,
            text_color=look.foreground,
            text_font=value(look.font),
            text_font_size=smaller(look.font_size),
        )

    def clear(self) -> None:
        """Show neither title nor axes."""
        set_properties(self._title, text=" ")
        for axis in (self.figure.xaxis[0], self.figure.yaxis[0]):
            set_properties(axis, visible=False)

    def lay_out(
        self,
        titles: Sequence[str],
        names: Sequence[str],
        values: Sequence[str],
        longest: float,
        scale: Scale,
    ) -> None:
        """Set title, ranges and ticks for bars with these names and values beside them.

        Parameters
        ----------
        titles : sequence of str
            Of these the first one that fits is shown, or what fits of the last one.
        names, values : sequence of str
            One a bar, from top to bottom, short enough.
        longest : float
            What the scale has to reach, apart from the room for values.
        scale : Scale
        """
        size = self.size
        names_px = max(map(len, names), default=0) * CHARACTER_PX
        # On the canvas a title begins where the frame does, right of the names.
        room_px = size.width - (0 if self.is_only else names_px) - _TITLE_SIDES_PX
        set_properties(self._title, text=fitting_title(titles, room_px, self._font_px))
        bars_px = size.frame_px(names_px)
        values_px = (max(map(len, values), default=0) + 2) * CHARACTER_PX
        self.end = (longest or 1.0) / (1 - min(values_px / bars_px, _VALUE_SHARE))
        set_properties(self._x, start=0, end=self.end)
        wanted = max(int(bars_px) // 110, 1)
        ticks = [tick for tick in scale.ticks(longest, wanted) if tick <= self.end]
        set_properties(self._x_ticker, ticks=ticks)
        x_axis, y_axis = self.figure.xaxis[0], self.figure.yaxis[0]
        set_properties(x_axis, visible=True, major_label_overrides=dict(scale.labels(ticks)))
        rows = max(len(names), round(size.rows_px / ROW_MAX_PX))
        set_properties(self._y, start=rows - 0.5, end=-0.5)
        set_properties(self._y_ticker, ticks=list(range(len(names))))
        set_properties(y_axis, visible=True, major_label_overrides=dict(enumerate(names)))
