"""What the recorded history has of one task: its runs and transfers, where they were, its error.

Reads the store; knows no Bokeh.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from dask_diag_lab.records import Kind, Outcome
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.detail_page import Facts
from dask_diag_lab.views.tasks.task_page_words import (
    ERROR_GONE,
    ERROR_KILLED,
    ERROR_NONE,
    error_text,
    times_words,
)
from dask_diag_lab.views.worker_names import worker_in_words

if TYPE_CHECKING:
    from dask_diag_lab.store import Store

LOOK_INTERVAL_S: Final = 2.0
"""A search takes some milliseconds where a million tasks are kept."""

_OUTCOMES: Final = {
    Outcome.OK: "success",
    Outcome.ERRED: "failure",
    Outcome.KILLED: "its worker died while it ran",
}


class TaskTraces:
    """The actions of one task in the log, looked up again when the log has changed.

    Parameters
    ----------
    store : Store
    key : str
    clock : callable
        Monotonic seconds. Not the scheduler's, which stand still when the scheduler is gone.

    Attributes
    ----------
    actions : list of dict
        With ``action``, ``start``, ``stop``, ``worker`` and ``source``, which are addresses,
        ``thread``, ``nbytes`` and ``outcome``; in order of their starts.
    prefix : str
    version : int
        Moves when the actions change. Their number does not where the log is full: with each that
        comes one goes.
    """

    def __init__(self, store: Store, key: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.key = key
        self.prefix = ""
        self.version = 0
        self.actions: list[dict[str, Any]] = []  # values of several types
        self._store = store
        self._clock = clock
        self._log_version = -1
        self._looked_at = -math.inf

    @property
    def is_due(self) -> bool:
        """Whether the log may have more of it, and it is time to look."""
        since_s = self._clock() - self._looked_at
        return self._store.actions.version != self._log_version and since_s >= LOOK_INTERVAL_S

    def look(self) -> None:
        """Bring `actions` up to the store, not more often than needed."""
        if not self.is_due:
            return
        log = self._store.actions
        self._log_version, self._looked_at = log.version, self._clock()
        rows, texts = log.of_key(self.key), self._store.strings
        slots = self._store.lanes.slot
        actions = [
            {
                "action": Kind(kind).name.lower().replace("_", "-"),
                "start": start,
                "stop": stop,
                "worker": texts[worker],
                "thread": int(slots[lane]) + 1 if lane >= 0 else 0,
                "source": texts[source],
                "nbytes": nbytes,
                "outcome": outcome,
            }
            for kind, start, stop, worker, lane, source, nbytes, outcome in zip(
                *(rows[name].tolist() for name in _COLUMNS), strict=True
            )
        ]
        if actions != self.actions:
            self.actions, self.version = actions, self.version + 1
            self.prefix = texts[int(rows["prefix"][-1])] if actions else ""

    @property
    def runs(self) -> list[dict[str, Any]]:
        """The actions in which it computed."""
        return [action for action in self.actions if action["action"] == "compute"]

    def roles(self) -> list[tuple[str, str]]:
        """Return what each worker had to do with it, and the worker's address."""
        ran = [("ran it", action["worker"]) for action in self.runs]
        sent = [("sent data for it", a["source"]) for a in self.actions if a["source"]]
        return list(dict.fromkeys([*ran, *sent]))

    def facts(self, *, is_forgotten: bool) -> Facts:
        """Return what is known in a word each, and whether the scheduler knows nothing of it."""
        if not self.actions:
            return []
        moves = [action for action in self.actions if action["action"] == "transfer"]
        return [
            ("Task", self.key),
            ("State", "forgotten by the scheduler" if is_forgotten else ""),
            ("Prefix", self.prefix),
            *(self._run_facts(self.runs[-1]) if self.runs else ()),
            ("Took", times_words(self.actions)),
            ("Transfers", self._transfers(moves)),
            ("Ran", f"{fmt.count(len(self.runs))} times" if len(self.runs) > 1 else ""),
        ]

    def _run_facts(self, run: Mapping[str, Any]) -> Facts:  # as in `actions`
        where = worker_in_words(self._store, run["worker"])
        thread = f", thread {run['thread']}" if run["thread"] else ""
        return [
            ("Ran on", f"{where}{thread}"),
            ("Started at", fmt.clock(run["start"])),
            ("Ended at", fmt.clock(run["stop"])),
            ("Outcome", _OUTCOMES[Outcome(run["outcome"])]),
            ("Size", fmt.binary(run["nbytes"]) if run["nbytes"] >= 0 else ""),
        ]

    def _transfers(self, moves: list[dict[str, Any]]) -> str:
        sources = list(dict.fromkeys(move["source"] for move in moves if move["source"]))
        names = ", ".join(worker_in_words(self._store, source) for source in sources)
        return f"{fmt.count(len(moves))} from {names}" if names else ""

    def error(self) -> str:
        """Return its error and traceback, or why there is none; '' where it is not known to run."""
        outcomes = [run["outcome"] for run in self.runs]
        is_well = bool(outcomes) and outcomes[-1] == Outcome.OK  # whatever it was before
        if not is_well and (kept := self._kept_error()):
            return kept
        if Outcome.ERRED in outcomes:
            return ERROR_GONE
        if outcomes and outcomes[-1] == Outcome.KILLED:
            return ERROR_KILLED
        return ERROR_NONE if outcomes else ""

    def _kept_error(self) -> str:
        """Return the error that is kept also of a task that is forgotten; '' where none is."""
        errors = self._store.extras["errors"]
        keys = errors["key"].tolist()
        row = next((row for row in reversed(range(len(keys))) if keys[row] == self.key), None)
        if row is None:
            return ""
        return error_text({name: str(errors[name][row]) for name in ("exception", "traceback")})


_COLUMNS: Final = ("kind", "start", "stop", "worker", "lane", "source", "nbytes", "outcome")
