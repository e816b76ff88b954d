"""What a tap on a task stream opens: a profile that leads to the task, a task, a worker.

A tap moves nothing: neither the window nor the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from bokeh.events import DoubleTap, Event, PointEvent, Tap

from dask_diag_lab.views.stream.marks import RING_PX

if TYPE_CHECKING:
    from dask_diag_lab.store import Store
    from dask_diag_lab.views.stream.drawing import Drawing
    from dask_diag_lab.views.stream.pointing import Target
    from dask_diag_lab.views.stream.window import TimeWindow


class Taps:
    """The chosen rectangle of one picture, and what choosing it opens.

    Parameters
    ----------
    store : Store
    drawing : Drawing
    window : TimeWindow
    open_plot : callable
        `View.open`.

    Attributes
    ----------
    chosen : Target or None
    """

    def __init__(
        self,
        store: Store,
        drawing: Drawing,
        window: TimeWindow,
        open_plot: Callable[..., None],
    ) -> None:
        self.chosen: Target | None = None
        self._store = store
        self._drawing = drawing
        self._window = window
        self._open = open_plot
        figure = drawing.picture.figure
        figure.on_event(Tap, self._tapped)
        figure.on_event(DoubleTap, self._tapped)

    def draw(self) -> None:
        """Outline what is chosen where it is now; around it, for it may be narrower than a line."""
        edges: dict[str, list[float]] = {name: [] for name in ("left", "right", "top", "bottom")}
        if self.chosen is not None:
            zero, drawing = self._window.zero, self._drawing
            wide, tall = RING_PX * drawing.pixel_s(self._window), RING_PX * drawing.pixel_rows
            edges["left"] = [self.chosen.start - zero - wide]
            edges["right"] = [self.chosen.stop - zero + wide]
            edges["top"], edges["bottom"] = [self.chosen.top - tall], [self.chosen.bottom + tall]
            self._drawing.names.send_key(self.chosen.task)
        self._drawing.picture.marks.chosen.set(edges)

    def clear(self) -> None:
        """Choose nothing."""
        self.chosen = None
        self.draw()

    def _tapped(self, event: Event) -> None:
        if not isinstance(event, PointEvent) or event.x is None or event.y is None:
            return
        x, row = float(event.x), float(event.y)
        if x < self._drawing.picture.times[0]:  # on the labels of the rows
            self._open_worker(row)
            return
        target = self._drawing.at(self._window, x, row)
        is_again = target is not None and self.chosen is not None and target.is_same(self.chosen)
        self.chosen = target
        self.draw()
        if target is not None:
            self._open_target(target, is_again or event.event_name == DoubleTap.event_name)

    def _open_target(self, target: Target, is_again: bool) -> None:
        key = target.key or self._store.actions.key(target.task)
        if is_again and key:
            self._open("task", key=key)
            return
        # The profile may cover this picture: it has the way to the task as well.
        task = {"from_task": key} if key else {}
        self._open("profile", prefix=self._store.strings[target.prefix], **task)

    def _open_worker(self, row: float) -> None:
        worker = self._drawing.rows.worker_at(row)
        if worker is not None:
            self._open("worker", worker=worker.address)
