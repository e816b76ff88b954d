"""All that is known of each worker as a sortable table, with totals above it.

Metrics of the user's own are columns that come and go with the workers that report them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
import numpy.typing as npt
from bokeh.models.layouts import Column

from dask_diag_lab.store.processes import common_limit
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.base import Notice, Table
from dask_diag_lab.views.data_table import Kind, SortableTable, TableColumn
from dask_diag_lab.views.figure import set_properties
from dask_diag_lab.views.look import LIGHT, Look
from dask_diag_lab.views.no_workers import no_workers
from dask_diag_lab.views.palette import data_colors
from dask_diag_lab.views.redrawn import RedrawnView
from dask_diag_lab.views.worker_names import COLUMN_CHARACTERS, readable_name, short_names
from dask_diag_lab.views.workers import worker_metrics as wm
from dask_diag_lab.views.workers.process_bars import shared_words
from dask_diag_lab.views.workers.totals_line import TotalsLine
from dask_diag_lab.views.workers.worker_hosts import Hosts

if TYPE_CHECKING:
    from bokeh.models.ui import UIElement

    from dask_diag_lab.store import Store

SILENT_S: Final = 60.0
"""A worker not heard of for this long is marked; the stock dashboard's limit as well."""

COLUMNS: Final = (
    TableColumn("name", "Name", "key", 104),
    TableColumn("cpu", "CPU", "percent", 62),
    TableColumn("memory", "Process memory", "bytes", 112),
    TableColumn("memory_share", "of limit", "percent", 64),
    TableColumn("status", "Status", width=76),
    TableColumn("nthreads", "Threads", "number", 64),
    TableColumn("memory_limit", "Limit", "bytes", 84),
    TableColumn("managed", "Managed", "bytes", 84),
    TableColumn("unmanaged_old", "Unmanaged", "bytes", 90),
    TableColumn("unmanaged_recent", "Unm. recent", "bytes", 92),
    TableColumn("spilled", "Spilled", "bytes", 84),
    TableColumn("processing", "Processing", "number", 84),
    TableColumn("executing", "Executing", "number", 78),
    TableColumn("in_memory", "In memory", "number", 82),
    TableColumn("occupancy", "Occupancy", "seconds", 104),
    TableColumn("network_read", "Host net in", "rate", 104),
    TableColumn("network_write", "Host net out", "rate", 112),
    TableColumn("disk_read", "Host disk read", "rate", 120),
    TableColumn("disk_write", "Host disk write", "rate", 122),
    TableColumn("fds", "Open files", "number", 80),
    TableColumn("event_loop", "Event loop", "seconds", 108),
    TableColumn("last_seen", "Last seen", "time", 78),
    TableColumn("host", "Host", width=110),
)
ADDRESS: Final = TableColumn("worker", "Address", width=190)

_FROM_STORE: Final = (
    *("nthreads", "memory", "memory_limit", "managed", "unmanaged_old", "unmanaged_recent"),
    *("spilled", "processing", "executing", "occupancy", "last_seen"),
)
_FROM_METRICS: Final[Mapping[str, str]] = {
    "network_read": wm.NETWORK_READ,
    "network_write": wm.NETWORK_WRITE,
    "disk_read": wm.DISK_READ,
    "disk_write": wm.DISK_WRITE,
    "fds": wm.FDS,
    "event_loop": wm.EVENT_LOOP,
}
_SUMMED: Final = ("nthreads", "spilled", "processing", "executing", "in_memory", "occupancy")
_OF_PROCESS: Final = ("memory", "managed", "unmanaged_old", "unmanaged_recent")
_PER_HOST: Final = ("network_read", "network_write", "disk_read", "disk_write")
_BYTES: Final = frozenset({wm.GPU_MEMORY, wm.GPU_MEMORY_TOTAL, wm.RMM_USED, wm.RMM_TOTAL})
_UNITS: Final[Mapping[Kind, str]] = {
    "bytes": "B",
    "rate": "B/s",
    "seconds": "s",
    "time": "s",
    "percent": "%",
}

Values = dict[str, Any]  # arrays and lists, by column


class WorkersTable(RedrawnView):
    """One row a worker."""

    needs: ClassVar[frozenset[str]] = frozenset()

    def __init__(
        self, store: Store, look: Look = LIGHT, arguments: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(store, look, arguments)
        self._custom: dict[str, TableColumn] = {}
        self._named: tuple[Sequence[str], list[str]] = ((), [])

    def build(self) -> UIElement:
        """Return the totals over the table; see `View.build`."""
        self.totals = TotalsLine(self.look)
        columns = (*COLUMNS, ADDRESS)
        self.rows = SortableTable(self.look, columns, on_click=self._clicked, frozen=1)
        self.model = Column(
            children=[self.totals.model, self.rows.model],
            sizing_mode="stretch_both",
            spacing=0,
            margin=0,
        )
        self.restyle()
        return self.model

    def restyle_models(self) -> None:
        """Apply `look`; see `RedrawnView.restyle_models`."""
        set_properties(self.model, styles={"background-color": self.look.background})
        self.totals.restyle(self.look)
        self.rows.restyle(self.look)

    def shown(self) -> object:
        """Return what differs when the table has to; see `RedrawnView.shown`."""
        store = self.store
        # Whole steps of 10 s: the words of a silent worker change no faster.
        silent = (self._silent_s() // 10).tobytes()
        versions = store.workers.version, store.nthreads.version
        return versions, store.scheduler is None, self.look, silent

    def redraw(self) -> None:
        """Send the columns that changed; see `RedrawnView.redraw`."""
        workers, silent = self.store.workers, self._silent_s()
        custom, hidden = wm.custom_metrics(workers)
        columns = (*COLUMNS, *self._custom_columns(custom), ADDRESS)
        self.rows.replace_columns(columns)
        values = self._values(custom)
        values["name"] = self._short_names()
        values["status"] = _status_words(values["status"], silent)
        mark = data_colors(self.look).memory_over
        self.rows.set(values, [mark if s > 0 else None for s in silent.tolist()])
        self.totals.set(self._totals(values))
        is_empty = not len(workers)
        hidden_words = f"{fmt.plural(hidden, 'more metric')} of workers not shown" if hidden else ""
        notes = [words for words in (hidden_words, shared_words(workers)) if words]
        empty = no_workers(self.store) if is_empty else ""
        self.notice = Notice(empty=empty, note="; ".join(notes))

    def _short_names(self) -> list[str]:
        """Return names that tell the workers apart in the width of their column."""
        names = self.store.workers.name
        if self._named[0] != names:
            readable = list(map(readable_name, names))
            self._named = (names, short_names(readable, COLUMN_CHARACTERS))
        return self._named[1]

    def _clicked(self, row: int) -> None:
        addresses = self.store.workers.address
        if row < len(addresses):
            self.open("worker", worker=addresses[row])

    def _silent_s(self) -> npt.NDArray[np.float64]:
        """Return for how long each worker was not heard of; 0 below `SILENT_S`."""
        age = self.store.time - self.store.workers.last_seen
        return np.where(age > SILENT_S, age, 0.0)

    def _custom_columns(self, custom: Mapping[str, Sequence[object]]) -> list[TableColumn]:
        found = {}
        for name, cells in custom.items():
            is_number = all(
                c is None or (isinstance(c, (int, float)) and c is not True and c is not False)
                for c in cells
            )
            kind: Kind = "text" if not is_number else "bytes" if name in _BYTES else "number"
            width = min(max(8 * len(name) + 16, 80), 180)
            found[name] = TableColumn(f"metric:{name}", name, kind, width)
        self._custom = found
        return list(found.values())

    def _values(self, custom: Mapping[str, Sequence[object]]) -> Values:
        """Return one array or list for each column."""
        workers = self.store.workers
        limit = workers.memory_limit.astype(np.float64)
        limit[limit <= 0] = np.nan
        values: Values = {name: workers.column(name) for name in _FROM_STORE}
        values |= {name: wm.metric(workers, key) for name, key in _FROM_METRICS.items()}
        values |= {
            "name": workers.name,
            "status": list(workers.status),
            "host": workers.host,
            "worker": workers.address,
            "cpu": workers.cpu / 100,
            "memory_share": workers.memory / limit,
            "memory_limit": limit,
            "in_memory": np.nan_to_num(wm.metric(workers, wm.IN_MEMORY)),
        }
        for name, cells in custom.items():
            is_text = self._custom[name].kind == "text"
            values[f"metric:{name}"] = (
                ["" if cell is None else str(cell) for cell in cells]
                if is_text
                else [np.nan if cell is None else cell for cell in cells]
            )
        return values

    def _sums(self, values: Values) -> dict[str, float]:
        """Return the total of each column that has one; one of a shared process or host once."""
        workers, totals = self.store.workers, self.store.workers.totals()
        sums = {name: float(np.nansum(values[name])) for name in _SUMMED}
        sums |= {name: float(getattr(totals, name)) for name in _OF_PROCESS}
        sums["cpu"] = totals.cpu / 100
        sums["fds"] = float(np.nansum(values["fds"][workers.processes.told_by]))
        limit = common_limit(workers.processes.limits(workers.memory_limit))
        sums["memory_limit"] = limit or float("nan")
        hosts = Hosts.of(workers.host)
        for name in _PER_HOST:
            sums[name] = float(np.nansum(hosts.newest(values[name], workers.last_seen)))
        return sums

    def _totals(self, values: Values) -> list[tuple[str, str]]:
        number = len(self.store.workers)
        if not number:
            return []
        sums, hosts = self._sums(values), len(set(values["host"]))
        limit = sums["memory_limit"]
        of_limit = (
            f" of {fmt.binary(limit)} · {fmt.percent(sums['memory'] / limit)}" if limit > 0 else ""
        )
        rate = {name: fmt.si(sums[name], "B/s") for name in _PER_HOST}
        return [
            ("Total", f"{fmt.plural(number, 'worker')} on {fmt.plural(hosts, 'host')}"),
            ("Threads", fmt.count(sums["nthreads"])),
            ("CPU", f"{fmt.percent(sums['cpu'])} of {fmt.percent(sums['nthreads'])}"),
            ("Process memory", fmt.binary(sums["memory"]) + of_limit),
            ("Managed", fmt.binary(sums["managed"])),
            (
                "Unmanaged, recent",
                f"{fmt.binary(sums['unmanaged_old'])}, {fmt.binary(sums['unmanaged_recent'])}",
            ),
            ("Spilled", fmt.binary(sums["spilled"])),
            ("Processing", fmt.count(sums["processing"])),
            ("Executing", fmt.count(sums["executing"])),
            ("In memory", fmt.count(sums["in_memory"])),
            ("Occupancy", fmt.duration(sums["occupancy"])),
            ("Hosts' net in, out", f"{rate['network_read']}, {rate['network_write']}"),
            ("Hosts' disk read, write", f"{rate['disk_read']}, {rate['disk_write']}"),
        ]

    def table(self) -> Table:
        """Return the total as the first row, then one row a worker."""
        custom, _ = wm.custom_metrics(self.store.workers)
        columns = (*COLUMNS, *self._custom_columns(custom), ADDRESS)
        values = self._values(custom)
        sums = self._sums(values)
        told: dict[str, Sequence[Any]] = {}  # numbers and text
        units = {}
        for column in columns:
            short = column.name.removeprefix("metric:")
            name = column.name if short in told else short
            cells = values[column.name]
            total = "Total" if name == "name" else sums.get(column.name)
            rows = cells.tolist() if isinstance(cells, np.ndarray) else cells
            scale = 100.0 if column.kind == "percent" else None
            told[name] = [_cell(cell, scale) for cell in (total, *rows)]
            if column.kind in _UNITS:
                units[name] = _UNITS[column.kind]
        return Table(told, units)


def _cell(value: object, scale: float | None = None) -> object:
    """Return a value, `scale` times if that is given, with None for what is not known."""
    if not isinstance(value, float):
        return value
    if not np.isfinite(value):
        return None
    return value if scale is None else value * scale


def _status_words(status: Sequence[str], silent: npt.NDArray[np.float64]) -> list[str]:
    return [
        f"silent for {fmt.duration(age // 10 * 10)}" if age else name.replace("_", " ")
        for name, age in zip(status, silent.tolist(), strict=True)
    ]
