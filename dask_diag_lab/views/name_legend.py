"""A legend of names above a plot: swatches in colours of the data, as many as fit into a line."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, Final

from bokeh.models import HBar
from bokeh.models.annotations import Legend, LegendItem
from bokeh.plotting import figure

from dask_diag_lab.views.figure import Source
from dask_diag_lab.views.format import count
from dask_diag_lab.views.pane_size import CHARACTER_PX
from dask_diag_lab.views.scripted import SteadyRenderer

_SWATCH_PX: Final = 24
"""With the room around it."""
_SHARE: Final = 0.9
"""Of a figure's width."""


def color_legend(
    plot: figure,
    source: Source,
    fill: Any,  # a column or a transform of Bokeh's, which have no common type
    edge: Any,
    alpha: float = 1.0,
) -> Legend:
    """Add a line of swatches above a plot and return it.

    Parameters
    ----------
    plot : figure
    source : Source
        One row an entry: ``label``, what the colours go by, and ``at``, which is NaN: nothing is
        drawn.
    fill, edge : str or dict or None
        Colours: a column, or a transform of one.
    alpha : float
        Of the fill.
    """
    swatch = HBar(y="at", left="at", right="at", height=0, fill_color=fill, line_color=edge)
    swatch.fill_alpha = alpha
    # Not a plain one: BokehJS 3.10 looks for the entries in its list of rows.
    shown: Any = SteadyRenderer(data_source=source.model, glyph=swatch)
    plot.renderers.append(shown)
    legend = Legend(
        items=[LegendItem(label={"field": "label"}, renderers=[shown])],
        orientation="horizontal",
        location="top_left",
        padding=0,  # type: ignore[arg-type]  # Bokeh's stub lacks plain numbers
        margin=0,
        spacing=10,
        label_standoff=4,
        glyph_width=10,
        glyph_height=10,
        label_height=12,
        click_policy="none",
    )
    plot.add_layout(legend, "above")
    return legend


def n_fitting(labels: Sequence[str], width_px: float) -> int:
    """Return how many of the first labels fit, with `more` for the others where any do not."""
    ends_px = list(accumulate(_SWATCH_PX + len(label) * CHARACTER_PX for label in labels))
    for n in range(len(labels), 0, -1):
        others = len(labels) - n
        more_px = _SWATCH_PX + len(more(others)) * CHARACTER_PX if others else 0
        if ends_px[n - 1] + more_px <= width_px * _SHARE:
            return n
    return 0


def more(others: int) -> str:
    """Return the words for the names that have no room."""
    return f"+ {count(others)} more"
