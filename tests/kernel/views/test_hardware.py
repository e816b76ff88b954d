"""Hardware: measured when asked, once for all who look, and only where there is room."""

from __future__ import annotations

import time

import pytest

from dask_diag_lab.store import Store
from dask_diag_lab.store.inquiries import Inquiries, Inquiry
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.asked import UNASKED
from dask_diag_lab.views.bar_figure import ROW_MIN_PX
from dask_diag_lab.views.pane_size import EDGES_PX
from dask_diag_lab.views.room import note_px
from dask_diag_lab.views.scheduler.bar_row import fitting_figures
from dask_diag_lab.views.scheduler.hardware import MEASURING, UNMEASURED, Hardware
from tests.kernel.views.scheduler_tables import drawn, names_shown
from tests.kernel.views.situations import store_of, worker


def test_hardware_measures_only_when_asked() -> None:
    now = [50.0]
    store = store_of(workers=[worker(0)])
    store.inquiries = Inquiries(lambda: now[0])
    asked: list[Inquiry] = []
    store.inquiries.on_ask = asked.append
    view = Hardware(store)
    drawn(view)
    assert asked == []
    assert view.notice.empty == UNMEASURED
    view._measure()
    view.update()
    assert [inquiry.kind for inquiry in asked] == ["hardware"]
    assert view._button.label == MEASURING
    assert "0 s so far" in view.notice.empty
    before = view.is_behind
    now[0] += 3.5
    assert (before, view.is_behind) == (False, True)
    view.update()
    assert "3 s so far" in view.notice.empty
    answer = {"memory": [{"size": 2048, "rate": 2e9}], "disk": [], "network": []}
    store.answer(asked[0], answer)
    view.update()
    assert list(view._bars["memory"].parts.model.data["right"]) == [2e9]
    assert names_shown(view._bars["memory"]) == ["2 KiB"]
    assert view.table().units["size"] == "B"
    assert view.table().columns["rate"] == [2e9]


def measuring() -> tuple[Store, Hardware, list[Inquiry]]:
    """Return a store, its view with the button pressed, and what was asked."""
    store = store_of(workers=[worker(0)])
    asked: list[Inquiry] = []
    store.inquiries.on_ask = asked.append
    view = Hardware(store)
    drawn(view)
    view._measure()
    return store, view, asked


def test_what_one_page_measured_is_shown_by_another_and_by_its_table() -> None:
    store, _, asked = measuring()
    answer = {"memory": [{"size": 2048, "rate": 2e9}], "disk": [], "network": []}
    store.answer(asked[0], answer)
    assert Hardware(store).table().columns["rate"] == [2e9]
    assert len(asked) == 1


def test_a_closed_cluster_is_not_to_be_measured() -> None:
    store = store_of(workers=[worker(0)])
    view = Hardware(store)
    drawn(view)
    store.set_feed_state("closed", "", 1.0)
    view.update()
    assert (view._button.disabled, view.notice.empty) == (True, UNASKED)


SIZES = (1 << 10, 10 << 10, 100 << 10, 1 << 20, 10 << 20, 50 << 20)


@pytest.mark.parametrize(
    ("pane", "is_row", "left_out"),
    [
        ((860, 170), True, ""),
        ((860, 600), False, ""),
        ((400, 300), False, "no room for Network"),
        ((300, 120), False, "no room for 2 bars, Disk, Network"),
    ],
)
def test_all_block_sizes_are_shown_or_it_is_said(
    pane: tuple[int, int], is_row: bool, left_out: str
) -> None:
    store, view, asked = measuring()
    rows = [{"size": each, "rate": 1e9} for each in SIZES]
    store.answer(asked[0], dict.fromkeys(("memory", "disk", "network"), rows))
    view.update()
    for _ in range(3):  # as the page does: the figures' sizes follow from how they lie
        figures = [bars.figure for bars in view._bars.values() if bars.figure.visible]
        is_beside = view._row.is_row
        across, down = (len(figures), 1) if is_beside else (1, len(figures))
        for figure in figures:
            figure.set_from_json("outer_width", pane[0] // across)
            figure.set_from_json("outer_height", pane[1] // down)
        view.update()
    assert view._row.is_row == is_row
    assert view._row.model.styles == {"flex-direction": "row" if is_row else "column"}
    assert left_out in view.notice.note
    assert ("no room" in view.notice.note) == bool(left_out)


@pytest.mark.parametrize(("n_figures", "n_bars"), [(3, 6), (2, 5), (1, 6), (3, 1)])
def test_a_pane_that_grows_never_shows_fewer_bars(n_figures: int, n_bars: int) -> None:
    shown = []
    for height in range(60, 800, 2):
        number = fitting_figures(height, n_figures, n_bars)
        assert 1 <= number <= n_figures
        shown.append(number * min(int((height / number - EDGES_PX) // ROW_MIN_PX), n_bars))
    assert shown == sorted(shown)
    assert shown[-1] == n_figures * n_bars


def test_hardware_says_why_nothing_was_measured() -> None:
    store, view, asked = measuring()
    store.fail(asked[0], "the scheduler forbids it.")
    view.update()
    assert "forbids" in view.notice.empty


def test_without_workers_nothing_is_asked() -> None:
    store = store_of()
    asked: list[Inquiry] = []
    store.inquiries.on_ask = asked.append
    view = Hardware(store)
    drawn(view)
    view._measure()
    view.update()
    assert asked == []
    assert "there is no worker" in view.notice.empty


def test_an_answer_without_any_measure_is_no_picture() -> None:
    store, view, asked = measuring()
    store.answer(asked[0], {"memory": [], "disk": [], "network": []})
    view.update()
    assert view.notice.empty.startswith("Nothing was measured")
    assert not any(bars.figure.visible for bars in view._bars.values())


def test_bars_say_whose_means_they_are_also_when_the_next_measurement_fails() -> None:
    store, view, asked = measuring()
    rows = [{"size": 2048, "rate": 2e9}]
    store.answer(asked[0], {"memory": rows, "disk": rows, "network": []})
    view.update()
    said = f"Means of all workers at {fmt.clock(asked[0].answered_at)}"
    assert view.notice.note == f"{said}; network needs two workers"
    view._measure()
    store.fail(asked[-1], "the scheduler is gone.")
    view.update()
    assert view.notice.note.startswith("Not measured: the scheduler is gone. · ")
    assert said in view.notice.note


def test_hardware_does_not_measure_where_a_worker_has_no_room() -> None:
    store = store_of(workers=[worker(0), worker(1, memory_limit=512 << 20, managed=300 << 20)])
    asked: list[Inquiry] = []
    store.inquiries.on_ask = asked.append
    view = Hardware(store)
    drawn(view)
    view._measure()
    view.update()
    assert asked == []
    assert "worker 1 (212 MiB free)" in view.notice.empty


def test_thousand_workers_are_one_question_and_no_more_bars_than_two() -> None:
    store = store_of(workers=[worker(n) for n in range(1000)])
    asked: list[Inquiry] = []
    store.inquiries.on_ask = asked.append
    view = Hardware(store)
    drawn(view)
    view._measure()
    view._measure()  # nobody measures a second time beside it
    assert len(asked) == 1
    rows = [{"size": each, "rate": 1e9} for each in SIZES]
    store.answer(asked[0], dict.fromkeys(("memory", "disk", "network"), rows))
    began = time.process_time()
    view.update()
    assert time.process_time() - began < 0.02  # measured: 1.6 ms
    assert [len(bars.parts.model.data["y"]) for bars in view._bars.values()] == [6, 6, 6]


def test_a_wider_pane_has_no_longer_note_than_its_line() -> None:
    store, view, asked = measuring()
    rows = [{"size": each, "rate": 1e9} for each in SIZES]
    store.answer(asked[0], dict.fromkeys(("memory", "disk", "network"), rows))
    lines = {}
    for width in (300, 420, 700, 859, 860, 1400):
        for bars in view._bars.values():
            bars.figure.set_from_json("outer_width", width)
            bars.figure.set_from_json("outer_height", 60)
        view._row.is_row = False
        view.update()
        lines[width] = note_px(view.notice.note, width, view.look.font_size)
    assert list(lines.values()) == sorted(lines.values(), reverse=True)


@pytest.mark.parametrize(
    ("kind", "rates", "is_doubted"),
    [
        ("memory", (6.34e9, 439e6, 227e6), True),
        ("memory", (3.35e9, 10.82e9, 3.81e9), False),  # of an idle worker
        ("disk", (1e9, 2e9, 0.9e9), True),
        ("network", (1e9, 2e9, 0.9e9), True),
        ("disk", (2e9, 2e9, 1.1e9), False),
        ("memory", (1e9, 2e9, 3e9), False),
    ],
)
def test_a_large_block_far_slower_than_a_small_one_is_said(
    kind: str, rates: tuple[float, ...], is_doubted: bool
) -> None:
    store, view, asked = measuring()
    rows = [{"size": 1 << 10 * at, "rate": rate} for at, rate in enumerate(rates, 1)]
    fine = [{"size": 2048, "rate": 2e9}]
    store.answer(asked[0], {"memory": fine, "disk": fine, "network": fine, kind: rows})
    view.update()
    said = f"{kind.capitalize()} far slower in larger blocks"
    assert view.notice.note.startswith(said) is is_doubted
    view._measure()
    view.update()
    assert "far slower" not in view.notice.note


@pytest.mark.parametrize("width", [180, 240, 300, 860])
@pytest.mark.parametrize("rate", [1e9, 2.1e9, 4.2e9, 6.34e9, 9.9e9])
def test_an_axis_has_a_tick_beside_0_with_its_unit(width: int, rate: float) -> None:
    store, view, asked = measuring()
    store.answer(asked[0], {"memory": [{"size": 2048, "rate": rate}], "disk": [], "network": []})
    view._bars["memory"].figure.set_from_json("outer_width", width)
    view._bars["memory"].figure.set_from_json("outer_height", 120)
    view.update()
    axis = view._bars["memory"].figure.xaxis[0]
    assert len(axis.ticker.ticks) > 1
    assert all(axis.major_label_overrides[tick].endswith("B/s") for tick in axis.ticker.ticks[1:])
    assert axis.ticker.ticks[-1] <= rate
