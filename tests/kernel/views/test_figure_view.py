"""A plot of columns: errors are raised until it is drawn, and what it paints is steady."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from bokeh.document import Document
from bokeh.models import ColumnDataSource
from bokeh.models.renderers import GlyphRenderer
from bokeh.plotting import figure
from bokeh.protocol import Protocol

from dask_diag_lab import FigureView
from dask_diag_lab.views.data import ColumnData
from dask_diag_lab.views.figure import Source
from dask_diag_lab.views.models import AtomicRenderer
from tests.kernel.views.situations import batch, session_of, worker


class Touchy(FigureView):
    """Lengths of the names of workers; fails where it is told to."""

    fails_in = ""
    fitted_to = 0

    def rows(self) -> Mapping[str, Any]:
        self._fail("rows")
        return {"length": [float(len(name)) for name in self.live.history.workers.name]}

    def make_figure(self, source: ColumnDataSource) -> figure:
        picture = self.new_figure()
        picture.scatter("length", "length", source=source)
        return picture

    def adjust(self, picture: figure, rows: Mapping[str, Any]) -> None:
        self._fail("adjust")
        self.fitted_to = len(rows["length"])

    def note(self) -> str:
        self._fail("note")
        return f"{len(self.history.workers)} workers"

    def _fail(self, where: str) -> None:
        if self.fails_in == where:
            raise KeyError(where)


@pytest.mark.parametrize("where", ["rows", "adjust", "note"])
def test_an_error_is_raised_until_the_picture_is_drawn(where: str) -> None:
    live = session_of(workers=[worker(1)])
    view = Touchy(live)
    Document().add_root(view.build())
    view.update()
    live.apply(batch(workers=[worker(1), worker(2)]))
    view.fails_in = where
    for _ in range(2):  # the second time nothing has come since
        with pytest.raises(KeyError, match=where):
            view.update()
    view.fails_in = ""
    view.update()
    assert (view.fitted_to, view.caption.note) == (2, "2 workers")


class Uneven(Touchy):
    """A column for workers beside one for the cluster."""

    def rows(self) -> Mapping[str, Any]:
        return {**super().rows(), "cluster": np.zeros(1)}


def test_columns_of_unequal_length_are_named_and_not_sent() -> None:
    view = Uneven(session_of(workers=[worker(1), worker(2)]))
    Document().add_root(view.build())
    for get in (view.update, view.update, view.table):
        with pytest.raises(ValueError, match="“length” has 2, “cluster” has 1"):
            get()


@pytest.mark.parametrize(
    "draw",
    [
        lambda picture: picture.hbar([1.0], right=[1.0]),
        lambda picture: picture.vbar([1.0], top=[1.0], legend_label="bars"),
        lambda picture: picture.scatter([1.0], [1.0], hover_alpha=0.5),
        lambda picture: picture.vbar_stack(["a", "b"], x="a", source={"a": [1.0], "b": [1.0]}),
        lambda picture: picture.contour([0, 1], [0, 1], [[0, 1], [1, 2]], [0, 1], line_color="red"),
    ],
    ids=["hbar", "vbar", "scatter", "vbar_stack", "contour"],
)
def test_what_a_figures_methods_add_is_steady(draw: Callable[[figure], object]) -> None:
    picture = Touchy(session_of()).new_figure()
    draw(picture)
    made = list(picture.select(GlyphRenderer))
    assert made
    assert {type(renderer) for renderer in made} == {AtomicRenderer}


NUMBERS = np.arange(20)


def test_times_are_sent_whole() -> None:
    """In a patch they would be in their own unit, and not in the milliseconds of a browser."""
    source = Source("time", is_patched=True)
    source.set({"time": NUMBERS.astype("M8[s]")})
    document = Document()
    document.add_root(source.model)
    events: list[Any] = []  # of documents, of several types
    document.on_change(events.append)
    source.set({"time": np.append(NUMBERS[:-1], 60).astype("M8[s]")})
    assert events
    assert not [one for one in events if hasattr(one, "patches")]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (NUMBERS, np.append(NUMBERS[:-1], 3_000_000_000)),
        (tuple(range(20)), (*range(19), 99)),
        (NUMBERS, NUMBERS[3:]),
        (NUMBERS, np.append(NUMBERS[3:], [20, 21])),
        (NUMBERS, np.append(NUMBERS[3:], [20, 21, 22])),
    ],
    ids=("beyond 32 bits", "tuple", "fewer", "some fewer", "as many"),
)
def test_columns_of_a_patched_source_are_on_the_page_what_they_are_here(
    before: ColumnData, after: ColumnData
) -> None:
    source = Source("column", is_patched=True)
    source.set({"column": before})
    document = Document()
    document.add_root(source.model)
    page = Document.from_json(document.to_json())
    events: list[Any] = []  # of documents, of several types
    document.on_change(events.append)
    source.set({"column": after})
    Protocol().create("PATCH-DOC", events).apply_to_document(page)
    there: Any = page.get_model_by_id(source.model.id)
    assert list(there.data["column"]) == list(source.model.data["column"]) == list(after)
    # What Bokeh's Python does well and its JavaScript does not:
    assert getattr(source.model.data["column"], "dtype", None) != np.int64
    assert all(one.rollover >= len(before) for one in events if hasattr(one, "rollover"))
