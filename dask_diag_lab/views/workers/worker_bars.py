"""What the plots with a bar for each worker share: rows, stacked parts, words beside them, hover.

What is measured comes from the subclass, how it is drawn from `bar_picture`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.base import Notice
from dask_diag_lab.views.figure import set_properties
from dask_diag_lab.views.look import LIGHT, Look
from dask_diag_lab.views.no_workers import no_workers
from dask_diag_lab.views.palette import DataColors, data_colors
from dask_diag_lab.views.pane_size import CHARACTER_PX, PaneSize, pane_size
from dask_diag_lab.views.redrawn import RedrawnView
from dask_diag_lab.views.small_legend import Entry
from dask_diag_lab.views.workers import bar_names, row_choice
from dask_diag_lab.views.workers.bar_measure import Measure, Part, Words
from dask_diag_lab.views.workers.bar_picture import BarPicture
from dask_diag_lab.views.workers.bar_ticks import tick_labels
from dask_diag_lab.views.workers.row_choice import Choice, RowChoice, choice_words, group_words
from dask_diag_lab.views.workers.worker_hosts import Hosts
from dask_diag_lab.views.workers.worker_rows import Rows, capacity

if TYPE_CHECKING:
    from bokeh.models.ui import UIElement

    from dask_diag_lab.store import Store


class WorkerBars(RedrawnView):
    """A horizontal bar for each worker; many are sorted and scrolled, or put together."""

    parts: ClassVar[Sequence[Part]] = (Part(""),)
    is_split: ClassVar[bool] = False
    """Whether parts lie below each other instead of one after the other."""
    unit: ClassVar[str] = "number"
    """How ticks are written: bytes, rate, seconds, percent or number."""
    ticks: ClassVar[Callable[[float, int], list[float]]] = staticmethod(fmt.number_ticks)
    noun: ClassVar[str] = "worker"
    """What a bar stands for."""
    sorted_by: ClassVar[str] = ""
    """What rows are sorted by, in words."""
    rule: ClassVar[str] = ""
    """Which colour a group takes, in words."""
    hover_lines: ClassVar[int] = 4
    value_characters: ClassVar[int] = 10
    """Room for `Words.value`."""
    row_max_px: ClassVar[int] = 44
    has_names: ClassVar[bool] = True

    def __init__(
        self, store: Store, look: Look = LIGHT, arguments: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(store, look, arguments)
        self.choice = RowChoice()
        self._shown: Choice | None = None
        self._is_title_whole = True
        self._hosts: tuple[int, Hosts] = (-1, Hosts.of(()))
        self.bar_names = bar_names.BarNames()

    # --- what a subclass says

    @abstractmethod
    def measure(self) -> Measure:
        """Return what to draw now; there is at least one worker."""

    @abstractmethod
    def words_of(self, worker: int) -> Words:
        """Return what is said about one worker."""

    @abstractmethod
    def words_of_group(self, members: npt.NDArray[np.int64]) -> Words:
        """Return what is said about a group; the headline is written by `WorkerBars`."""

    @abstractmethod
    def level_colors(self, colors: DataColors) -> Sequence[str]:
        """Return the colour of each level."""

    def legend_entries(self, colors: DataColors) -> Sequence[Entry]:
        """Return the entries of the legend."""
        del colors
        return ()

    def group_level(self, rows: Rows, level: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        """Return the level of each row; that of most of its workers unless overridden."""
        return rows.commonest(level, len(self.level_colors(data_colors(self.look))))

    def names(self) -> Sequence[str]:
        """Return the name of each bar; where these are too many, the next two do without."""
        return self.bar_names.readable(self.store.workers.name)

    def name_of(self, index: int) -> str:
        """Return the name of one bar."""
        return self.names()[index]

    def labels(self, indices: Sequence[int], width_px: int) -> list[str]:
        """Return the names of some bars as they are written beside them."""
        shorten = self.bar_names.of_workers if self.noun == "worker" else self.bar_names.short
        short = shorten(self.names(), width_px)
        return [short[index] for index in indices]

    def axis_title(self, indices: Sequence[int], labels: Sequence[str]) -> str | None:
        """Return what the axis says of these `labels`; see `bar_names.axis_title`."""
        if self.noun != "worker":
            return None
        names = map(self.names().__getitem__, indices)
        return bar_names.axis_title(zip(names, labels, strict=True))

    def hosts(self) -> Hosts:
        """Return the hosts of what has a bar."""
        return self.worker_hosts()

    def worker_hosts(self) -> Hosts:
        """Return the hosts of all workers."""
        version = self.store.workers.version
        if self._hosts[0] != version:
            self._hosts = (version, Hosts.of(self.store.workers.host))
        return self._hosts[1]

    def seen(self) -> object:
        """Return something that differs when the data did."""
        return self.store.workers.version

    def empty_words(self) -> str:
        """Return why there is nothing to draw and what to do; '' when there is something."""
        if len(self.store.workers):
            return ""
        return no_workers(self.store)

    def open_one(self, worker: int) -> None:
        """Open what a click on one bar asks for."""
        self.open("worker", worker=self.store.workers.address[worker])

    # --- the picture

    def build(self) -> UIElement:
        """Return the figure; see `View.build`."""
        self.picture = BarPicture(
            self.look,
            self.parts,
            is_split=self.is_split,
            hover_lines=self.hover_lines,
            forms=row_choice.FORM_WORDS,
            entries=self.legend_entries(data_colors(self.look)),
        )
        self.figure = self.picture.figure
        self.bars, self.marks = self.picture.bars, self.picture.marks
        self.limits = self.picture.limits
        self.picture.on_scroll = self.choice.scroll
        self.picture.on_tap = self._tapped
        self.picture.on_form = self.choice.choose
        self.restyle()
        return self.figure

    def restyle_models(self) -> None:
        """Apply `look`; see `RedrawnView.restyle_models`."""
        self.picture.restyle(self.look, self.legend_entries(data_colors(self.look)))

    def command(self, verb: str) -> None:
        """Choose rows; see `RowChoice.obey`."""
        self.choice.obey(verb)

    def _tapped(self, row: int) -> None:
        if self._shown is None or row >= len(self._shown.rows):
            return
        members = self._shown.rows.members(row)
        if len(members) == 1:
            self.open_one(int(members[0]))

    # --- keeping it up to date

    def shown(self) -> object:
        """Return what differs when the picture has to; see `RedrawnView.shown`."""
        size, store = pane_size(self.figure), self.store
        choice = (self.choice.form, self.choice.first, self.choice.is_reversed)
        return self.seen(), store.scheduler, store.nthreads.version, size, self.look, choice

    def redraw(self) -> None:
        """Draw frame and bars; see `RedrawnView.redraw`."""
        size = pane_size(self.figure)
        if empty := self.empty_words():
            self._shown = None
            self.picture.clear()
            self.notice = Notice(empty=empty)
            return
        measure, fit = self.measure(), capacity(size.rows_px)
        self._shown = shown = self.choice.rows(measure.order_by, self.hosts(), fit)
        self._draw_frame(measure, shown.rows, size)
        self._draw_bars(measure, shown, size)
        self.picture.set_marks([shown.rows.mean(mark) for mark in measure.marks])
        self._draw_switch(shown, len(measure.order_by), size)
        words = choice_words(shown, len(measure.order_by), self.noun, self.sorted_by, self.rule)
        self.notice = Notice(note=words)

    def _draw_switch(self, shown: Choice, n: int, size: PaneSize) -> None:
        """Offer to put workers together where there is a choice, and room for it."""
        is_choice = shown.form != "workers" or shown.is_sorted or 1 < len(self.hosts()) < n
        # Bars that are hosts already, or one for all, are not put together.
        is_choice &= self.has_names and self.noun == "worker"
        chosen = row_choice.FORMS.index(shown.form)
        self.picture.switch.show(is_shown=is_choice and not size.is_small, chosen=chosen)

    def _draw_frame(self, measure: Measure, rows: Rows, size: PaneSize) -> None:
        """Set title, ranges, ticks and what else depends on the room there is."""
        picture = self.picture
        shown = max(len(rows), round(size.rows_px / self.row_max_px))
        names_px = self._draw_names(rows, size.rows_px / shown, size)
        # The page takes the title off the canvas.
        title = measure.title_in(size.title_characters)
        set_properties(picture.title, text=title)
        self._is_title_whole = title == measure.title
        picture.reach(measure.end, self._room_px(rows, size) / size.frame_px(names_px))
        ticks = type(self).ticks(measure.end, max(size.width // 120, 2))
        labels = tick_labels(ticks, self.unit, size.frame_px(names_px))
        set_properties(picture.x_ticker, ticks=list(labels))
        has_axes = size.height >= bar_names.LEAST_HEIGHT_PX
        set_properties(self.figure.xaxis[0], visible=has_axes, major_label_overrides=labels)
        set_properties(picture.y, start=shown - 0.5, end=-0.5)
        # It begins where the frame does.
        legend_px = int(size.frame_px(names_px))
        picture.legend.show(is_shown=not size.is_small, width=legend_px, most_lines=2)

    def _room_px(self, rows: Rows, size: PaneSize) -> float:
        """Return the width that the words beside the bars need."""
        if bar_names.is_cramped(len(rows), size):
            return 0
        return (2 if size.is_narrow else self.value_characters) * CHARACTER_PX + 8

    def _draw_names(self, rows: Rows, row_px: float, size: PaneSize) -> float:
        """Write the names where there is room; return their width."""
        axis = self.figure.yaxis[0]
        is_groups = self._shown is not None and self._shown.form == "groups"
        is_named = self.has_names and not is_groups and bar_names.has_room(size)
        set_properties(axis, visible=is_named)
        if not is_named:
            return 0.0
        shown = range(0, len(rows), bar_names.step_of(row_px))
        indices = [self._name_at(rows, row) for row in shown]
        if self._is_by_host:
            hosts = self.bar_names.short(self.hosts().names, size.width)
            names, title = [hosts[index] for index in indices], None
        else:
            names = self.labels(indices, size.width)
            title = self.axis_title(indices, names)
        labels = dict(zip(shown, names, strict=True))
        set_properties(self.picture.y_ticker, ticks=list(shown))
        set_properties(axis, major_label_overrides=labels, axis_label=title)
        names_px = max(map(len, names), default=0) * CHARACTER_PX
        return names_px + (bar_names.TITLE_PX if title else 0)

    def _name_at(self, rows: Rows, row: int) -> int:
        """Return the number of a row's name: that of its host or of its only worker."""
        first = int(rows.order[rows.starts[row]])
        return int(self.hosts().of_worker[first]) if self._is_by_host else first

    @property
    def _is_by_host(self) -> bool:
        return self._shown is not None and self._shown.form == "hosts"

    def _draw_bars(self, measure: Measure, shown: Choice, size: PaneSize) -> None:
        rows = shown.rows
        means = [rows.mean(length) for length in measure.lengths]
        edges = means if self.is_split else list(np.cumsum(means, axis=0))
        level = self.group_level(rows, measure.level)
        palette = self.level_colors(data_colors(self.look))
        words = [self._row_words(shown, row) for row in range(len(rows))]
        is_cramped = bar_names.is_cramped(len(rows), size)
        self.picture.set_rows(
            edges,
            {
                "track": rows.mean(measure.track),
                "color": [palette[index] for index in level.tolist()],
                "value": [
                    "" if is_cramped else said.sign if size.is_narrow else said.value
                    for said in words
                ],
            },
            [said.hover for said in words],
        )

    def _row_words(self, shown: Choice, row: int) -> Words:
        members = shown.rows.members(row)
        if len(members) == 1:
            return self.words_of(int(members[0]))
        said = self.words_of_group(members)
        host = self.hosts().names[self._name_at(shown.rows, row)] if self._is_by_host else ""
        head, number = group_words(shown, row, self.noun, host), len(members)
        some = ", ".join(self.name_of(index) for index in members[:4].tolist())
        more = f", … ({number})" if number > 4 else ""
        return Words(said.value, said.sign, (head, *said.hover, f"{some}{more}"))
