"""What is known of one task: the scheduler's answer, the recorded actions, and what runs now.

Reads the store and asks through it; knows no Bokeh.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from dask_diag_lab.schema import Kind, Outcome
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.details.page import Answer, Facts
from dask_diag_lab.views.worker_names import worker_in_words

if TYPE_CHECKING:
    from dask_diag_lab.store import Store
    from dask_diag_lab.store.queries import Query
    from dask_diag_lab.views.asked import Asked

ACTIVE_S: Final = 2.0
SETTLED_S: Final = 10.0
"""A task that is done changes seldom."""
LOG_INTERVAL_S: Final = 2.0
"""A search of the log takes some milliseconds where a million tasks are kept."""

_SETTLED: Final = frozenset({"memory", "erred", "released", "forgotten"})
_OUTCOMES: Final = {
    Outcome.OK: "success",
    Outcome.ERRED: "failure",
    Outcome.KILLED: "its worker died while it ran",
}
_LOG_COLUMNS: Final = ("kind", "start", "stop", "worker", "slot", "source", "nbytes", "outcome")
_LASTING: Final = frozenset(
    {
        *("Group", "Type", "Depends on", "Needed by", "Priority", "Restrictions", "Annotations"),
        *("Failed because of", "Workers lost with it"),
    }
)
"""Facts that stay true of a task that is forgotten."""
_OF_A_RUN: Final = frozenset({"Ran on", "Started at", "Ended at"})

Action = dict[str, Any]  # values of several types


class TaskRecord:
    """All that is known of one task, once `look` was called.

    Parameters
    ----------
    store : Store
    asked : Asked
        Of the view that shows it.
    key : str
        The key as text; '' for no task, of which nothing is known.
    clock : callable
        Monotonic seconds. Not the scheduler's, which stand still when the scheduler is gone.

    Attributes
    ----------
    query : Query or None
        Asks the scheduler for it.
    answer : mapping
        The scheduler's last answer that was not "unknown"; empty before.
    answered_at : float
        Scheduler's clock.
    recorded : list of dict
        The log's actions of the task in order of their starts: ``action``, ``start``, ``stop``,
        ``worker`` and ``source`` (addresses), ``thread``, ``nbytes``, ``outcome``.
    """

    def __init__(
        self, store: Store, asked: Asked, key: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.key = key
        self.query: Query | None = None
        self.answer: Answer = {}
        self.answered_at = 0.0
        self.recorded: list[Action] = []
        self._recorded_prefix = ""
        self._recorded_version = 0
        self._running: list[tuple[str, float]] = []
        self._now = 0.0
        self._store = store
        self._asked = asked
        self._clock = clock
        self._log_version, self._looked_at = -1, -math.inf

    def look(self) -> None:
        """Ask where an answer is old, and look into the store."""
        if not self.key:
            return
        store = self._store
        self._now = store.time
        # Clocks of workers may be ahead of the scheduler's.
        self._running = [
            (store.strings[worker], min(start, self._now))
            for worker, start in store.running.of_key(self.key)
        ]
        is_settled = self.answer.get("state") in _SETTLED and not self._running
        every_s = SETTLED_S if is_settled else ACTIVE_S
        self.query = self._asked.fresh("task", every_s=every_s, key=self.key)
        if self.query.answer is not None:
            self.answer, self.answered_at = self.query.answer, self.query.answered_at
        # Where it ran once it is forgotten only the log knows.
        if not self.is_first_question and self.is_due:
            self._read_log()

    @property
    def is_due(self) -> bool:
        """Whether the log may have more of the task, and it is time to look."""
        waited_s = self._clock() - self._looked_at
        return self._store.actions.version != self._log_version and waited_s >= LOG_INTERVAL_S

    def _read_log(self) -> None:
        log, texts = self._store.actions, self._store.strings
        self._log_version, self._looked_at = log.version, self._clock()
        rows, threads = log.of_key(self.key), self._store.slots.thread_index
        recorded = [
            {
                "action": Kind(kind).name.lower().replace("_", "-"),
                "start": start,
                "stop": stop,
                "worker": texts[worker],
                "thread": int(threads[slot]) + 1 if slot >= 0 else 0,
                "source": texts[source],
                "nbytes": nbytes,
                "outcome": outcome,
            }
            for kind, start, stop, worker, slot, source, nbytes, outcome in zip(
                *(rows[name].tolist() for name in _LOG_COLUMNS), strict=True
            )
        ]
        if recorded != self.recorded:
            self.recorded, self._recorded_version = recorded, self._recorded_version + 1
            self._recorded_prefix = texts[int(rows["prefix"][-1])] if recorded else ""

    @property
    def version(self) -> object:
        """Differs when anything was learnt, and with each second of a run."""
        asked = (id(self.query), self.query.version) if self.query is not None else None
        running = [(worker, int(self._now - start)) for worker, start in self._running]
        return self.key, asked, self._recorded_version, running

    @property
    def is_first_question(self) -> bool:
        """Whether the scheduler has still to say whether it knows the task."""
        query = self.query
        return query is not None and not query.n_answers and not query.error

    @property
    def is_forgotten(self) -> bool:
        """Whether the scheduler said that it knows no such task."""
        query = self.query
        return query is not None and query.n_answers > 0 and query.answer is None

    @property
    def is_known(self) -> bool:
        """Whether there is anything to show of it."""
        return bool(self.answer or self.recorded)

    @property
    def prefix(self) -> str:
        """Its prefix; '' where that is not known."""
        return str(self.answer.get("prefix", "")) or self._recorded_prefix

    @property
    def actions(self) -> list[Action]:
        """What the log has of it, or the scheduler if it knows more; and what runs."""
        answered = self.answer.get("actions", ())
        ended = self.recorded if len(self.recorded) >= len(answered) else list(answered)
        running: list[Action] = [
            {"action": "computes now", "start": start, "stop": self._now, "worker": worker}
            for worker, start in self._running
        ]
        return [*ended, *running]

    @property
    def roles(self) -> list[tuple[str, str]]:
        """What each worker has to do with it, and the worker's address."""
        task = {} if self.is_forgotten else self.answer
        roles = [("runs it", str(task["worker"]))] if task.get("worker") else []
        roles += [("has the result", str(address)) for address in task.get("who_has", ())]
        roles += [("it failed there", str(address)) for address in task.get("erred_on", ())]
        roles += [("ran it", run["worker"]) for run in self._runs]
        sources = [one["source"] for one in self.recorded if one["source"]]
        return list(dict.fromkeys([*roles, *(("sent data for it", source) for source in sources)]))

    @property
    def worker(self) -> str:
        """The worker of most interest that is still there; '' where there is none."""
        present = self._store.workers
        return next((address for _, address in self.roles if address in present), "")

    @property
    def neighbours(self) -> list[dict[str, str]]:
        """Relation, key and state of each task that this one needs or is needed by."""
        return [
            {"relation": relation, "key": str(other["key"]), "state": str(other["state"])}
            for name, relation in (("dependencies", "depends on"), ("dependents", "is needed by"))
            for other in self.answer.get(name, ())
        ]

    @property
    def facts(self) -> Facts:
        """What is known in a few words each.

        Of a forgotten task that was recorded, the scheduler's answer counts only where it cannot
        have changed.
        """
        recorded = self._recorded_facts()
        if not self.answer:
            return recorded
        answered = self._answered_facts()
        if self.is_forgotten and recorded:
            return [*recorded, *(fact for fact in answered if fact[0] in _LASTING)]
        return [*answered, *(fact for fact in recorded if fact[0] in _OF_A_RUN)]

    def _answered_facts(self) -> Facts:
        task, name = self.answer, self._worker_name
        counts, nbytes = task.get("counts", {}), task.get("nbytes", -1)

        def tasks(which: str) -> str:
            return fmt.plural(counts[which], "task") if counts.get(which) else ""

        running: Facts = []
        if self._running:
            start = self._running[0][1]
            running = [
                ("Runs since", fmt.clock(start)),
                ("Runs for", fmt.duration(self._now - start)),
            ]
        return [
            ("Task", str(task["key"])),
            ("State", str(task["state"])),
            ("Prefix", str(task["prefix"])),
            ("Group", str(task["group"])),
            ("Runs on", name(str(task["worker"])) if task["worker"] else ""),
            *running,
            ("Failed on", ", ".join(name(str(address)) for address in task.get("erred_on", ()))),
            (
                "In memory on",
                fmt.plural(counts["who_has"], "worker") if counts.get("who_has") else "",
            ),
            ("Size", fmt.binary(nbytes) if nbytes >= 0 else ""),
            ("Type", str(task["type"])),
            ("Took", _durations(task.get("actions", ()))),
            ("Depends on", tasks("dependencies")),
            ("Waits for", tasks("waiting_on")),
            ("Needed by", tasks("dependents")),
            ("Waited for by", tasks("waiters")),
            ("Priority", str(task["priority"])),
            ("Retries left", str(task["retries"]) if task.get("retries") else ""),
            ("Workers lost with it", str(task["suspicious"]) if task.get("suspicious") else ""),
            ("Failed because of", str(task.get("blame", ""))),
            ("Restrictions", str(task["restrictions"])),
            ("Annotations", str(task["annotations"])),
        ]

    def _recorded_facts(self) -> Facts:
        if not self.recorded:
            return []
        moves = [action for action in self.recorded if action["action"] == "transfer"]
        sources = dict.fromkeys(move["source"] for move in moves if move["source"])
        names = ", ".join(map(self._worker_name, sources))
        facts: Facts = [
            ("Task", self.key),
            ("State", "forgotten by the scheduler" if self.is_forgotten else ""),
            ("Prefix", self._recorded_prefix),
        ]
        if self._runs:
            run = self._runs[-1]
            thread = f", thread {run['thread']}" if run["thread"] else ""
            facts += [
                ("Ran on", f"{self._worker_name(run['worker'])}{thread}"),
                ("Started at", fmt.clock(run["start"])),
                ("Ended at", fmt.clock(run["stop"])),
                ("Outcome", _OUTCOMES[Outcome(run["outcome"])]),
                ("Size", fmt.binary(run["nbytes"]) if run["nbytes"] >= 0 else ""),
            ]
        return [
            *facts,
            ("Took", _durations(self.recorded)),
            ("Transfers", f"{fmt.count(len(moves))} from {names}" if names else ""),
            ("Ran", f"{fmt.count(len(self._runs))} times" if len(self._runs) > 1 else ""),
        ]

    @property
    def error(self) -> str:
        """Error and traceback, or why there is none; '' where it is not known whether it ran."""
        text = _error_text(self.answer) if self.answer else ""
        if text or (self.answer and not self.is_forgotten):
            return text or "This task has not failed."
        outcomes = [run["outcome"] for run in self._runs]
        is_well = bool(outcomes) and outcomes[-1] == Outcome.OK  # whatever it was before
        if not is_well and (kept := self._kept_error()):
            return kept
        if Outcome.ERRED in outcomes:
            return "This task failed, and its error has been forgotten with it."
        if outcomes and outcomes[-1] == Outcome.KILLED:
            return (
                "The worker died while this task ran, the last time that it did. No error of it is"
                " kept."
            )
        return "This task has not failed." if outcomes or self.answer else ""

    def _kept_error(self) -> str:
        """Return the error that is kept also of a task that is forgotten; '' where none is."""
        errors = self._store.extras["errors"]
        rows = [row for row, key in enumerate(errors["key"].tolist()) if key == self.key]
        if not rows:
            return ""
        return _error_text({name: str(errors[name][rows[-1]]) for name in _ERROR_TEXTS})

    @property
    def _runs(self) -> list[Action]:
        return [action for action in self.recorded if action["action"] == "compute"]

    def _worker_name(self, address: str) -> str:
        return worker_in_words(self._store, address)


_ERROR_TEXTS: Final = ("exception", "traceback")


def _error_text(task: Answer) -> str:
    blame = str(task.get("blame", ""))
    why = f"The error is that of {blame}, which this task needs." if blame else ""
    parts: Sequence[str] = [why, *(str(task.get(name, "")) for name in _ERROR_TEXTS)]
    return "\n\n".join(part for part in parts if part)


def _durations(actions: Iterable[Answer]) -> str:
    """Return how long each kind of action took, all of a kind together."""
    sums: defaultdict[str, float] = defaultdict(float)
    for action in actions:
        sums[str(action["action"])] += action["stop"] - action["start"]
    return ", ".join(f"{fmt.duration(seconds)} {action}" for action, seconds in sums.items())
