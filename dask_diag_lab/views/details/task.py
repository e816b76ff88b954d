"""One task: its state, where it came from and goes to, its times, its error and its story."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from dask_diag_lab.schema import Kind, Outcome
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.data import Column
from dask_diag_lab.views.details.page import (
    Answer,
    DetailPage,
    Facts,
    Row,
    Section,
    listed,
    stack_text,
)
from dask_diag_lab.views.names import open_worker, worker_label
from dask_diag_lab.views.registry import register_plot
from dask_diag_lab.views.view import Control

if TYPE_CHECKING:
    from dask_diag_lab.store.queries import Query

HOW: Final = "Click a task in the Task Stream or Task Graph, or type a key above."
FORGOTTEN: Final = "The scheduler has forgotten this task."
UNRECORDED: Final = "No run of it is recorded here."

_OUTCOMES: Final[Mapping[int, str]] = {
    Outcome.OK: "success",
    Outcome.ERRED: "failure",
    Outcome.RETRIED: "failed attempt, run again",
    Outcome.KILLED: "its worker died while it ran",
}
_FACTS: Final = (
    *(("Type", "type"), ("Priority", "priority"), ("Retries left", "retries")),
    *(("Workers lost with it", "suspicious"), ("Failed because of", "blame")),
    ("Annotations", "annotations"),
)
"""Label of a fact, and where the scheduler's answer has it."""

_NEIGHBOURS: Final = Section(
    "dependencies",
    "Dependencies",
    (
        Column("relation", "Relation", width=110),
        Column("key", "Task", "key", width=300),
        Column("state", "State", width=90),
    ),
)
_WORKERS: Final = Section(
    "workers",
    "Workers",
    (Column("role", "Role", width=130), Column("worker", "Worker", width=300)),
)
_TIMES: Final = Section(
    "times",
    "Times",
    (
        Column("action", "Action", width=110),
        Column("start", "Start", "time", width=90),
        Column("seconds", "Duration", "seconds", width=100),
        Column("worker", "Worker", width=160),
        Column("thread", "Thread", "number", width=70),
    ),
)
_STORY: Final = Section(
    "story",
    "Story",
    (
        Column("time", "Time", "time", width=80),
        Column("start", "From", width=90),
        Column("finish", "To", width=90),
        Column("stimulus", "Because of", width=300),
    ),
)
_ERROR: Final = Section("error", "Error")
_STACK: Final = Section("call-stack", "Call stack now")


@register_plot
class TaskPage(DetailPage):
    """All that is known of one task, named by its key."""

    name = "task"

    accepts: ClassVar[Sequence[str]] = ("key", "show")
    sections: ClassVar[Sequence[Section]] = (_NEIGHBOURS, _WORKERS, _TIMES, _STORY, _ERROR, _STACK)

    _query: Query | None = None
    _answer: Answer = MappingProxyType({})  # the last one that was not "unknown"
    _recorded: Sequence[Row] = ()  # actions of the log, by their starts
    _running: Sequence[tuple[str, float]] = ()  # workers, and when it began there
    _read: object = None  # what the log was last read for

    @property
    def key(self) -> str:
        """The key as text; '' while none was chosen."""
        return self.arguments.get("key", "")

    # --- what is known

    def look_up(self) -> object:
        """Ask for the task, and for what it does now where that is to be seen."""
        if self._query is None or self._query.arguments["key"] != self.key:
            self._query, self._answer, self._recorded, self._read = None, {}, (), None
        self.queries = []
        if not self.key:
            return None
        history, now = self.history, self.live.time
        # Clocks of workers may be ahead of the scheduler's.
        self._running = [
            (history.strings[worker], min(start, now))
            for worker, start in history.running.of_key(self.key)
        ]
        query = self._query = self.asked.fresh("task", key=self.key)
        self.queries.append(query)
        if query.answer is not None:
            self._answer = query.answer
            self.propose(_ERROR if self._answer["state"] == "erred" else _NEIGHBOURS)
        # A search of the log takes some milliseconds where a million tasks are kept.
        if self._read != (query.n_answers, query.error):
            self._read = query.n_answers, query.error
            self._recorded = self._read_log()
            if self._recorded and not self._answer:
                self.propose(_TIMES)
        if self.section is _STACK and (worker := self._now.get("worker")):
            self.queries.append(self.asked.fresh("call-stacks", worker=worker, key=self.key))
        return [(worker, int(now - start)) for worker, start in self._running]

    def _read_log(self) -> list[Row]:
        texts, threads = self.history.strings, self.history.slots.thread_index
        of_key = self.history.actions.of_key(self.key).items()
        columns: dict[str, list[Any]] = {name: column.tolist() for name, column in of_key}
        columns |= {name: texts.take(columns[name]) for name in ("worker", "source", "prefix")}
        columns |= {
            "action": [Kind(kind).name.lower().replace("_", "-") for kind in columns["kind"]],
            "thread": [int(threads[at]) + 1 if at >= 0 else None for at in columns["slot"]],
            "address": columns["worker"],
            "worker": [self._names(address) for address in columns["worker"]],
        }
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    @property
    def _is_forgotten(self) -> bool:
        """Whether the scheduler said that it knows no such task."""
        query = self._query
        return query is not None and query.n_answers > 0 and query.answer is None

    @property
    def _now(self) -> Answer:
        """What the scheduler knows of it now; empty where it has forgotten it."""
        return {} if self._is_forgotten else self._answer

    @property
    def _runs(self) -> list[Row]:
        return [action for action in self._recorded if action["action"] == "compute"]

    @property
    def _roles(self) -> list[tuple[str, str]]:
        """What each worker has to do with it, and the worker's address."""
        now = self._now
        pairs = [
            ("runs it", [now.get("worker")]),
            ("has the result", now.get("who_has", ())),
            ("it failed there", now.get("erred_on", ())),
            ("ran it", [run["address"] for run in self._runs]),
            ("sent data for it", [action["source"] for action in self._recorded]),
        ]
        roles = ((role, address) for role, addresses in pairs for address in addresses if address)
        return list(dict.fromkeys(roles))

    @property
    def _prefix(self) -> str:
        return next((str(one["prefix"]) for one in (self._answer, *self._recorded) if one), "")

    @property
    def _worker(self) -> str:
        """The worker of most interest that is still there; '' where there is none."""
        return next((address for _, address in self._roles if address in self.history.workers), "")

    # --- what is shown

    def subject_controls(self) -> Sequence[Control]:
        """Return the field for the key, and the ways to profile and worker."""
        key = Control("key", "text", "Task", self.key, placeholder="Key of a task")
        others = (("profile", self._prefix), ("worker", self._worker))
        return [key, *(Control(name, "button", name.title()) for name, of in others if of)]

    def set_control(self, name: str, value: str) -> None:
        """Go to another task, to the profile of its prefix, or to its worker."""
        if name == "key" and value != self.key:
            self.show({"key": value})
        elif name == "profile" and self._prefix:
            self.open("profile", prefix=self._prefix)
        elif name == "worker":
            open_worker(self, self._worker)
        elif name == "ask" and self._now.get("worker"):
            self.choose(_STACK.name)  # what it does at this moment
        super().set_control(name, value)

    def facts(self) -> Facts:
        """Return what is known in a few words each."""
        if not (self._answer or self._recorded):
            return []
        task, now = self._answer, self._now
        counts = now.get("counts", {})
        run: Row = self._runs[-1] if self._runs else {}
        since = self._running[0][1] if self._running else 0.0
        nbytes = task.get("nbytes", run.get("nbytes", -1))
        thread = f", thread {run['thread']}" if run.get("thread") else ""
        return [
            ("Task", self.key),
            ("State", "forgotten by the scheduler" if self._is_forgotten else now.get("state", "")),
            ("Prefix", self._prefix),
            ("Group", task.get("group", "")),
            ("Runs on", self._names(now.get("worker"))),
            ("Runs since", fmt.clock(since) if since else ""),
            ("Runs for", fmt.duration(self.live.time - since) if since else ""),
            ("Ran on", run.get("worker", "") + thread),
            ("Started at", fmt.clock(run["start"]) if run else ""),
            ("Ended at", fmt.clock(run["stop"]) if run else ""),
            ("Outcome", _OUTCOMES[run["outcome"]] if run else ""),
            ("Failed on", self._names(*task.get("erred_on", ()))),
            ("In memory on", fmt.plural(n, "worker") if (n := counts.get("who_has")) else ""),
            ("Size", fmt.binary(nbytes) if nbytes >= 0 else ""),
            ("Took", fmt.duration(run["stop"] - run["start"]) if run else ""),
            *((name, str(task.get(of) or "")) for name, of in _FACTS),
        ]

    def rows(self, section: Section) -> Sequence[Row]:
        """Return the rows of one of the tables."""
        if section is _NEIGHBOURS:
            relations = {"dependencies": "depends on", "dependents": "is needed by"}
            return [
                {**other, "relation": relation}
                for name, relation in relations.items()
                for other in self._answer.get(name, ())
            ]
        if section is _WORKERS:
            return [{"role": role, "worker": address} for role, address in self._roles]
        if section is _TIMES:
            now = self.live.time
            running = (
                {"action": "computes now", "start": start, "worker": self._names(worker)}
                for worker, start in self._running
            )
            # What runs has no end.
            return [
                {"stop": now, **action, "seconds": action.get("stop", now) - action["start"]}
                for action in (*self._recorded, *running)
            ]
        return list(self._answer.get("story", ()))

    def _names(self, *addresses: str | None) -> str:
        return ", ".join(worker_label(self.history, each) for each in addresses if each)

    def text(self, section: Section) -> str:
        """Return the error, what the task does now, or why a table has no rows."""
        if section is _ERROR:
            return self._error()
        if self._is_forgotten:
            return f"{FORGOTTEN} {UNRECORDED}"
        if not self._answer:
            return ""
        is_stack = section is _STACK
        return self._stack() if is_stack else f"{section.title}: none are known of this task."

    def _error(self) -> str:
        """Return error and traceback, or why there is none; '' where nothing is known."""
        text = _error_text(self._answer)
        if not text and self._runs and self._runs[-1]["outcome"] != Outcome.OK:
            errors = self.history.extras["errors"]  # kept also of tasks that are forgotten
            for row in np.flatnonzero(errors["key"] == self.key):
                text = _error_text({name: errors[name][row] for name in _ERROR_TEXTS})
            text = text or "The error of its run is not kept."
        return text or ("This task has not failed." if self._answer or self._recorded else "")

    def _stack(self) -> str:
        if len(self.queries) < 2:
            return f"This task does not run now; it is in the state {self._answer['state']}."
        query = self.queries[-1]
        if query.answer is None:
            return query.error or "Asking the worker …"
        stacks = query.answer.get("stacks", ())
        return stack_text(stacks) or "It was assigned to a worker but did not run at that moment."

    def open_row(self, row: Row) -> None:
        """Go to the task of a row, or open the worker."""
        if self.section is _NEIGHBOURS:
            self.show({"key": row["key"]})
        elif self.section is _WORKERS:
            open_worker(self, row["worker"])

    def empty(self) -> str:
        """Return why there is nothing to show, and what to do."""
        query = self._query
        if query is None:
            return HOW
        if self._answer or self._recorded:
            return ""
        if query.error:
            return f"{query.error} {HOW}"
        if not query.n_answers:
            return "Asking the scheduler …"
        unknown = f"The scheduler does not know the task “{fmt.elide(self.key, 80)}”."
        return f"{unknown} It forgets tasks that nobody needs any more. {UNRECORDED} {HOW}"

    def note(self) -> str:
        """Return how old or how complete this is."""
        query = self._query
        if query is None or not (self._answer or self._recorded):
            return ""
        parts = [query.error]
        if not self._now:
            parts += [FORGOTTEN * self._is_forgotten, "This is what was recorded of it."]
        if self.section is _NEIGHBOURS and (counts := self._now.get("counts")):
            n = counts.get("dependencies", 0) + counts.get("dependents", 0)
            parts.append(listed(len(self.rows(_NEIGHBOURS)), n, "tasks"))
        return " ".join(filter(None, parts))


_ERROR_TEXTS: Final = ("exception", "traceback")


def _error_text(task: Answer) -> str:
    blame = task.get("blame", "")
    why = f"The error is that of {blame}, which this task needs." if blame else ""
    parts = [why, *(str(task.get(name, "")) for name in _ERROR_TEXTS)]
    return "\n\n".join(part for part in parts if part)
