"""How much of transfers and of tasks was (de)serialization, by the workers' own totals.

The engine tells no such time of a single task, only sums over the whole cluster, so what is made
of them is an estimate. Pure: knows no picture.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from dask_diag_lab.views.format import percent

if TYPE_CHECKING:
    from dask_diag_lab.store.extras import ExtraTable

LEAST_SHARE: Final = 0.01
"""What is less is not worth a word."""
MAX_PREFIXES: Final = 500

_UNPACKING: Final = ("deserialize", "serialize")
_DISK: Final = ("disk-read",)


@dataclass(frozen=True, slots=True)
class Unpacking:
    """Shares of time, rounded to whole percent so that they change rarely.

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
    def transfer_words(self) -> str:
        """What a transfer's hover says; '' for nothing."""
        if not self.of_transfers:
            return ""
        share = percent(self.of_transfers)
        return f"estimated from the workers' totals: {share} of transfer time is (de)serialization"

    def prefix_words(self, prefix: str) -> str:
        """Return what the hover of a task of this prefix says; '' for nothing."""
        unpacking, disk = self.of_prefix.get(prefix, (0.0, 0.0))
        words = [
            f"{percent(share)} {what}"
            for share, what in ((unpacking, "(de)serialization"), (disk, "reading from disk"))
            if share
        ]
        return f"{' and '.join(words)} in all tasks of this name" if words else ""


def unpacking(activities: ExtraTable) -> Unpacking:
    """Return the shares that the fine performance metrics tell.

    Source: `Scheduler.cumulative_worker_metrics`, which ``distributed`` documents as *fine
    performance metrics*: seconds by context, label and activity.
    """
    if not activities.is_known or not len(activities):
        return Unpacking()
    gather, of_gather = 0.0, 0.0
    total: defaultdict[str, float] = defaultdict(float)
    spent: defaultdict[tuple[str, bool], float] = defaultdict(float)
    names = ("context", "label", "activity", "unit", "value")
    # A loop: comparing the text in arrays of objects takes longer.
    for context, label, activity, unit, seconds in zip(
        *(activities[name].tolist() for name in names), strict=True
    ):
        if unit != "seconds" or not seconds > 0:
            continue
        is_unpacking = activity in _UNPACKING
        if context == "gather-dep":
            gather += seconds
            of_gather += seconds * is_unpacking
        elif context == "execute":
            total[label] += seconds
            if is_unpacking or activity in _DISK:
                spent[label, is_unpacking] += seconds
    longest = sorted({label for label, _ in spent}, key=lambda label: -total[label])
    of_prefix = {
        label: shares
        for label in longest[:MAX_PREFIXES]
        if any(
            shares := (
                _share(spent[label, True], total[label]),
                _share(spent[label, False], total[label]),
            )
        )
    }
    return Unpacking(_share(of_gather, gather), of_prefix)


def _share(part: float, total: float) -> float:
    share = float(part) / float(total) if total > 0 else 0.0
    return round(share, 2) if share >= LEAST_SHARE else 0.0
