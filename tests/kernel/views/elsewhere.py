"""Work off the loop that waits until a test lets it go on."""

from __future__ import annotations

from typing import Any

from dask_diag_lab.store import Store
from dask_diag_lab.store.workings import Working


class Elsewhere:
    """Where the work of a store is begun, and not done before `finish`.

    Attributes
    ----------
    open : list of Working
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.open: list[Working[Any]] = []  # results of any type
        store.workings.on_start = self.open.append

    def finish(self) -> None:
        """Do all that was begun."""
        done, self.open[:] = list(self.open), []
        for working in done:
            working.do()
            self._store.worked_out(working)
