"""Transfers between workers, from the logs that the workers keep: a timeline and a table.

Works without the workers' own HTTP servers; asked again every 2 s while somebody looks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
from bokeh.models.layouts import Column

from dask_diag_lab.views import controls
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.asked import REFRESH_S, Asked, refresh_s
from dask_diag_lab.views.base import Notice, Table
from dask_diag_lab.views.data_table import SortableTable
from dask_diag_lab.views.figure import set_properties
from dask_diag_lab.views.look import LIGHT, Look
from dask_diag_lab.views.no_workers import no_workers
from dask_diag_lab.views.pane_size import PaneSize, pane_size
from dask_diag_lab.views.redrawn import RedrawnView
from dask_diag_lab.views.time_axis import fit_time_axis
from dask_diag_lab.views.worker_names import (
    name_in_words,
    short_names,
    worker_in_words,
    worker_name,
    worker_names,
)
from dask_diag_lab.views.workers.transfer_lanes import MAX_DRAWN, TransferLanes
from dask_diag_lab.views.workers.transfer_log import TransferLog
from dask_diag_lab.views.workers.transfer_rows import COLUMNS, cells, transfer_table

if TYPE_CHECKING:
    from bokeh.models.ui import UIElement

    from dask_diag_lab.store import Store
    from dask_diag_lab.store.inquiries import Inquiry

MAX_ROWS: Final = 1000
"""Newest transfers in the table on the screen."""
MAX_LANES: Final = 60
MIN_LANE_PX: Final = 16

_ALL: Final = ""
_WAITING: Final = "Waiting for the answer of the workers."
_NONE: Final = (
    "No transfers yet. Workers send results to each other when a task needs data that another "
    "worker holds."
)


class Transfers(RedrawnView):
    """The transfers of one worker by peer, or of all workers."""

    moves_itself: ClassVar[bool] = True

    def __init__(
        self, store: Store, look: Look = LIGHT, arguments: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(store, look, arguments)
        self._asked = Asked(store)
        self._inquiry: Inquiry | None = None
        self._log: tuple[object, TransferLog] = (None, TransferLog.of(None))

    @property
    def worker(self) -> str:
        """Address of the worker that is shown; '' for all."""
        return self.arguments.get("worker", _ALL)

    def show(self, arguments: Mapping[str, str]) -> None:
        """Show another worker; see `View.show`."""
        super().show(arguments)
        self.lanes.command("live")
        set_properties(self._select, value=self.worker)

    # --- the picture

    def build(self) -> UIElement:
        """Return the choice of the worker, the timeline and the table; see `View.build`."""
        self.lanes = TransferLanes(self.look)
        self.rows = SortableTable(self.look, COLUMNS)
        self._select = controls.select(
            self.look, "Worker", self._options(), self.worker, self._choose, width=190
        )
        self._bar = controls.bar(self._select)
        self.model = Column(
            children=[self._bar, self.lanes.figure, self.rows.model],
            sizing_mode="stretch_both",
            spacing=0,
            margin=0,
        )
        self.restyle()
        return self.model

    def restyle_models(self) -> None:
        """Apply `look`; see `RedrawnView.restyle_models`."""
        set_properties(self.model, styles={"background-color": self.look.background})
        controls.restyle_controls([self._bar], self.look)
        self.lanes.restyle(self.look)
        self.rows.restyle(self.look)

    def command(self, verb: str) -> None:
        """Obey ``live`` and ``fit``; see `TransferLanes.command`."""
        self.lanes.command(verb)
        self._drawn = None

    def _choose(self, worker: str) -> None:
        if worker != self.worker:
            self.arguments = {**self.arguments, "worker": worker}
            self.lanes.command("live")

    def _options(self) -> list[tuple[str, str]]:
        known = worker_names(self.store)
        if self.worker and self.worker not in known:
            known[self.worker] = worker_name(self.store, self.worker)
        return [
            (_ALL, "All"),
            *((address, fmt.elide(name_in_words(name), 60)) for address, name in known.items()),
        ]

    # --- keeping it up to date

    @property
    def _every_s(self) -> float:
        return refresh_s(REFRESH_S, 1 if self.worker else len(self.store.workers))

    def update(self) -> None:
        """Ask when the last answer is old, and draw what changed; see `View.update`."""
        is_anybody = bool(len(self.store.workers) or self.worker)
        self._inquiry = None
        if is_anybody:
            every_s = self._every_s
            self._inquiry = self._asked.fresh("transfers", every_s=every_s, worker=self.worker)
        super().update()

    def shown(self) -> object:
        """Return what differs when the picture has to; see `RedrawnView.shown`."""
        inquiry = self._inquiry
        if inquiry is None:
            return no_workers(self.store), self.look
        return (
            *(id(inquiry), inquiry.answered_at, inquiry.error, self.worker, self.look),
            *(pane_size(self.lanes.figure), self.lanes.place),
            *(tuple(self.store.workers.address), self.store.seen_workers.version),
        )

    def redraw(self) -> None:
        """Draw the last answer; see `RedrawnView.redraw`."""
        if self._inquiry is None:
            self._draw_nothing(no_workers(self.store))
        else:
            self._draw(self._inquiry, pane_size(self.lanes.figure))

    def _draw(self, inquiry: Inquiry, size: PaneSize) -> None:
        log = self._known(inquiry)
        set_properties(self._select, options=self._options(), value=self.worker)
        rows, labels, hidden = self._lanes(log, size)
        words = [self._headline(log, row) for row in range(len(log))]
        behind = self.lanes.draw(log, rows, labels, words, self.look)
        fit_time_axis(self.lanes.figure, size.width)
        self._draw_frame(log, size.title_characters, is_small=size.is_small, width=size.width)
        self.rows.set(cells(log, self._name, slice(-MAX_ROWS, None)))
        self.notice = Notice(
            empty=self._empty_words(inquiry, log),
            note=self._note(inquiry, log, hidden),
            behind_s=behind,
        )

    def _draw_nothing(self, words: str) -> None:
        log = TransferLog.of(None)
        self.lanes.draw(log, np.empty(0, dtype=np.int64), [], [], self.look)
        self.rows.set(cells(log, self._name))
        self.notice = Notice(empty=words)

    def _draw_frame(self, log: TransferLog, characters: int, *, is_small: bool, width: int) -> None:
        incoming = log.is_incoming
        sums = [float(log.nbytes[which].sum()) for which in (incoming, ~incoming)]
        title = f"Transfers: {fmt.binary(sums[0])} received, {fmt.binary(sums[1])} sent"
        title += f" · {fmt.plural(len(log), 'entry').replace('entrys', 'entries')} in the logs"
        short = f"↓ {fmt.binary(sums[0])}, ↑ {fmt.binary(sums[1])}"
        text = title if len(title) <= characters else short
        set_properties(self.lanes.title, text=text if len(log) else " ")
        self.lanes.legend.show(is_shown=not is_small and bool(len(log)), width=width)

    def _known(self, inquiry: Inquiry) -> TransferLog:
        """Return the log of the last answer, read once."""
        name = (id(inquiry), inquiry.answered_at)
        if self._log[0] != name:
            self._log = (name, TransferLog.of(inquiry.answer))
        return self._log[1]

    def _name(self, address: str) -> str:
        return worker_name(self.store, address)

    def _lanes(
        self, log: TransferLog, size: PaneSize
    ) -> tuple[Any, list[str], int]:  # an array of int64 first
        """Return the row of each transfer, the rows' labels, and how many rows are hidden.

        Rows are the peers of one worker, or all workers; the busiest where there are too many.
        """
        whose = log.peer if self.worker else log.worker
        most = min(max(size.rows_px // MIN_LANE_PX, 2), MAX_LANES)
        known = [a for a in self.store.workers.address if a != self.worker]
        order = {address: row for row, address in enumerate(dict.fromkeys([*known, *whose]))}
        used = sorted(set(whose), key=order.__getitem__)
        hidden = max(len(used) - most, 0)
        if hidden:
            moved = dict.fromkeys(used, 0.0)
            for address, nbytes in zip(whose, log.nbytes.tolist(), strict=True):
                moved[address] += nbytes
            kept = set(sorted(used, key=lambda address: -moved[address])[:most])
            used = [address for address in used if address in kept]
        row_of = {address: row for row, address in enumerate(used)}
        rows = np.array([row_of.get(address, -1) for address in whose], dtype=np.int64)
        names = [worker_in_words(self.store, address) for address in used]
        labels = short_names(names, max(min(size.width // 30, 20), 8))
        return rows, labels, hidden

    def _headline(self, log: TransferLog, row: int) -> str:
        ends = (log.worker[row], log.peer[row])
        worker, peer = (worker_in_words(self.store, address) for address in ends)
        return (
            f"{worker} received from {peer}" if log.is_incoming[row] else f"{worker} sent to {peer}"
        )

    def _empty_words(self, inquiry: Inquiry, log: TransferLog) -> str:
        if len(log):
            return ""
        if inquiry.state == "failed":
            return inquiry.error
        return _NONE if inquiry.answered_at else _WAITING

    def _note(self, inquiry: Inquiry, log: TransferLog, hidden: int) -> str:
        parts = []
        if hidden:
            parts.append(f"{fmt.plural(hidden, 'less busy row')} hidden")
        if len(log) > MAX_DRAWN:
            parts.append(f"the newest {fmt.count(MAX_DRAWN)} of {fmt.count(len(log))} drawn")
        if log.dropped:
            parts.append(f"{fmt.count(log.dropped)} older ones in the logs not sent")
        if self._every_s > REFRESH_S:
            parts.append(f"renewed every {self._every_s:.0f} s at this cluster size")
        if log.missing:
            parts.append(f"{fmt.plural(len(log.missing), 'worker')} did not answer")
        if inquiry.state == "failed" and len(log):
            parts.append(f"not up to date: {inquiry.error}")
        return "; ".join(parts)

    def table(self) -> Table:
        """Return one row for each entry of the logs, newest first."""
        inquiry = self.store.inquiries.ask("transfers", worker=self.worker)
        return transfer_table(TransferLog.of(inquiry.answer))
