"""A plot's table as JSON or CSV: what it shows now, made off the loop and sent in parts.

Views and store are read on the loop, a row of which is cheap; a million rows are turned into text
in threads, some thousand at a time.
"""

from __future__ import annotations

import asyncio
import csv
import io
import json
import math
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from dask_diag_lab.server.handlers import until
from dask_diag_lab.server.page import close_view, empty_text, is_without
from dask_diag_lab.views.look import LIGHT

if TYPE_CHECKING:
    from dask_diag_lab.jobs import Job
    from dask_diag_lab.server.handlers import Site
    from dask_diag_lab.store.queries import Query
    from dask_diag_lab.views.registry import Plot
    from dask_diag_lab.views.view import Table, View

WANTED_S: Final = 10.0
"""So long a request counts as a viewer: who asks again and again is sent the data all the time."""
WAIT_S: Final = 3.0
"""So long a request waits at most for data that is under way."""
ROWS_AT_ONCE: Final = 5_000
"""Some 10 ms of work, and 0.5 MB."""
LATE: Final = f"Not all of this plot's data had come within {WAIT_S:g} s; ask again."

Writer = Callable[["Table", str], Iterator[str]]


async def export(
    site: Site, plot: Plot, arguments: Mapping[str, str], write: Writer
) -> AsyncIterator[str]:
    """Return the parts of a plot's table with the data of now, once that has come.

    Waits `WAIT_S` at most. Why there are no rows is said in the words of the picture.
    """
    view = plot(site.store, LIGHT, arguments)
    try:
        is_late = not await _is_brought_up(site, view)
        make = view.table_job()
        table = await asyncio.to_thread(make)
        empty = "" if any(map(len, table.columns.values())) else empty_text(site.store, view)
        note = view.caption.note if table.note is None else table.note
        notes = (LATE if is_late else "", empty, note)
    finally:
        close_view(view)
    return _in_threads(write(table, " ".join(filter(None, notes))))


async def _in_threads(parts: Iterator[str]) -> AsyncIterator[str]:
    while (part := await asyncio.to_thread(next, parts, None)) is not None:
        yield part


async def _is_brought_up(site: Site, view: View) -> bool:
    """Wait until `view` has the data of now; return whether that came in time."""
    store, pages, needs = site.store, site.drawing.pages, frozenset(view.needs)
    is_sent = pages.is_watched and needs <= pages.wanted
    pages.want(needs, WANTED_S)
    if not is_sent and site.catch_up is not None:
        await site.catch_up()
    asked: list[Query] = []
    started: list[Job[Any]] = []  # results of any type

    def have(act: Callable[[], object]) -> None:
        with store.queries.noticed() as queries, store.jobs.noticed() as jobs:
            act()
        asked.extend(queries)
        started.extend(jobs)

    def is_complete() -> bool:
        have(view.update)
        if view.is_behind or (view.table_waits and not all(job.is_done for job in started)):
            return False
        if store.feed_state.state in ("lost", "closed"):
            return True
        return not is_without(store, view) and all(query.state != "asked" for query in asked)

    have(view.build)
    return await until(is_complete, WAIT_S)


def json_parts(table: Table, note: str = "") -> Iterator[str]:
    """Yield ``{"columns": {name: [...]}, "units": {...}, "rows": n, "note": words}`` in parts.

    NaN becomes null; `note` says what was left out or is late.
    """
    yield '{"columns": {'
    before = ""
    for name, values in table.columns.items():
        yield f"{before}{_json(name)}: ["
        for start in range(0, len(values), ROWS_AT_ONCE):
            chunk = _json([plain(value) for value in values[start : start + ROWS_AT_ONCE]])
            yield (", " if start else "") + chunk[1:-1]
        yield "]"
        before = ", "
    rows = max(map(len, table.columns.values()), default=0)
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


FORMATS: Final[Mapping[str, tuple[str, Writer]]] = {
    "json": ("application/json", json_parts),
    "csv": ("text/csv", csv_parts),
}
"""Media type of each, and what writes it."""


def plain(value: Any) -> Any:  # whatever a view put in a cell
    """Return `value` as something JSON knows: NumPy scalars as Python's, no NaN, bytes as text."""
    if hasattr(value, "tolist"):  # of an array or a scalar
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(inner) for inner in value]
    return str(value)


def _json(value: Any) -> str:  # what `plain` returns
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _csv(rows: Any) -> str:  # iterable of iterables of any value
    out = io.StringIO(newline="")
    csv.writer(out, dialect="excel").writerows([_cell(value) for value in row] for row in rows)
    return out.getvalue()


def _cell(value: Any) -> str:
    value = plain(value)
    if not isinstance(value, str):
        return "" if value is None else _json(value)
    return f"'{value}" if value.startswith(("=", "+", "-", "@", "\t", "\r", "\n")) else value
