"""Plots made of several, and of one extra table of the history.

The parts are below each other, or in a grid of two columns, each with its headline.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Final

from bokeh.models.layouts import Column, Row
from bokeh.models.widgets import Div

from dask_diag_lab.views.figure import set_properties
from dask_diag_lab.views.view import Caption, Table, View

if TYPE_CHECKING:
    from bokeh.models.ui import UIElement

    from dask_diag_lab.store.sums import Window
    from dask_diag_lab.store.tables import ExtraTable

_CSS: Final = """
:host {{ flex: none; overflow: hidden; background: {background}; }}
.bk-clearfix {{
  padding: 4px 8px 0; font: 600 calc({font_size} - 1px) {font}; color: {foreground};
  overflow: hidden; text-overflow: ellipsis; white-space: nowrap;
}}
"""


class StackPlot(View):
    """Several views as one plot.

    What is said of the whole, legends, controls and notes, is that of all parts together; of parts
    that are empty only the reason is shown, as a note, and the headline of the first one that is
    not is the plot's, unless the parts lie in a grid.

    Attributes
    ----------
    plots : sequence of type
        Subclasses of `View` that need no name of their own; what they need is `needs`.
    is_grid : bool
        Whether two parts lie side by side.
    """

    plots: ClassVar[Sequence[type[View]]] = ()
    is_grid: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        cls.has_period = any(plot.has_period for plot in cls.plots)
        super().__init_subclass__()
        cls.needs = cls.needs.union(*(plot.needs for plot in cls.plots))

    def set_up(self) -> None:
        """Make what it keeps; see `View.set_up`."""
        self.parts = [
            plot(self.live, self.look, self.arguments if plot.has_period else {})
            for plot in self.plots
        ]

    def show(self, arguments: Mapping[str, str]) -> None:
        """Show another stretch of time; see `View.show`."""
        super().show(arguments)
        for part in self.parts:
            if part.has_period:
                part.show(arguments)

    @property
    def chosen_period(self) -> Window | None:
        """That of the first part with one; see `View.chosen_period`."""
        chosen = (part.chosen_period for part in self.parts)
        return next((period for period in chosen if period is not None), None)

    @property
    def is_behind(self) -> bool:
        """Whether a part is; see `View.is_behind`."""
        return any(part.is_behind for part in self.parts)

    def build(self) -> UIElement:
        """Return all parts; see `View.build`."""
        self._headings = [
            Div(render_as_text=True, disable_math=True, margin=0, sizing_mode="stretch_width")
            for _ in self.parts
        ]
        self._cells = [
            Column(children=[heading, part.build()], sizing_mode="stretch_both", spacing=0)
            for heading, part in zip(self._headings, self.parts, strict=True)
        ]
        width = 2 if self.is_grid else 1
        self._rows = [
            Row(children=list(self._cells[at : at + width]), sizing_mode="stretch_both", spacing=0)
            for at in range(0, len(self._cells), width)
        ]
        self._root = Column(children=list(self._rows), sizing_mode="stretch_both", spacing=0)
        self._style()
        return self._root

    def update(self) -> None:
        """Bring all parts up to date; see `View.update`."""
        for part in self.parts:
            part.update()
            if part.plot_link is not None:
                self.plot_link, part.plot_link = part.plot_link, None
        captions = [part.caption for part in self.parts]
        first = next((caption for caption in captions if not caption.empty), None)
        for cell, heading, caption in zip(self._cells, self._headings, captions, strict=True):
            is_whole = caption is first and not self.is_grid
            text = "" if is_whole else caption.headline
            set_properties(heading, text=text, visible=bool(text))
            set_properties(cell, visible=not caption.empty)
        for row in self._rows:  # a row without anything in it would keep its share of the height
            set_properties(row, visible=any(cell.visible for cell in row.children))
        self.caption = self._together(captions)

    def restyle(self) -> None:
        """Apply `look` to all parts; see `View.restyle`."""
        self._style()
        for part in self.parts:
            part.look = self.look
            part.restyle()
        self.update()

    def command(self, verb: str) -> None:
        """Pass it on to all parts; see `View.command`."""
        for part in self.parts:
            part.command(verb)

    def set_control(self, name: str, value: str) -> None:
        """Pass it on to all parts; see `View.set_control`."""
        for part in self.parts:
            part.set_control(name, value)

    def _together(self, captions: Sequence[Caption]) -> Caption:
        if all(caption.empty for caption in captions):
            return captions[0]
        shown = [caption for caption in captions if not caption.empty]
        return Caption(
            headline="" if self.is_grid else shown[0].headline,
            legend=list(dict.fromkeys(item for caption in shown for item in caption.legend)),
            controls=list({one.name: one for each in shown for one in each.controls}.values()),
            note=" · ".join(dict.fromkeys(filter(None, (c.empty or c.note for c in captions)))),
            behind_s=max(caption.behind_s for caption in shown),
        )

    def _style(self) -> None:
        css = _CSS.format(**self.look.style)
        for heading in self._headings:
            set_properties(heading, stylesheets=[css])
        set_properties(self._root, styles={"background-color": self.look.background})


WAITING: Final = "Waiting for the scheduler's answer."


def extra_table(extra: ExtraTable) -> Table:
    """Return every row of an extra table."""
    units = {column.name: column.unit for column in extra.table.columns if column.unit}
    return Table({name: extra[name].tolist() for name in extra.columns}, units)


class ExtraPlot(View):
    """A plot, or a part of one, of the extra table that `reads` names first.

    Attributes
    ----------
    settings : sequence of str
        Attributes that the reader sets by controls of their names.
    """

    empty: ClassVar[str] = ""
    settings: ClassVar[Sequence[str]] = ()

    @property
    def extra(self) -> ExtraTable:
        """The table."""
        return self.history.extras[self.reads[0]]

    def why_empty(self) -> str:
        """Return why there are no rows: `empty` where the scheduler has sent the table."""
        return self.empty if self.extra.is_known else WAITING

    def state(self) -> object:
        """Return what the reader has set; see `View.state`."""
        return super().state(), [getattr(self, name) for name in self.settings]

    def set_control(self, name: str, value: str) -> None:
        """Set one of `settings`; see `View.set_control`."""
        if name in self.settings:
            setattr(self, name, value)
        else:
            super().set_control(name, value)


class ExtraStack(StackPlot):
    """Several parts of the one extra table that it `needs`; all rows of that are its table."""

    def table(self) -> Table:
        """Return every row."""
        (name,) = self.needs
        return extra_table(self.history.extras[name])
