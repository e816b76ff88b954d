"""The Bokeh models of a task stream: blocks, running tasks, marks, what hovering tells.

Knows how things look; `task_stream` decides what is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
from bokeh.models import Quad, Segment
from bokeh.models.glyph import Glyph

from dask_diag_lab.store.arrays import Bools, Floats, Ints
from dask_diag_lab.views.figure import (
    Source,
    add_glyph,
    base_hover,
    set_properties,
)
from dask_diag_lab.views.look import Look, data_colors, mixed, prefix_palette
from dask_diag_lab.views.models import StreamBlocks, StreamHover, StreamOutline
from dask_diag_lab.views.names import shown_name
from dask_diag_lab.views.stream.frame import (
    FULL_HEIGHT,
    HEIGHTS,
    PREFIX_CODES,
    Frame,
    Pointed,
)
from dask_diag_lab.views.time_axis import Timeline

if TYPE_CHECKING:
    from dask_diag_lab.store import History
    from dask_diag_lab.views.stream.frame import WorkerRows
    from dask_diag_lab.views.stream.links import Links
    from dask_diag_lab.views.time_axis import TimeWindow

IDENTITY: Final = ("left", "y", "kind")
"""Columns by which a row that changed is known to be the same one."""

_FULL_SHARE: Final = 3
"""All is sent when more than one in so many rows is new, or draws nothing."""
_MIX: Final = np.uint64(0x9E3779B97F4A7C15)

Columns = dict[str, npt.NDArray[Any]]  # dtypes differ from column to column
Hashes = npt.NDArray[np.uint64]


class PatchedSource(Source):
    """A `Source` whose columns are arrays of equal length, sent as differences.

    A row that changed is patched where it is, a new one is appended, one that went is made to
    draw nothing; after many of these all rows are sent afresh.
    """

    def __init__(self, *columns: str) -> None:
        super().__init__(*columns)
        self._content: Hashes = np.empty(0, dtype=np.uint64)
        self._identity = self._content

    def show(self, columns: Columns) -> None:
        """Have exactly these rows drawn, in any order."""
        content = _hashes(columns.values())
        identity = _hashes(columns[name] for name in IDENTITY)
        place = _places(content, self._content)
        is_gone = self._content != 0
        is_gone[place[place >= 0]] = False
        new, gone = np.flatnonzero(place < 0), np.flatnonzero(is_gone)
        if not len(new) and not len(gone):
            return
        n_hidden = len(self._content) - len(content) + len(new)
        if _FULL_SHARE * max(len(new), n_hidden) >= len(content):
            self._content, self._identity = content, identity
            self.set(columns)
            return
        _, of_gone, of_new = np.intersect1d(
            self._identity[gone], identity[new], return_indices=True
        )
        hidden, came = np.delete(gone, of_gone), np.delete(new, of_new)
        self._change(columns, gone[of_gone], new[of_new], hidden)
        self._content[gone[of_gone]] = content[new[of_new]]
        self._content[hidden] = self._identity[hidden] = 0
        self._content = np.concatenate((self._content, content[came]))
        self._identity = np.concatenate((self._identity, identity[came]))
        if len(came):
            self.stream({name: column[came] for name, column in columns.items()})

    def _change(self, columns: Columns, places: Any, rows: Any, hidden: Any) -> None:  # of intp
        """Change what differs in some places, and make others draw nothing."""
        data: Columns = self.model.data  # type: ignore[assignment]  # arrays alone are put here
        patches: dict[str, Any] = {"left": [(place, np.nan) for place in hidden.tolist()]}
        for name, column in columns.items():
            at = np.flatnonzero(data[name][places] != column[rows])
            values = column[rows[at]]
            if values.dtype == np.float32:  # as a double it has twice the digits
                values = values.astype("U").astype(np.float64)
            changed = zip(places[at].tolist(), values.tolist(), strict=True)
            patches.setdefault(name, []).extend(changed)
        self.model.patch({name: patch for name, patch in patches.items() if patch})


def _places(hashes: Hashes, among: Hashes) -> npt.NDArray[np.intp]:
    """Return the place of each hash among others, -1 where it is not there."""
    order = np.append(np.argsort(among), -1)
    places = order[np.searchsorted(among[order[:-1]], hashes)]
    return np.where(np.append(among, np.uint64(0))[places] == hashes, places, -1)


def _hashes(columns: Iterable[npt.NDArray[Any]]) -> Hashes:
    """Return a number for each row that tells rows with different content apart; never 0."""
    hashes: Any = np.uint64(0)
    for column in columns:
        bits = column.view(f"u{column.itemsize}") if column.dtype.kind == "f" else column
        hashes = (hashes ^ bits.astype(np.uint64)) * _MIX
        hashes ^= hashes >> np.uint64(29)
    return np.asarray(hashes | np.uint64(1))


MIN_ROW_PX: Final = 4
RUNNING_ALPHA: Final = 0.45
GONE_ALPHA: Final = 0.12
WAY_ALPHA: Final = 0.6

_BLOCK_COLUMNS: Final = (
    *("left", "right", "y", "height", "code", "kind", "prefix", "nbytes", "task"),
    *("busy", "longest", "count", "source"),
)
_EVENT_COLUMNS: Final = ("title", "text", "clock")
_PAUSE_COLUMNS: Final = ("left", "right", "top", "bottom", *_EVENT_COLUMNS)
_LINES: Final = tuple(
    f"@y{{{part}}}" for part in ("title", "when", "where", "size", "share", "key")
)
_EVENT_LINES: Final = tuple(f"@{name}" for name in _EVENT_COLUMNS)


def code_colors(look: Look) -> tuple[list[str], list[str]]:
    """Return fill and outline of every colour code; the outline keeps thin tasks visible."""
    prefixes, colors = prefix_palette(look), data_colors(look)
    fill = [prefixes[code % len(prefixes)] for code in range(PREFIX_CODES)]
    fill += [colors.transfer, colors.disk, colors.deserialize, colors.erred, colors.killed]
    fill += [colors.retried]
    edge = [mixed(color, look.background, 0.35) for color in fill[:-3]]
    return fill, [*edge, colors.erred_mark, colors.killed_mark, colors.erred_mark]


class StreamFigure(Timeline):
    """Everything the browser draws of one task stream.

    Attributes
    ----------
    blocks : PatchedSource
        The blocks of the last frame.
    running : Source
        Tasks that run, in rows of the picture.
    names, keys : Source
        What hovering looks up: text by string id, key by task.
    gone, paused, events, chosen, late : Source
        Where workers that left had their rows, and where they were paused; moments that explain
        the picture; the outlines around the chosen block and around stragglers.
    linked, ways : Source
        Outlines around blocks that belong together; lines from one to the other.
    """

    def __init__(self, history: History, look: Look, window: TimeWindow, max_keys: int) -> None:
        super().__init__(look, window, MIN_ROW_PX)
        self._history = history
        self.blocks = PatchedSource(*_BLOCK_COLUMNS)
        self.running = Source("left", "y", "code", "prefix", "key")
        self.names = Source("id", "text")
        self.keys = Source("task", "key")
        self.gone = Source("left", "right", "top", "bottom", "y")
        self.paused = Source(*_PAUSE_COLUMNS)
        self.events = Source("at", "top", "bottom", *_EVENT_COLUMNS)
        boxes = (Source("left", "right", "y", "height") for _ in range(3))
        self.chosen, self.late, self.linked = boxes
        self.ways = Source("x0", "x1", "y0", "y1")
        self._max_keys = max_keys
        self._texts: set[int] = set()
        self._sent_keys: set[int] = set()
        self._add_glyphs()
        self._add_hovers(look)
        self.restyle(look)

    def _add_glyphs(self) -> None:
        box: dict[str, Any] = {name: name for name in ("left", "right", "top", "bottom")}
        self.band = Quad(**box, fill_alpha=GONE_ALPHA, line_color=None, hatch_alpha=0.35)
        self.band.update(hatch_pattern="right_diagonal_line", hatch_scale=8, hatch_weight=0.5)
        self.pause = Quad(**box, fill_alpha=GONE_ALPHA, line_color=None)
        self.pause.update(hatch_pattern="vertical_line", hatch_scale=8, hatch_weight=1)
        block: dict[str, Any] = {"y": "y", "left": "left", "code": "code"}
        self.block_glyph = StreamBlocks(**block, right="right", height="height")
        self.running_glyph = StreamBlocks(**block, right={"value": 0.0}, height=FULL_HEIGHT)
        self.running_glyph.update(alpha=RUNNING_ALPHA, is_running=True)
        ends: dict[str, Any] = {"x0": "at", "x1": "at", "y0": "top", "y1": "bottom"}
        self._lines = Segment(**ends, line_width=2, line_dash=[5, 3])
        self._outlines = [
            StreamOutline(y="y", left="left", right="right", height="height") for _ in range(3)
        ]
        outline, late, linked = self._outlines
        self._ways = Segment(x0="x0", x1="x1", y0="y0", y1="y1", line_alpha=WAY_ALPHA)
        glyphs: list[tuple[str, Source, Glyph]] = [
            ("gone", self.gone, self.band),
            ("paused", self.paused, self.pause),
            ("blocks", self.blocks, self.block_glyph),
            ("running", self.running, self.running_glyph),
            ("late", self.late, late),
            ("lines", self.events, self._lines),
            ("linked", self.linked, linked),
            ("ways", self.ways, self._ways),
            ("outline", self.chosen, outline),
        ]
        self._renderers = {}
        for name, source, glyph in glyphs:
            self._renderers[name] = add_glyph(self.figure, source.model, glyph)
            self._renderers[name].name = name

    def _add_hovers(self, look: Look) -> None:
        self.texts = StreamHover(
            names=self.names.model,
            keys=self.keys.model,
            workers=self.workers.model,
        )
        blocks = [self._renderers[name] for name in ("blocks", "running", "gone")]
        hover = base_hover(look, *_LINES, renderers=blocks, formatters={"@y": self.texts})
        marks = [self._renderers[name] for name in ("lines", "paused")]
        event_hover = base_hover(look, *_EVENT_LINES, renderers=marks)
        self.figure.add_tools(hover, event_hover)

    def restyle(self, look: Look) -> None:
        """Apply a look to every model; no data is sent again."""
        super().restyle(look)
        colors, (self.fills, edges) = data_colors(look), code_colors(look)
        for glyph in (self.block_glyph, self.running_glyph):
            set_properties(glyph, fills=self.fills, edges=edges)
        set_properties(self.band, fill_color=colors.gone, hatch_color=colors.gone)
        set_properties(self.pause, fill_color=colors.memory_near, hatch_color=colors.memory_near)
        set_properties(self._lines, line_color=look.foreground)
        of_outlines = (look.foreground, colors.memory_near, colors.transfer)
        for outline, color in zip(self._outlines, of_outlines, strict=True):
            set_properties(outline, line_color=color, halo_color=look.background)
        set_properties(self._ways, line_color=colors.transfer)

    def show(self, frame: Frame) -> None:
        """Draw a frame, with rows and names and a zero of its own."""
        set_properties(self.texts, zero=frame.zero)
        self.name_rows(frame.rows.workers)
        self.blocks.show(frame.sent)
        blocks = frame.blocks
        self._send_names(np.concatenate((blocks["prefix"], blocks["source"])))
        self._send_keys(blocks["task"][frame.inside & (blocks["count"] == 1)])

    def show_running(
        self,
        tasks: Columns,
        zero: float,
        now: float,
        is_late: Bools,
    ) -> None:
        """Draw tasks that run up to ``now``: ``slot`` (row), ``start``, ``prefix``, ``key``.

        Those that are late have an outline.
        """
        prefix = tasks["prefix"]
        code = np.maximum(self._history.prefix_index.indices(prefix), 0) % PREFIX_CODES
        self._send_names(prefix)
        self.running.set(
            {
                "left": tasks["start"] - zero,
                "y": tasks["slot"].astype(np.float32),
                "code": code.astype(np.uint8),
                "prefix": prefix.astype(np.int32),
                "key": list(tasks["key"]),
            }
        )
        left, y = (tasks["start"] - zero)[is_late], tasks["slot"][is_late].astype(np.float64)
        _outline(self.late, left, np.full(len(left), now - zero), y)
        if len(prefix):
            set_properties(self.running_glyph, right={"value": now - zero})
            set_properties(self.texts, now=now - zero)

    def show_transfer_share(self, share: float, note: str) -> None:
        """Draw the ends of transfers as (de)serialization, and say so when hovering."""
        set_properties(self.block_glyph, tail_share=share)
        set_properties(self.texts, transfer_note=note)

    def show_marks(
        self,
        gone: Sequence[WorkerRows],
        paused: Sequence[tuple[float | str, ...]],
        events: Sequence[tuple[float, str, str, str]],
    ) -> None:
        """Draw ends of workers, pauses as columns, and (moment, title, text, clock) of events."""
        top, bottom = self.rows
        ends = np.array([worker.ended for worker in gone])
        first = np.array([float(worker.first) for worker in gone])
        count = np.array([worker.count for worker in gone])
        self.gone.set(
            {
                "left": ends - self.zero,
                "right": np.maximum(ends, self.window.end + self.window.width) - self.zero,
                "top": first - 0.5,
                "bottom": first + count - 0.5,
                "y": first + (count - 1) / 2,
            }
        )
        self.paused.set({n: [one[at] for one in paused] for at, n in enumerate(_PAUSE_COLUMNS)})
        self.events.set(
            {
                "at": np.array([event[0] for event in events]) - self.zero,
                "top": np.full(len(events), top),
                "bottom": np.full(len(events), bottom),
                **{n: [one[at] for one in events] for at, n in enumerate(_EVENT_COLUMNS, 1)},
            }
        )

    def show_chosen(self, target: Pointed | None) -> None:
        """Outline a block, or nothing."""
        shown = [] if target is None else [target]
        self.chosen.set(
            {
                "left": [one.start - self.zero for one in shown],
                "right": [one.stop - self.zero for one in shown],
                "y": [one.row + (FULL_HEIGHT - HEIGHTS[one.kind]) / 2 for one in shown],
                "height": [HEIGHTS[one.kind] for one in shown],
            }
        )
        self._send_keys(np.array([one.task for one in shown if one.task >= 0], dtype=np.int64))

    def show_links(self, links: Links, row_of: Ints) -> None:
        """Outline blocks that belong together, and draw the ways between them."""
        slot, *ends = links.blocks.T
        row = row_of[slot.astype(np.int64)]
        left, right = (end[row >= 0] - self.zero for end in ends)
        y = row[row >= 0].astype(np.float64)
        _outline(self.linked, left, right, y)
        begin, left, end, right = links.ways.T
        y0, y1 = (row_of[slot.astype(np.int64)].astype(np.float64) for slot in (begin, end))
        shown = (y0 >= 0) & (y1 >= 0)
        ways = {"x0": left - self.zero, "x1": right - self.zero, "y0": y0, "y1": y1}
        self.ways.set({name: column[shown] for name, column in ways.items()})

    # What hovering looks up: each text and key is sent once, for the life of the page.

    def _send_names(self, ids: npt.NDArray[np.integer]) -> None:
        new = sorted(set(np.flatnonzero(np.bincount(ids)).tolist()) - self._texts)
        if new:
            self._texts.update(new)
            texts = [shown_name(text) for text in self._history.strings.take(new)]
            self.names.stream({"id": new, "text": texts})

    def _send_keys(self, tasks: npt.NDArray[np.integer]) -> None:
        if len(tasks) > self._max_keys:
            return
        if len(self._sent_keys) > 4 * self._max_keys:
            self._sent_keys.clear()
            self.keys.set({"task": [], "key": []})
        new = sorted(set(tasks.tolist()) - self._sent_keys)
        if new:
            self._sent_keys.update(new)
            keys = self._history.actions.keys(np.array(new))
            self.keys.stream({"task": new, "key": keys.tolist()})


def _outline(source: Source, left: Floats, right: Floats, y: Floats) -> None:
    """Outline whole rows of tasks."""
    height = np.full(len(y), FULL_HEIGHT)
    source.set({"left": left, "right": right, "y": y, "height": height})
