"""One task: its state, where it came from and goes to, its times, its error and its story."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from dask_diag_lab.views import controls
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.base import Notice
from dask_diag_lab.views.detail_page import DetailPage, Facts, Section, Values, column_of
from dask_diag_lab.views.figure import set_properties
from dask_diag_lab.views.tasks.task_page_sections import (
    ERROR,
    NEIGHBOURS,
    SECTIONS,
    STACK,
    STORY,
    TIMES,
    WORKERS,
)
from dask_diag_lab.views.tasks.task_page_words import (
    ERROR_NONE,
    FORGOTTEN,
    NOT_BEGUN,
    NOTHING,
    NOTHING_LEFT,
    UNRECORDED,
    error_text,
    joined_facts,
    neighbours,
    rest_words,
    task_facts,
)
from dask_diag_lab.views.tasks.task_runs import TaskRuns
from dask_diag_lab.views.tasks.task_traces import TaskTraces
from dask_diag_lab.views.worker_names import worker_in_words
from dask_diag_lab.views.workers.worker_page_words import stack_text

if TYPE_CHECKING:
    from bokeh.models.ui import UIElement

    from dask_diag_lab.store.inquiries import Inquiry

HOW: Final = "Click a task in the Task Stream or Task Graph, or type a key above."
SETTLED_S: Final = 10.0
"""A task that is done changes seldom."""
_SETTLED: Final = frozenset({"memory", "erred", "released", "forgotten"})


class TaskPage(DetailPage):
    """All that is known of one task, named by its key."""

    sections: ClassVar[Sequence[Section]] = SECTIONS

    _traces: TaskTraces | None = None
    _pressed: tuple[str, float] = ("", 0.0)
    """Key that the button asked for last, and when on the scheduler's clock."""

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
        self._runs = TaskRuns(self.store, self.key)
        if self.key:
            is_settled = self._known().get("state") in _SETTLED and not self._runs
            every_s = SETTLED_S if is_settled else 2.0
            self._about = self.asked.fresh("task", every_s=every_s, key=self.key)
            if self._about.answer is not None:
                self._kept = (self.key, self._about.answer, self._about.answered_at)
                has_failed = self._known().get("state") == "erred"
                self.propose((ERROR if has_failed else NEIGHBOURS).name)
            runner = str(self._known().get("worker", ""))
            if self.section is STACK and runner:
                self._stacks = self.asked.fresh("call-stacks", worker=runner, key=self.key)
        self._look_for_traces()
        versions = [(id(q), q.version) for q in (self._about, self._stacks) if q is not None]
        traces = self._traces.version if self._traces else 0
        return (self.key, versions, traces, self._runs.version, self._pressed)

    @property
    def is_behind(self) -> bool:
        """Whether it is time to look into the history again; see `View.is_behind`."""
        return self._traces is not None and self._traces.is_due

    def _look_for_traces(self) -> None:
        """Look into the history, which alone knows where a task ran once that is forgotten."""
        if self._about is None or self._is_first_question:
            self._traces = None
            return
        if self._traces is None or self._traces.key != self.key:
            self._traces = TaskTraces(self.store, self.key)
        self._traces.look()
        if self._traces.actions and not self._known():
            self.propose(TIMES.name)

    def draw_controls(self) -> None:
        """Say what the page is about, and what is missing."""
        set_properties(self._input, value=self.key)
        set_properties(self._profile, disabled=not self._prefix())
        set_properties(self._worker, disabled=not self._a_worker())
        self.notice = Notice(empty=self._empty(), note=self._note())

    def facts(self) -> Facts:
        """Return what is known in a word each."""
        task, is_forgotten = self._known(), self._is_forgotten
        recorded = self._traces.facts(is_forgotten=is_forgotten) if self._traces else []
        if not task:
            return recorded
        name = partial(worker_in_words, self.store)
        told = task_facts(task, name, self._runs.facts())
        return joined_facts(told, recorded, is_forgotten=is_forgotten)

    def nothing(self, section: Section) -> str:
        """Return the words in the place of a table without rows."""
        if self._is_forgotten:
            return NOTHING_LEFT[section.name]
        if section is TIMES and self._known().get("state") == "processing":
            return NOT_BEGUN
        return NOTHING[section.name] if self._known() or self._recorded() else ""

    def values(self, section: Section) -> Values:
        """Return the rows of one of the tables."""
        task = self._known()
        if section is NEIGHBOURS:
            rows = neighbours(task)
            return {name: [row[name] for row in rows] for name in ("relation", "key", "state")}
        if section is WORKERS:
            roles = self._roles()
            return {"role": [r for r, _ in roles], "worker": [address for _, address in roles]}
        if section is TIMES:
            return self._times()
        story = task.get("story", ())
        times = np.array(column_of(story, "time", np.nan), float)
        return {"time": times, **{n: column_of(story, n) for n in ("start", "finish", "stimulus")}}

    def text(self, section: Section) -> str:
        """Return the error, or what the task does now."""
        if section is ERROR:
            return self._error()
        if self._is_forgotten:
            return FORGOTTEN
        if not self._known():
            return ""
        if self._stacks is None:
            return f"This task does not run now; it is in the state {self._known()['state']}."
        if self._stacks.answer is None:
            return self._stacks.error or "Asking the worker …"
        stacks = self._stacks.answer.get("stacks", ())
        return stack_text(stacks) or "It was assigned to a worker but did not run at that moment."

    def _times(self) -> Values:
        """Return the actions of the history, or of the scheduler if it told more; and what runs."""
        told, recorded = self._known().get("actions", ()), self._recorded()
        actions = [*(recorded if len(recorded) >= len(told) else told), *self._runs.actions()]
        start, stop, thread = (
            np.array(column_of(actions, n, np.nan), float) for n in ("start", "stop", "thread")
        )
        workers = column_of(actions, "worker")
        return {
            "action": column_of(actions, "action"),
            "start": start,
            "seconds": stop - start,
            "worker": [worker_in_words(self.store, w) if w else "" for w in workers],
            "thread": np.where(thread > 0, thread, np.nan),
        }

    def _error(self) -> str:
        task, traces = self._known(), self._traces
        text = error_text(task) if task else ""
        if text or traces is None or (task and not self._is_forgotten):
            return text or (ERROR_NONE if task else "")
        return traces.error()

    def clicked(self, row: int) -> None:
        """Go to the task of a row, or open the worker."""
        if self.section is NEIGHBOURS:
            rows = neighbours(self._known())
            if row < len(rows):
                self.show({"key": rows[row]["key"]})
        elif self.section is WORKERS:
            roles = self._roles()
            if row < len(roles) and roles[row][1] in self.store.workers:
                self.open("worker", worker=roles[row][1])

    # --- what is known

    def _known(self) -> Mapping[str, Any]:
        """Return the last answer about this key that told something; empty before."""
        key, answer, _ = getattr(self, "_kept", ("", {}, 0.0))
        return answer if key == self.key else {}

    @property
    def _is_first_question(self) -> bool:
        """Whether the scheduler has still to say whether it knows the task."""
        asked = self._about
        return asked is not None and not asked.n_answers and not asked.error

    @property
    def _is_forgotten(self) -> bool:
        """Whether the scheduler said that it knows no such task."""
        asked = self._about
        return asked is not None and asked.n_answers > 0 and asked.answer is None

    def _recorded(self) -> Sequence[Mapping[str, Any]]:
        """Return the actions that the history has of it."""
        return self._traces.actions if self._traces is not None else ()

    def _prefix(self) -> str:
        recorded = self._traces.prefix if self._traces is not None else ""
        return str(self._known().get("prefix", "")) or recorded

    def _roles(self) -> list[tuple[str, str]]:
        """Return what each worker has to do with it, and the worker's address."""
        task = {} if self._is_forgotten else self._known()
        roles = [("runs it", str(task["worker"]))] if task.get("worker") else []
        roles += [("has the result", str(address)) for address in task.get("who_has", ())]
        roles += [("it failed there", str(address)) for address in task.get("erred_on", ())]
        return roles + (self._traces.roles() if self._traces is not None else [])

    def _a_worker(self) -> str:
        """Return the worker of most interest that is still there."""
        present = self.store.workers
        return next((address for _, address in self._roles() if address in present), "")

    def _empty(self) -> str:
        if not self.key:
            return HOW
        asked = self._about
        if self._known() or asked is None or self._recorded():
            return ""
        if asked.error:
            return f"{asked.error} {HOW}"
        if self._is_first_question:
            return "Asking the scheduler …"
        return (
            f"The scheduler does not know the task “{fmt.elide(self.key, 80)}”. It forgets tasks"
            f" that nobody needs any more. {UNRECORDED} {HOW}"
        )

    def _note(self) -> str:
        asked = self._about
        if asked is None or not (self._known() or self._recorded()):
            return ""
        if self._is_forgotten or not self._known():
            known_at = fmt.clock(self._kept[2]) if self._known() else ""
            rest = rest_words(known_at, is_recorded=bool(self._recorded()))
            parts = [asked.error or FORGOTTEN, rest]
        else:
            parts = [str(self._known().get("missing", "")), asked.error, self._listed()]
        key, pressed_at = self._pressed
        parts.append(f"Asked at {fmt.clock(pressed_at)}." if key == self.key else "")
        return " ".join(part for part in parts if part)

    def _listed(self) -> str:
        """Return how much of all there is the section's table holds."""
        if self.section is STORY:
            return "The scheduler remembers some 1000 changes of all tasks together."
        counts = self._known().get("counts", {})
        n, listed = counts.get("dependencies", 0) + counts.get("dependents", 0), 0
        if self.section is NEIGHBOURS:
            listed = len(neighbours(self._known()))
        return f"{fmt.count(listed)} of {fmt.count(n)} tasks listed." if 0 < listed < n else ""

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
        """Ask again; of a task that is with a worker, show what it does at this moment."""
        for inquiry in (self._about, self._stacks):
            if inquiry is not None:
                self.store.inquiries.ask_again(inquiry)
        self._pressed = (self.key, self.store.time)
        if not self._is_forgotten and self._known().get("worker"):
            self.choose(STACK.name)
