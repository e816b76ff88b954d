"""Tables of the scheduler as the collector sends them, and the plots of them in a document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bokeh.document import Document

from dask_diag_lab.records import EXTRAS, ExtraChange
from dask_diag_lab.views.base import View
from dask_diag_lab.views.scheduler.part_bars import PartBars

T0 = 1000.0
FINE = [
    ("default", "execute", "inc", "thread-cpu", "seconds", 6.0),
    ("default", "execute", "inc", "thread-noncpu", "seconds", 1.0),
    ("default", "execute", "load", "deserialize", "seconds", 2.0),
    ("part", "execute", "load", "disk-read", "bytes", 5000.0),
    ("part", "gather-dep", "", "network", "seconds", 3.0),
    ("part", "execute", "load", "my own", "pages", 7.0),
]


def change(name: str, rows: Sequence[Sequence[Any]]) -> dict[str, ExtraChange]:
    """Return these rows of one extra table, as a batch carries them."""
    (extra,) = [extra for extra in EXTRAS if extra.name == name]
    columns = {c.name: [row[i] for row in rows] for i, c in enumerate(extra.columns)}
    return {name: ExtraChange(columns)}


def drawn(view: View) -> Document:
    """Build the view in a document, as a page does."""
    document = Document()
    document.add_root(view.build())
    view.update()
    return document


def names_shown(bars: PartBars) -> list[str]:
    return list(bars.figure.yaxis[0].major_label_overrides.values())
