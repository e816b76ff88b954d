"""One task: its state, where it came from and goes to, its times, its error and its story."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from dask_diag_lab.views import controls
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.asked import can_ask
from dask_diag_lab.views.base import Notice
from dask_diag_lab.views.detail_page import DetailPage, Facts, Section, Values, column_of
from dask_diag_lab.views.figure import set_properties
from dask_diag_lab.views.look import LIGHT, Look
from dask_diag_lab.views.tasks.task_findings import TaskFindings
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
    FORGOTTEN,
    NOT_BEGUN,
    NOTHING,
    NOTHING_LEFT,
    UNRECORDED,
    neighbours,
    rest_words,
)
from dask_diag_lab.views.worker_names import worker_in_words
from dask_diag_lab.views.workers.worker_page_words import stack_text

if TYPE_CHECKING:
    from bokeh.models.ui import UIElement

    from dask_diag_lab.store import Store
    from dask_diag_lab.store.inquiries import Inquiry

HOW: Final = "Click a task in the Task Stream or Task Graph, or type a key above."


class TaskPage(DetailPage):
    """All that is known of one task, named by its key."""

    sections: ClassVar[Sequence[Section]] = SECTIONS

    def __init__(
        self, store: Store, look: Look = LIGHT, arguments: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(store, look, arguments)
        self._task = TaskFindings(store, self.asked, self.key)
        self._stacks: Inquiry | None = None
        # Key that the button asked for last, and when on the scheduler's clock.
        self._pressed = ("", 0.0)

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
        self._ask = controls.button(self.look, "Ask now", self._ask_now)
        return self._input, self._profile, self._worker, self._ask

    def look_up(self) -> object:
        """Ask for the task, and for what it does now where that is to be seen."""
        if self._task.key != self.key:
            self._task = TaskFindings(self.store, self.asked, self.key)
        task = self._task
        task.look()
        if task.inquiry is not None and task.inquiry.answer is not None:
            self.propose((ERROR if task.told.get("state") == "erred" else NEIGHBOURS).name)
        elif task.recorded and not task.told:
            self.propose(TIMES.name)
        self._stacks = None
        runner = str(task.told.get("worker", ""))
        if self.section is STACK and runner:
            self._stacks = self.asked.fresh("call-stacks", worker=runner, key=self.key)
        stacks = (id(self._stacks), self._stacks.version) if self._stacks is not None else None
        return task.version, stacks, self._pressed, can_ask(self.store)

    @property
    def is_behind(self) -> bool:
        """Whether it is time to look into the history again; see `View.is_behind`."""
        return self._task.is_due

    def draw_controls(self) -> None:
        """Say what the page is about, and what is missing."""
        set_properties(self._input, value=self.key)
        set_properties(self._profile, disabled=not self._task.prefix)
        set_properties(self._worker, disabled=not self._task.worker)
        set_properties(self._ask, disabled=not can_ask(self.store))
        self.notice = Notice(empty=self._empty(), note=self._note())

    def facts(self) -> Facts:
        """Return what is known in a word each."""
        return self._task.facts

    def nothing(self, section: Section) -> str:
        """Return the words in the place of a table without rows."""
        if self._task.is_forgotten:
            return NOTHING_LEFT[section.name]
        if section is TIMES and self._task.told.get("state") == "processing":
            return NOT_BEGUN
        return NOTHING[section.name] if self._task.told or self._task.recorded else ""

    def values(self, section: Section) -> Values:
        """Return the rows of one of the tables."""
        task = self._task.told
        if section is NEIGHBOURS:
            rows = neighbours(task)
            return {name: [row[name] for row in rows] for name in ("relation", "key", "state")}
        if section is WORKERS:
            roles = self._task.roles
            return {"role": [r for r, _ in roles], "worker": [address for _, address in roles]}
        if section is TIMES:
            return self._times()
        story = task.get("story", ())
        times = np.array(column_of(story, "time", np.nan), float)
        return {"time": times, **{n: column_of(story, n) for n in ("start", "finish", "stimulus")}}

    def text(self, section: Section) -> str:
        """Return the error, or what the task does now."""
        if section is ERROR:
            return self._task.error
        if self._task.is_forgotten:
            return FORGOTTEN
        if not self._task.told:
            return ""
        if self._stacks is None:
            return f"This task does not run now; it is in the state {self._task.told['state']}."
        if self._stacks.answer is None:
            return self._stacks.error or "Asking the worker …"
        stacks = self._stacks.answer.get("stacks", ())
        return stack_text(stacks) or "It was assigned to a worker but did not run at that moment."

    def _times(self) -> Values:
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

    def clicked(self, row: int) -> None:
        """Go to the task of a row, or open the worker."""
        if self.section is NEIGHBOURS:
            rows = neighbours(self._task.told)
            if row < len(rows):
                self.show({"key": rows[row]["key"]})
        elif self.section is WORKERS:
            roles = self._task.roles
            if row < len(roles) and roles[row][1] in self.store.workers:
                self.open("worker", worker=roles[row][1])

    # --- what there is to say

    def _empty(self) -> str:
        if not self.key:
            return HOW
        asked = self._task.inquiry
        if self._task.told or asked is None or self._task.recorded:
            return ""
        if asked.error:
            return f"{asked.error} {HOW}"
        if self._task.is_first_question:
            return "Asking the scheduler …"
        return (
            f"The scheduler does not know the task “{fmt.elide(self.key, 80)}”. It forgets tasks"
            f" that nobody needs any more. {UNRECORDED} {HOW}"
        )

    def _note(self) -> str:
        asked = self._task.inquiry
        if asked is None or not (self._task.told or self._task.recorded):
            return ""
        if self._task.is_forgotten or not self._task.told:
            known_at = fmt.clock(self._task.told_at) if self._task.told else ""
            rest = rest_words(known_at, is_recorded=bool(self._task.recorded))
            parts = [asked.error or FORGOTTEN, rest]
        else:
            parts = [str(self._task.told.get("missing", "")), asked.error, self._listed()]
        key, pressed_at = self._pressed
        parts.append(f"Asked at {fmt.clock(pressed_at)}." if key == self.key else "")
        return " ".join(part for part in parts if part)

    def _listed(self) -> str:
        """Return how much of all there is the section's table holds."""
        if self.section is STORY:
            return "The scheduler remembers some 1000 changes of all tasks together."
        counts = self._task.told.get("counts", {})
        n, listed = counts.get("dependencies", 0) + counts.get("dependents", 0), 0
        if self.section is NEIGHBOURS:
            listed = len(neighbours(self._task.told))
        return f"{fmt.count(listed)} of {fmt.count(n)} tasks listed." if 0 < listed < n else ""

    # --- what the controls do

    def _entered(self, key: str) -> None:
        if key != self.key:
            self.show({"key": key})

    def _open_profile(self) -> None:
        if self._task.prefix:
            self.open("profile", prefix=self._task.prefix)

    def _open_worker(self) -> None:
        worker = self._task.worker
        if worker:
            self.open("worker", worker=worker)

    def _ask_now(self) -> None:
        """Ask again; of a task that is with a worker, show what it does at this moment."""
        for inquiry in (self._task.inquiry, self._stacks):
            if inquiry is not None:
                self.store.inquiries.ask_again(inquiry)
        self._pressed = (self.key, self.store.time)
        if not self._task.is_forgotten and self._task.told.get("worker"):
            self.choose(STACK.name)
