"""The page ``/info``: the cluster in words and tables, as it is at the moment of the request."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from dask_diag_lab.server.announce import versions
from dask_diag_lab.server.handlers import health_of, until
from dask_diag_lab.server.pages import INFO, PageHandler
from dask_diag_lab.views import format as fmt

if TYPE_CHECKING:
    from dask_diag_lab.server.handlers import Site
    from dask_diag_lab.store import History, LiveSession

MAX_WORKERS: Final = 1000
LOG_WAIT_S: Final = 2.0
"""So long the page waits at most for the scheduler's log."""

# Configuration is where people keep passwords and tokens, so what is shown is named here.
SHOWN: Final[Mapping[str, str]] = {
    "diag-lab": "auto-attach interval idle-interval max-actions port",
    "array": "backend chunk-size chunk-size-tolerance rechunk.method rechunk.threshold"
    " slicing.split-large-chunks query-planning",
    "dataframe": "backend shuffle.method shuffle.compression convert-string query-planning",
    "optimization": "annotations.fuse tune.active fuse.active fuse.ave-width fuse.max-width"
    " fuse.max-height fuse.max-depth-new-edges fuse.rename-keys fuse.delayed",
    "distributed.scheduler": "allowed-failures bandwidth default-data-size events-cleanup-delay"
    " idle-timeout no-workers-timeout work-stealing work-stealing-interval worker-saturation"
    " worker-ttl unknown-task-duration validate active-memory-manager.start"
    " active-memory-manager.interval active-memory-manager.measure locks.lease-timeout"
    " locks.lease-validation-interval rootish-taskgroup rootish-taskgroup-dependencies"
    " reuse-broadcast-comm",
    "distributed.worker": "multiprocessing-method use-file-locking daemon validate"
    " connections.incoming connections.outgoing transfer.message-bytes-limit lifetime.duration"
    " lifetime.stagger lifetime.restart profile.enabled profile.interval profile.cycle"
    " profile.low-level",
    "distributed.worker.memory": "target spill pause terminate transfer max-spill monitor-interval"
    " spill-compression recent-to-old-time rebalance.measure rebalance.sender-min"
    " rebalance.recipient-max rebalance.sender-recipient-gap",
    "distributed.comm": "retry.count retry.delay.min retry.delay.max compression shard offload"
    " default-scheme socket-backlog timeouts.connect timeouts.tcp require-encryption zstd.level"
    " zstd.threads websockets.shard",
    "distributed.deploy": "lost-worker-timeout cluster-repr-interval",
    "distributed.p2p": "comm.buffer comm.concurrency comm.message-bytes-limit comm.retry.count"
    " comm.retry.delay.min comm.retry.delay.max storage.buffer storage.disk threads",
    "distributed.diagnostics": "nvml cudf computations.max-history computations.nframes"
    " erred-tasks.max-history",
    "distributed.admin": "large-graph-warning-threshold tick.interval tick.limit tick.cycle"
    " max-error-length log-length low-level-log-length pdb-on-err system-monitor.interval"
    " system-monitor.log-length system-monitor.disk system-monitor.host-cpu"
    " system-monitor.gil.enabled system-monitor.gil.interval event-loop",
}
"""Names that are shown, by their section."""
_NAMES: Final = sorted(f"{top}.{name}" for top, names in SHOWN.items() for name in names.split())
_PLAIN: Final = re.compile(r"[A-Za-z0-9 ._%+-]{0,24}")
"""Values that are numbers, words, sizes and durations, as those names have; a list, a URL, a path
or a long random text is none."""
UNSET: Final = "?"
"""None of those values."""


class InfoHandler(PageHandler):
    """``/info``."""

    async def get(self) -> None:
        facts = await facts_of(self.site)
        workers = self.site.live.history.workers
        left = len(workers.address) - MAX_WORKERS
        self.show(
            "info.html",
            "Info",
            INFO,
            kind="info",
            now=fmt.clock(time.time()),
            workers=list(_workers(self.site.live.history)),
            more=fmt.plural(left, "more worker") if left > 0 else "",
            **facts,
        )


async def facts_of(site: Site, since: float = 0.0) -> dict[str, Any]:
    """Return ``cluster``, ``installed`` and ``settings`` as names and values, and the ``log``.

    Of the scheduler's log that is what came at ``since``, seconds since the epoch, or after it.
    Where there is no ``log``, ``no_log`` says why.
    """
    import dask

    live = site.live
    await site.catch_up()
    cluster = _cluster(live, site.info())
    log = live.queries.ask("logs", worker="")
    live.queries.ask_again(log)
    await until(lambda: log.state != "asked", LOG_WAIT_S)
    found = log.answer or {"times": (), "lines": ()}
    lines = [line for at, line in zip(found["times"], found["lines"], strict=True) if at >= since]
    no_log = "No logs to report." if log.answer else "It had not come yet when this was written."
    return {
        "cluster": cluster,
        "installed": [(name, number or "not installed") for name, number in versions().items()],
        "settings": shown_configuration(dask.config.config),
        "log": "\n".join(lines),
        "no_log": log.error or no_log,
    }


def shown_configuration(config: dict[str, Any]) -> list[tuple[str, str]]:
    """Return names and values of `config` that may be shown, sorted.

    Parameters
    ----------
    config : mapping
        As ``dask.config.config``: names to values or to mappings of the same kind.
    """
    import dask

    with dask.config.config_lock:  # a cell may be setting something
        found = [(name, str(dask.config.get(name, UNSET, config))) for name in _NAMES]
    return [(name, value) for name, value in found if _PLAIN.fullmatch(value)]


def _cluster(live: LiveSession, info: Mapping[str, Any]) -> list[tuple[str, str]]:  # JSON values
    health, scheduler, given = health_of(live), live.history.scheduler, info.get("scheduler", {})
    limit = health["memory_limit"]
    tasks = [f"{fmt.count(number)} {name}" for name, number in health["tasks"].items()]
    started = scheduler.started if scheduler else 0.0
    day = time.strftime("%Y-%m-%d", time.localtime(started))
    return [
        ("State", f"{health['state']} {health['reason']}"),
        ("Scheduler", scheduler.address if scheduler else str(given.get("address", ""))),
        ("Scheduler id", scheduler.id if scheduler else str(given.get("id", ""))),
        ("Started", f"{day} {fmt.clock(started)}" if started else ""),
        ("Workers", fmt.count(health["workers"])),
        ("Threads", fmt.count(health["threads"])),
        ("Memory", fmt.binary(health["memory"]) + (f" of {fmt.binary(limit)}" if limit else "")),
        ("Tasks", ", ".join(tasks)),
    ]


def _workers(history: History) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield of each worker the query of its page, its address, and its cells by heading."""
    for row in map(history.workers.row, history.workers.address[:MAX_WORKERS]):
        if row is None:
            continue
        address, name, limit = str(row["address"]), str(row["name"]), row["memory_limit"]
        cells = {
            "Name": name if name != address else "",
            "Status": str(row["status"]),
            "Threads": fmt.count(row["nthreads"]),
            "CPU": fmt.percent(row["cpu"] / 100),
            "Memory": fmt.binary(row["memory"]),
            "Limit": fmt.binary(limit) if limit else "none",
            "In use": fmt.percent(row["memory"] / limit) if limit else "",
            "Assigned": fmt.count(row["processing"]),
            "Running": fmt.count(row["executing"]),
            "Expected work": fmt.duration(row["occupancy"]),
            "Last seen": fmt.clock(row["last_seen"]) if row["last_seen"] else "",
        }
        yield urlencode({"worker": address}), address, cells
