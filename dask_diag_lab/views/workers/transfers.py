"""Transfers between workers, from the logs that the workers keep: a timeline and a table.

Works without the workers' own HTTP servers; asked again every 2 s while somebody looks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Final

from bokeh.models.layouts import Column

from dask_diag_lab.views import controls
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.asked import REFRESH_S, Asked, refresh_s
from dask_diag_lab.views.base import Notice, Table
from dask_diag_lab.views.data_table import SortableTable
from dask_diag_lab.views.figure import set_properties
from dask_diag_lab.views.latest import Latest
from dask_diag_lab.views.look import LIGHT, Look
from dask_diag_lab.views.no_workers import no_workers
from dask_diag_lab.views.pane_size import PaneSize, pane_size
from dask_diag_lab.views.redrawn import RedrawnView
from dask_diag_lab.views.time_axis import fit_time_axis, tell_zero
from dask_diag_lab.views.worker_names import (
    NamedWorkers,
    name_in_words,
    worker_name,
)
from dask_diag_lab.views.workers.transfer_lanes import TransferLanes
from dask_diag_lab.views.workers.transfer_log import TransferLog
from dask_diag_lab.views.workers.transfer_picture import (
    MAX_DRAWN,
    TransferPicture,
    TransferWish,
    picture_of,
)
from dask_diag_lab.views.workers.transfer_rows import COLUMNS, transfer_table

if TYPE_CHECKING:
    from bokeh.models.ui import UIElement

    from dask_diag_lab.store import Store
    from dask_diag_lab.store.inquiries import Inquiry

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
        self._logs: Latest[TransferLog] = Latest(store.workings)
        self._pictures: Latest[TransferPicture] = Latest(store.workings)
        self._last_named: tuple[object, NamedWorkers] = (None, NamedWorkers({}, {}))

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
        known = dict(self._named().there)
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
            *(self._picture(inquiry), bool(inquiry.answered_at), inquiry.error, self.worker),
            *(self.look, pane_size(self.lanes.figure), self.lanes.place, self._named()),
        )

    def redraw(self) -> None:
        """Draw the last answer; see `RedrawnView.redraw`."""
        inquiry = self._inquiry
        if inquiry is None:
            self._draw_nothing(no_workers(self.store))
            return
        set_properties(self._select, options=self._options(), value=self.worker)
        picture = self._picture(inquiry)
        if picture is None:
            self._draw_nothing(self._empty_words(inquiry, None))
        else:
            self._draw(inquiry, picture, pane_size(self.lanes.figure))

    def _picture(self, inquiry: Inquiry) -> TransferPicture | None:
        """Return the newest picture there is of the answers to a question."""
        answer, size, named = inquiry.answer, pane_size(self.lanes.figure), self._named()
        log = self._logs.of(inquiry, inquiry.n_answers, lambda: TransferLog.of(answer))
        if log is None:
            return None
        most = min(max(size.rows_px // MIN_LANE_PX, 2), MAX_LANES)
        characters = max(min(size.width // 30, 20), 8)
        wish = TransferWish(self.worker, named, most, characters)
        return self._pictures.of(inquiry, (log, wish), lambda: picture_of(log, wish))

    def _named(self) -> NamedWorkers:
        """Return the names of all workers, the same until there are others."""
        seen = (tuple(self.store.workers.address), self.store.seen_workers.version)
        if self._last_named[0] != seen:
            self._last_named = (seen, NamedWorkers.of(self.store))
        return self._last_named[1]

    def _draw(self, inquiry: Inquiry, picture: TransferPicture, size: PaneSize) -> None:
        behind = self.lanes.draw(picture, self.look)
        fit_time_axis(self.lanes.figure, size.width)
        tell_zero(self.lanes.figure, size, self.lanes.zero, "the first transfer")
        self._draw_frame(picture, size)
        self.rows.set(picture.cells)
        self.notice = Notice(
            empty=self._empty_words(inquiry, len(picture.log)),
            note=self._note(inquiry, picture),
            behind_s=behind,
        )

    def _draw_nothing(self, words: str) -> None:
        nothing = TransferWish(self.worker, NamedWorkers({}, {}), 0, 0)
        picture = picture_of(TransferLog.of(None), nothing)
        self.lanes.draw(picture, self.look)
        self._draw_frame(picture, pane_size(self.lanes.figure))
        self.rows.set(picture.cells)
        self.notice = Notice(empty=words)

    def _draw_frame(self, picture: TransferPicture, size: PaneSize) -> None:
        number = len(picture.log)
        received, sent = map(fmt.binary, (picture.received_bytes, picture.sent_bytes))
        title = f"Transfers: {received} received, {sent} sent"
        title += f" · {fmt.plural(number, 'entry').replace('entrys', 'entries')} in the logs"
        text = title if len(title) <= size.title_characters else f"↓ {received}, ↑ {sent}"
        set_properties(self.lanes.title, text=text if number else " ")
        self.lanes.legend.show(is_shown=not size.is_small and bool(number), width=size.width)

    def _empty_words(self, inquiry: Inquiry, n_known: int | None) -> str:
        """Return why nothing is drawn, '' for transfers; ``n_known`` is None before any answer."""
        if n_known:
            return ""
        if inquiry.state == "failed":
            return inquiry.error
        return _NONE if n_known is not None and inquiry.answered_at else _WAITING

    def _note(self, inquiry: Inquiry, picture: TransferPicture) -> str:
        parts, log = [], picture.log
        if picture.n_hidden:
            parts.append(f"{fmt.plural(picture.n_hidden, 'less busy row')} hidden")
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
