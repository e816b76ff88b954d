"""Exceptions: errors of a kind are one row with the number of tasks, tracebacks are text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from dask_diag_lab.schema import Change
from dask_diag_lab.store import History, LiveSession
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.tasks.exceptions import Exceptions
from dask_diag_lab.views.view import PlotLink
from tests.kernel.views.drawn import Drawn
from tests.kernel.views.situations import batch, session_of, worker

W0, W1 = worker(0)["address"], worker(1)["address"]


def errors(*rows: tuple[object, ...], not_kept: int = 0) -> dict[str, Change]:
    """Return the extra table of these rows; those of one prefix and type are of one kind.

    There are ``not_kept`` more of each kind that are not there.
    """
    kinds = Counter((row[1], _type(row[4])) for row in rows)
    counted = [
        (*row, False, kind, kinds[row[1], kind] + not_kept, 0, FIRST)
        for row in rows
        for kind in [_type(row[4])]
    ]
    names = [column.name for column in History().extras["errors"].table.columns]
    columns = {name: [row[i] for row in counted] for i, name in enumerate(names)}
    return {"errors": Change(columns)}


def _type(text: object) -> str:
    return str(text).partition("(")[0]


FIRST = 50.0
SAME = [
    (f"div-{i}", "div", 100.0 + i, (W0 if i % 2 else W1,), "ZeroDivisionError('x')", f"line {i}")
    for i in range(5)
]
BAD = [
    (f"div-{i}", "div", 100.0 + i, (W0 if i % 2 else W1,), f"ValueError('row {i} is bad')", "line")
    for i in range(5)
]
OTHER = ("load-1", "load", 200.0, (W0,), "OSError('<b>gone</b>')", "File <script>\n  raise")


def opened(live: LiveSession) -> Drawn[Exceptions]:
    return Drawn(Exceptions(live))


def failing(*rows: tuple[object, ...]) -> LiveSession:
    return session_of(workers=[worker(0), worker(1)], extras=errors(*rows))


def choose(shown: Drawn[Exceptions], row: int) -> list[str]:
    """Click a row; return the line about it, the traceback, and the other texts."""
    shown.view.sortable.source.selected.indices = [row]
    return str(shown.view.details.text).split("\n\n")


def test_errors_that_differ_in_their_texts_alone_are_one_row_that_says_so() -> None:
    data = opened(failing(*BAD, OTHER)).data
    assert data["prefix"] == ["load", "div"]
    assert data["tasks"] == [1, 5]
    assert data["exception"][1] == "ValueError('row 4 is bad') and other texts (4)"
    assert data["workers"] == ["worker 0", "worker 1, worker 0"]


def test_failures_that_are_not_kept_any_more_are_counted_with_their_kind() -> None:
    shown = opened(session_of(extras=errors(*BAD, not_kept=9_995), left_out={"errors": 7}))
    assert shown.data["tasks"] == [10_000]
    assert shown.data["exception"] == ["ValueError('row 4 is bad') and other texts (4 or more)"]
    assert shown.view.caption.note == (
        "7 older failures of other errors not kept; details of 9995 older failures not kept"
    )


def test_a_click_lists_the_other_texts_and_when_the_first_failed() -> None:
    line, traceback, others = choose(opened(failing(*BAD)), 0)
    assert traceback == "line\nValueError('row 4 is bad')"
    assert others.splitlines() == [
        "and other texts (4):",
        *(f"ValueError('row {i} is bad')" for i in (3, 2, 1, 0)),
    ]
    assert line == (
        "div: 5 tasks failed on worker 1, worker 0 · "
        f"{fmt.clock(FIRST)} to {fmt.clock(104.0)} · last: div-4"
    )


def test_a_click_shows_the_traceback_as_text_and_leads_to_the_task() -> None:
    shown = opened(failing(*SAME, OTHER))
    assert choose(shown, 0)[1] == "File <script>\n  raise\nOSError('<b>gone</b>')"
    shown.view.set_control("task", "")
    assert shown.view.plot_link == PlotLink("task", {"key": "load-1"})


@pytest.mark.parametrize(
    "close", [lambda view: view.set_control("close", ""), lambda view: view.command("clear")]
)
def test_button_and_escape_close_the_traceback(close: Callable[[Exceptions], None]) -> None:
    shown = opened(failing(*SAME))
    choose(shown, 0)
    close(shown.view)
    assert not shown.view.details.visible


def test_traceback_stays_with_its_error_when_others_come() -> None:
    live = failing(*SAME)
    shown = opened(live)
    choose(shown, 0)
    live.apply(batch(workers=[worker(0), worker(1)], extras=errors(*SAME, OTHER)))
    shown.sent()
    assert "\n\nline 4" in str(shown.view.details.text)
