"""What has been found out about one task: what the scheduler told, what was recorded, what runs.

Reads the store and asks through it; knows no Bokeh.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from dask_diag_lab.views.tasks.task_page_words import (
    ERROR_NONE,
    error_text,
    joined_facts,
    task_facts,
)
from dask_diag_lab.views.tasks.task_runs import TaskRuns
from dask_diag_lab.views.tasks.task_traces import TaskTraces
from dask_diag_lab.views.worker_names import worker_in_words

if TYPE_CHECKING:
    from dask_diag_lab.store import Store
    from dask_diag_lab.store.inquiries import Inquiry
    from dask_diag_lab.views.asked import Asked
    from dask_diag_lab.views.detail_page import Facts

SETTLED_S: Final = 10.0
"""A task that is done changes seldom."""
_ACTIVE_S: Final = 2.0
_SETTLED: Final = frozenset({"memory", "erred", "released", "forgotten"})


class TaskFindings:
    """All that is known of one task, once `look` was called.

    Parameters
    ----------
    store : Store
    asked : Asked
        Of the view that shows it.
    key : str
        The key as text; '' for no task, of which nothing is known.

    Attributes
    ----------
    inquiry : Inquiry or None
        Asks the scheduler for it.
    told : mapping
        The last answer of the scheduler that told something; empty before.
    told_at : float
    """

    def __init__(self, store: Store, asked: Asked, key: str) -> None:
        self.key = key
        self.inquiry: Inquiry | None = None
        self.told: Mapping[str, Any] = {}  # as the scheduler answers
        self.told_at = 0.0
        self._store = store
        self._asked = asked
        self._runs = TaskRuns(store, key)
        self._traces: TaskTraces | None = None

    def look(self) -> None:
        """Ask where an answer is old, and look into the store."""
        if not self.key:
            return
        self._runs = TaskRuns(self._store, self.key)
        is_settled = self.told.get("state") in _SETTLED and not self._runs
        every_s = SETTLED_S if is_settled else _ACTIVE_S
        self.inquiry = self._asked.fresh("task", every_s=every_s, key=self.key)
        if self.inquiry.answer is not None:
            self.told, self.told_at = self.inquiry.answer, self.inquiry.answered_at
        self._look_for_traces()

    def _look_for_traces(self) -> None:
        """Look into the history, which alone knows where a task ran once that is forgotten."""
        if self.is_first_question:
            self._traces = None
            return
        self._traces = self._traces or TaskTraces(self._store, self.key)
        self._traces.look()

    @property
    def version(self) -> object:
        """Differs when anything was found."""
        asked = (id(self.inquiry), self.inquiry.version) if self.inquiry is not None else None
        return self.key, asked, self._traces.version if self._traces else 0, self._runs.version

    @property
    def is_due(self) -> bool:
        """Whether it is time to look into the history again."""
        return self._traces is not None and self._traces.is_due

    @property
    def is_first_question(self) -> bool:
        """Whether the scheduler has still to say whether it knows the task."""
        asked = self.inquiry
        return asked is not None and not asked.n_answers and not asked.error

    @property
    def is_forgotten(self) -> bool:
        """Whether the scheduler said that it knows no such task."""
        asked = self.inquiry
        return asked is not None and asked.n_answers > 0 and asked.answer is None

    @property
    def recorded(self) -> Sequence[Mapping[str, Any]]:
        """The actions that the history has of it; see `TaskTraces.actions`."""
        return self._traces.actions if self._traces is not None else ()

    @property
    def prefix(self) -> str:
        """Its prefix; '' where that is not known."""
        recorded = self._traces.prefix if self._traces is not None else ""
        return str(self.told.get("prefix", "")) or recorded

    @property
    def facts(self) -> Facts:
        """What is known in a word each."""
        is_forgotten = self.is_forgotten
        recorded = self._traces.facts(is_forgotten=is_forgotten) if self._traces else []
        if not self.told:
            return recorded
        told = task_facts(self.told, partial(worker_in_words, self._store), self._runs.facts())
        return joined_facts(told, recorded, is_forgotten=is_forgotten)

    @property
    def actions(self) -> Sequence[Mapping[str, Any]]:
        """What the history has of it, or the scheduler if it told more; and what runs."""
        told, recorded = self.told.get("actions", ()), self.recorded
        return [*(recorded if len(recorded) >= len(told) else told), *self._runs.actions()]

    @property
    def error(self) -> str:
        """Error and traceback, or why there is none; '' where it is not known whether it ran."""
        text = error_text(self.told) if self.told else ""
        if text or self._traces is None or (self.told and not self.is_forgotten):
            return text or (ERROR_NONE if self.told else "")
        return self._traces.error()

    @property
    def roles(self) -> list[tuple[str, str]]:
        """What each worker has to do with it, and the worker's address."""
        task = {} if self.is_forgotten else self.told
        roles = [("runs it", str(task["worker"]))] if task.get("worker") else []
        roles += [("has the result", str(address)) for address in task.get("who_has", ())]
        roles += [("it failed there", str(address)) for address in task.get("erred_on", ())]
        return roles + (self._traces.roles() if self._traces is not None else [])

    @property
    def worker(self) -> str:
        """The worker of most interest that is still there; '' where there is none."""
        present = self._store.workers
        return next((address for _, address in self.roles if address in present), "")
