"""A pane that answers to what a view decides as a browser does: controls and notes take room."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from bokeh.models import Row

from dask_diag_lab.views.base import View
from dask_diag_lab.views.text_room import text_px
from tests.kernel.views.situations import Page

ROUNDS = 5
"""Answers of the page to what was decided, each of which may change the decision."""


def figure_px(view: View, bar: Row | None, width: int, height: int) -> int:
    """Return how high a browser makes the figure in a pane: what controls and note leave of it."""
    words_px = text_px(view.notice.note, 12) * 0.85
    note = math.ceil(words_px / (width - 20)) * 14 + 7 if view.notice.note else 0
    return height - note - (32 if bar and bar.visible else 0)


class Pane:
    """A page of a view that answers to what was decided as a browser does.

    Attributes
    ----------
    bar : Row or None
        The controls, of a view that has any.
    page : Page
    """

    def __init__(self, view: View) -> None:
        self.page = Page(view)
        document = self.page.plot.document
        bar = document.select_one({"type": Row}) if document else None
        self.bar = bar if isinstance(bar, Row) else None

    def shown_in(self, width: int, height: int) -> list[bool]:
        """Return whether controls are shown after each answer of a pane of that size."""
        shown = []
        for _ in range(ROUNDS):
            self.answer(width, height)
            shown.append(bool(self.bar and self.bar.visible))
        return shown

    def answer(self, width: int, height: int) -> None:
        """Report the size of the figure in a pane of that size."""
        self.page.resize(width, figure_px(self.page.view, self.bar, width, height))


def losses(
    pane: Pane, count: Callable[[], int], widths: Iterable[int], heights: Iterable[int]
) -> list[str]:
    """Return the sizes at which a pane shows less than a smaller one, or does not settle."""
    lost: list[str] = []
    columns = list(widths)
    above = dict.fromkeys(columns, 0)
    for height in heights:
        left = 0
        for width in columns:
            shown = []
            for _ in range(ROUNDS):
                pane.answer(width, height)
                shown.append(count())
            if len(set(shown[2:])) > 1:
                lost.append(f"{width}x{height} does not settle: {shown}")
            if shown[-1] < max(left, above[width]):
                lost.append(f"{width}x{height} shows {shown[-1]}")
            left = above[width] = shown[-1]
    return lost
