"""What a plot shows now as a file, JSON or CSV and others: made off the loop and sent in parts.

Views are read on the loop, a row of which is cheap; a million rows are turned into text
in threads, some thousand at a time.
"""

from __future__ import annotations

import asyncio
import csv
import heapq
import io
import json
import math
import re
import shutil
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from http.client import HTTPResponse
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.error import HTTPError
from urllib.parse import quote, urlencode
from urllib.request import ProxyHandler, Request, build_opener

import numpy as np
from tornado import web

from dask_diag_lab.server.context import until
from dask_diag_lab.server.page import PendingWork, close_view, empty_text, unread
from dask_diag_lab.views.view import Table

if TYPE_CHECKING:
    from dask_diag_lab.server.context import ServerContext
    from dask_diag_lab.views.view import View

# So long a request counts as a viewer: who asks again and again is sent the data all the time.
WANTED_S: Final = 10.0
# So long a request waits at most for data that is under way.
WAIT_S: Final = 3.0
# So long a thread waits at most for an answer.
FETCH_TIMEOUT_S: Final = 60.0
# At most some 10 ms of work, for which the encoder holds the interpreter, and 0.4 MB.
ROWS_AT_ONCE: Final = 2_500
LATE: Final = f"Not all of this plot's data had come within {WAIT_S:g} s; ask again."

SPEEDSCOPE: Final = "https://www.speedscope.app/file-format-schema.json"
_WHEN_AND_WHERE: Final = ("t", "duration", "worker", "thread", "kind")
# Columns of a task stream's table, the latter as they are.
_TRACE_ARGS: Final = ("prefix", "key", "outcome", "nbytes", "source")

NONE_YET: Final = "The scheduler has sent nothing yet; ask again."

_KIND: Final = re.compile(r"\.((?:(?:trace|speedscope)\.)?json|\w+)(?:\.(?:gz|bz2|xz|zip|zst))?$")
Writer = Callable[["Table", str], Iterator[str]]


async def export(
    context: ServerContext, view: View, write: Writer, sort: str = "", limit: int | None = None
) -> AsyncIterator[str]:
    """Return the parts of a file with the data of now, once that has come; closes the view.

    Waits `WAIT_S` at most. Why there are no rows is said in the words of the picture. ``sort`` and
    ``limit`` are as of `first_rows`; all rows where there is no limit.

    Raises
    ------
    tornado.web.HTTPError
        The scheduler has never answered; 503, with the reason.
    """
    try:
        is_late = not await _is_brought_up(context, view, with_jobs=view.table_waits)
        if context.live.history.scheduler is None:
            raise web.HTTPError(503, "%s", context.live.feed_state.reason or NONE_YET)
        make = view.table_job()
        table = await asyncio.to_thread(make)
        if limit is not None:
            table = await asyncio.to_thread(first_rows, table, sort, limit)
        feed = context.live.feed_state
        if unread(context.live.history, view) or not any(map(len, table.columns.values())):
            empty = empty_text(context.live, view)
        else:
            empty = feed.reason if feed.state in ("lost", "degraded") else ""
        note = view.caption.note if table.note is None else table.note
        notes = (LATE if is_late else "", empty, note)
    finally:
        close_view(view)
    return _in_threads(write(table, " ".join(filter(None, notes))))


async def _in_threads(parts: Iterator[str]) -> AsyncIterator[str]:
    while (part := await asyncio.to_thread(next, parts, None)) is not None:
        yield part


async def headline(
    context: ServerContext, *, name: str, arguments: Mapping[str, str]
) -> tuple[float, str]:
    """Return of when the data of a plot is, and its headline, or why it shows nothing."""
    view = context.plots[name](context.live, arguments=arguments)
    try:
        await _is_brought_up(context, view, with_jobs=True)
        feed = context.live.feed_state
        time_s = feed.since if feed.state == "closed" else time.time()
        return time_s, empty_text(context.live, view) or view.caption.headline
    finally:
        close_view(view)


async def _is_brought_up(context: ServerContext, view: View, *, with_jobs: bool) -> bool:
    """Wait until `view` has the data of now; return whether that came in time."""
    live, pages, needs = context.live, context.drawing, frozenset(view.needs)
    pages.add_viewer(needs, WANTED_S)
    await context.catch_up()
    pending = PendingWork(live)
    with pending.noticed():
        view.build()
    return await until(lambda: pending.is_all(view, view.update, with_jobs=with_jobs), WAIT_S)


def first_rows(table: Table, sort: str, limit: int) -> Table:
    """Return the first rows by a column, with a ``-`` before its name from the largest on.

    Without such a column they stay in their order. Missing values come last.
    """
    n = max(map(len, table.columns.values()), default=0)
    values, is_falling = table.columns.get(sort.removeprefix("-"), ()), sort.startswith("-")

    def place(row: int) -> tuple[bool, bool, Any]:  # a number or a text
        value = json_value(values[row])
        is_missing = value is None
        is_text = not isinstance(value, int | float) and not is_missing
        return (is_missing != is_falling, is_text, str(value) if is_text else value or 0)

    # A heap in Python gives way to the loop; to sort a million rows would hold the interpreter.
    pick = heapq.nlargest if is_falling else heapq.nsmallest
    rows = pick(limit, range(n), key=place) if len(values) else range(min(limit, n))
    columns = {name: [column[row] for row in rows] for name, column in table.columns.items()}
    return replace(table, columns=columns, total=n)


def json_parts(table: Table, note: str = "") -> Iterator[str]:
    """Yield ``{"columns": {name: [...]}, "units": {...}, "rows": n, "note": words}`` in parts.

    NaN becomes null; `note` says what was left out or is late.
    """
    yield '{"columns": {'
    before = ""
    for name, values in table.columns.items():
        yield f"{before}{_json(name)}: "
        yield from _array(map(json_value, values))
        before = ", "
    rows = max(table.total, *map(len, table.columns.values()), 0)
    yield f'}}, "units": {_json(dict(table.units))}, "rows": {rows}, "note": {_json(note)}}}'


def csv_parts(table: Table, note: str = "") -> Iterator[str]:  # noqa: ARG001  # CSV has no place for it
    r"""Yield `table` as CSV after RFC 4180 in parts: CRLF, a header with units, quotes doubled.

    Text that a spreadsheet would run as a formula gets a leading apostrophe
    (OWASP, "CSV injection"); numbers are left alone.
    """
    columns, units = table.columns, table.units
    header = [f"{name} ({units[name]})" if units.get(name) else name for name in columns]
    yield _csv([header])
    for start in range(0, max(map(len, columns.values()), default=0), ROWS_AT_ONCE):
        chunks = [values[start : start + ROWS_AT_ONCE] for values in columns.values()]
        yield _csv(zip(*chunks, strict=True))


def trace_parts(table: Table, note: str = "") -> Iterator[str]:
    """Yield a task stream in the Chrome Trace Event Format, as Perfetto reads it, in parts.

    A worker is a process. Slices of a thread have to nest, so transfers and disk, which may go on
    at the same time, are on tracks of their own, and so is a task that overlaps another one in its
    thread, as coroutines do. Times are µs since the first action: as seconds since the epoch a
    float has no ns left. Source: `json_trace_parser.cc` of Perfetto.
    """
    head = {"displayTimeUnit": "ms", "metadata": {"source": "dask_diag_lab", "note": note}}
    yield f'{_json(head)[:-1]}, "traceEvents": '
    yield from _array(_trace_events(table.columns))
    yield "}"


def _trace_events(columns: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:  # JSON
    threads = zip(columns["worker"], columns["thread"], strict=True)
    # As a loop: `set(threads)` would hold the interpreter for half a second with a million rows.
    # Worker 2 comes before worker 10.
    tracks = [track[1:] for track in sorted({(len(name), name, of) for name, of in threads})]
    pids = {worker: pid for pid, worker in enumerate(dict(tracks), 1)}
    for worker, thread in tracks:
        for what, name in (("process", worker), ("thread", f"thread {thread}")):
            ids = {"ph": "M", "pid": pids[worker], "tid": thread}
            yield {**ids, "name": f"{what}_name", "args": {"name": name}}
    busy_until_ns: dict[tuple[str, int], int] = {}
    rows = zip(*(columns[name] for name in (*_WHEN_AND_WHERE, *_TRACE_ARGS)), strict=True)
    for number, (t, duration, worker, thread, kind, *of_task) in enumerate(rows):
        start_ns, stop_ns = round(t * 1e9), round((t + duration) * 1e9)
        args = {n: v for n, v in zip(_TRACE_ARGS, of_task, strict=True) if v not in ("", -1)}
        event = {"name": of_task[0] if kind == "compute" else kind, "cat": kind}
        event |= {"pid": pids[worker], "tid": thread, "ts": start_ns / 1e3}
        if kind == "compute" and start_ns >= busy_until_ns.get((worker, thread), 0):
            busy_until_ns[worker, thread] = stop_ns
            yield {**event, "ph": "X", "dur": (stop_ns - start_ns) / 1e3, "args": args}
        else:
            yield {**event, "ph": "b", "id": hex(number), "args": args}
            yield {**event, "ph": "e", "id": hex(number), "ts": stop_ns / 1e3}


def speedscope_parts(table: Table, note: str = "") -> Iterator[str]:
    """Yield a profile as a file for speedscope in parts: each stack with the time spent at its end.

    Source: https://www.speedscope.app/file-format-schema.json
    """
    assert table.stacks is not None  # plots without them name no such format
    frames, interval_s = table.stacks
    firsts, ends = np.unique(frames.function, return_index=True)[1], np.flatnonzero(frames.own)
    about = {"name": f"Dask profile · {note}".removesuffix(" · ")}
    head = {"$schema": SPEEDSCOPE, "exporter": "dask_diag_lab", **about}
    end_s = float(frames.own.sum() * interval_s)
    profile = {"type": "sampled", "unit": "seconds", "startValue": 0, "endValue": end_s, **about}
    yield f'{_json(head)[:-1]}, "shared": {{"frames": '
    places = map(frames.location, firsts.tolist())
    yield from _array({"name": p.name, "file": p.filename, "line": p.line_number} for p in places)
    yield f'}}, "profiles": [{_json(profile)[:-1]}, "samples": '
    yield from _array(map(frames.stack, ends.tolist()))
    yield ', "weights": '
    yield from _array((frames.own[ends] * interval_s).tolist())
    yield "}]}"


# Media type of each, and what writes it.
FORMATS: Final[Mapping[str, tuple[str, Writer]]] = {
    "json": ("application/json", json_parts),
    "csv": ("text/csv", csv_parts),
    "trace.json": ("application/json", trace_parts),
    "speedscope.json": ("application/json", speedscope_parts),
}


def _array(values: Iterable[Any]) -> Iterator[str]:  # of JSON
    """Yield a JSON array in parts."""
    before, left = "[", iter(values)
    while chunk := list(islice(left, ROWS_AT_ONCE)):
        yield before + _json(chunk)[1:-1]
        before = ", "
    yield "[]" if before == "[" else "]"


def json_value(value: Any) -> Any:  # whatever a view put in a cell
    """Return `value` as something JSON knows: NumPy scalars as Python's, no NaN, bytes as text."""
    if hasattr(value, "tolist"):  # of an array or a scalar
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): json_value(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [json_value(inner) for inner in value]
    return str(value)


def _json(value: Any) -> str:  # what `json_value` returns
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _csv(rows: Any) -> str:  # iterable of iterables of any value
    out = io.StringIO(newline="")
    csv.writer(out, dialect="excel").writerows([_cell(value) for value in row] for row in rows)
    return out.getvalue()


def _cell(value: Any) -> str:
    value = json_value(value)
    if not isinstance(value, str):
        return "" if value is None else _json(value)
    return f"'{value}" if value.startswith(("=", "+", "-", "@", "\t", "\r", "\n")) else value


def read_table(url: str, plot: str, arguments: Mapping[str, str]) -> Table:
    """Return what a server that is opened by ``url`` says a plot shows; blocks, see `fetch`."""
    with fetch(url, f"plots/{quote(plot, safe='')}.json", arguments) as reply:
        answer = json.load(reply)
    return Table(answer["columns"], answer["units"], answer["note"])


def download(url: str, plot: str, path: str, arguments: Mapping[str, str]) -> None:
    """Write the file that a server has of a plot, as it comes; blocks, see `fetch`."""
    import fsspec

    kind = "".join(_KIND.findall(path))
    with (
        fetch(url, f"plots/{quote(plot, safe='')}.{kind}", arguments) as reply,
        fsspec.open(path, "wb", compression="infer", auto_mkdir=False) as file,
    ):
        shutil.copyfileobj(reply, file)


def fetch(url: str, path: str, arguments: Mapping[str, str]) -> HTTPResponse:
    """Return the answer of a server that is opened by ``url``; its reasons are errors here.

    What is long is made off its loop and sent in parts, for other threads as for other programs.
    """
    root, _, token = url.partition("/status?token=")
    address = f"{root}/{path}?{urlencode(arguments)}"
    request = Request(address, headers={"Authorization": f"token {token}"})  # noqa: S310  # http
    opener = build_opener(ProxyHandler({}))  # a proxy for the network is none for this machine
    try:
        return cast("HTTPResponse", opener.open(request, timeout=FETCH_TIMEOUT_S))  # it is HTTP
    except HTTPError as error:
        kinds = ValueError if error.code < 500 else RuntimeError
        raise kinds(error.read().decode().strip()) from None
    except OSError as error:  # also one that is reset while the server ends
        reason = getattr(error, "reason", error)
        raise RuntimeError(f"These Dask diagnostics do not answer: {reason}.") from error
