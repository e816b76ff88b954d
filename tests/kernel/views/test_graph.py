"""Task Graph: states, what is sent of a change, growth, loss, placing off the loop, the groups."""

from __future__ import annotations

from typing import Any

import pytest
from bokeh.document.events import ColumnsPatchedEvent
from bokeh.models import Range1d

from dask_diag_lab.schema import STATES, GraphChange
from dask_diag_lab.store import LiveSession
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.tasks.task_graph import MAX_EDGES, WAITING, TaskGraphPlot
from dask_diag_lab.views.view import PlotLink
from tests.kernel.store.batches import graph_change, group_row
from tests.kernel.views.drawn import Drawn, Elsewhere
from tests.kernel.views.situations import batch, graph, session_of

KEYS = ["inc-1", "inc-2", "add-1", "sum-1"]
EDGES = [(0, 2), (1, 2), (2, 3)]


def groups_store() -> LiveSession:
    """Return a session with more tasks than are drawn one by one."""
    return session_of(
        graph=graph_change(is_snapshot=True, is_exact=False, total=120_000),
        groups=[
            group_row("load-1", "load", memory=60_000),
            group_row("sum-1", "sum", ["load-1", "gone-1"], waiting=59_999, erred=1),
        ],
    )


def opened(live: LiveSession) -> tuple[TaskGraphPlot, Drawn[TaskGraphPlot]]:
    view = TaskGraphPlot(live)
    return view, Drawn(view)


def columns(view: TaskGraphPlot, *names: str) -> list[list[Any]]:  # of numbers or text
    return [list(view.nodes.model.data[name]) for name in names]


def places(view: TaskGraphPlot) -> dict[str, tuple[float, float]]:
    return {key: (x, y) for key, x, y in zip(*columns(view, "key", "x", "y"), strict=True)}


def many(first: int = 0, n: int = 600) -> GraphChange:
    """Return chains of two tasks, the first of them as a snapshot."""
    edges = [(node, node + 1) for node in range(first, first + n, 2)]
    keys = [f"inc-{node}" for node in range(first + n)]
    return graph(keys[first:], edges, keys[:first])


def test_state_change_sends_the_state_column_only() -> None:
    live = session_of(graph=graph(KEYS, EDGES))
    view, page = opened(live)
    assert page.sent() == []
    live.apply(batch(graph=graph_change(states={KEYS[0]: STATES.index("memory")}, total=4)))
    view.update()
    (sent,) = page.events
    assert isinstance(sent, ColumnsPatchedEvent)
    assert sent.patches == {"state": [(0, "memory")]}


def test_known_tasks_do_not_move_when_others_come_and_go() -> None:
    live = session_of(graph=graph(KEYS, EDGES))
    view, page = opened(live)
    before = places(view)
    added = graph(["mul-1", "mul-2"], [(3, 4), (0, 5)], KEYS)
    live.apply(batch(graph=added))
    page.sent()
    assert columns(view, "key") == [[*KEYS, "mul-1", "mul-2"]]
    assert len(view.edges.model.data["x0"]) == 5
    gone = graph_change(states={KEYS[3]: STATES.index("memory")}, removed=KEYS[:1], total=5)
    live.apply(batch(graph=gone))
    page.sent()
    assert columns(view, "key") == [[*KEYS[1:], "mul-1", "mul-2"]]
    assert len(view.edges.model.data["x0"]) == 3
    after = places(view)
    assert {key: after[key] for key in KEYS[1:]} == {key: before[key] for key in KEYS[1:]}
    assert view.nodes.model.data["state"][2] == "memory"
    assert view.caption.headline.startswith("5 tasks")


def test_view_follows_until_the_user_moves_and_fit_brings_it_back() -> None:
    live = session_of(graph=graph(KEYS, EDGES))
    view, page = opened(live)
    shown = page.plot.x_range
    assert isinstance(shown, Range1d)
    shown.update(start=0.5, end=1.5)
    live.apply(batch(graph=graph(["mul-1"], [(3, 4)], KEYS)))
    page.sent()
    assert (shown.start, shown.end) == (0.5, 1.5)
    view.command("fit")
    assert shown.end == pytest.approx(3.6)


def test_click_opens_the_task_and_beside_it_nothing() -> None:
    view, page = opened(session_of(graph=graph(KEYS, EDGES)))
    page.tap(1.1, 0.6)
    assert view.plot_link == PlotLink("task", {"key": "add-1"})
    view.plot_link = None
    page.tap(1.6, 0.0)
    assert view.plot_link is None


def test_too_many_edges_are_thinned_out_and_the_note_says_so() -> None:
    n = 150
    keys = [f"a-{node}" for node in range(2 * n)]
    view, _ = opened(
        session_of(graph=graph(keys, [(a, n + b) for a in range(n) for b in range(n)]))
    )
    assert len(view.edges.model.data["x0"]) <= MAX_EDGES
    drawn, there_are = fmt.count(11_250), fmt.count(22_500)
    assert view.caption.note == f"{drawn} of {there_are} dependencies drawn, evenly thinned"
    assert max(view.edges.model.data["share"]) < 0.05


def test_beyond_the_limit_groups_are_drawn_and_the_plot_says_so() -> None:
    view, page = opened(groups_store())
    data = view.boxes.model.data
    assert data["label"] == ["load-1", "sum-1"]
    assert data["count"] == ["60\u202f000 / 60\u202f000", "1 erred · 0 / 60\u202f000"]
    assert len(view.lines.model.data["x0"]) == 1
    assert "120\u202f000 tasks are more than the 5000" in view.caption.note
    assert view.table().columns["group"] == ["load-1", "sum-1"]
    assert str(view.table().note).endswith("too many to list: a row is a group of them")
    page.tap(1.0, 0.0)
    assert view.plot_link == PlotLink("profile", {"prefix": "sum"})


def test_graph_changes_between_tasks_and_groups_while_open() -> None:
    live = groups_store()
    view, page = opened(live)
    assert page.sent() == []
    live.apply(batch(graph=graph(KEYS, EDGES)))
    page.sent()
    assert len(view.boxes.model.data["label"]) == 0
    assert columns(view, "key") == [KEYS]
    live.apply(batch(graph=graph_change(is_snapshot=True, is_exact=False, total=9000)))
    page.sent()
    assert columns(view, "key") == [[]]
    assert len(view.boxes.model.data["label"]) == 2


def test_a_chosen_task_is_outlined_with_what_it_needed_and_what_needs_it() -> None:
    live = session_of(graph=graph(KEYS, EDGES))
    view, page = opened(live)
    assert view.kin.model.data["x"] == []
    places_of = places(view)
    chosen, other = KEYS[2], KEYS[0]
    live.choose(chosen)  # as a click in the Task Stream does
    page.sent()
    outlined = set(zip(*(view.kin.model.data[name] for name in "xy"), strict=True))
    assert outlined == set(places_of.values())  # both sides
    assert len(view.ways.model.data["x0"]) == 3
    page.tap(*places_of[other])
    page.sent()
    assert live.chosen_key == other
    assert len(view.ways.model.data["x0"]) == 1


def test_empty_scheduler_is_explained_and_tasks_that_are_on_their_way_too() -> None:
    live = session_of()
    view, page = opened(live)
    assert view.caption.empty.startswith("No tasks on the scheduler")
    live.apply(batch(groups=[group_row("inc-1", "inc", waiting=3)]))
    page.sent()
    assert view.caption.empty == WAITING
    live.apply(batch(graph=graph(KEYS, EDGES)))
    page.sent()
    assert view.caption.empty == ""
    live.apply(batch(graph=graph_change(removed=KEYS)))
    page.sent()
    assert view.caption.empty


def test_tasks_are_placed_off_the_loop_and_what_comes_meanwhile_is_drawn_next() -> None:
    live = session_of(graph=many())
    elsewhere = Elsewhere(live)
    view, page = opened(live)
    assert view.caption.empty == WAITING
    live.apply(batch(graph=graph_change(states={"inc-7": STATES.index("memory")}, total=600)))
    assert page.sent() == []
    elsewhere.finish()
    page.sent()
    assert view.nodes.model.data["state"][7] == "memory"
    live.apply(batch(graph=many(first=600, n=10)))
    page.sent()
    live.apply(batch(graph=graph_change(removed=["inc-0"], total=609)))
    page.sent()
    for n_drawn in (600, 610):
        assert len(elsewhere.open) == 1
        assert len(view.nodes.model.data["x"]) == n_drawn
        elsewhere.finish()
        page.sent()
    assert len(view.nodes.model.data["x"]) == 609
    assert elsewhere.open == []
    view.command("fit")
    assert len(elsewhere.open) == 1
    assert len(view.nodes.model.data["x"]) == 609  # until all are placed anew
