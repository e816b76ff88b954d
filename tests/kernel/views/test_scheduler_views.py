"""The plots of the scheduler, fed with tables as the collector sends them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest
from bokeh.document import Document
from bokeh.document.events import DocumentChangedEvent, ModelChangedEvent
from bokeh.events import Tap
from bokeh.models import FixedTicker

from dask_diag_lab.records import ExtraChange
from dask_diag_lab.store import Store
from dask_diag_lab.views.base import View
from dask_diag_lab.views.catalogue import scheduler as catalogue
from dask_diag_lab.views.format import clock
from dask_diag_lab.views.look import DARK
from dask_diag_lab.views.plot import Plot
from dask_diag_lab.views.scheduler.contention import Contention
from dask_diag_lab.views.scheduler.counters import Counters
from dask_diag_lab.views.scheduler.scheduler_system import SchedulerSystem
from dask_diag_lab.views.scheduler.shuffle import Shuffle
from dask_diag_lab.views.scheduler.stealing import Stealing
from tests.kernel.views.scheduler_tables import FINE, T0, change, drawn, names_shown
from tests.kernel.views.situations import batch, store_of, worker

NAN = float("nan")


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
    assert shown[:3] == ["Scheduler", "Mean of 12 workers", "worker 11"]
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


def counted(store: Store, transitions: float, time: float) -> None:
    """Have a store told of the scheduler's transitions at this time."""
    rows = [("transitions", "count", transitions)]
    store.apply(batch(extras=change("counters", rows), time=time))


def growth(view: Counters) -> float:
    view.update()
    return float(view._table.source.data["growth"][0])


def test_counters_grow_by_the_second() -> None:
    store = Store(clock=lambda: 0.0)
    counted(store, 100, T0)
    view = Counters(store)
    drawn(view)
    assert math.isnan(growth(view))
    assert "how fast they grow takes two readings" in view.notice.note
    counted(store, 150, T0 + 5)
    assert growth(view) == pytest.approx(10)
    assert view.notice.note == "1 counter since the scheduler began"


def test_counters_of_a_scheduler_that_is_gone_do_not_grow() -> None:
    store = Store(clock=lambda: 0.0)
    counted(store, 100, T0)
    view = Counters(store)
    drawn(view)
    counted(store, 150, T0 + 5)
    assert growth(view) == pytest.approx(10)
    store.set_feed_state("lost", "The scheduler is gone.", 1.0)
    assert math.isnan(growth(view))


def test_counters_are_not_compared_with_what_somebody_saw_long_ago() -> None:
    now = 0.0
    store = Store(clock=lambda: now)
    counted(store, 100, T0)
    now = 420.0
    view = Counters(store)
    drawn(view)
    assert math.isnan(growth(view))
    assert f"as of {clock(T0)}" in view.notice.note
    counted(store, 84_100, T0 + 420)
    assert math.isnan(growth(view))
    assert "as of" not in view.notice.note
    counted(store, 84_200, T0 + 420.5)
    assert growth(view) == pytest.approx(200)


def test_a_look_of_moments_ago_is_compared_with_at_its_own_time() -> None:
    now = 0.0
    store = Store(clock=lambda: now)
    counted(store, 100, T0)
    now = 4.0
    view = Counters(store)
    drawn(view)
    counted(store, 300, T0 + 4)
    assert growth(view) == pytest.approx(50)


def test_a_new_look_is_no_new_reading_of_counters() -> None:
    store = Store(clock=lambda: 0.0)
    counted(store, 100, T0)
    view = Counters(store)
    drawn(view)
    counted(store, 150, T0 + 5)
    before = growth(view)
    store.apply(batch(time=T0 + 7))
    view.look = DARK
    view.restyle()
    assert growth(view) == before


def test_counters_of_another_scheduler_are_not_said_to_shrink() -> None:
    store = Store(clock=lambda: 0.0)
    counted(store, 100, T0)
    view = Counters(store)
    drawn(view)
    counted(store, 20, T0 + 5)
    assert math.isnan(growth(view))


def test_the_table_of_counters_says_nothing_of_their_growth() -> None:
    view = Counters(store_of(extras=change("counters", [("transitions", "count", 5.0)])))
    drawn(view)
    assert view.table().columns["value"] == [5.0]
    assert view.notice.note == "1 counter since the scheduler began"


def steals(since: float = T0) -> Mapping[str, ExtraChange]:
    a, b = "tcp://10.0.0.0:4000", "tcp://10.0.0.1:4000"
    return change(
        "stealing",
        [
            (since, "request", "x", 1, a, b, 2.0, 0.0),
            (since + 0.1, "confirmed", "x", 1, a, b, 2.0, 0.0),
            (since + 3, "confirmed", "y", 1, a, b, 2.0, 0.0),
        ],
    )


def test_stealing_counts_confirmed_moves_by_worker() -> None:
    view = Stealing(store_of(workers=[worker(0), worker(1)], extras=steals()))
    drawn(view)
    assert set(names_shown(view._bars)) == {"worker 0", "worker 1"}
    assert set(view._bars.values.model.data["value"]) == {"gave 2, took 0", "gave 0, took 2"}


def test_stealing_says_what_its_lines_and_figures_are() -> None:
    rows = [
        (T0, "request", "x", 1, "a", "b", 2.0, 0.0),
        (T0, "request", "y", 1, "a", "b", 2.0, 0.0),
        (T0, "confirmed", "x", -1, "a", "b", NAN, NAN),
        (T0, "already-computing", "y", -1, "a", "b", NAN, NAN),
    ]
    view = Stealing(store_of(workers=[worker(0)], extras=change("stealing", rows)))
    drawn(view)
    assert view.notice.note == "1 moved (solid); 2 asked for, 1 in vain (dashed)"


@pytest.mark.parametrize("height", [90, 150, 210, 420])
@pytest.mark.parametrize("width", [200, 420, 1900])
def test_axes_of_tasks_have_whole_numbers_alone(width: int, height: int) -> None:
    view = Stealing(store_of(workers=[worker(0), worker(1)], extras=steals()))
    drawn(view)
    for figure in (view._series.model, view._bars.figure):
        figure.set_from_json("outer_width", width)
        figure.set_from_json("outer_height", height)
    view.update()
    for axis in (view._series.model.yaxis[0], view._bars.figure.xaxis[0]):
        assert isinstance(axis.ticker, FixedTicker)
        assert len(axis.ticker.ticks) > 1
        assert all(float(tick).is_integer() for tick in axis.ticker.ticks)


def test_ticks_that_stay_the_same_are_not_sent_again() -> None:
    store = store_of(workers=[worker(0), worker(1)], extras=steals())
    view = Stealing(store)
    document, events = drawn(view), list[DocumentChangedEvent]()
    document.on_change(events.append)
    store.apply(batch(extras=steals(T0 + 1)))
    view.update()
    assert events
    ticker = view._series.model.yaxis[0].ticker
    assert ticker not in [e.model for e in events if isinstance(e, ModelChangedEvent)]


def test_workers_take_the_height_that_they_need_from_the_moves_over_time() -> None:
    rows = [(T0, "confirmed", f"k-{at}", 1, f"w{at}", "w0", 1.0, 0.0) for at in range(1, 6)]
    view = Stealing(store_of(workers=[worker(0)], extras=change("stealing", rows)))
    drawn(view)
    figures = (view._series.model, view._bars.figure)
    heights = [125, 125]
    for _ in range(4):  # as the page does: heights follow from how they are shared
        for figure, height in zip(figures, heights, strict=True):
            figure.set_from_json("outer_width", 400)
            figure.set_from_json("outer_height", height)
        view.update()
        styles = [figure.styles for figure in figures]
        shares = [int(str(each["flex"]).split()[0]) for each in styles if isinstance(each, dict)]
        heights = [250 * share // sum(shares) for share in shares]
    assert sum(heights) == 250
    assert heights[0] >= 100
    assert view._bars.hidden == 0
    assert len(names_shown(view._bars)) == 6


def test_a_click_on_a_worker_opens_its_page() -> None:
    view = Stealing(store_of(workers=[worker(0), worker(1)], extras=steals()))
    drawn(view)
    picture, row = view._bars.figure, names_shown(view._bars).index("worker 1")
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
    assert names_shown(view._moved) == ["worker 1", "worker 0"]
    view._choice.value = "old"
    view.update()
    assert names_shown(view._moved) == ["worker 0"]


def test_a_shuffle_says_what_is_striped() -> None:
    rows = [shuffle_row("one", 0, 4096.0)]
    view = Shuffle(store_of(workers=[worker(0)], extras=change("shuffles", rows)))
    drawn(view)
    title = "4.00 KiB sent (striped: received), 1.00 KiB written to disk (striped: read)"
    assert view._moved.figure.title.text == title
