"""How fast data moves from which worker to which: a map of squares, named on both axes.

Knows Bokeh and the look; `bandwidth_workers` decides when it is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
from bokeh.core.properties import value
from bokeh.events import Event, Tap
from bokeh.models import FixedTicker, Range1d, Rect, Text
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
from dask_diag_lab.views.palette import data_colors, mixed
from dask_diag_lab.views.pane_size import CHARACTER_PX, PaneSize, restyle_pane
from dask_diag_lab.views.worker_names import name_in_words, short_names

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_LINES: Final = ("@pair", "@rate", "@source", "@target")
_SHADES: Final = 24
_PALEST: Final = 0.82
"""Share of the canvas in the shade of the slowest pair."""
_NAME_CHARACTERS: Final = 14
_FEW: Final = 7
"""Characters of a name in a pane that is not `_WIDE_PX` wide."""
_WIDE_PX: Final = 320


class BandwidthMap:
    """A square for each pair, paler when slower.

    Attributes
    ----------
    figure : figure
    squares : Source
    """

    def __init__(self, look: Look) -> None:
        self.title = Title(text=" ")
        self._x, self._y = Range1d(start=-0.5, end=0.5), Range1d(start=0.5, end=-0.5)
        self.squares = Source(
            *("x", "y", "color", "ink", "text", "pair", "rate", "source", "target")
        )
        self.figure = quiet_figure(look, title=self.title, x_range=self._x, y_range=self._y)
        self._x_ticker, self._y_ticker = FixedTicker(ticks=[]), FixedTicker(ticks=[])
        self.figure.xaxis.ticker, self.figure.yaxis.ticker = self._x_ticker, self._y_ticker
        self.figure.xaxis.axis_label = "to worker"
        self.figure.yaxis.axis_label = "from worker"
        self.figure.grid.visible = False
        self._rect = Rect(x="x", y="y", width=0.94, height=0.94, fill_color="color")
        self._rect.update(line_width=1)
        renderer = add_glyph(self.figure, self.squares.model, self._rect)
        self._text = Text(x="x", y="y", text="text", text_color="ink", text_align="center")
        self._text.update(text_baseline="middle")
        add_glyph(self.figure, self.squares.model, self._text)
        self._hover = quiet_hover(look, *_LINES, renderers=[renderer])
        self.figure.add_tools(self._hover)
        self.on_tap: Callable[[int, int], None] = lambda _source, _target: None
        self.figure.on_event(Tap, self._tap)

    def restyle(self, look: Look) -> None:
        """Apply another look; the shades come with the next `draw`."""
        restyle_pane(self.figure, look)
        for axis in (*self.figure.xaxis, *self.figure.yaxis):
            set_properties(axis, major_tick_line_color=None)
        set_properties(self._rect, line_color=look.grid)
        set_properties(
            self._text,
            text_font=value(look.font),
            text_font_size=smaller(look.font_size),
        )
        set_properties(self._hover, tooltips=tooltip_html(look, *_LINES))

    def draw(
        self,
        names: Sequence[str],
        addresses: Sequence[str],
        pairs: tuple[Ints, Ints],
        rates: Floats,
        look: Look,
        size: PaneSize,
    ) -> None:
        """Draw the rates of pairs, given by the indices of their workers.

        Parameters
        ----------
        names, addresses : sequence of str
            Of the workers, in the order of both axes.
        pairs : two ndarrays of int64
            Sources and destinations.
        rates : ndarray of float64
            Bytes a second.
        look : Look
        size : PaneSize
        """
        n, (source, target) = len(names), pairs
        shades = _shades(look)
        share = rates / rates.max() if len(rates) else rates
        shade = np.minimum((share * _SHADES).astype(np.int64), _SHADES - 1).tolist()
        cell_px = max(size.width - 120, 40) / max(n, 1)
        is_written = cell_px >= 8.5 * CHARACTER_PX and size.rows_px / max(n, 1) >= 15
        words = [fmt.si(rate, "B/s") for rate in rates.tolist()]
        sources, targets = source.tolist(), target.tolist()
        said = [name_in_words(name) for name in names]
        self.squares.set(
            {
                "x": target.astype(np.float64),
                "y": source.astype(np.float64),
                "color": [shades[index][0] for index in shade],
                "ink": [shades[index][1] for index in shade],
                "text": words if is_written else [""] * len(words),
                "pair": [f"{said[s]} → {said[t]}" for s, t in zip(sources, targets, strict=True)],
                "rate": [
                    f"{text} ({fmt.count(rate)} B/s), moving average"
                    for text, rate in zip(words, rates.tolist(), strict=True)
                ],
                "source": [f"from {addresses[s]}" for s in sources],
                "target": [f"to {addresses[t]}" for t in targets],
            }
        )
        self._draw_axes(names, cell_px, size)

    def _draw_axes(self, names: Sequence[str], cell_px: float, size: PaneSize) -> None:
        n = len(names)
        set_properties(self._x, start=-0.5, end=n - 0.5)
        set_properties(self._y, start=n - 0.5, end=-0.5)
        down = across = short_names(names, _NAME_CHARACTERS if size.width >= _WIDE_PX else _FEW)
        if cell_px < _width_px(down):  # more names that are short tell more than a few long ones
            across = short_names(names, _FEW)
        for axis, ticker, labels, room in (
            (self.figure.xaxis[0], self._x_ticker, across, cell_px / _width_px(across)),
            (self.figure.yaxis[0], self._y_ticker, down, size.rows_px / max(n, 1) / 13),
        ):
            step = max(int(np.ceil(1 / max(room, 1e-3))), 1)
            set_properties(ticker, ticks=list(range(0, n, step)))
            overrides = {index: labels[index] for index in range(0, n, step)}
            set_properties(axis, major_label_overrides=overrides)
            set_properties(axis, axis_label_standoff=2)

    def clear(self) -> None:
        """Show nothing."""
        self.squares.set({name: [] for name in self.squares.model.data})

    def _tap(self, event: Event) -> None:
        if isinstance(event, Tap) and event.x is not None and event.y is not None:
            self.on_tap(round(event.y), round(event.x))


def _width_px(labels: Sequence[str]) -> float:
    """Return the width of the longest label, and the gap beside it."""
    return max(map(len, labels), default=1) * CHARACTER_PX + 6


def _shades(look: Look) -> list[tuple[str, str]]:
    """Return fill and colour of the text of each shade, the slowest first."""
    full = data_colors(look).load_normal
    found = []
    for step in range(_SHADES):
        fill = mixed(full, look.background, _PALEST * (1 - step / (_SHADES - 1)))
        red, green, blue = (int(fill[i : i + 2], 16) / 255 for i in (1, 3, 5))
        # Relative luminance, with the square for WCAG's curve; black and white are alike at 0.18.
        luminance = 0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2
        found.append((fill, "#000000" if luminance > 0.18 else "#ffffff"))
    return found
