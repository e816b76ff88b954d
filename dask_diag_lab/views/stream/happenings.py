"""The moments that explain a task stream: a worker died, the cluster began anew."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from dask_diag_lab.views.figure import ColumnData
from dask_diag_lab.views.format import clock, plural

if TYPE_CHECKING:
    from dask_diag_lab.store import Store

MAX_MARKS: Final = 200
"""The newest ones: more would hide what they are to explain."""

Detail = Mapping[str, Any]  # of the engine, values differ in type


def _killed(detail: Detail) -> tuple[str, str]:
    lost = int(detail.get("lost_tasks") or 0)
    cause = str(detail.get("cause") or "")
    words = [cause, f"{plural(lost, 'running task')} lost" if lost else ""]
    return f"worker died: {detail.get('worker', '')}", " · ".join(w for w in words if w)


_MARKED: Final[Mapping[str, Callable[[Detail], tuple[str, str]]]] = {
    "worker-killed": _killed,
    "restart": lambda _detail: ("cluster restarted", "by a client"),
    "scheduler-lost": lambda detail: ("scheduler lost", str(detail.get("reason") or "")),
    "not-recorded": lambda _detail: ("nothing was recorded", "from here on, for a while"),
}
"""What of the events is marked, and its title and text."""


class Happenings:
    """The marked events of a store, found again only after there were new ones."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._version = -1
        self._found: list[tuple[float, str, str]] = []

    def columns(
        self, zero: float, between: tuple[float, float], rows: tuple[float, float]
    ) -> dict[str, ColumnData]:
        """Return the columns of the marks.

        Parameters
        ----------
        zero : float
            The moment that the picture calls 0.
        between : (begin, end)
            Which ones, seconds since the epoch.
        rows : (top, bottom)
            From where to where their lines go.
        """
        if self._store.events.version != self._version:
            self._version = self._store.events.version
            self._found = self._search()
        found = [mark for mark in self._found if between[0] <= mark[0] <= between[1]]
        n = len(found)
        return {
            "at": [at - zero for at, _, _ in found],
            "top": [rows[0]] * n,
            "bottom": [rows[1]] * n,
            "title": [title for _, title, _ in found],
            "text": [text for _, _, text in found],
            "clock": [clock(at) for at, _, _ in found],
        }

    def _search(self) -> list[tuple[float, str, str]]:
        found: list[tuple[float, str, str]] = []
        for at, kind, detail in reversed(self._store.events.rows):
            if kind in _MARKED:
                found.append((at, *_MARKED[kind](detail)))
            if len(found) >= MAX_MARKS:
                break
        return found
