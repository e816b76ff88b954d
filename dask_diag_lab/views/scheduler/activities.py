"""What workers spend their time on: the activities of `distributed`'s fine metrics, in classes.

Pure; knows neither Bokeh nor the store. The classes are those of the questions that people ask
about a slow computation: does it compute, wait, move data, use the disk, pack and unpack data, or
is it the overhead of running many small tasks?
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

COMPUTE: Final = "Computing"
WAITING: Final = "Waiting in tasks"
SERIALIZATION: Final = "(De)serialization"
DISK: Final = "Disk"
NETWORK: Final = "Network"
MEMORY: Final = "Copying in memory"
FAILED: Final = "Failed or cancelled"
OVERHEAD: Final = "Overhead"
OWN: Final = "Measured by you"

CLASSES: Final = (*(COMPUTE, WAITING, NETWORK, SERIALIZATION, DISK, MEMORY, FAILED, OVERHEAD, OWN),)
"""All classes, in the order in which they are shown."""

_OF: Final[Mapping[str, str]] = {
    "thread-cpu": COMPUTE,
    "thread-noncpu": WAITING,
    "executor": OVERHEAD,
    "other": OVERHEAD,
    "failed": FAILED,
    "cancelled": FAILED,
    "missing": FAILED,
    "busy": FAILED,
    "memory-read": MEMORY,
    "network": NETWORK,
    "serialize": SERIALIZATION,
    "deserialize": SERIALIZATION,
    "compress": SERIALIZATION,
    "decompress": SERIALIZATION,
    "disk-read": DISK,
    "disk-write": DISK,
    # Of P2P shuffles, without the "p2p-" that some have in front.
    "shard-partition-cpu": COMPUTE,
    "shard-partition-noncpu": WAITING,
    "get-output-cpu": COMPUTE,
    "get-output-noncpu": WAITING,
    "comms-limiter": WAITING,
    "disk-limiter": WAITING,
    "send": NETWORK,
    "offload": SERIALIZATION,
    "idle": OVERHEAD,
    "process": OVERHEAD,
}

ENCLOSING: Final = frozenset({"idle", "process"})
"""Spans of the shuffle's background loops: nothing to do, or all that is measured one by one."""

DOCS: Final[Mapping[str, str]] = {
    COMPUTE: "Tasks used the CPU",
    WAITING: "Tasks held a thread and did not use the CPU: files, locks, the interpreter's lock",
    NETWORK: "Data moved between workers",
    SERIALIZATION: "Data was packed, unpacked, compressed or decompressed",
    DISK: "Spilled data was written or read back",
    MEMORY: "Data was looked up in memory",
    FAILED: "Work without a result: failed, cancelled, or the data was gone or its worker busy",
    OVERHEAD: "Dask itself, around the tasks and transfers",
    OWN: "Activities of your own, recorded with distributed.metrics.context_meter",
}
"""What each class means."""

STYLES: Final[Mapping[str, tuple[str, str]]] = {
    COMPUTE: ("load_saturated", ""),
    WAITING: ("memory_near", "/"),
    NETWORK: ("transfer", "-"),
    SERIALIZATION: ("deserialize", "."),
    DISK: ("disk", "|"),
    MEMORY: ("load_normal", "+"),
    FAILED: ("killed", "x"),
    OVERHEAD: ("waiting", "\\"),
    OWN: ("incoming", "."),
}
"""Colour, an attribute of `palette.DataColors`, and hatch of each class.

Reserved colours are those of the task stream; the hatch tells a class without colour.
"""


@dataclass(frozen=True, slots=True)
class Amount:
    """A sum of one activity in one context."""

    context: str
    activity: str
    value: float

    @property
    def label(self) -> str:
        """Both names, as in ``deserialize in gather-dep``."""
        return f"{self.activity} in {self.context}"


def class_of(activity: str) -> str:
    """Return the class of an activity; one that `distributed` does not have is the user's own."""
    return _OF.get(activity.removeprefix("p2p-"), OWN)


def by_class(amounts: Sequence[Amount]) -> dict[str, list[Amount]]:
    """Return the amounts of each class that has any, classes in order, largest amounts first."""
    found: dict[str, list[Amount]] = {name: [] for name in CLASSES}
    for amount in amounts:
        if amount.value > 0:
            found[class_of(amount.activity)].append(amount)
    return {
        name: sorted(members, key=lambda amount: -amount.value)
        for name, members in found.items()
        if members
    }


def merged(amounts: Sequence[Amount]) -> list[Amount]:
    """Return one amount for each context and activity."""
    sums: dict[tuple[str, str], float] = {}
    for amount in amounts:
        name = amount.context, amount.activity
        sums[name] = sums.get(name, 0.0) + amount.value
    return [Amount(context, activity, value) for (context, activity), value in sums.items()]
