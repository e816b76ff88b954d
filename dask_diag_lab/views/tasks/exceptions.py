"""The tasks that failed: equal errors in one row, with the whole traceback at a click."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from bokeh.models import Column
from bokeh.models.widgets import PreText

from dask_diag_lab.views import controls
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.base import Notice, Table
from dask_diag_lab.views.data_table import SortableTable, TableColumn
from dask_diag_lab.views.figure import set_properties, smaller
from dask_diag_lab.views.look import LIGHT, Look
from dask_diag_lab.views.redrawn import RedrawnView
from dask_diag_lab.views.shown_name import shown_name
from dask_diag_lab.views.tasks.failures import Failure, FailureCounts, failures_of
from dask_diag_lab.views.worker_names import worker_in_words

if TYPE_CHECKING:
    from bokeh.models.ui import UIElement

    from dask_diag_lab.store import Store

NO_FAILURES: Final = "No task has failed."
WAITING: Final = "Waiting for the scheduler's answer."

COLUMNS: Final = (
    TableColumn("exception", "Exception", "text", 148),
    TableColumn("tasks", "Tasks", "number", 50),
    TableColumn("time", "Last", "time", 66),
    TableColumn("prefix", "Function", "text", 84),
    TableColumn("workers", "Workers", "text", 68),
)
_NAMES_SHOWN: Final = 3

_TRACEBACK_CSS: Final = """
:host {{ overflow: auto; padding: 0 8px 8px; background: {background}; color: {foreground}; }}
pre {{
  margin: 0; overflow: visible !important; white-space: pre-wrap; overflow-wrap: anywhere;
  user-select: text; font: {font_size} ui-monospace, Menlo, Consolas, monospace;
}}
"""


class Exceptions(RedrawnView):
    """A table of errors, and below it what is known of the one that was clicked."""

    needs = frozenset({"errors"})

    def __init__(
        self, store: Store, look: Look = LIGHT, arguments: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(store, look, arguments)
        self.failures: list[Failure] = []
        self._counts = FailureCounts()
        self._chosen: tuple[str, str] | None = None

    # --- the picture

    def build(self) -> UIElement:
        """Return the table and the place for a traceback; see `View.build`."""
        self.rows = SortableTable(self.look, COLUMNS, on_click=self.choose)
        self._words = controls.words(self.look)
        self._open = controls.button(self.look, "Open the task", self._open_task)
        self._close = controls.button(self.look, "Close", self._forget)
        self._bar = controls.bar(self._words, self._open, self._close)
        self.traceback = PreText(text="", sizing_mode="stretch_both", margin=0)
        self.details = Column(
            children=[self._bar, self.traceback],
            sizing_mode="stretch_both",
            spacing=0,
            visible=False,
        )
        self.root = Column(
            children=[self.rows.model, self.details], sizing_mode="stretch_both", spacing=0
        )
        self.restyle()
        return self.root

    def restyle_models(self) -> None:
        """Apply `look`; see `RedrawnView.restyle_models`."""
        look = self.look
        self.rows.restyle(look)
        controls.restyle_controls([self._bar], look)
        set_properties(self.root, styles={"background-color": look.background})
        line = f"1px solid {look.grid}"
        set_properties(
            self.details, styles={"background-color": look.background, "border-top": line}
        )
        css = _TRACEBACK_CSS.format(
            background=look.background,
            foreground=look.foreground,
            font_size=smaller(look.font_size),
        )
        set_properties(self.traceback, stylesheets=[css])

    # --- keeping it up to date

    def shown(self) -> object:
        """Read on, and return what differs when the picture has to; see `RedrawnView.shown`."""
        store = self.store
        self._counts.read(store)
        tables = (store.extras["errors"], store.actions, store.workers, store.seen_workers)
        versions = tuple(table.version for table in tables)
        told = store.degraded, store.left_out.get("errors", 0)
        return versions, told, self._counts.are_settled(store), self._chosen

    def redraw(self) -> None:
        """Show the errors and the chosen one; see `RedrawnView.redraw`."""
        self.failures = failures_of(self.store, self._counts)
        self.rows.set(
            {
                "exception": [shown_name(failure.exception) for failure in self.failures],
                "tasks": [failure.n_tasks for failure in self.failures],
                "time": [failure.time for failure in self.failures],
                "prefix": [shown_name(failure.prefix) for failure in self.failures],
                "workers": [self._worker_words(failure) for failure in self.failures],
            }
        )
        self._show_details()
        self.notice = self._notice()

    def _notice(self) -> Notice:
        if not self.failures:
            is_known = self.store.extras["errors"].is_known
            return Notice(empty=NO_FAILURES if is_known else WAITING)
        notes = []
        if dropped := self.store.left_out.get("errors", 0):
            notes.append(f"{fmt.plural(dropped, 'older failure')} of other errors not kept")
        if killed := self._counts.killed:
            # No heartbeat names a run that ends its worker within a moment.
            notes.append(f"at least {fmt.plural(killed, 'run')} lost with a worker that died")
        return Notice(note="; ".join(notes))

    def choose(self, index: int) -> None:
        """Show the traceback of one row, by its place in `failures`."""
        failure = self.failures[index]
        self._chosen = (failure.prefix, failure.exception)
        self.update()

    def _forget(self) -> None:
        self._chosen = None
        self.update()

    def _failure(self) -> Failure | None:
        """Return the failure that is looked at, if it is still there."""
        for failure in self.failures:
            if (failure.prefix, failure.exception) == self._chosen:
                return failure
        return None

    def _show_details(self) -> None:
        failure = self._failure()
        set_properties(self.details, visible=failure is not None)
        if failure is None:
            return
        tasks = fmt.plural(failure.n_tasks, "task")
        place = f" on {self._worker_words(failure)}" if failure.workers else ""
        key = f" · last: {shown_name(failure.last_key, 80)}" if failure.last_key else ""
        said = f"{shown_name(failure.prefix, 40)}: {tasks} failed{place}{key}"
        set_properties(self._words, text=said, visible=True)
        set_properties(self._open, visible=bool(failure.last_key))
        text = f"{failure.traceback}\n{failure.exception}" if failure.traceback else ""
        set_properties(self.traceback, text=(text or failure.exception).strip("\n"))

    def _worker_words(self, failure: Failure) -> str:
        """Return the names of the workers it happened on, and how many more there are."""
        shown = [*failure.workers][:_NAMES_SHOWN]
        names = ", ".join(shown_name(worker_in_words(self.store, a), 40) for a in shown)
        n_more = len(failure.workers) - len(shown)
        return f"{names} and {n_more} more" if n_more else names

    def _open_task(self) -> None:
        failure = self._failure()
        if failure is not None and failure.last_key:
            self.open("task", key=failure.last_key)

    def table(self) -> Table:
        """Return one row for each error, with its traceback."""
        self._counts.read(self.store)
        failures = failures_of(self.store, self._counts)
        columns: dict[str, Sequence[object]] = {
            "exception": [failure.exception for failure in failures],
            "tasks": [failure.n_tasks for failure in failures],
            "time": [failure.time if failure.is_kept else None for failure in failures],
            "prefix": [failure.prefix for failure in failures],
            "workers": [", ".join(failure.workers) for failure in failures],
            "key": [failure.last_key for failure in failures],
            "traceback": [failure.traceback for failure in failures],
        }
        return Table(columns, {"time": "s"})
