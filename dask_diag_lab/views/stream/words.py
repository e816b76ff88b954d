"""What a task stream says in words: title, legend, notes, empty states and its table.

Pure: from numbers to text.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import numpy as np

from dask_diag_lab.views.format import count, duration, plural, shares
from dask_diag_lab.views.name_legend import more, n_fitting
from dask_diag_lab.views.pane_size import PaneSize
from dask_diag_lab.views.shown_name import shown_name
from dask_diag_lab.views.stream.rects import (
    DESERIALIZE_CODE,
    DISK_CODE,
    ERRED_CODE,
    KILLED_CODE,
    NO_CODE,
    PREFIX_CODES,
    TRANSFER_CODE,
    Columns,
    Share,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dask_diag_lab.store import Store
    from dask_diag_lab.store.lod import LevelOfDetail
    from dask_diag_lab.views.stream.likeness import Unlike

LEGEND_NAME_CHARACTERS: Final = 20
_DOT: Final = "  ·  "
_NARROW_DOT: Final = " · "
_NONE: Final = "0 %"
_FIXED: Final = {
    TRANSFER_CODE: "transfer",
    DISK_CODE: "disk",
    DESERIALIZE_CODE: "(de)serialize",
    ERRED_CODE: "failed",
    KILLED_CODE: "worker died",
}

_LEFT_OUT: Final = {
    "before": ("task", "ended before recording began"),
    "names": ("task", "shown as (other): too many different names"),
    "addresses": ("task", "in the row (other): too many different workers"),
    "running": ("running task", "not shown: too many at once"),
}
_LEFT_OUT_SHORT: Final = _LEFT_OUT | {"before": ("task", "not recorded")}


def title(share: Share, threads: tuple[int, int], size: PaneSize) -> str:
    """Return the plot's title with how busy the ``(visible, all)`` threads were."""
    visible, n_threads = threads
    words = [] if size.is_narrow and not np.isnan(share.busy) else ["Task Stream"]
    if not size.is_narrow and n_threads:
        some = f"{count(visible)} of " if visible < n_threads else ""
        words.append(some + plural(n_threads, "thread"))
    if not np.isnan(share.busy):
        words += _share_words(share, is_narrow=size.is_narrow)
    whole = (_NARROW_DOT if size.is_narrow else _DOT).join(words)
    return whole if len(whole) <= size.title_characters or not size.is_narrow else words[0]


def _share_words(share: Share, *, is_narrow: bool) -> list[str]:
    """Return what threads did, in figures that add up; transfer and disk where there is any.

    Where it is narrow these two are one, ``other``.
    """
    between = {"transfer": share.moving, "disk": share.disk}
    if is_narrow:
        between = {"other": share.moving + share.disk}
    busy, *some, idle = shares([share.busy, *between.values(), share.idle])
    named = zip(some, between, strict=True)
    shown = [f"{part} {what}" for part, what in named if part != _NONE]
    return [f"{busy} computing", *shown, f"{idle} idle"]


def legend(
    columns: Columns, names: Sequence[str], size: PaneSize, *, has_tails: bool = False
) -> tuple[list[str], list[int]]:
    """Return labels and colour codes of what takes most time, as many as fit in one line.

    The last label counts those that do not; its code is `NO_CODE`.

    Parameters
    ----------
    columns : dict of str to ndarray
        With ``code`` and ``busy_s``.
    names : sequence of str
        Prefixes in order of first appearance.
    size : PaneSize
    has_tails : bool
        Whether transfers end in a part that is (de)serialization.
    """
    entries = [
        (_FIXED.get(code) or shown_name(_names_of(code, names), LEGEND_NAME_CHARACTERS), code)
        for code in _by_weight(columns, has_tails=has_tails)
    ]
    fitting = n_fitting([label for label, _ in entries], size.width)
    shown = sorted(entries[:fitting], key=lambda entry: entry[1])
    if fitting < len(entries):
        shown.append((more(len(entries) - fitting), NO_CODE))
    return [label for label, _ in shown], [code for _, code in shown]


def _by_weight(columns: Columns, *, has_tails: bool) -> list[int]:
    """Return the colour codes there are: those that are no prefix first, then by time taken."""
    code = columns["code"]
    seconds = np.bincount(code, weights=columns["busy_s"], minlength=KILLED_CODE + 1)
    present = np.bincount(code, minlength=KILLED_CODE + 1) > 0
    present[DESERIALIZE_CODE] |= has_tails and present[TRANSFER_CODE]
    by_time = [int(c) for c in np.argsort(-seconds, kind="stable") if present[c]]
    return sorted(by_time, key=lambda c: c < PREFIX_CODES)


def _names_of(code: int, names: Sequence[str]) -> str:
    sharing = names[code::PREFIX_CODES]
    return sharing[0] if len(sharing) == 1 else f"{shown_name(sharing[0])} and others"


def note(
    store: Store,
    centre: LevelOfDetail,
    likeness: Unlike,
    rows: tuple[int, int, int],
    n_hidden: int = 0,
    *,
    is_short: bool = False,
) -> str:
    """Return what was merged, hidden, lost or is late, '' when nothing was.

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
    is_short : bool
        There is no room for what can be done about it.
    """
    parts = [_merged(store, centre, is_short=is_short)] if centre.resolution_s else []
    parts += _likeness(likeness, is_short=is_short)
    parts += _hidden(rows, n_hidden, is_short=is_short)
    parts += _lost(store, is_short=is_short)
    if store.degraded:
        parts.append(store.degraded)
    return " · ".join(parts)


def _merged(store: Store, centre: LevelOfDetail, *, is_short: bool) -> str:
    """Return how many actions are drawn as how many blocks."""
    if is_short:
        return f"{plural(centre.total, 'action')} in {plural(len(centre), 'block')}"
    kept = store.actions.count
    of_all = f" of {count(kept)}" if kept > centre.total else ""
    return (
        f"{count(centre.total)}{of_all} actions, those closer than "
        f"{duration(centre.resolution_s)} merged into {count(len(centre))} blocks; "
        "zoom in to see each"
    )


def _likeness(likeness: Unlike, *, is_short: bool) -> list[str]:
    """Return what is too short to be seen, and what is widened so that it can be."""
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


def _hidden(rows: tuple[int, int, int], n_hidden: int, *, is_short: bool) -> list[str]:
    """Return which rows are out of sight, and how many workers have none."""
    first, last, n_rows = rows
    parts = []
    if last - first + 1 < n_rows:
        more = "" if is_short else ", scroll for more"
        parts.append(f"rows {count(first)}–{count(last)} of {count(n_rows)}{more}")
    if n_hidden and not is_short:
        parts.append(f"{plural(n_hidden, 'worker')} that left had no part in this stretch of time")
    return parts


def _lost(store: Store, *, is_short: bool) -> list[str]:
    """Return what was not recorded, or is not kept as it was."""
    parts = [_gap(*store.gaps[-1])] if store.gaps else []
    if store.actions.dropped:
        parts.append(f"{plural(store.actions.dropped, 'action')} lost: the collector was overrun")
    if store.actions.evicted:
        parts.append(f"the oldest {plural(store.actions.evicted, 'action')} given up")
    left_out = _LEFT_OUT_SHORT if is_short else _LEFT_OUT
    return parts + [
        f"{plural(store.left_out[bound], noun)} {words}"
        for bound, (noun, words) in left_out.items()
        if store.left_out.get(bound)
    ]


def _none_finished(store: Store) -> str:
    """Return that no task has ended, as far as that was recorded."""
    n_before = store.left_out.get("before", 0)
    if not n_before:
        return "No task has finished yet"
    return f"No task has finished since recording began ({plural(n_before, 'task')} ended before)"


def _gap(begin: float, end: float) -> str:
    """Return since when and until when nobody recorded, by the clock on this machine's wall."""
    days = [time.strftime("%Y-%m-%d", time.localtime(at)) for at in (begin, time.time())]
    form = "%H:%M:%S" if days[0] == days[1] else "%Y-%m-%d %H:%M:%S"
    since, until = (time.strftime(form, time.localtime(at)) for at in (begin, end))
    if since == until:
        return f"nothing was recorded for {duration(end - begin)} at {since}"
    return f"nothing was recorded from {since} to {until}"


def empty(store: Store, *, has_picture: bool, is_window_empty: bool, is_cleared: bool) -> str:
    """Return why there is nothing to see and what to do; '' when there is something."""
    if is_cleared and is_window_empty:
        return "Cleared. New tasks appear here; press F to see the whole history."
    if not has_picture:
        if not store.lanes.count:
            return (
                f"{_none_finished(store)}, and the cluster has no workers. "
                "Start or scale up workers, then compute something."
            )
        return f"{_none_finished(store)}. Compute something with this cluster to see it here."
    if is_window_empty:
        return "Nothing ran in this stretch of time. Press L for live data, F for all of it."
    return ""
