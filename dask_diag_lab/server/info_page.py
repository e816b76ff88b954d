"""The page ``/info``: the cluster in words and tables, as it is at the moment of the request."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from dask_diag_lab.server.announce import versions
from dask_diag_lab.server.configuration import shown_configuration
from dask_diag_lab.server.health import health_of
from dask_diag_lab.server.html import PageHandler
from dask_diag_lab.server.page_plans import INFO
from dask_diag_lab.views import format as fmt

if TYPE_CHECKING:
    from dask_diag_lab.server.health import TaskCounts
    from dask_diag_lab.store import Store
    from dask_diag_lab.store.inquiries import Inquiry

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


class InfoHandler(PageHandler):
    """``/info``."""

    async def get(self) -> None:
        if self.site.catch_up is not None:
            await self.site.catch_up()
        log = await self._scheduler_log()
        self.show("Info", self._body(log), kind="info", here=INFO, base="./")

    async def _scheduler_log(self) -> Inquiry:
        inquiries, pages = self.site.store.inquiries, self.site.pages
        log = inquiries.ask("logs", worker="")
        if log.state != "asked" and self.site.store.time - log.answered_at > OLD_S:
            inquiries.ask_again(log)
        deadline = time.monotonic() + LOG_WAIT_S
        while pages is not None and log.state == "asked" and time.monotonic() < deadline:
            await pages.next_tick(deadline - time.monotonic())
        return log

    def _body(self, log: Inquiry) -> str:
        store = self.site.store
        return "".join(
            (
                f"<p>As of {fmt.clock(time.time())}; load the page again for what is now.</p>",
                _section("Cluster", _facts(_cluster(store, self.site.info()))),
                _section("Versions where the client runs", _facts(_versions())),
                _section("Workers", _workers(store)),
                _section("Log of the scheduler, newest first", _log_text(log)),
                _section("Configuration of Dask where the client runs", _configuration()),
            )
        )


def _section(title: str, inside: str) -> str:
    return f"<section><h2>{escape(title)}</h2>{inside}</section>"


def _facts(facts: Iterable[tuple[str, str]]) -> str:
    rows = (
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(words)}</td></tr>'
        for name, words in facts
        if words
    )
    return f'<table class="facts">{"".join(rows)}</table>'


def _cluster(store: Store, info: Mapping[str, Any]) -> list[tuple[str, str]]:  # JSON values
    health, scheduler = health_of(store), store.scheduler
    given = info.get("scheduler", {})
    address = scheduler.address if scheduler else str(given.get("address", ""))
    limit = health["memory_limit"]
    return [
        ("State", " ".join(filter(None, (health["state"], health["reason"])))),
        ("Scheduler", address),
        ("Scheduler id", scheduler.id if scheduler else str(given.get("id", ""))),
        ("Started", _since(scheduler.started, store.time) if scheduler else ""),
        ("Workers", fmt.count(health["workers"])),
        ("Threads", fmt.count(health["threads"])),
        (
            "Memory",
            fmt.binary(health["memory"]) + (f" of {fmt.binary(limit)}" if limit else ""),
        ),
        ("Tasks", _tasks(health["tasks"])),
    ]


def _tasks(counts: TaskCounts) -> str:
    done, processing, erred = (
        fmt.count(number) for number in (counts["done"], counts["processing"], counts["erred"])
    )
    total = fmt.count(counts["total"])
    return f"{total}: {done} done, {processing} processing, {erred} failed"


def _since(started: float, now: float) -> str:
    if not started:
        return ""
    day = time.strftime("%Y-%m-%d", time.localtime(started))
    ago = f", {fmt.duration(now - started)} ago" if now > started else ""
    return f"{day} {fmt.clock(started)}{ago}"


def _versions() -> list[tuple[str, str]]:
    return [(name, number or "not installed") for name, number in versions().items()]


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
    tail = "".join(f"<td>{escape(words)}</td>" for words in cells)
    links = " ".join(
        _worker_link(address, words, show)
        for words, show in (("logs", "logs"), ("call stacks", "call-stacks"))
    )
    return f"<tr><td>{_worker_link(address, address)}</td>{tail}<td>{links}</td></tr>"


def _worker_link(address: str, words: str, show: str = "") -> str:
    query = urlencode({"worker": address, **({"show": show} if show else {})})
    return f'<a href="./plots/worker?{escape(query)}">{escape(words)}</a>'


def _log_text(log: Inquiry) -> str:
    lines: Sequence[Mapping[str, Any]] = (log.answer or {}).get("lines", ())
    if log.state == "failed":
        return f"<p>{escape(log.error)}</p>"
    if not lines:
        words = (
            "It has not come yet; load the page again." if log.answer is None else "It is empty."
        )
        return f"<p>{words}</p>"
    shown = lines[: -MAX_LINES - 1 : -1]
    text = "\n".join(_line(str(line["level"]), str(line["message"])) for line in shown)
    return f"<pre>{escape(text)}</pre>"


def _line(level: str, message: str) -> str:
    return message if level in message else f"{level}: {message}"


def _configuration() -> str:
    from dask import config

    words = (
        "The scheduler and the workers may have another one. Settings that could hold a secret, "
        "such as addresses, paths and texts, are left out."
    )
    with config.config_lock:  # a cell may be setting something
        shown = shown_configuration(config.config)
    return f"<p>{words}</p>{_facts(shown)}"
