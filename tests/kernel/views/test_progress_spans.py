"""Progress by span: what its bars are called, their order, and what is said where none are."""

from __future__ import annotations

import math
import time
from typing import Any

import pytest

from dask_diag_lab.records import STATES, ExtraChange
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.look import LIGHT
from dask_diag_lab.views.span_names import told_apart
from dask_diag_lab.views.tasks.progress import Progress
from tests.kernel.views.situations import MIB, Page, batch, prefix, store_of


def spans(*rows: tuple[str, float, dict[str, int]]) -> dict[str, ExtraChange]:
    """Return the extra table of spans: name, start and tasks by state."""
    counts = [tuple(given.get(state, 0) for state in STATES) for _, _, given in rows]
    n = len(rows)
    columns: dict[str, list[Any]] = {  # columns differ in type
        "id": [str(i) for i in range(n)],
        "name": [name for name, _, _ in rows],
        "parent": [""] * n,
        "start": [start for _, start, _ in rows],
        "stop": [math.nan] * n,
        "states": counts,
        "nbytes": [MIB] * n,
        "seconds": [10.0] * n,
        "groups": [()] * n,
    }
    return {"spans": ExtraChange(columns)}


def test_bars_by_span_come_by_tasks_or_by_begin() -> None:
    known = spans(("first", 1.0, {"memory": 5}), ("later", math.nan, {"waiting": 9}))
    view = Progress(store_of(prefixes=[prefix("x", memory=5, waiting=9)], extras=known))
    page = Page(view)
    view._kinds.value = "span"
    page.sent()
    assert view.cells.model.data["hover0"] == ["later", "first"]
    assert view.cells.model.data["hover8"] == ["", "2.00 s a task on average"]
    view.command("order-topological")
    assert view.cells.model.data["hover0"] == ["first", "later"]


def test_spans_of_one_name_are_told_apart() -> None:
    counts = {"memory": 5}
    known = spans(
        ("default", 0.0, counts),
        ("default", 61.0, counts),
        ("default", math.nan, {"waiting": 5}),
        ("default", math.nan, {"erred": 5}),
        ("default", math.nan, {"released": 5}),
    )
    extras = {"spans": ExtraChange({**known["spans"].columns, "id": ["a", "b", "c", "d", "e"]})}
    store = store_of(prefixes=[prefix("x", memory=15)], extras=extras)
    view = Progress(store, LIGHT, {"by": "span"})
    Page(view)
    began = [f"default · {fmt.clock(start)}" for start in (0.0, 61.0)]
    assert view.cells.model.data["hover0"] == [
        "default · not begun",
        *began,
        "default · failed",
        "default · never ran",
    ]
    assert view.cells.model.data["label"] == view.cells.model.data["hover0"]
    assert view.table().columns["span"] == view.cells.model.data["hover0"]


@pytest.mark.parametrize(
    ("names", "starts", "shown"),
    [
        (["a", "b"], [0.0, 0.0], ["a", "b"]),
        (
            ["a", "a"],
            [0.2, 0.9],
            [f"a · {fmt.clock(0.2)} · id-000", f"a · {fmt.clock(0.9)} · id-001"],
        ),
        (["a", "a", "b"], [0.0, 2.0, 0.0], [f"a · {fmt.clock(0.0)}", f"a · {fmt.clock(2.0)}", "b"]),
    ],
)
def test_names_of_spans_are_as_long_as_it_takes(
    names: list[str], starts: list[float], shown: list[str]
) -> None:
    ids = [f"id-00{index}-more" for index in range(len(names))]
    assert told_apart(names, starts, ids, ["not begun"] * len(names)) == shown


def test_the_same_time_of_another_day_is_another_time() -> None:
    names, hour_s = ["a", "a", "a", "b", "b"], 3600.0
    starts = [100_000.0, 100_000.0 + 24 * hour_s, math.nan, 100_000.0, 100_000.0 + 1]
    shown = told_apart(names, starts, list("vwxyz"), ["not begun"] * 5)
    days = [time.strftime("%Y-%m-%d", time.localtime(start)) for start in starts[:2]]
    clocks = [fmt.clock(start) for start in starts if math.isfinite(start)]
    assert shown == [
        f"a · {days[0]} {clocks[0]}",
        f"a · {days[1]} {clocks[1]}",
        "a · not begun",
        f"b · {clocks[2]}",
        f"b · {clocks[3]}",
    ]


def test_spans_that_are_not_there_are_told_from_those_that_have_not_come() -> None:
    store = store_of(prefixes=[prefix("x", memory=5)])
    view = Progress(store)
    page = Page(view)
    view.command("by-span")
    assert view.notice.empty.startswith("Waiting")
    store.apply(batch(extras=spans()))
    page.sent()
    assert "distributed.span" in view.notice.empty
    view.command("by-prefix")
    assert view.notice.empty == ""


def test_spans_that_hold_others_are_said_to_count_them() -> None:
    counts = {"memory": 5}
    known = spans(("outer", 1.0, counts), ("outer > inner", 1.0, counts))
    store = store_of(prefixes=[prefix("x", memory=5)], extras=known)
    view = Progress(store, LIGHT, {"by": "span"})
    page = Page(view)
    assert view.notice.note == ""
    columns = {**known["spans"].columns, "parent": ["", "0"]}
    store.apply(batch(extras={"spans": ExtraChange(columns)}))
    page.sent()
    assert view.notice.note == "a span counts the tasks of the spans inside it as well"
    view.command("by-prefix")
    assert view.notice.note == ""
