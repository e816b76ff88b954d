"""The extra log of the scheduler's own process, from its system monitor.

Must not measure anything itself.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from distributed.scheduler import Scheduler

QUANTITIES: Final = (
    "time",
    "cpu",
    "memory",
    "host_net_io.read_bps",
    "host_net_io.write_bps",
    "host_disk_io.read_bps",
    "host_disk_io.write_bps",
    "num_fds",
    "gil_contention",
)
"""Those of `SystemMonitor.quantities`, in the order of the columns; the last column follows."""

MOST_BPS: Final = 1e11
"""Bytes a second of a host that no network or disk reaches; such a rate is one whose period the
monitor did not measure, and stays out: it would flatten all others in a chart."""

TICK_S: Final = 2.0
"""The loop's interval is only known now: it is put to samples that are no older than this."""


class SystemSource:
    """Reads new samples of ``scheduler.monitor``, which keeps an hour of them."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._seen = 0

    def read(self) -> tuple[list[tuple[float, ...]], int]:
        """Return new samples, and how many were lost before them."""
        monitor = getattr(self._scheduler, "monitor", None)
        quantities: dict[str, Any] = getattr(monitor, "quantities", {})
        count = getattr(monitor, "count", 0)
        times = quantities.get("time", ())
        n = max(0, min(count - self._seen, len(times)))
        lost = max(0, count - self._seen - n)
        self._seen = count
        if not n:
            return [], lost
        columns = [_newest(quantities.get(name, ()), n) for name in QUANTITIES]
        for i, name in enumerate(QUANTITIES):
            if name.endswith("_bps"):
                columns[i] = [bps if bps < MOST_BPS else math.nan for bps in columns[i]]
        tick_s = float(getattr(self._scheduler, "_tick_interval_observed", math.nan))
        since = times[-1] - TICK_S
        columns.append([tick_s if at >= since else math.nan for at in columns[0]])
        return list(zip(*columns, strict=True)), lost


def _newest(samples: Any, n: int) -> list[float]:  # a deque of numbers
    """Return the newest ``n`` samples; NaN for those that were not taken."""
    newest = [
        float(sample) if type(sample) in {int, float} else math.nan
        for sample in itertools.islice(reversed(samples), n)
    ]
    newest += [math.nan] * (n - len(newest))
    newest.reverse()
    return newest
