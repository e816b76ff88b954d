"""A small task graph, what may become of it, and one that is drawn as groups."""

from __future__ import annotations

from typing import Any

from dask_diag_lab.schema import GraphChange
from dask_diag_lab.store import LiveSession
from tests.kernel.store.batches import group_row
from tests.kernel.views.situations import session_of

KEYS = ["inc-1", "inc-2", "add-1", "sum-1"]
EDGES = [(0, 2), (1, 2), (2, 3)]


def change(**given: Any) -> GraphChange:  # any field of GraphChange
    """Return a change that adds nothing, but for ``given``."""
    return GraphChange(
        **{"is_snapshot": False, "is_exact": True, "total": 4, "limit": 5000, **given}
    )


def groups_store() -> LiveSession:
    """Return a session with more tasks than are drawn one by one."""
    return session_of(
        graph=GraphChange(is_snapshot=True, is_exact=False, total=120_000, limit=5000),
        groups=[
            group_row("load-1", "load", memory=60_000),
            group_row("sum-1", "sum", ["load-1", "gone-1"], waiting=59_999, erred=1),
        ],
    )
