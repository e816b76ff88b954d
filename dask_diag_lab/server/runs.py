"""The runs of a cluster as JSON, for ``/runs.json`` and, as they change, for a browser page."""

from __future__ import annotations

import json
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.known_runs import known_run

if TYPE_CHECKING:
    from dask_diag_lab.server.stream import Stream
    from dask_diag_lab.store import LiveSession
    from dask_diag_lab.store.runs import RunRecord

MAX_TOLD: Final = 10
"""Runs that a page is told of, the newest; ``/runs.json`` has all that are kept."""


def run_rows(live: LiveSession, most: int) -> list[dict[str, Any]]:  # JSON
    """Return the last runs, newest first.

    Seconds; times are by the scheduler's clock. ``stop`` is None of one that goes on, and
    ``budget`` empty and ``findings`` 0 until they are known. ``is_own``: of this process's own
    clients.
    """
    return [_row(live, record) for record in reversed(list(live.history.runs)[-most:])]


def _row(live: LiveSession, record: RunRecord) -> dict[str, Any]:  # JSON
    history, known = live.history, known_run(live, record)
    until = min(record.stop, max(live.time, record.start))
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
        "tasks": record.n_done,
        "submitted": record.n_submitted,
        "failed": record.n_erred,
        "attempts": record.n_attempts,
        "offered_s": known.offered_s,
        "budget": dict(known.budget),
        "findings": len(known.findings),
        "line": " · ".join(
            filter(None, (fmt.duration(until - record.start), idle, known.first_finding))
        ),
    }


class RunsPage:
    """Tells a browser page of the last runs, at once and whenever that changes."""

    needs: frozenset[str] = frozenset()

    def __init__(self, live: LiveSession, stream: Stream, *, is_watched: bool) -> None:
        self.stream, self.is_watched = stream, is_watched
        self._live = live
        self._told: object = None
        self._seen = -1

    def __str__(self) -> str:
        return "The list of runs"

    @property
    def has_news(self) -> bool:
        """Whether something may have changed, and the browser took what it was sent before."""
        return not self.stream.is_sending and self._seen != self._live.version

    def update(self) -> None:
        """Have the browser sent the runs, where these have changed."""
        self._seen = self._live.version
        rows = run_rows(self._live, MAX_TOLD)
        if rows != self._told:
            self._told = rows
            self.stream.send(json.dumps({"type": "runs", "runs": rows}, allow_nan=False))

    def close(self) -> None:
        """Nothing to let go of; see `Page.close`."""
