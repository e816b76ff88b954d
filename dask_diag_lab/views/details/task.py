"""One task: its state, where it came from and goes to, its times, its error and its story."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.data import Column
from dask_diag_lab.views.details.page import (
    Columns,
    DetailPage,
    Facts,
    Section,
    column_of,
    stack_text,
)
from dask_diag_lab.views.details.task_record import TaskRecord
from dask_diag_lab.views.look import LIGHT, Look
from dask_diag_lab.views.registry import register_plot
from dask_diag_lab.views.view import Control
from dask_diag_lab.views.worker_names import worker_in_words

if TYPE_CHECKING:
    from dask_diag_lab.store import Store
    from dask_diag_lab.store.queries import Query

HOW: Final = "Click a task in the Task Stream or Task Graph, or type a key above."
FORGOTTEN: Final = "The scheduler has forgotten this task."
UNRECORDED: Final = (
    "No run of it is recorded here: it has not run, or it ended before these diagnostics began, or"
    " so long ago that it was given up."
)

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

_WITHOUT_ROWS: Final = {
    "dependencies": "This task depends on no other, and none that the scheduler knows needs it.",
    "workers": "No worker runs this task or has its result.",
    "times": "No times are known: it has not run, or it ended before these diagnostics began.",
    "story": "The scheduler remembers no change of this task.",
}
_FORGOTTEN_ROWS: Final = {
    "dependencies": f"{FORGOTTEN} What it needed and what needed it is not recorded.",
    "workers": UNRECORDED,
    "times": UNRECORDED,
    "story": f"{FORGOTTEN} Its changes of state are not recorded.",
}


@register_plot
class TaskPage(DetailPage):
    """All that is known of one task, named by its key."""

    name = "task"
    title = "Task"
    group = "Tasks"
    description = "One task: state, dependencies, times, error, call stack now and story."
    help = (
        "All that is known of one task: state, dependencies, workers, times, changes of "
        "state, error with its traceback, or what it does now.\n"
        "- to choose one: click it in the Task Stream or the Task Graph, or type its key\n"
        "- click another task: goes there\n"
        "- Ask now: asks again at once; of a task that is with a worker it shows the call "
        "stack of that moment\n"
        "- healthy: in memory, or released once all that need it are done\n"
        "- it waits: look at those it waits for\n"
        "- it runs for long: look at its call stack\n"
        "- it failed because of another: that one is named\n"
        "- forgotten by the scheduler: where and when it ran is still told, from what these "
        "diagnostics recorded\n"
        "- story: only what the scheduler remembers, some 1000 changes of all tasks together"
    )
    keywords = (
        *("info", "detail", "key", "exception", "traceback", "why", "stuck", "story"),
        *("dependencies", "dependents", "who has", "priority", "retries", "annotations"),
    )

    accepts: ClassVar[Mapping[str, str]] = {
        "key": "key of the task",
        "show": "name of the section to begin with",
    }
    sections: ClassVar[Sequence[Section]] = (
        *(_NEIGHBOURS, _WORKERS, _TIMES),
        *(_STORY, _ERROR, _STACK),
    )

    def __init__(
        self, store: Store, look: Look = LIGHT, arguments: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(store, look, arguments)
        self._task = TaskRecord(store, self.asked, self.key)
        self._stacks: Query | None = None
        # Key that the button asked for last, and when on the scheduler's clock.
        self._pressed = ("", 0.0)

    @property
    def key(self) -> str:
        """The key as text; '' while none was chosen."""
        return self.arguments.get("key", "")

    @property
    def is_behind(self) -> bool:
        """Whether it is time to look into the log again; see `View.is_behind`."""
        return self._task.is_due

    def look_up(self) -> object:
        """Ask for the task, and for what it does now where that is to be seen."""
        if self._task.key != self.key:
            self._task = TaskRecord(self.store, self.asked, self.key)
        task = self._task
        task.look()
        if task.query is not None and task.query.answer is not None:
            self.propose((_ERROR if task.answer.get("state") == "erred" else _NEIGHBOURS).name)
        elif task.recorded and not task.answer:
            self.propose(_TIMES.name)
        self._stacks = None
        runner = str(task.answer.get("worker", ""))
        if self.section is _STACK and runner:
            self._stacks = self.asked.fresh("call-stacks", worker=runner, key=self.key)
        stacks = (id(self._stacks), self._stacks.version) if self._stacks is not None else None
        return task.version, stacks, self._pressed

    def subject_controls(self) -> Sequence[Control]:
        """Return the field for the key, and the ways to profile and worker."""
        controls = [Control("key", "text", "Task", self.key, placeholder="Key of a task")]
        if self._task.prefix:
            controls.append(Control("profile", "button", "Profile"))
        if self._task.worker:
            controls.append(Control("worker", "button", "Worker"))
        return controls

    def set_control(self, name: str, value: str) -> None:
        """Go to another task, to the profile of its prefix, or to its worker."""
        if name == "key" and value != self.key:
            self.show({"key": value})
        elif name == "profile" and self._task.prefix:
            self.open("profile", prefix=self._task.prefix)
        elif name == "worker" and self._task.worker:
            self.open("worker", worker=self._task.worker)
        super().set_control(name, value)

    def facts(self) -> Facts:
        """Return what is known in a few words each."""
        return self._task.facts

    def columns(self, section: Section) -> Columns:
        """Return the rows of one of the tables."""
        task = self._task
        if section is _NEIGHBOURS:
            rows = task.neighbours
            return {name: [row[name] for row in rows] for name in ("relation", "key", "state")}
        if section is _WORKERS:
            roles = task.roles
            return {"role": [role for role, _ in roles], "worker": [at for _, at in roles]}
        if section is _TIMES:
            return self._times()
        story = task.answer.get("story", ())
        times = np.array(column_of(story, "time", np.nan), float)
        return {"time": times, **{n: column_of(story, n) for n in ("start", "finish", "stimulus")}}

    def _times(self) -> Columns:
        actions = self._task.actions
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

    def text(self, section: Section) -> str:
        """Return the error, what the task does now, or why a table has no rows."""
        task = self._task
        if section is _ERROR:
            return task.error
        if section is _STACK:
            return self._stack_text()
        if task.is_forgotten:
            return _FORGOTTEN_ROWS[section.name]
        if section is _TIMES and task.answer.get("state") == "processing":
            return (
                "No times are known yet: it is with a worker, and no heartbeat has reported that"
                " it runs."
            )
        return _WITHOUT_ROWS[section.name] if task.is_known else ""

    def _stack_text(self) -> str:
        task = self._task
        if task.is_forgotten:
            return FORGOTTEN
        if not task.answer:
            return ""
        if self._stacks is None:
            return f"This task does not run now; it is in the state {task.answer['state']}."
        if self._stacks.answer is None:
            return self._stacks.error or "Asking the worker …"
        stacks = self._stacks.answer.get("stacks", ())
        return stack_text(stacks) or "It was assigned to a worker but did not run at that moment."

    def clicked(self, row: int) -> None:
        """Go to the task of a row, or open the worker."""
        if self.section is _NEIGHBOURS:
            rows = self._task.neighbours
            if row < len(rows):
                self.show({"key": rows[row]["key"]})
        elif self.section is _WORKERS:
            roles = self._task.roles
            if row < len(roles) and roles[row][1] in self.store.workers:
                self.open("worker", worker=roles[row][1])

    def ask_again(self) -> None:
        """Ask at once; of a task that is with a worker, show what it does at this moment."""
        for query in (self._task.query, self._stacks):
            if query is not None:
                self.store.queries.ask_again(query)
        self._pressed = (self.key, self.store.time)
        if not self._task.is_forgotten and self._task.answer.get("worker"):
            self.choose(_STACK.name)

    def empty(self) -> str:
        """Return why there is nothing to show, and what to do."""
        if not self.key:
            return HOW
        query = self._task.query
        if self._task.is_known or query is None:
            return ""
        if query.error:
            return f"{query.error} {HOW}"
        if self._task.is_first_question:
            return "Asking the scheduler …"
        return (
            f"The scheduler does not know the task “{fmt.elide(self.key, 80)}”. It forgets tasks"
            f" that nobody needs any more. {UNRECORDED} {HOW}"
        )

    def note(self) -> str:
        """Return how old or how complete this is."""
        task, query = self._task, self._task.query
        if query is None or not task.is_known:
            return ""
        if task.is_forgotten or not task.answer:
            parts = [query.error or FORGOTTEN, self._what_is_left()]
        else:
            parts = [str(task.answer.get("missing", "")), query.error, self._listed()]
        key, pressed_at = self._pressed
        parts.append(f"Asked at {fmt.clock(pressed_at)}." if key == self.key else "")
        return " ".join(part for part in parts if part)

    def _what_is_left(self) -> str:
        """Return what there still is of a task that the scheduler does not know any more."""
        if not self._task.answer:
            return "This is what was recorded of it."
        known_at = fmt.clock(self._task.answered_at)
        if not self._task.recorded:
            return f"This is what it knew at {known_at}. {UNRECORDED}"
        return f"This is what was recorded of it, and what the scheduler knew of it at {known_at}."

    def _listed(self) -> str:
        """Return how much of all there is the section's table holds."""
        if self.section is _STORY:
            return "The scheduler remembers some 1000 changes of all tasks together."
        counts = self._task.answer.get("counts", {})
        n = counts.get("dependencies", 0) + counts.get("dependents", 0)
        listed = len(self._task.neighbours) if self.section is _NEIGHBOURS else 0
        return f"{fmt.count(listed)} of {fmt.count(n)} tasks listed." if 0 < listed < n else ""
