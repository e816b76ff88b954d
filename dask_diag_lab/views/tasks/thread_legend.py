"""The legend of threads at work: which area is which prefix's, as many as fit into a line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from bokeh.plotting import figure

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.figure import Source, set_properties
from dask_diag_lab.views.name_legend import color_legend, more, n_fitting
from dask_diag_lab.views.pane_size import PaneSize
from dask_diag_lab.views.shown_name import shown_name
from dask_diag_lab.views.tasks.thread_layers import Layers

_LABEL_CHARACTERS: Final = 20
_LEAST_PX: Final = 180
"""A lower figure has no room for a legend."""
_CLEAR: Final = "#00000000"


class ThreadLegend:
    """The legend of one figure.

    Parameters
    ----------
    plot : figure
    alpha : float
        Of the areas.

    Attributes
    ----------
    names : Source
        One row for each entry.
    """

    def __init__(self, plot: figure, alpha: float) -> None:
        self.names = Source("label", "color", "at")
        self._legend = color_legend(plot, self.names, "color", None, alpha)
        self.hide()

    def show(self, layers: Layers, size: PaneSize, color_of: Callable[[str], str]) -> None:
        """Name the layers, where there is room."""
        labels, names = legend_of(layers, size.width)
        colors = [_CLEAR if name is None else color_of(name) for name in names]
        self.names.set({"label": labels, "color": colors, "at": np.full(len(labels), np.nan)})
        set_properties(self._legend, visible=size.height >= _LEAST_PX)

    def hide(self) -> None:
        """Name nothing."""
        set_properties(self._legend, visible=False)


def legend_of(layers: Layers, width_px: float) -> tuple[list[str], list[str | None]]:
    """Return the labels of a legend and the layers they name: the largest that fit, in order.

    The last label counts those that do not fit; it names None.
    """
    seconds = (layers.threads * np.diff(layers.edges)).sum(axis=1)
    is_others = [not name for name in layers.names]  # what the note says gives way to names
    order = np.lexsort((-seconds, is_others)).tolist()
    labels = [
        shown_name(name, _LABEL_CHARACTERS) if name else fmt.plural(layers.n_others, "other")
        for name in layers.names
    ]
    n = n_fitting([labels[row] for row in order], width_px)
    shown = sorted(order[:n])
    words, names = [labels[row] for row in shown], [layers.names[row] for row in shown]
    if n < len(order):
        return [*words, more(len(order) - n)], [*names, None]
    return words, [*names]
