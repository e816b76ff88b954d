"""Two half bars for each worker or host: what comes in above, what goes out below.

What is measured comes from the subclass.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from dask_diag_lab.views.axis_end import AxisEnd
from dask_diag_lab.views.look import LIGHT, Look
from dask_diag_lab.views.palette import DataColors
from dask_diag_lab.views.small_legend import Entry
from dask_diag_lab.views.workers.bar_measure import Measure, Part, Words
from dask_diag_lab.views.workers.worker_bars import WorkerBars

if TYPE_CHECKING:
    from dask_diag_lab.store import Store

Floats = npt.NDArray[np.float64]


class InOutBars(WorkerBars):
    """Bars of two amounts, the upper one coming in; NaN is not known and not drawn."""

    is_split = True
    words: ClassVar[tuple[str, str]] = ("incoming", "outgoing")
    heading: ClassVar[str] = ""
    smallest: ClassVar[float] = 1.0
    """Least end of the axis."""
    parts = (Part("incoming", color="incoming"), Part("outgoing", color="outgoing"))
    value_characters = 24

    def __init__(
        self, store: Store, look: Look = LIGHT, arguments: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(store, look, arguments)
        self.axis_end = AxisEnd(self.smallest)

    @abstractmethod
    def amounts(self) -> tuple[Floats, Floats]:
        """Return what comes in and goes out for each bar."""

    @abstractmethod
    def write(self, amount: float) -> str:
        """Return an amount in words."""

    @abstractmethod
    def headline(self, index: int) -> tuple[str, str]:
        """Return the first and the last line of the hover of one bar."""

    def end_of(self, largest: float) -> float:
        """Return the end of the axis."""
        return self.axis_end.at_least(largest)

    def measure(self) -> Measure:
        """Return what to draw now; see `WorkerBars.measure`."""
        incoming, outgoing = self.amounts()
        both = np.nan_to_num(incoming) + np.nan_to_num(outgoing)
        largest = float(np.nanmax(np.concatenate([incoming, outgoing, [0.0]])))
        end = self.end_of(largest)
        sums = [self.write(float(np.nansum(amount))) for amount in (incoming, outgoing)]
        told = ", ".join(f"{amount} {word}" for amount, word in zip(sums, self.words, strict=True))
        return Measure(
            title=f"{self.heading}: {told}",
            short_title=f"↓ {sums[0]}, ↑ {sums[1]}",
            order_by=both,
            lengths=[incoming, outgoing],
            level=np.zeros(len(both), dtype=np.uint8),
            track=np.full(len(both), end),
            end=end,
        )

    def words_of(self, worker: int) -> Words:
        """Return what is said about one bar."""
        first, last = self.headline(worker)
        amounts = [float(amount[worker]) for amount in self.amounts()]
        return Words(self._value(amounts), "", (first, *self._lines(amounts), last))

    def words_of_group(self, members: npt.NDArray[np.int64]) -> Words:
        """Return what is said about a group: means."""
        amounts = [float(np.nan_to_num(amount[members]).mean()) for amount in self.amounts()]
        return Words(self._value(amounts), "", ["mean " + line for line in self._lines(amounts)])

    def _value(self, amounts: Sequence[float]) -> str:
        known = [(sign, amount) for sign, amount in zip("↓↑", amounts, strict=True) if amount > 0]
        return "  ".join(f"{sign} {self.write(amount)}" for sign, amount in known)

    def _lines(self, amounts: Sequence[float]) -> list[str]:
        return [
            f"{word} {self.write(amount)}" for word, amount in zip(self.words, amounts, strict=True)
        ]

    def level_colors(self, colors: DataColors) -> Sequence[str]:
        """Return a colour that no part takes: each part has its own."""
        return (colors.outgoing,)

    def legend_entries(self, colors: DataColors) -> Sequence[Entry]:
        """Return what the upper and the lower half are."""
        upper, lower = self.words
        return [
            Entry(f"{upper}, above", colors.incoming),
            Entry(f"{lower}, below", colors.outgoing),
        ]
