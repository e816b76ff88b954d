"""What a task stream says below its picture and above its table: merged, hidden, lost or late.

From numbers to text; draws nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from enum import IntEnum
from typing import TYPE_CHECKING, Final

from dask_diag_lab.views.format import count, duration, plural
from dask_diag_lab.views.text_room import text_px

if TYPE_CHECKING:
    from dask_diag_lab.store import Store
    from dask_diag_lab.store.lod import LevelOfDetail
    from dask_diag_lab.views.stream.likeness import Unlike

_DOT: Final = " · "
_LEFT_OUT: Final = {
    "before": ("task", "ended before recording began"),
    "names": ("task", "shown as (other): too many different names"),
    "addresses": ("task", "in the row (other): too many different workers"),
    "running": ("running task", "not shown: too many at once"),
}
_LEFT_OUT_SHORT: Final = _LEFT_OUT | {"before": ("task", "not recorded")}
_LEFT_OUT_TABLE: Final = _LEFT_OUT | {
    "addresses": ("task", "of the worker (other): too many different workers")
}


class _Length(IntEnum):
    """How much is said of the picture."""

    SHORT = 0
    PLAIN = 1
    WITH_ADVICE = 2


def picture_note(
    store: Store,
    centre: LevelOfDetail,
    likeness: Unlike,
    rows: tuple[int, int, int],
    n_hidden: int,
    estimate: str,
    room_px: float,
    font_px: float,
    *,
    is_short: bool,
) -> str:
    """Return what was merged, hidden, lost or is late, '' when nothing was.

    Where not all fits, whole clauses go: what can be done about it first, what was lost never.

    Parameters
    ----------
    store : Store
    centre : LevelOfDetail
    likeness : Unlike
        What is not drawn as large as it was.
    rows : (first, last, n)
        Visible rows, counted from 1, and how many there are.
    n_hidden : int
        Workers without rows.
    estimate : str
        What the ends of transfers go by; '' for nothing.
    room_px, font_px : float
        Of the line that it should fit into.
    is_short : bool
        The pane is too small for more than the least.
    """

    def of_picture(length: _Length) -> list[str]:
        return [
            *_hidden(rows, n_hidden, length),
            *_merged(store, centre, length),
            *_likeness(likeness, length),
        ]

    lost = _lost(store, _LEFT_OUT_SHORT if is_short else _LEFT_OUT)
    said = (
        _DOT.join(filter(None, (*clauses, *lost)))
        for clauses in _tries(of_picture, estimate, is_short)
    )
    return next((note for note in said if text_px(note, font_px) <= room_px), _DOT.join(lost))


def _tries(
    of_picture: Callable[[_Length], list[str]], estimate: str, is_short: bool
) -> Iterator[list[str]]:
    """Return what is said of the picture in ever fewer clauses."""
    if not is_short:
        full = of_picture(_Length.WITH_ADVICE)
        yield [*full, estimate]
        yield full
        yield of_picture(_Length.PLAIN)
    few = of_picture(_Length.SHORT)
    for n in range(len(few), -1, -1):
        yield few[:n]


def table_note(store: Store, left_out: str) -> str:
    """Return what is not in the table, or not as it was; '' when nothing is left out.

    Parameters
    ----------
    store : Store
    left_out : str
        What of the recorded actions has no row; see `history`.
    """
    return _DOT.join(filter(None, (left_out, *_lost(store, _LEFT_OUT_TABLE))))


def _merged(store: Store, centre: LevelOfDetail, length: _Length) -> list[str]:
    """Return how many actions are drawn as how many blocks."""
    if not centre.resolution_s:
        return []
    if length == _Length.SHORT:
        return [f"{plural(centre.total, 'action')} in {plural(len(centre), 'block')}"]
    kept = store.actions.count
    of_all = f" of {count(kept)}" if kept > centre.total else ""
    advice = "; zoom in to see each" if length == _Length.WITH_ADVICE else ""
    closer = f"those closer than {duration(centre.resolution_s)}"
    blocks = f"{count(len(centre))} blocks"
    return [f"{count(centre.total)}{of_all} actions, {closer} merged into {blocks}{advice}"]


def _likeness(likeness: Unlike, length: _Length) -> list[str]:
    """Return what is too short to be seen, and what is widened so that it can be."""
    is_short = length == _Length.SHORT
    parts = []
    if likeness.faint and not is_short:
        what = "transfer or disk access" if likeness.faint == 1 else "transfers or disk accesses"
        parts.append(f"{count(likeness.faint)} {what} too short to see")
    some = {"failed": likeness.marked, "short": likeness.widened}
    whose = [f"{count(n)} {what}" for what, n in some.items() if n]
    if whose and is_short:
        parts.append(f"{count(sum(some.values()))} drawn wider")
    elif whose:
        noun = "task" if sum(some.values()) == 1 else "tasks"
        parts.append(f"{' and '.join(whose)} {noun} drawn wider")
    return parts


def _hidden(rows: tuple[int, int, int], n_hidden: int, length: _Length) -> list[str]:
    """Return which rows are out of sight, and how many workers have none."""
    first, last, n_rows = rows
    parts = []
    if last - first + 1 < n_rows:
        more = ", scroll for more" if length == _Length.WITH_ADVICE else ""
        parts.append(f"rows {count(first)}–{count(last)} of {count(n_rows)}{more}")
    if n_hidden and length != _Length.SHORT:
        parts.append(f"{plural(n_hidden, 'more worker')} had no part in this stretch of time")
    return parts


def _lost(store: Store, left_out: dict[str, tuple[str, str]]) -> list[str]:
    """Return what was not recorded, or is not kept as it was."""
    parts = [_gap(*store.gaps[-1])] if store.gaps else []
    if store.actions.dropped:
        parts.append(f"{plural(store.actions.dropped, 'action')} lost: the collector was overrun")
    if store.actions.evicted:
        parts.append(f"the oldest {plural(store.actions.evicted, 'action')} given up")
    parts += [
        f"{plural(store.left_out[bound], noun)} {words}"
        for bound, (noun, words) in left_out.items()
        if store.left_out.get(bound)
    ]
    return [*parts, store.degraded] if store.degraded else parts


def _gap(begin: float, end: float) -> str:
    """Return since when and until when nobody recorded, by the clock on this machine's wall."""
    days = [time.strftime("%Y-%m-%d", time.localtime(at)) for at in (begin, time.time())]
    form = "%H:%M:%S" if days[0] == days[1] else "%Y-%m-%d %H:%M:%S"
    since, until = (time.strftime(form, time.localtime(at)) for at in (begin, end))
    if since == until:
        return f"nothing was recorded for {duration(end - begin)} at {since}"
    return f"nothing was recorded from {since} to {until}"
