"""Occupancy: bars have the true length, in words a person reads."""

from __future__ import annotations

import pytest

from dask_diag_lab.views.look import LIGHT
from dask_diag_lab.views.palette import data_colors
from dask_diag_lab.views.workers.occupancy import Occupancy
from tests.kernel.views.situations import Page, batch, store_of, worker


def test_bar_is_as_long_as_the_occupancy() -> None:
    view = Occupancy(store_of(workers=[worker(0, occupancy=3.202)]))
    Page(view)
    assert list(view.bars.model.data["edge0"]) == [3.202]
    assert view.bars.model.data["value"] == ["3.20 s"]


def test_title_has_total_and_wall_estimate() -> None:
    rows = [worker(i, occupancy=90.0) for i in range(4)]
    view = Occupancy(store_of(workers=rows))
    page = Page(view)
    assert page.title == "Occupancy: 6 min of work · about 22.5 s on 16 threads"


@pytest.mark.parametrize("seconds", [0.0, 0.2, 1.5, 100.0, 5000.0, 1e6])
def test_ticks_are_durations_that_differ(seconds: float) -> None:
    view = Occupancy(store_of(workers=[worker(0, occupancy=seconds)]))
    Page(view)
    labels = list(view.figure.xaxis[0].major_label_overrides.values())
    assert len(labels) == len(set(labels)) >= 2
    assert labels[0] == "0"


@pytest.mark.parametrize("before", [[], [worker(i, occupancy=5e5) for i in range(4)]])
@pytest.mark.parametrize("size", [(800, 420), (300, 200)])
def test_workers_without_work_are_empty_tracks(
    before: list[dict[str, object]], size: tuple[int, int]
) -> None:
    store = store_of(workers=before)
    view = Occupancy(store)
    page = Page(view, *size)
    store.apply(batch(workers=[worker(i) for i in range(4)]))
    assert page.sent()
    data, ends = view.bars.model.data, [view.picture.x.end, view.picture.y.start]
    assert list(data["y"]) == [0, 1, 2, 3]
    assert list(data["edge0"]) == [0, 0, 0, 0]
    assert ends == [pytest.approx(1.2, abs=0.2), pytest.approx(5, abs=4)]
    assert list(data["track"]) == [1, 1, 1, 1]
    assert view.picture._track.fill_color == data_colors(LIGHT).track
    assert page.title.startswith("Occupancy: 0 s")
    assert view.notice.empty == ""


def test_load_has_its_colours_here_too() -> None:
    rows = [worker(0, is_idle=True), worker(1, occupancy=9.0, is_saturated=True)]
    view = Occupancy(store_of(workers=rows))
    Page(view)
    colors = data_colors(LIGHT)
    assert view.bars.model.data["color"] == [colors.load_idle, colors.load_saturated]


def test_cluster_without_threads_has_no_estimate() -> None:
    view = Occupancy(store_of(workers=[worker(0, occupancy=9.0, nthreads=0)]))
    page = Page(view)
    assert "unknown" in page.title


def test_nothing_is_sent_when_nothing_changed() -> None:
    rows = [worker(0, occupancy=2.0)]
    store = store_of(workers=rows)
    page = Page(Occupancy(store))
    assert page.sent() == []
    store.apply(batch(workers=[{**rows[0], "occupancy": 1.9}]))
    assert page.sent()


def test_no_workers_is_explained() -> None:
    page = Page(Occupancy(store_of(workers=[])))
    assert "cluster.scale(4)" in page.view.notice.empty


def test_table_is_in_seconds() -> None:
    table = Occupancy(store_of(workers=[worker(0, occupancy=2.0)])).table()
    assert table.columns["occupancy"] == [2.0]
    assert table.units["occupancy"] == "s"
