"""Data transfer, network and disk: halves, hosts counted once, what is not reported; GPUs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dask_diag_lab.views.look import DARK, LIGHT, Look
from dask_diag_lab.views.palette import data_colors
from dask_diag_lab.views.pane_size import CHARACTER_PX, PaneSize
from dask_diag_lab.views.workers.data_transfer import DataTransfer
from dask_diag_lab.views.workers.gpu import GpuMemory, GpuUtilization, RmmMemory
from dask_diag_lab.views.workers.host_traffic import HostDisk, HostNetwork
from dask_diag_lab.views.workers.worker_series import CpuSeries, DiskSeries, NetworkSeries
from tests.kernel.views.situations import GIB, MIB, Page, batch, store_of, worker

NET = {"host_net_io.read_bps": 3e6, "host_net_io.write_bps": 1e6}
GPU = {"gpu_utilization": 40, "gpu_memory_used": 2 * GIB, "gpu-memory-total": 16 * GIB}


def on_one_host(n: int, metrics: dict[str, Any]) -> list[dict[str, Any]]:
    return [worker(i, host="h", metrics=metrics) for i in range(n)]


def test_transfer_has_a_scale_of_its_own_and_two_halves() -> None:
    rows = [worker(0, incoming_bytes=30 * MIB, outgoing_bytes=10 * MIB), worker(1)]
    view = DataTransfer(store_of(workers=rows))
    page = Page(view)
    data = view.bars.model.data
    assert list(data["edge0"]) == [30 * MIB, 0]
    assert list(data["edge1"]) == [10 * MIB, 0]
    assert data["y0"][0] < 0 < data["y1"][0]
    assert view.measure().end < 2 * 30 * MIB
    assert page.title == "Bytes in transfer: 30.0 MiB incoming, 10.0 MiB outgoing"
    assert data["value"] == ["↓ 30.0 MiB  ↑ 10.0 MiB", ""]


@pytest.mark.parametrize("look", [LIGHT, DARK])
def test_halves_have_their_own_colours(look: Look) -> None:
    view = DataTransfer(store_of(workers=[worker(0, incoming_bytes=1)]), look)
    Page(view)
    colors = [glyph.fill_color for glyph, _ in view.picture._colored]
    assert colors == [data_colors(look).incoming, data_colors(look).outgoing]


def test_host_of_several_workers_is_one_bar() -> None:
    rows = [*on_one_host(3, NET), worker(7, host="other", metrics=NET)]
    view = HostNetwork(store_of(workers=rows))
    page = Page(view)
    assert list(view.bars.model.data["edge0"]) == [3e6, 3e6]
    assert page.title == "Network: 6.00 MB/s received, 2.00 MB/s sent"
    assert view.table().columns["workers"] == [3, 1]


@pytest.mark.parametrize("width", [420, 520, 860])
@pytest.mark.parametrize("host", ["h", "10.250.100.101"])
def test_words_beside_the_bars_have_their_room(host: str, width: int) -> None:
    rows = [worker(i, host=f"{host}{i}", metrics=NET) for i in range(3)]
    view = HostNetwork(store_of(workers=rows))
    Page(view, width, 300)
    names = list(map(str, view.figure.yaxis[0].major_label_overrides.values()))
    frame_px = PaneSize(width, 300).frame_px(max(map(len, names)) * CHARACTER_PX)
    end: Any = view.picture.x.end  # declared as a date as well
    room_px = (1 - view.measure().end / end) * frame_px
    assert room_px >= max(map(len, view.bars.model.data["value"])) * CHARACTER_PX


def test_traffic_that_nobody_reports_is_explained() -> None:
    page = Page(HostDisk(store_of(workers=on_one_host(2, NET))))
    assert "system-monitor.disk" in page.view.notice.empty


def test_hosts_cannot_be_put_together_again() -> None:
    view = HostNetwork(store_of(workers=on_one_host(3, NET)))
    page = Page(view)
    view.command("by-host")
    page.sent()
    assert len(view.bars.model.data["y"]) == 1


@pytest.mark.parametrize("view_of", [GpuUtilization, GpuMemory, RmmMemory])
def test_cluster_without_gpus_says_so(view_of: type[GpuMemory]) -> None:
    page = Page(view_of(store_of(workers=[worker(0)])))
    assert page.view.notice.empty.startswith("No worker reports")


def test_only_workers_that_report_a_gpu_have_a_bar() -> None:
    rows = [worker(0), worker(1, metrics=GPU), worker(2, metrics={**GPU, "gpu_utilization": 90})]
    view = GpuUtilization(store_of(workers=rows))
    page = Page(view)
    assert list(view.bars.model.data["edge0"]) == [40, 90]
    assert page.title == "GPU use: 65 % on average · 2 of 3 workers"
    view.open_one(1)
    assert view.opening is not None
    assert view.opening.arguments == {"worker": rows[2]["address"]}


def test_gpu_memory_is_shown_of_what_there_is() -> None:
    view = GpuMemory(store_of(workers=[worker(0, metrics=GPU)]))
    page = Page(view)
    assert list(view.bars.model.data["track"]) == [16 * GIB]
    assert page.title.startswith("GPU memory: 2.00 GiB of 16.0 GiB")


def test_pool_of_rmm_is_split_into_used_and_free() -> None:
    metrics = {**GPU, "rmm.rmm-used": GIB, "rmm.rmm-total": 4 * GIB}
    view = RmmMemory(store_of(workers=[worker(0, metrics=metrics)]))
    Page(view)
    data = view.bars.model.data
    assert [data["edge0"][0], data["edge1"][0], data["track"][0]] == [GIB, 4 * GIB, 16 * GIB]


def test_gpu_that_appears_later_is_drawn() -> None:
    store = store_of(workers=[worker(0)])
    view = GpuMemory(store)
    page = Page(view)
    store.apply(batch(workers=[worker(0, metrics=GPU)]))
    page.sent()
    assert view.notice.empty == ""
    assert len(view.bars.model.data["y"]) == 1


def test_series_are_recorded_before_anybody_looks() -> None:
    store = store_of(workers=[worker(0, cpu=10.0), worker(1, cpu=30.0)])
    store.apply(batch(time=1005.0, workers=[worker(0, cpu=50.0)]))
    view = CpuSeries(store)
    page = Page(view)
    data = view.picture.source.model.data
    assert list(data["mean0"]) == [20.0, 40.0]
    assert [data["low0"][0], data["high0"][0]] == [10.0, 30.0]
    assert page.title.startswith("CPU over time: 40.0 % CPU")


def test_series_count_a_host_once() -> None:
    view = NetworkSeries(store_of(workers=on_one_host(4, NET)))
    Page(view)
    assert view.table().columns["received_total"] == [3e6]


def test_series_that_nobody_reports_is_explained() -> None:
    page = Page(DiskSeries(store_of(workers=[worker(0)])))
    assert "disk traffic" in page.view.notice.empty


def test_series_send_nothing_when_nothing_was_recorded() -> None:
    page = Page(CpuSeries(store_of(workers=[worker(0)])))
    assert page.sent() == []


def test_unknown_traffic_is_none_in_the_table() -> None:
    rows = [worker(0, metrics=NET), worker(1)]
    table = HostNetwork(store_of(workers=rows)).table()
    assert table.columns["received"] == [3e6, None]
    assert not any(isinstance(v, float) and np.isnan(v) for v in table.columns["sent"])
