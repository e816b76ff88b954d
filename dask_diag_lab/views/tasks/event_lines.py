"""What a mark of the timeline says under the pointer, written once for each mark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.tasks.event_marks import Ints
from dask_diag_lab.views.tasks.event_words import words

if TYPE_CHECKING:
    from dask_diag_lab.store import Store

HOVER_LINES: Final = 8
"""Events that are told one by one, or one less and how many more there are."""
_MAX_SAID: Final = 5_000
"""Marks whose words are kept, so that a picture that moves on does not write them again."""


class EventLines:
    """The words of marks."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._said: dict[tuple[int, int, float], list[str]] = {}

    def clear(self) -> None:
        """Forget what was written: workers have other names."""
        self._said = {}

    def of(self, members: Ints, until: float) -> list[str]:
        """Return the lines of one mark: its events, the first ones and how many more.

        Parameters
        ----------
        members : ndarray of int64
            Indices of its events in the store, oldest first.
        until : float
            When the last of them ended, seconds since the epoch.
        """
        indices = members.tolist()
        place = (self._store.events.dropped + indices[0], len(indices), until)
        if place not in self._said:
            shown = indices if len(indices) <= HOVER_LINES else indices[: HOVER_LINES - 1]
            lines = [self._line(index) for index in shown]
            if len(indices) > len(shown):
                lines.append(f"and {fmt.count(len(indices) - len(shown))} more events")
            if len(self._said) > _MAX_SAID:
                self._said = {}
            self._said[place] = lines + [""] * (HOVER_LINES - len(lines))
        return self._said[place]

    def _line(self, index: int) -> str:
        store = self._store
        time, kind, detail = store.events.rows[index]
        lasted = float(detail.get("until", time)) - time
        within = f" within {fmt.duration(lasted)}" if lasted > 0.05 else ""
        return f"{fmt.clock(time)} {words(kind, detail, store.seen_workers.names)}{within}"
