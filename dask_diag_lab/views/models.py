"""Our own Bokeh models, whose browser side is ``src/models`` (built: ``dist/dask_diag_lab.js``).

For what Bokeh's own models could do only with `CustomJS`, whose text the browser must be allowed
to run as code, or only too slowly. Knows nothing of histories or of any one plot.

That script stands where Bokeh looks for the one of an extension, which ``bokeh.ext.json`` makes of
this package: so each document that Bokeh saves or shows with such a model carries it as well.
"""

from __future__ import annotations

from typing import Any

from bokeh.core.has_props import abstract
from bokeh.core.properties import (
    Bool,
    Color,
    Float,
    Instance,
    Int,
    List,
    Nullable,
    NumberSpec,
    Override,
    String,
    StringSpec,
    field,
)
from bokeh.core.property.singletons import Undefined
from bokeh.models import (
    CDSView,
    ColumnDataSource,
    ContinuousTicker,
    CustomJSHover,
    HBar,
    PanTool,
    Quad,
    Range1d,
    Scatter,
    Segment,
    Ticker,
    TickFormatter,
    WheelZoomTool,
)
from bokeh.models.annotations import BoxAnnotation
from bokeh.models.labeling import LabelingPolicy
from bokeh.models.layouts import LayoutDOM
from bokeh.models.renderers import GlyphRenderer


class Keywords:
    """Takes the properties of a model by name; its type does not know those that ours add."""

    def __init__(self, **properties: Any) -> None:  # of any type
        super().__init__(**properties)


@abstract
class CanvasChart(Keywords, LayoutDOM):
    """A chart on a canvas of its own, laid out in the browser: nothing is sent because of a size.

    Its colours and font are those of `Look.style`.
    """

    source = Instance(ColumnDataSource, help="A row for each bar; of flames, see `FlameChart`.")
    grid = String(default="#e0e0e0")
    accent = String(default="#1976d2")
    background = String(default="#ffffff")
    foreground = String(default="#212121")
    muted = String(default="#616161")
    font = String(default="sans-serif")
    font_size = String(default="12px")


class BarChart(CanvasChart):
    """Rows of bars with names and values, laid out in the browser.

    It decides there how many rows fit, sorts, scrolls, merges rows, shortens names and writes the
    axis: nothing is sent because of a size.
    """

    spec = String(help="What the columns mean: JSON of the fields of `bars.BarPlot`.")
    clicked = List(String, help="Key of the row that was clicked, and a number for each click.")


class GraphNodes(Keywords, Scatter):
    """Marks as large as the distance between layers and between rows of 1 allows."""

    scale = Float(default=1.0, help="Size, in sizes of the usual mark.")
    least_px = Float(default=0.0, help="Size where rows are close, if more than usual.")


class GraphEdges(Keywords, Segment):
    """Lines that are the fainter the more of them lie between two rows, which are 1 apart."""

    share = NumberSpec(default=1.0, help="Strength beside others: 1 for a line that is alone.")


class BoxLabels(Keywords, Quad):
    """Three lines of text in a box, as far as they fit: a name is shortened, figures are not."""

    label = StringSpec(default=field("label"), help="The name.")
    short = StringSpec(default=field("short"), help="The name where the whole one does not fit.")
    count = StringSpec(default=field("count"), help="Second line; parts are joined by ' · '.")
    more = StringSpec(default=field("more"), help="Third line, likewise.")
    color = Color(default="#000000", help="Of the name.")
    muted_color = Color(default="#000000", help="Of the other lines.")
    font = String(default="sans-serif", help="CSS font family.")
    font_size = String(default="12px", help="CSS size; smaller where lines do not fit.")


class UnitTicker(Keywords, ContinuousTicker):
    """Round numbers of a unit, from 0 on."""

    unit = String(default="number", help="See `data.Unit`.")


class UnitTickFormatter(Keywords, TickFormatter):
    """Writes ticks in a unit."""

    unit = String(default="number", help="See `data.Unit`.")


class UnitHover(Keywords, CustomJSHover):
    """Writes a value of a tooltip in its unit, and the band around it."""

    unit = String(default="number", help="See `data.Unit`.")
    label = String(help="Stands before the value.")
    source = Nullable(Instance(ColumnDataSource), help="Has the columns of the band.")
    low = String(help="Column with the lowest value.")
    high = String(help="Column with the highest value.")


class ProgressBars(CanvasChart):
    """Names above bars of tasks by state, in as many columns as fit."""

    nouns = String(help="What rows stand for.")
    erred_color = String(default="#000000")
    erred_mark = String(default="#ffffff", help="Outline of what failed.")
    busy_color = String(default="#bdbdbd", help="Of tasks that run or are queued.")
    no_worker_color = String(default="#e57373")
    track = String(default="#eeeeee", help="Of an empty bar.")


class AllRows(CDSView):
    """Says that every row is shown, of whatever source: one serves all renderers of a plot.

    Bokeh's keeps a list of the rows of its source and makes it anew with each change of the data.
    """


class AtomicRenderer(GlyphRenderer):  # type: ignore[type-arg]  # only generic in Bokeh's stub
    """Is never painted with new data and old colours.

    A browser takes in one after the other, and a change of the layout that comes in the same
    message paints in between: more rows than colours are an error there.
    """


class PlainRenderer(AtomicRenderer):
    """Draws one glyph, at a fifth of the price of `GlyphRenderer`.

    That one holds five: for what is selected, what is not, what is muted, and for drags. All of
    them take in each change of the data. This one draws everything with its own, and knows no
    ``hover_glyph`` and no other ``view`` than `AllRows`.
    """

    view: Any = Override(default=Undefined)  # a property of type AllRows
    """Has to be given: Bokeh's default would be made for each, only to be replaced."""


class StreamBlocks(Keywords, HBar):
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


class StreamOutline(Keywords, HBar):
    """Outlines around bars, so far outside that narrow ones keep their colour."""

    halo_color = Color(default="white", help="What the outline is laid on.")


class StreamHover(Keywords, CustomJSHover):
    """What the hover shows of one block, running task or worker that left, by the renderer's name.

    The formats are ``title``, ``when``, ``where``, ``size``, ``share`` and ``key``. A block
    carries small numbers only; names are looked up in tables.
    """

    names = Instance(ColumnDataSource, help="``id``, ``text``: names by their number.")
    keys = Instance(ColumnDataSource, help="``task``, ``key``: keys of single tasks.")
    workers = Instance(ColumnDataSource, help="``label``, ``first``, ``count`` of each worker.")
    zero = Float(default=0.0, help="The moment that the axis calls 0, seconds since the epoch.")
    now = Float(default=0.0, help="Where running tasks end.")
    transfer_note = String(help="About all transfers.")


class RowTicker(Keywords, Ticker):
    """Ticks at the rows of workers, and in the middle of each worker's."""

    workers = Instance(ColumnDataSource, help="``label``, ``first``, ``count``, ``is_gone``.")


class RowTickFormatter(Keywords, TickFormatter):
    """Names of workers at such ticks, and numbers of threads where rows are high enough.

    Names are shortened to what is measured to fit; where rows are low not each has one.
    """

    workers = Instance(ColumnDataSource, help="As of `RowTicker`.")


class EvenLabels(LabelingPolicy):
    """Labels every tick, or every second, every third: the most that have room between them."""

    min_distance = Float(default=6, help="Room between two labels, in pixels.")


class RunTimeTickFormatter(TickFormatter):
    """Ticks in seconds of a run as words: ``10 s``, ``1 h 5 min``; before 0 ``1 min before``."""


class RowsWheelTool(Keywords, WheelZoomTool):
    """Zooms time with Ctrl; the plain wheel scrolls rows where not all of them fit.

    It shows as many rows as fit.
    """

    rows = Instance(Range1d, help="Range of the rows, the first one at its end, with bounds.")
    min_row_px = Float(default=4.0, help="Rows are never lower.")


class StretchTool(Keywords, PanTool):
    """Pans by dragging; dragging with Alt or Ctrl marks a stretch of time and zooms to it."""

    times = Instance(Range1d, help="The range that is zoomed.")
    overlay = Instance(BoxAnnotation, help="Marks the stretch; ought not to be syncable.")


class FlameChart(CanvasChart):
    """A flame graph: each frame below its caller, as wide as its share, on a canvas of its own.

    Its source has a row a frame, callers before callees, siblings by samples: ``parent`` (row),
    ``total``, ``own`` (samples), ``name``, ``place``, ``line``, ``color``, ``is_own``,
    ``is_unclear``, ``match`` (0 or 1).

    The page zooms where the reader clicks, leaves out labels that do not fit and
    frames that are too narrow to be seen.
    """

    samples = Int(default=0, help="Of the whole profile.")
    interval_s = Float(default=0.0, help="Seconds that one sample stands for.")
    focus = Int(default=-1, help="Row of the frame that fills the width; -1 for the first.")
    faint = Color(default="#bdbdbd", help="Of callers.")
