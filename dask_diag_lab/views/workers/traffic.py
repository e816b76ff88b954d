"""Data on its way: between workers, how much and how fast, and the traffic of hosts.

Bandwidths are moving averages that the scheduler keeps over transfers above 1 MB.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

import numpy as np
from bokeh.events import Event, Tap
from bokeh.models import FixedTicker, Range1d

from dask_diag_lab.schema import Kind
from dask_diag_lab.store.sums import ALL, Window
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.bars import BarPlot, Part
from dask_diag_lab.views.data import Column, DataPlot, JobView, Rows
from dask_diag_lab.views.figure import FigureView, set_properties
from dask_diag_lab.views.models import EvenLabels
from dask_diag_lab.views.names import in_order, known_names, worker_label, worker_name
from dask_diag_lab.views.palette import data_colors
from dask_diag_lab.views.registry import register_plot
from dask_diag_lab.views.stack import ExtraPlot, ExtraStack
from dask_diag_lab.views.tasks.task_counts import Floats
from dask_diag_lab.views.view import Table
from dask_diag_lab.views.workers import common
from dask_diag_lab.views.workers.common import (
    WORKER,
    WorkerBars,
    WorkerPlot,
    metric,
    newest_by_host,
)

if TYPE_CHECKING:
    from bokeh.models import ColumnDataSource
    from bokeh.plotting import figure

    from dask_diag_lab.store import History

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

_PALEST, _STRONGEST = 0.15, 0.65
"""Opacity of the slowest and the fastest pair: text stays readable on both."""


class Bandwidth(ExtraPlot, DataPlot):
    """Rows of one of the two extra tables."""

    empty = NO_TRANSFERS

    @property
    def rates(self) -> Floats:
        """Bytes a second of each row of the table."""
        return np.asarray(self.extra["rate"], dtype=np.float64)

    def headline(self) -> str:
        """Return slowest and fastest; see `DataPlot.headline`."""
        rates = self.rates
        ends = [fmt.si(float(rate), "B/s") for rate in (rates.min(), rates.max())]
        return f"Bandwidth: {' to '.join(dict.fromkeys(ends))}"


@register_plot
class BandwidthTypes(Bandwidth, BarPlot):
    """Bandwidth by type of the data."""

    name = "bandwidth-types"

    reads = ("bandwidth-types",)
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
        types = self.extra
        return {"type": list(map(str, types["type"].tolist())), "rate": types["rate"]}

    def open_row(self, key: str) -> None:
        """Open the single transfers."""
        del key
        self.open("transfers")


class Rates(NamedTuple):
    """Bytes a second by the addresses of source and destination."""

    source: Sequence[str]
    destination: Sequence[str]
    rate: Floats
    addresses: set[str]


NO_RATES: Final = Rates([], [], np.empty(0), set())


def rates_job(history: History, period: Window) -> Callable[[], Rates]:
    """Return what works out the rates of the transfers that ended in a period, in any thread."""
    read, strings = history.actions.sums(period, ("source", "worker", "kind")), history.strings

    def make() -> Rates:
        sums = read().columns
        its = (sums["kind"] == Kind.TRANSFER) & (sums["source"] > 0) & (sums["ended_s"] > 0)
        source, to = (strings.take(sums[name][its].tolist()) for name in ("source", "worker"))
        return Rates(source, to, sums["nbytes"][its] / sums["ended_s"][its], {*source, *to})

    return make


class Pairs(JobView[Rates], Bandwidth):
    """Bandwidth from worker to worker: the scheduler's, or that of the transfers of a period."""

    has_period = True
    reads = ("bandwidth-workers", "workers", "seen_workers", "actions")

    @property
    def known(self) -> Rates:
        """The newest rates that there are."""
        if self.period != ALL:
            begin = partial(rates_job, self.history, self.period)
            version = self.history.actions.version
            return self._latest.begun(self.period, version, begin) or NO_RATES
        source, to = (self.extra[name].tolist() for name in ("source", "destination"))
        return Rates(source, to, super().rates, {*source, *to})

    @property
    def rates(self) -> Floats:
        """Bytes a second of each pair."""
        return self.known.rate

    def addresses(self) -> list[str]:
        """Return the workers of all pairs: those that are there first, in the usual order."""
        return in_order(self.known.addresses, known_names(self.history))

    def pair_name(self, pair: tuple[str, str]) -> str:
        """Return both workers by name."""
        return " → ".join(worker_label(self.history, address) for address in pair)


class BandwidthMap(Pairs, FigureView):
    """A square for each pair, paler when slower; nothing where there are too many."""

    columns = (
        *(Column("pair"), Column("rate", unit="rate"), Column("source"), Column("destination")),
        *(Column(name, in_table=False) for name in ("x", "y", "rate_text", "written", "alpha")),
    )

    def rows(self) -> Rows:
        """Return a row for each pair; `x` and `y` number the workers."""
        self._mapped = self.addresses()
        if len(self._mapped) > MAP_MOST:
            self._mapped = []
        source, to, rates, _ = self.known if self._mapped else NO_RATES
        pairs = list(zip(source, to, strict=True))
        number = {address: float(at) for at, address in enumerate(self._mapped)}
        written = [fmt.si(rate, "B/s") for rate in rates.tolist()]
        share, of = rates / rates.max(initial=1.0), self.period_text or "moving average"
        return {
            "pair": [self.pair_name(pair) for pair in pairs],
            "rate": rates,
            "source": source,
            "destination": to,
            "x": np.array([number[one] for one in to]),
            "y": np.array([number[one] for one in source]),
            "rate_text": [f"{text}, {of}" for text in written],
            "written": written if len(number) <= MOST_WRITTEN else [""] * len(written),
            "alpha": _PALEST + (_STRONGEST - _PALEST) * share,
        }

    def headline(self) -> str:
        """Return slowest and fastest, and what the shade means."""
        return f"{super().headline()}, paler is slower"

    def make_figure(self, source: ColumnDataSource) -> figure:
        """Return the map; see `FigureView.make_figure`."""
        picture = self.new_figure(
            hover=("@pair", "@rate_text", "from @source", "to @destination"),
            x_range=Range1d(),
            y_range=Range1d(),
            x_axis_label="to worker",
            y_axis_label="from worker",
        )
        picture.grid.visible = False
        squares = picture.rect("x", "y", width=0.94, height=0.94, source=source, fill_alpha="alpha")
        fill = data_colors(self.look).load_normal
        set_properties(squares.glyph, line_color=self.look.grid, fill_color=fill)
        picture.hover.renderers = [squares]
        picture.text(
            *("x", "y", "written"),
            source=source,
            text_color=self.look.foreground,
            text_align="center",
            text_baseline="middle",
            text_font_size=self.look.font_size,
        )
        self._tickers = FixedTicker(), FixedTicker()
        for axis, ticker in zip(picture.axis, self._tickers, strict=True):
            axis.update(
                ticker=ticker,
                major_tick_line_color=None,
                major_label_policy=EvenLabels(),
            )
        picture.on_event(Tap, self._tapped)
        return picture

    def adjust(self, picture: figure, rows: Rows) -> None:
        """Name the workers on both axes."""
        del rows
        n = len(self._mapped)
        set_properties(picture.x_range, start=-0.5, end=n - 0.5)
        set_properties(picture.y_range, start=n - 0.5, end=-0.5)
        labels = (fmt.elide(worker_name(self.history, each), 14) for each in self._mapped)
        names = dict(enumerate(labels))
        for axis, ticker in zip(picture.axis, self._tickers, strict=True):
            set_properties(ticker, ticks=list(names))
            set_properties(axis, major_label_overrides=names)

    def _tapped(self, event: Event) -> None:
        if isinstance(event, Tap) and event.x is not None:
            number = round(event.x)
            if 0 <= number < len(self._mapped):
                self.open("transfers", worker=self._mapped[number])


class PairBars(Pairs, BarPlot):
    """The slowest pairs, where there are too many for a map."""

    columns = (
        Column("pair", "Pair", shown=False),
        Column("rate", "Bandwidth", "rate"),
    )
    parts = (Part("rate"),)
    noun = "pair"
    label, key = "pair", "key"
    merges = "none"

    def rows(self) -> Rows:
        """Return a row for each of the slowest pairs; none where a map shows all."""
        source, to, rates, addresses = self.known
        slowest = np.argsort(rates, kind="stable")
        slowest = slowest[: 0 if len(addresses) <= MAP_MOST else MOST_PAIRS]
        pairs = [(source[at], to[at]) for at in slowest.tolist()]
        return {
            "pair": [self.pair_name(pair) for pair in pairs],
            "key": [" ".join(pair) for pair in pairs],
            "rate": rates[slowest],
        }

    def note(self) -> str:
        """Return why this is no map, and how many are left out."""
        n = len(self.rates)
        few = f"the slowest {MOST_PAIRS} of {fmt.count(n)} pairs"
        return f"more than {MAP_MOST} workers: {few if n > MOST_PAIRS else 'pairs'} as bars"

    def open_row(self, key: str) -> None:
        """Open the transfers of the worker that received."""
        self.open("transfers", worker=key.partition(" ")[2])


@register_plot
class BandwidthWorkers(ExtraStack):
    """Bandwidth from worker to worker: a map of all pairs, or bars where there are too many."""

    name = "bandwidth-workers"

    plots = (BandwidthMap, PairBars)

    def table(self) -> Table:
        """Return a row for each pair."""
        source, to, rate, _ = next(part.known for part in self.parts if isinstance(part, Pairs))
        columns = {"source": source, "destination": to, "rate": rate.tolist()}
        return Table(columns, {"rate": "B/s"})


@register_plot
class DataTransfer(WorkerBars):
    """Bytes that each worker receives from and sends to others right now."""

    name = "workers-transfer-bytes"

    columns = (
        *WORKER,
        Column("incoming_bytes", "Incoming", "bytes"),
        Column("outgoing_bytes", "Outgoing", "bytes"),
    )
    parts = (
        Part("incoming_bytes", "incoming, above", "incoming"),
        Part("outgoing_bytes", "outgoing, below", "outgoing"),
    )
    is_split = True
    value = ("incoming_bytes", "outgoing_bytes")
    signs = ("↓", "↑")

    def headline(self) -> str:
        """Return the sums; see `DataPlot.headline`."""
        totals = self.history.workers.totals()
        incoming, outgoing = fmt.binary(totals.incoming_bytes), fmt.binary(totals.outgoing_bytes)
        return f"Bytes in transfer: {incoming} incoming, {outgoing} outgoing"


class HostTraffic(WorkerPlot, BarPlot):
    """Bytes a second of each host, as the newest heartbeat of its workers tells it.

    The counters are the host's: one bar a host, however many workers it has.

    Attributes
    ----------
    metrics : sequence of str
        What comes in, what goes out; their columns are named in `value`.
    """

    metrics: ClassVar[Sequence[str]] = ()
    is_split = True
    signs = ("↓", "↑")
    noun = "host"
    key = label = "host"

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        above, below = cls.value
        cls.parts = (
            Part(above, f"{above}, above", "incoming"),
            Part(below, f"{below}, below", "outgoing"),
        )
        cls.columns = (
            Column("host", shown=False),
            Column("workers", "Workers on this host", "count"),
            *(Column(name, name.capitalize(), "rate") for name in cls.value),
        )

    def rows(self) -> Rows:
        """Return a row for each host that anybody tells of; see `BarPlot.rows`."""
        workers = self.history.workers
        amounts = [newest_by_host(workers, metric(workers, key)) for key in self.metrics]
        hosts = Counter(workers.host)
        if not any(np.isfinite(list(amount.values())).any() for amount in amounts):
            hosts.clear()
        rates = {
            name: np.array([amount[host] for host in hosts])
            for name, amount in zip(self.value, amounts, strict=True)
        }
        return {"host": list(hosts), "workers": list(hosts.values()), **rates}

    def headline(self) -> str:
        """Return the sums; see `DataPlot.headline`."""
        rows = self.rows()
        sums = [f"{fmt.si(float(np.nansum(rows[name])), 'B/s')} {name}" for name in self.value]
        return f"{self.title}: {', '.join(sums)}"

    def open_row(self, key: str) -> None:
        """Open the table of all workers, which has their hosts."""
        del key
        self.open("workers")


@register_plot
class HostNetwork(HostTraffic):
    """Network traffic of each host."""

    name = "workers-network"

    metrics = (common.NETWORK_READ, common.NETWORK_WRITE)
    value = ("received", "sent")
    empty = common.NO_NETWORK


@register_plot
class HostDisk(HostTraffic):
    """Disk traffic of each host."""

    name = "workers-disk"

    metrics = (common.DISK_READ, common.DISK_WRITE)
    value = ("read", "written")
    empty = common.NO_DISK
