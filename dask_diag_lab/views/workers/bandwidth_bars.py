"""How fast data moves between workers, by its type and by pair of workers, as sorted bars.

Moving averages that the scheduler keeps over transfers above 1 MB.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.axis_end import AxisEnd
from dask_diag_lab.views.base import Table
from dask_diag_lab.views.look import LIGHT, Look
from dask_diag_lab.views.no_workers import NO_DATA
from dask_diag_lab.views.palette import DataColors
from dask_diag_lab.views.worker_names import worker_in_words, worker_name
from dask_diag_lab.views.workers import bar_names
from dask_diag_lab.views.workers.bar_measure import Measure, Words
from dask_diag_lab.views.workers.worker_bars import WorkerBars
from dask_diag_lab.views.workers.worker_hosts import Hosts

if TYPE_CHECKING:
    from dask_diag_lab.store import Store

WAITING: Final = "Waiting for the scheduler's answer."
NO_TRANSFERS: Final = (
    "No transfers above 1 MB yet. Workers send results to each other when a task needs data "
    "that another worker holds."
)

_ARROW: Final = " → "


class BandwidthBars(WorkerBars):
    """A bar for each row of one of the two extra tables."""

    extra: ClassVar[str] = ""
    heading: ClassVar[str] = ""
    unit = "rate"
    ticks: ClassVar[Callable[[float, int], list[float]]] = staticmethod(fmt.number_ticks)
    sorted_by = "rate"
    value_characters = 10

    def __init__(
        self, store: Store, look: Look = LIGHT, arguments: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(store, look, arguments)
        self.axis_end = AxisEnd(1e6)

    def seen(self) -> object:
        """Return what differs when the data did."""
        store = self.store
        return store.extras[self.extra].version, store.workers.version, store.seen_workers.version

    def rates(self) -> npt.NDArray[np.float64]:
        """Return bytes a second of each row."""
        rates: npt.NDArray[np.float64] = self.store.extras[self.extra]["rate"]
        return rates

    def hosts(self) -> Hosts:
        """Return a host for each bar: they are not put together."""
        n = len(self.rates())
        return Hosts([""] * n, np.arange(n))

    def empty_words(self) -> str:
        """Return why there is nothing to draw; see `WorkerBars.empty_words`."""
        if len(self.store.extras[self.extra]):
            return ""
        if self.store.scheduler is None:
            return NO_DATA
        return NO_TRANSFERS if self.store.extras[self.extra].is_known else WAITING

    def measure(self) -> Measure:
        """Return what to draw now; see `WorkerBars.measure`."""
        rates = self.rates()
        end = self.axis_end.at_least(float(rates.max()))
        slowest, fastest = (fmt.si(float(r), "B/s") for r in (rates.min(), rates.max()))
        span = fastest if slowest == fastest else f"{slowest} to {fastest}"
        return Measure(
            title=f"{self.heading}: {span} · {fmt.plural(len(rates), self.noun)}",
            short_title=span,
            order_by=rates,
            lengths=[rates],
            level=np.zeros(len(rates), dtype=np.uint8),
            track=np.full(len(rates), end),
            end=end,
        )

    def words_of(self, worker: int) -> Words:
        """Return what is said about one row."""
        rate = float(self.rates()[worker])
        value = fmt.si(rate, "B/s")
        exact = f"{value} ({fmt.count(rate)} B/s), moving average"
        return Words(value, "", (*self.heads(worker), exact))

    def heads(self, index: int) -> Sequence[str]:
        """Return the first lines of the hover of one row."""
        return (self.name_of(index),)

    def words_of_group(self, members: npt.NDArray[np.int64]) -> Words:
        """Return what is said about a group of rows."""
        rates = self.rates()[members]
        low, high = fmt.si(float(rates.min()), "B/s"), fmt.si(float(rates.max()), "B/s")
        return Words(fmt.si(float(rates.mean()), "B/s"), "", (f"{low} to {high} each",))

    def level_colors(self, colors: DataColors) -> Sequence[str]:
        """Return the one colour there is."""
        return (colors.load_normal,)

    def table(self) -> Table:
        """Return all rows, in bytes a second."""
        extra = self.store.extras[self.extra]
        return Table({name: c.tolist() for name, c in extra.columns.items()}, {"rate": "B/s"})


class BandwidthTypes(BandwidthBars):
    """Bandwidth by type of the data."""

    needs: ClassVar[frozenset[str]] = frozenset({"bandwidth-types"})
    extra = "bandwidth-types"
    heading = "Bandwidth by type"
    noun = "type"

    def names(self) -> Sequence[str]:
        """Return the names of the types."""
        return list(map(str, self.store.extras[self.extra]["type"].tolist()))

    def open_one(self, worker: int) -> None:
        """Open the single transfers."""
        del worker
        self.open("transfers")


class BandwidthPairs(BandwidthBars):
    """Bandwidth by pair of workers."""

    needs: ClassVar[frozenset[str]] = frozenset({"bandwidth-workers"})
    extra = "bandwidth-workers"
    heading = "Bandwidth by pair of workers"
    noun = "pair"

    def __init__(
        self, store: Store, look: Look = LIGHT, arguments: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(store, look, arguments)
        self.choice.is_reversed = True  # of thousands of pairs the slowest ones are looked for

    def pair(self, index: int) -> tuple[str, str]:
        """Return the addresses of source and destination of a row."""
        extra = self.store.extras[self.extra]
        return str(extra["source"][index]), str(extra["destination"][index])

    def name_of(self, index: int) -> str:
        """Return source and destination of a row by their names; see `WorkerBars.name_of`."""
        # Never of all rows: of a thousand workers there are tens of thousands of pairs.
        return _ARROW.join(worker_in_words(self.store, end) for end in self.pair(index))

    def labels(self, indices: Sequence[int], width_px: int) -> list[str]:
        """Return both names shortened as in plots of workers; see `WorkerBars.labels`."""
        workers, half_px = self.store.workers, width_px // 2
        names = self.bar_names.of_workers(self.bar_names.readable(workers.name), half_px)
        short = dict(zip(workers.address, names, strict=True))
        most = bar_names.characters(half_px)
        pairs = [self.pair(index) for index in indices]
        for gone in {end for pair in pairs for end in pair} - short.keys():
            short[gone] = fmt.elide(worker_name(self.store, gone), most)
        return [_ARROW.join(short[end] for end in pair) for pair in pairs]

    def axis_title(self, indices: Sequence[int], labels: Sequence[str]) -> str | None:
        """Return what the axis says of the workers of pairs; see `WorkerBars.axis_title`."""
        pairs = zip(map(self.pair, indices), labels, strict=True)
        ends = ((worker_name(self.store, end), label) for pair, label in pairs for end in pair)
        return bar_names.axis_title(ends)

    def heads(self, index: int) -> Sequence[str]:
        """Return name and addresses of a pair."""
        source, destination = self.pair(index)
        return self.name_of(index), f"from {source}", f"to {destination}"

    def open_one(self, worker: int) -> None:
        """Open the single transfers of the worker that received."""
        self.open("transfers", worker=self.pair(worker)[1])
