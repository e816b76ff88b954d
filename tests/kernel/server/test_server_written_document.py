"""The quickly written document says what Bokeh's own says, for every plot in light and dark."""

from __future__ import annotations

import pytest
from bokeh.document import Document

from dask_diag_lab.server.page import Page
from dask_diag_lab.server.written_document import written
from dask_diag_lab.store import Store
from dask_diag_lab.views.look import Look
from dask_diag_lab.views.registry import PLOTS, Plot


def _drawn(plot: Plot, simulated: Store, look: Look) -> Document:
    document = Document()
    page = Page(plot, simulated, document, look=look, on_watch=lambda: None)
    page.close()
    return document


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("plot", PLOTS, ids=lambda plot: plot.name)
def test_it_says_what_bokehs_own_says(plot: Plot, theme: str, simulated: Store) -> None:
    document = _drawn(plot, simulated, Look.of({"name": theme}))
    assert written(document) == document.to_json(deferred=False)


def test_the_next_patch_does_not_bring_the_models_again(simulated: Store) -> None:
    document = _drawn(PLOTS[0], simulated, Look.of({}))
    written(document)
    assert document.models.synced_references == set(document.models)
