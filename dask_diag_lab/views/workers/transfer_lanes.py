"""Rows of transfers as the Bokeh models of a timeline: in above, out below, stronger when faster.

Knows Bokeh and the look; what is shown comes from `transfers`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
from bokeh.models import FixedTicker, HBar, Range1d
from bokeh.models.annotations import Title

from dask_diag_lab.views.figure import (
    ColumnData,
    Source,
    add_glyph,
    quiet_figure,
    quiet_hover,
    set_properties,
    tooltip_html,
)
from dask_diag_lab.views.look import Look
from dask_diag_lab.views.moving_range import MovingRange, add_moves
from dask_diag_lab.views.palette import data_colors
from dask_diag_lab.views.pane_size import restyle_pane
from dask_diag_lab.views.small_legend import Entry, SmallLegend
from dask_diag_lab.views.time_axis import make_time_axis
from dask_diag_lab.views.workers.transfer_log import TransferLog
from dask_diag_lab.views.workers.transfer_picture import TransferPicture

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

LIVE_S: Final = 60.0

_HALF: Final = 0.38
_FASTEST: Final = 90
"""Percentile of the rates in view that has the strongest colour: one outlier pales no other."""
_LINES: Final = ("@head", "@size", "@when", "@keys")


class TransferLanes:
    """A timeline of transfers.

    Attributes
    ----------
    figure : figure
    rects : Source
    """

    def __init__(self, look: Look) -> None:
        self.time, self.y = MovingRange(LIVE_S), Range1d(start=0.5, end=-0.5)
        self.title = Title(text=" ")
        self.rects = Source(
            *("left", "right", "y", "color", "alpha", "head", "size", "when", "keys")
        )
        ranges = {"x_range": self.time.model, "y_range": self.y}
        self.figure = quiet_figure(look, title=self.title, **ranges)
        make_time_axis(self.figure)
        self._ticker = FixedTicker(ticks=[])
        self.figure.yaxis.ticker = self._ticker
        self.figure.ygrid.visible = False
        # An outline keeps transfers of a millisecond visible in a picture of minutes.
        self._bar = HBar(y="y", left="left", right="right", height=_HALF, line_width=1)
        self._bar.update(fill_color="color", line_color="color", fill_alpha="alpha")
        self._bar.update(line_alpha="alpha")
        renderer = add_glyph(self.figure, self.rects.model, self._bar)
        self._hover = quiet_hover(look, *_LINES, renderers=[renderer])
        self.figure.add_tools(self._hover)
        add_moves(self.figure)
        self.legend = SmallLegend(self.figure, self._entries(look))
        self._zero: float | None = None

    def _entries(self, look: Look) -> list[Entry]:
        colors = data_colors(look)
        return [
            Entry("received, above", colors.incoming),
            Entry("sent, below", colors.outgoing),
            Entry("slower", colors.outgoing, alpha=0.35),
        ]

    def restyle(self, look: Look) -> None:
        """Apply another look; the colours of rectangles come with the next `draw`."""
        restyle_pane(self.figure, look)
        set_properties(self._hover, tooltips=tooltip_html(look, *_LINES))
        self.legend.restyle(self._entries(look))

    @property
    def zero(self) -> float:
        """The moment that the axis calls 0 s, in seconds since the epoch."""
        return self._zero or 0.0

    @property
    def place(self) -> tuple[object, object]:
        """Where the reader has the picture: differs when it was panned or zoomed."""
        return self.time.place

    def draw(self, picture: TransferPicture, look: Look) -> float:
        """Draw transfers; return by how many seconds they are ahead of what is in view."""
        log, drawn = picture.log, picture.drawn
        if self._zero is None and len(drawn):
            self._zero = float(log.start[drawn].min())
        zero = self.zero
        half = np.where(log.is_incoming[drawn], -_HALF, _HALF) / 2 * 1.08
        self.rects.set(
            {
                "left": log.start[drawn] - zero,
                "right": log.stop[drawn] - zero,
                "y": picture.rows + half,
                **_color_columns(log, drawn, look),
                **picture.words,
            }
        )
        self._label(picture.labels)
        for part in (*self.figure.axis, *self.figure.grid):
            set_properties(part, visible=bool(len(log)))  # words may lie in their place
        last = float(log.stop[drawn].max()) - zero if len(drawn) else 0.0
        self.time.follow(max(last - LIVE_S, 0.0), max(last, LIVE_S))
        return self.time.behind_s(last)

    def _label(self, labels: Sequence[str]) -> None:
        """Name the rows and make room for as many."""
        set_properties(self._ticker, ticks=list(range(len(labels))))
        set_properties(
            self.figure.yaxis[0],
            major_label_overrides=dict(enumerate(labels)),
            major_tick_line_color=None,
        )
        set_properties(self.y, start=max(len(labels), 1) - 0.5, end=-0.5)

    def command(self, verb: str) -> None:
        """Obey ``live`` (the last minute, as it comes) and ``fit`` (all that is drawn)."""
        if verb == "live":
            self.time.release()
        elif verb == "fit" and len(self.rects.model.data["left"]):
            data = self.rects.model.data
            left, right = float(np.min(data["left"])), float(np.max(data["right"]))
            self.time.hold(left, max(right, left + 1e-3))


def _color_columns(log: TransferLog, drawn: Ints, look: Look) -> dict[str, ColumnData]:
    """Return the colour of each transfer by its direction, stronger the faster it was."""
    colors = data_colors(look)
    rates = np.nan_to_num(log.rate[drawn])
    share = rates / max(float(np.percentile(rates, _FASTEST)), 1.0) if len(drawn) else rates
    is_incoming = log.is_incoming[drawn]
    return {
        "color": [colors.incoming if i else colors.outgoing for i in is_incoming],
        "alpha": np.clip(share, 0.35, 1.0),
    }
