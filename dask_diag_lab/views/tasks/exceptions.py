"""The tasks that failed: a row for each kind of error, with the whole traceback at a click."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final

from bokeh.models import Column as Stack

from dask_diag_lab.schema import STATES
from dask_diag_lab.store.sums import ALL, Window
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.data import MOMENT, Column, Rows
from dask_diag_lab.views.figure import restyle_text_pane, set_properties, text_pane
from dask_diag_lab.views.names import shown_name, worker_label
from dask_diag_lab.views.registry import register_plot
from dask_diag_lab.views.stack import ExtraPlot
from dask_diag_lab.views.tables import TablePlot
from dask_diag_lab.views.view import Control, Table

if TYPE_CHECKING:
    from bokeh.models.ui import UIElement

    from dask_diag_lab.store import History

TABLE: Final = (
    *("exception", "tasks", "time", "prefix", "workers", "attempts", "key", "traceback"),
    *("kind", "kind_tasks", "kind_first"),
)
WORKERS_SHOWN: Final = 3
TEXTS_SHOWN: Final = 20
_EXAMPLE: Final = 80
"""Characters of a text in a row, which tells of others as well."""
_OTHER: Final = 200
"""Characters of the other texts, a line each below the traceback."""

Task = dict[str, Any]  # a row of the extra ``errors``, whose columns differ in type


@dataclass(frozen=True, slots=True)
class ErrorKind:
    """Failures of one prefix with one type of exception that was raised at one place.

    Attributes
    ----------
    tasks : list of dict
        Those that are listed, the last one first; never empty.
    texts : dict of str to list
        The same by text, that of the last one first.
    """

    tasks: list[Task] = field(default_factory=list)
    texts: dict[str, list[Task]] = field(default_factory=dict)

    @property
    def last(self) -> Task:
        return self.tasks[0]

    @property
    def id(self) -> str:
        return f"{self.last['prefix']} {self.last['kind']}"

    @property
    def n_tasks(self) -> int:
        """Tasks that failed for good; one that failed again counts again."""
        return int(self.last["kind_failures"]) - self.n_attempts

    @property
    def n_attempts(self) -> int:
        """Attempts that failed and whose task was run again."""
        return int(self.last["kind_attempts"])

    @property
    def n_not_kept(self) -> int:
        """Failures that are counted and not listed any more."""
        return int(self.last["kind_failures"]) - len(self.tasks)

    @property
    def other_texts(self) -> str:
        """Such as ``and other texts (4)``; '' for none."""
        number = len(self.texts) - 1
        more = " or more" if self.n_not_kept else ""
        return f"and other texts ({fmt.count(number)}{more})" if number else ""


def error_kinds(history: History, period: Window = ALL) -> list[ErrorKind]:
    """Return the kinds of errors, that of the last failure first.

    Of a period only failures whose details are kept.
    """
    errors = history.extras["errors"]
    columns = (errors[name].tolist() for name in errors.columns)
    rows = [dict(zip(errors.columns, row, strict=True)) for row in zip(*columns, strict=True)]
    kinds: dict[tuple[str, str], ErrorKind] = {}
    for row in reversed([row for row in rows if period.start < row["time"] <= period.stop]):
        kind = kinds.setdefault((row["prefix"], row["kind"]), ErrorKind())
        kind.tasks.append(row)
        kind.texts.setdefault(row["exception"], []).append(row)
    if period != ALL:
        for kind in kinds.values():
            kind.tasks[0] |= {
                "kind_failures": len(kind.tasks),
                "kind_attempts": sum(task["is_attempt"] for task in kind.tasks),
                "kind_first": kind.tasks[-1]["time"],
            }
    return list(kinds.values())


@register_plot
class Exceptions(ExtraPlot, TablePlot):
    """A table of errors, and below it what is known of the one that was clicked."""

    name = "exceptions"
    has_period = True

    reads = ("errors", "workers", "prefixes")
    empty = "No task has failed."
    columns = (
        Column("exception", "Exception", width=148),
        Column("tasks", "Tasks", "number", width=50),
        Column("attempts", "Attempts", "number", width=66),
        Column("time", "Last", "time", width=66),
        Column("prefix", "Function", width=84),
        Column("workers", "Workers", width=68),
    )
    key: ClassVar[str] = "id"

    kinds: Sequence[ErrorKind] = ()
    _chosen = ""

    # --- the picture

    def build(self) -> UIElement:
        """Return the table and the place for a traceback; see `View.build`."""
        self.details = text_pane(self.look)
        parts = [super().build(), self.details]
        return Stack(children=parts, sizing_mode="stretch_both", spacing=0)

    def restyle(self) -> None:
        """Apply `look`; see `View.restyle`."""
        restyle_text_pane(self.details, self.look)
        super().restyle()

    def state(self) -> object:
        """Return what is chosen and known; see `View.state`."""
        return self._chosen, self.history.left_out.get("errors", 0)

    def rows(self) -> Rows:
        """Return a row for each kind of error, which `kinds` are then."""
        kinds = self.kinds = error_kinds(self.history, self.period)
        return {
            "id": [kind.id for kind in kinds],
            "exception": [
                f"{shown_name(kind.last['exception'], _EXAMPLE)} {kind.other_texts}".rstrip()
                for kind in kinds
            ],
            "tasks": [kind.n_tasks for kind in kinds],
            "attempts": [kind.n_attempts for kind in kinds],
            "time": [kind.last["time"] for kind in kinds],
            "prefix": [shown_name(kind.last["prefix"]) for kind in kinds],
            "workers": [self._workers(kind) for kind in kinds],
        }

    def headline(self) -> str:
        """Return how many tasks and attempts failed, and of how many kinds of error."""
        failed = fmt.plural(sum(kind.n_tasks for kind in self.kinds), "failed task")
        n_again = sum(kind.n_attempts for kind in self.kinds)
        again = f", {fmt.plural(n_again, 'failed attempt')} run again" if n_again else ""
        return f"{failed}{again}, {fmt.plural(len(self.kinds), 'kind')} of error"

    def note(self) -> str:
        """Return how many others erred for these, and what is not kept."""
        if self.period != ALL:
            return f"{self.period_text}, of the failures whose details are kept"
        notes = []
        n_erred = int(self.history.prefixes.states[:, STATES.index("erred")].sum())
        n_never = n_erred - sum(kind.n_tasks for kind in self.kinds)
        if n_never > 0 and not self.history.left_out.get("errors"):
            notes.append(f"{fmt.plural(n_never, 'more task')} never ran: what they need failed")
        if dropped := self.history.left_out.get("errors", 0):
            notes.append(f"{fmt.plural(dropped, 'older failure')} of other errors not kept")
        if cut := sum(kind.n_not_kept for kind in self.kinds):
            notes.append(f"details of {fmt.plural(cut, 'older failure')} not kept")
        return "; ".join(notes)

    def draw_rows(self, rows: Rows) -> None:
        """Show the errors and the chosen one; see `DataPlot.draw_rows`."""
        super().draw_rows(rows)
        kind = self._chosen_kind()
        set_properties(self.details, text=self._details(kind) if kind else "", visible=bool(kind))

    def own_controls(self) -> Sequence[Control]:
        """Return what can be done with the chosen one."""
        buttons = (("task", "Open the task"), ("close", "Close"))
        return [Control(name, "button", label) for name, label in buttons if self._chosen_kind()]

    def _chosen_kind(self) -> ErrorKind | None:
        return next((kind for kind in self.kinds if kind.id == self._chosen), None)

    # --- what a reader does

    def open_row(self, key: str) -> None:
        """Show the traceback of one row; see `TablePlot.open_row`."""
        self._chosen = key
        self.update()

    def command(self, verb: str) -> None:
        """``clear`` closes the traceback; see `View.command`."""
        if verb == "clear":
            self.open_row("")

    def set_control(self, name: str, value: str) -> None:
        """Open the page of the task that failed last, or close the traceback."""
        del value
        kind = self._chosen_kind()
        if name == "close":
            self.open_row("")
        elif name == "task" and kind:
            self.open("task", key=kind.last["key"])

    # --- the texts

    def table(self) -> Table:
        """Return one row for each text, with its traceback, and what all of its kind share."""
        rows: list[tuple[object, ...]] = []
        for kind in error_kinds(self.history, self.period):
            of_kind = (kind.last["kind"], kind.n_tasks, kind.last["kind_first"])
            for text, tasks in kind.texts.items():
                last, n_again = tasks[0], sum(task["is_attempt"] for task in tasks)
                workers = ", ".join(_addresses(tasks))
                failed = (text, len(tasks) - n_again, last["time"], last["prefix"], workers)
                rows.append((*failed, n_again, last["key"], last["traceback"], *of_kind))
        columns = {name: [row[at] for row in rows] for at, name in enumerate(TABLE)}
        return Table(columns, {"time": MOMENT, "kind_first": MOMENT})

    def _workers(self, kind: ErrorKind) -> str:
        """Return the names of the workers it happened on, and how many more there are."""
        addresses = _addresses(kind.tasks)
        names = [shown_name(worker_label(self.history, each), 40) for each in addresses]
        shown, n_more = ", ".join(names[:WORKERS_SHOWN]), len(names) - WORKERS_SHOWN
        return f"{shown} and {n_more} more" if n_more > 0 else shown

    def _details(self, kind: ErrorKind) -> str:
        """Return who failed, where and when, the last traceback, and the other texts."""
        last, first = kind.last, fmt.clock(kind.last["kind_first"])
        on = "lately on" if kind.n_not_kept else "on"
        failed = f"{fmt.plural(kind.n_tasks, 'task')} failed {on} {self._workers(kind)}"
        line = [
            f"{shown_name(last['prefix'], 40)}: {failed}",
            f"{fmt.plural(kind.n_attempts, 'attempt')} run again" if kind.n_attempts else "",
            f"{first} to {fmt.clock(last['time'])}",
            f"last: {shown_name(last['key'], 80)}",
        ]
        others = [shown_name(text, _OTHER) for text in kind.texts][1 : TEXTS_SHOWN + 1]
        parts = [
            " · ".join(filter(None, line)),
            f"{last['traceback']}\n{last['exception']}".strip("\n"),
            "\n".join([f"{kind.other_texts}:", *others]) if kind.other_texts else "",
        ]
        return "\n\n".join(filter(None, parts))


def _addresses(tasks: Sequence[Task]) -> list[str]:
    """Return the workers that tasks failed on, the last one first."""
    return list(dict.fromkeys(address for task in tasks for address in task["workers"]))
