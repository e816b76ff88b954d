"""The tasks that failed: a row for each kind of error, with the whole traceback at a click."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Final

from bokeh.models import Column as Stack
from bokeh.models.widgets import PreText

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.data import Column
from dask_diag_lab.views.figure import set_properties, smaller
from dask_diag_lab.views.look import LIGHT, Look
from dask_diag_lab.views.registry import register_plot
from dask_diag_lab.views.shown_name import shown_name
from dask_diag_lab.views.tables import SortableTable
from dask_diag_lab.views.tasks.failures import (
    OLDER,
    OLDER_TEXTS,
    Failure,
    FailureCounts,
    FailureKind,
    kinds_of,
)
from dask_diag_lab.views.view import Caption, Control, Table, View
from dask_diag_lab.views.worker_names import readable_name, worker_in_words

if TYPE_CHECKING:
    from bokeh.models.ui import UIElement

    from dask_diag_lab.store import Store

NO_FAILURES: Final = "No task has failed."
WAITING: Final = "Waiting for the scheduler's answer."

COLUMNS: Final = (
    Column("exception", "Exception", "text", width=148),
    Column("tasks", "Tasks", "number", width=50),
    Column("time", "Last", "time", width=66),
    Column("prefix", "Function", "text", width=84),
    Column("workers", "Workers", "text", width=68),
)
WORKERS_SHOWN: Final = 3
TEXTS_SHOWN: Final = 20
_EXAMPLE: Final = 80
"""Characters of a text in a row, where others have to be told of as well."""
_OTHER: Final = 200
"""Characters of the other texts, a line each below the traceback."""
_NAME_CHARACTERS: Final = 40

_TRACEBACK_CSS: Final = """
:host {{
  overflow: auto; padding: 8px; border-top: 1px solid {grid};
  background: {background}; color: {foreground};
}}
pre {{
  margin: 0; overflow: visible !important; white-space: pre-wrap; overflow-wrap: anywhere;
  user-select: text; font: {font_size} ui-monospace, Menlo, Consolas, monospace;
}}
"""


@register_plot
class Exceptions(View):
    """A table of errors, and below it what is known of the one that was clicked."""

    name = "exceptions"
    title = "Exceptions"
    group = "Tasks"
    description = "Tasks that failed: how many, where, and with which error."
    help = (
        "One row for each function and kind of error, that is one type raised at one place, "
        "which counts its tasks and has their last text.\n"
        "- other texts: errors of that kind that say something else, such as another number; "
        "up to so many where not all are kept\n"
        "- click a row: the whole traceback, when the first and the last one failed, the other "
        "texts, and the way to the page of the task that failed last\n"
        "- table: a row for each text that is kept, with its traceback\n"
        "- healthy: no rows\n"
        "- one worker in every row: something is wrong with that machine\n"
        "- KilledWorker: the workers died while they ran the task, most often for want of "
        "memory\n"
        "- what counts: all that failed since the diagnostics came, also before a restart of "
        "the cluster; a task that fails again counts again, and so does each attempt of one that "
        "is run again. The status bar counts only what is "
        "erred on the scheduler now\n"
        "- fewer tasks than are erred in Progress: the others never ran, since something that "
        "they need failed; they have no error of their own\n"
        "- how long: the last 100 different texts are kept, each with its last tasks, and "
        "those of the kind that has most go first; all are counted"
    )
    keywords = ("errors", "erred", "failed", "traceback", "failures", "killed", "crash")

    reads = ("errors", "actions", "workers", "seen_workers")

    def __init__(
        self, store: Store, look: Look = LIGHT, arguments: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(store, look, arguments)
        self.kinds: list[FailureKind] = []
        self._counts = FailureCounts()
        self._chosen: tuple[str, str, str] | None = None

    # --- the picture

    def build(self) -> UIElement:
        """Return the table and the place for a traceback; see `View.build`."""
        self.rows = SortableTable(self.look, COLUMNS, on_click=self.choose)
        self.details = PreText(text="", sizing_mode="stretch_both", margin=0, visible=False)
        self._root = Stack(
            children=[self.rows.model, self.details], sizing_mode="stretch_both", spacing=0
        )
        self._style()
        return self._root

    def restyle(self) -> None:
        """Apply `look`; see `View.restyle`."""
        self.rows.restyle(self.look)
        self._style()
        self.update()

    def _style(self) -> None:
        look = self.look
        set_properties(self._root, styles={"background-color": look.background})
        css = _TRACEBACK_CSS.format(
            background=look.background,
            foreground=look.foreground,
            grid=look.grid,
            font_size=smaller(look.font_size),
        )
        set_properties(self.details, stylesheets=[css])

    # --- keeping it up to date

    def update(self) -> None:
        """Read on, and draw what differs; see `View.update`."""
        self._counts.read(self.store)
        super().update()

    def state(self) -> object:
        """Return what is chosen and known; see `View.state`."""
        is_settled = self._counts.are_settled(self.store)
        return is_settled, self.store.left_out.get("errors", 0), self._chosen

    def draw(self) -> None:
        """Show the errors and the chosen one; see `View.draw`."""
        kinds = self.kinds = kinds_of(self.store, self._counts)
        chosen = next((kind for kind in kinds if _name(kind) == self._chosen), None)
        self.rows.set(
            {
                "exception": [_row(kind) for kind in kinds],
                "tasks": [kind.n_tasks for kind in kinds],
                "time": [kind.last.time for kind in kinds],
                "prefix": [shown_name(kind.last.prefix) for kind in kinds],
                "workers": [_workers(kind, self._name_of) for kind in kinds],
            },
            [self.look.accent if kind is chosen else None for kind in kinds],
        )
        text = f"{_line(chosen, self._name_of)}\n\n{_details(chosen)}" if chosen else ""
        set_properties(self.details, text=text, visible=chosen is not None)
        self.caption = self._caption_now(chosen)

    def _caption_now(self, chosen: FailureKind | None) -> Caption:
        if not self.kinds:
            is_known = self.store.extras["errors"].is_known
            return Caption(empty=NO_FAILURES if is_known else WAITING)
        notes = []
        if again := sum(kind.n_attempts for kind in self.kinds):
            notes.append(f"{fmt.plural(again, 'attempt')} counted whose task was run again")
        if dropped := self.store.left_out.get("errors", 0):
            notes.append(f"{fmt.plural(dropped, 'older failure')} of other errors not kept")
        if cut := sum(kind.n_not_kept for kind in self.kinds):
            notes.append(f"texts of {fmt.plural(cut, 'older failure')} not kept")
        if unknown := sum(kind.n_tasks for kind in self.kinds if _is_unknown(kind)):
            notes.append(f"no details of {fmt.plural(unknown, 'failure')}")
        if killed := self._counts.killed:
            # No heartbeat names a run that ends its worker within a moment.
            notes.append(f"at least {fmt.plural(killed, 'run')} lost with a worker that died")
        controls = [
            *(
                [Control("task", "button", "Open the task")]
                if chosen and chosen.last.last_key
                else []
            ),
            *([Control("close", "button", "Close")] if chosen else []),
        ]
        failed = fmt.plural(sum(kind.n_tasks for kind in self.kinds), "failed task")
        kinds = fmt.plural(len(self.kinds), "kind")
        return Caption(
            headline=f"{failed}, {kinds} of error", note="; ".join(notes), controls=controls
        )

    # --- what a reader does

    def choose(self, index: int) -> None:
        """Show the traceback of one row, by its place in `kinds`."""
        self._chosen = _name(self.kinds[index])
        self.update()

    def command(self, verb: str) -> None:
        """``clear`` closes the traceback; see `View.command`."""
        if verb == "clear":
            self._chosen = None
            self.update()

    def set_control(self, name: str, value: str) -> None:
        """Open the page of the task that failed last, or close the traceback."""
        del value
        if name == "close":
            self.command("clear")
        elif name == "task":
            keys = [kind.last.last_key for kind in self.kinds if _name(kind) == self._chosen]
            if keys and keys[0]:
                self.open("task", key=keys[0])

    def _name_of(self, address: str) -> str:
        return shown_name(worker_in_words(self.store, address), _NAME_CHARACTERS)

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
            "attempts": [failure.n_attempts for _, failure in rows],
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


def _row(kind: FailureKind) -> str:
    """Return the last text, and how many others there are."""
    text, others = kind.last.exception, _others(kind)
    return f"{shown_name(text, _EXAMPLE)} {others}" if others else shown_name(text)


def _workers(kind: FailureKind, name_of: Callable[[str], str]) -> str:
    """Return the names of the workers it happened on, and how many more there are.

    One that came back under its name after it died has another address, which tells them apart.
    """
    addresses = kind.workers
    names = {address: name_of(address) for address in addresses[:WORKERS_SHOWN]}
    times = Counter(names.values())
    shown = ", ".join(
        f"{name} at {shown_name(readable_name(address))}" if times[name] > 1 else name
        for address, name in names.items()
    )
    n_more = len(addresses) - WORKERS_SHOWN
    return f"{shown} and {n_more} more" if n_more > 0 else shown


def _line(kind: FailureKind, name_of: Callable[[str], str]) -> str:
    """Return one line of who failed, where and when."""
    tasks = fmt.plural(kind.n_tasks, "task")
    on = "on" if kind.knows_all_workers else "lately on"
    place = f" {on} {_workers(kind, name_of)}" if kind.workers else ""
    key = f" · last: {shown_name(kind.last.last_key, 80)}" if kind.last.last_key else ""
    again = f"{fmt.count(kind.n_attempts)} of them run again" if kind.n_attempts else ""
    said = f"{shown_name(kind.last.prefix, 40)}: {tasks} failed{place}"
    return " · ".join(filter(None, (said, again, _when(kind)))) + key


def _details(kind: FailureKind) -> str:
    """Return the last traceback with its text, and the other texts below."""
    last = kind.last
    text = f"{last.traceback}\n{last.exception}" if last.traceback else last.exception
    return "\n\n".join(filter(None, (text.strip("\n"), _other_texts(kind))))


def _others(kind: FailureKind) -> str:
    """Return ``and other texts (4)``, which says no less where it is cut off; '' for none."""
    if not kind.n_other_texts:
        return ""
    # One that is not kept may have been equal to another one.
    most = "up to " if kind.n_not_kept else ""
    return f"and other texts ({most}{fmt.count(kind.n_other_texts)})"


def _when(kind: FailureKind) -> str:
    if not isfinite(kind.first):
        return ""
    first, last = fmt.clock(kind.first), fmt.clock(kind.last.time)
    return first if first == last else f"{first} to {last}"


def _other_texts(kind: FailureKind) -> str:
    others = kind.failures[1:]
    if not others:
        return _others(kind)
    shown = [shown_name(failure.exception, _OTHER) for failure in others[:TEXTS_SHOWN]]
    are_all = len(shown) == kind.n_other_texts
    which = "" if are_all else f", the last {fmt.count(len(shown))}"
    return "\n".join([f"{_others(kind)}{which}:", *shown])
