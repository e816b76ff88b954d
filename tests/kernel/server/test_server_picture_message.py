"""The quickly made message holds what Bokeh's own holds, for every plot in light and dark."""

from __future__ import annotations

import json
from typing import Any

import pytest
from bokeh.core.types import ID
from bokeh.document import Document
from bokeh.protocol import Protocol

from benchmarks.simulator import Simulation
from dask_diag_lab.server.page import Page
from dask_diag_lab.server.picture_message import picture_message
from dask_diag_lab.store import Store
from dask_diag_lab.views.look import Look
from dask_diag_lab.views.registry import PLOTS, Plot


@pytest.fixture(scope="module")
def store() -> Store:
    store = Store()
    for batch in Simulation(n_workers=3, n_threads=2, n_tasks=300).batches():
        store.apply(batch)
    return store


def _content(message: Any) -> Any:  # Bokeh's message; JSON
    """Return what `message` says; its arrays by their order, their ids are new in each message."""
    text = message.content_json
    for number, buffer in enumerate(message.buffers):
        text = text.replace(buffer.id, f"buffer {number}")
    return json.loads(text), [buffer.to_bytes() for buffer in message.buffers]


def _drawn(plot: Plot, store: Store, look: Look) -> Document:
    document = Document()
    page = Page(plot, store, document, look=look, on_watch=lambda: None)
    page.close()
    return document


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("plot", PLOTS, ids=lambda plot: plot.name)
def test_it_says_what_bokehs_own_says(plot: Plot, theme: str, store: Store) -> None:
    document = _drawn(plot, store, Look.of({"name": theme}))
    quick = picture_message(ID("1"), document)
    assert _content(quick) == _content(Protocol().create("PULL-DOC-REPLY", ID("1"), document))


def test_the_next_patch_does_not_bring_the_models_again(store: Store) -> None:
    document = _drawn(PLOTS[0], store, Look.of({}))
    picture_message(ID("1"), document)
    assert document.models.synced_references == set(document.models)
