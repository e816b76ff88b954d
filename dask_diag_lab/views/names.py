"""What tasks, spans and workers are called, and what is said while there are no workers.

Names may be any text at all. Knows the history; knows nothing of Bokeh.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from dask_diag_lab.views import format as fmt

if TYPE_CHECKING:
    from dask_diag_lab.store import History
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


# --- spans


def distinct(names: Sequence[str], starts: Sequence[float], unbegun: Sequence[str]) -> list[str]:
    """Return the name of each span, with when it began where others have that name.

    Parameters
    ----------
    names : sequence of str
    starts : sequence of float
        Seconds since the epoch; NaN where a span has not begun.
    unbegun : sequence of str
        What to say where there is no time; see `without_start`.
    """
    number = Counter(names)
    began = [fmt.clock(s) if math.isfinite(s) else w for s, w in zip(starts, unbegun, strict=True)]
    return [
        f"{name} · {text}" if number[name] > 1 else name
        for name, text in zip(names, began, strict=True)
    ]


def without_start(n_left: int, n_erred: int) -> str:
    """Return what to say of a span without a start, by its tasks left and erred.

    `distributed` knows when a task began only if it gave a result, so of a span whose tasks all
    failed nobody can tell whether any of them ran.
    """
    if n_left:
        return "not begun"
    return "failed" if n_erred else "never ran"


# --- workers

LEFT: Final = " (left)"
"""Follows the name of a worker that is not there any more."""


def readable_name(name: str) -> str:
    """Return a worker's name as people read it: workers without one are called by an address."""
    return name.rpartition("://")[2] or name


def worker_name(history: History, address: str) -> str:
    """Return the name of one worker, marked when it is gone; an address never seen stays one."""
    name = history.seen_workers.names.get(address)
    if name is None:
        return readable_name(address)
    return readable_name(name) + LEFT * (address not in history.workers)


def known_names(history: History) -> dict[str, str]:
    """Return `worker_name` of all workers ever seen, by address: first those there are."""
    workers, seen = history.workers, history.seen_workers.names.items()
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
NO_WORKERS: Final = "This cluster has no workers yet. Add some with cluster.scale(4)."


def no_workers(history: History) -> str:
    """Return why no worker is there, and what to do.

    When the last one left is said as a time of day: while nothing changes nothing is drawn
    anew, and a duration would soon be wrong.
    """
    if history.scheduler is None:
        return NO_DATA
    times, threads = history.nthreads.times, history.nthreads.values
    if not threads.any():
        return NO_WORKERS
    ended = "" if threads[-1] else f": the last one left at {fmt.clock(times[-1])}"
    return f"No workers now{ended}. Add some with cluster.scale(4)."
