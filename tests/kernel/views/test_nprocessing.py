"""Tasks Processing: counts, and who is saturated, idle or without tasks."""

from __future__ import annotations

from dask_diag_lab.views.axis_end import AxisEnd
from dask_diag_lab.views.look import DARK, LIGHT
from dask_diag_lab.views.palette import data_colors
from dask_diag_lab.views.workers.tasks_processing import TasksProcessing
from tests.kernel.views.situations import Page, batch, store_of, worker

ROWS = [
    worker(0, processing=7),
    worker(1, processing=40, is_saturated=True),
    worker(2, processing=1, is_idle=True),
    worker(3, processing=0, is_idle=True),
]


def test_colors_tell_normal_saturated_and_idle_and_words_do_too() -> None:
    view = TasksProcessing(store_of(workers=ROWS))
    Page(view)
    colors, data = data_colors(LIGHT), view.bars.model.data
    assert data["color"] == [
        colors.load_normal,
        colors.load_saturated,
        colors.load_idle,
        colors.load_idle,
    ]
    assert data["value"] == ["7", "40 · saturated", "1 · idle", "0 · idle"]
    assert list(data["edge0"]) == [7, 40, 1, 0]


def test_worker_without_tasks_shows_its_empty_track() -> None:
    view = TasksProcessing(store_of(workers=ROWS))
    Page(view)
    data = view.bars.model.data
    assert data["edge0"][3] == 0
    assert data["track"][3] == view.axis_end.at_least(40) >= 40


def test_title_counts_tasks_and_workers() -> None:
    view = TasksProcessing(store_of(workers=ROWS))
    page = Page(view)
    assert page.title == "Tasks processing: 48 tasks · 4 workers, 1 saturated, 2 idle"
    page.resize(300, 200)
    assert page.title == "Processing: 48 tasks"


def test_axis_has_whole_numbers_only() -> None:
    view = TasksProcessing(store_of(workers=[worker(0, processing=2, nthreads=1)]))
    Page(view)
    assert list(view.figure.xaxis[0].major_label_overrides) == [0, 1, 2]


def test_axis_grows_at_once_and_shrinks_late() -> None:
    axis = AxisEnd(1)
    assert axis.at_least(0) == 1
    assert axis.at_least(17) == 20
    assert axis.at_least(10) == 20
    assert axis.at_least(3) == 3


def test_groups_take_the_colour_of_most_and_say_it() -> None:
    rows = [worker(i, processing=i, is_idle=i < 500) for i in range(1000)]
    view = TasksProcessing(store_of(workers=rows), DARK)
    view.command("by-group")
    Page(view)
    colors = data_colors(DARK)
    assert view.bars.model.data["color"][0] == colors.load_normal
    assert view.bars.model.data["color"][-1] == colors.load_idle
    assert "in the colour of most of them" in view.notice.note


def test_nothing_is_sent_when_nothing_that_is_shown_changed() -> None:
    store = store_of(workers=ROWS)
    page = Page(TasksProcessing(store))
    store.apply(batch(workers=[{**row, "cpu": 50.0} for row in ROWS]))
    assert page.sent() == []


def test_no_workers_is_explained() -> None:
    page = Page(TasksProcessing(store_of(workers=[])))
    assert "cluster.scale(4)" in page.view.notice.empty


def test_table_says_load_in_words() -> None:
    table = TasksProcessing(store_of(workers=ROWS)).table()
    assert table.columns["load"] == ["normal", "saturated", "idle", "idle"]
    assert table.columns["processing"] == [7, 40, 1, 0]
