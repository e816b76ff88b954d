"""Our own Bokeh models, whose browser side is ``src/models`` (built: ``dist/dask_diag_lab.js``).

For what Bokeh's own models could do only with `CustomJS`, whose text the browser must be allowed
to run as code, or only too slowly. Knows nothing of the store or of any one plot.

That script stands where Bokeh looks for the one of an extension, which ``bokeh.ext.json`` makes of
this package: so each document that Bokeh saves or shows with such a model carries it as well.
"""

from __future__ import annotations

from typing import Any

from bokeh.core.properties import (
    Bool,
    Color,
    Float,
    Instance,
    Int,
    List,
    NumberSpec,
    Override,
    String,
    field,
)
from bokeh.core.property.singletons import Undefined
from bokeh.models import (
    Axis,
    BasicTickFormatter,
    CDSView,
    ColumnDataSource,
    CustomJSHover,
    HBar,
    PanTool,
    Range1d,
    Ticker,
    TickFormatter,
    WheelZoomTool,
)
from bokeh.models.annotations import BoxAnnotation
from bokeh.models.layouts import LayoutDOM
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


class StreamBlocks(HBar):
    """Blocks of a task stream, painted by the number of their colour.

    Below failed tasks, which are hatched or have a rim, lie transfers and the like, painted as
    wide as they are: below a pixel as faint as they are narrow, so that many short ones take no
    more of the picture than of the time. Below these lie tasks, never thinner than a pixel.
    """

    code = NumberSpec(default=field("code"), help="Index into ``fills`` and ``edges``.")
    fills = List(Color, help="See `views.stream.figure.code_colors`.")
    edges = List(Color, help="Outlines; of failed tasks the hatch.")
    alpha = Float(default=1.0, help="Of the fill.")
    tail_share = Float(default=0.0, help="Of transfers: what is (de)serialization at their end.")
    is_running = Bool(default=False, help="They go on: no outlines, and a pointed end.")

    def __init__(self, **properties: Any) -> None:  # as all Bokeh models do
        super().__init__(**properties)


class StreamOutline(HBar):
    """Outlines around bars, so far outside that narrow ones keep their colour."""

    halo_color = Color(default="white", help="What the outline is laid on.")

    def __init__(self, **properties: Any) -> None:  # as all Bokeh models do
        super().__init__(**properties)


class StreamHover(CustomJSHover):
    """What is told of one block, running task or worker that left, by the renderer's name.

    The formats are ``title``, ``when``, ``where``, ``size``, ``share`` and ``key``. A block
    carries small numbers only; names are looked up in tables.
    """

    names = Instance(ColumnDataSource, help="``id``, ``text``, ``note``: names by their number.")
    keys = Instance(ColumnDataSource, help="``task``, ``key``: keys of single tasks.")
    workers = Instance(ColumnDataSource, help="``label``, ``first``, ``count`` of each worker.")
    times = Instance(Range1d, help="To tell a share of the window.")
    zero = Float(default=0.0, help="The moment that the axis calls 0, seconds since the epoch.")
    now = Float(default=0.0, help="Where running tasks end.")
    transfer_note = String(help="About all transfers.")

    def __init__(self, **properties: Any) -> None:  # as all Bokeh models do
        super().__init__(**properties)


class RowTicker(Ticker):
    """Ticks at the rows of workers, and in the middle of each worker's."""

    workers = Instance(ColumnDataSource, help="``label``, ``first``, ``count``, ``is_gone``.")

    def __init__(self, **properties: Any) -> None:  # as all Bokeh models do
        super().__init__(**properties)


class RowTickFormatter(TickFormatter):
    """Names of workers at such ticks, and numbers of threads where rows are high enough.

    Names are shortened to what is measured to fit; where rows are low not each has one.
    """

    workers = Instance(ColumnDataSource, help="As of `RowTicker`.")

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
    """Zooms time with Ctrl; the plain wheel scrolls rows where not all of them fit.

    It keeps as many rows in sight as have room, and labels the axis of time where that is left.
    """

    rows = Instance(Range1d, help="Range of the rows, the first one at its end, with bounds.")
    min_row_px = Float(default=4.0, help="Rows are never lower.")
    time_axis = Instance(Axis, help="What is labelled.")
    zero_label = String(help="Which moment its 0 is.")

    def __init__(self, **properties: Any) -> None:  # as all Bokeh models do
        super().__init__(**properties)


class StretchTool(PanTool):
    """Pans by dragging; dragging with Alt or Ctrl marks a stretch of time and zooms to it."""

    times = Instance(Range1d, help="The range that is zoomed.")
    overlay = Instance(BoxAnnotation, help="Marks the stretch; ought not to be syncable.")

    def __init__(self, **properties: Any) -> None:  # as all Bokeh models do
        super().__init__(**properties)


class FlameChart(LayoutDOM):
    """A flame graph: each frame below its caller, as wide as its share, on a canvas of its own.

    The page zooms where the reader clicks, leaves out labels that have no room, and puts what is
    too narrow to be seen into one box.
    """

    source = Instance(
        ColumnDataSource,
        help="A row a frame, callers before callees, siblings by samples: ``parent`` (row), "
        "``total``, ``own`` (samples), ``name``, ``place``, ``line``, ``color``, ``is_own``, "
        "``is_unclear``, ``match`` (0 or 1).",
    )
    samples = Int(default=0, help="Of the whole profile.")
    interval_s = Float(default=0.0, help="Seconds that one sample stands for.")
    home = Int(default=0, help="Row of the frame that fills the width before any was clicked.")
    focus = Int(default=-1, help="Row of the frame that was clicked; -1 for none.")
    background = Color(default="#ffffff", help="Of the canvas.")
    foreground = Color(default="#212121", help="Of text, and of the rim of the user's own code.")
    muted = Color(default="#616161", help="Of what stripes an unclear frame.")
    quiet = Color(default="#bdbdbd", help="Of callers and merged frames.")
    font = String(default="sans-serif", help="CSS font family.")
    font_size = String(default="12px", help="CSS font size.")

    def __init__(self, **properties: Any) -> None:  # as all Bokeh models do
        super().__init__(**properties)
