"""Workers Memory: lengths, colours, marks, words; few, many and no workers."""

from __future__ import annotations

import numpy as np
import pytest

from dask_diag_lab.views.look import DARK, LIGHT, Look
from dask_diag_lab.views.palette import data_colors
from dask_diag_lab.views.workers.worker_rows import grouped
from dask_diag_lab.views.workers.workers_memory import PASSED, WorkersMemory
from tests.kernel.views.situations import GIB, MIB, THRESHOLDS, Page, batch, store_of, worker


def test_bar_is_stacked_and_spilled_comes_after_process_memory() -> None:
    row = worker(
        0, managed=1 * GIB, unmanaged_old=GIB // 2, unmanaged_recent=GIB // 4, spilled=2 * GIB
    )
    view = WorkersMemory(store_of(workers=[row]))
    Page(view)
    data = view.bars.model.data
    edges = [float(data[f"edge{i}"][0]) / GIB for i in range(4)]
    assert edges == [1.0, 1.5, 1.75, 3.75]
    assert edges[2] * GIB == row["memory"]


@pytest.mark.parametrize("look", [LIGHT, DARK])
@pytest.mark.parametrize(
    ("given", "color"),
    [
        ({"managed": 1 * GIB}, "memory_ok"),
        ({"managed": int(2.5 * GIB)}, "memory_near"),
        ({"managed": int(3.9 * GIB)}, "memory_over"),
        ({"managed": 1, "status": "paused"}, "memory_over"),
        ({"managed": 100 * GIB, "memory_limit": 0}, "memory_ok"),
        ({"managed": 0, "spilled": 50 * GIB}, "memory_ok"),
    ],
)
def test_color_follows_process_memory_and_status(
    given: dict[str, int | str], color: str, look: Look
) -> None:
    view = WorkersMemory(store_of(workers=[worker(0, **given)]), look)
    Page(view)
    assert view.bars.model.data["color"] == [getattr(data_colors(look), color)]


@pytest.mark.parametrize(
    ("given", "is_said"),
    [
        ({"managed": 3 * GIB, "spilled": 2 * GIB}, True),
        ({"managed": 1 * GIB, "spilled": 2 * GIB}, False),
        ({"managed": 5 * GIB}, False),
        ({"managed": 3 * GIB, "spilled": 2 * GIB, "memory_limit": 0}, False),
    ],
)
def test_a_bar_that_passes_its_limit_by_what_is_on_disk_says_so(
    given: dict[str, int], is_said: bool
) -> None:
    view = WorkersMemory(store_of(workers=[worker(0, **given), worker(1)]))
    Page(view)
    assert ("on disk" in view.notice.note) is is_said


def test_axis_reaches_the_largest_limit_and_has_binary_ticks() -> None:
    rows = [worker(0, managed=MIB), worker(1, memory_limit=16 * GIB)]
    view = WorkersMemory(store_of(workers=rows))
    Page(view)
    assert view.measure().end == 16 * GIB
    assert list(view.figure.xaxis[0].major_label_overrides.values())[-1] == "16 GiB"


def test_axis_holds_the_data_without_limits() -> None:
    view = WorkersMemory(store_of(workers=[worker(0, memory_limit=0, managed=3 * GIB)]))
    Page(view)
    assert view.measure().end == 3 * GIB
    assert len(view.limits.model.data["x"]) == 0


def test_limit_and_thresholds_that_are_on_are_marked() -> None:
    thresholds = {**THRESHOLDS, "spill": None}
    view = WorkersMemory(store_of(workers=[worker(0)], thresholds=thresholds))
    Page(view)
    assert list(view.limits.model.data["x"]) == [4 * GIB]
    shares = np.array(view.marks.model.data["x"]) / (4 * GIB)
    assert shares == pytest.approx([0.6, 0.8, 0.95])


def test_paused_worker_is_named_in_words_and_keeps_its_sign_in_a_small_pane() -> None:
    view = WorkersMemory(store_of(workers=[worker(0, status="paused"), worker(1)]))
    page = Page(view)
    assert view.bars.model.data["value"][0].endswith("paused")
    page.resize(300, 200)
    assert view.bars.model.data["value"] == ["‼ 0 B", "0 B"]
    assert list(view.figure.yaxis[0].major_label_overrides.values()) == ["worker 0", "worker 1"]


@pytest.mark.parametrize(
    ("width", "value"), [(900, "▴ 2.50 GiB"), (420, "▴ 2.50 GiB"), (300, "▴ 2.50 GiB"), (200, "▴")]
)
def test_number_stands_with_its_sign_where_there_is_room(width: int, value: str) -> None:
    view = WorkersMemory(store_of(workers=[worker(0, managed=int(2.5 * GIB)), worker(1)]))
    Page(view, width, 300)
    assert view.bars.model.data["value"][0] == value


def test_bars_of_a_narrow_pane_end_before_the_numbers_beside_them() -> None:
    view = WorkersMemory(store_of(workers=[worker(0, managed=int(2.5 * GIB))]))
    Page(view, 300, 300)
    whole = view.picture.x.end
    assert isinstance(whole, float)
    assert (1 - view.measure().end / whole) * 300 > len("▴ 2.50 GiB") * 6


def test_group_of_workers_has_the_sign_of_the_worst_beside_its_mean() -> None:
    rows = [worker(i, managed=GIB) for i in range(200)]
    rows[7] = worker(7, managed=GIB, status="paused")
    view = WorkersMemory(store_of(workers=rows))
    view.command("by-group")
    Page(view, 900, 2000)
    assert "‼ 1.00 GiB" in view.bars.model.data["value"]


def test_hover_has_exact_numbers_and_shares() -> None:
    view = WorkersMemory(store_of(workers=[worker(0, managed=1 * GIB, spilled=GIB // 2)]))
    Page(view)
    data = view.bars.model.data
    lines = [data[f"hover{i}"][0] for i in range(view.hover_lines)]
    assert "Managed 1.00 GiB · 25 %" in lines
    assert "Spilled to disk 512 MiB · 12 %" in lines
    assert "target 2.40 GiB, spill 2.80 GiB, pause 3.20 GiB, terminate 3.80 GiB" in lines


@pytest.mark.parametrize(("width", "said"), [(700, PASSED[0]), (260, PASSED[1]), (180, PASSED[2])])
def test_note_on_bars_past_their_limit_has_words_for_its_room(width: int, said: str) -> None:
    view = WorkersMemory(store_of(workers=[worker(0, managed=3 * GIB, spilled=2 * GIB)]))
    Page(view, width, 300)
    assert view.notice.note == said


def test_group_with_a_worker_without_limit_has_no_shares() -> None:
    rows = [worker(i, managed=GIB, memory_limit=(i > 0) * 4 * GIB) for i in range(200)]
    view = WorkersMemory(store_of(workers=rows))
    view.command("by-group")
    Page(view, 300, 200)
    data = view.bars.model.data
    process = [
        next(
            line
            for i in range(view.hover_lines)
            if (line := data[f"hover{i}"][row])[:8] == "Process "
        )
        for row in range(len(data["y"]))
    ]
    assert process[0] == "Process memory 1.00 GiB"
    assert set(process[1:]) == {"Process memory 1.00 GiB · 25 %"}


def test_title_has_totals() -> None:
    rows = [worker(i, managed=GIB, spilled=GIB) for i in range(3)]
    view = WorkersMemory(store_of(workers=rows))
    page = Page(view)
    title = page.title
    assert title == "Process memory: 3.00 GiB + 3.00 GiB spilled to disk · 3 workers"


def test_many_workers_become_sorted_groups_and_the_plot_says_so() -> None:
    rows = [worker(i, managed=i * MIB) for i in range(1000)]
    rows[7] = worker(7, managed=7 * MIB, status="paused")
    view = WorkersMemory(store_of(workers=rows))
    page = Page(view, 900, 500)
    view.command("by-group")
    page.sent()
    data = view.bars.model.data
    number = len(data["y"])
    assert 4 <= number <= 100
    means = np.asarray(data["edge0"])
    assert (np.diff(means) < 0).all()
    assert data["color"][-1] == data_colors(LIGHT).memory_over
    assert "1000 workers sorted by memory in use" in view.notice.note
    page.resize(900, 5000)
    assert len(view.bars.model.data["y"]) == 100


def test_form_is_decided_anew_when_workers_leave() -> None:
    store = store_of(workers=[worker(i) for i in range(200)])
    view = WorkersMemory(store)
    page = Page(view)
    assert view.notice.note
    gone = [worker(i)["address"] for i in range(5, 200)]
    store.apply(batch(removed_workers=gone))
    page.sent()
    assert view.notice.note == ""
    assert len(view.bars.model.data["y"]) == 5


def test_groups_of_workers_have_equal_sizes() -> None:
    rows = grouped(np.arange(1000), 40)
    assert len(rows) == 40
    assert set(rows.sizes.tolist()) == {25}
    assert rows.mean(np.arange(1000))[0] == pytest.approx(np.arange(975, 1000).mean())


def test_no_workers_is_explained_and_they_appear_when_they_come() -> None:
    store = store_of(workers=[])
    view = WorkersMemory(store)
    page = Page(view)
    assert "cluster.scale(4)" in view.notice.empty
    assert view.table().columns["worker"] == []
    store.apply(batch(workers=[worker(0)]))
    page.sent()
    assert view.notice.empty == ""
    store.apply(batch(removed_workers=[worker(0)["address"]]))
    page.sent()
    assert view.notice.empty
    assert len(view.bars.model.data["y"]) == 0


def test_nothing_is_sent_when_nothing_changed() -> None:
    rows = [worker(i, managed=i * MIB) for i in range(40)]
    store = store_of(workers=rows)
    page = Page(WorkersMemory(store))
    assert page.sent() == []
    store.apply(batch(workers=rows))
    assert page.sent() == []
    store.apply(batch(workers=[{**row, "last_seen": 1001.0} for row in rows]))
    assert page.sent() == []
    rows[3] = worker(3, managed=GIB)
    store.apply(batch(workers=rows))
    sent = page.sent()
    assert any(getattr(event, "attr", None) == "data" for event in sent)


def test_restyle_changes_colours_at_once() -> None:
    view = WorkersMemory(store_of(workers=[worker(0)]))
    Page(view)
    view.look = DARK
    view.restyle()
    assert view.bars.model.data["color"] == [data_colors(DARK).memory_ok]
    assert view.figure.background_fill_color == DARK.background
    assert view.figure.xaxis[0].major_label_text_color == DARK.muted


@pytest.mark.parametrize(("width", "n_lines"), [(900, 1), (500, 2), (400, 0)])
def test_legend_is_not_cut_beside_the_names(width: int, n_lines: int) -> None:
    view = WorkersMemory(store_of(workers=[worker(i, name=f"a-long-name-{i}") for i in range(3)]))
    Page(view, width, 320)
    assert view.picture.legend.n_lines == n_lines


@pytest.mark.parametrize("look", [LIGHT, DARK])
def test_the_legend_has_the_colour_that_most_bars_have(look: Look) -> None:
    near, fine = int(2.5 * GIB), MIB
    view = WorkersMemory(store_of(workers=[worker(0, managed=near), worker(1, managed=fine)]))
    page, colors = Page(view), data_colors(look)
    view.look = look
    for used, color in (([near, near, fine], "memory_near"), ([near, fine, fine], "memory_ok")):
        rows = [worker(at, managed=managed) for at, managed in enumerate(used)]
        view.store.apply(batch(workers=rows))
        view.restyle()
        fills = view.picture.legend._swatches.data["fill_color"]
        assert fills == [getattr(colors, color)] * 3 + [colors.spilled]
        assert page.sent() == []


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"managed": int(2.5 * GIB)}, "▴ May spill to disk"),
        ({"managed": GIB, "status": "paused"}, "‼ Paused"),
        ({"managed": GIB}, ""),
    ],
)
def test_hover_says_what_the_sign_beside_a_bar_means(
    given: dict[str, int | str], said: str
) -> None:
    view = WorkersMemory(store_of(workers=[worker(0, **given)]))
    Page(view)
    assert view.bars.model.data["hover1"] == [said]
