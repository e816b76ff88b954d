"""The plots of the scheduler, fed with tables as the collector sends them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from bokeh.document import Document
from bokeh.events import Tap

from dask_diag_lab.records import EXTRAS, ExtraChange
from dask_diag_lab.store import Store
from dask_diag_lab.store.inquiries import Inquiries, Inquiry
from dask_diag_lab.views.bar_figure import NUMBER
from dask_diag_lab.views.base import View
from dask_diag_lab.views.catalogue import scheduler as catalogue
from dask_diag_lab.views.look import DARK
from dask_diag_lab.views.plot import Plot
from dask_diag_lab.views.scheduler.activities import CLASSES, class_color, class_of
from dask_diag_lab.views.scheduler.contention import Contention
from dask_diag_lab.views.scheduler.costs import IDLE, Costs, thread_seconds
from dask_diag_lab.views.scheduler.counters import Counters
from dask_diag_lab.views.scheduler.fine_metrics import FineMetrics
from dask_diag_lab.views.scheduler.hardware import MEASURING, UNASKED, Hardware
from dask_diag_lab.views.scheduler.part_bars import Bar, Part, PartBars
from dask_diag_lab.views.scheduler.scheduler_system import SchedulerSystem
from dask_diag_lab.views.scheduler.shuffle import Shuffle
from dask_diag_lab.views.scheduler.stealing import Stealing
from tests.kernel.views.situations import batch, store_of, worker

NAN = float("nan")
T0 = 1000.0

FINE = [
    ("default", "execute", "inc", "thread-cpu", "seconds", 6.0),
    ("default", "execute", "inc", "thread-noncpu", "seconds", 1.0),
    ("default", "execute", "load", "deserialize", "seconds", 2.0),
    ("part", "execute", "load", "disk-read", "bytes", 5000.0),
    ("part", "gather-dep", "", "network", "seconds", 3.0),
    ("part", "execute", "load", "my own", "pages", 7.0),
]


def change(name: str, rows: Sequence[Sequence[Any]]) -> dict[str, ExtraChange]:
    """Return these rows of one extra table, as a batch carries them."""
    (extra,) = [extra for extra in EXTRAS if extra.name == name]
    columns = {c.name: [row[i] for row in rows] for i, c in enumerate(extra.columns)}
    return {name: ExtraChange(columns)}


def drawn(view: View) -> Document:
    """Build the view in a document, as a page does."""
    document = Document()
    document.add_root(view.build())
    view.update()
    return document


def sent_by(view: View, document: Document) -> int:
    """Return how many changes an update sends."""
    events: list[object] = []
    document.on_change(events.append)
    view.update()
    return len(events)


def system_row(time: float, **given: float) -> tuple[float, ...]:
    values = {"cpu": 10.0, "memory": 1e8, "read": 1e3, "write": 2e3} | given
    return (
        *(time, values["cpu"], values["memory"], values["read"], values["write"]),
        *(NAN, NAN, values.get("fds", 40.0), values.get("gil", NAN), values.get("loop", 0.02)),
    )


@pytest.mark.parametrize("plot", catalogue.PLOTS, ids=lambda plot: plot.name)
def test_nothing_yet_is_said_in_words(plot: Plot) -> None:
    view = plot.load()(Store())
    drawn(view)
    assert view.notice.empty or view.notice.note


@pytest.mark.parametrize("plot", catalogue.PLOTS, ids=lambda plot: plot.name)
def test_nothing_is_sent_when_nothing_changed(plot: Plot) -> None:
    store = store_of(
        workers=[worker(0, metrics={"event_loop_interval": 0.02})],
        extras={
            **change("fine", FINE),
            **change("system", [system_row(T0), system_row(T0 + 1)]),
            **change("counters", [("transitions", "count", 5.0)]),
            **change("stealing", [(T0, "confirmed", "k", 1, "a", "b", 1.0, 0.0)]),
        },
    )
    view = plot.load()(store)
    document = drawn(view)
    assert sent_by(view, document) == 0


@pytest.mark.parametrize("plot", catalogue.PLOTS, ids=lambda plot: plot.name)
def test_a_dark_look_is_taken_over(plot: Plot) -> None:
    store = store_of(workers=[worker(0)], extras=change("fine", FINE))
    view = plot.load()(store)
    drawn(view)
    view.look = DARK
    view.restyle()


def test_costs_are_summed_by_class_over_functions_and_spans() -> None:
    table = Costs(store_of(extras=change("fine", FINE))).table()
    rows = dict(zip(table.columns["activity"], table.columns["class"], strict=True))
    assert rows["thread-cpu"] == "Computing"
    assert rows["network"] == "Network"
    assert rows["deserialize"] == "(De)serialization"
    assert rows[""] == IDLE


def with_threads(rows: Sequence[Sequence[Any]]) -> Store:
    """Return a store with these fine metrics, where two threads have been there for 10 s."""
    store = Store()
    store.apply(replace(batch(extras=change("fine", rows), time=T0), nthreads=((T0 - 10, 2),)))
    return store


def test_idle_time_is_what_threads_offered_and_no_task_held() -> None:
    store = with_threads(FINE)
    view = Costs(store)
    drawn(view)
    assert 20 <= thread_seconds(store) < 40  # the store's clock goes on
    idle = dict(zip(view.table().columns["activity"], view.table().columns["seconds"], strict=True))
    assert 20 - 9 <= idle[""] < 40 - 9


def test_what_a_shuffle_counts_twice_is_counted_once() -> None:
    rows = [
        ("", "execute", "merge", "p2p-get-output-cpu", "seconds", 5.0),
        ("", "p2p", "foreground", "get-output-cpu", "seconds", 5.0),
        ("", "p2p", "background-comms", "process", "seconds", 9.0),
        ("", "p2p", "background-comms", "send", "seconds", 2.0),
    ]
    columns = Costs(store_of(extras=change("fine", rows))).table().columns
    seconds = dict(zip(columns["class"], columns["seconds"], strict=True))
    assert (seconds["Computing"], seconds["Network"]) == (5.0, 2.0)
    assert "Overhead" not in seconds


def test_the_largest_cost_is_named_with_advice() -> None:
    rows = [("default", "gather-dep", "", "network", "seconds", 90.0), *FINE]
    view = Costs(with_threads(rows))
    view.build()
    assert "Network most" in view._bars.figure.title.text


@pytest.mark.parametrize("activity", ["failed", "cancelled", "missing", "busy"])
def test_every_way_in_which_fetching_data_fails_is_no_activity_of_the_users(activity: str) -> None:
    # All that `WorkerState._finalize_gather_dep` of the engine calls time that came to nothing.
    assert class_of(activity) == "Failed or cancelled"


def test_an_activity_the_engine_does_not_have_is_the_users_own() -> None:
    assert class_of("my own") == "Measured by you"
    assert {class_color(name, DARK) for name in CLASSES}


def names_shown(bars: PartBars) -> list[str]:
    return list(bars.figure.yaxis[0].major_label_overrides.values())


def test_fine_metrics_has_a_bar_for_each_function_and_for_fetching() -> None:
    view = FineMetrics(store_of(extras=change("fine", FINE)))
    drawn(view)
    assert names_shown(view._bars) == ["inc", "Fetching data (gather-dep)", "load"]
    assert list(view._bars.values.model.data["value"]) == ["7.00 s", "3.00 s", "2.00 s"]


def test_fine_metrics_of_one_span_and_unit() -> None:
    view = FineMetrics(store_of(extras=change("fine", FINE)))
    drawn(view)
    view._units.value = "bytes"
    view._spans.value = "part"
    view.update()
    assert names_shown(view._bars) == ["load"]
    assert list(view._bars.parts.model.data["right"]) == [5000.0]


def test_units_of_the_user_are_offered() -> None:
    view = FineMetrics(store_of(extras=change("fine", FINE)))
    drawn(view)
    assert view._units.options == ["seconds", "bytes", "pages"]


def test_a_click_on_a_function_opens_its_profile() -> None:
    view = FineMetrics(store_of(extras=change("fine", FINE)))
    drawn(view)
    view._tapped("inc")
    assert view.opening is not None
    assert (view.opening.plot, dict(view.opening.arguments)) == ("profile", {"prefix": "inc"})


def test_a_click_on_work_of_no_function_opens_nothing() -> None:
    view = FineMetrics(store_of(extras=change("fine", FINE)))
    drawn(view)
    view._tapped("Fetching data (gather-dep)")
    assert view.opening is None


def test_a_busy_scheduler_is_said() -> None:
    rows = [system_row(T0 + i, cpu=97.0) for i in range(20)]
    view = SchedulerSystem(store_of(extras=change("system", rows)))
    drawn(view)
    assert "97 % of a core" in view.notice.note


def test_scheduler_system_appends_what_comes_later() -> None:
    store = store_of(extras=change("system", [system_row(T0)]))
    view = SchedulerSystem(store)
    drawn(view)
    store.apply(batch(extras=change("system", [system_row(T0 + 1, cpu=50.0)])))
    view.update()
    assert view.table().columns["cpu"] == [10.0, 50.0]


def test_contention_shows_scheduler_mean_and_the_slowest_workers() -> None:
    rows = [worker(i, metrics={"event_loop_interval": 0.02 * (i + 1)}) for i in range(12)]
    view = Contention(store_of(workers=rows, extras=change("system", [system_row(T0)])))
    drawn(view)
    shown = names_shown(view._loops)
    assert shown[:3] == ["Scheduler", "Mean of 12 workers", "Worker 11"]
    assert len(shown) == 12
    assert "gilknocker" in view.notice.note
    assert not view._gils.figure.visible


def test_waiting_for_the_interpreter_is_shown_where_it_is_measured() -> None:
    rows = [worker(0, metrics={"event_loop_interval": 0.02, "gil_contention": 0.5})]
    view = Contention(store_of(workers=rows))
    drawn(view)
    assert view._gils.figure.visible
    assert list(view._gils.parts.model.data["right"]) == [50.0, 50.0]


def test_a_late_event_loop_is_told_without_colour_too() -> None:
    view = Contention(store_of(workers=[worker(0, metrics={"event_loop_interval": 0.5})]))
    drawn(view)
    assert "high" in view._loops.values.model.data["value"][0]


def test_counters_grow_by_the_second() -> None:
    store = store_of(extras=change("counters", [("transitions", "count", 100.0)]), time=T0)
    view = Counters(store)
    drawn(view)
    store.apply(batch(extras=change("counters", [("transitions", "count", 150.0)]), time=T0 + 5))
    view.update()
    assert view._table.source.data["growth"][0] == pytest.approx(10, rel=0.05)


def steals() -> Mapping[str, ExtraChange]:
    a, b = "tcp://10.0.0.0:4000", "tcp://10.0.0.1:4000"
    return change(
        "stealing",
        [
            (T0, "request", "x", 1, a, b, 2.0, 0.0),
            (T0 + 0.1, "confirmed", "x", 1, a, b, 2.0, 0.0),
            (T0 + 3, "confirmed", "y", 1, a, b, 2.0, 0.0),
        ],
    )


def test_stealing_counts_confirmed_moves_by_worker() -> None:
    view = Stealing(store_of(workers=[worker(0), worker(1)], extras=steals()))
    drawn(view)
    assert set(names_shown(view._bars)) == {"Worker 0", "Worker 1"}
    assert set(view._bars.values.model.data["value"]) == {"gave 2, took 0", "gave 0, took 2"}


def test_a_click_on_a_worker_opens_its_page() -> None:
    view = Stealing(store_of(workers=[worker(0), worker(1)], extras=steals()))
    drawn(view)
    picture, row = view._bars.figure, names_shown(view._bars).index("Worker 1")
    picture._trigger_event(Tap(picture, x=0.1, y=row))  # what the server does with a click
    assert view.opening is not None
    assert dict(view.opening.arguments) == {"worker": "tcp://10.0.0.1:4000"}


def shuffle_row(shuffle: str, number: int, sent: float) -> tuple[Any, ...]:
    buffers = (sent, sent, sent / 2, 10.0, 100.0, sent, sent / 4, 0.0, 20.0, NAN)
    return (shuffle, f"tcp://10.0.0.{number}:4000", *buffers, T0)


def test_the_newest_shuffle_is_shown_busiest_worker_first() -> None:
    rows = [
        shuffle_row("old", 0, 9.0),
        shuffle_row("new", 0, 1000.0),
        shuffle_row("new", 1, 4000.0),
    ]
    store = store_of(workers=[worker(0), worker(1)], extras=change("shuffles", rows))
    view = Shuffle(store)
    drawn(view)
    assert names_shown(view._moved) == ["Worker 1", "Worker 0"]
    view._choice.value = "old"
    view.update()
    assert names_shown(view._moved) == ["Worker 0"]


def test_hardware_measures_only_when_asked() -> None:
    now = [50.0]
    store = store_of(workers=[worker(0)])
    store.inquiries = Inquiries(lambda: now[0])
    asked: list[Inquiry] = []
    store.inquiries.on_ask = asked.append
    view = Hardware(store)
    drawn(view)
    assert asked == []
    assert view.notice.note == UNASKED
    view._measure()
    view.update()
    assert [inquiry.kind for inquiry in asked] == ["hardware"]
    assert view._button.label == MEASURING
    assert "0 s so far" in view.notice.note
    before = view.is_behind
    now[0] += 3.5
    assert (before, view.is_behind) == (False, True)
    view.update()
    assert "3 s so far" in view.notice.note
    answer = {"memory": [{"size": "2 kB", "rate": 2e9}], "disk": [], "network": []}
    store.answer(asked[0], answer)
    view.update()
    assert list(view._bars["memory"].parts.model.data["right"]) == [2e9]
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
    answer = {"memory": [{"size": "2 kB", "rate": 2e9}], "disk": [], "network": []}
    store.answer(asked[0], answer)
    assert Hardware(store).table().columns["rate"] == [2e9]
    assert len(asked) == 1


SIZES = ("1 kiB", "10 kiB", "100 kiB", "1 MiB", "10 MiB", "50 MiB")


@pytest.mark.parametrize(
    ("pane", "is_row", "left_out"),
    [
        ((860, 170), True, ""),
        ((860, 600), False, ""),
        ((400, 300), False, "no room for 9 bars"),
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


def test_hardware_says_why_nothing_was_measured() -> None:
    store, view, asked = measuring()
    store.fail(asked[0], "the scheduler forbids it.")
    view.update()
    assert "forbids" in view.notice.note


def test_bars_that_do_not_fit_are_one_with_their_sum() -> None:
    bars = PartBars(DARK, NUMBER)
    made = [Bar(f"name {i}", [Part(1.0, "#123456")]) for i in range(500)]
    bars.draw("many", made)
    assert bars.hidden > 0
    assert sum(bars.parts.model.data["right"]) == pytest.approx(500)


def test_bars_that_cannot_be_added_up_are_left_out_and_counted() -> None:
    bars = PartBars(DARK, NUMBER, is_sum=False)
    bars.draw("many", [Bar(f"name {i}", [Part(1.0, "#123456")]) for i in range(500)])
    assert bars.hidden == 500 - len(names_shown(bars))
    assert set(bars.parts.model.data["right"]) == {1.0}


def test_hardware_does_not_measure_where_a_worker_has_no_room() -> None:
    store = store_of(workers=[worker(0), worker(1, memory_limit=512 << 20, managed=300 << 20)])
    asked: list[Inquiry] = []
    store.inquiries.on_ask = asked.append
    view = Hardware(store)
    drawn(view)
    view._measure()
    view.update()
    assert asked == []
    assert "1 (212 MiB free)" in view.notice.note
