"""The collector as bytes that a scheduler without this package can load.

Must not run anything of the collector.
"""

from __future__ import annotations

import threading
from typing import Final

import cloudpickle

import dask_diag_lab.collector
from dask_diag_lab.collector import Collector

_REGISTRY: Final = threading.Lock()
"""cloudpickle's registry of packages sent by value is shared by all threads."""


def pack(collector: Collector) -> bytes:
    """Return ``collector`` with its classes by value, about 200 kB."""
    package = dask_diag_lab.collector
    with _REGISTRY:
        if package.__name__ in cloudpickle.list_registry_pickle_by_value():
            return bytes(cloudpickle.dumps(collector))
        cloudpickle.register_pickle_by_value(package)
        try:
            return bytes(cloudpickle.dumps(collector))
        finally:
            cloudpickle.unregister_pickle_by_value(package)
