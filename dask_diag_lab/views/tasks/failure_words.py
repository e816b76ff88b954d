"""What Exceptions says of one kind of failures, whose texts may differ from task to task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from math import isfinite
from typing import Final

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.shown_name import shown_name
from dask_diag_lab.views.tasks.failures import FailureKind
from dask_diag_lab.views.worker_names import readable_name

WORKERS_SHOWN: Final = 3
TEXTS_SHOWN: Final = 20
_EXAMPLE: Final = 80
"""Characters of a text in a row, where others have to be told of as well."""
_OTHER: Final = 200
"""Characters of the other texts, a line each below the traceback."""


def row(kind: FailureKind) -> str:
    """Return the last text, and how many others there are."""
    text, others = kind.last.exception, _others(kind)
    return f"{shown_name(text, _EXAMPLE)} {others}" if others else shown_name(text)


def workers(kind: FailureKind, name_of: Callable[[str], str]) -> str:
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


def line(kind: FailureKind, name_of: Callable[[str], str]) -> str:
    """Return one line of who failed, where and when."""
    tasks = fmt.plural(kind.n_tasks, "task")
    on = "on" if kind.knows_all_workers else "lately on"
    place = f" {on} {workers(kind, name_of)}" if kind.workers else ""
    key = f" · last: {shown_name(kind.last.last_key, 80)}" if kind.last.last_key else ""
    said = f"{shown_name(kind.last.prefix, 40)}: {tasks} failed{place}"
    return " · ".join(filter(None, (said, _when(kind)))) + key


def details(kind: FailureKind) -> str:
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
