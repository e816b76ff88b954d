"""The end of a plot's document: nothing stays of it, and nobody waits for it."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest
from bokeh.document import Document

from dask_diag_lab.server.page import Page
from dask_diag_lab.store import Store
from dask_diag_lab.views.registry import PLOTS, Plot


@pytest.fixture
def collections() -> Iterator[list[int]]:
    """The generations that were collected on somebody's wish since the test began."""
    seen: list[int] = []

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            seen.append(info["generation"])

    gc.collect()
    gc.disable()
    gc.callbacks.append(note)
    yield seen
    gc.callbacks.remove(note)
    gc.enable()


def _listener(_event: object) -> None:
    """Stand where a session of Bokeh's server does."""


def _opened(plot: Plot) -> Page:
    page = Page(plot, Store(), Document(), on_watch=lambda: None)
    page.document.on_change(_listener)
    return page


def _end(page: Page) -> None:
    """Do what Bokeh's server does with a session that is over."""
    page.document.destroy(_listener)
    page.close()


def test_its_end_collects_no_garbage_of_the_kernel(collections: list[int]) -> None:
    page = _opened(PLOTS[0])
    _end(page)
    assert not collections


@pytest.mark.parametrize("plot", PLOTS, ids=lambda plot: plot.name)
def test_nothing_of_it_stays(plot: Plot) -> None:
    page = _opened(plot)
    models = [weakref.ref(model) for model in page.document.models]
    document = weakref.ref(page.document)
    _end(page)
    del page
    gc.collect()
    assert document() is None
    assert not [model() for model in models if model() is not None]
