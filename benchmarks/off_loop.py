"""The work that the diagnostics do in another thread, done when a benchmark says so."""

from __future__ import annotations

from typing import Any

from dask_diag_lab.store import Store
from dask_diag_lab.store.workings import Working


class OffLoop:
    """Takes the work of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._begun: list[Working[Any]] = []  # results of any type
        store.workings.on_start = self._begun.append

    def work(self) -> bool:
        """Do all that was begun; return whether there was any."""
        begun = list(self._begun)
        self._begun.clear()
        for working in begun:
            working.do()
            self._store.worked_out(working)
        return bool(begun)
