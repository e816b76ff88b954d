"""Brings a task stream's picture up to date: asks the store, sends only what changed.

`task_stream` decides which window and when; `task_stream_picture` how it looks.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt
from bokeh.core.property.descriptors import UnsetValueError

from dask_diag_lab.views import task_stream_words as words
from dask_diag_lab.views.figure import set_properties
from dask_diag_lab.views.pane_size import PaneSize, pane_size
from dask_diag_lab.views.task_stream_rects import (
    PREFIX_CODES,
    gather,
    share_of_time,
    to_columns,
    to_rects,
)
from dask_diag_lab.views.task_stream_rows import (
    WorkerRows,
    gone_columns,
    label_width,
    row_labels,
    rows_that_fit,
    separators,
    thread_seconds,
    threads_between,
    visible_lanes,
    worker_rows,
)

if TYPE_CHECKING:
    from dask_diag_lab.store import Store
    from dask_diag_lab.store.lod import LevelOfDetail
    from dask_diag_lab.views.task_stream_picture import Picture
    from dask_diag_lab.views.task_stream_window import TimeWindow

RUNNING_INTERVAL_S: Final = 1.0
"""Running tasks grow at this pace when nothing else changes."""
KEYS_SENT: Final = 2000
"""Keys of tasks are sent when no more single rectangles than this are visible."""
OUTLINED_RECTS: Final = 2000
"""More rectangles than this go without outline, which takes most of the time of drawing them."""
KEYS_KEPT: Final = 6000


class Drawing:
    """What has been drawn of one task stream, and how to bring it up to date.

    Attributes
    ----------
    centre : LevelOfDetail or None
        What the visible window shows; None until it was drawn.
    cost_s : float
        Seconds that the last `rects` took.
    drawn_at : float
        Monotonic time of it.
    """

    def __init__(self, store: Store, picture: Picture) -> None:
        self.store = store
        self.picture = picture
        self.centre: LevelOfDetail | None = None
        self.cost_s = 0.0
        self.drawn_at = -np.inf
        self._loaded = (np.nan, np.nan)
        self._parts: tuple[LevelOfDetail, ...] = ()
        self._basis: tuple[float, int] = (np.nan, -1)
        self._workers: list[WorkerRows] = []
        self._lanes_version = -1
        self._running_at = -np.inf
        self._running_basis: tuple[float, int, int] = (np.nan, -1, -1)
        self._sent_keys: set[int] = set()
        self._sent_texts: set[int] = set()

    @property
    def size(self) -> PaneSize:
        """Size of the whole figure on the page."""
        return pane_size(self.picture.figure)

    def place(self, window: TimeWindow, *, is_scrolled: bool) -> bool:
        """Set both ranges, row labels and the legend's room; tell whether the time moved."""
        picture, lanes, size = self.picture, self.store.lanes, self.size
        picture.facts.set({"zero": [window.zero]})
        start, end = window.start - window.zero, window.end - window.zero
        is_moved = set_properties(picture.x_range, start=start, end=end)
        if lanes.version != self._lanes_version:
            self._take_lanes()
        height_px = self._frame_px("inner_height", size.rows_px)
        n_rows = max(lanes.count, 1)
        shown = rows_that_fit(n_rows, height_px)
        set_properties(picture.y_range, bounds=(-0.5, n_rows - 0.5))
        if not is_scrolled:
            set_properties(picture.y_range, start=shown - 0.5, end=-0.5)
        top, bottom = self.picture.rows
        labels = row_labels(
            self._workers, height_px / max(bottom - top, 0.1), label_width(size.width)
        )
        picture.label_rows(labels, separators(self._workers))
        picture.show_legend(is_shown=not size.is_small)
        return is_moved

    def covers(self, window: TimeWindow) -> bool:
        """Whether the page has data for the window, at about its level of detail."""
        start, end = self._loaded
        width = end - start
        is_inside = start - width <= window.start and window.end <= end + width
        return is_inside and 0.5 * width < window.width < 1.5 * width

    def rects(self, window: TimeWindow) -> None:
        """Draw what the store has of the window and beside it."""
        began = time.monotonic()
        lanes = visible_lanes(*self.picture.rows, self.store.lanes.count)
        width_px = self._frame_px("inner_width", self.size.width)
        self.centre, flanks = gather(self.store, window.start, window.end, lanes, width_px)
        self._loaded = window.start, window.end
        parts, basis = (self.centre, *flanks), (window.zero, self._lanes_version)
        # The store answers with the same object as long as nothing changed.
        is_same = len(parts) == len(self._parts) and all(
            a is b for a, b in zip(parts, self._parts, strict=True)
        )
        if not is_same or basis != self._basis:
            self._send(window, [self.centre, *flanks], width_px)
            self._parts, self._basis = parts, basis
        self.drawn_at = time.monotonic()
        self.cost_s = self.drawn_at - began

    def running(self, window: TimeWindow, now: float) -> None:
        """Draw the tasks that run, up to ``now``; not more often than needed."""
        running = self.store.running
        basis = (window.zero, running.version, self.store.actions.version)
        is_due = running.count and time.monotonic() - self._running_at >= RUNNING_INTERVAL_S
        if basis == self._running_basis and not is_due:
            return
        self._running_basis, self._running_at = basis, time.monotonic()
        rows = running.rows(now)
        start = np.asarray(rows["start"])
        shown = np.flatnonzero((rows["lane"] >= 0) & (start < window.end + window.width))
        code = np.maximum(self.store.palette.indices(rows["prefix"]), 0) % PREFIX_CODES
        self._send_texts(rows["prefix"])
        self.picture.running.set(
            {
                "left": (start - window.zero)[shown],
                "right": np.full(shown.size, max(now - window.zero, 0.0)),
                "lane": rows["lane"][shown].astype(np.uint32),
                "code": code[shown].astype(np.uint8),
                "prefix": rows["prefix"][shown].astype(np.uint32),
                "key": [rows["key"][row] for row in shown],
            }
        )

    def say(self, window: TimeWindow, live: float) -> str:
        """Write the title and return the note about what is merged, hidden or lost."""
        centre = self.centre
        if centre is None:
            return ""
        top, bottom = self.picture.rows
        n_rows = self.store.lanes.count
        first, last = max(round(top + 0.5), 0), min(round(bottom - 0.5), n_rows - 1)
        until = min(window.end, live)
        running = self.store.running.rows(until)
        inside = (running["lane"] >= first) & (running["lane"] <= last)
        begin = window.zero if window.is_following else window.start
        thread_s = thread_seconds(self._workers, begin, until, first, last)
        starts = np.asarray(running["start"])[inside]
        share = share_of_time(centre, (first, last), starts, thread_s, window.start, until)
        visible = threads_between(self._workers, begin, first, last)
        title = words.title(share, (visible, threads_between(self._workers, begin)), self.size)
        set_properties(self.picture.title, text=title)
        return words.note(self.store, centre, (first + 1, last + 1, n_rows))

    def _send(self, window: TimeWindow, parts: list[LevelOfDetail], width_px: int) -> None:
        picture = self.picture
        columns = to_columns(self.store, parts, (window.start, window.end))
        rects = to_rects(columns, window.zero, window.width / max(width_px, 1))
        self._send_texts(np.unique(columns["prefix"]))
        self._send_texts(np.unique(columns["source"]))
        picture.outline(is_on=len(columns["start"]) <= OUTLINED_RECTS)
        picture.work.set(rects.work)
        picture.moves.set(rects.moves)
        picture.erred.set(rects.erred)
        picture.killed.set(rects.killed)
        picture.gone.set(gone_columns(self._workers, window.zero, window.end + 2 * window.width))
        labels, codes = words.legend(columns, self.store.palette.names, self.size)
        picture.legend.set(
            {"label": labels, "code": np.array(codes, np.uint8), "at": np.full(len(codes), np.nan)}
        )
        self._send_keys(parts[0])

    def _send_texts(self, ids: npt.NDArray[np.integer]) -> None:
        """Send names that the page does not have: once each, for the life of the page."""
        new = sorted(set(ids.tolist()) - self._sent_texts - {0})
        if new:
            self._sent_texts.update(new)
            self.picture.texts.stream({"id": new, "text": self.store.strings.take(new)})

    def _send_keys(self, centre: LevelOfDetail) -> None:
        """Send the keys of single tasks, once each, when few enough are visible."""
        top, bottom = self.picture.rows
        is_shown = (centre.count == 1) & (centre.lane > top - 1) & (centre.lane < bottom + 1)
        single = centre.task[is_shown]
        if not 0 < single.size <= KEYS_SENT:
            return
        new = sorted(set(single.tolist()) - self._sent_keys)
        if not new:
            return
        if len(self._sent_keys) + len(new) > KEYS_KEPT:
            self._sent_keys.clear()
            self.picture.keys.set({"task": [], "key": []})
            new = np.unique(single).tolist()
        self._sent_keys.update(new)
        keys = [self.store.actions.key(task) for task in new]
        self.picture.keys.stream({"task": new, "key": keys})

    def _take_lanes(self) -> None:
        self._lanes_version = self.store.lanes.version
        self._workers = worker_rows(self.store)
        counts = [worker.count for worker in self._workers]
        index = np.repeat(np.arange(len(counts), dtype=np.uint16), counts)
        slot = np.asarray(self.store.lanes.slot).astype(np.uint16)
        self.picture.lanes.set({"worker": index, "slot": slot})
        self.picture.workers.set({"label": [worker.label for worker in self._workers]})

    def _frame_px(self, side: str, otherwise: int) -> int:
        try:
            return int(getattr(self.picture.figure, side)) or otherwise
        except UnsetValueError:  # no browser has told yet
            return otherwise
