"""What plots of bars made of parts share: controls and figures, one below the other."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bokeh.models import Column

from dask_diag_lab.views import controls
from dask_diag_lab.views.control_bar import OPENER_CSS
from dask_diag_lab.views.figure import set_properties
from dask_diag_lab.views.pane_size import PaneSize
from dask_diag_lab.views.redrawn import RedrawnView
from dask_diag_lab.views.scheduler.bar_row import BarRow
from dask_diag_lab.views.scheduler.part_bars import PartBars

if TYPE_CHECKING:
    from bokeh.models.ui import UIElement


class BarStack(RedrawnView):
    """A column of figures, mostly `PartBars`, under a bar of controls where there is one."""

    @abstractmethod
    def compose(self) -> Sequence[UIElement | PartBars | BarRow]:
        """Return what lies below each other; called once."""

    def build(self) -> UIElement:
        """Return the column; see `View.build`."""
        parts = self.compose()
        self._stacked: list[PartBars] = []
        children: list[UIElement] = []
        for part in parts:
            if isinstance(part, BarRow):
                self._stacked += part.bars
                children.append(part.model)
            elif isinstance(part, PartBars):
                self._stacked.append(part)
                children.append(part.figure)
            else:
                children.append(part)
        self._root = Column(
            children=children,
            sizing_mode="stretch_both",
            spacing=0,
            stylesheets=[OPENER_CSS],
        )
        self.restyle()
        return self._root

    @property
    def sizes(self) -> tuple[PaneSize, ...]:
        """How large the figures of bars are on the page."""
        return tuple(bars.size for bars in self._stacked)

    def restyle_models(self) -> None:
        """Apply `look`; see `RedrawnView.restyle_models`."""
        controls.restyle_controls(self._root.children, self.look)
        set_properties(self._root, styles={"background-color": self.look.background})
        for bars in self._stacked:
            bars.restyle(self.look)
