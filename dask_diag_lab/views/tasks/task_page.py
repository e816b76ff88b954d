"""One task: its state, where it came from and goes to, its times, its error and its story."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from dask_diag_lab.records import Outcome
from dask_diag_lab.views import controls
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.base import Notice
from dask_diag_lab.views.data_table import TableColumn
from dask_diag_lab.views.detail_page import DetailPage, Facts, Section, Values, column_of
from dask_diag_lab.views.figure import set_properties
from dask_diag_lab.views.tasks.task_page_words import (
    ERROR_GONE,
    ERROR_NONE,
    NOTHING,
    error_text,
    task_facts,
)
from dask_diag_lab.views.tasks.task_traces import TaskTraces
from dask_diag_lab.views.worker_names import worker_in_words
from dask_diag_lab.views.workers.worker_page_words import stack_text

if TYPE_CHECKING:
    from bokeh.models.ui import UIElement

    from dask_diag_lab.store.inquiries import Inquiry

HOW: Final = "Click a task in the Task Stream or Task Graph, or type a key above."
FORGOTTEN: Final = "The scheduler has forgotten this task."
SETTLED_S: Final = 10.0
"""A task that is done changes seldom."""
_SETTLED: Final = frozenset({"memory", "erred", "released", "forgotten"})

_NEIGHBOURS: Final = Section(
    "dependencies",
    "Dependencies",
    (
        TableColumn("relation", "Relation", width=110),
        TableColumn("key", "Task", "key", 300),
        TableColumn("state", "State", width=90),
    ),
)
_WORKERS: Final = Section(
    "workers",
    "Workers",
    (TableColumn("role", "Role", width=130), TableColumn("worker", "Worker", width=300)),
)
_TIMES: Final = Section(
    "times",
    "Times",
    (
        TableColumn("action", "Action", width=110),
        TableColumn("start", "Start", "time", 90),
        TableColumn("seconds", "Duration", "seconds", 100),
    ),
)
_STORY: Final = Section(
    "story",
    "Story",
    (
        TableColumn("time", "Time", "time", 80),
        TableColumn("start", "From", width=90),
        TableColumn("finish", "To", width=90),
        TableColumn("stimulus", "Because of", width=300),
    ),
)
_ERROR: Final = Section("error", "Error")
_STACK: Final = Section("call-stack", "Call stack now")


class TaskPage(DetailPage):
    """All that is known of one task, named by its key."""

    sections: ClassVar[Sequence[Section]] = (_NEIGHBOURS, _WORKERS, _TIMES, _STORY, _ERROR, _STACK)

    _traces: TaskTraces | None = None

    @property
    def key(self) -> str:
        """The key as text; '' while none was chosen."""
        return self.arguments.get("key", "")

    def controls(self) -> Sequence[UIElement]:
        """Return the field for the key and the buttons."""
        self._input = controls.text_input(
            self.look, "Key of a task", self._entered, value=self.key, width=220
        )
        self._profile = controls.button(self.look, "Profile", self._open_profile)
        self._worker = controls.button(self.look, "Worker", self._open_worker)
        return (
            self._input,
            self._profile,
            self._worker,
            controls.button(self.look, "Ask now", self._ask_now),
        )

    def look_up(self) -> object:
        """Ask for the task, and for what it does now where that is to be seen."""
        self._about: Inquiry | None = None
        self._stacks: Inquiry | None = None
        if self.key:
            every_s = SETTLED_S if self._known().get("state") in _SETTLED else 2.0
            self._about = self.asked.fresh("task", every_s=every_s, key=self.key)
            if self._about.answer is not None:
                self._kept = (self.key, self._about.answer, self._about.answered_at)
                has_failed = self._known().get("state") == "erred"
                self.propose((_ERROR if has_failed else _NEIGHBOURS).name)
            runner = str(self._known().get("worker", ""))
            if self.section is _STACK and runner:
                self._stacks = self.asked.fresh("call-stacks", worker=runner, key=self.key)
        self._look_for_traces()
        versions = [(id(q), q.version) for q in (self._about, self._stacks) if q is not None]
        return (self.key, versions, len(self._traces.actions) if self._traces else 0)

    @property
    def is_behind(self) -> bool:
        """Whether it is time to look into the history again; see `View.is_behind`."""
        return self._traces is not None and self._traces.is_due

    def _look_for_traces(self) -> None:
        """Look into the history for a task of which the scheduler never told anything."""
        asked = self._about
        if asked is None or self._known() or asked.state == "asked" or asked.answer is not None:
            self._traces = None
            return
        if self._traces is None or self._traces.key != self.key:
            self._traces = TaskTraces(self.store, self.key)
        self._traces.look()
        if self._traces.actions:
            self.propose(_TIMES.name)

    def draw_controls(self) -> None:
        """Say what the page is about, and what is missing."""
        set_properties(self._input, value=self.key)
        set_properties(self._profile, disabled=not self._prefix())
        set_properties(self._worker, disabled=not self._a_worker())
        self.notice = Notice(empty=self._empty(), note=self._note())

    def facts(self) -> Facts:
        """Return what is known in a word each."""
        if self._traces is not None:
            return self._traces.facts()
        task = self._known()
        return (
            task_facts(task, lambda address: worker_in_words(self.store, address)) if task else []
        )

    def nothing(self, section: Section) -> str:
        """Return the words in the place of a table without rows."""
        is_known = bool(self._known() or (self._traces and self._traces.actions))
        return NOTHING[section.name] if is_known else ""

    def values(self, section: Section) -> Values:
        """Return the rows of one of the tables."""
        task = self._known()
        if section is _NEIGHBOURS:
            rows = self._neighbours()
            return {name: [row[name] for row in rows] for name in ("relation", "key", "state")}
        if section is _WORKERS:
            roles = self._roles()
            return {"role": [r for r, _ in roles], "worker": [address for _, address in roles]}
        if section is _TIMES:
            actions = task.get("actions", ()) if self._traces is None else self._traces.actions
            start, stop = (
                np.array(column_of(actions, n, np.nan), float) for n in ("start", "stop")
            )
            return {"action": column_of(actions, "action"), "start": start, "seconds": stop - start}
        story = task.get("story", ())
        times = np.array(column_of(story, "time", np.nan), float)
        return {"time": times, **{n: column_of(story, n) for n in ("start", "finish", "stimulus")}}

    def text(self, section: Section) -> str:
        """Return the error, or what the task does now."""
        task = self._known()
        if section is _ERROR and self._traces is not None:
            return self._error_of_traces(self._traces)
        if not task:
            return ""
        if section is _ERROR:
            return error_text(task) or ERROR_NONE
        if self._stacks is None:
            return f"This task does not run now; it is in the state {task['state']}."
        if self._stacks.answer is None:
            return self._stacks.error or "Asking the worker …"
        stacks = self._stacks.answer.get("stacks", ())
        return stack_text(stacks) or "It was assigned to a worker but did not run at that moment."

    def _error_of_traces(self, traces: TaskTraces) -> str:
        if not any(run["outcome"] == Outcome.ERRED for run in traces.runs):
            return ERROR_NONE if traces.runs else ""
        return error_text(traces.error()) or ERROR_GONE

    def clicked(self, row: int) -> None:
        """Go to the task of a row, or open the worker."""
        if self.section is _NEIGHBOURS:
            rows = self._neighbours()
            if row < len(rows):
                self.show({"key": rows[row]["key"]})
        elif self.section is _WORKERS:
            roles = self._roles()
            if row < len(roles) and roles[row][1] in self.store.workers:
                self.open("worker", worker=roles[row][1])

    # --- what is known

    def _known(self) -> Mapping[str, Any]:
        """Return the last answer about this key that told something; empty before."""
        key, answer, _ = getattr(self, "_kept", ("", {}, 0.0))
        return answer if key == self.key else {}

    def _neighbours(self) -> list[dict[str, str]]:
        task = self._known()
        return [
            {"relation": words, "key": str(other["key"]), "state": str(other["state"])}
            for name, words in (("dependencies", "depends on"), ("dependents", "is needed by"))
            for other in task.get(name, ())
        ]

    def _prefix(self) -> str:
        return self._traces.prefix if self._traces else str(self._known().get("prefix", ""))

    def _roles(self) -> list[tuple[str, str]]:
        if self._traces is not None:
            return self._traces.roles()
        task = self._known()
        roles = [("runs it", str(task["worker"]))] if task.get("worker") else []
        roles += [("has the result", str(address)) for address in task.get("who_has", ())]
        return roles + [("it failed there", str(address)) for address in task.get("erred_on", ())]

    def _a_worker(self) -> str:
        """Return the worker of most interest that is still there."""
        present = self.store.workers
        return next((address for _, address in self._roles() if address in present), "")

    def _empty(self) -> str:
        if not self.key:
            return HOW
        asked = self._about
        if self._known() or asked is None or (self._traces and self._traces.actions):
            return ""
        if asked.state == "failed":
            return f"{asked.error} {HOW}"
        if asked.state == "asked":
            return "Asking the scheduler …"
        return (
            f"The scheduler does not know the task “{fmt.elide(self.key, 80)}”. It forgets tasks"
            f" that nobody needs any more. {HOW}"
        )

    def _note(self) -> str:
        task, asked = self._known(), self._about
        if self._traces is not None and self._traces.actions and asked is not None:
            return f"{asked.error or FORGOTTEN} This is what was recorded of it."
        if not task or asked is None:
            return ""
        parts = [str(task.get("missing", ""))]
        if asked.state == "failed":
            parts.append(asked.error)
        elif asked.answer is None and asked.state == "answered":
            at = fmt.clock(self._kept[2])
            parts.append(f"The scheduler has forgotten this task; this is what it knew at {at}.")
        counts = task.get("counts", {})
        if self.section is _NEIGHBOURS:
            n = counts.get("dependencies", 0) + counts.get("dependents", 0)
            listed = len(self._neighbours())
            if n > listed:
                parts.append(f"{fmt.count(listed)} of {fmt.count(n)} tasks listed.")
        elif self.section is _STORY:
            parts.append("The scheduler remembers some 1000 changes of all tasks together.")
        return " ".join(part for part in parts if part)

    # --- what the controls do

    def _entered(self, key: str) -> None:
        if key != self.key:
            self.show({"key": key})

    def _open_profile(self) -> None:
        if self._prefix():
            self.open("profile", prefix=self._prefix())

    def _open_worker(self) -> None:
        worker = self._a_worker()
        if worker:
            self.open("worker", worker=worker)

    def _ask_now(self) -> None:
        for inquiry in (self._about, self._stacks):
            if inquiry is not None:
                self.store.inquiries.ask_again(inquiry)
