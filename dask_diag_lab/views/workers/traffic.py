"""Data on its way: between workers, how much and how fast, and the traffic of hosts.

Bandwidths are moving averages that the scheduler keeps over transfers above 1 MB.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

import numpy as np
from bokeh.models import FixedTicker, Range1d

from dask_diag_lab.schema import Kind
from dask_diag_lab.store.arrays import Floats
from dask_diag_lab.store.sums import ALL, Window
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.bars import BarPlot, Part
from dask_diag_lab.views.data import Column, DataPlot, JobView, Rows
from dask_diag_lab.views.figure import FigureView, set_properties
from dask_diag_lab.views.look import data_colors
from dask_diag_lab.views.models import EvenLabels, UnitHover
from dask_diag_lab.views.names import in_order, known_names, name_label, worker_name
from dask_diag_lab.views.registry import register_plot
from dask_diag_lab.views.stack import ExtraPlot
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

MAX_PAIRS: Final = 2000
"""A hundred workers have ten thousand: a browser would take long to draw these."""

_PALEST, _STRONGEST = 0.15, 0.65
"""Opacity of the slowest and the fastest pair."""


class Bandwidth(ExtraPlot, DataPlot):
    """Rows of one of the two extra tables."""

    empty = (
        "No transfers above 1 MB yet. Workers send results to each other when a task needs data "
        "that another worker holds."
    )

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


class Rates(NamedTuple):
    """Bytes a second by the addresses of source and destination."""

    source: Sequence[str]
    destination: Sequence[str]
    rate: Floats


NO_RATES: Final = Rates([], [], np.empty(0))


def rates_job(history: History, period: Window) -> Callable[[], Rates]:
    """Return what works out the rates of the transfers that ended in a period, in any thread."""
    read, strings = history.actions.sums(period, ("source", "worker", "kind")), history.strings

    def make() -> Rates:
        sums = read().columns
        its = (sums["kind"] == Kind.TRANSFER) & (sums["source"] > 0) & (sums["ended_s"] > 0)
        source, to = (strings.take(sums[name][its].tolist()) for name in ("source", "worker"))
        return Rates(source, to, sums["nbytes"][its] / sums["ended_s"][its])

    return make


@register_plot
class BandwidthWorkers(JobView[Rates], Bandwidth, FigureView):
    """A square for each pair of workers, paler when slower.

    Of the scheduler's moving averages, or of the transfers of a period.
    """

    name = "bandwidth-workers"

    has_period = True
    reads = ("bandwidth-workers", "workers", "actions")

    @property
    def known(self) -> Rates:
        """The newest rates that there are."""
        if self.period != ALL:
            begin = partial(rates_job, self.history, self.period)
            version = self.history.actions.version
            return self._latest.get_or_begin(self.period, version, begin) or NO_RATES
        source, to = (self.extra[name].tolist() for name in ("source", "destination"))
        return Rates(source, to, super().rates)

    @property
    def rates(self) -> Floats:
        """Bytes a second of each pair."""
        return self.known.rate

    def rows(self) -> Rows:
        """Return a row for each pair; `x` and `y` number the workers."""
        known, names = self.known, known_names(self.history)
        self._mapped = in_order({*known.source, *known.destination}, names)
        slowest = np.sort(np.argsort(known.rate, kind="stable")[:MAX_PAIRS])
        source, to = ([of[at] for at in slowest.tolist()] for of in known[:2])
        rates = known.rate[slowest]
        number = {address: float(at) for at, address in enumerate(self._mapped)}
        label = {address: name_label(names.get(address, address)) for address in self._mapped}
        return {
            "source": source,
            "destination": to,
            "rate": rates,
            "x": np.array([number[one] for one in to]),
            "y": np.array([number[one] for one in source]),
            "of": [label[one] for one in source],
            "to": [label[one] for one in to],
            "alpha": _PALEST + (_STRONGEST - _PALEST) * rates / rates.max(initial=1.0),
        }

    def headline(self) -> str:
        """Return slowest and fastest, and what the shade means."""
        return f"{super().headline()}, paler is slower"

    def note(self) -> str:
        """Return what the rates are of; see `DataPlot.note`."""
        n = len(self.rates)
        few = f"the slowest {fmt.count(MAX_PAIRS)} of {fmt.count(n)} pairs" * (n > MAX_PAIRS)
        return " · ".join(filter(None, (few, self.period_text or "moving averages")))

    def table(self) -> Table:
        """Return a row for each pair."""
        source, to, rate = self.known
        columns = {"source": source, "destination": to, "rate": rate.tolist()}
        return Table(columns, {"rate": "B/s"})

    def make_figure(self, source: ColumnDataSource) -> figure:
        """Return the map; see `FigureView.make_figure`."""
        picture = self.new_figure(
            hover=("@of → @to", "@rate{custom}", "from @source", "to @destination"),
            x_range=Range1d(),
            y_range=Range1d(),
            x_axis_label="to worker",
            y_axis_label="from worker",
        )
        picture.grid.visible = False
        squares = picture.rect("x", "y", width=0.94, height=0.94, source=source, fill_alpha="alpha")
        fill = data_colors(self.look).load_normal
        set_properties(squares.glyph, line_color=self.look.grid, fill_color=fill)
        picture.hover.update(renderers=[squares], formatters={"@rate": UnitHover(unit="rate")})
        self._tickers = FixedTicker(), FixedTicker()
        for axis, ticker in zip(picture.axis, self._tickers, strict=True):
            axis.update(
                ticker=ticker,
                major_tick_line_color=None,
                major_label_policy=EvenLabels(),
            )
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
