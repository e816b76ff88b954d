"""The runs of a cluster as JSON, for ``/runs.json`` and, as they change, for a browser page."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from dask_diag_lab.analysis.budget import BUSY
from dask_diag_lab.analysis.case import case_of
from dask_diag_lab.analysis.findings import TITLES, Finding, findings_of
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


class _Known(NamedTuple):
    """What a job has worked out of a run."""

    offered_s: float = 0.0
    budget: Mapping[str, float] = {}
    findings: Sequence[Finding] = ()


class Runs:
    """What is told of the runs; what became of one that is over is worked out once, in a job."""

    def __init__(self, live: LiveSession) -> None:
        self.live = live
        self._known: dict[int, Latest[_Known]] = {}

    def rows(self, most: int) -> list[dict[str, Any]]:  # JSON
        """Return the last runs, newest first.

        Seconds; times are by the scheduler's clock. ``stop`` is None of one that goes on, and
        ``budget`` empty and ``findings`` 0 until they are known. ``is_own``: of this process's own
        clients.
        """
        records = list(self.live.history.runs)[-most:]
        there = {record.number for record in self.live.history.runs}
        self._known = {n: known for n, known in self._known.items() if n in there}
        return [self._row(record) for record in reversed(records)]

    def _row(self, record: RunRecord) -> dict[str, Any]:  # JSON
        history, known = self.live.history, self._of(record)
        until = min(record.stop, max(self.live.time, record.start))
        lasted = fmt.duration(until - record.start)
        idle_s = known.offered_s - sum(known.budget.get(name, 0.0) for name in BUSY)
        parts = [f"{fmt.percent(idle_s / known.offered_s)} idle"] if known.offered_s else []
        for first in known.findings[:1]:
            saved = f": up to {fmt.duration(first.saved_s)}" if isfinite(first.saved_s) else ""
            parts.append(f"{TITLES[first.cause].lower()}{saved}")
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
            "offered_s": known.offered_s,
            "budget": dict(known.budget),
            "findings": len(known.findings),
            "line": " · ".join([lasted, *parts]),
        }

    def _of(self, record: RunRecord) -> _Known:
        live, number = self.live, record.number
        latest = self._known.setdefault(number, Latest(live.jobs, rest=REST))
        window = Window(record.start, record.stop)
        version = 0 if record.is_over else live.history.actions.version

        def begin() -> Callable[[], _Known]:
            read = case_of(live.history, window, max(live.time, record.last), number)

            def make() -> _Known:
                case = read()
                its = case.budget
                return _Known(its.offered_s, its.seconds, findings_of(case, fmt.write))

            return make

        return latest.begun(record.start, (window, version), begin) or _Known()


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
