"""How much of transfers and of tasks was (de)serialization, by the workers' own totals.

The engine tells no such time of a single task, only sums over the whole cluster, so what is made
of them is an estimate. Pure: knows no picture.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

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


def unpacking(fine: ExtraTable) -> Unpacking:
    """Return the shares that the fine performance metrics tell.

    Source: `Scheduler.cumulative_worker_metrics`, which ``distributed`` documents as *fine
    performance metrics*: seconds by context, label and activity.
    """
    if not fine.is_known or not len(fine):
        return Unpacking()
    is_time = (fine["unit"] == "seconds") & (fine["value"] > 0)
    context, label = fine["context"][is_time], fine["label"][is_time]
    activity, seconds = fine["activity"][is_time], fine["value"][is_time]
    is_unpacking = np.isin(activity, _UNPACKING)
    gather = context == "gather-dep"
    of_transfers = _share(seconds[gather & is_unpacking].sum(), seconds[gather].sum())
    execute = np.flatnonzero(context == "execute")
    names, index = np.unique(label[execute].astype(str), return_inverse=True)
    total = np.bincount(index, seconds[execute], len(names))
    spent = [
        np.bincount(index, seconds[execute] * mask[execute], len(names))
        for mask in (is_unpacking, np.isin(activity, _DISK))
    ]
    longest = np.argsort(-total, kind="stable")[:MAX_PREFIXES]
    of_prefix = {
        str(names[i]): shares
        for i in longest.tolist()
        if any(shares := (_share(spent[0][i], total[i]), _share(spent[1][i], total[i])))
    }
    return Unpacking(of_transfers, of_prefix)


def _share(part: float, total: float) -> float:
    share = float(part) / float(total) if total > 0 else 0.0
    return round(share, 2) if share >= LEAST_SHARE else 0.0
