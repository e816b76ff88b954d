"""Bandwidth from worker to worker: a map of all pairs, or sorted bars when there are too many."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np
from bokeh.models.layouts import Column

from dask_diag_lab.store.lane_rows import natural_order
from dask_diag_lab.views.base import Notice, Table
from dask_diag_lab.views.figure import set_properties
from dask_diag_lab.views.look import LIGHT, Look
from dask_diag_lab.views.pane_size import pane_size
from dask_diag_lab.views.redrawn import RedrawnView
from dask_diag_lab.views.worker_names import worker_name
from dask_diag_lab.views.workers.bandwidth_bars import BandwidthPairs
from dask_diag_lab.views.workers.bandwidth_map import BandwidthMap

if TYPE_CHECKING:
    from bokeh.models.ui import UIElement

    from dask_diag_lab.store import Store

MAP_MOST: Final = 40
"""Workers that still have readable squares."""
MAP_AGAIN: Final = 32
"""From so few workers on the map comes back: not back and forth at the limit."""


class BandwidthWorkers(RedrawnView):
    """Source by destination."""

    needs: ClassVar[frozenset[str]] = BandwidthPairs.needs

    def __init__(
        self, store: Store, look: Look = LIGHT, arguments: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(store, look, arguments)
        self.pairs = BandwidthPairs(store, look, arguments)
        self.is_map = True
        self._addresses: list[str] = []

    def build(self) -> UIElement:
        """Return the map and the bars, of which one is shown; see `View.build`."""
        self.map = BandwidthMap(self.look)
        self.map.on_tap = self._tapped
        bars = self.pairs.build()
        self.model = Column(
            children=[self.map.figure, bars], sizing_mode="stretch_both", spacing=0, margin=0
        )
        self.restyle()
        return self.model

    def restyle_models(self) -> None:
        """Apply `look`; see `RedrawnView.restyle_models`."""
        set_properties(self.model, styles={"background-color": self.look.background})
        self.map.restyle(self.look)
        self.pairs.look = self.look
        self.pairs.restyle()

    def command(self, verb: str) -> None:
        """Pass on to the bars; see `WorkerBars.command`."""
        self.pairs.command(verb)

    def update(self) -> None:
        """Draw what changed, the bars first; see `View.update`."""
        self.pairs.update()
        if self.pairs.opening is not None:
            self.opening, self.pairs.opening = self.pairs.opening, None
        super().update()

    def shown(self) -> object:
        """Return what differs when the picture has to; see `RedrawnView.shown`."""
        return self.pairs.seen(), pane_size(self.map.figure), self.look, self.pairs.notice

    def redraw(self) -> None:
        """Draw the map, or leave the room to the bars; see `RedrawnView.redraw`."""
        most = MAP_MOST if self.is_map else MAP_AGAIN
        # So many pairs are of more workers in any case: these need not be told apart then.
        is_beyond = len(self.store.extras[BandwidthPairs.extra]) > most * most
        self._addresses = [] if is_beyond else self._workers()
        self.is_map = not is_beyond and len(self._addresses) <= most
        set_properties(self.map.figure, visible=self.is_map)
        set_properties(self.pairs.figure, visible=not self.is_map)
        if not self.is_map:
            note = f"more than {MAP_MOST} workers: pairs as bars; {self.pairs.notice.note}"
            self.notice = Notice(note=note.rstrip("; "))
            return
        self._draw_map()
        self.notice = Notice(empty=self.pairs.notice.empty)

    def _workers(self) -> list[str]:
        """Return the addresses of all workers of any pair, first those that are there."""
        extra = self.store.extras[BandwidthPairs.extra]
        found = {*map(str, extra["source"]), *map(str, extra["destination"])}
        here = [address for address in self.store.workers.address if address in found]
        gone = sorted(found - set(here), key=lambda a: natural_order(worker_name(self.store, a)))
        return [*here, *gone]

    def _draw_map(self) -> None:
        extra = self.store.extras[BandwidthPairs.extra]
        size = pane_size(self.map.figure)
        for axis in (*self.map.figure.xaxis, *self.map.figure.yaxis):
            set_properties(axis, visible=bool(self._addresses))
        if not self._addresses:
            set_properties(self.map.title, text=" ")
            self.map.clear()
            return
        measure = self.pairs.measure()
        is_long = len(measure.title) + 14 > size.title_characters
        words = measure.short_title if is_long else f"{measure.title}, paler is slower"
        set_properties(self.map.title, text=words)
        index = {address: at for at, address in enumerate(self._addresses)}
        source, target = (
            np.array([index[str(a)] for a in extra[name]], dtype=np.int64)
            for name in ("source", "destination")
        )
        labels = [worker_name(self.store, address) for address in self._addresses]
        self.map.draw(labels, self._addresses, (source, target), extra["rate"], self.look, size)

    def _tapped(self, source: int, target: int) -> None:
        n = len(self._addresses)
        if 0 <= source < n and 0 <= target < n:
            self.open("transfers", worker=self._addresses[target])

    def table(self) -> Table:
        """Return one row a pair, in bytes a second."""
        return self.pairs.table()
