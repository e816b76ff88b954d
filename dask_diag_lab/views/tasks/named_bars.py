"""What the plots with a bar for each name share: order, the bar of the others, words, hover.

Knows Bokeh and the look; what is measured comes from the subclass.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
import numpy.typing as npt
from bokeh.models import HBar

from dask_diag_lab.views import controls
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.bar_figure import BAR_HEIGHT, NUMBER, BarFigure, Scale
from dask_diag_lab.views.base import Notice
from dask_diag_lab.views.control_bar import ControlBar
from dask_diag_lab.views.figure import Source, add_glyph, quiet_hover, set_properties, tooltip_html
from dask_diag_lab.views.look import LIGHT, Look
from dask_diag_lab.views.palette import data_colors
from dask_diag_lab.views.redrawn import RedrawnView
from dask_diag_lab.views.room import size_among
from dask_diag_lab.views.shown_name import shown_name

if TYPE_CHECKING:
    from bokeh.models.ui import UIElement

    from dask_diag_lab.store import Store
    from dask_diag_lab.views.pane_size import PaneSize

Ints = npt.NDArray[np.int64]

ORDERS: Final = (("size", "by size"), ("name", "by name"))

_HOVER_LINES: Final = 5
_HOVER_FIELDS: Final = tuple(f"@hover{line}" for line in range(_HOVER_LINES))


@dataclass(frozen=True, slots=True)
class Amounts:
    """What there is to draw.

    Attributes
    ----------
    names : sequence of str
    sizes : ndarray of float64
        Length of each bar, in the unit of the plot; not negative.
    title, short_title : str
        The second one where the first does not fit.
    """

    names: Sequence[str]
    sizes: npt.NDArray[np.float64]
    title: str
    short_title: str


class NamedBars(RedrawnView):
    """A horizontal bar for each name; what does not fit is one bar with the sum of the rest."""

    scale: ClassVar[Scale] = NUMBER
    noun: ClassVar[str] = "prefix"
    nouns: ClassVar[str] = "prefixes"

    def __init__(
        self, store: Store, look: Look = LIGHT, arguments: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(store, look, arguments)
        hover = [f"hover{line}" for line in range(_HOVER_LINES)]
        self.bars = Source("y", "size", "color", "value", *hover)
        self.order = "size"

    # --- what a subclass says

    @abstractmethod
    def seen(self) -> object:
        """Return something that differs when the data did."""

    @abstractmethod
    def empty(self) -> str:
        """Return why there is nothing to draw, '' when there is something."""

    @abstractmethod
    def amounts(self) -> Amounts:
        """Return what to draw now; `empty` said ''."""

    @abstractmethod
    def color(self, index: int) -> str:
        """Return the colour of one bar of the last `amounts`."""

    @abstractmethod
    def words(self, index: int) -> tuple[str, Sequence[str]]:
        """Return the value beside a bar, and its lines of hover without the name."""

    @abstractmethod
    def words_of_others(self, indices: Ints) -> tuple[str, Sequence[str]]:
        """Return the same for the bar of all that have none of their own."""

    # --- the picture

    def build(self) -> UIElement:
        """Return controls and figure; see `View.build`."""
        bars = self.bars.model
        bar = HBar(y="y", right="size", height=BAR_HEIGHT, fill_color="color")
        self._frame = BarFigure(self.look, bar, bars, bars, "size")
        plot = self.figure = self._frame.figure
        # Invisible and as wide as the plot, so that a short bar is as easy to point at.
        self._target = HBar(y="y", right=1, height=1, fill_alpha=0, line_color=None)
        target = add_glyph(plot, bars, self._target)
        self._hover = quiet_hover(self.look, *_HOVER_FIELDS, renderers=[target])
        plot.add_tools(self._hover)
        self._select = controls.select(
            self.look, "Order", list(ORDERS), self.order, self._set_order, width=110
        )
        self.controls = ControlBar(self.look, self._select)
        self.root = self.controls.above(plot)
        self.restyle()
        return self.root

    def restyle_models(self) -> None:
        """Apply `look`; see `RedrawnView.restyle_models`."""
        self._frame.restyle(self.look)
        self.controls.restyle(self.look)
        set_properties(self.root, styles={"background-color": self.look.background})
        set_properties(self._hover, tooltips=tooltip_html(self.look, *_HOVER_FIELDS))

    def command(self, verb: str) -> None:
        """Order by ``order-size`` or ``order-name``; see `View.command`."""
        order = verb.removeprefix("order-")
        if verb != order and order in dict(ORDERS):
            self._set_order(order)
            self.update()

    def _set_order(self, order: str) -> None:
        self.order = order
        set_properties(self._select, value=order)

    # --- keeping it up to date

    def shown(self) -> object:
        """Return what differs when the picture has to; see `RedrawnView.shown`."""
        return self.seen(), self.order, self.controls.is_asked_for, self.size, self.look

    @property
    def size(self) -> PaneSize:
        """How large the figure is on the page, among controls and note."""
        note, font_size = self.notice.note, self.look.font_size
        return size_among(self.figure, note, font_size, self.controls.bar)

    def redraw(self) -> None:
        """Draw all bars; see `RedrawnView.redraw`."""
        empty = self.empty()
        self.controls.show(has_room=not self.size.is_small, is_of_use=not empty)
        if empty:
            self.bars.set({name: [] for name in self.bars.model.data})
            self._frame.clear()
            self.notice = Notice(empty=empty)
            return
        amounts = self.amounts()
        shown, others = self.chosen(amounts)
        self._draw(amounts, shown, others)
        self.notice = Notice(note=self._note(len(others)))

    def chosen(self, amounts: Amounts) -> tuple[Ints, Ints]:
        """Return the indices that get a bar, in order, and those of the bar of the others.

        The largest ones get a bar, in whatever order they are then shown. Controls take none of
        them away, see `BarFigure.room`, but where a reader has them shown without room.
        """
        bar, size = self.controls.bar, self.size
        has_controls = bool(bar.visible) and not size.is_small
        self._frame.controls_px = controls.bar_px(bar, size.width) if has_controls else 0
        room = self._frame.room
        by_size = np.argsort(-amounts.sizes, kind="stable")
        if len(by_size) > room:
            shown, others = by_size[: room - 1], by_size[room - 1 :]
        else:
            shown, others = by_size, by_size[:0]
        if self.order == "name":
            by_name = sorted(shown.tolist(), key=lambda index: amounts.names[index].casefold())
            shown = np.array(by_name, dtype=np.int64)
        return shown, others

    def _draw(self, amounts: Amounts, shown: Ints, others: Ints) -> None:
        sizes = amounts.sizes[shown].tolist()
        indices = shown.tolist()
        width = self._frame.name_characters
        labels = [shown_name(amounts.names[index], width) for index in indices]
        heads = [shown_name(amounts.names[index]) for index in indices]
        colors = [self.color(index) for index in indices]
        said = [self.words(index) for index in indices]
        if len(others):
            sizes.append(float(amounts.sizes[others].sum()))
            labels.append(f"{fmt.count(len(others))} others")
            heads.append(f"{fmt.count(len(others))} other {self.nouns}")
            colors.append(data_colors(self.look).gone)
            said.append(self.words_of_others(others))
        hovers = [[head, *lines] for head, (_, lines) in zip(heads, said, strict=True)]
        columns: dict[str, Any] = {  # arrays and lists
            "y": np.arange(len(sizes), dtype=np.float64),
            "size": np.array(sizes, dtype=np.float64),
            "color": colors,
            "value": [text for text, _ in said],
        }
        columns |= {
            f"hover{line}": [lines[line] if line < len(lines) else "" for lines in hovers]
            for line in range(_HOVER_LINES)
        }
        titles = (amounts.title, amounts.short_title)
        longest = max(sizes, default=0.0)
        self._frame.lay_out(titles, labels, columns["value"], longest, self.scale)
        set_properties(self._target, right=self._frame.end)
        self.bars.set(columns)

    def _note(self, n_others: int) -> str:
        if not n_others:
            return ""
        return (
            f"{fmt.count(n_others)} smaller {self.noun if n_others == 1 else self.nouns} in one bar"
        )
