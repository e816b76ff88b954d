"""Many workers: sorted and scrolled, put together by value or host, decided anew each time."""

from __future__ import annotations

import numpy as np
import pytest
from bokeh.events import MouseWheel, Tap

from dask_diag_lab.views.workers.cpu import Cpu
from dask_diag_lab.views.workers.row_choice import RowChoice
from dask_diag_lab.views.workers.worker_hosts import Hosts
from dask_diag_lab.views.workers.worker_rows import by_host, grouped
from tests.kernel.views.situations import Page, batch, store_of, worker

NO_HOSTS = Hosts([], np.empty(0, dtype=np.int64))


def many(n: int = 1000, hosts: int = 10) -> list[dict[str, object]]:
    """Return workers of which the last one is the busiest."""
    return [worker(i, cpu=float(i), nthreads=16, host=f"h{i % hosts}") for i in range(n)]


def test_more_workers_than_fit_are_sorted_and_counted() -> None:
    view = Cpu(store_of(workers=many()))
    Page(view)
    edges = list(view.bars.model.data["edge0"])
    assert edges[0] == 999
    assert edges == sorted(edges, reverse=True)
    assert (
        view.notice.note == f"{len(edges)} of 1000 workers, highest CPU use first; scroll for more"
    )


def test_wheel_scrolls_to_the_last_worker_and_back() -> None:
    view = Cpu(store_of(workers=many(300)))
    page = Page(view)
    for _ in range(200):
        view.figure._trigger_event(MouseWheel(view.figure, delta=-1))
        page.sent()
    assert view.bars.model.data["edge0"][-1] == 0
    assert "–300 of 300 workers" in view.notice.note
    view.command("fit")
    page.sent()
    assert view.bars.model.data["edge0"][0] == 299


def test_few_workers_keep_their_own_order() -> None:
    view = Cpu(store_of(workers=many(5)))
    Page(view)
    assert list(view.bars.model.data["edge0"]) == [0, 1, 2, 3, 4]
    assert view.notice.note == ""


def test_mode_does_not_go_back_and_forth_at_the_limit() -> None:
    choice = RowChoice()
    sorted_modes = [choice.rows(np.arange(n), NO_HOSTS, 50).is_sorted for n in (50, 51, 50, 45, 40)]
    assert sorted_modes == [False, True, True, True, False]


def test_by_host_has_one_bar_a_host_with_the_mean_of_its_workers() -> None:
    view = Cpu(store_of(workers=many(100, hosts=4)))
    page = Page(view)
    view.command("by-host")
    page.sent()
    assert list(view.bars.model.data["edge0"]) == [51, 50, 49, 48]
    assert list(view.figure.yaxis[0].major_label_overrides.values()) == ["h3", "h2", "h1", "h0"]
    assert "4 hosts" in view.notice.note
    assert view.bars.model.data["hover0"][0] == "Host h3: 25 workers"
    view.command("by-host")
    page.sent()
    assert len(view.bars.model.data["y"]) > 4


def test_click_on_the_switch_below_chooses_hosts() -> None:
    view = Cpu(store_of(workers=many(100, hosts=4)))
    page = Page(view)
    assert view.picture.switch.legend.visible
    view.picture.switch._renderers[2].muted = True
    page.sent()
    assert len(view.bars.model.data["y"]) == 4
    assert not view.picture.switch._renderers[2].muted


def test_no_switch_where_there_is_nothing_to_choose() -> None:
    view = Cpu(store_of(workers=[worker(i) for i in range(3)]))
    Page(view)
    assert not view.picture.switch.legend.visible


@pytest.mark.parametrize(("y", "number"), [(0.2, 4), (2.9, 1), (-3.0, None), (40.0, None)])
def test_click_on_a_bar_opens_its_worker(y: float, number: int | None) -> None:
    view = Cpu(store_of(workers=many(300)) if number is None else store_of(workers=many(5)))
    Page(view)
    if number is not None:
        number = round(y)
    view.figure._trigger_event(Tap(view.figure, x=1.0, y=y if number is not None else -3.0))
    found = None if view.opening is None else view.opening.arguments["worker"]
    assert found == (None if number is None else worker(number)["address"])


def test_click_on_a_sorted_bar_opens_the_worker_that_is_there() -> None:
    view = Cpu(store_of(workers=many()))
    Page(view)
    view.figure._trigger_event(Tap(view.figure, x=1.0, y=0.0))
    assert view.opening is not None
    assert view.opening.arguments == {"worker": worker(999)["address"]}


def test_groups_hold_all_workers() -> None:
    rows = grouped(np.arange(103), 10)
    assert rows.sizes.sum() == 103
    assert len(rows) <= 10


def test_hosts_are_sorted_by_their_mean() -> None:
    rows = by_host(np.array([1.0, 9.0, 2.0, 3.0]), np.array([0, 1, 0, 1]))
    assert rows.members(0).tolist() == [1, 3]
    assert rows.members(1).tolist() == [0, 2]
    assert rows.window(1, 5).members(0).tolist() == [0, 2]


def test_host_tells_what_its_newest_worker_says() -> None:
    hosts = Hosts.of(["a", "a", "b"])
    values = hosts.newest(np.array([5.0, 7.0, np.nan]), np.array([30.0, 20.0, 10.0]))
    assert values[0] == 5.0
    assert np.isnan(values[1])


def test_workers_that_leave_bring_the_last_ones_back_into_view() -> None:
    store = store_of(workers=many(300))
    view = Cpu(store)
    page = Page(view)
    view.choice.first = 240
    store.apply(batch(removed_workers=[str(worker(i)["address"]) for i in range(10, 300)]))
    page.sent()
    assert len(view.bars.model.data["y"]) == 10


def test_order_is_reversed_on_wish() -> None:
    view = Cpu(store_of(workers=many()))
    page = Page(view)
    view.command("reverse")
    page.sent()
    assert view.bars.model.data["edge0"][0] == 0
    assert "lowest CPU use first" in view.notice.note
