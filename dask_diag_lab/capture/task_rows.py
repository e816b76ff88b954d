"""A stretch of the action log, copied out of the history by cursor.

Must not talk to anybody; what takes the session runs on the loop that this belongs to.
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from math import inf, isfinite
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgpack
import numpy as np
import numpy.typing as npt

from dask_diag_lab.schema import Kind, Outcome
from dask_diag_lab.views.view import parse_time

if TYPE_CHECKING:
    from dask_diag_lab.store import LiveSession

# Copying so many takes about 10 ms, for which every plot waits.
ROWS_AT_ONCE: Final = 20_000

# For answers of the diagnostics: a scheduler that takes in a large graph is silent for long.
TIMEOUT_S: Final = 60.0

# `distributed`'s name of each `Kind`.
ACTIONS: Final = tuple(kind.name.lower().replace("_", "-") for kind in Kind)

STATUS: Final = {Outcome.OK: "OK", Outcome.ERRED: "error", Outcome.KILLED: "killed"} | {
    Outcome.RETRIED: "error"
}

Columns = Mapping[str, npt.NDArray[Any]]  # dtypes differ from column to column
# Seconds since the epoch, or a text for `parse_time`, such as ``"60s"``: so long before now.
Moment = float | str


Ask = Callable[[Callable[["LiveSession"], "TaskRows"]], "TaskRows"]


class Position(NamedTuple):
    """How far the log was at a moment, and how many actions were lost before."""

    cursor: int
    dropped: int


@dataclass(frozen=True, slots=True)
class TaskRows:
    """Actions in order of arrival, with all that is needed to read them without the history.

    Attributes
    ----------
    columns : mapping of str to ndarray
        Those of `schema.tables.ACTIONS`, with the numbers of the history.
    texts, keys : mapping of int to str
        The text of each string id, and the key of each task, in ``columns``.
    details : mapping of int to bytes
        `Batch.details` of these tasks.
    cursor : int
        Where to go on.
    """

    columns: Columns
    texts: Mapping[int, str]
    keys: Mapping[int, str]
    details: Mapping[int, bytes]
    cursor: int

    def __len__(self) -> int:
        return len(self.columns["start"])


def position(live: LiveSession) -> Position:
    """Return how far the log is."""
    return Position(live.history.actions.total, live.history.actions.dropped)


def find_tasks(
    live: LiveSession, start: Moment | None, stop: Moment | None, count: int | None
) -> tuple[int, int]:
    """Return between which cursors the actions of some tasks are.

    Parameters
    ----------
    start, stop : float or str, optional
        Tasks that ended from one time on, and before the other, by the scheduler's clock.
    count : int, optional
        Of these so many: the first after ``start`` or, without one, the last. As `distributed` has
        it, not obeyed where both ``start`` and ``stop`` are given.

    Raises
    ------
    TypeError, ValueError
        A time that is none.
    """
    log = live.history.actions

    def task_at(moment: Moment | None, otherwise: float) -> int:
        if isinstance(moment, str):  # seconds before now, where a number is all that it has
            is_number = moment.replace(".", "", 1).isdecimal()
            moment = parse_time(f"{moment}s" if is_number else moment, live.time)
        return log.first("stop", otherwise if moment is None else float(moment))[1]

    first, end = task_at(start, -inf), task_at(stop, inf)
    if count is not None and start is None:
        first = max(first, end - count)
    elif count is not None and stop is None:
        end = min(end, first + count)
    cursor = log.first("task", first)[0]
    return cursor, max(cursor, log.first("task", end)[0])


def capture_rows(live: LiveSession, cursor: int, stop: int) -> TaskRows:
    """Return some of the actions from ``cursor`` on, none from ``stop`` on."""
    cursor, found = live.history.actions.since(cursor, min(stop - cursor, ROWS_AT_ONCE))
    tasks = np.unique(found["task"])
    ids = np.concatenate([found[name] for name in ("worker", "source", "prefix", "type")])
    details = live.history.actions.details
    return TaskRows(
        found,
        {i: live.history.strings[i] for i in np.unique(ids).tolist()},
        dict(zip(tasks.tolist(), live.history.actions.keys(tasks).tolist(), strict=True)),
        {task: details[task] for task in details.keys() & set(tasks.tolist())} if details else {},
        cursor,
    )


def between(ask: Ask, cursor: int, stop: int) -> TaskRows:
    """Return what was recorded from one cursor on, and before another, copied in parts.

    Parameters
    ----------
    ask : callable
        Takes a function of the session, returns what that returned on its loop.
    """
    parts: list[TaskRows] = []
    while not parts or cursor < stop:
        parts.append(ask(partial(capture_rows, cursor=cursor, stop=stop)))
        cursor = parts[-1].cursor
    return TaskRows(
        {name: np.concatenate([p.columns[name] for p in parts]) for name in parts[0].columns},
        {i: text for part in parts for i, text in part.texts.items()},
        {task: key for part in parts for task, key in part.keys.items()},
        {task: packed for part in parts for task, packed in part.details.items()},
        parts[-1].cursor,
    )


def as_records(rows: TaskRows) -> Iterator[dict[str, Any]]:  # `distributed`'s records are untyped
    """Yield one record a task, in `distributed`'s form.

    See Also
    --------
    dask_diag_lab.capture.task_stream.TaskStreamCapture : what is in a record.
    """
    columns = {name: column.tolist() for name, column in rows.columns.items()}
    for _, group in groupby(range(len(rows)), key=columns["task"].__getitem__):
        of_task = list(group)
        first = of_task[0]
        record = {
            "key": key_of(rows.keys[columns["task"][first]]),
            "worker": rows.texts[columns["worker"][first]],
            "thread": columns["thread"][first],
            "status": STATUS[columns["outcome"][first]],
            "startstops": tuple(_action(rows, columns, row) for row in of_task),
        }
        if columns["nbytes"][first] >= 0:
            record |= {"nbytes": columns["nbytes"][first], "metadata": {}}
        if text := rows.texts[columns["type"][first]]:
            record["typename"], _, pickled = text.partition(" ")
            record |= {"type": bytes.fromhex(pickled)} if pickled else {}
        last = max(of_task, key=columns["stop"].__getitem__)
        if isfinite(reported := columns["stop"][last] + columns["report_delay"][last]):
            record["stimulus_id"] = f"task-finished-{reported}"
        if packed := rows.details.get(columns["task"][first]):
            record |= msgpack.unpackb(packed, use_list=False, strict_map_key=False)
        yield record


def _action(
    rows: TaskRows, columns: Mapping[str, list[Any]], row: int
) -> dict[str, Any]:  # text and numbers
    names = {"start": columns["start"][row], "stop": columns["stop"][row]}
    action = {"action": ACTIONS[columns["kind"][row]], **names}
    if columns["kind"][row] == Kind.TRANSFER and (source := rows.texts[columns["source"][row]]):
        action["source"] = source
    return action


def key_of(text: str) -> Any:  # a str or a tuple of str and numbers
    """Return the key that has this text: tuples of text and numbers are tuples again."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    try:
        key = literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    return key if isinstance(key, tuple) and str(key) == text else text
