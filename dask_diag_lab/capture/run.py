"""``run``: what became of the threads' time while a block was active."""

from __future__ import annotations

import time
from html import escape
from typing import TYPE_CHECKING, Final

import numpy as np

from dask_diag_lab.analysis.budget import CATEGORIES, Facts, budget_of
from dask_diag_lab.analysis.facts import facts_of
from dask_diag_lab.capture.block import CaptureBlock, IncompleteError
from dask_diag_lab.schema import Kind, Outcome
from dask_diag_lab.store.sums import Window
from dask_diag_lab.transport.link import LinkLostError
from dask_diag_lab.views import format as fmt

if TYPE_CHECKING:
    from distributed import Client

    from dask_diag_lab.store import LiveSession

REPORT_S: Final = 3.0
"""So long the end of a block waits at most for what workers tell of it with their heartbeats."""
NAMED: Final = 3
"""Prefixes named in each category."""


def run(name: str | None = None, client: Client | None = None) -> Run:
    """Find out what became of the threads' time while a block is active.

    ``with run("etl") as its: …``, then ``print(its)``; of an asynchronous client ``async with``.

    Parameters
    ----------
    name : str, optional
        Default: when it began.
    client : distributed.Client, optional
        Default: the current client.

    Returns
    -------
    Run

    Raises
    ------
    RuntimeError
        As `Run`.
    """
    return Run(name, client)


class Run(CaptureBlock):
    """What one piece of code made the cluster do, and where its time went; made by `run`.

    All but the name is known when the block has ended.

    Attributes
    ----------
    name : str
    start, stop : float
        Seconds since the epoch on the scheduler's clock.
    n_tasks, n_failed : int
        Tasks that ended in it, and attempts that failed.
    offered_s : float
        Seconds that all worker threads together were there.
    budget : dict of str to float
        What they went to, by category: seconds, which add up to ``offered_s``. The categories are
        those of the plot *Where the Time Goes*; those of 0 s are left out.
    prefixes : dict of str to (dict of str to float)
        Of the categories that belong to tasks: the seconds of each prefix, most first.

    Raises
    ------
    RuntimeError
        At the begin of the block: there is no connected client, or its scheduler cannot be
        reached. At its end: it cannot be reached any more; what is known by then is here. Where
        the block itself raised, a warning says so instead.
    """

    _what = "What became of the time"
    _draws = False

    def __init__(self, name: str | None, client: Client | None) -> None:
        super().__init__()
        self.name = name or ""
        self.start = self.stop = self.offered_s = 0.0
        self.n_tasks = self.n_failed = 0
        self.budget: dict[str, float] = {}
        self.prefixes: dict[str, dict[str, float]] = {}
        self._client = client

    def __str__(self) -> str:
        if not self.stop:
            return f"{self.name or 'Run'}: not over yet"
        rows = [
            f"{fmt.percent(self._share(of)):>7}  {fmt.duration(seconds):>12}"
            f"  {CATEGORIES[of].label:<16}  {self._most(of)}".rstrip()
            for of, seconds in self.budget.items()
        ]
        return "\n".join([self._headline, *rows])

    def _repr_html_(self) -> str:
        if not self.stop:
            return escape(str(self))
        rows = "".join(
            f"<tr><td>{fmt.percent(self._share(of))}</td><td>{fmt.duration(seconds)}</td>"
            f"<td>{CATEGORIES[of].label}</td><td>{escape(self._most(of))}</td></tr>"
            for of, seconds in self.budget.items()
        )
        return f"<strong>{escape(self._headline)}</strong><table>{rows}</table>"

    @property
    def _headline(self) -> str:
        failed = f", {fmt.plural(self.n_failed, 'failed attempt')}" if self.n_failed else ""
        return (
            f"{self.name}: {fmt.duration(self.stop - self.start)}"
            f" · {fmt.plural(self.n_tasks, 'task')}{failed}"
            f" · {fmt.duration(self.offered_s)} of worker threads"
        )

    def _share(self, category: str) -> float:
        return self.budget[category] / self.offered_s

    def _most(self, category: str) -> str:
        named = list(self.prefixes.get(category, {}).items())[:NAMED]
        return ", ".join(f"{prefix} {fmt.duration(seconds)}" for prefix, seconds in named)

    def _start(self) -> None:
        super()._start()
        self.name = self.name or f"Run of {fmt.clock(self._start_s)}"

    def _finish(self) -> None:
        _, stop_s = self._end()
        until = time.monotonic() + REPORT_S
        while not (self._problem or self._has_told(stop_s)) and time.monotonic() < until:
            time.sleep(0.2)
        window = Window(self._start_s, stop_s)
        facts, strings = self._ask(
            lambda live: (facts_of(live.history, window, live.time), live.history.strings)
        )
        self._take(found := facts())
        its = budget_of(found)
        self.start, self.stop, self.offered_s, self.budget = *window, its.offered_s, its.seconds
        self.prefixes = {
            category: {
                strings[prefix]: seconds
                for prefix, seconds in sorted(of.items(), key=lambda item: -item[1])
            }
            for category, of in its.by_prefix.items()
            if of
        }
        if self._problem:
            raise IncompleteError(f"The end of the run is missing: {self._problem}.")

    def _has_told(self, stop_s: float) -> bool:
        """Return whether each worker has sent a heartbeat since a moment, or none can be heard."""

        def told(live: LiveSession) -> bool:
            return bool(np.all(live.history.workers.last_seen > stop_s))

        try:
            return self._ask(told, is_fresh=True)
        except (LinkLostError, TimeoutError):  # the cluster ended with the block
            return True

    def _take(self, found: Facts) -> None:
        actions, window = found.actions, found.window
        is_its = (actions["stop"] > window.start) & (actions["stop"] <= window.stop)
        is_its &= (actions["kind"] == Kind.COMPUTE) & (actions["outcome"] != Outcome.RUNNING)
        is_good = actions["outcome"] == Outcome.OK
        self.n_tasks = int(np.sum(is_its & is_good))
        self.n_failed = int(np.sum(is_its & ~is_good))
