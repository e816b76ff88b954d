"""The runs of a cluster as JSON, for ``/runs.json`` and, as they change, for a browser page."""

from __future__ import annotations

import json
from collections.abc import Callable
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

from dask_diag_lab.analysis.budget import BUSY, Budget, budget_of
from dask_diag_lab.analysis.facts import facts_of
from dask_diag_lab.jobs import Latest
from dask_diag_lab.store.sums import Window
from dask_diag_lab.views import format as fmt

if TYPE_CHECKING:
    from dask_diag_lab.server.stream import Stream
    from dask_diag_lab.store import LiveSession
    from dask_diag_lab.store.runs import RunRecord

MAX_TOLD: Final = 10
"""Runs that a page is told of, the newest; ``/runs.json`` has all that are kept."""
REST: Final = 20.0
"""Times as long as it took, the budget of a run that goes on is not worked out anew."""


class Runs:
    """What is told of the runs; the budget of one that is over is worked out once, in a job."""

    def __init__(self, live: LiveSession) -> None:
        self.live = live
        self._budgets: dict[int, Latest[Budget]] = {}

    def rows(self, most: int) -> list[dict[str, Any]]:  # JSON
        """Return the last runs, newest first.

        Seconds; times are by the scheduler's clock. ``stop`` is None of one that goes on, and
        ``budget`` empty until it is known. ``is_own``: of this process's own clients.
        """
        records = list(self.live.history.runs)[-most:]
        there = {record.number for record in self.live.history.runs}
        self._budgets = {n: budget for n, budget in self._budgets.items() if n in there}
        return [self._row(record) for record in reversed(records)]

    def _row(self, record: RunRecord) -> dict[str, Any]:  # JSON
        history, budget = self.live.history, self._budget(record)
        until = min(record.stop, max(self.live.time, record.start))
        lasted = fmt.duration(until - record.start)
        seconds = {} if budget is None else budget.seconds
        offered_s = sum(seconds.values())
        idle_s = offered_s - sum(seconds.get(name, 0.0) for name in BUSY)
        idle = [f"{fmt.percent(idle_s / offered_s)} idle"] if offered_s else []
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
            "failed": record.n_erred + record.n_attempts,
            "offered_s": offered_s,
            "budget": seconds,
            "line": " · ".join([lasted, *idle]),
        }

    def _budget(self, record: RunRecord) -> Budget | None:
        live, number = self.live, record.number
        latest = self._budgets.setdefault(number, Latest(live.jobs, rest=REST))
        window = Window(record.start, record.stop)
        version = 0 if record.is_over else live.history.actions.version

        def begin() -> Callable[[], Budget]:
            read = facts_of(live.history, window, live.time, number)
            return lambda: budget_of(read())

        return latest.begun(record.start, (window, version), begin)


class RunsPage:
    """Tells a browser page of the last runs, at once and whenever that changes."""

    needs: frozenset[str] = frozenset()

    def __init__(self, runs: Runs, stream: Stream, *, is_watched: bool) -> None:
        self.stream, self.is_watched = stream, is_watched
        self._runs = runs
        self._told: object = None
        self._seen = -1

    def __str__(self) -> str:
        return "The list of runs"

    @property
    def has_news(self) -> bool:
        """Whether something may have changed, and the browser took what it was sent before."""
        return not self.stream.is_sending and self._seen != self._runs.live.version

    def update(self) -> None:
        """Have the browser sent the runs, where these have changed."""
        self._seen = self._runs.live.version
        rows = self._runs.rows(MAX_TOLD)
        if rows != self._told:
            self._told = rows
            self.stream.send(json.dumps({"type": "runs", "runs": rows}, allow_nan=False))

    def close(self) -> None:
        """Nothing to let go of; see `Page.close`."""
