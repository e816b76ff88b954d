"""Small views that show the server's rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from bokeh.events import DoubleTap, Tap
from bokeh.io import curdoc
from bokeh.io.state import curstate
from bokeh.models import ColumnDataSource
from bokeh.models.ui import UIElement
from bokeh.plotting import figure

from dask_diag_lab.store.queries import PolledQueries
from dask_diag_lab.views.registry import Plot
from dask_diag_lab.views.view import Caption, Table, View


class Counting(View):
    """Draws the session's version and notes what it was asked to do."""

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
        self.source.data = {"x": [0.0], "y": [float(self.live.version)]}
        self.caption = Caption(note=f"version {self.live.version}", behind_s=len(self.verbs) / 2)

    def table(self) -> Table:
        return Table({"version": [self.live.version]})

    def restyle(self) -> None:
        self.picture.background_fill_color = self.look.background

    def command(self, verb: str) -> None:
        self.verbs.append(verb)

    def close(self) -> None:
        self.is_closed = True


class Failing(Counting):
    """Raises in every update while `is_broken`, and when it is closed."""

    is_broken: ClassVar[bool] = True

    def update(self) -> None:
        if self.is_broken:
            raise ZeroDivisionError("100 % on purpose")
        super().update()

    def close(self) -> None:
        super().close()
        raise ZeroDivisionError("on purpose")


class Unbuildable(Counting):
    """Cannot even be built."""

    def build(self) -> UIElement:
        raise LookupError("100 % on purpose")


class Reading(Counting):
    """Has more to draw until its fifth update."""

    @property
    def is_behind(self) -> bool:
        return self.updates < 5

    def update(self) -> None:
        super().update()
        self.caption = Caption(note=f"{self.updates} of 5")


class Choosing(Counting):
    """Shows one thing of many, needs tables, and opens another plot when it is clicked."""

    accepts: ClassVar[Sequence[str]] = ("key",)
    needs: ClassVar[frozenset[str]] = frozenset({"errors", "counters"})

    def build(self) -> UIElement:
        picture = super().build()
        self.picture.on_event(Tap, self._tapped)
        self.picture.on_event(DoubleTap, self._tapped_twice)
        return picture

    def update(self) -> None:
        super().update()
        awaited = "" if self.live.history.extras["errors"].is_known else "Waiting for the answer."
        self.caption = Caption(note=f"shows {self.arguments.get('key', 'all')}", empty=awaited)

    def set_control(self, name: str, value: str) -> None:
        self.arguments = {name: value}

    def show(self, arguments: Mapping[str, str]) -> None:
        if arguments.get("key") == "bad":
            raise LookupError("there is no such task")
        super().show(arguments)

    def table(self) -> Table:
        return Table({"key": list(self.live.history.extras["errors"]["key"])})

    def _tapped(self) -> None:
        self.picture.background_fill_color = "red"
        self.picture.border_fill_color = "red"
        self.open("task", key="inc-1")

    def _tapped_twice(self) -> None:
        assert curdoc() is curstate().document  # what a cell that runs now sees: the user's own
        raise ValueError("clicked beside it")


class Following(Counting):
    """Shows the keys of the task graph, which is followed only when it is needed."""

    needs: ClassVar[frozenset[str]] = frozenset({"graph"})

    def table(self) -> Table:
        return Table({"key": self.live.history.graph.nodes.names})


class Asking(Counting):
    """Asks the cluster in `update`, and shows the answer in its table only after that."""

    accepts: ClassVar[Sequence[str]] = ("worker",)

    def build(self) -> UIElement:
        self.asked = PolledQueries(self.live)
        return super().build()

    def update(self) -> None:
        super().update()
        self.query = self.asked.fresh("logs", worker=self.arguments.get("worker", ""))

    def table(self) -> Table:
        return Table({"line": list(self.query.answer or [])})


class Crafting(Counting):
    """Has its table worked out in a job, and is empty until that is done."""

    def build(self) -> UIElement:
        self.job = self.live.jobs.start(lambda: "made")
        return super().build()

    def table(self) -> Table:
        return Table({"line": [self.job.result()] if self.job.is_done else []})


class Long(Counting):
    """Has a table of many rows, whose making and reading is noted by `on_read`."""

    on_read: ClassVar[Callable[[int], None]]

    def table_job(self) -> Callable[[], Table]:
        return lambda: Table({"n": Column(12_000), "twice": Column(12_000)})


class Column(Sequence[int]):
    """Numbers that are made when they are read."""

    def __init__(self, n: int) -> None:
        self._n = n

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, index: Any) -> Any:
        values = range(self._n)[index]
        Long.on_read(1 if isinstance(values, int) else len(values))
        return values if isinstance(values, int) else list(values)


def sample_plot(name: str, view: type[View]) -> Plot:
    """Return the view as a plot of this name."""
    words = {"name": name, "title": name.title(), "description": "A sample."}
    return type(view.__name__, (view,), {**words, "__module__": view.__module__})


SAMPLES = tuple(
    sample_plot(view.__name__.lower(), view)
    for view in (
        *(Counting, Failing, Unbuildable, Reading),
        *(Choosing, Following, Asking, Crafting, Long),
    )
)


def live_view() -> Any:
    """Return the newest view that is open."""
    return next(view for view in reversed(Counting.made) if not view.is_closed)
