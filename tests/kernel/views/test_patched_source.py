"""Columns of which only the rows that changed are sent."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.document import Document
from bokeh.protocol import Protocol

from dask_diag_lab.views.stream.figure import Columns, PatchedSource

NAMES = ("left", "right", "y", "kind", "busy")


def rows(n: int, **changed: dict[int, float]) -> Columns:
    columns: Columns = {
        "left": np.arange(n, dtype=np.float32),
        "right": np.arange(n, dtype=np.float32) + 1,
        "y": np.zeros(n, dtype=np.float32),
        "kind": np.zeros(n, dtype=np.uint8),
        "busy": np.ones(n, dtype=np.float32),
    }
    for name, values in changed.items():
        for index, value in values.items():
            columns[name][index] = value
    return columns


def drawn(source: PatchedSource) -> set[tuple[Any, ...]]:
    """Return the rows that a page would draw now."""
    data = source.model.data
    table = zip(*(np.asarray(data[name]).tolist() for name in NAMES), strict=True)
    return {row for row in table if not np.isnan(row[0])}


def expected(columns: Columns) -> set[tuple[Any, ...]]:
    return set(zip(*(columns[name].tolist() for name in NAMES), strict=True))


def test_many_changes_at_random_end_in_the_same_rows() -> None:
    random = np.random.default_rng(3)
    source = PatchedSource(*NAMES)
    for _ in range(60):
        chosen = np.sort(random.choice(400, size=random.integers(150, 300), replace=False))
        columns = {name: column[chosen] for name, column in rows(400).items()}
        columns["right"] = columns["right"] + (random.random(len(chosen)) < 0.1).astype(np.float32)
        source.show(columns)
        assert drawn(source) == expected(columns)


def test_a_page_that_gets_the_changes_has_the_same_rows() -> None:
    source, document = PatchedSource(*NAMES), Document()
    document.add_root(source.model)
    source.show(rows(100))
    page = Document.from_json(document.to_json())
    sent: list[Any] = []  # events of documents, of several types
    document.on_change(sent.append)
    source.show({name: column[2:] for name, column in rows(105, busy={7: 3.5}).items()})
    Protocol().create("PATCH-DOC", sent).apply_to_document(page)
    there: Any = page.roots[0]  # the source
    assert len(sent) == 2
    for name in NAMES:
        np.testing.assert_array_equal(there.data[name], source.model.data[name])
