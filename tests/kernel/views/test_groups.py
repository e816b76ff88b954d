"""Task Group Graph: metrics on the nodes, thousands of groups, circles, clicks."""

from __future__ import annotations

import numpy as np

from dask_diag_lab.views.tasks.group_graph import TaskGroupGraph
from dask_diag_lab.views.view import PlotLink
from tests.kernel.store.batches import group_row
from tests.kernel.views.drawn import Drawn
from tests.kernel.views.situations import MIB, session_of

LOAD = group_row("load-1", "load", memory=5, released=5) | {
    "nbytes": 5 * MIB,
    "duration": 40.0,
    "start": 100.0,
    "stop": 120.0,
}
SUM = group_row("sum-1", "sum", ["load-1"], processing=2, waiting=7, erred=1)


def many(n: int, prefixes: int) -> list[dict[str, object]]:
    """Return a chain of ``n`` groups of so many prefixes, which need each other in circles."""
    return [
        group_row(f"g{i}", f"p{i % prefixes}", [f"g{i - 1}"] if i else [], memory=1 + i % 3)
        for i in range(n)
    ]


def test_box_tells_all_that_its_group_has_done() -> None:
    view = TaskGroupGraph(session_of(groups=[LOAD, SUM]))
    Drawn(view)
    data = view.boxes.model.data
    assert data["label"] == ["load-1", "sum-1"]
    assert data["short"] == ["load", "sum"]
    assert data["count"] == ["10 / 10", "1 erred · 0 / 10"]
    assert data["memory"] == ["5.00 MiB in memory", ""]
    assert data["time"][0] == "40.0 s of thread time"
    assert data["states"][1] == "10 tasks · 1 erred · 2 processing · 7 waiting"
    assert data["more"][0] == "5.00 MiB · 40.0 s"
    assert view.caption.headline == "2 groups · 20 tasks · 1 erred · 2 processing · 5 in memory"


def test_thousands_of_groups_become_a_box_for_each_prefix_and_the_plot_says_so() -> None:
    live = session_of(groups=many(3000, 12))
    view = TaskGroupGraph(live)
    Drawn(view)
    data = view.boxes.model.data
    assert data["label"] == [f"p{i}" for i in range(12)]
    assert sum(int(text.split(" / ")[1]) for text in data["count"]) == 6000
    assert "all groups of one prefix, as there are 3000 groups" in view.caption.note
    assert view.caption.headline.startswith("3000 groups")


def test_prefixes_that_need_each_other_do_not_break_the_layout() -> None:
    view = TaskGroupGraph(session_of(groups=many(400, 3)))
    Drawn(view)
    left = view.boxes.model.data["left"]
    assert left[0] < left[1] < left[2]
    lines = view.lines.model.data
    assert sorted(np.subtract(lines["x1"], lines["x0"]) > 0) == [False, True, True]


def test_click_opens_the_profile_of_the_prefix() -> None:
    view = TaskGroupGraph(session_of(groups=[LOAD, SUM]))
    page = Drawn(view)
    page.tap(0.0, 0.45)
    assert view.plot_link is None
    page.tap(0.1, 0.1)
    assert view.plot_link == PlotLink("profile", {"prefix": "load"})
