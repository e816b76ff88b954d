"""How late the event loops of scheduler and workers are, and who waits for the interpreter."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.bar_figure import PERCENT, SECONDS
from dask_diag_lab.views.base import Notice, Table
from dask_diag_lab.views.figure import set_properties
from dask_diag_lab.views.palette import data_colors
from dask_diag_lab.views.scheduler.bar_row import LEAST_HEIGHT_PX
from dask_diag_lab.views.scheduler.bar_stack import BarStack
from dask_diag_lab.views.scheduler.part_bars import Bar, Part, PartBars
from dask_diag_lab.views.worker_names import open_worker, worker_in_words

Floats = npt.NDArray[np.float64]

LOOP: Final = "event_loop_interval"
GIL: Final = "gil_contention"
LATE_S: Final = 0.1
"""Five times the engine's own interval of 20 ms (`distributed.admin.tick.interval`)."""
WORST: Final = 10
NO_DATA: Final = "Waiting for the first heartbeat of a worker."
NO_ROOM: Final = "no room for the interpreter's lock"
NO_GIL: Final = (
    "Waiting for the interpreter's lock is not measured: install gilknocker on scheduler and"
    " workers for that"
)


class Contention(BarStack):
    """Event loop intervals, and the share of time in which threads waited for the GIL."""

    needs = frozenset({"system"})

    def compose(self) -> Sequence[PartBars]:
        """Return one figure above the other; see `BarStack.compose`."""
        self._loops = PartBars(self.look, SECONDS, on_tap=partial(open_worker, self))
        self._gils = PartBars(self.look, PERCENT, on_tap=partial(open_worker, self))
        return self._loops, self._gils

    def shown(self) -> object:
        """Return what differs when the picture has to; see `RedrawnView.shown`."""
        system, workers = self.store.extras["system"], self.store.workers
        return system.version, workers.version, self.sizes, self.look

    def redraw(self) -> None:
        """Draw both; see `RedrawnView.redraw`."""
        loops, gils = self._measured(LOOP), self._measured(GIL) * 100
        own_loop, own_gil = self._scheduler("loop_s"), self._scheduler("gil") * 100
        has_gil = bool(np.isfinite(gils).any() or np.isfinite(own_gil))
        is_gil_shown = has_gil and self._has_room_for_both()
        set_properties(self._gils.figure, visible=is_gil_shown)
        if not (np.isfinite(loops).any() or np.isfinite(own_loop)):
            self._loops.clear()
            self.notice = Notice(empty=NO_DATA)
            return
        self._loops.draw(
            "Event loop interval: 20 ms when nothing holds it up",
            self._bars(own_loop, loops, fmt.duration, LATE_S),
            short_titles=["Event loop"],
            at_least=LATE_S,
        )
        if is_gil_shown:
            self._gils.draw(
                "Time in which somebody waited for the interpreter's lock",
                self._bars(own_gil, gils, lambda value: f"{fmt.significant(value)} %", 50.0),
                short_titles=["Wait for the lock"],
                at_least=100.0,
            )
        n_known = int(np.isfinite(loops).sum())
        said = [_shown_words(n_known, self._loops.hidden), "" if is_gil_shown else NO_GIL]
        if has_gil and not is_gil_shown:
            said[1] = NO_ROOM
        self.notice = Notice(note=" · ".join(part for part in said if part))

    def _has_room_for_both(self) -> bool:
        shown = [bars for bars in (self._loops, self._gils) if bars.figure.visible]
        return sum(bars.size.height for bars in shown) >= 2 * LEAST_HEIGHT_PX

    def _measured(self, name: str) -> Floats:
        """Return one value for each worker, NaN where it does not say."""
        nan = float("nan")
        values = [float(metrics.get(name, nan)) for metrics in self.store.workers.metrics]
        return np.array(values, dtype=np.float64)

    def _scheduler(self, column: str) -> float:
        system = self.store.extras["system"]
        return float(system[column][-1]) if len(system) else float("nan")

    def _bars(self, own: float, values: Floats, write: fmt.Writer, limit: float) -> list[Bar]:
        known = np.flatnonzero(np.isfinite(values))
        bars = [self._bar("Scheduler", own, write, limit)] if np.isfinite(own) else []
        if not len(known):
            return bars
        number = fmt.plural(len(known), "worker")
        mean = f"Mean of {number}"
        if len(mean) > self._loops.name_characters:
            mean = f"Mean of {fmt.count(len(known))}"
        bars.append(self._bar(mean, float(values[known].mean()), write, limit))
        addresses = self.store.workers.address
        worst = known[np.argsort(-values[known], kind="stable")][:WORST]
        bars += [
            self._bar(
                worker_in_words(self.store, addresses[index]),
                *(float(values[index]), write, limit, addresses[index]),
            )
            for index in worst.tolist()
        ]
        return bars

    def _bar(
        self, name: str, amount: float, write: fmt.Writer, limit: float, worker: str = ""
    ) -> Bar:
        colors = data_colors(self.look)
        is_high = amount > limit
        color = colors.memory_near if is_high else colors.load_normal
        said = f"{write(amount)} · high" if is_high else write(amount)
        hatch = "right_diagonal_line" if is_high else " "
        return Bar(name, [Part(amount, color, (name, said), hatch)], said, worker)

    def table(self) -> Table:
        """Return one row for the scheduler and one for each worker."""
        workers = self.store.workers
        names: Sequence[str] = ["Scheduler", *map(str, workers.name)]
        loops = [self._scheduler("loop_s"), *self._measured(LOOP).tolist()]
        gils = [self._scheduler("gil"), *self._measured(GIL).tolist()]
        columns = {"name": names, LOOP: loops, GIL: gils}
        return Table(columns, {LOOP: "s"})


def _shown_words(n_known: int, n_hidden: int) -> str:
    """Return how many workers have a bar, where that is not all of those that tell."""
    shown = max(min(n_known, WORST) - n_hidden, 0)
    if shown == n_known:
        return ""
    if not shown:
        return f"no room for {fmt.plural(n_known, 'worker')}"
    return f"{fmt.count(shown)} of {fmt.plural(n_known, 'worker')}, slowest first"
