"""One worker: what it runs, holds, sent and logged, asked from the worker through the scheduler."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

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
from dask_diag_lab.views.names import (
    LEFT,
    no_workers,
    worker_name,
    worker_options,
)
from dask_diag_lab.views.registry import register_plot
from dask_diag_lab.views.view import Control
from dask_diag_lab.views.workers.common import shared_note

_TASKS: Final = Section(
    "tasks",
    "Tasks",
    (
        Column("key", "Task", "key", width=220),
        Column("state", "State", width=90),
        Column("seconds", "Time", "seconds", width=90),
        Column("nbytes", "Size", "bytes", width=90),
        Column("priority", "Priority", width=110),
    ),
)
_STACKS: Final = Section("call-stacks", "Call stacks now")
_LOGS: Final = Section("logs", "Logs")


@register_plot
class WorkerPage(DetailPage):
    """What one worker does; the first one until another is chosen."""

    name = "worker"

    accepts: ClassVar[Sequence[str]] = ("worker", "show")
    sections: ClassVar[Sequence[Section]] = (_TASKS, _STACKS, _LOGS)

    @property
    def worker(self) -> str:
        """Its address; '' while there is none to show."""
        addresses = self.history.workers.address
        return self.arguments.get("worker", "") or (addresses[0] if addresses else "")

    def look_up(self) -> object:
        """Ask the worker for its facts and tasks, and for what the section shows beside."""
        workers, worker = self.history.workers, self.worker
        if worker and worker in workers:
            self.queries = [self.asked.fresh("worker", worker=worker)]
            if self.section is _STACKS:
                # The stacks of a moment are read; only the button asks for those of another.
                stacks = self.asked.fresh("call-stacks", every_s=0, worker=worker, key="")
                self.queries.append(stacks)
            elif self.section is not _TASKS:
                self.queries.append(self.asked.fresh(self.section.name, worker=worker))
        elif any(query.arguments["worker"] != worker for query in self.queries):
            self.queries = []  # else what it answered before it left
        is_waiting = self.history.scheduler is None
        return worker, workers.row(worker), workers.address, is_waiting

    @property
    def _about(self) -> Answer:
        """What the worker reported of itself."""
        return (self.queries[0].answer if self.queries else None) or {}

    @property
    def _shown(self) -> Answer:
        """What it answered for the section."""
        return (self.queries[-1].answer if self.queries else None) or {}

    def subject_controls(self) -> Sequence[Control]:
        """Return the list of workers, and the ways to profile and transfers."""
        options = worker_options(self.history, self.worker)
        return (
            Control("worker", "select", "Worker", self.worker, options),
            Control("profile", "button", "Profile"),
            Control("transfers", "button", "Transfers"),
        )

    def set_control(self, name: str, value: str) -> None:
        """Go to another worker, or to the profile or the transfers of this one."""
        if name == "worker" and value:
            self.show({"worker": value})
        elif name in ("profile", "transfers") and self.worker:
            self.open(name, worker=self.worker)
        super().set_control(name, value)

    def facts(self) -> Facts:
        """Return what the heartbeat has, then what the worker answered."""
        row, answered = self.history.workers.row(self.worker), _answer_facts(self._about)
        if row is None:
            name = worker_name(self.history, self.worker).removesuffix(LEFT)
            left = ("", f"Worker {name} has left the cluster.")
            return [left, ("Address", self.worker), *answered] if self.queries else []
        return [*self._heartbeat_facts(row), *answered]

    def _heartbeat_facts(self, row: Mapping[str, Any]) -> Facts:
        """Return what the last heartbeat has: ``row`` is one of `schema.tables.WORKERS`."""
        address, name = str(row["address"]), str(row["name"])
        return [
            ("Status", str(row["status"])),
            ("Threads", fmt.count(row["nthreads"])),
            ("CPU", f"{fmt.percent(row['cpu'] / 100)} of one core"),
            ("Process memory", _memory(row)),
            ("Spilled", fmt.binary(row["spilled"]) if row["spilled"] else ""),
            ("Assigned", fmt.plural(row["processing"], "task")),
            ("Expected work", fmt.duration(row["occupancy"])),
            ("Last seen", fmt.clock(row["last_seen"]) if row["last_seen"] else ""),
            ("Name", name if name != address else ""),
            ("Address", address),
            ("Host", str(row["host"])),
        ]

    def empty(self) -> str:
        """Return why there is nothing to show, and what to do."""
        if not self.worker or self.history.scheduler is None:
            return no_workers(self.history)
        if self.queries:
            return ""
        address = fmt.elide(self.worker, 80)
        return f"There is no worker with the address “{address}” now. Choose one above."

    def note(self) -> str:
        """Return why there is no answer, and what is not listed."""
        parts = [*dict.fromkeys(query.error for query in self.queries)]
        if self.queries and self.queries[-1].answer is None and self.queries[-1].state == "asked":
            parts.append("Asking the worker …")
        if self.section is _TASKS:
            counts = self._about.get("counts", {})
            parts.append(listed(len(self._about.get("tasks", ())), sum(counts.values()), "tasks"))
        parts.append(shared_note(self.history.workers))
        return " ".join(filter(None, parts))

    def rows(self, section: Section) -> Sequence[Row]:
        """Return the tasks."""
        del section
        return list(self._about.get("tasks", ()))

    def text(self, section: Section) -> str:
        """Return the log or the call stacks."""
        if section.columns or not self._shown:
            return ""
        if section is _LOGS:
            return "\n".join(self._shown.get("lines", ())) or "The log of this worker is empty."
        return stack_text(self._shown.get("stacks", ())) or "No task runs on this worker now."

    def open_row(self, row: Row) -> None:
        """Open the task of a row."""
        self.open("task", key=str(row["key"]))


def _memory(row: Mapping[str, Any]) -> str:
    limit = row["memory_limit"]
    share = f" of {fmt.binary(limit)} ({fmt.percent(row['memory'] / limit)})" if limit else ""
    return f"{fmt.binary(row['memory'])}{share}"


def _answer_facts(answer: Answer) -> Facts:
    """Return what the worker answered to the question ``worker``."""
    counts = answer.get("counts", {})
    states = [f"{fmt.count(n)} {state}" for state, n in counts.items() if n]
    return [
        ("Tasks", ", ".join(states) or ("none" if counts else "")),
        ("Connections", fmt.count(answer["connections"]) if answer.get("connections") else ""),
    ]
