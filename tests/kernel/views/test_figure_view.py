"""A plot of columns: what could not be drawn is tried again, and its error raised again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from bokeh.document import Document
from bokeh.models import ColumnDataSource
from bokeh.plotting import figure

from dask_diag_lab import FigureView
from tests.kernel.views.situations import batch, store_of, worker


class Touchy(FigureView):
    """Lengths of the names of workers; fails where it is told to."""

    fails_in = ""
    fitted_to = 0

    def columns(self) -> Mapping[str, Any]:
        self._fail("columns")
        return {"length": [float(len(name)) for name in self.store.workers.name]}

    def draw(self, source: ColumnDataSource) -> figure:
        picture = self.new_figure()
        picture.scatter("length", "length", source=source)
        return picture

    def adjust(self, picture: figure, columns: Mapping[str, Any]) -> None:
        self._fail("adjust")
        self.fitted_to = len(columns["length"])

    def note(self) -> str:
        self._fail("note")
        return f"{len(self.store.workers)} workers"

    def _fail(self, where: str) -> None:
        if self.fails_in == where:
            raise KeyError(where)


@pytest.mark.parametrize("where", ["columns", "adjust", "note"])
def test_an_error_is_raised_until_the_picture_is_drawn(where: str) -> None:
    store = store_of(workers=[worker(1)])
    view = Touchy(store)
    Document().add_root(view.build())
    view.update()
    store.apply(batch(workers=[worker(1), worker(2)]))
    view.fails_in = where
    for _ in range(2):  # the second time nothing has come since
        with pytest.raises(KeyError, match=where):
            view.update()
    view.fails_in = ""
    view.update()
    assert (view.fitted_to, view.notice.note) == (2, "2 workers")
