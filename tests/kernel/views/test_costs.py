"""Where time goes: the costs of a cluster, and the fine metrics they are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from dask_diag_lab.store import Store
from dask_diag_lab.views.look import DARK
from dask_diag_lab.views.scheduler.activities import CLASSES, MEMORY, class_color, class_of
from dask_diag_lab.views.scheduler.costs import IDLE, Costs, headlines, thread_seconds
from dask_diag_lab.views.scheduler.fine_metrics import FineMetrics
from tests.kernel.views.scheduler_tables import FINE, T0, change, drawn, names_shown
from tests.kernel.views.situations import batch, store_of, worker


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


@pytest.mark.parametrize(("processing", "is_idle_named"), [(0, False), (1, True)])
def test_threads_without_work_are_the_headline_only_while_tasks_run(
    processing: int, is_idle_named: bool
) -> None:
    store = with_threads(FINE)
    view = Costs(store)
    drawn(view)
    store.apply(batch(workers=[worker(0, processing=processing)], time=T0 + 1))
    view.update()
    said = view._bars.figure.title.text
    assert said.startswith(f"{IDLE} most: ") is is_idle_named
    assert said.startswith("Nothing runs now. Computing most of what ran: ") is not is_idle_named
    assert IDLE in names_shown(view._bars)


@pytest.mark.parametrize(
    ("width", "said"),
    [
        (700, "Idle threads most: threads have nothing to do: too few tasks, or they wait for"),
        (600, "Idle threads most: too few tasks, or they wait for each other"),
        (420, "Idle threads: too few tasks, or they wait for each other"),
        (300, "Too few tasks, or they wait"),
    ],
)
def test_advice_is_the_last_to_go_from_the_headline(width: int, said: str) -> None:
    store = with_threads(FINE)
    store.apply(batch(workers=[worker(0, processing=1)], time=T0 + 1))
    view = Costs(store)
    view.build()
    view._bars.figure.set_from_json("outer_width", width)  # as a browser reports them
    view._bars.figure.set_from_json("outer_height", 400)
    view.update()
    assert view._bars.figure.title.text.startswith(said)


def test_what_cannot_be_helped_is_told_without_advice() -> None:
    assert headlines(MEMORY, "Copying in memory most")[:2] == [
        "Copying in memory most: data is copied much",
        "Copying in memory most: data is copied much",
    ]


MANY = [
    ("default", "execute", "inc", "thread-cpu", "seconds", 0.5),
    ("default", "execute", "inc", "thread-noncpu", "seconds", 0.1),
    ("default", "gather-dep", "", "network", "seconds", 0.2),
    ("default", "execute", "inc", "deserialize", "seconds", 0.3),
    ("default", "execute", "inc", "disk-read", "seconds", 0.4),
    ("default", "execute", "inc", "memory-read", "seconds", 0.05),
    ("default", "execute", "inc", "other", "seconds", 6.0),
]


def test_smallest_costs_are_one_bar_with_its_number_where_there_is_no_room_for_all() -> None:
    view = Costs(with_threads(MANY))
    view.build()
    view._bars.figure.set_from_json("outer_width", 420)  # as a browser reports them
    view._bars.figure.set_from_json("outer_height", 140)
    view.update()
    names = ["Computing", "Disk", "Overhead", IDLE, "4 others"]
    assert names_shown(view._bars) == names
    assert "Overhead most of what ran" in view._bars.figure.title.text
    said = dict(zip(names, view._bars.values.model.data["value"], strict=True))
    assert said["4 others"].startswith("650 ms · ")
    hover = view._bars.parts.model.data["hover2"][-1]
    assert hover == "(De)serialization, Network, Waiting in tasks, Copying in memory"


@pytest.mark.parametrize("activity", ["failed", "cancelled", "missing", "busy"])
def test_every_way_in_which_fetching_data_fails_is_no_activity_of_the_users(activity: str) -> None:
    # All that `WorkerState._finalize_gather_dep` of the engine calls time that came to nothing.
    assert class_of(activity) == "Failed or cancelled"


def test_an_activity_the_engine_does_not_have_is_the_users_own() -> None:
    assert class_of("my own") == "Measured by you"
    assert {class_color(name, DARK) for name in CLASSES}


def test_fine_metrics_has_a_bar_for_each_function_and_for_fetching() -> None:
    view = FineMetrics(store_of(extras=change("fine", FINE)))
    drawn(view)
    assert names_shown(view._bars) == ["inc", "Fetching data (gather-dep)", "load"]
    assert list(view._bars.values.model.data["value"]) == ["7.00 s", "3.00 s", "2.00 s"]


def test_fine_metrics_of_one_span_and_unit() -> None:
    view = FineMetrics(store_of(extras=change("fine", FINE)))
    drawn(view)
    assert "of this name" not in view.notice.note
    view._units.value = "bytes"
    view._spans.value = "part"
    view.update()
    assert "all spans of this name together" in view.notice.note
    assert names_shown(view._bars) == ["load"]
    assert list(view._bars.parts.model.data["right"]) == [5000.0]


def test_a_span_is_said_to_be_without_those_inside_it() -> None:
    inner = ("part > more", "execute", "load", "thread-cpu", "seconds", 2.0)
    view = FineMetrics(store_of(extras=change("fine", [*FINE, inner])))
    drawn(view)
    view._spans.value = "part > more"
    view.update()
    assert "inside" not in view.notice.note
    view._spans.value = "part"
    view.update()
    assert "all spans of this name together, without those inside them" in view.notice.note


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
