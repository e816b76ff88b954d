"""What the workers' time goes to: by class of activity, and by function.

Both are made of the fine metrics that workers send with their heartbeats.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.schema import STATES
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.bars import BarPlot, Part
from dask_diag_lab.views.data import Column, Rows, Unit
from dask_diag_lab.views.look import LIGHT, Look
from dask_diag_lab.views.registry import register_plot
from dask_diag_lab.views.scheduler import activities as act
from dask_diag_lab.views.view import Control, LegendItem, Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dask_diag_lab.store import Store

WAITING: Final = "Waiting for the scheduler's answer."
NO_METRICS: Final = (
    "No worker has reported what its time went to yet. Figures appear a second or two after the"
    " first task has ended."
)
NOT_CHOSEN: Final = "Nothing was reported in this unit for this span. Choose others above."
IDLE: Final = "Idle threads"
THREAD_CONTEXT: Final = "execute"
"""The context whose activities hold a worker's thread; all others run beside the threads."""
SENDING: Final = "get-data"
"""The context of the worker that sends; the one that receives measures the same transfer."""
SMALL_TASK_S: Final = 0.1
"""Tasks that take less on average may be too small: Dask's own overhead is about a millisecond."""
LARGE_COST_S: Final = 0.02
"""A task that costs more than this around its own work does not do so for being small."""

ADVICE: Final = {
    act.COMPUTE: "tasks use the CPU, which is what it is for",
    act.WAITING: "tasks wait: look for files, locks, or many threads of pure Python",
    act.NETWORK: "data moves much: use larger pieces, or keep related data together",
    act.SERIALIZATION: "packing data is slow: prefer arrays and Arrow strings to Python objects",
    act.DISK: "data is spilled: use more memory, smaller pieces, or release results",
    act.MEMORY: "data is copied much",
    act.FAILED: "work is lost: see Exceptions",
    act.OVERHEAD: "tasks are too small: use larger pieces",
    act.OWN: "an activity of your own",
    IDLE: "threads have nothing to do: too few tasks, or they wait for each other",
}
"""What each cost means, and what to do or look for where that is known."""
LARGE_TASKS: Final = (
    "each task carries much: look for large functions or arguments sent with every task, and"
    " scatter them"
)

_ENDED: Final = [STATES.index(state) for state in ("released", "memory", "forgotten", "erred")]


class FineBars(BarPlot):
    """Bars of the table ``fine``, with a part for each class of activity."""

    reads = ("fine", "workers")
    noun = "bar"

    def why_empty(self) -> str:
        """Return whether there will be figures; see `DataPlot.why_empty`."""
        return NO_METRICS if self.store.extras["fine"].is_known else WAITING

    def amounts(self, chosen: npt.NDArray[np.bool_]) -> list[tuple[str, act.Amount]]:
        """Return label and amount of the chosen rows of the table, without enclosing spans."""
        fine = self.store.extras["fine"]
        is_whole = np.isin(fine["activity"].astype(str), list(act.ENCLOSING))
        rows = np.flatnonzero(chosen & ~is_whole)
        names = ("label", "context", "activity", "value")
        columns = [fine[name][rows].tolist() for name in names]
        return [(label, act.Amount(*amount)) for label, *amount in zip(*columns, strict=True)]


def _by_class(amounts: Sequence[act.Amount]) -> dict[str, float]:
    return {
        name: sum(amount.value for amount in members)
        for name, members in act.by_class(amounts).items()
    }


@register_plot
class Costs(FineBars):
    """Seconds of each class of activity, beside the seconds that the threads offered.

    Threads offer time while anything runs in the cluster: pauses between computations are nobody's
    cost. Of a transfer the receiving end counts alone.
    """

    name = "costs"
    title = "Where the Time Goes"
    group = "Scheduler"
    description = "Computing, waiting, network, disk, serialization, overhead and idle threads."
    help = (
        "One bar for each kind of cost: seconds over all workers, and their share of the "
        "time that all worker threads offered while anything ran. The line above "
        "names the largest and what usually helps; when nothing runs, the largest but for "
        "idle threads.\n"
        "- plain: computing\n"
        "- rising stripes: tasks hold a thread without using the CPU\n"
        "- level lines: data moves\n"
        "- dots: data is packed and unpacked\n"
        "- empty: threads had nothing to do while others worked\n"
        "- network: as the receiving end measures it, so that a transfer counts once\n"
        "- healthy: computing is by far the longest\n"
        "- much overhead: tasks are too small, or each brings along a large function or argument\n"
        "- not here: the bandwidth of memory cannot be told apart from computing, compare it "
        "with the Hardware plot; what the scheduler itself costs is in Scheduler System"
    )
    keywords = (
        *("overhead", "serialization", "network", "disk", "idle", "bottleneck", "slow"),
        *("compute", "summary", "why"),
    )

    columns = (
        Column("class", "Class", shown=False),
        Column("seconds", "Time", "seconds", share_of="offered"),
        Column("most", "Most of it"),
        Column("meaning", ""),
        Column("offered", "Offered by all threads", "seconds", shown=False, in_table=False),
        *(Column(name, name, "seconds", shown=False, in_table=False) for name in act.CLASSES),
    )
    parts = (
        *(Part(name, color=color, hatch=hatch) for name, (color, hatch) in act.STYLES.items()),
        Part(IDLE, color="track"),
    )
    label = key = "class"
    value = ("seconds",)
    merges = "sum"
    nouns = "costs"

    def rows(self) -> Rows:
        """Return a row for each class that there is, and one for idle threads."""
        amounts = self._amounts()
        if not amounts:
            return {column.name: [] for column in self.columns}
        classes = act.by_class(act.merged(amounts))
        sums = {name: sum(one.value for one in members) for name, members in classes.items()}
        sums[IDLE] = self._idle_s(amounts)
        most = {
            name: ", ".join(f"{one.label} {fmt.duration(one.value)}" for one in members[:3])
            for name, members in classes.items()
        }
        names = list(sums)
        meaning = {**act.DOCS, IDLE: "Worker threads without a task while others had one"}
        seconds = np.array(list(sums.values()))
        return {
            "class": names,
            "seconds": seconds,
            "most": [most.get(name, "") for name in names],
            "meaning": [meaning[name] for name in names],
            "offered": np.full(len(names), self._offered_s(amounts)),
            **{
                part.column: np.where(np.array(names) == part.column, seconds, 0.0)
                for part in self.parts
            },
        }

    def headline(self) -> str:
        """Return the largest cost and what to do about it; idle threads only while work goes on."""
        rows, amounts = self.rows(), self._amounts()
        sums = dict(zip(rows["class"], np.asarray(rows["seconds"]).tolist(), strict=True))
        if not self.store.workers.totals().processing:
            del sums[IDLE]
        largest = max(sums, key=lambda name: sums[name])
        most = (
            f"{largest} most" if IDLE in sums else f"Nothing runs now. {largest} most of what ran"
        )
        return f"{most}: {self._advice(largest, amounts)}"

    def note(self) -> str:
        """Return what the shares are of; see `DataPlot.note`."""
        offered_s = self._offered_s(self._amounts())
        return (
            f"Since the scheduler started; shares of the {fmt.duration(offered_s)} that all"
            " worker threads offered while anything ran. Network, disk and packing also run"
            " beside the threads, so shares need not add up to 100 %."
        )

    def table(self) -> Table:
        """Return one row for each activity, and one for idle threads."""
        amounts = self._amounts()
        rows = [
            (name, amount.context, amount.activity, amount.value)
            for name, members in act.by_class(act.merged(amounts)).items()
            for amount in members
        ]
        rows.append((IDLE, THREAD_CONTEXT, "", self._idle_s(amounts)))
        names = ("class", "context", "activity", "seconds")
        return Table({n: [row[i] for row in rows] for i, n in enumerate(names)}, {"seconds": "s"})

    def _amounts(self) -> list[act.Amount]:
        fine = self.store.extras["fine"]
        # What tasks do for a shuffle is counted among their own time as well.
        is_twice = (fine["context"] == "p2p") & (fine["label"] == "foreground")
        is_sent = (fine["context"] == SENDING) & (fine["activity"] == "network")
        chosen = (fine["unit"] == "seconds") & ~is_twice & ~is_sent
        return [amount for _, amount in self.amounts(chosen)]

    def _advice(self, name: str, amounts: Sequence[act.Amount]) -> str:
        """Return what helps; what is spent around each task may be due to what it brings along."""
        of_tasks = [amount for amount in amounts if amount.context == THREAD_CONTEXT]
        spent_s = sum(one.value for one in of_tasks if act.class_of(one.activity) == name)
        is_spilled = any(act.class_of(one.activity) == act.DISK for one in of_tasks)
        is_around_tasks = name == act.OVERHEAD or (name == act.SERIALIZATION and not is_spilled)
        n_ended = int(self.store.prefixes.states[:, _ENDED].sum())
        is_large = spent_s >= LARGE_COST_S * n_ended
        is_long = self._held_s(amounts) >= SMALL_TASK_S * n_ended
        if n_ended and spent_s and is_around_tasks and (is_large or is_long):
            return LARGE_TASKS
        return ADVICE[name]

    def _idle_s(self, amounts: Sequence[act.Amount]) -> float:
        return self._offered_s(amounts) - self._held_s(amounts)

    @staticmethod
    def _held_s(amounts: Sequence[act.Amount]) -> float:
        return sum(amount.value for amount in amounts if amount.context == THREAD_CONTEXT)

    def _offered_s(self, amounts: Sequence[act.Amount]) -> float:
        """Return what threads offered; at least what was used, some of it before we looked."""
        nthreads = self.store.nthreads
        offered_s = self.store.busy.thread_seconds(nthreads.times, nthreads.values)
        return max(offered_s, self._held_s(amounts))


_STYLES: Final = act.STYLES.items()
_UNITS: Final[dict[str, Unit]] = {"seconds": "seconds", "bytes": "bytes"}
_FIRST_UNITS: Final = ("seconds", "bytes", "count")
_CONTEXTS: Final = {
    "gather-dep": "Fetching data (gather-dep)",
    "get-data": "Sending data (get-data)",
    "memory-monitor": "Spilling (memory-monitor)",
    "p2p": "Shuffling",
}
"""Work that belongs to no single function."""


@register_plot
class FineMetrics(FineBars):
    """One bar for each function, and for what runs beside the tasks; parts are activities."""

    name = "fine-performance-metrics"
    title = "Fine Performance Metrics"
    group = "Scheduler"
    description = "What each function spent its time or bytes on, activity by activity."
    help = (
        "One bar for each function, and one for fetching, sending, spilling and shuffling "
        "data, which run beside the tasks. Its parts are activities; point at one for its "
        "name.\n"
        "- plain: computes\n"
        "- rising stripes: waits inside a task\n"
        "- level lines: network\n"
        "- dots: packs and unpacks data\n"
        "- upright lines: disk\n"
        "- controls: seconds, bytes or counts, and one span of the computation; spans of one "
        "name are one, and those inside a span count for themselves\n"
        "- click a function: its profile\n"
        "- healthy: plain is most of each function's bar\n"
        "- how long: sums since the scheduler started, as the workers report them with their "
        "heartbeats"
    )
    keywords = (
        *("activity", "span", "serialize", "deserialize", "compress", "network", "disk"),
        *("gather-dep", "get-data", "thread-cpu", "spill"),
    )

    parts = tuple(Part(name, name, color, hatch=hatch) for name, (color, hatch) in _STYLES)
    label = key = "function"
    noun, nouns = "function", "functions"
    value: ClassVar[Sequence[str]] = ("total",)
    sort_by = "total"
    order = "size"
    merges = "sum"

    def __init__(
        self, store: Store, look: Look = LIGHT, arguments: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(store, look, arguments)
        self.unit = "seconds"
        self.span = ""

    @property
    def columns(self) -> Sequence[Column]:  # type: ignore[override]  # the reader chooses a unit
        """Total, largest activities, and a column for each class."""
        unit = _UNITS.get(self.unit, "number")
        return (
            Column("function", "Function", "key"),
            Column("total", "Total", unit, share_of="sum"),
            Column("most", "Most of it"),
            *(Column(name, name, unit, shown=False) for name in act.CLASSES),
        )

    def rows(self) -> Rows:
        """Return a row for each function, and for what runs beside the tasks, largest first."""
        found: dict[str, list[act.Amount]] = {}
        fine = self.store.extras["fine"]
        chosen = fine["unit"] == self.unit
        if self.span:
            chosen = chosen & (fine["span"] == self.span)
        for label, amount in self.amounts(chosen):
            found.setdefault(_function(amount.context, label), []).append(amount)
        sums = {name: _by_class(amounts) for name, amounts in found.items()}
        total = {name: sum(of_class.values()) for name, of_class in sums.items()}
        names = sorted((n for n in total if total[n] > 0), key=lambda name: -total[name])
        columns: dict[str, Any] = {  # texts and numbers
            name: np.array([sums[function].get(name, 0.0) for function in names])
            for name in act.CLASSES
        }
        return {
            "function": names,
            "total": np.array([total[name] for name in names]),
            "most": [self._largest(act.merged(found[name]), total[name]) for name in names],
            **columns,
        }

    def headline(self) -> str:
        """Return the sum of all; see `DataPlot.headline`."""
        total = np.asarray(self.rows()["total"])
        return f"{self._written(float(total.sum()))} over {fmt.plural(len(total), 'function')}"

    def note(self) -> str:
        """Return what is put together or left out; see `DataPlot.note`."""
        fine = self.store.extras["fine"]
        names = set(fine["span"].tolist())
        has_inner = bool(self.span) and any(n.startswith(f"{self.span} > ") for n in names)
        together = "all spans of this name together, " if self.span else ""
        together += "without those inside them, " if has_inner else ""
        has_shuffle = "p2p" in fine["context"].tolist()
        idle = "; waiting loops of shuffles are left out" if has_shuffle else ""
        return f"{together}since the scheduler started{idle}"

    def legend(self, rows: Rows) -> Sequence[LegendItem]:
        """Return the classes that there are."""
        items = super().legend(rows)
        return [item for item in items if np.any(np.asarray(rows[item.label]) > 0)]

    def why_empty(self) -> str:
        """Return whether there is anything of other units or spans; see `DataPlot.why_empty`."""
        return NOT_CHOSEN if len(self.store.extras["fine"]) else super().why_empty()

    def table(self) -> Table:
        """Return every row of the metrics, of all units and spans."""
        fine = self.store.extras["fine"]
        return Table({name: fine[name].tolist() for name in fine.columns})

    def state(self) -> object:
        """Return what the reader has set; see `View.state`."""
        return super().state(), self.unit, self.span

    def set_control(self, name: str, value: str) -> None:
        """Choose unit or span; see `View.set_control`."""
        if name == "unit":
            self.unit = value
        elif name == "span":
            self.span = value
        else:
            super().set_control(name, value)

    def open_row(self, key: str) -> None:
        """Open the profile of a function."""
        fine = self.store.extras["fine"]
        if key in fine["label"][fine["context"] == THREAD_CONTEXT].tolist():
            self.open("profile", prefix=key)

    def own_controls(self) -> Sequence[Control]:
        """Return units and spans; see `BarPlot.own_controls`."""
        fine = self.store.extras["fine"]
        found = set(fine["unit"].tolist())
        units = [u for u in _FIRST_UNITS if u in found] + sorted(found - set(_FIRST_UNITS))
        if not units:
            return ()
        controls = [Control("unit", "select", "Unit", self.unit, [(u, u) for u in units])]
        spans = sorted(set(fine["span"].tolist()) - {""})
        if len(spans) > 1:
            options = [("", "All spans"), *((span, fmt.elide(span, 60)) for span in spans)]
            controls.append(Control("span", "select", "Span", self.span, options))
        return controls

    def _largest(self, amounts: Sequence[act.Amount], total: float) -> str:
        ranked = sorted(amounts, key=lambda amount: -amount.value)[:5]
        return ", ".join(
            f"{one.activity} {self._written(one.value)} ({fmt.percent(one.value / total)})"
            for one in ranked
            if one.value > 0
        )

    def _written(self, amount: float) -> str:
        if self.unit == "seconds":
            return fmt.duration(amount)
        if self.unit == "bytes":
            return fmt.binary(amount)
        unit = "" if self.unit == "count" else f" {fmt.elide(self.unit, 20)}"
        return f"{fmt.significant(amount)}{unit}"


def _function(context: str, label: str) -> str:
    """Return the function, or what work is called that belongs to no single one."""
    if context == THREAD_CONTEXT:
        return label
    work = _CONTEXTS.get(context, context)
    return f"{work}: {label}" if label else work
