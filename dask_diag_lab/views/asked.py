"""Answers of the cluster for a view that is looked at, asked again when they are old.

Knows the store; knows nothing of Bokeh.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from dask_diag_lab.store import Store
    from dask_diag_lab.store.inquiries import Inquiry

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


def can_ask(store: Store) -> bool:
    """Return whether there may be an answer to what is asked from now on."""
    return store.feed_state.state != "closed"


class Asked:
    """What one view asks while it is looked at.

    Parameters
    ----------
    store : Store
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        # Version of the failure, and when it was seen.
        self._failed: WeakKeyDictionary[Inquiry, tuple[int, float]] = WeakKeyDictionary()

    def fresh(self, kind: str, *, every_s: float = REFRESH_S, **arguments: str | float) -> Inquiry:
        """Return the inquiry, asked again if its answer is ``every_s`` old; 0: never by itself."""
        inquiry = self._store.inquiries.ask(kind, **arguments)
        if every_s and self._is_due(inquiry, every_s):
            self._store.inquiries.ask_again(inquiry)
        return inquiry

    def _is_due(self, inquiry: Inquiry, every_s: float) -> bool:
        now = self._store.time
        if inquiry.state == "answered":
            self._failed.pop(inquiry, None)
            return now - inquiry.answered_at >= every_s
        if inquiry.state == "asked":
            return False
        version, since = self._failed.get(inquiry, (-1, now))
        if version != inquiry.version:
            self._failed[inquiry] = (inquiry.version, now)
            return False
        return now - since >= RETRY_S
