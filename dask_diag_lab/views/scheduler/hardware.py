"""Bandwidth of memory, disk and network, measured on every worker when the reader asks for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from dask_diag_lab.views import controls
from dask_diag_lab.views import format as fmt
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

UNASKED: Final = (
    "Nothing was measured yet. “Measure now” copies memory, writes to disk and sends data between"
    " all workers for some seconds, which slows down whatever runs meanwhile."
)
NEEDED_BYTES: Final = 400 << 20
"""What the benchmark may take on a worker: two copies of blocks of 100 MiB, and some room."""
USUAL_S: Final = 12
"""What the engine's benchmark takes on idle workers: five sizes of 1 s each on disk, five of 0.2 s
in memory and six of 1 s between workers, one after the other."""
MEASURE: Final = "Measure now"
MEASURING: Final = "Measuring …"
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
        self._refused = self._short_of_memory()
        if self._refused:
            return
        inquiry = self.store.inquiries.ask("hardware")
        if inquiry.state != "asked":  # measured before, perhaps for another page
            self.store.inquiries.ask_again(inquiry)

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
        return asked, self._waited_s, self._refused, self.sizes, self.look

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
        set_properties(self._button, disabled=is_asked, label=MEASURING if is_asked else MEASURE)
        self._said_s = self._waited_s
        answer = inquiry.answer if inquiry is not None else None
        found = self._found = {name: answer[name] if answer else [] for name, _ in KINDS}
        self._row.arrange([len(found[name]) for name in self._bars])
        for name, title in KINDS:
            if found[name]:
                self._draw(name, title, found[name])
        said = self._notice(inquiry, is_measured=bool(answer))
        self.notice = Notice(note=self._refused) if self._refused else said

    def _notice(self, inquiry: Inquiry | None, *, is_measured: bool) -> Notice:
        if inquiry is None:
            return Notice(note=UNASKED)
        if inquiry.state == "asked":
            return Notice(
                note=f"Measuring disk, memory and network one after the other: {self._said_s} s so"
                f" far, of about {USUAL_S} s where workers are idle"
            )
        if inquiry.state == "failed":
            return Notice(note=f"Not measured: {inquiry.error}")
        if not is_measured:
            return Notice(note=UNASKED)
        said = "Mean of all workers, by size of the block"
        return Notice(note="; ".join([said, *self._left_out()]))

    def _left_out(self) -> list[str]:
        """Return what there is no room for."""
        absent = [t for n, t in KINDS if not self._bars[n].figure.visible and self._found[n]]
        hidden = sum(bars.hidden for bars in self._bars.values() if bars.figure.visible)
        parts = [*([fmt.plural(hidden, "bar")] if hidden else []), *absent]
        return [f"no room for {', '.join(parts)}: make the pane higher"] if parts else []

    def _draw(self, name: str, title: str, rows: list[dict[str, Any]]) -> None:
        color = data_colors(self.look).load_normal
        bars = []
        for row in rows:
            said = fmt.si(row["rate"], "B/s")
            size = fmt.whole_binary(row["size"])
            hover = (f"{title}, blocks of {size}", said)
            bars.append(Bar(size, [Part(float(row["rate"]), color, hover)], said))
        self._bars[name].draw(f"{title} bandwidth", bars)

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
