"""Axes of plots that have nothing to draw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from bokeh.models import Axis
from bokeh.models import Plot as BokehPlot

from dask_diag_lab.store import Store
from dask_diag_lab.views.registry import Plot, built_in_plots
from tests.kernel.views.situations import store_of, worker

PLOTS = built_in_plots()


@pytest.mark.parametrize("plot", PLOTS, ids=lambda plot: plot.name)
@pytest.mark.parametrize("workers", [(), (worker(0), worker(1))], ids=["nothing", "workers"])
def test_words_for_an_empty_plot_lie_over_no_axis(plot: Plot, workers: Sequence[Any]) -> None:
    view = plot(store_of(workers=list(workers)) if workers else Store())
    root = view.build()
    for picture in root.select({"type": BokehPlot}):
        picture.set_from_json("outer_width", 320)
        picture.set_from_json("outer_height", 120)
    view.update()
    assert not (view.caption.empty and shown_axes(root))
    view.close()


def shown_axes(part: Any) -> list[Axis]:  # any layout or plot
    """Return the axes that are seen: with ticks, of plots in layouts that are visible."""
    if not part.visible:
        return []
    if isinstance(part, BokehPlot):
        beside = (*part.left, *part.right, *part.above, *part.below)
        axes = [each for each in beside if isinstance(each, Axis) and each.visible]
        return [axis for axis in axes if getattr(axis.ticker, "ticks", True)]
    return [axis for child in getattr(part, "children", ()) for axis in shown_axes(child)]
