"""Task Graph of many tasks: they are placed off the loop, and nothing is lost meanwhile."""

from __future__ import annotations

import numpy as np
import pytest

from dask_diag_lab.records import STATES, GraphChange
from dask_diag_lab.store import Store
from dask_diag_lab.views.tasks import node_places
from dask_diag_lab.views.tasks.node_places import AT_ONCE
from dask_diag_lab.views.tasks.task_graph import WAITING, TaskGraph
from tests.kernel.views.elsewhere import Elsewhere
from tests.kernel.views.graph_changes import change
from tests.kernel.views.situations import Page, batch, graph, store_of

MANY = AT_ONCE + 100


def _many(first: int = 0, n: int = MANY) -> GraphChange:
    """Return chains of two tasks, the first of them as a snapshot."""
    edges = [(node, node + 1) for node in range(first, first + n, 2)]
    keys = [f"inc-{node}" for node in range(first, first + n)]
    return graph(keys, edges, is_snapshot=not first, first=first)


def _opened(store: Store) -> tuple[TaskGraph, Page, Elsewhere]:
    elsewhere = Elsewhere(store)
    view = TaskGraph(store)
    return view, Page(view), elsewhere


def _settle(page: Page, elsewhere: Elsewhere) -> None:
    page.sent()
    elsewhere.finish()
    page.sent()


def _states(view: TaskGraph) -> dict[str, str]:
    data = view.nodes.nodes.data
    return dict(zip(data["key"], data["state"], strict=True))


def test_many_tasks_are_placed_off_the_loop_and_then_drawn() -> None:
    view, page, elsewhere = _opened(store_of(graph=_many()))
    assert len(elsewhere.open) == 1
    assert view.notice.empty == WAITING
    elsewhere.finish()
    page.sent()
    assert len(view.nodes.nodes.data["x"]) == MANY
    assert f"{MANY} tasks" in page.title
    assert view.notice.empty == ""
    assert elsewhere.open == []
    assert page.sent() == []


def test_few_tasks_are_placed_at_once() -> None:
    view, _, elsewhere = _opened(store_of(graph=_many(n=AT_ONCE)))
    assert elsewhere.open == []
    assert len(view.nodes.nodes.data["x"]) == AT_ONCE


def test_states_that_change_meanwhile_are_drawn_afterwards() -> None:
    store = store_of(graph=_many())
    view, page, elsewhere = _opened(store)
    store.apply(batch(graph=change(states=[(7, STATES.index("memory"))], total=MANY)))
    assert page.sent() == []
    elsewhere.finish()
    page.sent()
    states = _states(view)
    assert (states["inc-7"], states["inc-8"]) == ("memory", "waiting")


def test_tasks_that_come_and_go_meanwhile_are_drawn_in_the_next_step() -> None:
    store = store_of(graph=_many())
    view, page, elsewhere = _opened(store)
    store.apply(batch(graph=_many(first=MANY, n=10)))
    store.apply(batch(graph=change(removed=[0], total=MANY + 9)))
    page.sent()
    for n_drawn in (MANY, MANY + 10):
        assert len(elsewhere.open) == 1
        elsewhere.finish()
        page.sent()
        assert len(view.nodes.nodes.data["x"]) == n_drawn
    assert np.flatnonzero(np.isnan(view.nodes.nodes.data["x"])).tolist() == [0]
    assert set(_states(view)) == {f"inc-{node}" for node in range(MANY + 10)}
    assert elsewhere.open == []


def test_what_was_drawn_stays_until_all_is_placed_anew() -> None:
    view, page, elsewhere = _opened(store_of(graph=_many()))
    elsewhere.finish()
    page.sent()
    before = list(view.nodes.nodes.data["x"])
    view.command("fit")
    assert list(view.nodes.nodes.data["x"]) == before
    assert view.notice.empty == ""
    elsewhere.finish()
    page.sent()
    assert len(view.nodes.nodes.data["x"]) == MANY


def test_places_that_come_after_the_tasks_are_too_many_are_given_up() -> None:
    store = store_of(graph=_many())
    view, page, elsewhere = _opened(store)
    store.apply(batch(graph=GraphChange(is_snapshot=True, is_exact=False, total=9000, limit=5000)))
    page.sent()
    elsewhere.finish()
    page.sent()
    assert len(view.nodes.nodes.data["x"]) == 0
    store.apply(batch(graph=_many(n=2)))
    page.sent()
    assert view.nodes.nodes.data["key"] == ["inc-0", "inc-1"]


@pytest.mark.parametrize("n", [4, MANY])
def test_fault_while_placing_is_raised_once_and_then_all_are_placed_anew(
    n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = store_of(graph=_many(n=n))
    view, page, elsewhere = _opened(store)
    elsewhere.finish()
    page.sent()

    def fail(*_given: object, **_named: object) -> None:
        raise ZeroDivisionError

    store.apply(batch(graph=change(removed=[0, 1], total=n - 2)))
    store.apply(batch(graph=_many(first=n, n=2)))
    with monkeypatch.context() as patched:
        patched.setattr(node_places, "laid_out", fail)
        with pytest.raises(ZeroDivisionError):
            _settle(page, elsewhere)
    _settle(page, elsewhere)
    nodes, lines = view.nodes.nodes.data, view.nodes.edges.source.data
    places = set(zip(nodes["x"], nodes["y"], strict=True))
    assert len(places) == n
    begins = zip(lines["x0"], lines["y0"], strict=True)
    ends = zip(lines["x1"], lines["y1"], strict=True)
    assert places == {*begins, *ends}
