"""The page ``/info``: the cluster in words and tables, as it is at the moment of the request."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from dask_diag_lab.server.announce import versions
from dask_diag_lab.server.handlers import health_of
from dask_diag_lab.server.pages import INFO, PageHandler
from dask_diag_lab.views import format as fmt

if TYPE_CHECKING:
    from dask_diag_lab.store import Store
    from dask_diag_lab.store.queries import Query

MAX_WORKERS: Final = 1000
MAX_LINES: Final = 300
LOG_WAIT_S: Final = 2.0
"""So long the page waits at most for the scheduler's log."""
OLD_S: Final = 2.0
"""A log that is older is asked for again."""
_HEADERS: Final = (
    *("Worker", "Name", "Status", "Threads", "CPU", "Memory", "Limit", "In use", "Assigned"),
    *("Running", "Expected work", "Last seen", "More"),
)
_CONFIGURATION: Final = (
    "<p>The scheduler and the workers may have another one. Settings that could hold a secret, "
    "such as addresses, paths and texts, are left out.</p>"
)

# Configuration is where people keep passwords and tokens, so only sections that are named here are
# shown, and of these no text that could be one.
SECTIONS: Final = (
    *("diag-lab", "array", "dataframe", "optimization"),
    *("distributed.scheduler", "distributed.worker", "distributed.comm", "distributed.deploy"),
    *("distributed.p2p", "distributed.admin", "distributed.diagnostics"),
)
"""Beginnings of the names that are shown."""
_HIDDEN: Final = re.compile(
    r"pass|secret|token|credential|auth|cookie|cert|\bpwd?\b|key\b|private|tls|environ|preload|argv"
    r"|proxy|socks|jupyter|bokeh-application|contact",
    re.IGNORECASE,
)
"""Names that may hold a secret, or code with one."""
_PLAIN: Final = re.compile(r"[A-Za-z0-9 ._%+-]{0,24}")
"""Texts that are words, sizes and durations; a URL, a path or a long random text is none."""


class InfoHandler(PageHandler):
    """``/info``."""

    async def get(self) -> None:
        from dask import config

        site = self.site
        if site.catch_up is not None:
            await site.catch_up()
        log = await self._scheduler_log()
        with config.config_lock:  # a cell may be setting something
            settings = shown_configuration(config.config)
        now = fmt.clock(time.time())
        here = [(name, number or "not installed") for name, number in versions().items()]
        parts = (
            f"<p>As of {now}; load the page again for what is now.</p>",
            _section("Cluster", _facts(_cluster(site.store, site.info()))),
            _section("Versions where the client runs", _facts(here)),
            _section("Workers", _workers(site.store)),
            _section("Log of the scheduler, newest first", _log_text(log)),
            _section(
                "Configuration of Dask where the client runs", _CONFIGURATION + _facts(settings)
            ),
        )
        self.show("Info", "".join(parts), kind="info", here=INFO)

    async def _scheduler_log(self) -> Query:
        store, pages = self.site.store, self.site.pages
        log = store.queries.ask("logs", worker="")
        if log.state != "asked" and store.time - log.answered_at > OLD_S:
            store.queries.ask_again(log)
        deadline = time.monotonic() + LOG_WAIT_S
        while pages is not None and log.state == "asked" and time.monotonic() < deadline:
            await pages.next_tick(deadline - time.monotonic())
        return log


def shown_configuration(config: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return names and values of `config` that may be shown, sorted.

    Parameters
    ----------
    config : mapping
        As ``dask.config.config``: names to values or to mappings of the same kind.
    """
    return sorted(
        (name, str(value))
        for name, value in _leaves(config, "")
        if _is_listed(name)
        and not _HIDDEN.search(name)
        and (
            value is None
            or isinstance(value, bool | int | float)
            or (isinstance(value, str) and _PLAIN.fullmatch(value))
        )
    )


def _leaves(config: Mapping[str, Any], path: str) -> Iterator[tuple[str, object]]:
    for part, value in config.items():
        name = f"{path}{str(part).replace('_', '-')}"
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, f"{name}.")
        else:
            yield name, value


def _is_listed(name: str) -> bool:
    return any(name == section or name.startswith(f"{section}.") for section in SECTIONS)


def _section(title: str, inside: str) -> str:
    return f"<section><h2>{escape(title)}</h2>{inside}</section>"


def _facts(facts: Iterable[tuple[str, str]]) -> str:
    rows = (
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(value)}</td></tr>'
        for name, value in facts
        if value
    )
    return f'<table class="facts">{"".join(rows)}</table>'


def _cluster(store: Store, info: Mapping[str, Any]) -> list[tuple[str, str]]:  # JSON values
    health, scheduler, given = health_of(store), store.scheduler, info.get("scheduler", {})
    tasks, limit = health["tasks"], health["memory_limit"]
    numbers = {name: fmt.count(tasks[name]) for name in ("total", "done", "processing", "erred")}
    started = scheduler.started if scheduler else 0.0
    day = time.strftime("%Y-%m-%d", time.localtime(started))
    ago = f", {fmt.duration(store.time - started)} ago" if store.time > started else ""
    return [
        ("State", " ".join(filter(None, (health["state"], health["reason"])))),
        ("Scheduler", scheduler.address if scheduler else str(given.get("address", ""))),
        ("Scheduler id", scheduler.id if scheduler else str(given.get("id", ""))),
        ("Started", f"{day} {fmt.clock(started)}{ago}" if started else ""),
        ("Workers", fmt.count(health["workers"])),
        ("Threads", fmt.count(health["threads"])),
        ("Memory", fmt.binary(health["memory"]) + (f" of {fmt.binary(limit)}" if limit else "")),
        (
            "Tasks",
            "{total}: {done} done, {processing} processing, {erred} failed".format(**numbers),
        ),
    ]


def _workers(store: Store) -> str:
    addresses = store.workers.address
    if not addresses:
        return "<p>There are no workers.</p>"
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in _HEADERS)
    rows = "".join(
        _worker(row) for row in map(store.workers.row, addresses[:MAX_WORKERS]) if row is not None
    )
    left = len(addresses) - MAX_WORKERS
    more = f"<p>{fmt.plural(left, 'more worker')}, see the page Workers.</p>" if left > 0 else ""
    return (
        f'<div class="wide"><table class="rows"><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>{more}"
    )


def _worker(row: Mapping[str, Any]) -> str:
    address, name, limit = str(row["address"]), str(row["name"]), row["memory_limit"]
    cells = (
        name if name != address else "",
        str(row["status"]),
        fmt.count(row["nthreads"]),
        fmt.percent(row["cpu"] / 100),
        fmt.binary(row["memory"]),
        fmt.binary(limit) if limit else "none",
        fmt.percent(row["memory"] / limit) if limit else "",
        fmt.count(row["processing"]),
        fmt.count(row["executing"]),
        fmt.duration(row["occupancy"]),
        fmt.clock(row["last_seen"]) if row["last_seen"] else "",
    )
    tail = "".join(f"<td>{escape(text)}</td>" for text in cells)
    logs = _worker_link(address, "logs", show="logs")
    stacks = _worker_link(address, "call stacks", show="call-stacks")
    return f"<tr><td>{_worker_link(address, address)}</td>{tail}<td>{logs} {stacks}</td></tr>"


def _worker_link(address: str, text: str, **show: str) -> str:
    query = urlencode({"worker": address, **show})
    return f'<a href="./plots/worker?{escape(query)}">{escape(text)}</a>'


def _log_text(log: Query) -> str:
    if log.state == "failed":
        return f"<p>{escape(log.error)}</p>"
    if log.answer is None:
        return "<p>It has not come yet; load the page again.</p>"
    lines: Sequence[Mapping[str, Any]] = log.answer.get("lines", ())
    text = "\n".join(_line(line) for line in lines[: -MAX_LINES - 1 : -1])
    return f"<pre>{escape(text)}</pre>" if lines else "<p>It is empty.</p>"


def _line(line: Mapping[str, Any]) -> str:
    level, message = str(line["level"]), str(line["message"])
    return message if level in message else f"{level}: {message}"
