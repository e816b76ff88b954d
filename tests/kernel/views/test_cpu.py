"""CPU: 100 % is one core, the scale ends at all threads."""

from __future__ import annotations

from dask_diag_lab.views.workers.cpu import Cpu
from tests.kernel.views.situations import Page, batch, store_of, worker


def test_scale_ends_at_a_hundred_times_the_threads() -> None:
    rows = [worker(0, cpu=50.0, nthreads=2), worker(1, cpu=800.0, nthreads=8)]
    view = Cpu(store_of(workers=rows))
    page = Page(view)
    assert view.measure().end == 800
    assert list(view.bars.model.data["track"]) == [200, 800]
    assert list(view.bars.model.data["edge0"]) == [50, 800]
    assert page.title == "CPU: 850 % of 1000 % · 85 % in use"


def test_process_that_uses_more_than_its_threads_is_drawn_in_full() -> None:
    view = Cpu(store_of(workers=[worker(0, cpu=130.0, nthreads=1)]))
    Page(view)
    assert view.measure().end == 130


def test_single_thread_has_a_scale_of_one_core() -> None:
    view = Cpu(store_of(workers=[worker(0, cpu=0.4, nthreads=1)]))
    Page(view)
    assert list(view.figure.xaxis[0].major_label_overrides.values()) == ["0", "50 %", "100 %"]


def test_worker_without_threads_does_no_harm() -> None:
    view = Cpu(store_of(workers=[worker(0, nthreads=0)]))
    page = Page(view)
    assert view.measure().end == 100
    assert "unknown" not in page.title


def test_nothing_is_sent_when_cpu_did_not_change() -> None:
    rows = [worker(0, cpu=12.0)]
    store = store_of(workers=rows)
    page = Page(Cpu(store))
    store.apply(batch(workers=[{**rows[0], "processing": 9}]))
    assert page.sent() == []


def test_no_workers_is_explained() -> None:
    page = Page(Cpu(store_of(workers=[])))
    assert "cluster.scale(4)" in page.view.notice.empty


def test_table_has_percent_of_one_core() -> None:
    table = Cpu(store_of(workers=[worker(0, cpu=12.5)])).table()
    assert table.columns["cpu"] == [12.5]
    assert table.units["cpu"] == "%"
