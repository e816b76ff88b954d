"""Extras about data that moves between workers.

Must not visit single transfers: workers sum them up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dask_diag_lab.collector.strings import key_text

if TYPE_CHECKING:
    from distributed.scheduler import Scheduler


def bandwidth_types(scheduler: Scheduler) -> list[tuple[str, float]]:
    """Return type and bytes per second: `scheduler.bandwidth_types`."""
    rates = getattr(scheduler, "bandwidth_types", {})
    return [(key_text(name), float(rate)) for name, rate in rates.items()]


def bandwidth_workers(scheduler: Scheduler) -> list[tuple[str, str, float]]:
    """Return source, destination and bytes per second: `scheduler.bandwidth_workers`.

    Its pairs begin with the worker that measured, which is the one that received
    (``Worker._update_metrics_received_data``).
    """
    rates = getattr(scheduler, "bandwidth_workers", {})
    return [(str(sender), str(receiver), float(rate)) for (receiver, sender), rate in rates.items()]
