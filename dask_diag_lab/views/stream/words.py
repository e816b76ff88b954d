"""What a task stream says in words: title, legend, notes, empty states and its table.

Pure: from numbers to text.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import numpy as np

from dask_diag_lab.views.format import count, duration, elide, percent, plural
from dask_diag_lab.views.pane_size import PaneSize
from dask_diag_lab.views.stream.rects import (
    DESERIALIZE_CODE,
    DISK_CODE,
    ERRED_CODE,
    KILLED_CODE,
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
LEAST_SHARE: Final = 0.0005
"""What is less of the thread time has no word in the title."""
_DOT: Final = "  ·  "
_SWATCH_PX: Final = 24
_FIXED: Final = {
    TRANSFER_CODE: "transfer",
    DISK_CODE: "disk",
    DESERIALIZE_CODE: "(de)serialize",
    ERRED_CODE: "failed",
    KILLED_CODE: "worker died",
}

_LEFT_OUT: Final = {
    "names": ("task", "shown as (other): too many different names"),
    "addresses": ("task", "in the row (other): too many different workers"),
    "running": ("running task", "not shown: too many at once"),
}


def title(share: Share, threads: tuple[int, int], size: PaneSize) -> str:
    """Return the plot's title with how busy the ``(visible, all)`` threads were."""
    visible, n_threads = threads
    words = [] if size.is_narrow and not np.isnan(share.busy) else ["Task Stream"]
    if not size.is_narrow and n_threads:
        some = f"{count(visible)} of " if visible < n_threads else ""
        words.append(some + plural(n_threads, "thread"))
    if not np.isnan(share.busy):
        words.append(f"{percent(share.busy)} computing")
        if not size.is_narrow:
            words += [
                f"{percent(part)} {what}"
                for part, what in ((share.moving, "transfer"), (share.disk, "disk"))
                if part >= LEAST_SHARE
            ]
        words.append(f"{percent(share.idle)} idle")
    whole = _DOT.join(words)
    return whole if len(whole) <= size.title_characters or not size.is_narrow else words[0]


def legend(
    columns: Columns, names: Sequence[str], size: PaneSize, *, has_tails: bool = False
) -> tuple[list[str], list[int]]:
    """Return labels and colour codes of what takes most time, as many as fit in one line.

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
    code = columns["code"]
    seconds = np.bincount(code, weights=columns["busy_s"], minlength=KILLED_CODE + 1)
    present = np.bincount(code, minlength=KILLED_CODE + 1) > 0
    present[DESERIALIZE_CODE] |= has_tails and present[TRANSFER_CODE]
    by_time = [int(c) for c in np.argsort(-seconds, kind="stable") if present[c]]
    fixed = [c for c in by_time if c >= PREFIX_CODES]
    labels: list[str] = []
    codes: list[int] = []
    room = size.width * 0.9
    for each in [*fixed, *(c for c in by_time if c < PREFIX_CODES)]:
        label = _FIXED.get(each) or elide(_names_of(each, names), LEGEND_NAME_CHARACTERS)
        room -= _SWATCH_PX + len(label) * 6.6
        if room < 0:
            break
        labels.append(label)
        codes.append(each)
    order = sorted(range(len(codes)), key=lambda i: codes[i])
    return [labels[i] for i in order], [codes[i] for i in order]


def _names_of(code: int, names: Sequence[str]) -> str:
    sharing = names[code::PREFIX_CODES]
    return sharing[0] if len(sharing) == 1 else f"{sharing[0]} and others"


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
    first, last, n_rows = rows
    parts = [_merged(store, centre, is_short=is_short)] if centre.resolution_s else []
    parts += _likeness(likeness, is_short=is_short)
    if last - first + 1 < n_rows:
        more = "" if is_short else ", scroll for more"
        parts.append(f"rows {count(first)}–{count(last)} of {count(n_rows)}{more}")
    if n_hidden and not is_short:
        parts.append(f"{plural(n_hidden, 'worker')} that left had no part in this stretch of time")
    if store.gaps:
        parts.append(_gap(*store.gaps[-1]))
    if store.actions.dropped:
        parts.append(f"{plural(store.actions.dropped, 'action')} lost: the collector was overrun")
    if store.actions.evicted:
        parts.append(f"the oldest {plural(store.actions.evicted, 'action')} given up")
    parts += [
        f"{plural(store.left_out[bound], noun)} {words}"
        for bound, (noun, words) in _LEFT_OUT.items()
        if store.left_out.get(bound)
    ]
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
                "No task has finished yet, and the cluster has no workers. "
                "Start or scale up workers, then compute something."
            )
        return "No task has finished yet. Compute something with this cluster to see it here."
    if is_window_empty:
        return "Nothing ran in this stretch of time. Press L for live data, F for all of it."
    return ""
