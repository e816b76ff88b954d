"""Task Graph: states, what is sent of a change, growth, loss, and the group graph."""

from __future__ import annotations

import numpy as np
import pytest
from bokeh.document.events import ColumnDataChangedEvent, ColumnsPatchedEvent, ColumnsStreamedEvent
from bokeh.models import Range1d

from dask_diag_lab.records import STATES
from dask_diag_lab.views.base import Opening
from dask_diag_lab.views.look import DARK
from dask_diag_lab.views.palette import data_colors
from dask_diag_lab.views.tasks.graph_slots import Slots
from dask_diag_lab.views.tasks.key_order import natural_ranks
from dask_diag_lab.views.tasks.task_graph import TaskGraph
from tests.kernel.views.graph_changes import EDGES, KEYS, change, groups_store
from tests.kernel.views.situations import Page, batch, graph, group, store_of


def test_nodes_have_state_key_and_prefix_and_work_flows_to_the_right() -> None:
    states = {0: "memory", 1: "processing", 2: "queued", 3: "waiting"}
    view = TaskGraph(store_of(graph=graph(KEYS, EDGES, states)))
    Page(view)
    data = view.nodes.nodes.data
    assert data["key"] == KEYS
    assert data["prefix"] == ["inc", "inc", "add", "sum"]
    assert data["state"] == ["memory", "processing", "queued", "waiting"]
    assert list(data["x"]) == [0, 0, 1, 2]
    assert len(view.nodes.edges.source.data["x0"]) == 3


def test_state_change_sends_the_state_column_only() -> None:
    store = store_of(graph=graph(KEYS, EDGES))
    page = Page(TaskGraph(store))
    store.apply(batch(graph=change(states=[(0, STATES.index("memory"))])))
    sent = [event for event in page.sent() if getattr(event, "attr", "") != "text"]
    assert len(sent) == 1
    assert isinstance(sent[0], ColumnsPatchedEvent)
    assert sent[0].patches == {"state": [(0, "memory")]}
    everything = [(node, STATES.index("released")) for node in range(4)]
    store.apply(batch(graph=change(states=everything)))
    columns = [event.cols for event in page.sent() if isinstance(event, ColumnDataChangedEvent)]
    assert columns == [["state"]]


def test_new_tasks_are_appended_and_the_known_ones_do_not_move() -> None:
    store = store_of(graph=graph(KEYS, EDGES))
    view = TaskGraph(store)
    page = Page(view)
    before = [list(view.nodes.nodes.data[name]) for name in ("x", "y")]
    added = graph(["mul-1", "mul-2"], [(3, 4), (0, 5)], is_snapshot=False, first=4)
    store.apply(batch(graph=added))
    streamed = [event for event in page.sent() if isinstance(event, ColumnsStreamedEvent)]
    assert len(streamed) == 2
    data = view.nodes.nodes.data
    assert [list(data[name][:4]) for name in ("x", "y")] == before
    assert data["key"] == [*KEYS, "mul-1", "mul-2"]
    assert len(view.nodes.edges.source.data["x0"]) == 5


def test_forgotten_tasks_leave_holes_and_lose_their_edges() -> None:
    store = store_of(graph=graph(KEYS, EDGES))
    view = TaskGraph(store)
    page = Page(view)
    store.apply(batch(graph=change(removed=[0], total=3)))
    sent = [event for event in page.sent() if isinstance(event, ColumnDataChangedEvent)]
    assert [set(event.cols or ()) for event in sent] == [{"x"}, {"x0", "crowd"}]
    assert np.isnan(view.nodes.nodes.data["x"]).tolist() == [True, False, False, False]
    assert np.isnan(view.nodes.edges.source.data["x0"]).sum() == 1
    assert "3 tasks" in page.title
    store.apply(batch(graph=change(states=[(3, STATES.index("memory"))], total=3)))
    page.sent()
    assert view.nodes.nodes.data["state"][3] == "memory"


def test_tasks_of_a_new_scheduler_replace_those_of_the_old_one() -> None:
    store = store_of(graph=graph(KEYS, EDGES))
    view = TaskGraph(store)
    page = Page(view)
    store.apply(batch(epoch="other", graph=graph(["x-1", "y-1"], [(0, 1)])))
    page.sent()
    assert view.nodes.nodes.data["key"] == ["x-1", "y-1"]
    assert list(view.nodes.nodes.data["x"]) == [0, 1]


def test_nothing_is_sent_when_nothing_changed() -> None:
    store = store_of(graph=graph(KEYS, EDGES))
    page = Page(TaskGraph(store))
    assert page.sent() == []
    store.apply(batch(graph=change(states=[(0, STATES.index("waiting"))])))
    assert page.sent() == []


def test_view_follows_until_the_user_moves_and_fit_brings_it_back() -> None:
    store = store_of(graph=graph(KEYS, EDGES))
    view = TaskGraph(store)
    page = Page(view)
    seen = view.figure.x_range
    assert isinstance(seen, Range1d)
    seen.update(start=0.5, end=1.5)
    store.apply(batch(graph=graph(["mul-1"], [(3, 4)], is_snapshot=False, first=4)))
    page.sent()
    assert (seen.start, seen.end) == (0.5, 1.5)
    view.command("fit")
    assert seen.end == pytest.approx(3.6)


def test_beyond_the_limit_groups_are_drawn_and_the_plot_says_so() -> None:
    view = TaskGraph(groups_store())
    page = Page(view)
    data = view.groups.boxes.model.data
    assert data["name"] == ["load-1", "sum-1"]
    assert data["count"] == ["60\u202f000 / 60\u202f000", "1 erred · 0 / 60\u202f000"]
    assert len(view.groups.edges.model.data["x0"]) == 1
    assert "120\u202f000 tasks are more than the 5000" in view.notice.note
    assert view.table().columns["group"] == ["load-1", "sum-1"]
    assert view.notice.note.endswith("too many to list: a row is a group of them")
    page.resize(300, 200)
    assert view.notice.empty == ""


def test_graph_changes_between_tasks_and_groups_while_open() -> None:
    store = groups_store()
    view = TaskGraph(store)
    page = Page(view)
    assert page.sent() == []
    store.apply(batch(graph=graph(KEYS, EDGES)))
    page.sent()
    assert len(view.groups.boxes.model.data["name"]) == 0
    assert view.nodes.nodes.data["key"] == KEYS
    assert view.notice.note == ""
    store.apply(batch(graph=change(is_snapshot=True, is_exact=False, total=9000)))
    page.sent()
    assert len(view.nodes.nodes.data["key"]) == 0
    assert len(view.groups.boxes.model.data["name"]) == 2


def test_empty_scheduler_is_explained() -> None:
    store = store_of()
    view = TaskGraph(store)
    page = Page(view)
    assert view.notice.empty.startswith("No tasks on the scheduler")
    store.apply(batch(graph=graph(KEYS, EDGES)))
    page.sent()
    assert view.notice.empty == ""
    store.apply(batch(graph=change(removed=[0, 1, 2, 3], total=0)))
    page.sent()
    assert view.notice.empty


def test_graph_that_has_not_come_yet_is_told_from_an_empty_scheduler() -> None:
    store = store_of(groups=[group("load-1", "load", processing=3)])
    view = TaskGraph(store)
    page = Page(view)
    assert view.notice.empty == "Waiting for the task graph."
    store.apply(batch(graph=graph(KEYS, EDGES)))
    page.sent()
    assert view.notice.empty == ""


def test_click_on_a_task_opens_its_page() -> None:
    view = TaskGraph(store_of(graph=graph(KEYS, EDGES)))
    page = Page(view)
    x, y = (float(view.nodes.nodes.data[name][2]) for name in ("x", "y"))
    page.tap(x + 0.5, y)
    assert view.opening is None
    page.tap(x + 0.01, y)
    assert view.opening == Opening("task", {"key": "add-1"})


def test_click_on_a_group_opens_the_profile_of_its_prefix() -> None:
    view = TaskGraph(groups_store())
    page = Page(view)
    page.tap(1.0, float(view.groups.boxes.model.data["top"][1]) + 0.1)
    assert view.opening == Opening("profile", {"prefix": "sum"})


def test_only_this_plot_needs_single_tasks() -> None:
    assert "graph" in TaskGraph.needs


def test_restyle_changes_the_colours_without_sending_nodes() -> None:
    view = TaskGraph(store_of(graph=graph(KEYS, EDGES)))
    page = Page(view)
    page.events.clear()
    view.look = DARK
    view.restyle()
    assert view.figure.background_fill_color == DARK.background
    assert data_colors(DARK).states["memory"] in view.nodes._fill.palette
    sent = [e.model for e in page.events if isinstance(e, ColumnDataChangedEvent)]
    assert view.nodes.nodes not in sent
    assert view.nodes.edges.source not in sent


def test_keys_with_indices_are_in_natural_order() -> None:
    keys = ["('x', 10)", "('x', 2)", "('x', 1, 5)", "plain"]
    assert natural_ranks(keys) == [3, 2, 1, 0]


def test_slots_are_given_out_anew_when_holes_prevail() -> None:
    slots = Slots()
    assert slots.change(np.arange(2000)).is_reset
    assert not slots.change(np.arange(1200)).is_reset
    assert slots.change(np.arange(700)).is_reset
    assert slots.rows_of(np.array([5, 3])).tolist() == [5, 3]
