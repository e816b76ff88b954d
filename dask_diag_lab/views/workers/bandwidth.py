"""How fast data moves between workers: by its type, and from which worker to which.

Moving averages that the scheduler keeps over transfers above 1 MB.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt
from bokeh.events import Event, Tap
from bokeh.models import FixedTicker, NoOverlap, Range1d

from dask_diag_lab.store.slots import natural_order
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.bars import BarPlot, Part
from dask_diag_lab.views.data import Column, DataPlot, Rows
from dask_diag_lab.views.figure import set_properties
from dask_diag_lab.views.figure_view import FigureView
from dask_diag_lab.views.palette import data_colors, mixed
from dask_diag_lab.views.registry import register_plot
from dask_diag_lab.views.stack import StackPlot
from dask_diag_lab.views.view import Table
from dask_diag_lab.views.worker_names import NO_DATA, short_names, worker_in_words, worker_name

if TYPE_CHECKING:
    from bokeh.models import ColumnDataSource
    from bokeh.plotting import figure

WAITING: Final = "Waiting for the scheduler's answer."
NO_TRANSFERS: Final = (
    "No transfers above 1 MB yet. Workers send results to each other when a task needs data "
    "that another worker holds."
)
MAP_MOST: Final = 40
"""Workers that still have readable squares."""
MOST_WRITTEN: Final = 4
"""Workers whose squares have room for figures in any pane."""
MOST_PAIRS: Final = 200
"""A thousand workers have tens of thousands of pairs: nobody scrolls further than this."""

_SHADES: Final = 24
_PALEST: Final = 0.82
"""Share of the canvas in the shade of the slowest pair."""


class Bandwidth(DataPlot):
    """Rows of one of the two extra tables.

    Attributes
    ----------
    heading : str
        Begins the headline.
    """

    heading = ""

    @property
    def rates(self) -> npt.NDArray[np.float64]:
        """Bytes a second of each row of the table."""
        rates: npt.NDArray[np.float64] = self.store.extras[self.reads[0]]["rate"]
        return rates

    def headline(self) -> str:
        """Return slowest and fastest; see `DataPlot.headline`."""
        slowest, fastest = (fmt.si(float(r), "B/s") for r in (self.rates.min(), self.rates.max()))
        return f"{self.heading}: {fastest if slowest == fastest else f'{slowest} to {fastest}'}"

    def why_empty(self) -> str:
        """Return whether there will be any; see `DataPlot.why_empty`."""
        if self.store.scheduler is None:
            return NO_DATA
        return NO_TRANSFERS if self.store.extras[self.reads[0]].is_known else WAITING


@register_plot
class BandwidthTypes(Bandwidth, BarPlot):
    """Bandwidth by type of the data."""

    name = "bandwidth-types"
    title = "Bandwidth by Type"
    group = "Workers"
    description = "How fast data of each type moves between workers."
    help = (
        "One bar for each type of data: a moving average over its transfers above 1 MB, "
        "serialization included.\n"
        "- healthy: near what the network can do for arrays and tables\n"
        "- one type far slower than others: it is expensive to serialize or does not "
        "compress; convert it before it is sent, for example to an array"
    )
    keywords = ("network", "rate", "serialization", "transfer", "communication")

    reads = ("bandwidth-types",)
    heading = "Bandwidth by type"
    columns = (
        Column("type", "Type", shown=False),
        Column("rate", "Moving average", "rate"),
    )
    parts = (Part("rate"),)
    noun = label = key = "type"
    order = "size"
    merges = "none"

    def rows(self) -> Rows:
        """Return a row for each type."""
        types = self.store.extras["bandwidth-types"]
        return {"type": list(map(str, types["type"].tolist())), "rate": types["rate"]}

    def open_row(self, key: str) -> None:
        """Open the single transfers."""
        del key
        self.open("transfers")


class Pairs(Bandwidth):
    """Bandwidth from worker to worker."""

    reads = ("bandwidth-workers", "workers", "seen_workers")
    heading = "Bandwidth by pair of workers"

    @property
    def ends(self) -> tuple[list[str], list[str]]:
        """Addresses of source and destination of each row of the table."""
        pairs = self.store.extras["bandwidth-workers"]
        source, destination = (pairs[name].tolist() for name in ("source", "destination"))
        return source, destination

    def addresses(self) -> list[str]:
        """Return the addresses of all workers of any pair, first those that are there."""
        source, destination = self.ends
        found = {*source, *destination}
        here = [address for address in self.store.workers.address if address in found]
        gone = sorted(found - set(here), key=lambda a: natural_order(worker_name(self.store, a)))
        return [*here, *gone]

    def open_transfers(self, worker: str) -> None:
        """Open the single transfers of the worker that received."""
        self.open("transfers", worker=worker)


class BandwidthMap(Pairs, FigureView):
    """A square for each pair, paler when slower; nothing where there are too many."""

    columns = (
        *(Column("pair"), Column("rate", unit="rate"), Column("source"), Column("destination")),
        *(Column(name, in_table=False) for name in ("x", "y", "said", "written", "color", "ink")),
    )

    def rows(self) -> Rows:
        """Return a row for each pair; `x` and `y` number the workers."""
        addresses = self._mapped = self.addresses()
        if len(addresses) > MAP_MOST:
            addresses.clear()
            return {column.name: [] for column in self.columns}
        number = {address: at for at, address in enumerate(addresses)}
        names = {address: worker_in_words(self.store, address) for address in addresses}
        source, destination = self.ends
        written = [fmt.si(rate, "B/s") for rate in self.rates.tolist()]
        shades = self._shades()
        share = self.rates / self.rates.max() if len(self.rates) else self.rates
        shade = np.minimum((share * _SHADES).astype(np.int64), _SHADES - 1).tolist()
        return {
            "pair": [f"{names[s]} → {names[d]}" for s, d in zip(source, destination, strict=True)],
            "rate": self.rates,
            "source": source,
            "destination": destination,
            "x": np.array([number[address] for address in destination], dtype=np.float64),
            "y": np.array([number[address] for address in source], dtype=np.float64),
            "said": [f"{text}, moving average" for text in written],
            "written": written if len(addresses) <= MOST_WRITTEN else [""] * len(written),
            "color": [shades[index][0] for index in shade],
            "ink": [shades[index][1] for index in shade],
        }

    def headline(self) -> str:
        """Return slowest and fastest, and what the shade means."""
        return f"{super().headline()}, paler is slower"

    def make_figure(self, source: ColumnDataSource) -> figure:
        """Return the map; see `FigureView.make_figure`."""
        picture = self.new_figure(
            hover=("@pair", "@said", "from @source", "to @destination"),
            x_range=Range1d(),
            y_range=Range1d(),
            x_axis_label="to worker",
            y_axis_label="from worker",
        )
        picture.grid.visible = False
        squares = picture.rect(
            *("x", "y"), width=0.94, height=0.94, source=source, fill_color="color"
        )
        squares.glyph.line_color = self.look.grid
        picture.hover.renderers = [squares]
        picture.text(
            *("x", "y", "written"),
            source=source,
            text_color="ink",
            text_align="center",
            text_baseline="middle",
            text_font_size=self.look.font_size,
        )
        self._tickers = FixedTicker(), FixedTicker()
        for axis, ticker in zip(picture.axis, self._tickers, strict=True):
            axis.update(
                ticker=ticker,
                major_tick_line_color=None,
                major_label_policy=NoOverlap(min_distance=4),
            )
        picture.on_event(Tap, self._tapped)
        return picture

    def adjust(self, picture: figure, rows: Rows) -> None:
        """Name the workers on both axes."""
        del rows
        n = len(self._mapped)
        set_properties(picture.x_range, start=-0.5, end=n - 0.5)
        set_properties(picture.y_range, start=n - 0.5, end=-0.5)
        labels = short_names([worker_name(self.store, each) for each in self._mapped], 14)
        names = dict(enumerate(labels))
        for axis, ticker in zip(picture.axis, self._tickers, strict=True):
            set_properties(ticker, ticks=list(names))
            set_properties(axis, major_label_overrides=names)

    def _tapped(self, event: Event) -> None:
        if isinstance(event, Tap) and event.x is not None:
            number = round(event.x)
            if 0 <= number < len(self._mapped):
                self.open_transfers(self._mapped[number])

    def _shades(self) -> Sequence[tuple[str, str]]:
        """Return fill and colour of the text of each shade, the slowest first."""
        full = data_colors(self.look).load_normal
        found = []
        for step in range(_SHADES):
            fill = mixed(full, self.look.background, _PALEST * (1 - step / (_SHADES - 1)))
            red, green, blue = (int(fill[i : i + 2], 16) / 255 for i in (1, 3, 5))
            # Relative luminance, with a power for WCAG's curve: black and white are alike at 0.18.
            luminance = 0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2
            found.append((fill, "#000000" if luminance > 0.18 else "#ffffff"))
        return found


class PairBars(Pairs, BarPlot):
    """The slowest pairs, where there are too many for a map."""

    columns = (
        Column("pair", "Pair", shown=False),
        Column("rate", "Moving average", "rate"),
    )
    parts = (Part("rate"),)
    noun = "pair"
    label, key = "pair", "key"
    merges = "none"

    def rows(self) -> Rows:
        """Return a row for each of the slowest pairs; none where a map shows all."""
        if len(self.addresses()) <= MAP_MOST:
            return {"pair": [], "key": [], "rate": []}
        source, destination = self.ends
        slowest = np.argsort(self.rates, kind="stable")[:MOST_PAIRS].tolist()
        ends = [(source[at], destination[at]) for at in slowest]
        return {
            "pair": [" → ".join(worker_in_words(self.store, end) for end in pair) for pair in ends],
            "key": [" ".join(pair) for pair in ends],
            "rate": self.rates[slowest],
        }

    def note(self) -> str:
        """Return why this is no map, and how many are left out."""
        n = len(self.rates)
        few = f"the slowest {MOST_PAIRS} of {fmt.count(n)} pairs"
        return f"more than {MAP_MOST} workers: {few if n > MOST_PAIRS else 'pairs'} as bars"

    def open_row(self, key: str) -> None:
        """Open the transfers of the worker that received."""
        self.open_transfers(key.partition(" ")[2])


@register_plot
class BandwidthWorkers(StackPlot):
    """Bandwidth from worker to worker: a map of all pairs, or bars where there are too many."""

    name = "bandwidth-workers"
    title = "Bandwidth by Workers"
    group = "Workers"
    description = "How fast data moves from which worker to which."
    help = (
        "One square for each pair of workers, from the worker of the row to that of the "
        "column: a moving average over transfers above 1 MB. With many workers pairs are "
        "bars, the slowest first.\n"
        "- paler: slower\n"
        "- click a square: the transfers of the worker that received\n"
        "- healthy: all alike\n"
        "- a pale row or column: that worker or its host has a slow network or is too busy"
    )
    keywords = ("network", "rate", "pairs", "heat map", "matrix", "transfer", "communication")

    needs = frozenset({"bandwidth-workers"})
    plots = (BandwidthMap, PairBars)

    def table(self) -> Table:
        """Return one row a pair, in bytes a second."""
        pairs = self.store.extras["bandwidth-workers"]
        return Table({name: c.tolist() for name, c in pairs.columns.items()}, {"rate": "B/s"})
