"""The figure that all plots share, and the rule that unchanged data is never sent.

Also a plot that is rows and one such figure: for what is neither bars, a table nor a series. Knows
Bokeh and `look`; knows nothing of any one plot.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from bokeh.core.property.descriptors import UnsetValueError
from bokeh.models import (
    Axis,
    ColumnDataSource,
    Grid,
    HoverTool,
    Model,
    Plot,
)
from bokeh.models.annotations import Legend, Title
from bokeh.models.glyph import Glyph
from bokeh.models.layouts import Column as Stack
from bokeh.models.renderers import GlyphRenderer
from bokeh.models.widgets import Div
from bokeh.plotting import figure

from dask_diag_lab.views.data import ColumnData, DataPlot, Rows, length
from dask_diag_lab.views.look import Look
from dask_diag_lab.views.models import AllRows, AtomicRenderer, PlainRenderer
from dask_diag_lab.views.view import check_lengths

if TYPE_CHECKING:
    from bokeh.models.renderers import Renderer
    from bokeh.models.ui import UIElement

MIN_BORDER_PX: Final = 4
MOST_PATCHED: Final = 0.1
"""Share of values up to which those that differ are sent alone: each takes its place along."""

_TOOLTIP_FIT: Final = ":host{opacity:1!important}.ddl{max-width:min(420px,calc(50vw - 26px))}"
"""Keeps a tooltip in the window, which in an output or a frame may be as small as the plot.

Bokeh lets what is below shine through, which is words among words where that is dark.

Bokeh puts it at the left or right of the pointer, where it fits if it is not wider than half of the
window.
"""


def base_figure(look: Look, **options: Any) -> figure:
    """Return an empty figure that fills its pane, without toolbar, in the colours of ``look``.

    Parameters
    ----------
    look : Look
    **options
        Anything `bokeh.plotting.figure` takes; wins over the defaults of this function.
    """
    defaults: dict[str, Any] = {  # Bokeh's figure options have no common type
        "sizing_mode": "stretch_both",
        "toolbar_location": None,
        "min_border": MIN_BORDER_PX,
        "output_backend": "canvas",
        "tools": "",
        "context_menu": None,  # Bokeh's has the tools, which have names and keys of ours
        "min_width": 0,
        "min_height": 0,
    }
    made = figure(**{**defaults, **options})
    made.toolbar.logo = None
    restyle_figure(made, look)
    return made


def add_glyph(
    plot: Plot, source: ColumnDataSource, glyph: Glyph, *, visible: bool = True
) -> PlainRenderer:
    """Add what draws ``glyph`` for each row of ``source``; return it."""
    views = (other.view for other in plot.renderers if isinstance(other, PlainRenderer))
    renderer = PlainRenderer(
        data_source=source, glyph=glyph, view=next(views, None) or AllRows(), visible=visible
    )
    plot.renderers.append(renderer)
    return renderer


def set_properties(model: Model, **values: Any) -> None:
    """Set those properties that differ.

    Bokeh sends a patch for an equal list or mapping; this does not.
    """
    changed = {name: value for name, value in values.items() if not _has(model, name, value)}
    if changed:
        model.update(**changed)


def _has(model: Model, name: str, value: object) -> bool:
    try:
        return bool(getattr(model, name) == value)
    except UnsetValueError:
        return False


def restyle_figure(plot: Plot, look: Look) -> None:
    """Give a figure, its axes, grids, title, legends and `base_hover` tools the look of a page."""
    for tool in plot.toolbar.tools:
        if isinstance(tool, HoverTool) and tool.tags:
            set_properties(tool, tooltips=tooltip_html(look, *tool.tags))
    set_properties(
        plot,
        background_fill_color=look.background,
        border_fill_color=look.background,
        outline_line_color=None,
    )
    if isinstance(plot.title, Title):
        title = {"text_color": look.foreground, "text_font_size": look.font_size}
        set_properties(plot.title, text_font=look.font, standoff=4, **title)
    for part in (*plot.left, *plot.right, *plot.above, *plot.below, *plot.center):
        if isinstance(part, Axis):
            set_properties(
                part,
                axis_line_color=None,
                major_tick_line_color=look.grid,
                minor_tick_line_color=None,
                major_tick_in=0,
                major_tick_out=4,
                axis_label_text_font_style="normal",
                **_base_text("major_label", look),
                **_base_text("axis_label", look),
            )
        elif isinstance(part, Grid):
            set_properties(part, grid_line_color=look.grid, grid_line_alpha=0.6)
        elif isinstance(part, Legend):
            box = {"background_fill_color": None, "border_line_color": None}
            set_properties(part, **box, **_base_text("label", look))


def _base_text(of: str, look: Look) -> dict[str, str]:
    return {
        f"{of}_text_color": look.muted,
        f"{of}_text_font": look.font,
        f"{of}_text_font_size": smaller(look.font_size),
    }


def smaller(font_size: str, by: float = 1) -> str:
    """Return a size of ``by`` pixels less, for labels: ``"12px"`` → ``"11px"``."""
    return f"{max(float(font_size.removesuffix('px')) - by, 1):g}px"


def tooltip_html(look: Look, *lines: str) -> str:
    """Return a hover template: the first line bold, lines that come out empty left out.

    Parameters
    ----------
    look : Look
    *lines : str
        Bokeh hover templates such as ``"@name"`` or ``"@duration{custom}"``. Bokeh puts values
        in as text, so HTML in a task's key stays text.
    """
    style = (
        "<style>.ddl{margin:-5px;padding:6px 9px;"
        f"background:{look.background};color:{look.foreground};font:{look.font_size} {look.font};"
        "font-variant-numeric:tabular-nums;line-height:1.45;overflow-wrap:anywhere}"
        f".ddl div+div{{color:{look.muted}}}.ddl div:empty{{display:none}}"
        f".ddl div:first-of-type{{font-weight:600}}{_TOOLTIP_FIT}</style>"
    )
    body = "".join(f"<div>{line}</div>" for line in lines)
    # Bokeh keeps the parsed body only: a <style> in front would go to the head and be lost.
    return f'<div class="ddl">{style}{body}</div>'


def base_hover(look: Look, *lines: str, **options: Any) -> HoverTool:
    """Return a hover tool whose tooltip is `tooltip_html` of the lines, which are its ``tags``."""
    defaults: dict[str, Any] = {  # Bokeh's tool options have no common type
        "tooltips": tooltip_html(look, *lines),
        "tags": list(lines),
        "show_arrow": False,
        "point_policy": "follow_mouse",
    }
    return HoverTool(**{**defaults, **options})


class Source:
    """A column source that sends columns only when one of them changed.

    Parameters
    ----------
    *columns : str
    is_patched : bool
        Whether only the rows that are new at the end, or gone at the begin, and the values that
        differ in the others are sent where these are few.

    Attributes
    ----------
    model : ColumnDataSource
        For the renderers.
    """

    def __init__(self, *columns: str, is_patched: bool = False) -> None:
        self.model = ColumnDataSource(data={name: [] for name in columns})
        self._is_patched = is_patched

    def set(self, columns: Mapping[str, ColumnData]) -> bool:
        """Send the columns that differ, all in one message; return whether any does."""
        current = self.model.data
        if self._is_patched:
            columns = {name: _patchable(column) for name, column in columns.items()}
        is_alike = current.keys() == columns.keys() and length(current) == length(columns)
        changed = {n: c for n, c in columns.items() if not is_alike or not _is_same(current[n], c)}
        if not changed or (self._is_patched and self._patch(columns)):
            return bool(changed)
        if is_alike:
            current.update(changed)  # one event with these columns alone
        else:
            self.model.data = dict(changed)
        return True

    def stream(self, rows: Mapping[str, ColumnData], rollover: int | None = None) -> None:
        """Append rows, and drop the first where there are more than ``rollover``."""
        self.model.stream(dict(rows), rollover)

    def _patch(self, columns: Rows) -> bool:
        """Send only what differs from the rows there are, if that is little; tell whether it is."""
        old, n = self.model.data, length(columns)
        if _types(old) != _types(columns) or not n or not length(old):
            return False
        if any(isinstance(c, np.ndarray) and c.dtype.kind in "mM" for c in columns.values()):
            return False  # only whole columns of times are sent in the browser's milliseconds
        index, begin = (next(iter(of.values())) for of in (old, columns))
        first = next((at for at, one in enumerate(index) if one == begin[0]), 0)
        kept = len(index) - first
        if len(index) > n:  # BokehJS shifts an array of numbers that has too many, but cuts none
            return False
        found = {name: _patches(old[name][first:], c[:kept], first) for name, c in columns.items()}
        patches = {name: patch for name, patch in found.items() if patch}
        if sum(map(len, patches.values())) > MOST_PATCHED * n * len(patches):
            return False
        if patches:
            self.model.patch(patches)
        if first or n > kept:
            self.stream({name: column[kept:] for name, column in columns.items()}, n)
        return True


def _patchable(column: ColumnData) -> ColumnData:
    """Return a copy, for patches are done in place, of a type that BokehJS keeps whatever comes.

    Of whole numbers of 64 bits it makes 32 where these will do, of other sequences lists.
    """
    if not isinstance(column, np.ndarray):
        return list(column)
    return column.astype(np.float64) if column.dtype.str[1:] in ("i8", "u8") else column.copy()


def _types(columns: Rows) -> dict[str, object]:
    return {name: getattr(column, "dtype", None) for name, column in columns.items()}


def _patches(old: ColumnData, new: ColumnData, first: int) -> list[tuple[int, Any]]:  # of any type
    """Return place, counted from ``first``, and value of what differs in columns of one type."""
    if isinstance(old, np.ndarray) and isinstance(new, np.ndarray):
        differs = (old != new) & ((old == old) | (new == new))  # noqa: PLR0124 - NaN
        at = np.flatnonzero(differs)
        return list(zip((first + at).tolist(), new[at].tolist(), strict=True))
    return [(first + at, value) for at, value in enumerate(new) if value != old[at]]


def _is_same(old: ColumnData, new: ColumnData) -> bool:
    if old is new:
        return True
    if isinstance(old, np.ndarray) and isinstance(new, np.ndarray):
        is_alike = old.dtype == new.dtype
        return is_alike and np.array_equal(old, new, equal_nan=old.dtype.kind == "f")
    return list(old) == list(new)


_CSS: Final = """
:host {{ overflow: auto; background: {background}; border-top: 1px solid {grid}; }}
.bk-clearfix {{
  white-space: pre-wrap; overflow-wrap: anywhere; padding: 4px 8px; user-select: text;
  font: calc({font_size} - 1px) ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  color: {foreground}; tab-size: 4;
}}
"""


def text_pane(look: Look) -> Div:
    """Return an empty pane of text, which is not visible."""
    pane = Div(render_as_text=True, disable_math=True, sizing_mode="stretch_both", margin=0)
    pane.update(min_width=0, min_height=0, visible=False)
    restyle_text_pane(pane, look)
    return pane


def restyle_text_pane(pane: Div, look: Look) -> None:
    """Give the text the colours and size of ``look``."""
    set_properties(pane, stylesheets=[_CSS.format(**look.style)])


class FigureView(DataPlot):
    """A plot made of `rows`, drawn by `make_figure`.

    Its table, the text of an empty plot, the colours of the page and their change, and that
    nothing is sent while nothing changes come with it.
    """

    _look: Look | None = None

    @abstractmethod
    def make_figure(self, source: ColumnDataSource) -> figure:
        """Return a figure, made with `new_figure`, that draws the columns of `source`.

        Called once for each pane, and again when the page changes its colours, which are in
        ``self.look``.
        """

    def adjust(self, picture: figure, rows: Rows) -> None:
        """Fit ranges and the like to new rows."""

    def new_figure(self, *, hover: Sequence[str] = (), **options: Any) -> figure:
        """Return an empty figure in the look of the page.

        Parameters
        ----------
        hover : sequence of str
            Lines of the tooltip, such as ``("@worker", "@tasks tasks")``; the first one is bold.
        **options
            What `bokeh.plotting.figure` takes; ``y_range=[]`` for an axis of names.
        """
        made = base_figure(self.look, **options)
        made.on_change("renderers", _make_atomic)
        if hover:
            made.add_tools(base_hover(self.look, *hover))
        return made

    def build(self) -> UIElement:
        """Return what holds the figure; see `View.build`."""
        self._source = Source(*self.rows(), is_patched=True)
        self._stack = Stack(sizing_mode="stretch_both", margin=0)
        self._renew_figure()
        return self._stack

    def draw_rows(self, rows: Rows) -> None:
        """Send the columns if they differ; see `DataPlot.draw_rows`."""
        check_lengths(rows)  # Bokeh draws what it can of others, and says so nowhere
        if self._look != self.look:
            self._renew_figure()
        self._source.set(rows)
        self.adjust(self._figure, rows)

    def _renew_figure(self) -> None:
        self._look = self.look
        self._figure = self.make_figure(self._source.model)
        self._stack.children = [self._figure]
        self._stack.styles = {"background-color": self.look.background}


def _make_atomic(_attr: str, old: Sequence[Renderer], new: Sequence[Renderer]) -> None:
    """Have what a figure's own methods add painted by `AtomicRenderer`s, which they do not make.

    They are not replaced: whoever called the method, the legend or a graph holds these already.
    """
    for added in new:
        if added not in old:
            for part in added.select({"type": GlyphRenderer}):  # two in a graph or a contour
                if type(part) is GlyphRenderer:
                    part.__class__ = AtomicRenderer  # which adds no property
