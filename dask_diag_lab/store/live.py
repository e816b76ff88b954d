"""The live session: what is only of now, beside the history of a scheduler."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from dask_diag_lab.jobs import Job, Jobs, Latest
from dask_diag_lab.schema import Batch, FeedState, State
from dask_diag_lab.store.history import History
from dask_diag_lab.store.queries import Queries, Query
from dask_diag_lab.store.runs import Piece

SURE_S: Final = 0.1
"""A smaller difference of two clocks may as well be the time that a message takes."""
REMEMBERED: Final = 100
"""Batches whose smallest delay counts: clocks drift."""


def no_other(dashboard_id: str, run: int) -> tuple[str, LiveSession]:  # noqa: ARG001
    """Say that nothing else can be read from here; see `LiveSession.read_other`."""
    raise ValueError("Runs of other clusters and recordings are not read here.")


class LiveSession:
    """A history and how it goes on: what is only of now, which no recording has.

    Parameters
    ----------
    history : History
        A new one by default.
    clock : callable
        Monotonic seconds.

    Attributes
    ----------
    feed_state : FeedState
        Whether new data comes.
    queries : Queries
        Questions to the cluster and their answers.
    jobs : Jobs
        What is being worked out in another thread.
    known_runs : dict of int to Latest
        What has been worked out of each run, by its number: `views.known_runs.known_run`.
    recorded : mapping or None
        What a recording says beside its history, as JSON; None where this is no recording.
    versions : mapping of str to str or None
        Of what the cluster is used with, by package; None where one is missing.
    read_other : callable
        Takes the id of another dashboard of this user and the number of a run; returns what people
        call that one, and what it knows by then as `recording.load` does. Blocks; raises a
        ValueError for the user where it cannot be reached.
    selection : mapping of str to str
        The run that plots show until their reader chooses another one, as an argument of a view:
        ``run``; none for all.
    chosen_key : str
        Of the task that somebody has clicked, in any plot; '' for none. See `choose`.
    on_change : callable
        Called when something was taken over or noted; for one listener.
    """

    def __init__(
        self, history: History | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.history = history or History()
        self.feed_state = FeedState("connecting", "", 0.0)
        self.queries = Queries()
        self.jobs = Jobs()
        self.known_runs: dict[int, Latest[Any]] = {}  # of one type, which belongs to views
        self.recorded: Mapping[str, Any] | None = None  # JSON
        self.versions: Mapping[str, str | None] = {}
        self.read_other: Callable[[str, int], tuple[str, LiveSession]] = no_other
        self.selection: Mapping[str, str] = {}
        self.chosen_key = ""
        self.on_change: Callable[[], None] = lambda: None
        self._clock = clock
        self._batch_clock = 0.0
        # By how much the scheduler's clock is ahead of that of this process, less a message's way.
        self._ahead: deque[float] = deque(maxlen=REMEMBERED)
        self._stopped_clock: float | None = None
        self._scheduler_id = ""
        self._n_changes = 0

    @classmethod
    def of_recording(
        cls, history: History, recorded: Mapping[str, Any], selection: Mapping[str, str]
    ) -> LiveSession:
        """Return that of a history to which nothing is added any more."""
        live = cls(history, clock=lambda: 0.0)
        live.recorded, live.selection = recorded, selection
        live.versions = recorded.get("versions", {})
        until = time.strftime("%Y-%m-%d %H:%M", time.localtime(history.until))
        live.feed_state = FeedState("closed", f"Recording until {until}", history.until)
        return live

    @property
    def version(self) -> int:
        """Moves with every change, also of the history."""
        return self._n_changes + self.history.version + self.queries.version

    @property
    def time(self) -> float:
        """Estimate of the scheduler's clock now, 0 before the first batch.

        It stands still while the feed is lost or closed: what ran then must not seem to go on.
        """
        if not self.history.until:
            return 0.0
        clock = self._clock() if self._stopped_clock is None else self._stopped_clock
        return self.history.until + max(clock - self._batch_clock, 0.0)

    @property
    def degraded(self) -> str:
        """Why there is no data though the scheduler is there, '' when all is well."""
        return self.feed_state.reason if self.feed_state.state == "degraded" else ""

    def choose(self, key: str) -> None:
        """Have all plots that draw tasks show what this one needed, and what needs it."""
        if key != self.chosen_key:
            self.chosen_key = key
            self._n_changes += 1
            self.on_change()

    def set_feed_state(self, state: State, reason: str, since: float) -> None:
        """Note whether new data comes; see `FeedState`."""
        new = FeedState(state, reason, since)
        if new == self.feed_state:
            return
        if state == "closed":
            self.history.runs.end(self.history.until)
        self.feed_state = new
        self._n_changes += 1
        if state not in ("lost", "closed"):
            self._stopped_clock = None
        elif self._stopped_clock is None:
            self._stopped_clock = self._clock()
        self.on_change()

    def apply(self, batch: Batch) -> None:
        """Have the history take over a batch; raises as `History.apply`."""
        self.history.apply(batch)
        if batch.scheduler.id != self._scheduler_id:
            self.queries.clear()
            self._scheduler_id = batch.scheduler.id
        self._batch_clock = self._clock()
        self._ahead.append(batch.time - batch.received)
        if self._stopped_clock is not None:
            self._stopped_clock = self._batch_clock
        self.on_change()

    def note_code(self, piece: Piece) -> None:
        """Note that a piece of code runs, or has ended, by the clock of this process."""
        ahead_s = max(self._ahead, default=0.0)  # of the message that came soonest
        if abs(ahead_s) > SURE_S:
            piece = replace(piece, start=piece.start + ahead_s, stop=piece.stop + ahead_s)
        self.history.runs.note_code(piece)
        self.on_change()

    def answer(self, query: Query, answer: object) -> None:
        """Take the cluster's answer to a question."""
        self.queries.answered(query, answer, self.time)
        self.on_change()

    def fail(self, query: Query, error: str) -> None:
        """Note in words for the user why a question was not answered."""
        self.queries.failed(query, error)
        self.on_change()

    def job_done(self, job: Job[Any]) -> None:  # results of any type
        """Note that a piece of work on answers is done."""
        self.jobs.ended(job)
        self._n_changes += 1
        self.on_change()
