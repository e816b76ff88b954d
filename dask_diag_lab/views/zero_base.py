"""Axes of quantities that begin at 0, which Bokeh would centre on 0 while all of them are 0.

Knows Bokeh; knows nothing of the store or of any one plot.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final

import numpy as np
from bokeh.models import DataRange1d, HBar, Line, Plot, Step, VArea, VBar
from bokeh.models.glyph import Glyph
from bokeh.models.renderers import GlyphRenderer

from dask_diag_lab.views.figure import ColumnData

_QUANTITIES: Final[Mapping[type[Glyph], tuple[str, Collection[str]]]] = {
    HBar: ("x", ("left", "right")),
    VBar: ("y", ("bottom", "top")),
    VArea: ("y", ("y1", "y2")),
    Line: ("y", ("y",)),
    Step: ("y", ("y",)),
}
"""Along which axis a glyph draws a quantity, and by which of its properties."""


class ZeroBase:
    """Lets the axes that quantities are drawn along begin at 0, as long as none is negative.

    Parameters
    ----------
    given : iterable of str
        ``"x"`` and ``"y"`` where the plot has a range of its own, which is left alone.
    """

    def __init__(self, given: Iterable[str] = ()) -> None:
        self._given = frozenset(given)
        self._fields: dict[str, set[str]] = {}

    def apply(self, plot: Plot) -> None:
        """Begin at 0; called once, when all is drawn."""
        for renderer in plot.renderers:
            if not isinstance(renderer, GlyphRenderer):
                continue
            dimension, properties = _QUANTITIES.get(type(renderer.glyph), ("", ()))
            if dimension and dimension not in self._given:
                fields = {_field(getattr(renderer.glyph, name)) for name in properties}
                self._fields.setdefault(dimension, set()).update(fields)
        for dimension in self._fields:
            span = getattr(plot, f"{dimension}_range")
            if isinstance(span, DataRange1d):
                span.start = 0

    def check(self, plot: Plot, columns: Mapping[str, ColumnData]) -> None:
        """Leave an axis to Bokeh from the first negative value on."""
        for dimension, fields in list(self._fields.items()):
            if any(_has_negative(columns[field]) for field in fields if field in columns):
                del self._fields[dimension]
                if isinstance(getattr(plot, f"{dimension}_range"), DataRange1d):
                    # The page heeds a start only when the range is made.
                    setattr(plot, f"{dimension}_range", DataRange1d())


def _field(spec: object) -> str:
    """Return the column that a glyph's property is read from; '' for none."""
    return spec if isinstance(spec, str) else str(getattr(spec, "field", ""))


def _has_negative(column: ColumnData) -> bool:
    values = np.asarray(column)
    return values.dtype.kind in "iuf" and bool((values < 0).any())
