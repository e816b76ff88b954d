"""Which of the usual costs a computation pays: one bar a class, and how much threads were idle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.bar_figure import SECONDS
from dask_diag_lab.views.base import Notice, Table
from dask_diag_lab.views.palette import data_colors
from dask_diag_lab.views.scheduler import activities as act
from dask_diag_lab.views.scheduler.bar_stack import BarStack
from dask_diag_lab.views.scheduler.costs_room import fitting_bars
from dask_diag_lab.views.scheduler.part_bars import Bar, Part, PartBars

if TYPE_CHECKING:
    from dask_diag_lab.store import Store

WAITING: Final = "Waiting for the scheduler's answer."
NO_METRICS: Final = (
    "No worker has reported what its time went to yet. Figures appear a second or two after the"
    " first task has ended."
)
IDLE: Final = "Idle threads"
THREAD_CONTEXT: Final = "execute"
"""The context whose activities hold a worker's thread; all others run beside the threads."""

ADVICE: Final = {
    act.COMPUTE: ("tasks use the CPU, which is what it is for", ""),
    act.WAITING: ("tasks wait", "look for files, locks, or many threads of pure Python"),
    act.NETWORK: ("data moves much", "use larger pieces, or keep related data together"),
    act.SERIALIZATION: (
        "packing data is slow",
        "prefer arrays and Arrow strings to Python objects",
    ),
    act.DISK: ("data is spilled", "use more memory, smaller pieces, or release results"),
    act.MEMORY: ("data is copied much", ""),
    act.FAILED: ("work is lost", "see Exceptions"),
    act.OVERHEAD: ("tasks are too small", "use larger pieces"),
    act.OWN: ("an activity of your own", ""),
    IDLE: ("threads have nothing to do", "too few tasks, or they wait for each other"),
}
"""What each cost means, and what to do or look for where that is known."""


class Costs(BarStack):
    """Seconds of each class of activity, beside the seconds that the threads offered."""

    needs = frozenset({"fine"})

    def compose(self) -> Sequence[PartBars]:
        """Return the figure; see `BarStack.compose`."""
        self._bars = PartBars(self.look, SECONDS, is_only=True)
        return (self._bars,)

    def shown(self) -> object:
        """Return what differs when the picture has to; see `RedrawnView.shown`."""
        return self.store.extras["fine"].version, self._is_at_rest, self.sizes, self.look

    def redraw(self) -> None:
        """Draw all classes; see `RedrawnView.redraw`."""
        fine = self.store.extras["fine"]
        classes = self._classes()
        if not classes:
            self._bars.clear()
            self.notice = Notice(empty=NO_METRICS if fine.is_known else WAITING)
            return
        offered = thread_seconds(self.store)
        bars = [self._bar(name, amounts, offered) for name, amounts in classes.items()]
        idle = max(offered - self._held(), 0.0)
        bars.append(self._idle(idle, offered))
        title, *short_titles = self._headlines(bars)
        color = data_colors(self.look).gone
        shown = fitting_bars(bars, self._bars.room, color, lambda s: self._said(s, offered))
        self._bars.draw(title, shown, short_titles=short_titles)
        self.notice = Notice(note=self._note(offered))

    @property
    def _is_at_rest(self) -> bool:
        """Whether no worker has a task: then threads are idle, whatever ran before."""
        return not self.store.workers.totals().processing

    def _headlines(self, bars: Sequence[Bar]) -> list[str]:
        """Return what is said of the largest cost, in ever fewer words."""
        ranked = sorted(bars, key=lambda bar: bar.length, reverse=True)
        largest = ranked[0].name
        if largest != IDLE or not self._is_at_rest:
            return headlines(largest, f"{largest} most")
        largest = next(bar.name for bar in ranked if bar.name != IDLE)
        said = f"{largest} most of what ran"
        return [f"Nothing runs now. {headlines(largest, said)[0]}", *headlines(largest, said)]

    def _rows(self) -> list[act.Amount]:
        fine = self.store.extras["fine"]
        is_time = fine["unit"] == "seconds"
        is_whole = np.isin(fine["activity"].astype(str), list(act.ENCLOSING))
        # What tasks do for a shuffle is counted among their own time as well.
        is_twice = (fine["context"] == "p2p") & (fine["label"] == "foreground")
        chosen = np.flatnonzero(is_time & ~is_whole & ~is_twice)
        columns = [fine[name][chosen].tolist() for name in ("context", "activity", "value")]
        return act.merged([act.Amount(*row) for row in zip(*columns, strict=True)])

    def _classes(self) -> dict[str, list[act.Amount]]:
        return act.by_class(self._rows())

    def _held(self) -> float:
        return sum(amount.value for amount in self._rows() if amount.context == THREAD_CONTEXT)

    def _bar(self, name: str, amounts: Sequence[act.Amount], offered: float) -> Bar:
        seconds = sum(amount.value for amount in amounts)
        color, hatch = act.class_color(name, self.look), act.class_hatch(name)
        parts = [
            Part(
                amount.value,
                color,
                (f"{name}: {amount.words}", self._said(amount.value, offered), act.DOCS[name]),
                hatch,
            )
            for amount in amounts
        ]
        return Bar(name, parts, self._said(seconds, offered))

    def _idle(self, seconds: float, offered: float) -> Bar:
        said = self._said(seconds, offered)
        hover = (IDLE, said, "Worker threads without a task, since the scheduler started")
        return Bar(IDLE, [Part(seconds, data_colors(self.look).track, hover)], said)

    @staticmethod
    def _said(seconds: float, offered: float) -> str:
        share = f" · {fmt.percent(seconds / offered)}" if offered else ""
        return f"{fmt.duration(seconds)}{share}"

    @staticmethod
    def _note(offered: float) -> str:
        return (
            f"Since the scheduler started; shares of the {fmt.duration(offered)} that all worker"
            " threads offered. Network, disk and packing also run beside the threads, so shares"
            " need not add up to 100 %."
        )

    def table(self) -> Table:
        """Return one row for each activity, and one for idle threads."""
        rows = [
            (name, amount.context, amount.activity, amount.value)
            for name, amounts in self._classes().items()
            for amount in amounts
        ]
        idle = max(thread_seconds(self.store) - self._held(), 0.0)
        rows.append((IDLE, THREAD_CONTEXT, "", idle))
        names = ("class", "context", "activity", "seconds")
        return Table({n: [row[i] for row in rows] for i, n in enumerate(names)}, {"seconds": "s"})


def headlines(name: str, said: str) -> list[str]:
    """Return ``said`` of a class of costs and what can be done, which is the last to go."""
    finding, advice = ADVICE[name]
    told = advice or finding
    whole = f"{finding}: {advice}" if advice else finding
    return [f"{head}: {text}" for head, text in ((said, whole), (said, told), (name, told))] + [
        f"{told[:1].upper()}{told[1:]}"
    ]


def thread_seconds(store: Store) -> float:
    """Return how long all worker threads have been there together, since the scheduler started.

    The integral of the scheduler's ``total_nthreads_history`` up to now.
    """
    times, values = store.nthreads.times, store.nthreads.values
    if not len(times):
        return 0.0
    until = np.append(times[1:], max(store.time, float(times[-1])))
    return float(((until - times) * values).sum())
