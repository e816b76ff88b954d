"""Questions to the cluster and what came back; of views that are looked at, asked again in time."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Literal
from weakref import WeakKeyDictionary

from dask_diag_lab.schema.tables import QUERIES

if TYPE_CHECKING:
    from dask_diag_lab.store import LiveSession

MAX_KEPT: Final = 24
"""Answers kept; the one that was looked at the longest ago goes first. Some take 10 MB each."""

Argument = str | float
QueryState = Literal["asked", "answered", "failed"]
_Name = tuple[str, tuple[tuple[str, Argument], ...]]


class Query:
    """One question and its last answer.

    Attributes
    ----------
    kind, arguments
        As in `schema.tables.QUERIES`.
    state : {'asked', 'answered', 'failed'}
        'asked' also while a new answer is under way.
    answer : object
        The last answer, None before the first.
    error : str
        Why there is no new one, in words for the user.
    answered_at : float
        Scheduler's clock when the last answer came; 0 before.
    n_answers : int
        Answers that have come so far.
    version : int
        Moves with every change.
    """

    def __init__(self, kind: str, arguments: Mapping[str, Argument]) -> None:
        self.kind = kind
        self.arguments = dict(arguments)
        self.state: QueryState = "asked"
        self.answer: Any = None  # plain data, by kind
        self.error = ""
        self.answered_at = 0.0
        self.n_answers = 0
        self.version = 0

    @property
    def is_useless(self) -> bool:
        """Whether there is no answer, nor one to come."""
        return self.state == "failed" and self.answer is None


class Queries:
    """What has been asked, each kind and arguments once.

    Attributes
    ----------
    version : int
        Moves when any query changed.
    on_ask : callable or None
        Takes each `Query` that wants an answer; it is answered with `answered` or `failed`.
    """

    def __init__(self) -> None:
        self.version = 0
        self.on_ask: Callable[[Query], None] | None = None
        self._kept: OrderedDict[_Name, Query] = OrderedDict()
        self._noticed: list[Query] | None = None

    @contextmanager
    def noticed(self) -> Iterator[list[Query]]:
        """Collect the queries that are made in this block, those known before too."""
        before, self._noticed = self._noticed, []
        try:
            yield self._noticed
        finally:
            self._noticed = before

    def ask(self, kind: str, **arguments: Argument) -> Query:
        """Return the query with these arguments; the cluster is asked if it never was.

        Raises
        ------
        ValueError
            There is no such kind, or the arguments are not those of the kind.
        """
        if kind not in QUERIES or set(arguments) != set(QUERIES[kind]):
            raise ValueError(f"no question {kind!r} with arguments {sorted(arguments)}")
        query = self.known(kind, **arguments)
        if query is None:
            query = self._kept[kind, tuple(sorted(arguments.items()))] = Query(kind, arguments)
            if len(self._kept) > MAX_KEPT:
                oldest, *others = list(self._kept)[:-1]
                # A recording has answers that nobody can give again.
                useless = (one for one in (oldest, *others) if self._kept[one].is_useless)
                del self._kept[next(useless, oldest)]
            self._send(query)
        if self._noticed is not None:
            self._noticed.append(query)
        return query

    def known(self, kind: str, **arguments: Argument) -> Query | None:
        """Return the query with these arguments if there is one; nobody is asked."""
        name = (kind, tuple(sorted(arguments.items())))
        if name in self._kept:
            self._kept.move_to_end(name)
        return self._kept.get(name)

    def ask_again(self, query: Query) -> None:
        """Ask for a newer answer, unless one is under way; the old one stays until it comes."""
        if self._noticed is not None:
            self._noticed.append(query)
        if query.state != "asked":
            query.state = "asked"
            self._changed(query)
            self._send(query)

    def answered(self, query: Query, answer: object, time: float) -> None:
        """Take the answer that came at `time` of the scheduler's clock."""
        query.state, query.answer, query.error = "answered", answer, ""
        query.answered_at = time
        query.n_answers += 1
        self._changed(query)

    def failed(self, query: Query, error: str) -> None:
        """Note in words for the user why no answer came; the last one stays."""
        query.state, query.error = "failed", error
        self._changed(query)

    def clear(self) -> None:
        """Forget all answers: they are of a cluster that is gone. Views ask anew."""
        self.version += len(self._kept) > 0
        self._kept.clear()

    def _changed(self, query: Query) -> None:
        query.version += 1
        self.version += 1

    def _send(self, query: Query) -> None:
        if self.on_ask is None:
            self.failed(query, "Nobody is there to ask the cluster.")
        else:
            self.on_ask(query)


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


class PolledQueries:
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
