"""Bandwidth of memory, disk and network, measured when asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dask_diag_lab.store.queries import UNASKED, can_ask
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.bars import BarPlot, Level, Part
from dask_diag_lab.views.data import Column, Rows
from dask_diag_lab.views.registry import register_plot
from dask_diag_lab.views.view import Control

if TYPE_CHECKING:
    from dask_diag_lab.store.queries import Query

UNMEASURED: Final = (
    "Nothing was measured yet. “Measure now” copies memory, writes to disk and sends data between"
    " all workers for some seconds, which slows down whatever runs meanwhile."
)
NEEDED_BYTES: Final = 400 << 20
"""What the benchmark may take on a worker: two copies of blocks of 100 MiB, and some space."""
MEASURING: Final = (
    "Measuring disk, memory and network one after the other: on idle workers it takes 12 s."
)
NOBODY: Final = "there is no worker. Add some with cluster.scale(4)."
COLORS: Final = ("load_normal", "disk", "transfer")
KINDS: Final = ("memory", "disk", "network")


@register_plot
class Hardware(BarPlot):
    """Bandwidth of memory, disk and network by size of the block, measured when asked for."""

    name = "hardware"

    columns = (
        Column("block", "Block", shown=False, in_table=False),
        Column("kind", "Kind", shown=False),
        Column("size", "Size of the block", "bytes"),
        Column("rate", "Bandwidth", "rate"),
    )
    parts = (Part("rate"),)
    merges = "none"
    levels = tuple(Level(color, label=kind) for color, kind in zip(COLORS, KINDS, strict=True))
    reads = ("workers",)
    label = key = "block"
    noun = "measurement"

    _refused = ""

    @property
    def _query(self) -> Query | None:
        """What was asked by any page, so that each shows it and its table has it."""
        return self.live.queries.known("hardware")

    def rows(self) -> Rows:
        """Return a row for each kind and size; none before it was measured."""
        answer: Any = (self._query.answer if self._query is not None else None) or {}  # plain data
        found = [(at, kind, row) for at, kind in enumerate(KINDS) for row in answer.get(kind, ())]
        sizes = [fmt.whole_binary(row["size"]) for _, _, row in found]
        return {
            "block": [f"{found[at][1].capitalize()} · {size}" for at, size in enumerate(sizes)],
            "kind": [kind for _, kind, _ in found],
            "size": np.array([row["size"] for _, _, row in found], dtype=np.int64),
            "rate": np.array([row["rate"] for _, _, row in found], dtype=np.float64),
            "level_index": np.array([at for at, _, _ in found], dtype=np.uint8),
        }

    def headline(self) -> str:
        """Return the best of each kind; see `DataPlot.headline`."""
        rows = self.rows()
        # Of one kind the largest comes last.
        best = dict(sorted(zip(rows["kind"], rows["rate"], strict=True), key=lambda row: row[1]))
        text = ", ".join(f"{kind} {fmt.si(best[kind], 'B/s')}" for kind in KINDS if kind in best)
        return f"Bandwidth: up to {text}"

    def note(self) -> str:
        """Return of whom and when it is, and what is doubtful; see `DataPlot.note`."""
        if self._query is None:
            return ""
        means = f"Means of all workers at {fmt.clock(self._query.answered_at)}"
        return " · ".join(filter(None, (self._happened(), means)))

    def why_empty(self) -> str:
        """Return why nothing was measured, and how to; see `DataPlot.why_empty`."""
        return self._happened() or (UNMEASURED if can_ask(self.live) else UNASKED)

    def state(self) -> object:
        """Return what differs while a measurement goes on; see `View.state`."""
        asked = self._query and (self._query.version, self._query.state)
        return super().state(), asked, self._refused, can_ask(self.live)

    def own_controls(self) -> Sequence[Control]:
        """Return the button, unless it was pressed; see `BarPlot.own_controls`."""
        is_asked = self._query is not None and self._query.state == "asked"
        control = Control("measure", "button", "Measure now")
        return [control] if can_ask(self.live) and not is_asked else []

    def set_control(self, name: str, value: str) -> None:
        """Ask the cluster: only ever done by the button.

        A worker without enough memory for it would be killed by its own limit.
        """
        if name != "measure":
            super().set_control(name, value)
            return
        self._refused = self._reason_against()
        if not self._refused:
            query = self.live.queries.ask("hardware")
            if query.state != "asked":  # measured before, perhaps for another page
                self.live.queries.ask_again(query)

    def _reason_against(self) -> str:
        workers = self.history.workers
        if not len(workers):
            return f"Not measured: {NOBODY}"
        free = workers.memory_limit - workers.memory
        n_short = int(((workers.memory_limit > 0) & (free < NEEDED_BYTES)).sum())
        return (
            f"Not measured: it needs {fmt.binary(NEEDED_BYTES)} of free memory on each worker, and"
            f" {fmt.plural(n_short, 'worker')} had less. Release results first."
        ) * bool(n_short)

    def _happened(self) -> str:
        """Return why what is shown is not what was asked for last; '' when it is."""
        query = self._query
        if self._refused or query is None:
            return self._refused
        if query.state == "asked":
            return MEASURING
        if query.state == "failed":
            return f"Not measured: {query.error}"
        return "" if query.answer and any(query.answer.values()) else f"Nothing measured: {NOBODY}"
