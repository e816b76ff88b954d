"""What is moved between workers on purpose: stolen tasks, and the data of P2P shuffles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np

from dask_diag_lab.store.arrays import Ints
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.bars import Part
from dask_diag_lab.views.data import Column, Rows
from dask_diag_lab.views.names import worker_label
from dask_diag_lab.views.registry import register_plot
from dask_diag_lab.views.series import Line, Points, SeriesPlot
from dask_diag_lab.views.stack import ExtraPlot, ExtraStack
from dask_diag_lab.views.view import Control
from dask_diag_lab.views.workers.common import WorkerBars

CONFIRMED: Final = "confirmed"
LONGEST_S: Final = 10_000
"""So far back at most: a clock that was set would make the picture any number of seconds long."""
NO_STEALING: Final = (
    "No task has been moved from one worker to another. Dask does that when some workers are idle"
    " and others have more than they can soon do."
)


class _StealingOverTime(ExtraPlot, SeriesPlot):
    """Decisions a second."""

    reads = ("stealing",)
    lines = (
        Line("moved", "Moved", "load_saturated"),
        Line("tried", "Asked for or in vain", "load_normal"),
    )
    unit = "count"
    has_band = False
    empty = NO_STEALING

    def points(self, name: str) -> Points:
        """Return how many decisions of a kind there were in each second."""
        stealing = self.extra
        second = stealing["time"].astype(np.int64)
        last = int(second.max(initial=-1))
        # Of one second alone no line could be drawn.
        first = max(int(second.min()) - 1, last - LONGEST_S) if len(second) else 0
        chosen = ((stealing["event"] == CONFIRMED) == (name == "moved")) & (second >= first)
        counts = np.bincount(second[chosen] - first, minlength=last - first + 1).astype(np.float64)
        return Points(np.arange(first, last + 1, dtype=np.float64), counts, counts, counts)

    def headline(self) -> str:
        """Return how many there were; see `SeriesPlot.headline`."""
        moved = int((self.extra["event"] == CONFIRMED).sum())
        tried = len(self.extra) - moved
        return f"{fmt.count(moved)} moved (solid), {fmt.count(tried)} tried or in vain (dashed)"

    def note(self) -> str:
        """Return how many are not known any more."""
        n_dropped = self.extra.dropped
        return f"{fmt.plural(n_dropped, 'older decision')} dropped" if n_dropped else ""


class _StealingWorkers(ExtraPlot, WorkerBars):
    """Tasks that each worker gave away and took."""

    label = "name"
    order = "size"
    reads = ("stealing", "workers")
    columns = (
        Column("name", "Worker", shown=False),
        Column("gave", "Gave away", "count"),
        Column("took", "Took", "count"),
    )
    parts = (
        Part("gave", "gave away", "load_saturated"),
        Part("took", "took", "load_idle", hatch="/"),
    )
    merges = "sum"
    value = ("gave", "took")
    signs = ("gave", "took")
    empty = NO_STEALING

    def rows(self) -> Rows:
        """Return a row for each worker that gave or took tasks."""
        stealing = self.extra
        moves = stealing["event"] == CONFIRMED
        gave: Counter[str] = Counter(stealing["victim"][moves].tolist())
        took: Counter[str] = Counter(stealing["thief"][moves].tolist())
        ranked = [worker for worker, _ in (gave + took).most_common()]
        return {
            "worker": ranked,
            "name": [worker_label(self.history, worker) for worker in ranked],
            "gave": np.array([gave[worker] for worker in ranked], dtype=np.int64),
            "took": np.array([took[worker] for worker in ranked], dtype=np.int64),
        }

    def headline(self) -> str:
        """Return what is shown; see `DataPlot.headline`."""
        return "Tasks that workers gave away and took (striped)"


@register_plot
class Stealing(ExtraStack):
    """Moves a second, and for each worker the tasks that it gave away and took."""

    name = "stealing"

    plots = (_StealingOverTime, _StealingWorkers)


NEWEST: Final = ""
MOVED: Final = ("comm_written", "comm_read", "disk_written", "disk_read")
BUFFERS: Final = ("comm_memory", "disk_memory")
LIMITS: Final = ("comm_limit", "disk_limit")


class _ShuffleBars(ExtraPlot, WorkerBars):
    """Bytes of the chosen shuffle on each worker, as it last reported."""

    label = "name"
    order = "size"
    reads = ("shuffles", "workers")
    empty = (
        "No P2P shuffle has been reported since these diagnostics began. Dask uses it for merge,"
        " set_index and rechunk of data that does not fit into one worker; one that is over within"
        " a heartbeat reports nothing."
    )
    settings = ("shuffle",)
    shuffle = NEWEST

    def rows(self) -> Rows:
        """Return a row for each worker of the shuffle, the busiest first."""
        shuffles = self.extra
        at = self.shown()
        addresses = shuffles["worker"][at].tolist()
        nbytes = {name: np.nan_to_num(shuffles[name][at]) for name in (*MOVED, *BUFFERS, *LIMITS)}
        return {
            "worker": addresses,
            "name": [worker_label(self.history, address) for address in addresses],
            **nbytes,
            "moved": np.sum([nbytes[name] for name in MOVED], axis=0),
            "waiting": np.sum([nbytes[name] for name in BUFFERS], axis=0),
            "most": np.max([nbytes[name] for name in LIMITS], axis=0),
        }

    def shown(self) -> Ints:
        """Return the rows of the table that belong to the chosen shuffle."""
        shuffles = self.extra
        ids = shuffles["id"].tolist()
        chosen = self.shuffle if self.shuffle in ids else next(reversed(ids), NEWEST)
        rows = np.array([at for at, name in enumerate(ids) if name == chosen], dtype=np.int64)
        sent = shuffles["comm_written"][rows] + shuffles["comm_read"][rows]
        return rows[np.argsort(-sent, kind="stable")]

    def own_controls(self) -> Sequence[Control]:
        """Return which shuffles there are; see `BarPlot.own_controls`."""
        ids = dict.fromkeys(self.extra["id"].tolist())
        options = [(NEWEST, "the newest"), *((name, fmt.elide(name, 40)) for name in ids)]
        return [Control("shuffle", "select", "Shuffle", self.shuffle, options)] if ids else []


class _Moved(_ShuffleBars):
    columns = (
        Column("name", "Worker", shown=False),
        Column("comm_written", "Sent to other workers", "bytes"),
        Column("comm_read", "Received", "bytes"),
        Column("disk_written", "Written to disk", "bytes"),
        Column("disk_read", "Read from disk", "bytes"),
        Column("moved", "Together", "bytes"),
    )
    merges = "sum"
    value = ("moved",)
    parts = (
        Part("comm_written", "sent", "transfer"),
        Part("comm_read", "received", "transfer", hatch="/"),
        Part("disk_written", "written to disk", "disk"),
        Part("disk_read", "read from disk", "disk", hatch="/"),
    )

    def headline(self) -> str:
        """Return the sums; see `DataPlot.headline`."""
        shuffles, at = self.extra, self.shown()
        sent, written = (
            fmt.binary(float(np.nansum(shuffles[name][at])))
            for name in ("comm_written", "disk_written")
        )
        return f"{sent} sent (striped: received), {written} written to disk (striped: read)"

    def note(self) -> str:
        """Return how many shuffles there are, and who reported this one."""
        n = len(set(self.extra["id"].tolist()))
        workers = fmt.plural(len(self.shown()), "worker")
        return f"{fmt.plural(n, 'shuffle')}; this one by {workers} as last reported"


class _Buffered(_ShuffleBars):
    columns = (
        Column("name", "Worker", shown=False),
        Column("comm_memory", "Waiting to be sent", "bytes", share_of="comm_limit"),
        Column("disk_memory", "Waiting to be written", "bytes", share_of="disk_limit"),
        Column("comm_limit", "Limit of what waits to be sent", "bytes"),
        Column("disk_limit", "Limit of what waits to be written", "bytes"),
        Column("waiting", "Together", "bytes"),
    )
    value = ("waiting",)
    track = "most"
    parts = (
        Part("comm_memory", "waiting to be sent", "transfer"),
        Part("disk_memory", "waiting to be written", "disk"),
    )

    def headline(self) -> str:
        """Return what is shown; see `DataPlot.headline`."""
        return "In buffers, as last reported"


@register_plot
class Shuffle(ExtraStack):
    """Bytes moved by one shuffle, and the bytes in its buffers, as each worker last reported."""

    name = "shuffle"

    plots = (_Moved, _Buffered)
