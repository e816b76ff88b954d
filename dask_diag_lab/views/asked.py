"""Answers of the cluster for a view that is looked at, asked again when they are old.

Knows the live session; knows nothing of Bokeh.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from dask_diag_lab.store import LiveSession
    from dask_diag_lab.store.queries import Query

REFRESH_S: Final = 2.0
"""Age at which an answer is asked for again."""

PER_REQUEST_S: Final = 0.02
"""Answers of many workers are asked for again more seldom: each of these costs the scheduler some
2 ms, and so a tenth of its time at most."""

RETRY_S: Final = 15.0
"""After a failure; the button of the page tries at once."""

UNASKED: Final = "Nothing asked for what this shows while the cluster could be reached."
"""What is said where a cluster that is gone has left nothing to show."""


def refresh_s(usual_s: float, n_requests: int) -> float:
    """Return the age at which answers are asked for again that so many workers have to give."""
    return max(usual_s, PER_REQUEST_S * n_requests)


def can_ask(live: LiveSession) -> bool:
    """Return whether there may be an answer to what is asked from now on."""
    return live.feed_state.state != "closed"


class Asked:
    """What one view asks while it is looked at.

    Parameters
    ----------
    live : LiveSession
    """

    def __init__(self, live: LiveSession) -> None:
        self._live = live
        self._asked_at: WeakKeyDictionary[Query, float] = WeakKeyDictionary()

    def fresh(self, kind: str, *, every_s: float = REFRESH_S, **arguments: str | float) -> Query:
        """Return the query, asked again if its answer is ``every_s`` old; 0: never by itself."""
        query = self._live.queries.ask(kind, **arguments)
        now = self._live.time
        asked_at = self._asked_at.setdefault(query, now)
        if query.state == "answered":
            is_due = now - query.answered_at >= every_s
        else:
            is_due = query.state == "failed" and now - asked_at >= RETRY_S
        if every_s and is_due:
            self._asked_at[query] = now
            self._live.queries.ask_again(query)
        return query
