"""The legend of a task stream: a swatch and a word for each colour code in sight."""

from __future__ import annotations

from typing import Any

from bokeh.models import HBar
from bokeh.models.annotations import Legend, LegendItem
from bokeh.models.renderers import GlyphRenderer
from bokeh.plotting import figure

from dask_diag_lab.views.figure import Source


def color_legend(
    plot: figure,
    source: Source,
    fill: Any,  # a transform of Bokeh's, which has no type
    edge: Any,
) -> Legend:
    """Add a line of swatches above a plot and return it.

    Parameters
    ----------
    plot : figure
    source : Source
        One row an entry: ``label``, ``code``, and ``at``, which is NaN: nothing is drawn.
    fill, edge : dict
        Colours of the column ``code``.
    """
    swatch = HBar(y="at", left="at", right="at", height=0, fill_color=fill, line_color=edge)
    # Bokeh's own, whose list of rows BokehJS 3.10 looks for the entries in.
    shown: Any = GlyphRenderer(data_source=source.model, glyph=swatch)
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
