"""What the recorded history has of one task that the scheduler has forgotten: facts, times, places.

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
from dask_diag_lab.views.tasks.task_page_words import times_words
from dask_diag_lab.views.worker_names import worker_in_words

if TYPE_CHECKING:
    from dask_diag_lab.store import Store

LOOK_INTERVAL_S: Final = 2.0
"""A search takes some milliseconds where a million tasks are kept."""

_ENDS: Final = {
    Outcome.OK: "it ended well",
    Outcome.ERRED: "it failed",
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
    """

    def __init__(self, store: Store, key: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.key = key
        self.prefix = ""
        self.actions: list[dict[str, Any]] = []  # values of several types
        self._store = store
        self._clock = clock
        self._version = -1
        self._looked_at = -math.inf

    @property
    def is_due(self) -> bool:
        """Whether the log may have more of it, and it is time to look."""
        since_s = self._clock() - self._looked_at
        return self._store.actions.version != self._version and since_s >= LOOK_INTERVAL_S

    def look(self) -> None:
        """Bring `actions` up to the store, not more often than needed."""
        if not self.is_due:
            return
        log = self._store.actions
        self._version, self._looked_at = log.version, self._clock()
        rows, texts = log.of_key(self.key), self._store.strings
        slots = self._store.lanes.slot
        self.actions = [
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
        self.prefix = texts[int(rows["prefix"][-1])] if self.actions else ""

    @property
    def runs(self) -> list[dict[str, Any]]:
        """The actions in which it computed."""
        return [action for action in self.actions if action["action"] == "compute"]

    def roles(self) -> list[tuple[str, str]]:
        """Return what each worker had to do with it, and the worker's address."""
        ran = [("ran it", action["worker"]) for action in self.runs]
        sent = [("sent data for it", a["source"]) for a in self.actions if a["source"]]
        return list(dict.fromkeys([*ran, *sent]))

    def facts(self) -> Facts:
        """Return what is known in a word each."""
        if not self.actions:
            return []
        last = self.runs[-1] if self.runs else self.actions[-1]
        where = worker_in_words(self._store, last["worker"])
        thread = f", thread {last['thread']}" if last["thread"] else ""
        moves = [action for action in self.actions if action["action"] == "transfer"]
        nbytes = last["nbytes"] if self.runs else -1
        return [
            ("Task", self.key),
            ("State", "forgotten by the scheduler"),
            ("Prefix", self.prefix),
            ("Ran on", f"{where}{thread}"),
            ("Started at", fmt.clock(last["start"])),
            ("Ended at", fmt.clock(last["stop"])),
            ("End", _ENDS[Outcome(last["outcome"])]),
            ("Size", fmt.binary(nbytes) if nbytes >= 0 else ""),
            ("Took", times_words(self.actions)),
            ("Transfers", self._transfers(moves)),
            ("Ran", f"{fmt.count(len(self.runs))} times" if len(self.runs) > 1 else ""),
        ]

    def _transfers(self, moves: list[dict[str, Any]]) -> str:
        sources = list(dict.fromkeys(move["source"] for move in moves if move["source"]))
        names = ", ".join(worker_in_words(self._store, source) for source in sources)
        return f"{fmt.count(len(moves))} from {names}" if names else ""

    def error(self) -> Mapping[str, str]:
        """Return its exception and traceback, where the list of failed tasks still has them."""
        errors = self._store.extras["errors"]
        if not errors.is_known:
            return {}
        for row, key in enumerate(errors["key"].tolist()):
            if key == self.key:
                return {name: str(errors[name][row]) for name in ("exception", "traceback")}
        return {}


_COLUMNS: Final = ("kind", "start", "stop", "worker", "lane", "source", "nbytes", "outcome")
