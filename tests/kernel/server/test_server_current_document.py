"""The user's current document is left alone, with every Bokeh that is allowed."""

from __future__ import annotations

import pytest
from bokeh.document import Document
from bokeh.io import doc as bokeh_doc

from dask_diag_lab.server import current_document


def test_a_bokeh_that_keeps_no_such_list_is_let_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(bokeh_doc, "_PATCHED_CURDOCS")
    called = []
    with current_document.kept(Document()):
        called.append(True)
    assert called
