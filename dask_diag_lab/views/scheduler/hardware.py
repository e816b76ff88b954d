"""Bandwidth of memory, disk and network, measured on every worker when the reader asks for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from dask_diag_lab.views import controls
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.asked import UNASKED, can_ask
from dask_diag_lab.views.bar_figure import RATE
from dask_diag_lab.views.base import Notice, Table
from dask_diag_lab.views.figure import set_properties
from dask_diag_lab.views.palette import data_colors
from dask_diag_lab.views.scheduler.bar_row import BarRow
from dask_diag_lab.views.scheduler.bar_stack import BarStack
from dask_diag_lab.views.scheduler.part_bars import Bar, Part, PartBars
from dask_diag_lab.views.worker_names import name_in_words

if TYPE_CHECKING:
    from bokeh.models.ui import UIElement

    from dask_diag_lab.store.inquiries import Inquiry

UNMEASURED: Final = (
    "Nothing was measured yet. “Measure now” copies memory, writes to disk and sends data between"
    " all workers for some seconds, which slows down whatever runs meanwhile."
)
NEEDED_BYTES: Final = 400 << 20
"""What the benchmark may take on a worker: two copies of blocks of 100 MiB, and some room."""
USUAL_S: Final = 12
"""What the engine's benchmark takes on idle workers: five sizes of 1 s each on disk, five of 0.2 s
in memory and six of 1 s between workers, one after the other."""
WORDY_PX: Final = 860
"""In less width words that can be done without would take another line, and so bars."""
NOBODY: Final = "there is no worker. Add some with cluster.scale(4)."
MEASURE: Final = "Measure now"
MEASURING: Final = "Measuring …"
IMPLAUSIBLE: Final = {"memory": 0.1, "disk": 0.5, "network": 0.5}
"""A larger block below this share of a smaller one's bandwidth does not merely vary. In memory
10 MiB had 0.39 of 100 KiB, which the caches hold, on a worker that did nothing else."""
KINDS: Final = (("memory", "Memory"), ("disk", "Disk"), ("network", "Network"))


class Hardware(BarStack):
    """Three figures of bandwidth by size of the block, and the button that measures."""

    _refused = ""
    _said_s = 0

    @property
    def _inquiry(self) -> Inquiry | None:
        """What was asked by any page, so that each shows it and its table has it."""
        return self.store.inquiries.known("hardware")

    def compose(self) -> Sequence[UIElement | BarRow]:
        """Return the button above the figures; see `BarStack.compose`."""
        self._button = controls.button(self.look, MEASURE, self._measure)
        self._bars = {name: PartBars(self.look, RATE) for name, _ in KINDS}
        self._row = BarRow(list(self._bars.values()))
        return controls.bar(self._button), self._row

    def _measure(self) -> None:
        """Ask the cluster: only ever called by the button.

        A worker without the room for it would be killed by its own memory limit.
        """
        self._refused = self._reason_against()
        if self._refused:
            return
        inquiry = self.store.inquiries.ask("hardware")
        if inquiry.state != "asked":  # measured before, perhaps for another page
            self.store.inquiries.ask_again(inquiry)

    def _reason_against(self) -> str:
        if not len(self.store.workers):
            return f"Not measured: {NOBODY}"
        return self._short_of_memory()

    def _short_of_memory(self) -> str:
        """Return which workers have no room for the benchmark, '' when all have."""
        workers = self.store.workers
        limits = zip(workers.name, workers.memory_limit.tolist(), workers.memory, strict=True)
        short = [
            f"{name_in_words(name)} ({fmt.binary(max(limit - int(used), 0))} free)"
            for name, limit, used in limits
            if limit and limit - int(used) < NEEDED_BYTES
        ]
        if not short:
            return ""
        more = f" and {fmt.count(len(short) - 3)} more" if len(short) > 3 else ""
        return (
            f"Not measured: it needs {fmt.binary(NEEDED_BYTES)} of free memory on each worker, and"
            f" these have less: {', '.join(short[:3])}{more}. Release results first."
        )

    def shown(self) -> object:
        """Return what differs when the picture has to; see `RedrawnView.shown`."""
        inquiry = self._inquiry
        asked = (inquiry and inquiry.version, inquiry and inquiry.state)
        is_possible = can_ask(self.store)
        return asked, is_possible, self._waited_s, self._refused, self.sizes, self.look

    @property
    def is_behind(self) -> bool:
        """Whether another second of a measurement has passed; see `View.is_behind`."""
        return self._waited_s != self._said_s

    @property
    def _waited_s(self) -> int:
        inquiry = self._inquiry
        return int(self.store.inquiries.waited_s(inquiry)) if inquiry is not None else 0

    def redraw(self) -> None:
        """Draw what was measured; see `RedrawnView.redraw`."""
        inquiry = self._inquiry
        is_asked = inquiry is not None and inquiry.state == "asked"
        is_off = is_asked or not can_ask(self.store)
        set_properties(self._button, disabled=is_off, label=MEASURING if is_asked else MEASURE)
        self._said_s = self._waited_s
        answer = inquiry.answer if inquiry is not None else None
        found = self._found = {name: answer[name] if answer else [] for name, _ in KINDS}
        self._row.arrange([len(found[name]) for name in self._bars])
        for name, title in KINDS:
            if found[name]:
                self._draw(name, title, found[name])
        self.notice = self._notice(inquiry)

    def _notice(self, inquiry: Inquiry | None) -> Notice:
        """Return what is said; in the picture's place where nothing was measured."""
        happened = self._happened(inquiry)
        if inquiry is None or not any(self._found.values()):
            return Notice(empty=happened or (UNMEASURED if can_ask(self.store) else UNASKED))
        doubt = "" if inquiry.state == "asked" else self._doubt()
        said = [happened, doubt, *self._left_out(), self._of_whom(inquiry)]
        return Notice(note=" · ".join(part for part in said if part))

    def _happened(self, inquiry: Inquiry | None) -> str:
        """Return why what is shown is not what was asked for last; '' when it is."""
        if self._refused or inquiry is None:
            return self._refused
        if inquiry.state == "asked":
            return (
                f"Measuring disk, memory and network one after the other: {self._said_s} s so"
                f" far, of about {USUAL_S} s where workers are idle"
            )
        if inquiry.state == "failed":
            return f"Not measured: {inquiry.error}"
        return "" if any(self._found.values()) else f"Nothing was measured: {NOBODY}"

    def _doubt(self) -> str:
        """Return what makes figures implausible; '' when they are not."""
        slower = [title for name, title in KINDS if _falls(self._found[name], IMPLAUSIBLE[name])]
        if not slower:
            return ""
        return (
            f"{', '.join(slower)} far slower in larger blocks: workers may have been busy while"
            " it was measured, measuring again may tell more"
        )

    def _of_whom(self, inquiry: Inquiry) -> str:
        """Return what the bars are means of, and when that was: workers come and go."""
        said = f"Means of all workers at {fmt.clock(inquiry.answered_at)}"
        if not self._found["network"]:
            return f"{said}; network needs two workers"
        if self._is_terse:
            return said
        return f"{said}, by size of the block; network between pairs of them"

    def _left_out(self) -> list[str]:
        """Return what there is no room for."""
        absent = [t for n, t in KINDS if not self._bars[n].figure.visible and self._found[n]]
        hidden = sum(bars.hidden for bars in self._bars.values() if bars.figure.visible)
        parts = [*([fmt.plural(hidden, "bar")] if hidden else []), *absent]
        remedy = "" if self._is_terse else ": make the pane higher"
        return [f"no room for {', '.join(parts)}{remedy}"] if parts else []

    @property
    def _is_terse(self) -> bool:
        return self._row.width < WORDY_PX

    def _draw(self, name: str, title: str, rows: list[dict[str, Any]]) -> None:
        color = data_colors(self.look).load_normal
        bars = []
        for row in rows:
            said = fmt.si(row["rate"], "B/s")
            size = fmt.whole_binary(row["size"])
            hover = (f"{title}, blocks of {size}", said)
            bars.append(Bar(size, [Part(float(row["rate"]), color, hover)], said))
        self._bars[name].draw(f"{title} bandwidth", bars, short_titles=[title])

    def table(self) -> Table:
        """Return one row for each kind and size; none before it was measured."""
        inquiry = self._inquiry
        answer = inquiry.answer if inquiry is not None else None
        rows = [
            (name, row["size"], row["rate"])
            for name, _ in KINDS
            for row in (answer or {}).get(name, ())
        ]
        columns = {n: [row[i] for row in rows] for i, n in enumerate(("kind", "size", "rate"))}
        return Table(columns, {"size": "B", "rate": "B/s"})


def _falls(rows: Sequence[dict[str, Any]], share: float) -> bool:
    """Tell whether a block has less than this share of a smaller one's rate; sizes ascend."""
    fastest = 0.0
    for row in rows:
        if row["rate"] < share * fastest:
            return True
        fastest = max(fastest, row["rate"])
    return False
