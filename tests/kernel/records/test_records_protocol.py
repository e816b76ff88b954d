"""The number of the wire format stands for one set of columns, and is part of every name."""

from __future__ import annotations

import hashlib
import json
from typing import Final

from dask_diag_lab.collector import LEAVE, NAME, PULL, TASK
from dask_diag_lab.records import (
    ACTIONS,
    EXTRAS,
    GROUPS,
    PREFIXES,
    PROTOCOL,
    RUNNING,
    STATES,
    WORKERS,
)

LAYOUT: Final = (6, "9537c26692537f63")
"""`PROTOCOL`, and the digest of the columns that it stands for."""


def digest() -> str:
    """Return a digest of names and dtypes of all columns in their order, and of the states."""
    tables = {
        "actions": ACTIONS,
        "running": RUNNING,
        "prefixes": PREFIXES,
        "groups": GROUPS,
        "workers": WORKERS,
        **{f"extra {extra.name}": extra.columns for extra in EXTRAS},
    }
    layout = {name: [(c.name, c.dtype) for c in columns] for name, columns in tables.items()}
    text = json.dumps([layout, STATES], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def test_other_columns_have_another_number() -> None:
    number, columns = LAYOUT
    now = digest()
    assert now == columns or number != PROTOCOL, (
        "The columns on the wire changed, and a collector of an older release on the scheduler "
        "would be read wrongly: raise PROTOCOL by one in records/__init__.py and in "
        "collector/plugin.py, and write the new number and digest into LAYOUT."
    )
    assert (PROTOCOL, now) == LAYOUT, f"Write ({PROTOCOL}, {now!r}) into LAYOUT."


def test_collectors_of_two_numbers_have_no_name_in_common() -> None:
    for name in (NAME, PULL, LEAVE, TASK):
        assert name.replace("_", "-").endswith(f"-{PROTOCOL}")
