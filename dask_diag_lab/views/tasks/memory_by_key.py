"""How much memory the results of each prefix take now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from dask_diag_lab.records import STATES
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.bar_figure import BYTES
from dask_diag_lab.views.base import Table
from dask_diag_lab.views.palette import prefix_color
from dask_diag_lab.views.tasks.named_bars import Amounts, Ints, NamedBars

_MEMORY: Final = STATES.index("memory")

UNKNOWN: Final = (
    "How much memory the results take is not known: the scheduler does not tell their sizes. "
    "Workers Memory shows what the workers hold."
)
"""Without the collector, see `transport.plain`."""


class MemoryByKey(NamedBars):
    """A bar for each prefix with results in memory."""

    scale = BYTES

    def seen(self) -> object:
        """Return the versions of prefixes and colours."""
        return self.store.prefixes.version, self.store.palette.version

    def empty(self) -> str:
        """Return why there is nothing to draw."""
        prefixes = self.store.prefixes
        count = prefixes.states[:, _MEMORY]
        if count.any():
            is_known = bool((prefixes.nbytes[count > 0] >= 0).all())
            return "" if is_known else UNKNOWN
        return (
            "No results are in memory. They appear when tasks are persisted, scattered, or kept "
            "for tasks that still need them."
        )

    def amounts(self) -> Amounts:
        """Return what to draw now; see `NamedBars.amounts`."""
        prefixes = self.store.prefixes
        count = prefixes.states[:, _MEMORY]
        kept = np.flatnonzero(count)
        names = prefixes.names
        self._names = [names[index] for index in kept.tolist()]
        self._count, self._held = count[kept], prefixes.nbytes[kept]
        self._total = int(self._held.sum())
        tasks = fmt.plural(int(self._count.sum()), "result")
        return Amounts(
            names=self._names,
            sizes=self._held.astype(np.float64),
            title=f"Memory by key: {fmt.binary(self._total)} · {tasks} in memory",
            short_title=f"{fmt.binary(self._total)} in memory",
        )

    def color(self, index: int) -> str:
        """Return the colour of the prefix."""
        return prefix_color(self.store.palette.index(self._names[index]), self.look)

    def words(self, index: int) -> tuple[str, Sequence[str]]:
        """Return what is said about one prefix."""
        return self._words(np.array([index]))

    def words_of_others(self, indices: Ints) -> tuple[str, Sequence[str]]:
        """Return what is said about all the others."""
        return self._words(indices)

    def _words(self, indices: Ints) -> tuple[str, Sequence[str]]:
        held, count = int(self._held[indices].sum()), int(self._count[indices].sum())
        size = fmt.binary(held)
        share = fmt.percent(held / self._total) if self._total else ""
        mean = f"{fmt.binary(held / count)} each on average" if count > 1 else ""
        return (
            size,
            (
                f"{size}: {share} of all results" if share else size,
                f"{fmt.plural(count, 'result')} in memory",
                mean,
            ),
        )

    def table(self) -> Table:
        """Return one row a prefix with results in memory, most bytes first."""
        amounts = self.amounts()
        order = np.argsort(-amounts.sizes, kind="stable").tolist()
        return Table(
            {
                "prefix": [amounts.names[index] for index in order],
                "nbytes": [int(self._held[index]) for index in order],
                "count": [int(self._count[index]) for index in order],
            },
            {"nbytes": "B"},
        )
