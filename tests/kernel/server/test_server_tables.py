"""A plot's table for programs: the data of now, made off the loop, that holds together."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import threading
import time
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest

from dask_diag_lab.jobs import Job
from dask_diag_lab.schema import Change, State
from dask_diag_lab.server import export
from dask_diag_lab.server.export import (
    ROWS_AT_ONCE,
    csv_parts,
    first_rows,
    json_parts,
    speedscope_parts,
    trace_parts,
)
from dask_diag_lab.store.queries import UNASKED, Query
from dask_diag_lab.views.view import Table
from tests.kernel.server.sample_views import SAMPLES, Choosing, Long
from tests.kernel.serving import Served, make_batch, serving, until
from tests.kernel.store.batches import group_row
from tests.kernel.views.profiles import Situation

LONG_S = 30.0
"""More than a busy machine takes for anything here."""


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "WAIT_S", LONG_S)


async def columns_of(served: Served, table: str) -> Any:  # JSON
    return (await served.json(f"/plots/{table}"))["columns"]


def errors(*keys: str) -> dict[str, Change]:
    """Return a batch's extras: erred tasks with these keys, and no counters."""
    n = len(keys)
    rows: dict[str, list[Any]] = {"key": list(keys), "prefix": ["inc"] * n, "workers": [()] * n}
    rows |= {name: [""] * n for name in ("exception", "traceback", "kind")}
    rows |= {name: [n] * n for name in ("is_attempt", "kind_failures", "kind_attempts")}
    rows |= {name: [1.0] * n for name in ("time", "kind_first")}
    none: dict[str, list[Any]] = {"name": [], "unit": [], "value": []}
    return {"errors": Change(rows, 0), "counters": Change(none, 0)}


async def test_a_long_table_is_made_and_written_in_parts_off_the_loop() -> None:
    threads, parts = set[int](), list[int]()

    def note(n: int) -> None:
        threads.add(threading.get_ident())
        parts.append(n)

    Long.on_read = note
    async with serving(SAMPLES) as served:
        answer = await served.json("/plots/long.json")
        assert (answer["rows"], answer["columns"]["n"]) == (12_000, list(range(12_000)))
        text = (await served.ask("/plots/long.csv")).body.decode()
        assert text.splitlines()[-1] == "11999,11999"
    assert max(parts) <= ROWS_AT_ONCE
    assert threading.get_ident() not in threads


async def test_a_table_waits_for_what_its_plot_needs_and_counts_as_a_viewer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(export, "WANTED_S", 0.3)
    async with serving(SAMPLES) as served:
        asking = asyncio.create_task(columns_of(served, "choosing.json"))
        await until(lambda: served.wanted[:1] == [Choosing.needs], "nothing is wanted")
        served.live.apply(make_batch(2, extras=errors("inc-1")))
        assert await asking == {"key": ["inc-1"]}
        await until(lambda: served.watched == [True, False], "still wanted")
        assert served.wanted[-1] == frozenset()


@pytest.mark.parametrize("name", ["choosing", "following"])
async def test_what_a_closed_cluster_was_not_asked_for_is_not_awaited(name: str) -> None:
    async with serving(SAMPLES) as served:
        served.live.set_feed_state("closed", "", 1.0)
        answer = await served.json(f"/plots/{name}.json")
        assert (answer["rows"], answer["note"].startswith(UNASKED)) == (0, True)


@pytest.mark.parametrize("ending", ["json", "csv"])
async def test_where_nothing_is_known_there_are_no_zeros_but_an_error(ending: str) -> None:
    async with serving(has_data=False) as served:
        served.live.set_feed_state("lost", "It cannot be reached.", 1.0)
        answer = await served.ask(f"/plots/progress.{ending}")
        assert (answer.code, answer.body) == (503, b"It cannot be reached.\n")


@pytest.mark.parametrize("state", ["lost", "degraded"])
async def test_rows_of_before_come_with_the_reason_why_nothing_new_does(state: State) -> None:
    async with serving() as served:
        served.live.set_feed_state(state, "It answers nonsense.", 1.0)
        answer = await served.json("/plots/workers.json")
        assert answer["rows"] > 0
        assert answer["note"].startswith("It answers nonsense.")


async def test_a_table_that_the_scheduler_cannot_read_is_unknown_with_the_reason() -> None:
    async with serving(SAMPLES) as served:
        served.live.apply(replace(make_batch(2), failed={"errors": "KeyError: x"}))
        answer = await served.json("/plots/choosing.json")
        assert answer["rows"] == 0
        assert "errors cannot be read by this version: KeyError: x" in answer["note"]


async def test_a_table_nobody_looked_at_before_is_that_of_now() -> None:
    found: list[Served] = []
    caught_up: list[frozenset[str]] = []

    async def catch_up() -> None:
        caught_up.append(found[0].wanted[-1])
        found[0].live.apply(make_batch(3, extras=errors("old", "new")))

    async with serving(SAMPLES, catch_up=catch_up) as served:
        found.append(served)
        served.live.apply(make_batch(2, extras=errors("old")))
        assert await columns_of(served, "choosing.json") == {"key": ["old", "new"]}
        assert caught_up == [Choosing.needs]


async def test_a_table_that_has_to_wait_too_long_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "WAIT_S", 0.2)
    async with serving(SAMPLES) as served:
        table = await served.json("/plots/choosing.json")
        assert (table["rows"], "ask again" in table["note"]) == (0, True)
        assert (await served.ask("/plots/choosing.csv")).code == 200


async def test_a_table_has_the_answer_to_what_its_plot_asks_and_no_old_one() -> None:
    async with serving(SAMPLES) as served:
        queries, asked = served.live.queries, list[Query]()
        queries.on_ask = asked.append
        queries.answered(queries.ask("logs", worker="a"), ["old"], served.live.time - 60)
        asking = asyncio.create_task(columns_of(served, "asking.json?worker=a"))
        await until(lambda: len(asked) == 2, "nothing was asked")
        served.live.answer(asked[1], ["new"])
        assert await asking == {"line": ["new"]}
        queries.on_ask = lambda query: served.live.fail(query, "No way.")
        assert await columns_of(served, "asking.json") == {"line": []}


async def test_a_table_waits_for_its_own_jobs_and_not_for_those_of_others() -> None:
    async with serving(SAMPLES) as served:
        live, started = served.live, list[Job[Any]]()  # results of any type
        live.jobs.on_start = started.append
        live.jobs.start(lambda: "of another page")
        assert "ask again" not in (await served.json("/plots/counting.json"))["note"]
        asking = asyncio.create_task(columns_of(served, "crafting.json"))
        await until(lambda: len(started) == 2, "nothing is started")
        started[1].do()
        live.job_done(started[1])
        assert await asking == {"line": ["made"]}


async def test_a_table_waits_for_a_view_that_reads_bit_by_bit() -> None:
    async with serving(SAMPLES) as served:
        assert (await served.json("/plots/reading.json"))["note"] == "5 of 5"


async def test_a_table_follows_the_arguments_and_refuses_those_there_are_not() -> None:
    async with serving() as served:
        groups = [group_row("inc-1", "inc", processing=2), group_row("inc-2", "inc", memory=3)]
        served.live.apply(make_batch(groups=groups))
        served.live.set_feed_state("closed", "", time.time())  # no spans will come
        assert (await columns_of(served, "progress.json"))["prefix"] == ["inc"]
        assert (await columns_of(served, "progress.json?by=group"))["group"] == ["inc-1", "inc-2"]
        moment = "2026-11-24T14:05:30+00:00"  # whose + is a space in a URL
        assert (await columns_of(served, f"task-stream.json?start={moment}"))["start"] == []
        refused = {
            "progress.json?by=colour": "“by” is one of",
            "progress.json?hue=name": "those it has: “by”, “order”, “run”, “start”, “stop”.",
            "task-stream.csv?rows=5": "those it has: “count”, “run”, “show”, “start”, “stop”.",
            "profile.json?count=few": "“count” is a whole number, not “few”",
            "task-stream.json?start=soon": "“soon” is no time: give seconds since the epoch",
            "profile.json?stop=-1eon": "“-1eon” is no time",
            "cpu.json?rows=5": "has no argument “rows”; those it has: none.",
            "task.json?" + urlencode({"key": "x" * 5000}): "4096",
        }
        for path, words in refused.items():
            reply = await served.ask(f"/plots/{path}")
            assert (reply.code, words in reply.body.decode()) == (400, True), path


async def test_a_plot_has_the_files_that_it_names_and_no_others() -> None:
    async with serving() as served:
        served.live.set_feed_state("closed", "", time.time())
        for name in ("task-stream.trace.json", "profile.speedscope.json", "progress.csv"):
            reply = await served.ask(f"/plots/{name}")
            assert (reply.code, name in reply.headers["Content-Disposition"]) == (200, True)
        reply = await served.ask("/plots/progress.trace.json")
        assert (reply.code, "but .csv, .json" in reply.body.decode()) == (404, True)


# --- formats


def test_slices_of_a_trace_nest_and_all_else_is_on_tracks_of_its_own() -> None:
    rows = [  # t, duration, worker, thread, kind, prefix
        (0.0, 1.0, "worker 10", 1, "compute", "inc"),
        (1.0, 0.25, "worker 2", 1, "compute", "inc"),
        (1.0, 2.0, "worker 10", 1, "compute", "load"),
        (1.5, 1.0, "worker 10", 1, "transfer", "load"),
        (2.5, 1.0, "worker 10", 1, "compute", "load"),
    ]
    names = ("t", "duration", "worker", "thread", "kind", "prefix")
    columns: dict[str, list[Any]] = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    more: dict[str, Any] = {"key": "k", "outcome": "ok", "nbytes": -1, "source": ""}
    table = Table(columns | {name: [value] * len(rows) for name, value in more.items()})
    found = json.loads("".join(trace_parts(table, "all")))
    assert found["metadata"]["note"] == "all"
    events = found["traceEvents"]
    named = [e["args"]["name"] for e in events if e["name"] == "process_name"]
    assert named == ["worker 2", "worker 10"]
    slices = [(e["pid"], e["tid"], e["ts"], e["dur"]) for e in events if e["ph"] == "X"]
    assert slices == [(2, 1, 0, 1e6), (1, 1, 1e6, 250_000), (2, 1, 1e6, 2e6)]
    pairs = [(e["ph"], e["id"], e["name"], e["ts"]) for e in events if e["ph"] in ("b", "e")]
    transfer = [("b", "0x3", "transfer", 1.5e6), ("e", "0x3", "transfer", 2.5e6)]
    assert pairs == [*transfer, ("b", "0x4", "load", 2.5e6), ("e", "0x4", "load", 3.5e6)]
    assert events[-2]["args"] == {"prefix": "load", "key": "k", "outcome": "ok"}


def test_a_speedscope_file_has_each_stack_with_its_time() -> None:
    table = Situation().page().view.table()
    found = json.loads("".join(speedscope_parts(table, "of now")))
    frames = [frame["name"] for frame in found["shared"]["frames"]]
    (profile,) = found["profiles"]
    stacks = [";".join(frames[i] for i in stack) for stack in profile["samples"]]
    seconds = dict(zip(stacks, profile["weights"], strict=True))
    assert seconds == pytest.approx({"inc": 0.1, "inc;svd": 0.5, "inc;helper": 0.2, "load": 0.2})
    assert (profile["unit"], profile["endValue"]) == ("seconds", pytest.approx(1.0))
    assert found["shared"]["frames"][1]["line"] == 3


ODD = [
    *("('x-1', 0, 1)", "b'\\x00\\xff'", 'say "hi", please', "<script>alert(1)</script>", "a/b\\c"),
    *("line\r\nbreak\nand more", "€ 日本 \U0001f41f", "nul\x00", "k" * 10_000),
]


def as_json(columns: dict[str, Any], units: dict[str, str] | None = None) -> Any:
    return json.loads("".join(json_parts(Table(columns, units or {}))))


def as_csv(columns: dict[str, Any], units: dict[str, str] | None = None) -> list[list[str]]:
    text = "".join(csv_parts(Table(columns, units or {})))
    return list(csv.reader(io.StringIO(text, newline="")))


def test_odd_keys_survive_both_formats() -> None:
    columns = {"key": ODD, "n": np.arange(len(ODD))}
    assert as_json(columns)["columns"]["key"] == ODD
    rows = [[key, str(n)] for n, key in enumerate(ODD)]
    assert as_csv(columns, {"n": "B"}) == [["key", "n (B)"], *rows]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1+2", "@SUM(A1)", "\t=1", "\r=1", "\n=1"])
def test_text_that_a_spreadsheet_would_run_is_neutralised(text: str) -> None:
    assert as_csv({"key": [text], "v": [-1.5]})[1] == [f"'{text}", "-1.5"]


def test_values_that_a_format_does_not_know() -> None:
    nested = [{"k": np.int64(1)}, ("a", None), np.array([1.0])]
    columns = {"v": np.array([np.nan, np.inf, 1.5]), "b": [True, False, None], "d": nested}
    found = as_json(columns)["columns"]
    assert found["v"] == [None, None, 1.5]
    assert found["d"] == [{"k": 1}, ["a", None], [1.0]]
    rows = [["", "true", '{"k": 1}'], ["", "false", '["a", null]'], ["1.5", "", "[1.0]"]]
    assert as_csv(columns)[1:] == rows


def test_an_empty_table_has_its_columns() -> None:
    assert as_json({"a": []}) == {"columns": {"a": []}, "units": {}, "rows": 0, "note": ""}
    assert as_csv({"a": []}) == [["a"]]


def test_the_largest_of_all_rows_come_first_and_missing_ones_last() -> None:
    values = np.r_[np.arange(2000.0), np.nan]
    table = Table({"key": [f"k{n}" for n in range(2001)], "n": values})
    assert first_rows(table, "-n", 2).columns == {"key": ["k1999", "k1998"], "n": [1999.0, 1998.0]}
    assert first_rows(table, "n", 3000).columns["key"][-1] == "k2000"
    assert json.loads("".join(json_parts(first_rows(table, "-n", 2))))["rows"] == 2001
