"""What tasks and workers are called, and what is said of events and without workers.

Names may be any text at all. Knows the history; knows nothing of Bokeh.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import takewhile
from math import inf
from typing import TYPE_CHECKING, Any, Final

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.look import Look, data_colors

if TYPE_CHECKING:
    from dask_diag_lab.store import History, LiveSession
    from dask_diag_lab.views.view import View

# --- tasks, groups and prefixes

BLANK: Final = "(blank)"


def shown_name(name: str, width: int | None = None) -> str:
    """Return a name with a sign for each character that cannot be seen, `BLANK` for no others.

    Line breaks would break a label, and others turn the direction of what follows. Prefixes are as
    Dask cuts them out of keys (``dask.utils.key_split``): a key may have one that its author never
    wrote.

    Parameters
    ----------
    name : str
    width : int, optional
        Characters that fit; the middle of a longer name gives way to an ellipsis.
    """
    text = "".join(c if c.isprintable() else "\ufffd" for c in name)
    if not text.strip(" \ufffd"):
        return BLANK
    return text if width is None else fmt.elide(text, width)


# --- workers

LEFT: Final = " (left)"
"""Follows the name of a worker that is not there any more."""


def readable_name(name: str) -> str:
    """Return a worker's name as people read it: workers without one are called by an address."""
    return name.rpartition("://")[2] or name


def worker_name(history: History, address: str) -> str:
    """Return the name of one worker, marked when it is gone; an address never seen stays one."""
    name = history.slots.names.get(address)
    if name is None:
        return readable_name(address)
    return readable_name(name) + LEFT * (address not in history.workers)


def known_names(history: History) -> dict[str, str]:
    """Return `worker_name` of all workers ever seen, by address: first those there are."""
    workers, seen = history.workers, history.slots.names.items()
    there = dict(zip(workers.address, map(readable_name, workers.name), strict=True))
    return there | {a: readable_name(name) + LEFT for a, name in seen if a not in there}


def in_order(found: set[str], names: Mapping[str, str]) -> list[str]:
    """Return addresses in the order of `known_names`; last, those that nobody knows."""
    return [*(address for address in names if address in found), *sorted(found - names.keys())]


def name_label(name: str) -> str:
    """Return a worker's name as it stands by itself or among other words.

    A bare number says of nobody that it is a worker: ``0`` is written ``worker 0``. Other names
    stay as they are. Only beside the word, such as under a heading or along an axis that says
    "worker", `readable_name` is enough.
    """
    name = readable_name(name)
    return f"worker {name}" if name.removesuffix(LEFT).isdecimal() else name


def worker_label(history: History, address: str) -> str:
    """Return `worker_name` as it stands among other words, such as ``worker 0``."""
    return name_label(worker_name(history, address))


def open_worker(view: View, address: str) -> None:
    """Open the page of a worker, if it is still there."""
    if address in view.history.workers:
        view.open("worker", worker=address)


def worker_options(history: History, chosen: str) -> list[tuple[str, str]]:
    """Return address and label of the workers to choose from; last, one chosen that is gone."""
    addresses = filter(None, dict.fromkeys([*history.workers.address, chosen]))
    return [(address, fmt.elide(worker_label(history, address), 60)) for address in addresses]


NO_DATA: Final = "Waiting for the first data of this cluster."
NO_WORKERS: Final = "This cluster has no workers. Add some with cluster.scale(4)."


def no_workers(history: History) -> str:
    """Return why no worker is there, and what to do."""
    return NO_DATA if history.scheduler is None else NO_WORKERS


# --- events: in words, and in which row of the timeline they are shown

Detail = Mapping[str, Any]  # as in `history.events`: whatever `distributed` logged
Names = Mapping[str, str]

ROWS: Final = {
    "Workers came": ("triangle", "load_saturated"),
    "Workers left": ("inverted_triangle", "gone"),
    "Workers died": ("square_x", "memory_over"),
    "Paused": ("square", "memory_near"),
    "Spill": ("square_dot", "spilled"),
    "Failed tasks": ("circle_x", "erred"),
    "Failed attempts": ("circle_y", "retried"),
    "Stealing": ("diamond", "load_normal"),
    "Graphs": ("circle", "accent"),
    "Cluster": ("star", "foreground"),
}
"""Rows of the timeline from the top: marker, and colour as attribute of `DataColors` or `Look`."""

KINDS: Final = {
    "worker-added": ("Workers came", "worker {worker} came with {threads}"),
    "worker-removed": ("Workers left", "worker {worker} left{cause}{lost_tasks}"),
    "worker-killed": ("Workers died", "worker {worker} died{cause}{lost_tasks}"),
    "worker-paused": ("Paused", "worker {worker} paused: its memory is over the pause threshold"),
    "worker-resumed": ("Paused", "worker {worker} goes on"),
    "spill-began": ("Spill", "worker {worker} began to spill to disk{size}"),
    "spill-ended": ("Spill", "worker {worker} has no data on disk any more"),
    "task-erred": ("Failed tasks", "{tasks} of {prefix} failed, last on worker {worker}"),
    "task-retried": (
        "Failed attempts",
        "{attempts} of {prefix} run again, last on {worker}",
    ),
    "steal-burst": ("Stealing", "{tasks} moved to another worker"),
    "update-graph": ("Graphs", "{graphs} of {new_tasks} submitted by {client}"),
    "recording-began": ("Cluster", "recording began"),
    "not-recorded": ("Cluster", "nobody recorded what was done for a while"),
    "restart": ("Cluster", "the cluster was restarted"),
}
"""Row and text of each kind of event; others go to the last row."""

RECENT_S: Final = 600.0
"""So long a death stands beside what it explains; Events has it for good."""

ROW_OF: Final = {kind: list(ROWS).index(row) for kind, (row, _) in KINDS.items()}
_FIELD: Final = re.compile(r"\{(\w+)\}")


def row_colors(row: str, look: Look) -> tuple[str, str]:
    """Return fill and outline of the marks of a row."""
    colors, name = data_colors(look), ROWS[row][1]
    fill: str = getattr(look, name) if hasattr(look, name) else getattr(colors, name)
    erred = colors.erred_mark if look.is_dark else colors.transfer
    return fill, {"Failed tasks": erred, "Workers died": look.foreground}.get(row, fill)


def number_of(detail: Detail) -> int:
    """Return how many things an event stands for: bursts are one event with a number."""
    number = detail.get("count", detail.get("graphs", 1))
    return max(int(number), 1) if isinstance(number, int | float) else 1


def describe(kind: str, detail: Detail, names: Names) -> str:
    """Return an event as a sentence without its time.

    Parameters
    ----------
    kind : str
    detail : mapping
    names : mapping of str to str
        Names of workers by address.
    """
    if kind not in KINDS:
        return shown_name(kind.replace("-", " "), 120)
    return _FIELD.sub(lambda field: _FIELDS[field[1]](detail, names), KINDS[kind][1])


def losses(
    live: LiveSession, begin: float | None = None, end: float = inf, *, has_clock: bool = True
) -> tuple[int, str, float]:
    """Return how many workers died between two times; a sentence about the last and its time.

    0, '' and 0 for none. Without a begin, in seconds since the epoch, it is those of the last
    `RECENT_S`. The sentence has the time of day where ``has_clock``.
    """
    since = live.time - RECENT_S if begin is None else begin
    late = takewhile(lambda event: event[0] >= since, reversed(live.history.events.rows))
    died = [
        (time, detail) for time, kind, detail in late if kind == "worker-killed" and time <= end
    ]
    if not died:
        return 0, "", 0.0
    (time, detail), first = died[0], died[-1][0]
    who = _worker(detail, live.history.slots.names)
    within = f" · {len(died)} workers died within {fmt.duration(time - first)}"
    at = f" at {fmt.clock(time)}" if has_clock else ""
    text = f"worker {who} died{at}{_cause(detail, {})}"
    return len(died), text + within * (len(died) > 1), time


def _worker(detail: Detail, names: Names) -> str:
    address, name = str(detail.get("worker", "")), detail.get("name")
    called = names.get(address, address) if name in (None, "") else str(name)  # may be number 0
    return shown_name(readable_name(called) or "unknown", 60)


def _number(noun: str, name: str = "") -> Callable[[Detail, Names], str]:
    """Return what writes a number of the details; without ``name`` that of `number_of`."""
    return lambda detail, _: fmt.plural(
        int(detail.get(name) or 0) if name else number_of(detail), noun
    )


def _text(name: str) -> Callable[[Detail, Names], str]:
    return lambda detail, _: shown_name(str(detail.get(name, "")), 80)


def _cause(detail: Detail, _: Names) -> str:
    cause = detail.get("cause")
    return f": {shown_name(str(cause), 200)}" if cause else ""


def _optional(name: str, write: Callable[[float], str]) -> Callable[[Detail, Names], str]:
    """Return what writes a number of the details that is not there or 0 in most events."""
    return lambda detail, _: write(float(detail[name])) if detail.get(name) else ""


_FIELDS: Final[Mapping[str, Callable[[Detail, Names], str]]] = {
    "worker": _worker,
    "threads": _number("thread", "nthreads"),
    "cause": _cause,
    "lost_tasks": _optional("lost_tasks", lambda n: f"; {fmt.plural(int(n), 'task')} ran on it"),
    "size": _optional("nbytes", lambda nbytes: f": {fmt.binary(nbytes)}"),
    "tasks": _number("task"),
    "attempts": _number("attempt"),
    "prefix": _text("prefix"),
    "graphs": _number("graph"),
    "new_tasks": _number("new task", "tasks"),
    "client": _text("client"),
}
"""What stands in the texts of `KINDS`."""
