"""One worker: what it runs, holds, sent and logged, asked from the worker through the scheduler."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.asked import can_ask
from dask_diag_lab.views.data import Column
from dask_diag_lab.views.details.page import (
    Answer,
    Columns,
    DetailPage,
    Facts,
    Section,
    column_of,
    stack_text,
)
from dask_diag_lab.views.registry import register_plot
from dask_diag_lab.views.view import Control
from dask_diag_lab.views.worker_names import (
    LEFT,
    name_in_words,
    no_workers,
    readable_name,
    worker_in_words,
    worker_name,
    worker_names,
)

if TYPE_CHECKING:
    from dask_diag_lab.store.queries import Query

LOG_REFRESH_S: Final = 5.0
MAX_LINES: Final = 500
"""Log lines shown: some 60 kB, sent again with each new line."""
MAX_OPTION: Final = 60
"""Characters of a worker in the list."""

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
_TRANSFERS: Final = Section(
    "transfers",
    "Transfers",
    (
        Column("stop", "Ended", "time", width=76),
        Column("direction", "Direction", width=80),
        Column("peer", "Other worker", "key", width=170),
        Column("nbytes", "Size", "bytes", width=86),
        Column("compressed", "On the wire", "bytes", width=92),
        Column("seconds", "Duration", "seconds", width=96),
        Column("rate", "Rate", "rate", width=96),
        Column("keys", "Keys", "number", width=60),
        Column("key", "Largest", "key", width=160),
    ),
)
_STACKS: Final = Section("call-stacks", "Call stacks now")
_LOGS: Final = Section("logs", "Logs")


@register_plot
class WorkerPage(DetailPage):
    """What one worker does; the first one until another is chosen."""

    name = "worker"
    title = "Worker"
    group = "Workers"
    description = "One worker: its tasks, transfers, call stacks now and logs."
    help = (
        "One worker: on top what its last heartbeat told and what it told itself; below its "
        "tasks, its transfers, what its threads do now, or its log.\n"
        "- to choose one: the list, or a click on it in another plot\n"
        "- click a task, or the other end of a transfer: opens that\n"
        "- Profile: where this worker spent its time\n"
        "- healthy: as many tasks executing as it has threads, some ready, few waiting\n"
        "- many in flight or fetch: it waits for data of others\n"
        "- paused: it is short of memory\n"
        "- how often: it is asked every 2 s while you look; call stacks only when you press "
        "Ask now"
    )
    keywords = (
        *("info", "detail", "executing", "ready", "waiting", "in memory", "call stack"),
        *("transfer log", "compression", "peer", "logs", "stuck", "hang", "versions"),
    )

    accepts: ClassVar[Mapping[str, str]] = {
        "worker": "address of the worker",
        "show": "name of the section to begin with",
    }
    sections: ClassVar[Sequence[Section]] = (_TASKS, _TRANSFERS, _STACKS, _LOGS)

    _about: Query | None = None
    _shown_query: Query | None = None
    _asked_of = ""

    @property
    def worker(self) -> str:
        """Its address; '' while there is none to show."""
        addresses = self.store.workers.address
        return self.arguments.get("worker", "") or (addresses[0] if addresses else "")

    def look_up(self) -> object:
        """Ask the worker for what the section shows, and for its facts."""
        workers, worker = self.store.workers, self.worker
        if worker and worker in workers:
            self._asked_of = worker
            self._about = self._shown_query = self.asked.fresh("worker", worker=worker)
            if self.section is _TRANSFERS:
                self._shown_query = self.asked.fresh("transfers", worker=worker)
            elif self.section is _STACKS:
                # The stacks of a moment are read; only the button asks for those of another.
                self._shown_query = self.asked.fresh(
                    "call-stacks", every_s=0, worker=worker, key=""
                )
            elif self.section is _LOGS:
                self._shown_query = self.asked.fresh("logs", every_s=LOG_REFRESH_S, worker=worker)
        elif self._asked_of != worker:  # else what it answered before it left
            self._about = self._shown_query = None
        versions = [(id(q), q.version) for q in (self._about, self._shown_query) if q is not None]
        scheduler = (self.store.scheduler is None, self.store.nthreads.version)
        return worker, workers.row(worker), workers.address, versions, scheduler

    def subject_controls(self) -> Sequence[Control]:
        """Return the list of workers, and the way to the profile."""
        names = worker_names(self.store)
        options = [(address, _option(address, name)) for address, name in names.items()]
        if self.worker and self.worker not in names:
            gone = worker_in_words(self.store, self.worker)
            options.append((self.worker, fmt.elide(gone, MAX_OPTION)))
        return (
            Control("worker", "select", "Worker", self.worker, options),
            Control("profile", "button", "Profile"),
        )

    def set_control(self, name: str, value: str) -> None:
        """Go to another worker or to the profile of this one."""
        if name == "worker" and value and value != self.worker:
            self.show({"worker": value})
        elif name == "profile" and self.worker:
            self.open("profile", worker=self.worker)
        super().set_control(name, value)

    def facts(self) -> Facts:
        """Return what the heartbeat has, then what the worker answered."""
        row = self.store.workers.row(self.worker)
        answered = _answer_facts(_answer_of(self._about)) if self._about else []
        if row is None:
            return [("", self._left()), ("Address", self.worker), *answered] if answered else []
        process = str(row["process"])
        n_beside = self.store.workers.process.count(process) - 1 if process else 0
        # What moves first: a small pane shows the beginning.
        return [*answered[:1], *_worker_facts(row, n_beside), *answered[1:]]

    def empty(self) -> str:
        """Return why there is nothing to show, and what to do."""
        if not self.worker or self.store.scheduler is None:
            return no_workers(self.store)
        if self.worker in self.store.workers or self._about is not None:
            return ""
        if self.worker not in self.store.seen_workers.names:
            address = fmt.elide(self.worker, 80)
            return f"No worker with the address “{address}” has been here. Choose one above."
        return f"{self._left()} It was not asked before that. Choose another one above."

    def _left(self) -> str:
        name = worker_name(self.store, self.worker).removesuffix(LEFT)
        return f"Worker {name} has left the cluster."

    def note(self) -> str:
        """Return what the worker did not answer, and what is not listed."""
        queries = [query for query in (self._about, self._shown_query) if query is not None]
        parts = [*dict.fromkeys(query.error for query in queries if query.state == "failed")]
        shown = self._shown_query
        if shown is not None and shown.answer is None and shown.state == "asked":
            parts.append("Asking the worker …")
        about, answer = _answer_of(self._about), _answer_of(shown)
        parts.append(str(about.get("missing", "")))
        if self.section is _TASKS:
            listed = len(about.get("tasks", ()))
            counted = sum(n for state, n in about.get("counts", {}).items() if state != "tasks")
            if 0 < listed < counted:
                parts.append(
                    f"{fmt.count(listed)} of {fmt.count(counted)} tasks listed,"
                    " at most 200 of each state"
                )
        elif self.section is _TRANSFERS:
            parts += [str(reason) for reason in answer.get("missing", {}).values()]
            kept, listed = sum(answer.get("totals", {}).values()), len(answer.get("rows", ()))
            if kept > listed:
                parts.append(
                    f"Last {fmt.count(listed)} of {fmt.count(kept)} transfers in the worker's log"
                )
        return " ".join(part for part in parts if part)

    def columns(self, section: Section) -> Columns:
        """Return the rows of tasks or transfers."""
        if section is _TASKS:
            tasks = _answer_of(self._about).get("tasks", ())
            return _texts(tasks, "key", "state", "priority") | _numbers(tasks, "seconds", "nbytes")
        newest = _answer_of(self._shown_query).get("rows", ())[::-1]
        columns = _numbers(newest, "start", "stop", "nbytes", "compressed", "rate", "keys")
        ways = {"in": "received", "out": "sent"}
        names = worker_names(self.store)
        return {
            **columns,
            "seconds": columns["stop"] - columns["start"],
            "direction": [ways.get(str(way), "") for way in column_of(newest, "direction")],
            "peer": [names.get(peer, peer) or "(client)" for peer in column_of(newest, "peer")],
            "key": column_of(newest, "key"),
        }

    def text(self, section: Section) -> str:
        """Return the log or the call stacks."""
        query = self._shown_query
        if section.columns or query is None or query.answer is None:
            return ""
        if section is _LOGS:
            return _log_text(query.answer.get("lines", ())) or "The log of this worker is empty."
        return stack_text(query.answer.get("stacks", ())) or "No task runs on this worker now."

    def clicked(self, row: int) -> None:
        """Open the task of a row, or the worker at the other end of a transfer."""
        if self.section is _TASKS:
            tasks = _answer_of(self._about).get("tasks", ())
            if row < len(tasks):
                self.open("task", key=str(tasks[row]["key"]))
        elif self.section is _TRANSFERS:
            newest = _answer_of(self._shown_query).get("rows", ())[::-1]
            if row < len(newest) and newest[row]["peer"] in self.store.workers:
                self.open("worker", worker=str(newest[row]["peer"]))

    def ask_again(self) -> None:
        """Ask the worker at once, if it is there."""
        if self.worker in self.store.workers and can_ask(self.store):
            for query in dict.fromkeys((self._about, self._shown_query)):
                if query is not None:
                    self.store.queries.ask_again(query)


def _answer_of(query: Query | None) -> Answer:
    return (query.answer if query is not None else None) or {}


def _texts(rows: Sequence[Answer], *names: str) -> dict[str, Any]:
    return {name: column_of(rows, name) for name in names}


def _numbers(rows: Sequence[Answer], *names: str) -> dict[str, Any]:
    return {name: np.array(column_of(rows, name, np.nan), dtype=np.float64) for name in names}


def _option(address: str, name: str) -> str:
    text = name if name == readable_name(address) else f"{name_in_words(name)} · {address}"
    return fmt.elide(text, MAX_OPTION)


def _worker_facts(row: Mapping[str, Any], n_beside: int) -> Facts:
    """Return what the last heartbeat has: ``row`` is one of `schema.WORKERS`."""
    address, name = str(row["address"]), str(row["name"])
    others = fmt.plural(n_beside, "other worker")
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
        ("Process", f"shared with {others}: CPU and memory are those of all" * bool(n_beside)),
    ]


def _memory(row: Mapping[str, Any]) -> str:
    limit = row["memory_limit"]
    share = f" of {fmt.binary(limit)} ({fmt.percent(row['memory'] / limit)})" if limit else ""
    kinds = (("managed", "managed"), ("unmanaged_old", "other"), ("unmanaged_recent", "recent"))
    parts = [f"{fmt.binary(row[name])} {kind}" for name, kind in kinds if row[name]]
    return f"{fmt.binary(row['memory'])}{share}" + (f": {', '.join(parts)}" if parts else "")


def _answer_facts(answer: Answer) -> Facts:
    """Return what the worker answered to the question ``worker``."""
    counts = answer.get("counts", {})
    states = [f"{fmt.count(n)} {state}" for state, n in counts.items() if n and state != "tasks"]
    uptime_s, executed = answer.get("uptime_s"), answer.get("executed", -1)
    return [
        ("Tasks", ", ".join(states) or ("none" if counts else "")),
        ("Run so far", fmt.plural(executed, "task") if executed >= 0 else ""),
        ("Up for", fmt.duration(uptime_s) if uptime_s else ""),
        ("Connections", fmt.count(answer["connections"]) if answer.get("connections") else ""),
        ("Versions", str(answer.get("versions", ""))),
    ]


def _log_text(lines: Sequence[Answer]) -> str:
    """Return log lines, newest first: a log is opened for what happened last."""
    shown = [(str(line["level"]), str(line["message"])) for line in lines[: -MAX_LINES - 1 : -1]]
    texts = [text if level in text else f"{level}: {text}" for level, text in shown]
    if len(lines) > len(shown):
        texts.append(f"… {fmt.count(len(lines) - len(shown))} older lines")
    return "\n".join(texts)
