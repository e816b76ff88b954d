"""Bandwidth of memory, disk and network, measured when asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.asked import UNASKED, can_ask
from dask_diag_lab.views.bars import BarPlot, Level, Part
from dask_diag_lab.views.data import Column, Rows
from dask_diag_lab.views.registry import register_plot
from dask_diag_lab.views.view import Control
from dask_diag_lab.views.worker_names import name_in_words

if TYPE_CHECKING:
    from dask_diag_lab.store.queries import Query

UNMEASURED: Final = (
    "Nothing was measured yet. “Measure now” copies memory, writes to disk and sends data between"
    " all workers for some seconds, which slows down whatever runs meanwhile."
)
NEEDED_BYTES: Final = 400 << 20
"""What the benchmark may take on a worker: two copies of blocks of 100 MiB, and some space."""
USUAL_S: Final = 12
"""What distributed's benchmark takes on idle workers: five sizes of 1 s each on disk, five of 0.2 s
in memory and six of 1 s between workers, one after the other."""
NOBODY: Final = "there is no worker. Add some with cluster.scale(4)."
KINDS: Final = (("memory", "Memory"), ("disk", "Disk"), ("network", "Network"))
IMPLAUSIBLE: Final = {"memory": 0.1, "disk": 0.5, "network": 0.5}
"""A larger block below this share of a smaller one's bandwidth does not merely vary. In memory
10 MiB had 0.39 of 100 KiB, which the caches hold, on a worker that did nothing else."""


@register_plot
class Hardware(BarPlot):
    """Bandwidth of memory, disk and network by size of the block, measured when asked for."""

    name = "hardware"
    title = "Hardware"
    group = "Scheduler"
    description = "Bandwidth of memory, disk and network, measured when you ask for it."
    help = (
        "Bandwidth of memory, disk and network by size of the block, as means over all "
        "workers there were when it was measured; of the network over pairs of them. Nothing "
        "is measured until you press the button.\n"
        "- the button: copies memory, writes to the workers' local disks and sends data "
        "between them, and slows down what runs meanwhile\n"
        "- healthy: bars grow with the size of the block, in memory up to that of the "
        "processor's caches\n"
        "- a larger block at less than half of a smaller one, in memory at less than a tenth: "
        "workers may have been busy, measure again when nothing runs\n"
        "- Bandwidth and Transfers far below these figures: blocks are small, or something "
        "else is the limit"
    )
    keywords = ("bandwidth", "memory", "disk", "network", "benchmark", "speed")

    columns = (
        Column("block", "Block", shown=False, in_table=False),
        Column("kind", "Kind", shown=False),
        Column("size", "Size of the block", "bytes"),
        Column("rate", "Bandwidth", "rate"),
    )
    parts = (Part("rate"),)
    merges = "none"
    levels = (
        Level("load_normal", label="memory"),
        Level("disk", label="disk"),
        Level("transfer", label="network"),
    )
    reads = ("workers",)
    label = key = "block"
    noun = "measurement"

    _refused = ""

    @property
    def _query(self) -> Query | None:
        """What was asked by any page, so that each shows it and its table has it."""
        return self.store.queries.known("hardware")

    @property
    def _answer(self) -> Mapping[str, Sequence[Mapping[str, Any]]]:  # plain data
        return (self._query.answer if self._query is not None else None) or {}

    def rows(self) -> Rows:
        """Return a row for each kind and size; none before it was measured."""
        found = [(at, kind, row) for at, (kind, _) in enumerate(KINDS) for row in self._of(kind)]
        titles = dict(KINDS)
        return {
            "block": [f"{titles[k]} · {fmt.whole_binary(row['size'])}" for _, k, row in found],
            "kind": [kind for _, kind, _ in found],
            "size": np.array([row["size"] for _, _, row in found], dtype=np.int64),
            "rate": np.array([row["rate"] for _, _, row in found], dtype=np.float64),
            "level_index": np.array([at for at, _, _ in found], dtype=np.uint8),
        }

    def headline(self) -> str:
        """Return the best of each kind; see `DataPlot.headline`."""
        best = [
            f"{title.lower()} {fmt.si(max(row['rate'] for row in self._of(kind)), 'B/s')}"
            for kind, title in KINDS
            if self._of(kind)
        ]
        return f"Bandwidth: up to {', '.join(best)}"

    def note(self) -> str:
        """Return of whom and when it is, and what is doubtful; see `DataPlot.note`."""
        query = self._query
        if query is None:
            return ""
        slower = [title for kind, title in KINDS if falls(self._of(kind), IMPLAUSIBLE[kind])]
        doubt = (
            f"{', '.join(slower)} far slower in larger blocks: workers may have been busy while"
            " it was measured, measuring again may tell more"
        )
        means = f"Means of all workers at {fmt.clock(query.answered_at)}"
        pairs = "network between pairs of them" if self._of("network") else "network needs two"
        return " · ".join(
            part for part in (self._happened() or doubt * bool(slower), f"{means}; {pairs}") if part
        )

    def why_empty(self) -> str:
        """Return why nothing was measured, and how to; see `DataPlot.why_empty`."""
        return self._happened() or (UNMEASURED if can_ask(self.store) else UNASKED)

    def state(self) -> object:
        """Return what differs while a measurement goes on; see `View.state`."""
        query = self._query
        asked = (query.version, query.state) if query is not None else None
        return super().state(), asked, self._waited_s, self._refused, can_ask(self.store)

    @property
    def is_behind(self) -> bool:
        """Whether a measurement is under way, whose seconds are counted; see `View.is_behind`."""
        return self._waited_s > 0 and self._basis() != self._drawn

    def own_controls(self) -> Sequence[Control]:
        """Return the button, unless it was pressed; see `BarPlot.own_controls`."""
        is_asked = self._query is not None and self._query.state == "asked"
        if is_asked or not can_ask(self.store):
            return ()
        return [Control("measure", "button", "Measure now")]

    def set_control(self, name: str, value: str) -> None:
        """Ask the cluster: only ever done by the button.

        A worker without enough memory for it would be killed by its own limit.
        """
        if name != "measure":
            super().set_control(name, value)
            return
        self._refused = self._reason_against()
        if not self._refused:
            query = self.store.queries.ask("hardware")
            if query.state != "asked":  # measured before, perhaps for another page
                self.store.queries.ask_again(query)

    def _reason_against(self) -> str:
        workers = self.store.workers
        if not len(workers):
            return f"Not measured: {NOBODY}"
        limits = zip(workers.name, workers.memory_limit.tolist(), workers.memory, strict=True)
        short = [
            f"{name_in_words(name)} ({fmt.binary(max(limit - int(used), 0))} free)"
            for name, limit, used in limits
            if limit and limit - int(used) < NEEDED_BYTES
        ]
        if not short:
            return ""
        more = f" and {fmt.count(len(short) - 3)} more" if len(short) > 3 else ""
        return (
            f"Not measured: it needs {fmt.binary(NEEDED_BYTES)} of free memory on each worker, and"
            f" these have less: {', '.join(short[:3])}{more}. Release results first."
        )

    def _happened(self) -> str:
        """Return why what is shown is not what was asked for last; '' when it is."""
        query = self._query
        if self._refused or query is None:
            return self._refused
        if query.state == "asked":
            return (
                f"Measuring disk, memory and network one after the other: {self._waited_s} s so"
                f" far, of about {USUAL_S} s where workers are idle"
            )
        if query.state == "failed":
            return f"Not measured: {query.error}"
        return "" if any(self._of(kind) for kind, _ in KINDS) else f"Nothing was measured: {NOBODY}"

    @property
    def _waited_s(self) -> int:
        query = self._query
        return int(self.store.queries.waited_s(query)) if query is not None else 0

    def _of(self, kind: str) -> Sequence[Mapping[str, Any]]:
        return self._answer.get(kind, ())


def falls(rows: Sequence[Mapping[str, Any]], share: float) -> bool:
    """Return whether a block has less than this share of a smaller one's rate; sizes ascend."""
    fastest = 0.0
    for row in rows:
        if row["rate"] < share * fastest:
            return True
        fastest = max(fastest, row["rate"])
    return False
