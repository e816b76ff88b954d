"""What plots say over HTTP and what the engine says, and waiting until both say the same."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar
from urllib.error import HTTPError
from urllib.parse import urlencode

import dask
import numpy as np
from distributed import Client, Future, LocalCluster, Scheduler, wait

import dask_diag_lab
from dask_diag_lab.session import Diagnostics
from dask_diag_lab.store import Store
from dask_diag_lab.views.base import Notice, View
from dask_diag_lab.views.registry import get_plot
from tests.kernel.dashboards import answer_of
from tests.kernel.serving import wait_until

T = TypeVar("T")
Table = dict[str, list[Any]]  # numbers and text
AnyFuture = Future[Any]  # of a result that nobody looks at
LIMIT_S = 45.0
PAUSE_S = 0.05
REMEMBERED = 100
"""Answers of the engine, some a second: a plot may be a few heartbeats behind."""


class Situation:
    """One cluster, its client and its diagnostics.

    Parameters
    ----------
    client : Client
    diagnostics : Diagnostics
    """

    def __init__(self, client: Client, diagnostics: Diagnostics) -> None:
        self.client = client
        self.diagnostics = diagnostics

    def reply(self, plot: str, **arguments: str) -> dict[str, Any]:
        """Return all that ``GET /plots/<name>.json`` answers."""
        query = f"?{urlencode(arguments)}" if arguments else ""
        try:
            told: dict[str, Any] = answer_of(self.diagnostics, f"/plots/{plot}.json{query}")
        except HTTPError as error:
            with error:
                raise AssertionError(f"{plot}: {error}: {error.read(500)!r}") from None
        return told

    def table(self, plot: str, **arguments: str) -> Table:
        """Return the columns of a plot's table."""
        columns: Table = self.reply(plot, **arguments)["columns"]
        return columns

    def rows(self, plot: str, **arguments: str) -> list[dict[str, Any]]:
        """Return the rows of a plot's table."""
        columns = self.table(plot, **arguments)
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def by(self, column: str, plot: str, *names: str, **arguments: str) -> dict[Any, Any]:
        """Return one value, or a tuple of several ``names``, for each value of ``column``."""
        found = {}
        for row in self.rows(plot, **arguments):
            cells = tuple(row[name] for name in names)
            found[row[column]] = cells[0] if len(cells) == 1 else cells
        return found

    def engine(self, function: Callable[[Scheduler], T]) -> T:
        """Return ``function(scheduler)``, run where the scheduler is."""

        def ask(dask_scheduler: Scheduler) -> T:
            return function(dask_scheduler)

        answer: T = self.client.run_on_scheduler(ask)
        return answer

    def notice(self, plot: str, **arguments: str) -> Notice:
        """Draw a plot until nothing is being worked out any more; return what it says then."""

        def make(store: Store) -> View:
            view = get_plot(plot).load()(store, arguments=arguments)
            view.build()
            return view

        def draw(store: Store) -> bool:
            view.update()
            return store.workings.n_open == 0

        def submit(function: Callable[[Store], T], *, is_fresh: bool = False) -> T:
            return self.diagnostics.submit(function, is_fresh=is_fresh).result(LIMIT_S)

        view = submit(make, is_fresh=True)
        try:
            wait_until(lambda: submit(draw), f"{plot} is still being worked out", LIMIT_S)
            return view.notice
        finally:
            submit(lambda _: view.close())

    def agree(
        self,
        plot: Callable[[], T],
        engine: Callable[[Scheduler], T],
        is_there: Callable[[T], object] = bool,
        is_same: Callable[[T, T], bool] = lambda ours, theirs: ours == theirs,
    ) -> T:
        """Wait until a plot says what the engine says, or said a moment ago, and return that.

        Heartbeats change numbers between two questions, so the engine is asked all the time while
        the plot is, and the plot again until they meet.

        Parameters
        ----------
        plot : callable
            Returns what the plot says.
        engine : callable
            Takes the scheduler, returns what the engine says.
        is_there : callable
            Whether the engine's answer is that of the situation yet.
        is_same : callable
            Compares both; equality unless a tolerance is stated.
        """
        deadline = time.monotonic() + LIMIT_S
        lately: deque[T] = deque(maxlen=REMEMBERED)
        with ThreadPoolExecutor(1) as other_thread:
            while True:
                lately.append(self.engine(engine))
                asked = other_thread.submit(plot)
                while not asked.done():
                    time.sleep(PAUSE_S)
                    lately.append(self.engine(engine))
                ours = asked.result()
                there = [theirs for theirs in lately if is_there(theirs)]
                if any(is_same(ours, theirs) for theirs in there):
                    return ours
                if time.monotonic() > deadline:
                    assert there, f"the engine never came there: {lately[-1]}"
                    raise AssertionError(f"ours: {ours}\nthe engine's: {there[-1]}")

    def seen(self, read: Callable[[], T], condition: Callable[[T], object]) -> T:
        """Return what ``read`` returns once it meets the condition."""
        found: list[T] = []

        def is_met() -> object:
            found[:] = [read()]
            return condition(found[0])

        try:
            wait_until(is_met, "", LIMIT_S)
        except AssertionError:
            raise AssertionError(f"never came; last: {found}") from None
        return found[0]

    @property
    def addresses(self) -> list[str]:
        """Addresses of the workers, in the order of their names."""

        def ask(scheduler: Scheduler) -> list[str]:
            workers = sorted(scheduler.workers.values(), key=lambda ws: str(ws.name))
            return [ws.address for ws in workers]

        return self.engine(ask)


@contextmanager
def situation(
    config: Mapping[str, Any] | None = None,  # values of any type
    *,
    processes: bool = False,
    **cluster: Any,  # arguments of `LocalCluster`
) -> Iterator[Situation]:
    """Run a cluster with diagnostics; take both down after."""
    with (
        dask.config.set(dict(config or {})),
        LocalCluster(processes=processes, dashboard_address=":0", **cluster) as made,
        Client(made) as client,
        dask_diag_lab.attach(client) as diagnostics,
    ):
        found = Situation(client, diagnostics)
        found.seen(lambda: found.diagnostics.submit(_state).result(LIMIT_S), "live".__eq__)
        yield found


def _state(store: Store) -> str:
    return store.feed_state.state


def measure_bandwidth(found: Situation, source: str, target: str) -> None:
    """Move data from one worker to another until the scheduler knows how fast that was.

    The engine forgets what was measured while a heartbeat was under way.
    """

    def is_known(scheduler: Scheduler) -> bool:
        return (target, source) in scheduler.bandwidth_workers

    def measure() -> bool:
        made = found.client.submit(np.ones, 2**20, workers=[source], pure=False)
        wait(found.client.submit(np.sum, made, workers=[target], pure=False))
        return found.engine(is_known)

    found.seen(measure, bool)


def near(share: float) -> Callable[[Mapping[Any, float], Mapping[Any, float]], bool]:
    """Return a comparison of numbers by name that lets each differ by a share of the engine's."""

    def is_same(ours: Mapping[Any, float], theirs: Mapping[Any, float]) -> bool:
        return ours.keys() == theirs.keys() and all(
            abs(ours[name] - value) <= share * abs(value) for name, value in theirs.items()
        )

    return is_same


def sums(rows: Sequence[Mapping[str, Any]], name: str, value: str) -> dict[Any, float]:
    """Return the sums of one column by another."""
    found: dict[Any, float] = {}
    for row in rows:
        found[row[name]] = found.get(row[name], 0.0) + row[value]
    return found
