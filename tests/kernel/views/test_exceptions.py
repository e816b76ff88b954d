"""Exceptions: errors of a kind are one row with the number of tasks, tracebacks are text."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from bokeh.document import Document
from bokeh.document.events import DocumentChangedEvent

from dask_diag_lab.schema import Change, Outcome
from dask_diag_lab.store import Store
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.tables import COLOR_FIELD
from dask_diag_lab.views.tasks.exceptions import Exceptions
from dask_diag_lab.views.tasks.failures import (
    OLDER,
    OLDER_TEXTS,
    ON_THE_WAY,
    ON_THE_WAY_S,
    UNRECORDED,
)
from dask_diag_lab.views.view import Opening
from tests.kernel.views.conftest import Feed
from tests.kernel.views.situations import batch, store_of, worker

W0, W1 = worker(0)["address"], worker(1)["address"]


def errors(
    *rows: tuple[object, ...], unlisted: int = 0, not_kept: int = 0, attempts: int = 0
) -> dict[str, Change]:
    """Return the extra table of these rows; those of one prefix and type are of one kind.

    There are ``unlisted`` more tasks with each text, and ``not_kept`` more of each kind with texts
    that are not there; ``attempts`` of each text were run again.
    """
    texts = Counter((row[1], row[4]) for row in rows)
    kinds = Counter((prefix, _type(text)) for prefix, text in texts.elements())
    counted = []
    for row in rows:
        prefix, kind = row[1], _type(row[4])
        n_texts = sum((prefix, kind) == (p, _type(text)) for p, text in texts)
        n_tasks = kinds[prefix, kind] + unlisted * n_texts + not_kept
        counted.append((*row, texts[prefix, row[4]] + unlisted, kind, n_tasks, FIRST, attempts))
    names = [column.name for column in Store().extras["errors"].table.columns]
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


def opened(store: Store) -> tuple[Exceptions, list[DocumentChangedEvent]]:
    """Return a view in a document, and what the document tells from now on."""
    view = Exceptions(store)
    document = Document()
    document.add_root(view.build())
    view.update()
    told: list[DocumentChangedEvent] = []
    document.on_change(told.append)
    return view, told


def is_open(view: Exceptions) -> bool:
    """Return whether a traceback is shown."""
    return bool(view.details.visible)


def shown(view: Exceptions) -> tuple[str, str]:
    """Return the line about the chosen error, and its traceback and other texts."""
    line, _, text = str(view.details.text).partition("\n\n")
    return line, text


def failing(*rows: tuple[object, ...]) -> Store:
    return store_of(workers=[worker(0), worker(1)], extras=errors(*rows))


def send(store: Store, *rows: tuple[object, ...]) -> None:
    store.apply(batch(workers=[worker(0), worker(1)], extras=errors(*rows)))


def test_equal_errors_are_one_row_that_counts_tasks_and_workers() -> None:
    view, _ = opened(failing(*SAME, OTHER))
    data = view.rows.source.data
    assert data["prefix"] == ["load", "div"]
    assert list(data["tasks"]) == [1, 5]
    assert data["workers"] == ["worker 0", "worker 1, worker 0"]
    assert data["exception"][1] == "ZeroDivisionError('x')"


def test_errors_that_differ_in_their_texts_alone_are_one_row_that_says_so() -> None:
    view, _ = opened(failing(*BAD, OTHER))
    data = view.rows.source.data
    assert list(data["tasks"]) == [1, 5]
    assert data["exception"][1] == "ValueError('row 4 is bad') and other texts (4)"
    assert data["workers"][1] == "worker 1, worker 0"


def test_texts_that_are_not_kept_any_more_are_counted_with_their_kind() -> None:
    view, _ = opened(store_of(extras=errors(*BAD, not_kept=9_995)))
    data = view.rows.source.data
    assert list(data["tasks"]) == [10_000]
    assert data["exception"] == ["ValueError('row 4 is bad') and other texts (up to 9999)"]


def test_a_click_lists_the_other_texts_and_when_the_first_failed() -> None:
    view, _ = opened(failing(*BAD))
    view.choose(0)
    first, _, others = shown(view)[1].partition("\n\n")
    assert first == "line\nValueError('row 4 is bad')"
    assert others.splitlines() == [
        "and other texts (4):",
        *(f"ValueError('row {i} is bad')" for i in (3, 2, 1, 0)),
    ]
    assert shown(view)[0] == (
        "div: 5 tasks failed on worker 1, worker 0 · "
        f"{fmt.clock(FIRST)} to {fmt.clock(104.0)} · last: div-4"
    )


def test_of_many_texts_the_last_are_listed() -> None:
    rows = [(f"div-{i}", "div", 100.0 + i, (W0,), f"E({i})", "line") for i in range(50)]
    view, _ = opened(store_of(extras=errors(*rows, not_kept=50)))
    view.choose(0)
    title, *texts = shown(view)[1].partition("\n\n")[2].splitlines()
    assert title == "and other texts (up to 99), the last 20:"
    assert texts == [f"E({i})" for i in range(48, 28, -1)]


def test_workers_of_tasks_that_are_not_listed_are_not_said_to_be_all() -> None:
    store = store_of(workers=[worker(0), worker(1)], extras=errors(*SAME, unlisted=100))
    view, _ = opened(store)
    view.choose(0)
    assert "105 tasks failed lately on worker 1, worker 0 · " in shown(view)[0]


def test_click_shows_the_traceback_as_text_and_closes_again() -> None:
    view, _ = opened(failing(*SAME, OTHER))
    assert not is_open(view)
    view.rows.source.selected.indices = [0]
    assert is_open(view)
    assert shown(view)[1] == "File <script>\n  raise\nOSError('<b>gone</b>')"
    view.set_control("close", "")
    assert not is_open(view)


def test_traceback_stays_with_its_error_when_others_come() -> None:
    store = failing(*SAME)
    view, _ = opened(store)
    view.choose(0)
    send(store, *SAME, OTHER)
    view.update()
    assert is_open(view)
    assert shown(view)[1].startswith("line 4")


def test_button_opens_the_page_of_the_task_that_failed_last() -> None:
    view, _ = opened(failing(*SAME))
    view.choose(0)
    view.set_control("task", "")
    assert view.opening == Opening("task", {"key": "div-4"})


def test_tasks_of_an_error_that_are_not_listed_count_with_those_that_are() -> None:
    view, _ = opened(store_of(extras=errors(*SAME, unlisted=145)))
    assert list(view.rows.source.data["tasks"]) == [150]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({}, UNRECORDED),
        ({"left_out": {"errors": 7}}, OLDER),
    ],
)
def test_failures_without_details_are_counted_with_the_reason(
    feed: Feed, more: dict[str, Any], words: str
) -> None:
    for i in range(150):
        feed.maker.action(i, i + 1, prefix="div", outcome=Outcome.ERRED)
    feed.send(200.0, extras=errors(*SAME), **more)
    view, _ = opened(feed.store)
    data = view.rows.source.data
    assert list(data["tasks"]) == [5, 145]
    assert data["exception"][1] == words
    view.choose(1)
    assert [control.name for control in view.caption.controls] == ["close"]


def test_errors_that_come_after_their_actions_are_said_to_be_on_their_way(feed: Feed) -> None:
    feed.maker.action(0, 1, prefix="div", outcome=Outcome.ERRED)
    feed.send(1.5, extras=errors())
    view, told = opened(feed.store)
    assert view.rows.source.data["exception"][0] == ON_THE_WAY
    feed.now += ON_THE_WAY_S
    view.update()
    assert view.rows.source.data["exception"][0] == UNRECORDED
    told.clear()
    view.update()
    assert told == []


def test_runs_lost_with_their_worker_are_said(feed: Feed) -> None:
    feed.maker.action(0, 1, outcome=Outcome.KILLED)
    killed = ("inc-0", "inc", 1.0, ("tcp://w0:1",), "KilledWorker: once too often", "")
    feed.send(2.0, extras=errors(killed))
    view, _ = opened(feed.store)
    assert list(view.rows.source.data["tasks"]) == [1]
    assert "at least 1 run lost with a worker that died" in view.caption.note
    view.choose(0)
    assert shown(view)[1] == "KilledWorker: once too often"


def test_no_failures_are_told_from_waiting() -> None:
    store = store_of()
    view, _ = opened(store)
    assert view.caption.empty.startswith("Waiting")
    store.apply(batch(extras=errors()))
    view.update()
    assert view.caption.empty == "No task has failed."


def test_older_errors_that_are_not_here_are_counted() -> None:
    view, _ = opened(store_of(extras=errors(*SAME), left_out={"errors": 7}))
    assert view.caption.note == "7 older failures of other errors not kept"


def test_nothing_is_sent_when_nothing_changed() -> None:
    store = failing(*SAME)
    view, told = opened(store)
    view.choose(0)
    told.clear()
    store.apply(batch(workers=[worker(0, cpu=9.0), worker(1)], extras=errors(*SAME)))
    view.update()
    assert told == []


def test_table_has_tracebacks_and_all_workers() -> None:
    table = Exceptions(failing(*SAME, OTHER)).table()
    assert table.columns["tasks"] == [1, 5]
    assert table.columns["traceback"][1] == "line 4"
    assert table.columns["workers"][1] == f"{W1}, {W0}"


def test_table_has_every_text_and_counts_those_that_are_not_kept() -> None:
    columns = Exceptions(store_of(extras=errors(*BAD, not_kept=95))).table().columns
    texts = [f"ValueError('row {i} is bad')" for i in (4, 3, 2, 1, 0)]
    assert columns["exception"] == [*texts, OLDER_TEXTS]
    assert columns["tasks"] == [1, 1, 1, 1, 1, 95]
    assert columns["key"] == ["div-4", "div-3", "div-2", "div-1", "div-0", ""]
    assert columns["time"] == [104.0, 103.0, 102.0, 101.0, 100.0, None]
    assert columns["kind"] == ["ValueError"] * 6
    assert columns["kind_tasks"] == [100] * 6
    assert columns["kind_first"] == [FIRST] * 6


def test_attempts_whose_task_was_run_again_are_counted_and_told_as_such() -> None:
    view, _ = opened(store_of(extras=errors(*SAME, attempts=2)))
    view.choose(0)
    assert list(view.rows.source.data["tasks"]) == [5]
    assert shown(view)[0].partition(" · 2 of them run again · ")[1]
    assert view.caption.note == "2 attempts counted whose task was run again"
    assert view.table().columns["attempts"] == [2]


def test_failures_are_counted_once_whether_their_texts_are_kept_or_not(feed: Feed) -> None:
    for i in range(150):
        feed.maker.action(i, i + 1, prefix="div", outcome=Outcome.ERRED)
    feed.send(200.0, extras=errors(*BAD, not_kept=95), left_out={"errors": 50})
    view, _ = opened(feed.store)
    assert list(view.rows.source.data["tasks"]) == [100, 50]
    assert view.rows.source.data["exception"][1] == OLDER
    assert sum(view.table().columns["tasks"]) == 150


def test_escape_closes_the_traceback_and_unmarks_its_row() -> None:
    view, _ = opened(failing(*SAME, OTHER))
    view.rows.source.selected.indices = [1]
    view.command("fit")
    assert is_open(view)
    assert view.rows.source.data[COLOR_FIELD][1] == view.look.accent
    view.command("clear")
    assert not is_open(view)
    assert set(view.rows.source.data[COLOR_FIELD]) == {view.look.foreground}


def test_workers_of_one_name_are_told_apart_by_their_addresses() -> None:
    rows = [worker(0), worker(1), worker(2, name="1")]
    addresses = tuple(row["address"] for row in rows)
    killed = ("inc-0", "inc", 1.0, addresses, "KilledWorker: thrice too often", "")
    store = store_of(workers=rows, extras=errors(killed))
    store.apply(batch(workers=rows[:1], removed_workers=list(addresses[1:])))
    view, _ = opened(store)
    names = "worker 0, worker 1 (left) at 10.0.0.1:4000, worker 1 (left) at 10.0.0.2:4000"
    assert view.rows.source.data["workers"] == [names]
    view.choose(0)
    assert f"1 task failed on {names}" in shown(view)[0]


def test_the_note_counts_failures_whose_texts_are_not_kept() -> None:
    view, _ = opened(store_of(extras=errors(*BAD, not_kept=95)))
    assert view.caption.note == "texts of 95 older failures not kept"


def test_the_note_counts_failures_without_details(feed: Feed) -> None:
    for i in range(7):
        feed.maker.action(i, i + 1, prefix="div", outcome=Outcome.ERRED)
    feed.send(200.0, extras=errors(*SAME))
    view, _ = opened(feed.store)
    assert view.caption.note == "no details of 2 failures"
