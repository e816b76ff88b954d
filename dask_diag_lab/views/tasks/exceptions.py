"""The tasks that failed: a row for each kind of error, with the whole traceback at a click."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
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
from dask_diag_lab.views.tasks import failure_words as words
from dask_diag_lab.views.tasks.failures import (
    OLDER,
    OLDER_TEXTS,
    Failure,
    FailureCounts,
    FailureKind,
    kinds_of,
)
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
_NAME_CHARACTERS: Final = 40

_TRACEBACK_CSS: Final = """
:host {{ overflow: auto; padding: 0 8px 8px; background: {background}; color: {foreground}; }}
pre {{
  margin: 0; overflow: visible !important; white-space: pre-wrap; overflow-wrap: anywhere;
  user-select: text; font: {font_size} ui-monospace, Menlo, Consolas, monospace;
}}
"""

# The page keeps the cell that has the focus by its place, where another row may come to stand.
_TABLE_CSS: Final = ".slick-cell.active:not(.selected) {{ border-bottom-color: {grid}; }}"


class Exceptions(RedrawnView):
    """A table of errors, and below it what is known of the one that was clicked."""

    needs = frozenset({"errors"})

    def __init__(
        self, store: Store, look: Look = LIGHT, arguments: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(store, look, arguments)
        self.kinds: list[FailureKind] = []
        self._counts = FailureCounts()
        self._chosen: tuple[str, str, str] | None = None
        self._is_marking = False

    # --- the picture

    def build(self) -> UIElement:
        """Return the table and the place for a traceback; see `View.build`."""
        self.rows = SortableTable(self.look, COLUMNS)
        # Not its `on_click`, which lets go of a row at once: here it stays marked.
        self.rows.source.selected.on_change("indices", self._selected)
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
        table = self.rows.table
        table.stylesheets = [*table.stylesheets, _TABLE_CSS.format(grid=look.grid)]
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
        kinds = self.kinds = kinds_of(self.store, self._counts)
        marked = [i for i, kind in enumerate(kinds) if _name(kind) == self._chosen]
        if marked != self.rows.source.selected.indices:
            self._mark([])  # of the old rows; the page brings back one that is beyond the new
        self.rows.set(
            {
                "exception": [words.row(kind) for kind in kinds],
                "tasks": [kind.n_tasks for kind in kinds],
                "time": [kind.last.time for kind in kinds],
                "prefix": [shown_name(kind.last.prefix) for kind in kinds],
                "workers": [words.workers(kind, self._name_of) for kind in kinds],
            }
        )
        self._mark(marked)
        self._show_details()
        self.notice = self._notice()

    def _notice(self) -> Notice:
        if not self.kinds:
            is_known = self.store.extras["errors"].is_known
            return Notice(empty=NO_FAILURES if is_known else WAITING)
        notes = []
        if dropped := self.store.left_out.get("errors", 0):
            notes.append(f"{fmt.plural(dropped, 'older failure')} of other errors not kept")
        if cut := sum(kind.n_not_kept for kind in self.kinds):
            notes.append(f"texts of {fmt.plural(cut, 'older failure')} not kept")
        if unknown := sum(kind.n_tasks for kind in self.kinds if _is_unknown(kind)):
            notes.append(f"no details of {fmt.plural(unknown, 'failure')}")
        if killed := self._counts.killed:
            # No heartbeat names a run that ends its worker within a moment.
            notes.append(f"at least {fmt.plural(killed, 'run')} lost with a worker that died")
        return Notice(note="; ".join(notes))

    def choose(self, index: int) -> None:
        """Show the traceback of one row, by its place in `kinds`."""
        self._chosen = _name(self.kinds[index])
        self.update()

    def command(self, verb: str) -> None:
        """``clear`` closes the traceback; see `View.command`."""
        if verb == "clear":
            self._forget()

    def _selected(self, _attribute: str, old: list[int], new: list[int]) -> None:
        """Follow the reader, who may also let go of a row, or add some with Ctrl or Shift."""
        if self._is_marking:
            return
        added = [i for i in new if i not in old and 0 <= i < len(self.kinds)]
        self._chosen = _name(self.kinds[added[0]]) if added else None
        self._drawn = None  # one row is marked, whatever the page has made of it
        self.update()

    def _mark(self, rows: list[int]) -> None:
        """Mark these rows as chosen, without taking that for a click."""
        self._is_marking = True
        try:
            set_properties(self.rows.source.selected, indices=rows)
        finally:
            self._is_marking = False

    def _forget(self) -> None:
        self._chosen = None
        self.update()

    def _kind(self) -> FailureKind | None:
        """Return the kind that is looked at, if it is still there."""
        return next((kind for kind in self.kinds if _name(kind) == self._chosen), None)

    def _show_details(self) -> None:
        kind = self._kind()
        set_properties(self.details, visible=kind is not None)
        if kind is None:
            return
        set_properties(self._words, text=words.line(kind, self._name_of), visible=True)
        set_properties(self._open, visible=bool(kind.last.last_key))
        set_properties(self.traceback, text=words.details(kind))

    def _name_of(self, address: str) -> str:
        return shown_name(worker_in_words(self.store, address), _NAME_CHARACTERS)

    def _open_task(self) -> None:
        kind = self._kind()
        if kind is not None and kind.last.last_key:
            self.open("task", key=kind.last.last_key)

    def table(self) -> Table:
        """Return one row for each text, with its traceback, and what all of its kind share."""
        self._counts.read(self.store)
        rows = [
            (kind, failure) for kind in kinds_of(self.store, self._counts) for failure in _all(kind)
        ]
        columns: dict[str, Sequence[object]] = {
            "exception": [failure.exception for _, failure in rows],
            "tasks": [failure.n_tasks for _, failure in rows],
            "time": [failure.time if failure.is_kept else None for _, failure in rows],
            "prefix": [failure.prefix for _, failure in rows],
            "workers": [", ".join(failure.workers) for _, failure in rows],
            "key": [failure.last_key for _, failure in rows],
            "traceback": [failure.traceback for _, failure in rows],
            "kind": [kind.name for kind, _ in rows],
            "kind_tasks": [kind.n_tasks for kind, _ in rows],
            "kind_first": [kind.first if isfinite(kind.first) else None for kind, _ in rows],
        }
        return Table(columns, {"time": "s", "kind_first": "s"})


def _name(kind: FailureKind) -> tuple[str, str, str]:
    """Return what a kind is found again by; of what is not kept the reason stands for it."""
    return kind.last.prefix, kind.name, "" if kind.name else kind.last.exception


def _is_unknown(kind: FailureKind) -> bool:
    """Return whether only the number is known; the note counts the older ones by themselves."""
    return not kind.last.is_kept and kind.last.exception != OLDER


def _all(kind: FailureKind) -> list[Failure]:
    """Return a kind's failures, and as one those whose texts are not kept."""
    if not kind.n_not_kept:
        return kind.failures
    rest = Failure(kind.last.prefix, OLDER_TEXTS, n_tasks=kind.n_not_kept, is_kept=False)
    return [*kind.failures, rest]
