"""Small views that show the server's rules: one that counts, one that fails."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from bokeh.events import DoubleTap, Tap
from bokeh.models import ColumnDataSource
from bokeh.models.ui import UIElement
from bokeh.plotting import figure

from dask_diag_lab.views.base import Notice, Table, View
from dask_diag_lab.views.latest import Latest
from dask_diag_lab.views.registry import Plot


class Counting(View):
    """Draws the store's version and notes what it was asked to do."""

    made: ClassVar[list[Counting]] = []

    def build(self) -> UIElement:
        self.verbs: list[str] = []
        self.updates = 0
        self.is_closed = False
        self.source = ColumnDataSource({"x": [0.0], "y": [0.0]})
        self.picture = figure(sizing_mode="stretch_both", name="picture")
        self.picture.line("x", "y", source=self.source)
        self.restyle()
        self.made.append(self)
        return self.picture

    def update(self) -> None:
        self.updates += 1
        self.source.data = {"x": [0.0], "y": [float(self.store.version)]}
        self.notice = Notice(note=f"version {self.store.version}", behind_s=len(self.verbs) / 2)

    def table(self) -> Table:
        return Table({"version": [self.store.version]})

    def restyle(self) -> None:
        self.picture.background_fill_color = self.look.background

    def command(self, verb: str) -> None:
        self.verbs.append(verb)

    def close(self) -> None:
        self.is_closed = True


class Failing(Counting):
    """Raises in every update while `is_broken`."""

    is_broken: ClassVar[bool] = True

    def update(self) -> None:
        if self.is_broken:
            raise ZeroDivisionError("on purpose")
        super().update()


class Mute(Counting):
    """Has nothing to say that a page could show, and fails when it is closed."""

    def update(self) -> None:
        super().update()
        self.notice = replace(self.notice, behind_s=float("nan"))

    def close(self) -> None:
        super().close()
        raise ZeroDivisionError("on purpose")


class SelfFreezing(Counting):
    """Is frozen while ``freeze`` was the last thing asked of it, and goes on counting."""

    freezes_itself: ClassVar[bool] = True

    def update(self) -> None:
        super().update()
        self.notice = replace(self.notice, is_frozen=self.verbs[-1:] == ["freeze"])


class Reading(Counting):
    """Has more to draw until its fifth update."""

    @property
    def is_behind(self) -> bool:
        return self.updates < 5

    def update(self) -> None:
        super().update()
        self.notice = Notice(note=f"{self.updates} of 5")


class Stuck(Reading):
    """Fails when it should read on."""

    def update(self) -> None:
        super().update()
        if self.updates > 1:
            raise KeyError("on purpose")


class Making(Counting):
    """Has each picture made elsewhere and says what was made last."""

    def build(self) -> UIElement:
        self._latest: Latest[int] = Latest(self.store.workings)
        return super().build()

    def update(self) -> None:
        super().update()
        now = self.store.scheduler
        made = self._latest.of("", now, lambda: self.updates)
        self.notice = Notice(note=f"made in update {made}")


class MakingOnClick(Counting):
    """Has something made elsewhere when it is clicked, and says what was made."""

    def build(self) -> UIElement:
        self._latest: Latest[int] = Latest(self.store.workings)
        self._is_wanted = False
        picture = super().build()
        self.picture.on_event(Tap, self._tapped)
        return picture

    def update(self) -> None:
        super().update()
        made = self._latest.of("", 1, lambda: 7) if self._is_wanted else None
        self.notice = Notice(note=f"made {made}")

    def _tapped(self) -> None:
        self._is_wanted = True
        self.update()


class Needing(Counting):
    """Says that it waits for counters."""

    needs: ClassVar[frozenset[str]] = frozenset({"counters"})

    def update(self) -> None:
        super().update()
        self.notice = Notice(empty="Waiting for the scheduler's answer.")


class Choosing(Counting):
    """Shows one thing of many, needs tables, and opens another plot when it is clicked."""

    needs: ClassVar[frozenset[str]] = frozenset({"errors", "counters"})

    def build(self) -> UIElement:
        picture = super().build()
        self.picture.on_event(Tap, self._tapped)
        self.picture.on_event(DoubleTap, self._tapped_twice)
        return picture

    def update(self) -> None:
        super().update()
        self.notice = Notice(note=f"shows {self.arguments.get('key', 'all')}")

    def show(self, arguments: Mapping[str, str]) -> None:
        if arguments.get("key") == "bad":
            raise LookupError("there is no such task")
        super().show(arguments)

    def table(self) -> Table:
        return Table({"key": list(self.store.extras["errors"]["key"])})

    def _tapped(self) -> None:
        self.open("task", key="inc-1")

    def _tapped_twice(self) -> None:
        raise ValueError("clicked beside it")


class Blushing(Counting):
    """A click makes it red, in two steps."""

    def build(self) -> UIElement:
        picture = super().build()
        self.picture.on_event(Tap, self._blush)
        return picture

    def _blush(self) -> None:
        self.picture.background_fill_color = "red"
        self.picture.border_fill_color = "red"


class Following(Counting):
    """Shows the keys of the task graph, which is followed only when it is needed."""

    needs: ClassVar[frozenset[str]] = frozenset({"graph"})

    def table(self) -> Table:
        return Table({"key": list(self.store.graph.key)})


class Asking(Counting):
    """Asks the cluster in `update`, and shows the answer in its table only after that."""

    def update(self) -> None:
        super().update()
        self.inquiry = self.store.inquiries.ask("logs", worker=self.arguments.get("worker", ""))

    def table(self) -> Table:
        return Table({"line": list(self.inquiry.answer or [])})


class Crafting(Counting):
    """Has its table worked out apart, and is empty until that is done."""

    def build(self) -> UIElement:
        self.working = self.store.workings.start(lambda: "made")
        return super().build()

    def table(self) -> Table:
        return Table({"line": [self.working.result()] if self.working.is_done else []})


class Unbuildable(Counting):
    """Cannot even be built."""

    def build(self) -> UIElement:
        raise LookupError("on purpose")


def sample_plot(name: str, view: type[View]) -> Plot:
    """Return a catalogue entry for one of these."""
    path = f"tests.kernel.server.sample_views:{view.__name__}"
    return _SamplePlot(name, name.title(), "Yours", "A sample.", "", "", (), path)


class _SamplePlot(Plot):
    """A plot whose module is given whole: the catalogue's are relative to its package."""

    def load(self) -> type[View]:
        found: type[View] = globals()[self.view.partition(":")[2]]
        return found
