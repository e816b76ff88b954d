"""The quiet figure that all plots share, and the rule that unchanged data is never sent.

Knows Bokeh and `look`; knows nothing of the store or of any one plot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from bokeh.core.property.descriptors import UnsetValueError
from bokeh.models import (
    Axis,
    BasicTickFormatter,
    ColumnDataSource,
    Grid,
    HoverTool,
    Model,
    Plot,
)
from bokeh.models.annotations import Legend, Title
from bokeh.models.glyph import Glyph
from bokeh.plotting import figure

from dask_diag_lab.views.data import ColumnData
from dask_diag_lab.views.look import Look
from dask_diag_lab.views.models import AllRows, PlainRenderer, WordedTickFormatter

MIN_BORDER_PX: Final = 4

_TOOLTIP_FIT: Final = (
    ":host{opacity:1!important}"
    ".ddl{max-width:min(420px,calc(50vw - 26px))}"
    "@\\6d edia (max-width:480px){"  # Bokeh would read "@media" as the name of a column
    ":host{left:4px!important;top:auto!important;bottom:4px!important;max-width:calc(100vw - 8px)}"
    ".ddl{max-width:none;line-height:1.3}}"
)
"""Keeps a tooltip in the window, which in an output or a frame may be as small as the plot.

Bokeh lets what is below shine through, which is words among words where that is dark.

Bokeh puts it at the left or right of the pointer, where it fits if it is not wider than half of the
window. A narrow one has no room at either side: there it lies along the lower edge.
"""


def quiet_figure(look: Look, **options: Any) -> figure:
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
    for axis in made.axis:
        if type(axis.formatter) is BasicTickFormatter:  # neither of dates nor of names
            axis.formatter = WordedTickFormatter()
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


def set_properties(model: Model, **values: Any) -> bool:
    """Set those properties that differ; return whether any did.

    Bokeh sends a patch for an equal list or mapping; this does not.
    """
    changed = {name: value for name, value in values.items() if not _has(model, name, value)}
    if changed:
        model.update(**changed)
    return bool(changed)


def _has(model: Model, name: str, value: object) -> bool:
    try:
        return bool(getattr(model, name) == value)
    except UnsetValueError:
        return False


def restyle_figure(plot: Plot, look: Look) -> None:
    """Give a figure, its axes, grids, title and legends the colours and font of ``look``."""
    set_properties(
        plot,
        background_fill_color=look.background,
        border_fill_color=look.background,
        outline_line_color=None,
    )
    if isinstance(plot.title, Title):
        restyle_title(plot.title, look)
    for part in (*plot.left, *plot.right, *plot.above, *plot.below, *plot.center):
        if isinstance(part, Axis):
            restyle_axis(part, look)
        elif isinstance(part, Grid):
            set_properties(part, grid_line_color=look.grid, grid_line_alpha=0.6)
        elif isinstance(part, Legend):
            restyle_legend(part, look)


def restyle_title(title: Title, look: Look) -> None:
    """Make a title small and level with the text around it."""
    set_properties(
        title,
        text_color=look.foreground,
        text_font=look.font,
        text_font_size=look.font_size,
        text_font_style="bold",
        standoff=4,
    )


def restyle_axis(axis: Axis, look: Look) -> None:
    """Make an axis quiet: no line, no minor ticks, secondary text."""
    set_properties(
        axis,
        axis_line_color=None,
        major_tick_line_color=look.grid,
        minor_tick_line_color=None,
        major_tick_in=0,
        major_tick_out=4,
        major_label_text_color=look.muted,
        major_label_text_font=look.font,
        major_label_text_font_size=smaller(look.font_size),
        axis_label_text_color=look.muted,
        axis_label_text_font=look.font,
        axis_label_text_font_size=smaller(look.font_size),
        axis_label_text_font_style="normal",
    )


def restyle_legend(legend: Legend, look: Look) -> None:
    """Make a legend small and without a box of its own."""
    set_properties(
        legend,
        background_fill_color=None,
        border_line_color=None,
        label_text_color=look.muted,
        label_text_font=look.font,
        label_text_font_size=smaller(look.font_size),
    )


def smaller(font_size: str, by: float = 1) -> str:
    """Return a CSS size of ``by`` units less, for labels: ``"12px"`` → ``"11px"``."""
    number = font_size.rstrip("abcdefghijklmnopqrstuvwxyz%")
    try:
        size = float(number)
    except ValueError:
        return font_size
    return f"{max(size - by, 1):g}{font_size[len(number) :]}"


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


def quiet_hover(look: Look, *lines: str, **options: Any) -> HoverTool:
    """Return a hover tool whose tooltip is `tooltip_html` of the lines.

    A view that is restyled sets ``hover.tooltips = tooltip_html(look, *lines)`` again.
    """
    defaults: dict[str, Any] = {  # Bokeh's tool options have no common type
        "tooltips": tooltip_html(look, *lines),
        "show_arrow": False,
        "point_policy": "follow_mouse",
    }
    return HoverTool(**{**defaults, **options})


class Source:
    """A column source that sends columns only when one of them changed.

    Attributes
    ----------
    model : ColumnDataSource
        For the renderers.
    sent_bytes : int
        Bytes of array data assigned so far; text counted by its characters.
    """

    def __init__(self, *columns: str) -> None:
        self.model = ColumnDataSource(data={name: [] for name in columns})
        self.sent_bytes = 0

    def set(self, columns: Mapping[str, ColumnData]) -> bool:
        """Send the columns that differ, all in one message; return whether any does."""
        current = self.model.data
        changed = {
            name: column
            for name, column in columns.items()
            if name not in current or not _is_same(current[name], column)
        }
        if current.keys() != columns.keys() or any(
            len(current[name]) != len(column) for name, column in changed.items()
        ):
            self.model.data = changed = dict(columns)
        elif changed:
            current.update(changed)  # one event with these columns alone
        self.sent_bytes += sum(_size(column) for column in changed.values())
        return bool(changed)

    def stream(self, rows: Mapping[str, ColumnData]) -> None:
        """Append rows; only they are sent."""
        self.model.stream(dict(rows))
        self.sent_bytes += sum(_size(column) for column in rows.values())


def _is_same(old: ColumnData, new: ColumnData) -> bool:
    if old is new:
        return True
    if len(old) != len(new):
        return False
    if isinstance(old, np.ndarray) and isinstance(new, np.ndarray):
        if old.dtype != new.dtype:
            return False
        return bool(np.array_equal(old, new, equal_nan=old.dtype.kind == "f"))
    return list(old) == list(new)


def _size(column: ColumnData) -> int:
    if not isinstance(column, np.ndarray):
        return sum(len(str(value)) + 3 for value in column)
    is_text = column.dtype.kind == "U"
    return int(np.char.str_len(column).sum() + 3 * len(column) if is_text else column.nbytes)


Values = npt.NDArray[np.float64] | Sequence[str]


class TailSource:
    """A column source; rows before the first that differs are not sent again.

    Parameters
    ----------
    *columns : str
    tolerance : float
        A number that differs by no more is the same: nobody could see it.

    Attributes
    ----------
    model : ColumnDataSource
        For the renderers.
    sent_rows : int
        Rows assigned, patched or streamed so far.
    """

    def __init__(self, *columns: str, tolerance: float = 0.0) -> None:
        self.model = ColumnDataSource(data={name: [] for name in columns})
        self.sent_rows = 0
        self._tolerance = tolerance
        self._kept: dict[str, Values] = {name: [] for name in columns}

    def set(self, columns: Mapping[str, Values]) -> bool:
        """Show these columns, of equal lengths; return whether anything was sent."""
        before, now = (len(next(iter(c.values()))) for c in (self._kept, columns))
        first = min(
            _first_difference(self._kept[name], columns[name], self._tolerance) for name in columns
        )
        if first == before == now:
            return False
        self.sent_rows += now - min(first, now)
        if 2 * first < now or now < before:
            self._kept = dict(columns)
            self.model.data = dict(columns)
            return True
        if first < before:
            self.model.patch(
                {name: [(slice(first, before), c[first:before])] for name, c in columns.items()}
            )
        if now > before:
            self.model.stream({name: c[before:] for name, c in columns.items()})
        # What is left unsent for being too small to see must not add up.
        self._kept = {name: _joined(self._kept[name], c, first) for name, c in columns.items()}
        return True


def _first_difference(old: Values, new: Values, tolerance: float) -> int:
    """Return how many rows of the beginning are the same."""
    n = min(len(old), len(new))
    if isinstance(old, np.ndarray) and isinstance(new, np.ndarray):
        # `np.isclose` takes five times as long for columns as short as those of a picture.
        some, others = old[:n], new[:n]
        is_same = (some == others) | (np.isnan(some) & np.isnan(others))
        if tolerance:
            with np.errstate(invalid="ignore"):  # of infinities
                is_same |= np.abs(some - others) <= tolerance
        return n if is_same.all() else int(np.argmin(is_same))
    return next((i for i in range(n) if old[i] != new[i]), n)


def _joined(old: Values, new: Values, first: int) -> Any:  # of the type of both
    if isinstance(old, np.ndarray):
        return np.concatenate([old[:first], new[first:]])
    return new
