"""What stands around a task stream as text: headline, legend, note, empty state, marked events.

Pure: from a history and a frame to text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from dask_diag_lab.views.format import clock, count, duration, percent, plural, shares
from dask_diag_lab.views.names import losses, shown_name
from dask_diag_lab.views.stream.frame import (
    DESERIALIZE_CODE,
    DISK_CODE,
    ERRED_CODE,
    KILLED_CODE,
    RETRIED_CODE,
    TRANSFER_CODE,
    Frame,
)
from dask_diag_lab.views.view import LegendItem

if TYPE_CHECKING:
    from dask_diag_lab.store import History, LiveSession
    from dask_diag_lab.store.tables import ExtraTable

MAX_LEGEND: Final = 20
LEGEND_NAME_CHARACTERS: Final = 40
MAX_MARKS: Final = 200
"""The newest ones: more would hide what they are to explain."""

_DOT: Final = " · "
_NONE: Final = "0 %"
_FIXED: Final = {
    TRANSFER_CODE: "transfer",
    DISK_CODE: "disk",
    DESERIALIZE_CODE: "(de)serialize",
    KILLED_CODE: "worker died",
    RETRIED_CODE: "failed attempt",
}
_WRONG: Final = [ERRED_CODE, KILLED_CODE, RETRIED_CODE]
_LEFT_OUT: Final = {
    "before": ("task", "ended before recording began"),
    "names": ("task", "shown as (other): too many different names"),
    "running": ("running task", "not shown: too many at once"),
    "lost_runs": ("run", "may be missing: workers died before they could tell"),
    "skipped": ("change", "of tasks left out: this version does not understand them"),
}
_MARKED: Final[Mapping[str, str]] = {
    "worker-killed": "worker died",
    "restart": "cluster restarted",
    "not-recorded": "nothing was recorded from here on, for a while",
}
"""Kinds of events that explain a picture."""
_WHY_PAUSED: Final = "its memory was over the pause threshold: it began no task"


def headline(share: Sequence[float], n_asked: int, n_threads: int) -> str:
    """Return how busy the threads were: figures that add up, then of how many threads."""
    parts = []
    if share:
        busy, moving, disk, idle = shares(share)
        between = [(moving, "transfer"), (disk, "disk")]
        named = [f"{part} {what}" for part, what in between if part != _NONE]
        parts = [f"{busy} in tasks", *named, f"{idle} {'otherwise ' if named else ''}idle"]
    if n_threads:
        some_of = f"{count(n_asked)} of " if n_asked < n_threads else ""
        parts.append(some_of + plural(n_threads, "thread"))
    return _DOT.join(parts)


def legend(
    frame: Frame,
    names: Sequence[str],
    fills: Sequence[str],
    failed: LegendItem,
    *,
    has_tails: bool,
) -> list[LegendItem]:
    """Return what is in the window: what went wrong first, then what takes most time.

    What takes about as much, within a factor of 4, does not change places all the time.

    Parameters
    ----------
    frame : Frame
    names : sequence of str
        Prefixes in order of first appearance.
    fills : sequence of str
        Colour of each code.
    failed : LegendItem
        That of failed tasks.
    has_tails : bool
        Whether transfers end in a part that is (de)serialization.
    """
    code, busy_s = (frame.blocks[name][frame.inside] for name in ("code", "busy_s"))
    seconds = np.bincount(code, weights=busy_s, minlength=RETRIED_CODE + 1)
    is_present = np.bincount(code, minlength=RETRIED_CODE + 1) > 0
    is_present[DESERIALIZE_CODE] |= has_tails and is_present[TRANSFER_CODE]
    size = np.floor(np.log2(np.maximum(seconds, 1e-6)) / 2.0)
    size[_WRONG] = np.inf
    present = np.flatnonzero(is_present)
    by_time = present[np.argsort(-size[present], kind="stable")].tolist()
    shown = by_time[:MAX_LEGEND]
    items = [
        failed
        if c == ERRED_CODE
        else LegendItem(_FIXED.get(c) or shown_name(names[c], LEGEND_NAME_CHARACTERS), fills[c])
        for c in shown
    ]
    n_more = len(by_time) - MAX_LEGEND
    return [*items, LegendItem(f"+ {n_more} more", "#00000000")] if n_more > 0 else items


def picture_note(live: LiveSession, frame: Frame, transfer_note: str, headline: str) -> str:
    """Return who died, what shares are of, what was lost, merged or is not drawn as it was."""
    parts = [losses(live, frame.start, frame.end)[1], *lost(live)]
    if "%" in headline:
        parts.append("shares of the thread time offered in view, pauses too")
    if frame.resolution_s:
        n_actions = int(frame.blocks["count"][frame.inside].sum())
        parts.append(
            f"{count(n_actions)} actions, those closer than {duration(frame.resolution_s)} merged"
            f" into {count(frame.inside.sum())} blocks; zoom in to see more"
        )
    if np.any(frame.blocks["code"][frame.inside] == TRANSFER_CODE):
        parts.append(transfer_note)
    return _DOT.join(filter(None, parts))


def lost(live: LiveSession) -> list[str]:
    """Return what was not recorded, or is not kept as it was."""
    history = live.history
    parts = [live.degraded] if live.degraded else []
    if history.gaps:
        since, until = map(clock, history.gaps[-1])
        parts.append(f"nothing was recorded from {since} to {until}")
    if history.actions.dropped:
        parts.append(f"{plural(history.actions.dropped, 'action')} lost: the collector was overrun")
    if history.actions.evicted:
        parts.append(f"the oldest {plural(history.actions.evicted, 'action')} given up")
    return parts + [
        f"{plural(history.left_out[bound], noun)} {what}"
        for bound, (noun, what) in _LEFT_OUT.items()
        if history.left_out.get(bound)
    ]


def empty(live: LiveSession, *, is_window_empty: bool, is_cleared: bool) -> str:
    """Return why there is nothing to see and what to do; '' when there is something."""
    if is_cleared and is_window_empty:
        return "Cleared. New tasks appear here; press F to see the whole history."
    if not live.history.actions.count and not live.history.running.count:
        if live.history.slots.count:
            return "No task has finished yet. Compute something with this cluster to see it here."
        return (
            "No task has finished yet, and the cluster has no workers. "
            "Start or scale up workers, then compute something."
        )
    if is_window_empty:
        return "Nothing ran in this stretch of time. Press L for live data, F for all of it."
    return ""


def marked_events(history: History) -> list[tuple[float, str, str, str]]:
    """Return moment, title, text and time of day of the newest marked events, newest first."""
    found: list[tuple[float, str, str, str]] = []
    for at, kind, detail in reversed(history.events.rows):
        if kind in _MARKED and len(found) < MAX_MARKS:
            title = ": ".join(filter(None, (_MARKED[kind], detail.get("worker"))))
            text = str(detail.get("cause") or "")
            found.append((at, title, text, clock(at)))
    return found


def pauses(
    live: LiveSession, frame: Frame
) -> list[tuple[float, float, float, float, str, str, str]]:
    """Return where in a frame workers were paused, as left, right, top and bottom, and why."""
    workers, found = {worker.address: worker for worker in frame.rows.workers}, []
    for start, kind, detail in live.history.events.rows:
        if kind != "worker-paused" or (worker := workers.get(detail["worker"])) is None:
            continue
        stop = float(np.fmin(min(detail.get("resumed", np.inf), live.time), worker.ended))
        if start < frame.end and stop > frame.start:
            top = worker.first - 0.5
            sides = (start - frame.zero, stop - frame.zero, top, top + worker.count)
            when = f"{clock(start)} to {clock(stop) if stop < live.time else 'now'}"
            found.append((*sides, f"paused: {worker.label}", _WHY_PAUSED, when))
    return found


def transfer_share(activities: ExtraTable) -> float:
    """Return how much of the time of transfers was (de)serialization, in whole percent; 0 to 1.

    `distributed` tells no such time of a single transfer, only sums over the whole cluster.
    Source: `Scheduler.cumulative_worker_metrics`, documented as *fine performance metrics*.
    """
    activity, seconds = activities["activity"], activities["value"]
    chosen = (activities["context"] == "gather-dep") & (activities["unit"] == "seconds")
    packing = chosen & ((activity == "serialize") | (activity == "deserialize"))
    return round(float(seconds[packing].sum() / max(seconds[chosen].sum(), 1e-9)), 2)


def transfer_note(share: float) -> str:
    """Return what `transfer_share` means; '' for nothing."""
    estimate = f"{percent(share)} of transfer time is (de)serialization"
    return f"estimated from the workers' totals: {estimate}" if share else ""
