"""Fine performance metrics: what each function spent, by activity, for all or one span."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.views import controls
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.bar_figure import BYTES, NUMBER, SECONDS
from dask_diag_lab.views.base import Notice, Table
from dask_diag_lab.views.control_bar import ControlBar
from dask_diag_lab.views.figure import set_properties
from dask_diag_lab.views.look import LIGHT, Look
from dask_diag_lab.views.room import size_among
from dask_diag_lab.views.scheduler import activities as act
from dask_diag_lab.views.scheduler.bar_stack import BarStack
from dask_diag_lab.views.scheduler.costs import NO_METRICS, WAITING
from dask_diag_lab.views.scheduler.part_bars import Bar, Part, PartBars
from dask_diag_lab.views.shown_name import shown_name

if TYPE_CHECKING:
    from bokeh.models.ui import UIElement

    from dask_diag_lab.store import Store
    from dask_diag_lab.views.pane_size import PaneSize

ALL: Final = ""
_SCALES: Final = {"seconds": SECONDS, "bytes": BYTES}
_FIRST_UNITS: Final = ("seconds", "bytes", "count")
_CONTEXTS: Final = {
    "gather-dep": "Fetching data (gather-dep)",
    "get-data": "Sending data (get-data)",
    "memory-monitor": "Spilling (memory-monitor)",
    "p2p": "Shuffling",
}
"""Work that belongs to no single function."""


class FineMetrics(BarStack):
    """One bar for each function, and for what runs beside the tasks; parts are activities."""

    needs = frozenset({"fine"})

    def __init__(
        self, store: Store, look: Look = LIGHT, arguments: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(store, look, arguments)
        self.unit = "seconds"
        self.span = ALL

    def compose(self) -> Sequence[UIElement | PartBars]:
        """Return controls and figure; see `BarStack.compose`."""
        self._bars = PartBars(self.look, SECONDS, on_tap=self._tapped, said=self._said)
        self._units = controls.select(
            self.look, "Unit", ["seconds"], "seconds", self._set_unit, width=100
        )
        self._spans = controls.select(
            self.look, "Span", [(ALL, "All spans")], ALL, self._set_span, width=180
        )
        self.controls = ControlBar(self.look, self._units, self._spans)
        return *self.controls.parts, self._bars

    def _set_unit(self, unit: str) -> None:
        self.unit = unit

    def _set_span(self, span: str) -> None:
        self.span = span

    def _tapped(self, name: str) -> None:
        if name in self._functions:
            self.open("profile", prefix=name)

    def shown(self) -> object:
        """Return what differs when the picture has to; see `RedrawnView.shown`."""
        version = self.store.extras["fine"].version
        chosen = self.unit, self.span, self.controls.is_asked_for
        return version, chosen, self.size, self.look

    @property
    def size(self) -> PaneSize:
        """How large the figure is on the page, among controls and note."""
        note, font_size = self.notice.note, self.look.font_size
        return size_among(self._bars.figure, note, font_size, self.controls.bar)

    def redraw(self) -> None:
        """Draw what is chosen; see `RedrawnView.redraw`."""
        fine = self.store.extras["fine"]
        is_empty = not len(fine)
        self.controls.show(has_room=not self.size.is_small, is_of_use=not is_empty)
        if is_empty:
            self._bars.clear()
            self.notice = Notice(empty=NO_METRICS if fine.is_known else WAITING)
            return
        self._offer()
        self._bars.scale = _SCALES.get(self.unit, NUMBER)
        bars = self._make_bars()
        total = sum(bar.length for bar in bars)
        self._bars.draw(f"{self._said(total)} over {fmt.plural(len(bars), 'function')}", bars)
        hidden = self._bars.hidden
        note = f"{fmt.plural(hidden, 'smaller bar')} in one; " if hidden else ""
        has_shuffle = "p2p" in self.store.extras["fine"]["context"].tolist()
        idle = "; waiting loops of shuffles are left out" if has_shuffle else ""
        together = "all spans of this name together, " if self.span else ""
        together += "without those inside them, " if self._holds_others() else ""
        self.notice = Notice(note=f"{note}{together}since the scheduler started{idle}")

    def _offer(self) -> None:
        """Offer the units and spans that there are."""
        fine = self.store.extras["fine"]
        found = set(fine["unit"].tolist())
        units = [u for u in _FIRST_UNITS if u in found] + sorted(found - set(_FIRST_UNITS))
        set_properties(self._units, options=[*units] or ["seconds"])
        spans = sorted(set(fine["span"].tolist()) - {ALL})
        options = [(ALL, "All spans"), *((span, shown_name(span, 60)) for span in spans)]
        set_properties(self._spans, options=options, visible=len(spans) > 1)

    def _holds_others(self) -> bool:
        """Return whether there are spans inside those that are shown: these have their own rows."""
        names = set(self.store.extras["fine"]["span"].tolist())
        return bool(self.span) and any(name.startswith(f"{self.span} > ") for name in names)

    def _chosen(self) -> npt.NDArray[np.int64]:
        """Return the rows of the table that are shown."""
        fine = self.store.extras["fine"]
        wanted = (fine["unit"] == self.unit) & ~np.isin(
            fine["activity"].astype(str), list(act.ENCLOSING)
        )
        if self.span:
            wanted &= fine["span"] == self.span
        return np.flatnonzero(wanted)

    def _make_bars(self) -> list[Bar]:
        fine, rows = self.store.extras["fine"], self._chosen()
        names = ("context", "label", "activity", "value")
        columns = [fine[name][rows].tolist() for name in names]
        found: dict[tuple[str, str], list[act.Amount]] = {}
        for context, label, activity, amount in zip(*columns, strict=True):
            found.setdefault((context, label), []).append(act.Amount(context, activity, amount))
        self._functions = {label for context, label in found if context == "execute"}
        bars = [self._bar(*name, act.merged(amounts)) for name, amounts in found.items()]
        return sorted((bar for bar in bars if bar.length > 0), key=lambda bar: -bar.length)

    def _bar(self, context: str, label: str, amounts: Sequence[act.Amount]) -> Bar:
        name = label if context == "execute" else _beside(context, label)
        total = sum(amount.value for amount in amounts)
        parts = [
            Part(
                amount.value,
                act.class_color(kind, self.look),
                (
                    f"{shown_name(name)}: {amount.activity}",
                    f"{self._said(amount.value)} · {fmt.percent(amount.value / total)}",
                    f"{kind}: {act.DOCS[kind][:1].lower()}{act.DOCS[kind][1:]}",
                ),
                act.class_hatch(kind),
            )
            for kind, members in act.by_class(amounts).items()
            for amount in members
        ]
        return Bar(name, parts, self._said(total))

    def _said(self, amount: float) -> str:
        if self.unit == "seconds":
            return fmt.duration(amount)
        if self.unit == "bytes":
            return fmt.binary(amount)
        unit = "" if self.unit == "count" else f" {shown_name(self.unit, 20)}"
        return f"{fmt.significant(amount)}{unit}"

    def table(self) -> Table:
        """Return every row of the metrics, of all units and spans."""
        fine = self.store.extras["fine"]
        return Table({name: fine[name].tolist() for name in fine.columns})


def _beside(context: str, label: str) -> str:
    """Return what work is called that belongs to no single function."""
    words = _CONTEXTS.get(context, context)
    return f"{words}: {label}" if label else words
