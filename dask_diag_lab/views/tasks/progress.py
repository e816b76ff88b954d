"""How far the tasks are: a bar for each prefix, group or span, those with work left first.

Tasks that the scheduler forgot stay counted as done, or as failed, also when the same is computed
again after that; on the stock dashboard they leave the bar.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np
from bokeh.models import Range1d, WheelPanTool
from bokeh.models.annotations import Title

from dask_diag_lab.records import STATES
from dask_diag_lab.views import controls
from dask_diag_lab.views.base import Notice, Table
from dask_diag_lab.views.control_bar import ControlBar
from dask_diag_lab.views.figure import quiet_figure, set_properties
from dask_diag_lab.views.look import LIGHT, Look
from dask_diag_lab.views.palette import data_colors, prefix_color
from dask_diag_lab.views.pane_size import PaneSize, restyle_pane
from dask_diag_lab.views.redrawn import RedrawnView
from dask_diag_lab.views.room import note_px, size_among
from dask_diag_lab.views.small_legend import SmallLegend, lines_for
from dask_diag_lab.views.tasks import progress_bars as bars
from dask_diag_lab.views.tasks import progress_words as words
from dask_diag_lab.views.tasks.progress_bars import Grid
from dask_diag_lab.views.tasks.progress_estimate import estimate
from dask_diag_lab.views.tasks.progress_glyphs import (
    COLUMN_GAP_PX,
    ProgressGlyphs,
    legend_entries,
)
from dask_diag_lab.views.tasks.progress_rows import (
    KINDS,
    ORDERS,
    Rows,
    begun,
    dropped_note,
    nested_note,
    rows_of,
    why_no_rows,
)

if TYPE_CHECKING:
    from bokeh.models.ui import UIElement

    from dask_diag_lab.store import Store

NO_TASKS: Final = "No tasks yet. They appear as soon as something is computed on this cluster."

_TITLE_PX: Final = 26
_SIDES_PX: Final = 16
_SPARE: Final = 48
"""Bars drawn beyond either edge."""


class Progress(RedrawnView):
    """One bar a prefix, group or span; arguments ``by``, of `KINDS`, and ``order``, of `ORDERS`."""

    moves_itself: ClassVar[bool] = True
    choices: ClassVar[Mapping[str, Sequence[str]]] = {
        "by": tuple(dict(KINDS)),
        "order": tuple(dict(ORDERS)),
    }

    def __init__(
        self, store: Store, look: Look = LIGHT, arguments: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(store, look, arguments)
        self.glyphs = ProgressGlyphs()
        self.cells = self.glyphs.cells
        self.kind = self.arguments.get("by", "prefix")
        self.order = self.arguments.get("order", "size")

    @property
    def needs(self) -> frozenset[str]:  # type: ignore[override]  # others always need the same
        """Spans only where they are shown: they cost the scheduler most."""
        return frozenset({"spans"} if self.kind == "span" else ())

    # --- the picture

    def build(self) -> UIElement:
        """Return controls and figure; see `View.build`."""
        self._title = Title(text=" ")
        self._x, self._y = Range1d(start=0, end=1), Range1d(start=1, end=0)
        plot = self.figure = quiet_figure(
            self.look, title=self._title, x_range=self._x, y_range=self._y
        )
        plot.update(min_border_left=8, min_border_right=8)
        plot.axis.visible = False
        plot.grid.visible = False
        self.glyphs.add_to(plot, self.look)
        # Scrolls where not all bars fit; the range's bounds hold it where they do.
        self._wheel = WheelPanTool(dimension="height")
        plot.add_tools(self._wheel)
        self._legend = SmallLegend(plot, legend_entries(self.look))
        self._kinds = controls.select(
            self.look, "Bars", list(KINDS), self.kind, self._set_kind, width=110
        )
        self._orders = controls.select(
            self.look, "Order", list(ORDERS), self.order, self._set_order, width=160
        )
        self.controls = ControlBar(self.look, self._kinds, self._orders)
        self.root = self.controls.above(plot)
        self.restyle()
        return self.root

    def restyle_models(self) -> None:
        """Apply `look`; see `RedrawnView.restyle_models`."""
        restyle_pane(self.figure, self.look)
        self.controls.restyle(self.look)
        set_properties(self.root, styles={"background-color": self.look.background})
        self.glyphs.restyle(self.look)
        self._legend.restyle(legend_entries(self.look))

    # --- keeping it up to date

    def command(self, verb: str) -> None:
        """Order by ``order-size``, ``order-topological``; ``by-prefix``, ``by-group``, ``by-span``.

        ``fit`` scrolls to the top; see `View.command`.
        """
        what, _, name = verb.partition("-")
        if what == "order" and name in dict(ORDERS):
            self._set_order(name)
        elif what == "by" and name in dict(KINDS):
            self._set_kind(name)
        elif verb == "fit":
            self._scroll_to_top()
        else:
            return
        self.update()

    def show(self, arguments: Mapping[str, str]) -> None:
        """Choose bars and order anew, where the arguments name them; see `View.show`."""
        super().show(arguments)
        self._set_kind(arguments.get("by", self.kind))
        self._set_order(arguments.get("order", self.order))

    def _set_kind(self, kind: str) -> None:
        self.kind = kind
        set_properties(self._kinds, value=kind)
        self._scroll_to_top()

    def _set_order(self, order: str) -> None:
        self.order = order
        set_properties(self._orders, value=order)
        self._scroll_to_top()

    def _scroll_to_top(self) -> None:
        top, bottom = self._sight()
        set_properties(self._y, start=bottom - top, end=0)

    def _sight(self) -> tuple[float, float]:
        """Return which pixels of all rows are seen, from the top."""
        ends = (self._y.end, self._y.start)
        top, bottom = (end if isinstance(end, float | int) else 0.0 for end in ends)
        return top, bottom

    @property
    def size(self) -> PaneSize:
        """How large the figure is on the page, among controls and note."""
        note, font_size = self.notice.note, self.look.font_size
        return size_among(self.figure, note, font_size, self.controls.bar)

    def redraw(self) -> None:
        """Draw the bars; see `RedrawnView.redraw`."""
        size = self.size
        rows = rows_of(self.store, self.kind, self.order)
        self._is_bare = size.is_small or not self._has_room_for_more(len(rows), size)
        self.controls.show(has_room=not self._is_bare)
        if len(rows):
            self._draw(rows, size)
        else:
            self._draw_nothing()

    def _has_room_for_more(self, number: int, size: PaneSize) -> bool:
        """Return whether there are as many bars as should be with controls and legend too."""
        wanted = bars.wanted_in(size.whole_px)
        legend_px = self._legend.height_px(size.width, lines_for(size.whole_px))
        height = size.whole_px - _TITLE_PX - legend_px
        return bars.fit_grid(number, _width(size), height, wanted)[1] >= min(number, wanted)

    def shown(self) -> object:
        """Return what differs when the picture has to; see `RedrawnView.shown`."""
        store, size = self.store, self.size
        nthreads = store.scheduler.nthreads if store.scheduler else 0
        groups = (store.groups, store.ended_groups)
        tables = (store.prefixes, *groups, store.extras["spans"], store.palette)
        versions = tuple(table.version for table in tables)
        # What runs comes nearer to its end though nothing else happens.
        second = int(store.time) if store.running.count else 0
        chosen = self.kind, self.order, self.controls.is_asked_for
        return versions, second, chosen, nthreads, self._sight(), size, self.look

    def _draw(self, rows: Rows, size: PaneSize) -> None:
        lines, is_bare = lines_for(size.whole_px), self._is_bare
        self._legend.show(is_shown=not is_bare, width=size.width, most_lines=lines)
        legend_px = 0 if is_bare else self._legend.height_px(size.width, lines)
        height, width = size.height - _TITLE_PX - legend_px, _width(size)
        wanted = bars.wanted_in(size.whole_px)
        most = wanted if is_bare else math.inf
        grid, shown = bars.fit_grid(len(rows), width, height, wanted, most)
        set_properties(self._x, start=0, end=width - COLUMN_GAP_PX)
        first, drawn = self._scroll(grid, height, len(rows))
        self._draw_title(size)
        cells = rows.take(drawn)
        colors = [self._color(prefix) for prefix in cells.prefixes]
        self.glyphs.draw(cells, grid, int(drawn[0]), colors)
        font_size = self.look.font_size
        seen = first, min(shown, len(rows) - first)
        hidden = words.hidden_note(rows.states, *seen, self.kind)
        if self._is_bare or note_px(hidden, size.width, font_size) > note_px(
            "x", size.width, font_size
        ):
            # A second line would take the place of a bar.
            hidden = words.hidden_note(rows.states, *seen, self.kind, is_short=True)
        notes = (hidden, dropped_note(self.store, self.kind), nested_note(self.store, self.kind))
        self.notice = Notice(note="; ".join(filter(None, notes)))

    def _scroll(self, grid: Grid, height: float, n: int) -> tuple[int, bars.Ints]:
        """Keep what is seen inside the rows; return the first bar in sight and those to draw.

        Some above and below are drawn too: a hand that scrolls is faster than the answer.
        """
        whole = max(height, grid.height)
        top = min(max(self._sight()[0], 0.0), whole - height) if grid.is_scrolled else 0.0
        # The page keeps a range inside the bounds that it knows: those come first.
        set_properties(self._y, bounds=(0, whole))
        set_properties(self._y, start=top + height, end=top)
        scroll = self._wheel if grid.is_scrolled else None
        set_properties(self.figure.toolbar, active_scroll=scroll)
        if not grid.is_scrolled:
            return 0, np.arange(n)
        first = math.ceil(top / grid.row_px - 0.5) * grid.columns
        seen = math.ceil(height / grid.row_px + 1) * grid.columns
        more = min(seen, _SPARE) + grid.columns
        return first, np.arange(max(first - more, 0), min(first + seen + more, n))

    def _draw_title(self, size: PaneSize) -> None:
        prefixes = self.store.prefixes
        nthreads = self.store.scheduler.nthreads if self.store.scheduler else 0
        grounds = (prefixes.states, prefixes.duration, prefixes.rate, nthreads)
        left = estimate(*grounds, begun(self.store))
        text = words.title(prefixes.states, left, size.title_characters)
        set_properties(self._title, text=text)

    def _draw_nothing(self) -> None:
        self.glyphs.clear()
        set_properties(self._title, text=" ")
        self._legend.show(is_shown=False)
        self.notice = Notice(empty=why_no_rows(self.store, self.kind, NO_TASKS))

    def _color(self, prefix: str) -> str:
        if self.kind == "span":
            return data_colors(self.look).load_normal
        return prefix_color(self.store.palette.index(prefix), self.look)

    def table(self) -> Table:
        """Return one row a prefix, group or span, in the order of the bars."""
        rows = rows_of(self.store, self.kind, self.order)
        columns: dict[str, Sequence[object]] = {
            self.kind: list(rows.names),
            "total": rows.states.sum(axis=1).tolist(),
            "done": bars.done(rows.states).tolist(),
        }
        columns |= {name: bars.counts(rows.states, name).tolist() for name in STATES}
        columns["nbytes"] = [size if size >= 0 else None for size in rows.held.tolist()]
        columns["duration"] = [_or_none(seconds) for seconds in rows.duration.tolist()]
        return Table(columns, {"nbytes": "B", "duration": "s"})


def _width(size: PaneSize) -> float:
    """Return the width of all columns, each with its gap."""
    return size.width - _SIDES_PX + COLUMN_GAP_PX


def _or_none(number: float) -> float | None:
    return number if math.isfinite(number) else None
