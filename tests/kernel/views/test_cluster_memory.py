"""Cluster Memory: one bar of sums in the colour of the worst worker."""

from __future__ import annotations

import numpy as np
import pytest

from dask_diag_lab.views.look import LIGHT
from dask_diag_lab.views.palette import data_colors
from dask_diag_lab.views.workers.cluster_memory import ClusterMemory
from tests.kernel.views.situations import GIB, Page, batch, store_of, worker


def test_bar_is_the_sum_and_the_title_has_process_and_spilled() -> None:
    rows = [worker(i, managed=GIB, unmanaged_old=GIB // 2, spilled=GIB // 4) for i in range(4)]
    view = ClusterMemory(store_of(workers=rows))
    page = Page(view)
    edges = [float(view.bars.model.data[f"edge{i}"][0]) / GIB for i in range(4)]
    assert edges == [4.0, 6.0, 6.0, 7.0]
    title = page.title
    assert title == "Process memory: 6.00 GiB + 1.00 GiB spilled to disk · 38 % of 16.0 GiB"


@pytest.mark.parametrize(
    ("managed", "status", "color"),
    [
        (GIB, "running", "memory_ok"),
        (3 * GIB, "running", "memory_near"),
        (int(3.9 * GIB), "running", "memory_over"),
        (0, "closing_gracefully", "memory_over"),
    ],
)
def test_color_is_that_of_the_worst_worker(managed: int, status: str, color: str) -> None:
    rows = [worker(0), worker(1, managed=managed, status=status), worker(2)]
    view = ClusterMemory(store_of(workers=rows))
    Page(view)
    assert view.bars.model.data["color"] == [getattr(data_colors(LIGHT), color)]


def test_the_number_keeps_the_sign_of_the_worst_worker() -> None:
    rows = [worker(0, managed=GIB), worker(1, managed=3 * GIB)]
    view = ClusterMemory(store_of(workers=rows))
    Page(view)
    assert view.bars.model.data["value"] == ["▴ 4.00 GiB"]


def test_thousand_workers_are_still_one_bar_without_a_note() -> None:
    view = ClusterMemory(store_of(workers=[worker(i, managed=GIB) for i in range(1000)]))
    page = Page(view, 300, 200)
    assert len(view.bars.model.data["y"]) == 1
    assert view.notice.note == ""
    assert page.title == "Process memory: 0.977 TiB"


@pytest.mark.parametrize(
    ("width", "title"),
    [
        (500, "Process memory: 4.00 GiB · 25 % of 16.0 GiB"),
        (250, "Process memory: 4.00 GiB"),
        (160, "4.00 GiB"),
    ],
)
def test_in_little_room_words_of_the_title_give_way_before_its_figures(
    width: int, title: str
) -> None:
    view = ClusterMemory(store_of(workers=[worker(i, managed=GIB) for i in range(4)]))
    assert Page(view, width, 200).title == title


def test_cluster_without_limits_takes_its_axis_from_the_data() -> None:
    view = ClusterMemory(store_of(workers=[worker(0, memory_limit=0, managed=GIB)]))
    Page(view)
    assert view.measure().end == GIB
    assert len(view.limits.model.data["x"]) == 0


def test_one_worker_without_limit_leaves_the_sum_without_one() -> None:
    rows = [worker(0), worker(1, memory_limit=0, managed=12 * GIB)]
    view = ClusterMemory(store_of(workers=rows))
    page = Page(view)
    assert page.title == "Process memory: 12.0 GiB"
    assert len(view.limits.model.data["x"]) == 0
    lines = [view.bars.model.data[f"hover{i}"][0] for i in range(view.hover_lines)]
    assert not any("%" in line for line in lines)
    assert "1 of 2 workers without memory limit" in lines


def test_limit_and_thresholds_are_shares_of_the_sum() -> None:
    view = ClusterMemory(store_of(workers=[worker(i) for i in range(4)]))
    Page(view)
    assert list(view.limits.model.data["x"]) == [16 * GIB]
    assert np.array(view.marks.model.data["x"]) / (16 * GIB) == pytest.approx([0.6, 0.7, 0.8, 0.95])


def test_no_workers_is_explained_and_nothing_is_sent_twice() -> None:
    store = store_of(workers=[])
    page = Page(ClusterMemory(store))
    assert "cluster.scale(4)" in page.view.notice.empty
    assert page.sent() == []
    store.apply(batch(workers=[worker(0)]))
    assert page.sent()
    assert page.sent() == []


def test_table_has_exact_bytes() -> None:
    table = ClusterMemory(store_of(workers=[worker(0, managed=123)])).table()
    assert table.columns["managed"] == [123]
    assert table.units["managed"] == "B"
