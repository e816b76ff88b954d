"""Our own Bokeh models, whose browser side is ``dist/dask_diag_lab.js``.

For what Bokeh's own models could do only with `CustomJS`, whose text the browser must be allowed
to run as code, or only too slowly. Knows nothing of the store or of any one plot.

That script stands where Bokeh looks for the one of an extension, which ``bokeh.ext.json`` makes of
this package: so each document that Bokeh saves or shows with such a model carries it as well.
"""

from __future__ import annotations

from typing import Any

from bokeh.core.properties import Float, Instance, Override, String
from bokeh.core.property.singletons import Undefined
from bokeh.models import (
    BasicTickFormatter,
    CDSView,
    ColumnDataSource,
    CustomJSHover,
    HBar,
    PanTool,
    Range1d,
    TickFormatter,
    WheelZoomTool,
)
from bokeh.models.annotations import BoxAnnotation
from bokeh.models.renderers import GlyphRenderer


class AllRows(CDSView):
    """Says that every row is shown, of whatever source: one serves all renderers of a plot.

    Bokeh's keeps a list of the rows of its source and makes it anew with each change of the data.
    """


class SteadyRenderer(GlyphRenderer):  # type: ignore[type-arg]  # only generic in Bokeh's stub
    """Is never painted with new data and old colours.

    A browser takes in one after the other, and a change of the layout that comes in the same
    message paints in between: more rows than colours are an error there.
    """


class PlainRenderer(SteadyRenderer):
    """Draws one glyph, at a fifth of the price of `GlyphRenderer`.

    That one holds five: for what is selected, what is not, what is muted, and for drags. All of
    them take in each change of the data. This one draws everything with its own, and knows no
    ``hover_glyph`` and no other ``view`` than `AllRows`.
    """

    view: Any = Override(default=Undefined)  # a property of type AllRows
    """Has to be given: Bokeh's default would be made for each, only to be replaced."""


class StreamBars(HBar):
    """Horizontal bars, painted at a third of the price of `HBar`.

    A colour is made only where it differs from that of the bar before, and no bar is thinner than
    a pixel. Bars with a hatch are painted by Bokeh.
    """


class StreamMoves(StreamBars):
    """Bars that are painted as wide as they are: below a pixel as faint as they are narrow.

    So many short ones take no more of the picture than of the time.
    """


class StreamHover(CustomJSHover):
    """Words about one rectangle of a task stream.

    The formats are ``title``, ``when``, ``where``, ``size``, ``share`` and ``key``. A rectangle
    carries small numbers only; names are looked up in tables.
    """

    source = Instance(ColumnDataSource, help="Of the rectangles.")
    texts = Instance(ColumnDataSource, help="``id``, ``text``: names by their number.")
    shares = Instance(ColumnDataSource, help="``id``, ``words``: more about some prefixes.")
    keys = Instance(ColumnDataSource, help="``task``, ``key``: keys of single tasks.")
    rows = Instance(ColumnDataSource, help="``worker``, ``slot`` of each row.")
    workers = Instance(ColumnDataSource, help="``label`` of each worker.")
    facts = Instance(ColumnDataSource, help="One row: ``zero``, ``now``, ``transfer_words``.")
    range = Instance(Range1d, help="Of the time, to say a share of the window.")
    what = String(help="What several of them are; ``worker`` for a worker that left.")
    suffix = String(help="Added to the name of a single one.")

    def __init__(self, **properties: Any) -> None:  # as all Bokeh models do
        super().__init__(**properties)


class StreamTails(StreamBars):
    """The last part of bars: from ``share`` before their end, as a share of their length."""

    share = Float(default=0.0, help="0 to 1.")

    def __init__(self, **properties: Any) -> None:  # as all Bokeh models do
        super().__init__(**properties)


class RunTimeTickFormatter(TickFormatter):
    """Ticks in seconds of a run as words: ``10 s``, ``1 h 5 min``; before 0 ``1 min before``."""


class WordedTickFormatter(BasicTickFormatter):
    """Writes the words in ``major_label_overrides`` of its axis, and numbers where there are none.

    Bokeh makes labels of these words only after the message that brings them. What in the same
    message paints the plot, such as a change of the layout, would leave the bare numbers there.
    """


class RowsWheelTool(WheelZoomTool):
    """Zooms time with Ctrl; the plain wheel scrolls rows where not all of them fit."""

    rows = Instance(Range1d, help="Range of the rows, the first one at its end, with bounds.")

    def __init__(self, **properties: Any) -> None:  # as all Bokeh models do
        super().__init__(**properties)


class StretchTool(PanTool):
    """Pans by dragging; dragging with Alt or Ctrl marks a stretch of time and zooms to it."""

    times = Instance(Range1d, help="The range that is zoomed.")
    overlay = Instance(BoxAnnotation, help="Marks the stretch; ought not to be syncable.")

    def __init__(self, **properties: Any) -> None:  # as all Bokeh models do
        super().__init__(**properties)
