"""What a task stream says in words: title, legend and empty states.

Pure: from numbers to text.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from dask_diag_lab.views.format import count, plural, shares
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
    from collections.abc import Iterator, Sequence

    from dask_diag_lab.store import Store

LEGEND_NAME_CHARACTERS: Final = 20
_HEADING: Final = "Task Stream"
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


def title(share: Share, threads: tuple[int, int], size: PaneSize, names_px: int = 0) -> str:
    """Return the plot's title with how busy the ``(visible, all)`` threads were.

    Shares stay together, as they add up: where there is little room the heading goes first, then
    the threads. ``names_px`` is how wide the names of rows are, beside which it begins.
    """
    tries = list(_titles(share, threads, size))
    room = replace(size, width=size.width - names_px).title_characters
    return next((words for words in tries if len(words) <= room), tries[-1])


def _titles(share: Share, threads: tuple[int, int], size: PaneSize) -> Iterator[str]:
    """Return the title in ever fewer words."""
    visible, n_threads = threads
    some = f"{count(visible)} of " if visible < n_threads else ""
    cluster = [some + plural(n_threads, "thread")] if n_threads else []
    is_known = not np.isnan(share.busy)
    if not size.is_narrow:
        shares = _share_words(share, is_narrow=False) if is_known else []
        yield _DOT.join([_HEADING, *cluster, *shares])
        for words in ([_HEADING, *cluster], cluster, []):
            yield _NARROW_DOT.join([*words, *shares] or [_HEADING])
    if is_known:
        few = _share_words(share, is_narrow=True)
        yield _NARROW_DOT.join(few)
        yield few[0]
    else:
        yield _HEADING


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


def _none_finished(store: Store) -> str:
    """Return that no task has ended, as far as that was recorded."""
    n_before = store.left_out.get("before", 0)
    if not n_before:
        return "No task has finished yet"
    return f"No task has finished since recording began ({plural(n_before, 'task')} ended before)"


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
