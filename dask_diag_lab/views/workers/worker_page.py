"""One worker: what it runs, holds, sent and logged, asked from the worker itself.

Without the worker's own HTTP server: the scheduler passes the questions on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from dask_diag_lab.views import controls
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.asked import can_ask
from dask_diag_lab.views.base import Notice
from dask_diag_lab.views.data_table import TableColumn
from dask_diag_lab.views.detail_page import DetailPage, Facts, Section, Values, column_of
from dask_diag_lab.views.figure import set_properties
from dask_diag_lab.views.no_workers import no_workers
from dask_diag_lab.views.worker_names import (
    LEFT,
    NamedWorkers,
    name_in_words,
    readable_name,
    worker_in_words,
    worker_name,
    worker_names,
)
from dask_diag_lab.views.workers.worker_page_words import (
    answer_facts,
    log_text,
    stack_text,
    worker_facts,
)

if TYPE_CHECKING:
    from bokeh.models.ui import UIElement

    from dask_diag_lab.store.inquiries import Inquiry

LOG_REFRESH_S: Final = 5.0
MAX_OPTION: Final = 60
"""Characters of a worker in the list."""
_PEER_CHARACTERS: Final = 24
"""What the column of the other worker has room for, about."""

_TASKS: Final = Section(
    "tasks",
    "Tasks",
    (
        TableColumn("key", "Task", "key", 220),
        TableColumn("state", "State", width=90),
        TableColumn("seconds", "Time", "seconds", 90),
        TableColumn("nbytes", "Size", "bytes", 90),
        TableColumn("priority", "Priority", width=110),
    ),
)
_TRANSFERS: Final = Section(
    "transfers",
    "Transfers",
    (
        TableColumn("stop", "Ended", "time", 76),
        TableColumn("direction", "Direction", width=80),
        TableColumn("peer", "Other worker", "key", 170),
        TableColumn("nbytes", "Size", "bytes", 86),
        TableColumn("compressed", "On the wire", "bytes", 92),
        TableColumn("seconds", "Duration", "seconds", 96),
        TableColumn("rate", "Rate", "rate", 96),
        TableColumn("keys", "Keys", "number", 60),
        TableColumn("key", "Largest", "key", 160),
    ),
)
_STACKS: Final = Section("call-stacks", "Call stacks now")
_LOGS: Final = Section("logs", "Logs")


class WorkerPage(DetailPage):
    """What one worker does; the first one until another is chosen."""

    sections: ClassVar[Sequence[Section]] = (_TASKS, _TRANSFERS, _STACKS, _LOGS)

    @property
    def worker(self) -> str:
        """Its address; '' while there is none to show."""
        chosen = self.arguments.get("worker", "")
        if not chosen:
            addresses = self.store.workers.address
            chosen = addresses[0] if addresses else ""
        return chosen

    def controls(self) -> Sequence[UIElement]:
        """Return the list of workers and the buttons."""
        self._options: list[tuple[str, str]] = []
        self._select = controls.select(self.look, "Worker", [], "", self._selected, width=200)
        self._ask = controls.button(self.look, "Ask now", self._ask_now)
        profile = controls.button(self.look, "Profile", self._open_profile)
        return self._select, profile, self._ask

    def look_up(self) -> object:
        """Ask the worker for what the section shows, and for what stands above it."""
        workers = self.store.workers
        worker = self.worker
        self._about: Inquiry | None = None
        self._shown: Inquiry | None = None
        if worker and worker in workers:
            self._about = self._shown = self.asked.fresh("worker", worker=worker)
            name = self.section.name
            if name == "transfers":
                self._shown = self.asked.fresh("transfers", worker=worker)
            elif name == "call-stacks":
                # The stacks of a moment are read; only the button asks for those of another.
                self._shown = self.asked.fresh("call-stacks", every_s=0, worker=worker, key="")
            elif name == "logs":
                self._shown = self.asked.fresh("logs", every_s=LOG_REFRESH_S, worker=worker)
            self._last = (worker, name, self._about, self._shown)
        elif worker and getattr(self, "_last", ("",))[0] == worker:
            _, _, self._about, self._shown = self._last  # what it said before it went
        versions = [(id(q), q.version) for q in (self._about, self._shown) if q is not None]
        facts = (self.store.scheduler is None, self.store.nthreads.version, can_ask(self.store))
        return (worker, workers.row(worker), workers.address, versions, facts)

    def draw_controls(self) -> None:
        """Show the workers that are there, and say what is missing."""
        names = worker_names(self.store)
        options = [(address, _option(address, name)) for address, name in names.items()]
        if self.worker and self.worker not in names:
            gone = fmt.elide(worker_in_words(self.store, self.worker), MAX_OPTION)
            options.append((self.worker, gone))
        if options != self._options:
            self._options = options
            set_properties(self._select, options=options)
        set_properties(self._select, value=self.worker)
        set_properties(self._ask, disabled=not can_ask(self.store))
        self.notice = Notice(empty=self._empty(), note=self._note())

    def facts(self) -> Facts:
        """Return what the heartbeat told, then what the worker told itself."""
        row = self.store.workers.row(self.worker)
        told = answer_facts(self._answer(self._about)) if self._about else []
        if row is None:
            return [("", self._left()), ("Address", self.worker), *told] if told else []
        # What moves first: a small pane shows the beginning.
        return [*told[:1], *worker_facts(row, self._beside(row)), *told[1:]]

    def _empty(self) -> str:
        """Return why there is nothing to tell, and what to do."""
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

    def _beside(self, row: Mapping[str, Any]) -> int:
        """Return how many other workers are in the process of one."""
        process = str(row["process"])
        return self.store.workers.process.count(process) - 1 if process else 0

    def values(self, section: Section) -> Values:
        """Return the rows of tasks or transfers."""
        if section is _TASKS:
            return _task_values(self._answer(self._about).get("tasks", ()))
        return self._transfer_values(self._answer(self._shown).get("rows", ()))

    def text(self, section: Section) -> str:
        """Return the log or the call stacks."""
        inquiry = self._shown
        if inquiry is None or inquiry.answer is None:
            return ""
        if section is _LOGS:
            return log_text(inquiry.answer.get("lines", ())) or "The log of this worker is empty."
        return stack_text(inquiry.answer.get("stacks", ())) or "No task runs on this worker now."

    def clicked(self, row: int) -> None:
        """Open the task of a row, or the worker at the other end of a transfer."""
        if self.section is _TASKS:
            tasks = self._answer(self._about).get("tasks", ())
            if row < len(tasks):
                self.open("task", key=str(tasks[row]["key"]))
        elif self.section is _TRANSFERS:
            rows = self._answer(self._shown).get("rows", ())
            peer = str(rows[len(rows) - 1 - row]["peer"]) if row < len(rows) else ""
            if peer in self.store.workers:
                self.open("worker", worker=peer)

    def _note(self) -> str:
        asked_both = (self._about, self._shown)
        parts = [*dict.fromkeys(q.error for q in asked_both if q and q.state == "failed")]
        asked = self._shown
        if asked is not None and asked.answer is None and asked.state == "asked":
            parts.append("Asking the worker …")
        parts.append(str(self._answer(self._about).get("missing", "")))
        if self.section is _TASKS:
            answer = self._answer(self._about)
            listed = len(answer.get("tasks", ()))
            counted = {n: c for n, c in answer.get("counts", {}).items() if n != "tasks"}
            if listed and sum(counted.values()) > listed:
                parts.append(
                    f"{fmt.count(listed)} of {fmt.count(sum(counted.values()))} tasks listed,"
                    " at most 200 of each state"
                )
        elif self.section is _TRANSFERS:
            parts += self._transfers_note()
        return " ".join(part for part in parts if part)

    def _transfers_note(self) -> list[str]:
        answer = self._answer(self._shown)
        kept = sum(answer.get("totals", {}).values())
        listed = len(answer.get("rows", ()))
        missing = [str(reason) for reason in answer.get("missing", {}).values()]
        cut = f"Last {fmt.count(listed)} of {fmt.count(kept)} transfers in the worker's log"
        return [*missing, *([cut] if kept > listed else [])]

    def _transfer_values(self, rows: Sequence[Mapping[str, Any]]) -> Values:
        newest = rows[::-1]
        numbers = {
            name: np.array(column_of(newest, name, np.nan), float)
            for name in ("start", "stop", "nbytes", "compressed", "rate", "keys")
        }
        numbers["seconds"] = numbers["stop"] - numbers["start"]
        ways = {"in": "received", "out": "sent"}
        peers = [str(peer) for peer in column_of(newest, "peer")]
        short = NamedWorkers.of(self.store).short(peers, _PEER_CHARACTERS)
        return {
            **numbers,
            "direction": [ways.get(str(way), "") for way in column_of(newest, "direction")],
            "peer": [short[peer] or "(client)" for peer in peers],
            "key": column_of(newest, "key"),
        }

    @staticmethod
    def _answer(inquiry: Inquiry | None) -> Mapping[str, Any]:  # by kind
        return (inquiry.answer if inquiry is not None else None) or {}

    def _selected(self, worker: str) -> None:
        if worker and worker != self.worker:
            self.show({"worker": worker})

    def _open_profile(self) -> None:
        if self.worker:
            self.open("profile", worker=self.worker)

    def _ask_now(self) -> None:
        for inquiry in dict.fromkeys((self._about, self._shown)):
            if inquiry is not None and self.worker in self.store.workers:
                self.store.inquiries.ask_again(inquiry)


def _option(address: str, name: str) -> str:
    words = name if name == readable_name(address) else f"{name_in_words(name)} · {address}"
    return fmt.elide(words, MAX_OPTION)


def _task_values(tasks: Sequence[Mapping[str, Any]]) -> Values:
    numbers = {n: np.array(column_of(tasks, n, np.nan), float) for n in ("seconds", "nbytes")}
    return {**{n: column_of(tasks, n) for n in ("key", "state", "priority")}, **numbers}
