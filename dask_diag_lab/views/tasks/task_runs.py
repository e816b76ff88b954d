"""The runs of one task that have not ended, as the last heartbeats told.

Reads the store; knows no Bokeh.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dask_diag_lab.views import format as fmt

if TYPE_CHECKING:
    from dask_diag_lab.store import Store
    from dask_diag_lab.views.detail_page import Facts

ACTION: Final = "computes now"


class TaskRuns:
    """What runs at the time when this is made; there is one run of it in general, or none.

    Parameters
    ----------
    store : Store
    key : str
    """

    def __init__(self, store: Store, key: str) -> None:
        self._store = store
        self._now = store.time
        # Clocks of workers may be ahead of the scheduler's.
        self._runs = [(w, min(start, self._now)) for w, start in store.running.of_key(key)]

    def __len__(self) -> int:
        return len(self._runs)

    @property
    def version(self) -> object:
        """Differs when a run comes or goes, and with each second."""
        return [(worker, int(self._now - start)) for worker, start in self._runs]

    def facts(self) -> Facts:
        """Return since when and for how long it runs; nothing of a task that does not."""
        if not self._runs:
            return []
        start = self._runs[0][1]
        return [("Runs since", fmt.clock(start)), ("Runs for", fmt.duration(self._now - start))]

    def actions(self) -> list[dict[str, Any]]:  # values of several types
        """Return each run as an action that goes until now; Dask does not tell its thread yet."""
        return [
            {
                "action": ACTION,
                "start": start,
                "stop": self._now,
                "worker": self._store.strings[worker],
            }
            for worker, start in self._runs
        ]
