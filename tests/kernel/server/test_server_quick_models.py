"""The models that are found quickly are those that Bokeh finds, for every plot, and stay so."""

from __future__ import annotations

import pytest
from bokeh.document import Document
from bokeh.document.models import DocumentModelManager
from bokeh.models import Column, CustomJS, Range1d, Row
from bokeh.models.annotations import Title
from bokeh.plotting import figure
from bokeh.themes import Theme

from dask_diag_lab.server.page import Page
from dask_diag_lab.server.quick_models import QuickModels
from dask_diag_lab.store import Store
from dask_diag_lab.views.registry import PLOTS, Plot


@pytest.fixture
def document() -> Document:
    document = Document()
    document.models = QuickModels(document)
    return document


def _as_bokeh_finds(document: Document) -> DocumentModelManager:
    found = DocumentModelManager(document)
    found.recompute()
    return found


@pytest.mark.parametrize("plot", PLOTS, ids=lambda plot: plot.name)
def test_a_page_has_the_models_that_bokeh_finds(plot: Plot, simulated: Store) -> None:
    document = Document()
    page = Page(plot, simulated, document, on_watch=lambda: None)
    assert isinstance(document.models, QuickModels)
    assert set(document.models) == set(_as_bokeh_finds(document))
    page.close()


def test_a_model_that_is_put_in_later_is_found(document: Document) -> None:
    row = Row()
    document.add_root(Column(children=[row]))
    late = figure()
    row.children.append(late)
    assert set(document.models) == set(_as_bokeh_finds(document))
    assert late.document is document


def test_a_model_that_is_taken_out_is_let_go(document: Document) -> None:
    old = Title(text="old")
    plot = figure()
    plot.title = old
    document.add_root(plot)
    plot.title = Title(text="new")
    assert old.document is None
    assert set(document.models) == set(_as_bokeh_finds(document))


def test_models_are_found_by_name(document: Document) -> None:
    plot = figure(name="here")
    document.add_root(Column(children=[plot]))
    assert document.get_model_by_name("here") is plot


def test_what_a_callback_refers_to_is_found(document: Document) -> None:
    plot, other = figure(), Range1d()
    plot.x_range.js_on_change("start", CustomJS(args={"other": other}, code=""))
    document.add_root(plot)
    assert other.document is document


def test_a_theme_reaches_models_that_come_later(document: Document) -> None:
    document.theme = Theme(json={"attrs": {"Title": {"text_color": "#123456"}}})
    plot = figure()
    document.add_root(plot)
    plot.title = Title(text="late")
    assert plot.title.text_color == "#123456"
