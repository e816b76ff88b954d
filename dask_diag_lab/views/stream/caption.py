"""What stands around a task stream as text: headline, legend, note, empty state, marked events.

Pure: from the store and a frame to text.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dask_diag_lab.schema import Kind, Outcome
from dask_diag_lab.views.format import clock, count, duration, percent, plural, shares
from dask_diag_lab.views.shown_name import shown_name
from dask_diag_lab.views.stream.frame import (
    BUCKETS,
    DESERIALIZE_CODE,
    DISK_CODE,
    ERRED_CODE,
    KILLED_CODE,
    PREFIX_CODES,
    TRANSFER_CODE,
    Frame,
)
from dask_diag_lab.views.view import LegendItem

if TYPE_CHECKING:
    from dask_diag_lab.store import Store
    from dask_diag_lab.store.extras import ExtraTable
    from dask_diag_lab.store.lod import LevelOfDetail

MAX_LEGEND: Final = 20
LEGEND_NAME_CHARACTERS: Final = 40
MAX_MARKS: Final = 200
"""The newest ones: more would hide what they are to explain."""
LEAST_SHARE: Final = 0.01
"""Of time; what is less is not worth a word."""
MAX_PREFIXES: Final = 500

_DOT: Final = " · "
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
    "addresses": ("task", "of the worker (other): too many different workers"),
    "running": ("running task", "not shown: too many at once"),
    "lost_runs": ("run", "may be missing: workers died before they could tell"),
}


def headline(share: Sequence[float], n_asked: int, n_threads: int) -> str:
    """Return how busy the threads were: figures that add up, then of how many threads."""
    parts = []
    if share:
        busy, moving, disk, idle = shares(share)
        between = [(moving, "transfer"), (disk, "disk")]
        named = [f"{part} {what}" for part, what in between if part != _NONE]
        parts = [f"{busy} computing", *named, f"{idle} idle"]
    if n_threads:
        some_of = f"{count(n_asked)} of " if n_asked < n_threads else ""
        parts.append(some_of + plural(n_threads, "thread"))
    return _DOT.join(parts)


def legend(
    frame: Frame, names: Sequence[str], fills: Sequence[str], *, has_tails: bool
) -> list[LegendItem]:
    """Return what is in the window: what is no prefix last, prefixes by first appearance.

    Of too many prefixes those that take most time.

    Parameters
    ----------
    frame : Frame
    names : sequence of str
        Prefixes in order of first appearance.
    fills : sequence of str
        Colour of each code.
    has_tails : bool
        Whether transfers end in a part that is (de)serialization.
    """
    blocks = frame.blocks
    inside = (blocks["start"] < frame.end) & (blocks["stop"] > frame.start)
    code = blocks["code"][inside]
    seconds = np.bincount(code, weights=blocks["busy_s"][inside], minlength=KILLED_CODE + 1)
    is_present = np.bincount(code, minlength=KILLED_CODE + 1) > 0
    is_present[DESERIALIZE_CODE] |= has_tails and is_present[TRANSFER_CODE]
    prefixes = np.flatnonzero(is_present[:PREFIX_CODES])
    by_time = prefixes[np.argsort(-seconds[prefixes], kind="stable")]
    shown = [*sorted(by_time[:MAX_LEGEND].tolist()), *(c for c in _FIXED if is_present[c])]
    items = [LegendItem(_FIXED.get(c) or _prefix_label(c, names), fills[c]) for c in shown]
    n_more = len(prefixes) - MAX_LEGEND
    return [*items, LegendItem(f"+ {n_more} more", "#00000000")] if n_more > 0 else items


def _prefix_label(code: int, names: Sequence[str]) -> str:
    sharing = names[code::PREFIX_CODES]
    name = shown_name(sharing[0], LEGEND_NAME_CHARACTERS)
    return name if len(sharing) == 1 else f"{name} and others"


def picture_note(store: Store, frame: Frame, estimate: SerializationEstimate) -> str:
    """Return what was lost, hidden, merged or is not drawn as it was; '' when nothing was."""
    centre, rows, asked = frame.centre, frame.rows, frame.asked
    parts = lost(store)
    if asked.stop - asked.start < rows.count:
        parts.append(f"rows {count(asked.start + 1)}–{count(asked.stop)} of {count(rows.count)}")
    if rows.n_hidden:
        parts.append(f"{plural(rows.n_hidden, 'more worker')} had no part in this stretch of time")
    if centre.resolution_s:
        kept = store.actions.count
        of_all = f" of {count(kept)}" if kept > centre.total else ""
        closer = f"those closer than {duration(centre.resolution_s)}"
        parts.append(
            f"{count(centre.total)}{of_all} actions, {closer} merged into "
            f"{count(len(centre))} blocks; zoom in to see each"
        )
    parts += _too_short(centre, (frame.end - frame.start) / BUCKETS)
    if estimate.transfer_note and np.any(centre.kind == Kind.TRANSFER):
        parts.append(estimate.transfer_note)
    return _DOT.join(parts)


def _too_short(centre: LevelOfDetail, bucket_s: float) -> list[str]:
    """Return what is too short to be seen, and what is widened so that it can be."""
    span = np.maximum(centre.stop - centre.start, 1e-12)
    is_work, is_ok = centre.kind == Kind.COMPUTE, centre.outcome == Outcome.OK
    area = np.minimum(span / bucket_s, 1.0) * np.minimum(centre.busy_s / span, 1.0)
    n_faint, n_failed, n_short = (
        int(centre.count[rows].sum())
        for rows in (
            ~is_work & (area < 0.5),
            # The rim of a small failed task makes it some pixels wide.
            is_work & ~is_ok & (span < 6 * bucket_s),
            is_work & is_ok & (span < bucket_s / 2),
        )
    )
    parts = []
    if n_faint:
        what = "transfer or disk access" if n_faint == 1 else "transfers or disk accesses"
        parts.append(f"{count(n_faint)} {what} too short to see")
    wider = [f"{count(n)} {what}" for n, what in ((n_failed, "failed"), (n_short, "short")) if n]
    if wider:
        noun = "task" if n_failed + n_short == 1 else "tasks"
        parts.append(f"{' and '.join(wider)} {noun} drawn wider")
    return parts


def lost(store: Store) -> list[str]:
    """Return what was not recorded, or is not kept as it was."""
    parts = [store.degraded] if store.degraded else []
    if store.gaps:
        parts.append(_gap(*store.gaps[-1]))
    if store.actions.dropped:
        parts.append(f"{plural(store.actions.dropped, 'action')} lost: the collector was overrun")
    if store.actions.evicted:
        parts.append(f"the oldest {plural(store.actions.evicted, 'action')} given up")
    return parts + [
        f"{plural(store.left_out[bound], noun)} {what}"
        for bound, (noun, what) in _LEFT_OUT.items()
        if store.left_out.get(bound)
    ]


def _gap(begin: float, end: float) -> str:
    """Return since when and until when nobody recorded, by the clock on this machine's wall."""
    days = [time.strftime("%Y-%m-%d", time.localtime(at)) for at in (begin, time.time())]
    form = "%H:%M:%S" if days[0] == days[1] else "%Y-%m-%d %H:%M:%S"
    since, until = (time.strftime(form, time.localtime(at)) for at in (begin, end))
    if since == until:
        return f"nothing was recorded for {duration(end - begin)} at {since}"
    return f"nothing was recorded from {since} to {until}"


def empty(store: Store, *, is_window_empty: bool, is_cleared: bool) -> str:
    """Return why there is nothing to see and what to do; '' when there is something."""
    if is_cleared and is_window_empty:
        return "Cleared. New tasks appear here; press F to see the whole history."
    if not store.actions.count and not store.running.count:
        n_before = store.left_out.get("before", 0)
        since = f" since recording began ({plural(n_before, 'task')} ended before)"
        none = f"No task has finished{since if n_before else ' yet'}"
        if not store.slots.count:
            return (
                f"{none}, and the cluster has no workers. "
                "Start or scale up workers, then compute something."
            )
        return f"{none}. Compute something with this cluster to see it here."
    if is_window_empty:
        return "Nothing ran in this stretch of time. Press L for live data, F for all of it."
    return ""


# Marked events: those that explain a picture.

Detail = Mapping[str, Any]  # of `distributed`, values differ in type


def _killed(detail: Detail) -> tuple[str, str]:
    n_lost = int(detail.get("lost_tasks") or 0)
    parts = [
        str(detail.get("cause") or ""),
        f"{plural(n_lost, 'running task')} lost" * bool(n_lost),
    ]
    return f"worker died: {detail.get('worker', '')}", _DOT.join(filter(None, parts))


_MARKED: Final[Mapping[str, Callable[[Detail], tuple[str, str]]]] = {
    "worker-killed": _killed,
    "restart": lambda _detail: ("cluster restarted", "by a client"),
    "scheduler-lost": lambda detail: ("scheduler lost", str(detail.get("reason") or "")),
    "not-recorded": lambda _detail: ("nothing was recorded", "from here on, for a while"),
}


def marked_events(store: Store) -> list[tuple[float, str, str, str]]:
    """Return moment, title, text and time of day of the newest marked events, newest first."""
    found: list[tuple[float, str, str, str]] = []
    for at, kind, detail in reversed(store.events.rows):
        if kind in _MARKED and len(found) < MAX_MARKS:
            found.append((at, *_MARKED[kind](detail), clock(at)))
    return found


@dataclass(frozen=True, slots=True)
class SerializationEstimate:
    """How much of transfers and tasks was (de)serialization, by the workers' own totals.

    `distributed` tells no such time of a single task, only sums over the whole cluster. Shares
    are rounded to whole percent so that they change rarely.

    Attributes
    ----------
    of_transfers : float
        Of the seconds of ``gather-dep``: (de)serialization; 0 where unknown or under 1 %.
    of_prefix : mapping of str to (float, float)
        Of the seconds of ``execute`` of a prefix: (de)serialization, and reading from disk.
    """

    of_transfers: float = 0.0
    of_prefix: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def transfer_note(self) -> str:
        """What a transfer's hover says; '' for nothing."""
        if not self.of_transfers:
            return ""
        share = percent(self.of_transfers)
        return f"estimated from the workers' totals: {share} of transfer time is (de)serialization"

    def prefix_note(self, prefix: str) -> str:
        """Return what the hover of a task of this prefix says; '' for nothing."""
        of_prefix = zip(
            self.of_prefix.get(prefix, ()), ("(de)serialization", "reading from disk"), strict=False
        )
        parts = [f"{percent(share)} {what}" for share, what in of_prefix if share]
        return f"{' and '.join(parts)} in all tasks of this name" if parts else ""

    @classmethod
    def of(cls, activities: ExtraTable) -> SerializationEstimate:
        """Return the shares that the fine performance metrics tell.

        Source: `Scheduler.cumulative_worker_metrics`, which ``distributed`` documents as *fine
        performance metrics*: seconds by context, label and activity.
        """
        spent: defaultdict[tuple[str, str], float] = defaultdict(float)
        total: defaultdict[str, float] = defaultdict(float)
        names = ("context", "label", "activity", "unit", "value")
        # A loop: comparing the text in arrays of objects takes longer.
        for context, label, activity, unit, seconds in zip(
            *(activities[name].tolist() for name in names), strict=True
        ):
            if unit == "seconds" and seconds > 0 and context in ("gather-dep", "execute"):
                of = "" if context == "gather-dep" else label
                total[of] += seconds
                spent[of, "serialize" if activity == "deserialize" else activity] += seconds
        longest = sorted(filter(None, total), key=lambda label: -total[label])[:MAX_PREFIXES]
        of_prefix = {
            label: (
                _share(spent[label, "serialize"], total[label]),
                _share(spent[label, "disk-read"], total[label]),
            )
            for label in longest
        }
        return cls(
            _share(spent["", "serialize"], total[""]),
            {label: some for label, some in of_prefix.items() if any(some)},
        )


def _share(part: float, total: float) -> float:
    share = part / total if total > 0 else 0.0
    return round(share, 2) if share >= LEAST_SHARE else 0.0
