"""Answers to plain HTTP requests: lists of plots, health, tables, files.

Must be importable without Bokeh: health and lists are there while that is still being loaded.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl
from zlib import crc32

from tornado.web import HTTPError, StaticFileHandler

from dask_diag_lab.schema import STATES
from dask_diag_lab.server.auth import SafeHandler
from dask_diag_lab.server.context import ServerContext, until
from dask_diag_lab.store.runs import MAX_RUNS
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.known_runs import KnownRun, known_run
from dask_diag_lab.views.names import losses
from dask_diag_lab.views.view import PERIOD, RUN, ArgumentError, parse_count

if TYPE_CHECKING:
    from dask_diag_lab.store import LiveSession
    from dask_diag_lab.store.runs import RunRecord

logger = logging.getLogger(__name__)

NOT_ARGUMENTS: Final = frozenset({"token", "sort", "limit"})
"""Names in a query that are not the plot's: who may see it, which rows of its table."""
MAX_VERSION: Final = 2**31
BUDGETS_S: Final = 10.0
"""So long the list of runs waits for their budgets; it has those that are known by then."""
PART_BYTES: Final = 1 << 20
MAX_FILE_NAME: Final = 60
"""Of a recording, sent at once."""


def health_of(live: LiveSession) -> dict[str, Any]:  # JSON
    """Return the health of the cluster that a session follows: ``/health`` without our own part.

    Bytes and seconds; ``since`` is when it came into its state, by this process's clock in seconds
    since the epoch. ``memory_limit`` is that of Cluster Memory, 0 unless each worker has
    one. ``tasks`` are those of the groups that the scheduler knows now, without forgotten ones;
    done are those in memory or released. ``losses`` are the workers that died of late, and of the
    last when and why. A recording has no ``since``.
    """
    feed, scheduler, workers = live.feed_state, live.history.scheduler, live.history.workers
    is_there = scheduler is not None and feed.state in ("live", "degraded")
    totals = workers.totals()
    states = dict(zip(STATES, map(int, live.history.groups.states.sum(axis=0)), strict=True))
    # A group counts as erred what failed and is forgotten, also before a restart.
    erred = states["erred"] if scheduler is None else scheduler.n_erred
    since = {"since": feed.since} if live.recorded is None else {}
    return {
        "state": feed.state,
        "reason": feed.reason,
        **since,
        "workers": scheduler.n_workers if scheduler and is_there else 0,
        "threads": scheduler.nthreads if scheduler and is_there else 0,
        "memory_limit": totals.memory_limit if is_there else 0,
        "memory": totals.memory if is_there else 0,
        "tasks": {
            "total": sum(states.values()) - states["forgotten"] - states["erred"] + erred,
            "done": states["memory"] + states["released"],
            "erred": erred,
            "processing": states["processing"],
        },
        "losses": dict(
            zip(("workers", "text", "time"), losses(live, has_clock=False), strict=True)
        ),
        "time": float(live.time),
    }


def run_rows(
    live: LiveSession, most: int, *, is_brief: bool = False
) -> list[dict[str, Any]]:  # JSON
    """Return the last runs, newest first.

    Seconds; times are by the scheduler's clock. ``stop`` is None of one that goes on, and
    ``budget`` empty and ``findings`` 0 until they are known. ``is_own``: of this process's own
    clients. Where it ``is_brief``, it is without what would have to be worked out.
    """
    records = reversed(list(live.history.runs)[-most:])
    return [_row(live, o, KnownRun() if is_brief else known_run(live, o)) for o in records]


def _row(live: LiveSession, record: RunRecord, known: KnownRun) -> dict[str, Any]:  # JSON
    history = live.history
    # Of one that goes on, at the moment of the share that is said beside it.
    so_far_s = known.wall_s or max(live.time - record.start, 0.0)
    took_s = record.stop - record.start if record.is_over else so_far_s
    idle = f"{fmt.percent(known.idle_share)} idle" if known.offered_s else ""
    return {
        "number": record.number,
        "name": record.name(history.strings),
        "cell": record.code.cell,
        "count": record.code.count,
        "is_own": record.client in history.runs.clients,
        "state": record.state,
        "start": record.start,
        "stop": record.stop if isfinite(record.stop) else None,
        "tasks": record.n_done - record.n_again,
        "submitted": record.n_submitted,
        "failed": record.n_erred,
        "attempts": record.n_attempts,
        "offered_s": known.offered_s,
        "budget": dict(known.budget),
        "findings": len(known.findings),
        "line": " · ".join(filter(None, (fmt.duration(took_s), idle, known.first_finding))),
    }


def in_words(error: HTTPError) -> str:
    """Return what an error was made with; '' for nothing."""
    # tornado keeps text without arguments as a format with doubled percent signs.
    return (error.log_message or "") % error.args


class ContextHandler(SafeHandler):
    """What all handlers share, the `ServerContext` too; errors are answered as text."""

    draws = False
    """Whether it needs Bokeh, and so waits until that is loaded."""

    def initialize(self, context: ServerContext) -> None:
        self.context = context

    async def prepare(self) -> None:
        if self.draws:
            self.context.is_wanted.set()
            await self.context.loaded.wait()

    def sentence(self, given: Mapping[str, Any]) -> str:  # what tornado gives `write_error`
        """Return what is wrong, in words."""
        error = (given.get("exc_info") or (None, None))[1]
        if error is None or isinstance(error, HTTPError):
            return (error and in_words(error)) or self._reason
        return f"This could not be answered ({type(error).__name__}: {str(error)[:200]})."

    def write_error(self, status_code: int, **kwargs: Any) -> None:  # noqa: ARG002  # tornado's
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.finish(f"{self.sentence(kwargs)}\n")

    def write_json(self, answer: object) -> None:
        """End with `answer` as JSON."""
        self.set_header("Content-Type", "application/json; charset=utf-8")
        self.finish(json.dumps(answer, allow_nan=False))


class PlotsHandler(ContextHandler):
    """``/plots.json``."""

    def get(self) -> None:
        self.write_json({"plots": self.context.listed})
        self.context.is_wanted.set()


class RunsHandler(ContextHandler):
    """``/runs.json``: the runs that are kept, newest first, or with ``brief``; see `run_rows`."""

    async def get(self) -> None:
        context = self.context
        await context.catch_up()
        if self.get_query_argument("brief", ""):
            self.write_json({"runs": run_rows(context.live, MAX_RUNS, is_brief=True)})
            return
        jobs = context.live.jobs
        with jobs.noticed() as begun:
            run_rows(context.live, MAX_RUNS)
        await until(lambda: all(job.is_done for job in begun), BUDGETS_S)
        self.write_json({"runs": run_rows(context.live, MAX_RUNS)})


class StockPlotsHandler(ContextHandler):
    """``/individual-plots.json``: the stock mapping of titles to routes."""

    draws = True

    def get(self) -> None:
        titles = {
            f"individual-{name}".replace("-", " ").title(): name for name in self.context.plots
        }
        self.write_json({title: f"/individual-{name}" for title, name in titles.items()})


class HealthHandler(ContextHandler):
    """``/health``: that of the cluster, and ``plots_version``, which moves with ``/plots.json``."""

    def get(self) -> None:
        self.context.is_found = True
        version = crc32(json.dumps(self.context.listed).encode()) % MAX_VERSION
        health = health_of(self.context.live) | {"plots_version": version}
        if self.context.missing and health["state"] == "live":
            health |= {"state": "degraded", "reason": self.context.missing}
        self.write_json(health)


class TableHandler(ContextHandler):
    """``/plots/<name>.json``, ``.csv`` and what else of `View.formats`: what the picture shows."""

    draws = True

    async def get(self, name: str, kind: str) -> None:
        plot = self.context.plot(name)
        from dask_diag_lab.server.control import read_arguments
        from dask_diag_lab.server.export import FORMATS, export

        if kind not in plot.formats:
            there_are = ", ".join(f".{one}" for one in plot.formats)
            raise HTTPError(404, "%s", f"There is no “.{kind}” of “{name}”, but {there_are}.")
        query = parse_qsl(self.request.query, keep_blank_values=True)
        given = {name: value for name, value in query if name not in NOT_ARGUMENTS}
        sort, limit = self.get_query_argument("sort", ""), self.get_query_argument("limit", "")
        live = self.context.live
        try:
            n_rows = parse_count("limit", limit) if limit else None
            arguments = read_arguments(given)
            if plot.has_period and arguments.keys().isdisjoint({*PERIOD, *RUN}):
                arguments |= live.selection
            view = plot(live, arguments=arguments)
        except ValueError as error:
            raise HTTPError(400, "%s", str(error)) from error
        content_type, write = FORMATS[kind]
        parts = await export(self.context, view, write, sort, n_rows)
        self.set_header("Content-Type", f"{content_type}; charset=utf-8")
        if kind != "json":
            self.set_header("Content-Disposition", f'attachment; filename="{name}.{kind}"')
        async for part in parts:
            self.write(part)
            await self.flush()


class RecordingHandler(ContextHandler):
    """``/recording.daskrun``: all that is known, as a file; with ``run`` its plots show that."""

    async def get(self) -> None:
        if self.context.snapshot is None:
            raise HTTPError(404, "Nothing is recorded here.")
        try:
            number = parse_count("run", self.get_query_argument("run", "") or "0")
        except ArgumentError as error:
            raise HTTPError(400, "%s", str(error)) from error
        write = await self.context.snapshot({"run": str(number)} if number else {})
        history = self.context.live.history
        record = history.runs.of_number(number)
        # Without a run whoever saves it gives the name.
        name = "" if record is None else record.name(history.strings)
        plain = re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-.")[:MAX_FILE_NAME]
        named = f'; filename="{plain}.daskrun"' if plain else ""
        with TemporaryDirectory(prefix="dask-diag-lab-") as folder:
            path = Path(folder) / "recording.daskrun"
            await asyncio.to_thread(write, path)
            self.set_header("Content-Type", "application/octet-stream")
            self.set_header("Content-Disposition", f"attachment{named}")
            with path.open("rb") as file:
                while part := await asyncio.to_thread(file.read, PART_BYTES):
                    self.write(part)
                    await self.flush()


class FilesHandler(SafeHandler, StaticFileHandler):
    """Scripts and styles: kept by the browser, checked by their hash."""

    def set_extra_headers(self, path: str) -> None:  # noqa: ARG002  # tornado's
        """Have the browser keep the file."""
        self.set_header("Cache-Control", "private, max-age=3600")


class BokehFilesHandler(ContextHandler, FilesHandler):  # type: ignore[misc]  # it is given a context
    """BokehJS, of the Bokeh that is loaded: whoever asks before waits."""

    draws = True
    default_filename = None

    async def prepare(self) -> None:
        await super().prepare()
        from bokeh.settings import settings

        self.root = str(settings.bokehjs_path())
