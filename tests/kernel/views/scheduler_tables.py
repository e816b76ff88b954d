"""Tables of the scheduler as the collector sends them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dask_diag_lab.schema import EXTRAS, Change

FINE = [
    ("default", "execute", "inc", "thread-cpu", "seconds", 6.0),
    ("default", "execute", "inc", "thread-noncpu", "seconds", 1.0),
    ("default", "execute", "load", "deserialize", "seconds", 2.0),
    ("part", "execute", "load", "disk-read", "bytes", 5000.0),
    ("part", "gather-dep", "", "network", "seconds", 3.0),
    ("part", "execute", "load", "my own", "pages", 7.0),
]


def change(name: str, rows: Sequence[Sequence[Any]]) -> dict[str, Change]:
    """Return these rows of one extra table, as a batch carries them."""
    (extra,) = [extra for extra in EXTRAS if extra.name == name]
    columns = {c.name: [row[i] for row in rows] for i, c in enumerate(extra.columns)}
    return {name: Change(columns)}
