"""A figure of named horizontal bars made of coloured parts; several of them fit into one view.

Knows Bokeh and the look; knows nothing of the store.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bokeh.models import HBar

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.bar_figure import BAR_HEIGHT, BarFigure, Scale
from dask_diag_lab.views.figure import Source, quiet_hover, set_properties, tooltip_html
from dask_diag_lab.views.look import Look
from dask_diag_lab.views.palette import data_colors
from dask_diag_lab.views.pane_size import PaneSize
from dask_diag_lab.views.shown_name import shown_name
from dask_diag_lab.views.worker_names import name_in_words, short_names

HOVER_LINES: Final = 4
HOVER_FIELDS: Final = tuple(f"@hover{line}" for line in range(HOVER_LINES))


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a bar: its length, its colour (``hatch`` beside it) and its lines of hover."""

    length: float
    color: str
    hover: Sequence[str] = ()
    hatch: str = " "


@dataclass(frozen=True, slots=True)
class Bar:
    """One named bar; ``value`` is written beside it, ``worker`` is the address of its worker."""

    name: str
    parts: Sequence[Part]
    value: str = ""
    worker: str = ""

    @property
    def length(self) -> float:
        """The sum of the parts."""
        return sum(part.length for part in self.parts)


class PartBars:
    """Bars in the order given; what does not fit is said, in one bar with the sum of the rest.

    Parameters
    ----------
    look : Look
    scale : Scale
    on_tap : callable, optional
        Takes the worker of the bar that was clicked, or the name of one that is of none.
    said : callable, optional
        Returns what is written beside the sum of bars that do not fit. Bars without it cannot be
        added up: those that do not fit are left out, and counted.
    is_only : bool
        See `BarFigure`.
    """

    def __init__(
        self,
        look: Look,
        scale: Scale,
        *,
        on_tap: Callable[[str], None] | None = None,
        said: Callable[[float], str] | None = None,
        is_only: bool = False,
    ) -> None:
        hover = [f"hover{line}" for line in range(HOVER_LINES)]
        self.parts = Source("y", "left", "right", "color", "hatch", *hover)
        self.values = Source("y", "x", "value")
        self.scale = scale
        self.hidden = 0
        self._look = look
        self._bars: list[Bar] = []
        self._on_tap = on_tap
        self._said = said
        self.figure = self._build(look)
        self._frame.is_only = is_only

    @property
    def size(self) -> PaneSize:
        """How large the figure is on the page."""
        return self._frame.size

    @property
    def room(self) -> int:
        """How many bars there is room for: of others only their number and sum are needed."""
        return self._frame.room

    @property
    def name_characters(self) -> int:
        """How long a name may be; of a longer one the middle is left out."""
        return self._frame.name_characters

    def _build(self, look: Look) -> Any:  # bokeh.plotting.figure is a function and a class
        self._glyph = HBar(y="y", left="left", right="right", height=BAR_HEIGHT)
        self._glyph.update(fill_color="color", hatch_pattern="hatch", hatch_scale=7)
        self._frame = BarFigure(look, self._glyph, self.parts.model, self.values.model, "x")
        plot = self._frame.figure
        self._hover = quiet_hover(look, *HOVER_FIELDS, renderers=[self._frame.bars])
        plot.add_tools(self._hover)
        if self._on_tap is not None:
            plot.on_event("tap", self._tapped)
        return plot

    def _tapped(self, event: Any) -> None:  # Bokeh's tap event, in data units
        row = round(event.y) if event.y is not None else -1
        if self._on_tap is not None and 0 <= row < len(self._bars):
            self._on_tap(self._bars[row].worker or self._bars[row].name)

    def restyle(self, look: Look) -> None:
        """Apply another look; the colours of parts come with the next `draw`."""
        self._look = look
        self._frame.restyle(look)
        set_properties(self._glyph, hatch_color=look.foreground, hatch_alpha=0.4)
        set_properties(self._hover, tooltips=tooltip_html(look, *HOVER_FIELDS))

    def clear(self) -> None:
        """Show nothing at all."""
        for source in (self.parts, self.values):
            source.set({name: [] for name in source.model.data})
        self._bars = []
        self.hidden = 0
        self._frame.clear()

    def draw(
        self,
        title: str,
        bars: Sequence[Bar],
        *,
        short_titles: Sequence[str] = (),
        at_least: float = 0.0,
        more: tuple[int, float] = (0, 0.0),
    ) -> None:
        """Show bars from top to bottom.

        Parameters
        ----------
        title : str
            The line above the bars.
        short_titles : sequence of str
            What of it is said in ever narrower panes.
        bars : sequence of Bar
            At least `room` of them, where there are so many.
        at_least : float
            Where the scale ends when no bar is longer.
        more : (int, float)
            How many bars there are beyond these, and the sum of their lengths.
        """
        room = self._frame.room
        shown, self.hidden = list(bars), 0
        if len(shown) + more[0] > room:
            n_own = room - (self._said is not None)
            rest, shown = shown[n_own:], shown[:n_own]
            self.hidden = len(rest) + more[0]
            if self._said is not None:
                total = sum(bar.length for bar in rest) + more[1]
                shown.append(self._others(self._said(total), total))
        self._bars = shown
        labels = self._labels(shown)
        longest = max([at_least, *(bar.length for bar in shown)])
        said = [bar.value for bar in shown]
        self._frame.lay_out((title, *short_titles), labels, said, longest, self.scale)
        self._draw_parts(shown)

    def _labels(self, bars: Sequence[Bar]) -> list[str]:
        """Return the names beside the bars; those of workers are shortened together."""
        width = self._frame.name_characters
        short = iter(short_names([bar.name for bar in bars if bar.worker], width))
        labels = [shown_name(next(short) if bar.worker else bar.name, width) for bar in bars]
        named = zip(bars, labels, strict=True)
        is_bare = any(name_in_words(label) == bar.name != label for bar, label in named)
        set_properties(self.figure.yaxis[0], axis_label="worker" if is_bare else None)
        return labels

    def _others(self, said: str, total: float) -> Bar:
        name = f"{fmt.count(self.hidden)} others"
        return Bar(name, [Part(total, data_colors(self._look).gone, (name, said))], said)

    def _draw_parts(self, bars: Sequence[Bar]) -> None:
        columns: dict[str, list[Any]] = {name: [] for name in self.parts.model.data}
        for row, bar in enumerate(bars):
            left = 0.0
            for part in bar.parts:
                lines = [*part.hover, *[""] * HOVER_LINES][:HOVER_LINES]
                cells = (float(row), left, left + part.length, part.color, part.hatch, *lines)
                for name, cell in zip(columns, cells, strict=True):
                    columns[name].append(cell)
                left += part.length
        self.parts.set(columns)
        self.values.set(
            {
                "y": [float(row) for row in range(len(bars))],
                "x": [bar.length for bar in bars],
                "value": [bar.value for bar in bars],
            }
        )
