"""What runs inside the scheduler: a plugin that turns transitions into rows.

Sent by value, with what it needs of `schema`: otherwise standard library and `distributed` only.
"""

from __future__ import annotations

from dask_diag_lab.collector.plugin import ASK, LEASE_S, NAME, PULL, TASK, UNSUBSCRIBE, Collector

__all__ = ["ASK", "LEASE_S", "NAME", "PULL", "TASK", "UNSUBSCRIBE", "Collector"]
