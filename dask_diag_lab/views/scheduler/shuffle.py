"""P2P shuffles, worker by worker: what was sent and stored, and how full the buffers are."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.views import controls
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.bar_figure import BYTES
from dask_diag_lab.views.base import Notice, Table
from dask_diag_lab.views.figure import set_properties
from dask_diag_lab.views.palette import data_colors
from dask_diag_lab.views.scheduler.bar_stack import BarStack
from dask_diag_lab.views.scheduler.costs import WAITING
from dask_diag_lab.views.scheduler.part_bars import Bar, Part, PartBars
from dask_diag_lab.views.shown_name import shown_name
from dask_diag_lab.views.worker_names import open_worker, worker_in_words

if TYPE_CHECKING:
    from bokeh.models.ui import UIElement

NOTHING: Final = (
    "No P2P shuffle has been reported since these diagnostics began. Dask uses it for merge,"
    " set_index and rechunk of data that does not fit into one worker; one that is over within"
    " a heartbeat reports nothing."
)
NEWEST: Final = ""
MOVED: Final = (
    ("comm_written", "Sent to other workers", "transfer", " "),
    ("comm_read", "Received", "transfer", "right_diagonal_line"),
    ("disk_written", "Written to disk", "disk", " "),
    ("disk_read", "Read from disk", "disk", "right_diagonal_line"),
)
"""Columns of the upper figure with their words, colour and hatch."""
BUFFERS: Final = (
    ("comm_memory", "Waiting to be sent", "transfer", "comm_limit"),
    ("disk_memory", "Waiting to be written", "disk", "disk_limit"),
)
"""Columns of the lower figure, and the column of their limit."""


class Shuffle(BarStack):
    """Bytes moved by one shuffle, and the bytes in its buffers, as each worker last reported."""

    needs = frozenset({"shuffles"})
    chosen = NEWEST

    def compose(self) -> Sequence[UIElement | PartBars]:
        """Return the choice above two figures; see `BarStack.compose`."""
        self._choice = controls.select(
            self.look, "Shuffle", [(NEWEST, "the newest")], NEWEST, self._choose, width=220
        )
        self._controls = controls.bar(self._choice)
        self._moved = self._part_bars()
        self._buffers = self._part_bars()
        return self._controls, self._moved, self._buffers

    def _part_bars(self) -> PartBars:
        return PartBars(self.look, BYTES, on_tap=partial(open_worker, self), said=fmt.binary)

    def _choose(self, shuffle: str) -> None:
        self.chosen = shuffle

    def shown(self) -> object:
        """Return what differs when the picture has to; see `RedrawnView.shown`."""
        workers = (tuple(self.store.workers.address), self.store.seen_workers.version)
        version = self.store.extras["shuffles"].version
        return version, workers, self.chosen, self.sizes, self.look

    def redraw(self) -> None:
        """Draw the chosen one; see `RedrawnView.redraw`."""
        shuffles = self.store.extras["shuffles"]
        has_any = bool(len(shuffles))
        for part in (self._controls, self._moved.figure, self._buffers.figure):
            set_properties(part, visible=has_any)
        if not has_any:
            self.notice = Notice(empty=NOTHING if shuffles.is_known else WAITING)
            return
        ids = list(dict.fromkeys(shuffles["id"].tolist()))
        options = [(NEWEST, "the newest"), *((name, shown_name(name, 40)) for name in ids)]
        set_properties(self._choice, options=options)
        rows = self._rows()
        self._draw_moved(rows)
        self._draw_buffers(rows)
        hidden = self._moved.hidden
        more = f"; {fmt.plural(hidden, 'worker')} in one bar" if hidden else ""
        told = f"this one by {fmt.plural(len(rows), 'worker')}"
        self.notice = Notice(
            note=f"{fmt.plural(len(ids), 'shuffle')}; {told} as last reported{more}"
        )

    def _rows(self) -> npt.NDArray[np.int64]:
        """Return the rows of the chosen shuffle, busiest worker first."""
        shuffles = self.store.extras["shuffles"]
        ids = shuffles["id"]
        shown = self.chosen if self.chosen in ids.tolist() else ids[-1]
        rows = np.flatnonzero(ids == shown)
        sent = shuffles["comm_written"][rows] + shuffles["comm_read"][rows]
        return rows[np.argsort(-sent, kind="stable")]

    def _draw_moved(self, rows: npt.NDArray[np.int64]) -> None:
        shuffles, colors = self.store.extras["shuffles"], data_colors(self.look)
        bars = []
        for row in rows[: self._moved.room].tolist():
            address = str(shuffles["worker"][row])
            name = worker_in_words(self.store, address)
            parts = [
                self._part(name, title, float(shuffles[column][row]), getattr(colors, color), hatch)
                for column, title, color, hatch in MOVED
            ]
            total = sum(part.length for part in parts)
            bars.append(Bar(name, parts, fmt.binary(total), address))
        sent = float(shuffles["comm_written"][rows].sum())
        stored = float(shuffles["disk_written"][rows].sum())
        sent_said, stored_said = f"{fmt.binary(sent)} sent", f"{fmt.binary(stored)} written to disk"
        title = f"{sent_said} (striped: received), {stored_said} (striped: read)"
        more = self._more(rows[len(bars) :], [name for name, *_ in MOVED])
        self._moved.draw(title, bars, short_titles=[f"{sent_said}, {stored_said}"], more=more)

    def _draw_buffers(self, rows: npt.NDArray[np.int64]) -> None:
        shuffles, colors = self.store.extras["shuffles"], data_colors(self.look)
        bars = []
        for row in rows[: self._buffers.room].tolist():
            address = str(shuffles["worker"][row])
            name = worker_in_words(self.store, address)
            parts = [
                self._part(
                    *(name, title, float(shuffles[column][row]), getattr(colors, color), " "),
                    limit=float(shuffles[limit][row]),
                )
                for column, title, color, limit in BUFFERS
            ]
            total = sum(part.length for part in parts)
            bars.append(Bar(name, parts, fmt.binary(total), address))
        limits = [shuffles[limit][rows] for _, _, _, limit in BUFFERS]
        known = [float(np.nanmax(limit)) for limit in limits if np.isfinite(limit).any()]
        self._buffers.draw(
            "In buffers, as last reported",
            bars,
            at_least=max(known, default=0.0),
            more=self._more(rows[len(bars) :], [name for name, *_ in BUFFERS]),
        )

    def _more(self, rest: npt.NDArray[np.int64], names: Sequence[str]) -> tuple[int, float]:
        """Return how many workers get no bar, and the sum of what they moved or hold."""
        shuffles = self.store.extras["shuffles"]
        return len(rest), sum(float(np.nansum(shuffles[name][rest])) for name in names)

    @staticmethod
    def _part(name: str, title: str, nbytes: float, color: str, hatch: str, **more: Any) -> Part:
        limit = more.get("limit", float("nan"))
        of = f" of {fmt.binary(limit)}" if np.isfinite(limit) else ""
        amount = nbytes if np.isfinite(nbytes) else 0.0
        return Part(amount, color, (name, f"{title}: {fmt.binary(amount)}{of}"), hatch)

    def table(self) -> Table:
        """Return one row for each shuffle and worker."""
        shuffles = self.store.extras["shuffles"]
        units = {column.name: column.unit for column in shuffles.extra.columns if column.unit}
        return Table({name: shuffles[name].tolist() for name in shuffles.columns}, units)
