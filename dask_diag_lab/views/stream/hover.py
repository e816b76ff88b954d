"""What a task stream says about the rectangle under the pointer, written by the browser.

Names are sent once and looked up there: a rectangle itself carries only small numbers.
"""

from __future__ import annotations

from typing import Any, Final

from bokeh.models import ColumnDataSource, HoverTool, Range1d
from bokeh.models.renderers import GlyphRenderer

from dask_diag_lab.views.figure import quiet_hover
from dask_diag_lab.views.look import Look
from dask_diag_lab.views.scripted import StreamHover

LINES: Final = tuple(
    f"@lane{{{part}}}" for part in ("title", "when", "where", "size", "share", "key")
)


def hover_of(
    renderer: GlyphRenderer[Any],  # of any glyph
    look: Look,
    tables: dict[str, ColumnDataSource],
    x_range: Range1d,
    what: str,
    suffix: str = "",
) -> HoverTool:
    """Return the hover tool of one class of rectangles.

    Parameters
    ----------
    renderer : GlyphRenderer
    look : Look
    tables : dict of str to ColumnDataSource
        ``texts``, ``shares``, ``keys``, ``rows``, ``workers`` and ``facts``.
    x_range : Range1d
    what : str
        What several of them are: ``"tasks"``; ``"worker"`` for the bands of workers that left.
    suffix : str
        Added to the name of a single one, for example ``" · failed"``.
    """
    words = StreamHover(
        source=renderer.data_source, range=x_range, what=what, suffix=suffix, **tables
    )
    return quiet_hover(look, *LINES, renderers=[renderer], formatters={"@lane": words})
