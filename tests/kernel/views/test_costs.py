"""Where time goes: the costs of a cluster, and the fine metrics they are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dask_diag_lab.schema import Kind
from dask_diag_lab.store import LiveSession
from dask_diag_lab.views.scheduler.costs import IDLE, OWN, Costs, FineMetrics, class_of
from dask_diag_lab.views.view import Opening
from tests.kernel.store.batches import T0, BatchMaker
from tests.kernel.views.drawn import Drawn
from tests.kernel.views.scheduler_tables import FINE, change
from tests.kernel.views.situations import batch, session_of, worker


def with_threads(
    rows: Sequence[Sequence[Any]] = FINE, processing: int = 0, held_s: float = 7.0
) -> LiveSession:
    """Return a session with these fine metrics, two threads for an hour, held for some of 20 s."""
    live, maker = LiveSession(), BatchMaker()
    maker.action(0, held_s).action(0, 20, kind=Kind.TRANSFER)
    live.apply(maker.batch(nthreads=((T0 - 1800, 2),), began=T0 - 900))
    tables: dict[str, Any] = {  # rows hold many types
        "workers": [worker(0, processing=processing)],
        "extras": change("activities", [row[1:] for row in rows]),
    }
    live.apply(replace(batch(time=T0 + 1800, **tables), epoch=maker.epoch))
    return live


def seconds_of(view: Costs, by: str = "class") -> dict[str, float]:
    """Return the seconds of the table."""
    columns = view.table().columns
    return dict(zip(columns[by], columns["seconds"], strict=True))


def test_costs_are_summed_by_class_over_functions_and_spans() -> None:
    shown = Drawn(Costs(with_threads()))
    assert shown.data["class"] == [
        "Computing",
        "Waiting in tasks",
        "(De)serialization",
        IDLE,
        "Network, in the background",
    ]
    assert shown.data["seconds"] == pytest.approx([6, 1, 2, 40 - 9, 3])
    assert shown.data["Network"] == [0, 0, 0, 0, 3]
    assert shown.data["most"][4] == "network in gather-dep 3.00 s"
    assert shown.data["offered"][:4] == pytest.approx([40] * 4)
    assert np.isnan(shown.data["offered"][4])


@pytest.mark.parametrize(
    ("held_s", "expected"), [(4, [4, 0, 34]), (6.5, [6, 0.5, 31.5]), (14, [12, 2, 24])]
)
def test_tasks_take_no_more_and_no_less_than_the_time_for_which_they_held_threads(
    held_s: float, expected: list[float]
) -> None:
    costs = seconds_of(Costs(with_threads(held_s=held_s)))
    found = [costs[name] for name in ("Computing", "Waiting in tasks", IDLE)]
    assert found == pytest.approx(expected)


def test_both_ends_of_a_transfer_are_one_cost() -> None:
    ends = [("", "get-data", "", "network", "seconds", 2.9), *FINE]
    assert seconds_of(Costs(with_threads(ends)))["Network, in the background"] == 3.0


def test_what_a_shuffle_counts_twice_is_counted_once() -> None:
    rows = [
        ("", "execute", "merge", "p2p-get-output-cpu", "seconds", 5.0),
        ("", "p2p", "foreground", "get-output-cpu", "seconds", 5.0),
        ("", "p2p", "background-comms", "process", "seconds", 9.0),
        ("", "p2p", "background-comms", "send", "seconds", 2.0),
    ]
    seconds = seconds_of(Costs(with_threads(rows, held_s=5)))
    assert seconds["Computing"] == pytest.approx(5.0)
    assert seconds["Network, in the background"] == 2.0
    assert "Overhead" not in seconds


@pytest.mark.parametrize(
    ("processing", "expected"),
    [
        (0, "Computing most: tasks use the CPU"),
        (1, "Idle threads most: threads have nothing to do"),
    ],
)
def test_threads_without_work_are_the_headline_only_while_tasks_run(
    processing: int, expected: str
) -> None:
    shown = Drawn(Costs(with_threads(processing=processing)))
    assert shown.view.caption.headline.startswith(expected)
    assert IDLE in shown.data["class"]


@pytest.mark.parametrize(
    ("activity", "expected"),
    [("missing", "Failed or cancelled"), ("busy", "Failed or cancelled"), ("my own", OWN)],
)
def test_only_what_distributed_does_not_have_is_the_users_own(activity: str, expected: str) -> None:
    assert class_of(activity) == expected


def fine(rows: Sequence[Sequence[Any]] = FINE) -> Drawn[FineMetrics]:
    return Drawn(FineMetrics(session_of(extras=change("fine", rows))))


def test_fine_metrics_has_a_bar_for_each_function_and_for_fetching() -> None:
    shown = fine()
    assert shown.data["function"] == ["inc", "Fetching data (gather-dep)", "load"]
    assert shown.data["total"] == [7, 3, 2]
    assert shown.data["Computing"] == [6, 0, 0]
    assert shown.data["most"][0] == "thread-cpu 6.00 s (86 %), thread-noncpu 1.00 s (14 %)"
    assert shown.view.caption.headline == "12.0 s over 3 functions"
    labels = [item.label for item in shown.view.caption.legend]
    assert labels == ["Computing", "Waiting in tasks", "Network", "(De)serialization"]
    assert shown.view.table().columns["value"] == [row[-1] for row in FINE]


def test_unit_and_span_can_be_chosen() -> None:
    shown = fine()
    unit, *_ = shown.view.caption.controls
    assert [value for value, _ in unit.options] == ["seconds", "bytes", "pages"]
    assert "of this name" not in shown.view.caption.note
    shown.view.set_control("unit", "bytes")
    shown.view.set_control("span", "default")
    shown.view.update()
    assert shown.view.caption.empty.startswith("Nothing was reported")
    assert shown.view.caption.controls[:1] == [replace(unit, value="bytes")]
    shown.view.set_control("span", "part")
    shown.view.update()
    assert (shown.data["function"], shown.data["total"]) == (["load"], [5000])
    assert shown.view.caption.headline == "4.88 KiB over 1 function"
    assert "all spans of this name together" in shown.view.caption.note


@pytest.mark.parametrize(
    ("name", "opening"),
    [
        ("inc", Opening("profile", {"prefix": "inc"})),
        ("Fetching data (gather-dep)", None),
    ],
)
def test_a_click_on_a_function_opens_its_profile(name: str, opening: Opening | None) -> None:
    view = fine().view
    view.open_row(name)
    assert view.opening == opening
