"""Task Group Progress: threads at work by prefix and time, cheap to keep, never standing still."""

from __future__ import annotations

import numpy as np
import pytest
from bokeh.models import CompositeTicker

from benchmarks.simulator import Simulation
from dask_diag_lab.records import Kind, Outcome
from dask_diag_lab.store import Store
from dask_diag_lab.views.look import DARK, LIGHT, Look
from dask_diag_lab.views.palette import prefix_color
from dask_diag_lab.views.tail_source import TailSource
from dask_diag_lab.views.tasks import group_progress, thread_ends, thread_history, thread_layers
from dask_diag_lab.views.tasks.group_progress import TaskGroupProgress
from dask_diag_lab.views.tasks.thread_bins import MAX_BINS, ThreadBins
from dask_diag_lab.views.tasks.thread_ends import ThreadEnds
from dask_diag_lab.views.tasks.thread_layers import Layers, hover_words
from dask_diag_lab.views.time_axis import ticks_that_fit
from tests.kernel.store.batches import T0
from tests.kernel.views.conftest import Feed
from tests.kernel.views.situations import Page, served

RUNNING = ("inc-a", "tcp://w0:1", "inc", 0.0)
"""A task that has been running since `T0`."""


def thread_seconds(view: TaskGroupProgress) -> dict[str, float]:
    """Return the sum over time of what is stacked, by prefix."""
    layers = view.layers()
    sums = (layers.threads * np.diff(layers.edges)).sum(axis=1)
    return dict(zip(layers.names, sums.tolist(), strict=True))


def test_seconds_are_shared_out_exactly() -> None:
    random = np.random.default_rng(1)
    start = 1000.0 + random.uniform(0, 100, 500)
    stop = start + random.exponential(3.0, 500)
    prefix = random.integers(5, 9, 500)
    bins = ThreadBins()
    for part in np.array_split(np.arange(500), 7):
        bins.add(prefix[part], start[part], stop[part])
    assert bins.seconds.shape[1] <= MAX_BINS
    assert bins.seconds.sum() == pytest.approx((stop - start).sum())
    for row, number in enumerate(bins.prefixes):
        of_prefix = prefix == number
        expected = [
            np.clip(np.minimum(stop, right) - np.maximum(start, left), 0, None)[of_prefix].sum()
            for left, right in zip(bins.edges[:-1], bins.edges[1:], strict=True)
        ]
        np.testing.assert_allclose(bins.seconds[row], expected, atol=1e-6)


def test_one_thread_is_never_two_though_the_clock_of_its_worker_is_believed_to_jump(
    feed: Feed,
) -> None:
    """Workers add what heartbeats tell of their clock: tasks one after the other overlap."""
    random = np.random.default_rng(2)
    for beat in range(80):
        shift = random.choice([0.0, 0.03])
        for start in beat * 0.5 + shift + np.arange(10) * 0.05:
            for thread in (1, 2, 3):
                feed.maker.action(start, start + 0.05, thread=thread)
        feed.send(beat * 0.5 + 0.5)
    view = TaskGroupProgress(feed.store)
    Page(view)
    threads = view.layers().threads
    assert threads.max() <= 3 + 1e-6
    assert threads[0, 1:-2].mean() > 2.9


def test_all_that_ended_after_now_is_of_the_last_step(feed: Feed) -> None:
    """The clock of a worker may be ahead of the scheduler's."""
    width_s = ThreadBins().width_s
    now = np.ceil(T0 / width_s) * width_s + width_s + 0.001 - T0
    feed.maker.action(0, now + 0.04, thread=2)
    feed.send(now, running=[RUNNING])
    view = TaskGroupProgress(feed.store)
    Page(view)
    assert view.layers().threads.sum(axis=0).max() <= 2 + 1e-6


def test_tasks_of_unknown_threads_and_those_that_come_late_stay_as_they_are() -> None:
    ends, one = ThreadEnds(), np.ones(1, np.int64)
    assert ends.cut(one, one, np.array([10.0]), np.array([20.0])) == 10.0
    assert ends.cut(one, one, np.array([19.5]), np.array([21.0])) == 20.0
    assert ends.cut(one, one, np.array([1.0]), np.array([2.0])) == 1.0
    assert ends.cut(one, 2 * one, np.array([19.5]), np.array([21.0])) == 19.5
    assert ends.cut(one, 0 * one, np.array([19.5]), np.array([21.0])) == 19.5
    assert ends.cut(one, 0 * one, np.array([19.5]), np.array([21.0])) == 19.5


def test_ends_of_threads_that_are_gone_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thread_ends, "MOST_THREADS", 100)
    ends, one = ThreadEnds(), np.ones(1, np.int64)
    for number in range(1, 1000):
        thread, at = np.array([number]), np.array([float(number)])
        ends.cut(one, thread, at, at + 1)
    assert ends.cut(one, 999 * one, np.array([999.5]), np.array([1000.5])) == 1000.0
    assert ends.cut(one, one, np.array([1.5]), np.array([2.5])) == 1.5


@pytest.mark.parametrize(
    ("size", "shown"),
    [((200, 200), (True, False)), ((400, 200), (True, True)), ((200, 100), (False, False))],
)
def test_a_narrow_pane_keeps_its_times(
    feed: Feed, size: tuple[int, int], shown: tuple[bool, bool]
) -> None:
    feed.maker.action(0, 10)
    feed.send(10.0)
    page = Page(TaskGroupProgress(feed.store), *size)
    assert (page.plot.xaxis[0].visible, page.plot.yaxis[0].visible) == shown


def test_what_comes_late_and_lies_before_all_else_is_added() -> None:
    bins = ThreadBins()
    bins.add(np.array([1]), np.array([100.0]), np.array([101.0]))
    bins.add(np.array([1]), np.array([40.0]), np.array([41.0]))
    assert bins.seconds.sum() == pytest.approx(2.0)
    assert bins.edges[0] <= 40.0
    assert bins.seconds.shape[1] <= MAX_BINS


def test_a_task_of_years_is_merged_not_a_matrix_of_years() -> None:
    bins = ThreadBins()
    bins.add(np.array([1, 1]), np.array([0.0, 1e8]), np.array([1.0, 1e8 + 1]))
    assert bins.seconds.shape[1] <= MAX_BINS
    assert bins.seconds.sum() == pytest.approx(2.0)


def test_areas_are_not_painted_before_they_have_points(feed: Feed) -> None:
    """BokehJS would paint them for ever."""
    view = TaskGroupProgress(feed.store)
    page = Page(view)
    assert not any(area.visible for area in view._areas)
    feed.maker.action(0, 1)
    feed.send(1)
    page.sent()
    assert all(area.visible for area in view._areas)


def test_threads_are_those_that_computed(feed: Feed) -> None:
    feed.maker.action(0, 4).action(1, 5, thread=2)
    feed.maker.action(0, 5, kind=Kind.TRANSFER)
    feed.send(6.0)
    view = TaskGroupProgress(feed.store)
    Page(view)
    assert thread_seconds(view) == {"inc": pytest.approx(8.0)}
    assert view.layers().threads.max() == pytest.approx(2.0)


def test_running_tasks_count_as_far_as_they_have_come_and_the_picture_goes_on(feed: Feed) -> None:
    feed.send(10.0, running=[RUNNING])
    view = TaskGroupProgress(feed.store)
    page = Page(view)
    assert thread_seconds(view) == {"inc": pytest.approx(10.0)}
    assert page.sent() == []
    feed.now += 30.0
    assert page.sent()
    assert thread_seconds(view) == {"inc": pytest.approx(40.0)}


def test_a_task_that_ends_replaces_what_ran(feed: Feed) -> None:
    feed.send(10.0, running=[RUNNING])
    view = TaskGroupProgress(feed.store)
    page = Page(view)
    feed.maker.action(0, 12, key="inc-a")
    feed.send(12.5, running=[])
    page.sent()
    assert thread_seconds(view) == {"inc": pytest.approx(12.0)}


def test_killed_task_occupied_its_thread(feed: Feed) -> None:
    feed.maker.action(0, 5, outcome=Outcome.KILLED)
    feed.send(6.0)
    view = TaskGroupProgress(feed.store)
    Page(view)
    assert thread_seconds(view) == {"inc": pytest.approx(5.0)}


def test_line_of_threads_follows_the_cluster(feed: Feed) -> None:
    feed.maker.action(0, 10)
    feed.send(10.0, nthreads=[(T0 - 5, 2), (T0 + 4, 6)])
    view = TaskGroupProgress(feed.store)
    page = Page(view)
    data = view.line.model.data
    assert list(data["threads"]) == [2, 6, 6]
    assert view._y.end == pytest.approx(6 * 1.04)
    assert page.title == "Task group progress: 1 of 6 threads computing now"


def test_title_says_how_many_threads_compute_now(feed: Feed) -> None:
    feed.maker.action(0, 3).action(0, 3, thread=2)
    feed.send(10, running=[RUNNING], nthreads=[(T0, 4)])
    page = Page(TaskGroupProgress(feed.store))
    assert page.title == "Task group progress: 1 of 4 threads computing now"
    feed.send(11, running=[])
    page.sent()
    assert page.title == "Task group progress: 0 of 4 threads computing now"


def test_threads_with_tasks_too_short_for_a_heartbeat_count(feed: Feed) -> None:
    for i in range(100):
        start = i / 50
        feed.maker.action(start, start + 0.0198).action(start, start + 0.0199, thread=2)
    feed.send(2.0, nthreads=[(T0, 4)])
    page = Page(TaskGroupProgress(feed.store))
    assert page.title.endswith("2 of 4 threads computing now")
    feed.now += 1.5
    page.sent()
    assert page.title.endswith("0 of 4 threads computing now")


def test_legend_names_the_areas_in_their_colours(feed: Feed) -> None:
    feed.maker.action(0, 1, prefix="a").action(0, 2, prefix="b", thread=2)
    feed.send(2.0)
    view = TaskGroupProgress(feed.store)
    page = Page(view)
    data = view.legend.names.model.data
    assert data["label"] == ["a", "b"]
    assert data["color"] == [area.glyph.fill_color for area in view._areas[:2]]
    assert page.plot.legend[0].visible
    page.resize(420, 150)
    assert not page.plot.legend[0].visible


def test_legend_of_a_narrow_pane_names_the_largest_and_counts_the_others(feed: Feed) -> None:
    for i in range(30):
        feed.maker.action(0, 1 + i, prefix=f"prefix-number-{i}", thread=i)
    feed.send(40.0)
    view = TaskGroupProgress(feed.store)
    Page(view, 420, 300)
    assert view.legend.names.model.data["label"] == [
        "prefix-number-28",
        "prefix-number-29",
        "+ 11 more",
    ]


def test_ticks_are_those_that_fit_into_the_time_that_is_drawn(feed: Feed) -> None:
    feed.maker.action(0, 10)
    feed.send(10.0)
    view, width = TaskGroupProgress(feed.store), 400
    page = Page(view, width, 420)
    before = ticks_that_fit(view._time.start, view._time.end, width)
    feed.maker.action(10, 4000)
    feed.send(4000.0)
    page.sent()
    fitting = ticks_that_fit(view._time.start, view._time.end, width)
    assert fitting != before
    ticker = view.figure.xaxis[0].ticker
    assert isinstance(ticker, CompositeTicker)
    assert ticker.desired_num_ticks == fitting


def test_many_prefixes_share_one_layer_and_the_plot_says_so(feed: Feed) -> None:
    for i in range(30):
        feed.maker.action(0, 1 + i, prefix=f"p{i}", thread=i)
    feed.send(40.0)
    view = TaskGroupProgress(feed.store)
    Page(view)
    layers = view.layers()
    assert len(layers.names) == 13
    assert sum(thread_seconds(view).values()) == pytest.approx(sum(range(1, 31)))
    assert "18 smaller prefixes in one grey area" in view.notice.note


@pytest.mark.parametrize("look", [LIGHT, DARK, Look(palette="okabe-ito")])
def test_colours_are_those_of_the_prefixes(feed: Feed, look: Look) -> None:
    feed.maker.action(0, 1, prefix="a").action(0, 1, prefix="b", thread=2)
    feed.send(2.0)
    view = TaskGroupProgress(feed.store, look)
    Page(view)
    expected = [prefix_color(feed.store.palette.index(name), look) for name in ("a", "b")]
    assert [area.glyph.fill_color for area in view._areas[:2]] == expected


def test_words_of_what_did_not_change_are_not_made_again_and_all_are_those_of_now(
    feed: Feed, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []

    def noted(layers: Layers, index: int) -> list[str]:
        made.append(index)
        return hover_words(layers, index)

    monkeypatch.setattr(thread_layers, "hover_words", noted)
    view = TaskGroupProgress(feed.store)
    Page(view)
    counts = []
    for second in range(0, 40, 2):
        feed.maker.action(second, second + 1, prefix=f"p{second // 8}")
        feed.send(second + 1.5)
        made.clear()
        view.update()
        counts.append(len(made))
        n_bins = view.layers().threads.shape[1]
        now = [hover_words(view.layers(), index) for index in range(n_bins)]
        assert view._words.of(view.layers()) == now
    assert min(counts[1:]) < n_bins / 2


def test_no_tasks_are_explained(feed: Feed) -> None:
    page = Page(TaskGroupProgress(feed.store))
    assert page.view.notice.empty.startswith("No task has run yet")


def test_table_has_threads_by_time_and_prefix(feed: Feed) -> None:
    feed.maker.action(0, 1, prefix="a")
    feed.send(2.0)
    table = TaskGroupProgress(feed.store).table()
    assert set(table.columns["prefix"]) == {"a"}
    assert len(table.columns["start"]) == len(table.columns["threads"]) > 0


def test_only_the_end_is_sent() -> None:
    source = TailSource("x", "text")
    source.set({"x": np.arange(100.0), "text": ["a"] * 100})
    source.sent_rows = 0
    source.set({"x": np.arange(102.0), "text": ["a"] * 99 + ["b"] * 3})
    assert source.sent_rows == 3
    assert source.model.data["text"] == ["a"] * 99 + ["b"] * 3
    assert list(source.model.data["x"]) == list(np.arange(102.0))
    assert not source.set({"x": np.arange(102.0), "text": ["a"] * 99 + ["b"] * 3})


def test_what_cannot_be_seen_is_not_sent_and_does_not_add_up() -> None:
    source = TailSource("x", tolerance=0.1)
    source.set({"x": np.zeros(10)})
    assert not source.set({"x": np.full(10, 0.09)})
    assert source.set({"x": np.full(10, 0.18)})
    assert not TailSource("x", tolerance=0.1).set({"x": np.empty(0)})
    exact = TailSource("x")
    exact.set({"x": np.zeros(10)})
    assert exact.set({"x": np.full(10, 1e-12)})


@pytest.fixture
def long_history(monkeypatch: pytest.MonkeyPatch) -> Store:
    """Return a store of which a page reads 500 actions at a time."""
    monkeypatch.setattr(thread_history, "ROWS_AT_ONCE", 500)
    monkeypatch.setattr(group_progress, "READ_S", 0.0)
    store = Store()
    for batch in Simulation(4, 4, 2000).batches():
        store.apply(batch)
    return store


def opened(store: Store) -> TaskGroupProgress:
    """Return a view as the server has it."""
    return served(TaskGroupProgress(store))


def test_a_long_history_is_read_in_pieces_and_said_to_be(long_history: Store) -> None:
    whole = TaskGroupProgress(long_history)
    Page(whole)  # in a document that nobody serves: all at once
    view = opened(long_history)
    n_reads = 2
    while view.is_behind:
        assert "reading the history" in view.notice.note
        view.update()
        n_reads += 1
    assert n_reads == -(-long_history.actions.total // 500)
    assert "reading" not in view.notice.note
    assert thread_seconds(view) == pytest.approx(thread_seconds(whole))
