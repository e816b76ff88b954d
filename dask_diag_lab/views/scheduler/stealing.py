"""Work stealing: how many tasks were moved to idle workers over time, from whom and to whom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.bar_figure import ROW_MIN_PX, Scale
from dask_diag_lab.views.base import Notice, Table
from dask_diag_lab.views.figure import set_properties
from dask_diag_lab.views.palette import data_colors
from dask_diag_lab.views.pane_size import EDGES_PX, pane_size
from dask_diag_lab.views.scheduler.bar_stack import BarStack
from dask_diag_lab.views.scheduler.costs import WAITING
from dask_diag_lab.views.scheduler.part_bars import Bar, Part, PartBars
from dask_diag_lab.views.series_unit import TICKS
from dask_diag_lab.views.time_series import TimeLine, TimeSeries
from dask_diag_lab.views.worker_names import open_worker, worker_in_words

if TYPE_CHECKING:
    from bokeh.models.ui import UIElement

    from dask_diag_lab.views.look import Look

CONFIRMED: Final = "confirmed"
REQUESTED: Final = "request"
STEP_S: Final = 1.0
"""Moves are counted by the second."""
LONGEST_S: Final = 100_000
"""So far back at most: a clock that was set would make the picture any number of seconds long."""
LEAST_PX: Final = 150
"""In less height two figures below each other would have no room for their data."""
LEAST_MOVES_PX: Final = 100
"""Workers that need more than half of the height leave so much to the moves over time."""
TERSE_PX: Final = 280
"""In less width only numbers fit beside bars; the title says what they are of."""
NOTHING: Final = (
    "No task has been moved from one worker to another. Dask does that when some workers are idle"
    " and others have more than they can soon do."
)


TASKS: Final = Scale("number", TICKS["count"])


class Stealing(BarStack):
    """Moves a second, and for each worker the tasks that it gave away and took."""

    needs = frozenset({"stealing"})

    def compose(self) -> Sequence[UIElement | PartBars]:
        """Return the moves over time above the workers; see `BarStack.compose`."""
        self._series = TimeSeries(self.look, _lines(self.look), unit="count", band=False)
        self._bars = PartBars(
            self.look,
            TASKS,
            on_tap=partial(open_worker, self),
            said=self._said_of_others,
        )
        return self._series.model, self._bars

    def _said_of_others(self, moves: float) -> str:
        words = "" if self._bars.size.width < TERSE_PX else "gave and took "
        return f"{words}{fmt.count(moves)}"

    def restyle_models(self) -> None:
        """Apply `look`; see `RedrawnView.restyle_models`."""
        super().restyle_models()
        self._series.restyle(self.look, _lines(self.look))

    def command(self, verb: str) -> None:
        """Pass ``live`` and ``fit`` on to the chart over time."""
        self._series.command(verb)

    def shown(self) -> object:
        """Return what differs when the picture has to; see `RedrawnView.shown`."""
        seen = (tuple(self.store.workers.address), self.store.seen_workers.version)
        sizes = (pane_size(self._series.model), *self.sizes)
        return self.store.extras["stealing"].version, seen, sizes, self.look

    def update(self) -> None:
        """Draw what changed; see `View.update`."""
        super().update()
        self._series.draw()  # the reader may have moved or resized it

    def redraw(self) -> None:
        """Draw moves and workers; see `RedrawnView.redraw`."""
        stealing = self.store.extras["stealing"]
        has_room = self._has_room_for_workers()
        set_properties(self._bars.figure, visible=bool(len(stealing)) and has_room)
        if not len(stealing):
            self._bars.clear()
            self.notice = Notice(empty=NOTHING if stealing.is_known else WAITING)
            return
        self._draw_moves()
        self._draw_workers()
        self.notice = Notice(note=self._note())

    def _has_room_for_workers(self) -> bool:
        figures = (self._series.model, self._bars.figure)
        return sum(pane_size(each).height for each in figures if each.visible) >= LEAST_PX

    def _draw_moves(self) -> None:
        stealing = self.store.extras["stealing"]
        is_move = stealing["event"] == CONFIRMED
        second: npt.NDArray[Any] = np.floor(stealing["time"] / STEP_S)
        last = int(second.max())
        first = max(int(second.min()), last - LONGEST_S)
        n = last - first + 1
        total = int(is_move.sum())
        at, is_move = (column[second >= first] for column in ((second - first), is_move))
        moved = np.bincount(at[is_move].astype(np.int64), minlength=n).astype(np.float64)
        tried = np.bincount(at[~is_move].astype(np.int64), minlength=n).astype(np.float64)
        moves = fmt.plural(total, "move")
        self._series.say(f"Tasks moved a second: {moves} in all", f"{moves} in all")
        # Of one second alone no line could be drawn; before the first decision there was none.
        n_before = int(first == int(second.min()) and not stealing.dropped)
        times = np.arange(first - n_before, last + 1, dtype=np.float64) * STEP_S
        for name, counts in (("moved", moved), ("tried", tried)):
            self._series.set(name, times, np.pad(counts, (n_before, 0)))

    def _draw_workers(self) -> None:
        stealing, colors = self.store.extras["stealing"], data_colors(self.look)
        moves = stealing["event"] == CONFIRMED
        gave: Counter[str] = Counter(stealing["victim"][moves].tolist())
        took: Counter[str] = Counter(stealing["thief"][moves].tolist())
        bars = []
        ranked = (gave + took).most_common()
        self._share_height(len(ranked))
        room, is_terse = self._bars.room, self._bars.size.width < TERSE_PX
        for address, _ in ranked[:room]:
            name = worker_in_words(self.store, address)
            given, taken = gave[address], took[address]
            parts = [
                Part(given, colors.load_saturated, (name, f"Gave {fmt.plural(given, 'task')}")),
                Part(
                    taken,
                    colors.load_idle,
                    (name, f"Took {fmt.plural(taken, 'task')}"),
                    "right_diagonal_line",
                ),
            ]
            said = f"gave {fmt.count(given)}, took {fmt.count(taken)}"
            if is_terse:
                said = f"{fmt.count(given)}, {fmt.count(taken)}"
            bars.append(Bar(name, parts, said, address))
        if bars:
            rest = ranked[room:]
            more = len(rest), float(sum(n for _, n in rest))
            title = "Tasks that workers gave away and took (striped)"
            self._bars.draw(title, bars, short_titles=["Gave, took (striped)"], more=more)
        else:
            self._bars.clear()

    def _share_height(self, n_workers: int) -> None:
        """Give the workers more than half of the height where they need it.

        Goes by the sum of both heights, which stays the same however it is shared.
        """
        figures = (self._series.model, self._bars.figure)
        height = sum(pane_size(figure).height for figure in figures)
        needed = min(n_workers * ROW_MIN_PX + EDGES_PX, height - LEAST_MOVES_PX)
        below = max(needed, height // 2)
        for figure, share in zip(figures, (height - below, below), strict=True):
            styles = {"background-color": self.look.background, "flex": f"{share} 1 0px"}
            set_properties(figure, styles=styles)

    def _decisions(self) -> str:
        """Return how many decisions there are of each kind, and which line shows them."""
        events = self.store.extras["stealing"]["event"]
        moved, asked = (int((events == kind).sum()) for kind in (CONFIRMED, REQUESTED))
        vain = len(events) - moved - asked
        tried = f"{fmt.count(asked)} asked for, {fmt.count(vain)} in vain"
        return f"{fmt.count(moved)} moved (solid); {tried} (dashed)"

    def _note(self) -> str:
        stealing = self.store.extras["stealing"]
        dropped = fmt.plural(stealing.dropped, "older decision")
        lost = f"; {dropped} dropped" if stealing.dropped else ""
        hidden = self._bars.hidden
        more = f"; {fmt.plural(hidden, 'worker')} in one bar" if hidden else ""
        if not self._bars.figure.visible:
            more = "; no room for workers: make the pane higher"
        return f"{self._decisions()}{lost}{more}"

    def table(self) -> Table:
        """Return every decision."""
        stealing = self.store.extras["stealing"]
        units = {column.name: column.unit for column in stealing.extra.columns if column.unit}
        return Table({name: stealing[name].tolist() for name in stealing.columns}, units)


def _lines(look: Look) -> list[TimeLine]:
    colors = data_colors(look)
    return [
        TimeLine("moved", "Moved", colors.load_saturated),
        TimeLine("tried", "Asked for or in vain", colors.load_normal),
    ]
