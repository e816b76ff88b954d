"""What runs inside the scheduler: a plugin that turns transitions into rows.

Sent by value: standard library and `distributed` only, never anything else of this package.
"""

from __future__ import annotations

from dask_diag_lab.collector.plugin import LEASE_S, LEAVE, NAME, PROTOCOL, PULL, TASK, Collector

__all__ = ["LEASE_S", "LEAVE", "NAME", "PROTOCOL", "PULL", "TASK", "Collector"]
