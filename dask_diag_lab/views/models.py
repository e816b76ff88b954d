"""Our own Bokeh models, whose browser side is written in ``src/models``."""

from __future__ import annotations

from typing import Any

from bokeh.core.properties import (
    Color,
    Enum,
    Float,
    Instance,
    Int,
    List,
    Nullable,
    NumberSpec,
    String,
    StringSpec,
    field,
)
from bokeh.models import (
    ColumnDataSource,
    ContinuousTicker,
    CustomJSHover,
    Quad,
    Scatter,
    Segment,
    TickFormatter,
)
from bokeh.models.layouts import LayoutDOM


class BarChart(LayoutDOM):
    """Rows of bars with names and values, laid out in the browser.

    It decides there how many rows fit, sorts, scrolls, merges rows, shortens names and writes the
    axis: nothing is sent because of a size.
    """

    def __init__(self, **properties: Any) -> None:  # as all Bokeh models do
        super().__init__(**properties)

    source = Instance(ColumnDataSource, help="One row a bar: see `bars.BarPlot.rows`.")
    spec = String(help="What the columns mean: JSON of the fields of `bars.BarPlot`.")
    rows = Enum("auto", "each", "host", "alike", help="How rows are put together.")
    order = Enum("own", "size", "name", help="Which rows come first.")
    home = Int(default=0, help="Counts the wishes to see the first rows.")
    clicked = List(String, help="Key of the row that was clicked, and a number for each click.")
    part_colors = List(String, help="Of the parts; '' for the colour of the row.")
    level_colors = List(String, help="By the column `level_index`.")
    track = String(default="#eeeeee", help="Colour of an empty bar.")
    grid = String(default="#e0e0e0")
    accent = String(default="#1976d2")
    background = String(default="#ffffff")
    foreground = String(default="#212121")
    muted = String(default="#616161")
    font = String(default="sans-serif")
    font_size = String(default="12px")


class GraphNodes(Scatter):
    """Marks as large as the distance between layers and between rows of 1 leaves room for."""

    scale = Float(default=1.0, help="Size, in sizes of the usual mark.")
    least_px = Float(default=0.0, help="Size where there is no room, if more than usual.")

    def __init__(self, **properties: Any) -> None:  # as all Bokeh models do
        super().__init__(**properties)


class GraphEdges(Segment):
    """Lines that are the fainter the more of them lie between two rows, which are 1 apart."""

    share = NumberSpec(default=1.0, help="Strength beside others: 1 for a line that is alone.")

    def __init__(self, **properties: Any) -> None:  # as all Bokeh models do
        super().__init__(**properties)


class BoxLabels(Quad):
    """Three lines of text in a box, as far as they fit: a name is shortened, figures are not."""

    label = StringSpec(default=field("label"), help="The name.")
    short = StringSpec(default=field("short"), help="The name where the whole one has no room.")
    count = StringSpec(default=field("count"), help="Second line; parts are joined by ' · '.")
    more = StringSpec(default=field("more"), help="Third line, likewise.")
    color = Color(default="#000000", help="Of the name.")
    muted_color = Color(default="#000000", help="Of the other lines.")
    font = String(default="sans-serif", help="CSS font family.")
    font_size = String(default="12px", help="CSS size; smaller where there is no room.")

    def __init__(self, **properties: Any) -> None:  # as all Bokeh models do
        super().__init__(**properties)


class UnitTicker(ContinuousTicker):
    """Round numbers of a unit, from 0 on."""

    unit = String(default="number", help="See `data.Unit`.")

    def __init__(self, **properties: Any) -> None:  # as all Bokeh models do
        super().__init__(**properties)


class UnitTickFormatter(TickFormatter):
    """Writes ticks in a unit."""

    unit = String(default="number", help="See `data.Unit`.")

    def __init__(self, **properties: Any) -> None:  # as all Bokeh models do
        super().__init__(**properties)


class UnitHover(CustomJSHover):
    """Writes a value of a tooltip in its unit, and the band around it."""

    unit = String(default="number", help="See `data.Unit`.")
    label = String(help="Stands before the value.")
    source = Nullable(Instance(ColumnDataSource), help="Has the columns of the band.")
    low = String(help="Column with the lowest value.")
    high = String(help="Column with the highest value.")

    def __init__(self, **properties: Any) -> None:  # as all Bokeh models do
        super().__init__(**properties)


class ProgressBars(LayoutDOM):
    """Names above bars of tasks by state, in as many columns as there is room for."""

    source = Instance(ColumnDataSource, help="One row a bar: see `progress.Progress.draw`.")
    nouns = String(help="What rows stand for.")
    home = Int(default=0, help="Counts the wishes to see the first rows.")
    erred_color = String(default="#000000")
    erred_mark = String(default="#ffffff", help="Outline of what failed.")
    busy_color = String(default="#bdbdbd", help="Of tasks that run or are queued.")
    no_worker_color = String(default="#e57373")
    track = String(default="#eeeeee", help="Of an empty bar.")
    background = String(default="#ffffff")
    foreground = String(default="#212121")
    muted = String(default="#616161")
    font = String(default="sans-serif")
    font_size = String(default="12px")

    def __init__(self, **properties: Any) -> None:  # as all Bokeh models do
        super().__init__(**properties)
