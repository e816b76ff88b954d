"""Profiles as `transport.answers` describes them, by hand and at random, and their pages."""

from __future__ import annotations

from typing import Any

from bokeh.events import SelectionGeometry
from hypothesis import strategies as st

from dask_diag_lab.store import LiveSession
from dask_diag_lab.store.queries import Query
from dask_diag_lab.views.look import LIGHT
from dask_diag_lab.views.profile.profile import ProfileOfTasks
from dask_diag_lab.views.profile.tree import Tree
from dask_diag_lab.views.view import Control
from tests.kernel.store.batches import prefix_row
from tests.kernel.views.drawn import Drawn
from tests.kernel.views.situations import batch, worker


def node(
    name: str, count: int, *children: Tree, filename: str = ""
) -> dict[str, Any]:  # plain data of many types
    """Return a frame with these callees; its file is ``/home/me/<name>.py``."""
    path = filename or f"/home/me/{name}.py"
    return {
        "count": count,
        "identifier": f"{name};{path};1",
        "description": {"filename": path, "name": name, "line_number": 3, "line": f"{name}()"},
        "children": {child["identifier"]: child for child in children},
    }


@st.composite
def trees(draw: st.DrawFn, *, is_displaced: bool = False) -> Tree:
    """Return a random profile with at least one sample; ``is_displaced`` as a worker counts."""
    parents = draw(st.lists(st.integers(0, 30), min_size=1, max_size=40))
    made = [node("root", 0)]
    above: list[int] = [0]
    for number, wanted in enumerate(parents, start=1):
        made.append(node(f"f{number}", 0))
        above.append(wanted % number)
    own = [0, *draw(st.lists(st.integers(0, 50), min_size=len(parents), max_size=len(parents)))]
    leaves = set(range(1, len(made))) - set(above)
    for index in leaves:  # a frame is there because it was seen at work or as a caller
        own[index] += 1
    for index in range(len(made) - 1, 0, -1):
        below = sum(own[kid] for kid in range(index, len(made)) if _is_in(kid, index, above))
        made[index]["count"] = below - (own[index] if is_displaced else 0)
    made[0]["count"] = sum(own)
    for index in range(len(made) - 1, 0, -1):
        made[above[index]]["children"][made[index]["identifier"]] = made[index]
    return made[0]


def _is_in(index: int, whole: int, above: list[int]) -> bool:
    while index > whole:
        index = above[index]
    return index == whole


def answer(tree: Tree, **more: Any) -> dict[str, Any]:  # plain data of many types
    """Return an answer to ``profile``."""
    return {"tree": tree, "interval_s": 0.01, "missing": {}, **more}


def activity(
    prefixes: dict[str, list[int]] | None = None, start: float = 1000.0
) -> dict[str, Any]:  # plain data of many types
    """Return an answer to ``activity``, a bar a second."""
    rows = prefixes or {"inc": [3, 4, 5]}
    counts = [sum(column) for column in zip(*rows.values(), strict=True)]
    times = [start + second for second in range(len(counts))]
    return {"times": times, "counts": counts, "prefixes": rows, "missing": {}}


class Cluster:
    """Answers what a view asks.

    Attributes
    ----------
    asked : list of Query
        All that was asked so far.
    profiles : dict of str to answer
        By prefix; of others there is no answer.
    activity : answer or None
    """

    def __init__(self, live: LiveSession, *, activity: dict[str, Any] | None = None) -> None:
        self.asked: list[Query] = []
        self.profiles: dict[str, dict[str, Any]] = {}
        self.activity = activity
        self._live = live
        live.queries.on_ask = self.asked.append

    def reply(self) -> None:
        """Answer all that is waited for."""
        for query in self.asked:
            if query.state == "asked":
                known = self.activity
                if query.kind == "profile":
                    known = self.profiles.get(str(query.arguments["prefix"]))
                if known is not None:
                    self._live.answer(query, known)

    def of(self, kind: str) -> list[Query]:
        """Return what was asked of one kind."""
        return [query for query in self.asked if query.kind == kind]


class ProfilePage(Drawn[ProfileOfTasks]):
    """A profile as a page has it."""

    @property
    def frames(self) -> dict[str, Any]:  # arrays and lists
        """The columns that the page draws."""
        return dict(self.view.frames.model.data)

    @property
    def names(self) -> list[str]:
        """The functions of the frames, in the order of the rows."""
        return list(self.frames["name"])

    def frame(self, name: str) -> dict[str, Any]:  # columns of several types
        """Return the row of the frame of a function."""
        at = self.names.index(name)
        return {column: values[at] for column, values in self.frames.items()}

    def row(self, name: str) -> int:
        """Return the row that a property of the chart names."""
        row: int = getattr(self.view.chart, name)
        return row

    def zoom(self, name: str) -> None:
        """Click a frame, as the page reports it."""
        self.view.chart.update(focus=self.names.index(name))

    @property
    def controls(self) -> dict[str, Control]:
        """What the reader can set, by name."""
        return {one.name: one for one in self.view.caption.controls}


LIBRARY = "/opt/venv/lib/python3.12/site-packages/numpy/linalg/_linalg.py"


def mixed_tree() -> dict[str, Any]:  # plain data of many types
    """Return a profile of own code and of a library."""
    return node(
        "root",
        100,
        node("inc", 80, node("svd", 50, filename=LIBRARY), node("helper", 20)),
        node("load", 20),
    )


class Situation:
    """A session of some workers, and a cluster that answers; its clock stands still until moved."""

    def __init__(self, n_workers: int = 2) -> None:
        self.now = 0.0
        self.live = LiveSession(clock=lambda: self.now)
        rows = [prefix_row("inc", memory=1), prefix_row("load", memory=1)]
        self.live.apply(batch(workers=list(map(worker, range(n_workers))), prefixes=rows))
        self.live.set_feed_state("live", "", 0.0)
        self.cluster = Cluster(self.live, activity=activity({"inc": [8, 8], "load": [2, 2]}))
        self.cluster.profiles[""] = answer(mixed_tree())
        self.cluster.profiles["inc"] = answer(node("root", 80, node("inc", 80)))

    def page(self, **arguments: str) -> ProfilePage:
        """Return a page whose questions have been answered."""
        page = ProfilePage(ProfileOfTasks(self.live, LIGHT, arguments))
        self.cluster.reply()
        page.view.update()
        return page


def drag(page: ProfilePage, start: float, stop: float) -> None:
    """Drag over the timeline, as the server takes it."""
    figure = page.view.timeline.figure
    geometry: Any = {"type": "rect", "x0": start, "x1": stop, "y0": 0, "y1": 1}  # a TypedDict
    figure._trigger_event(SelectionGeometry(figure, geometry, final=True))
