"""Real clusters with diagnostics; waiting until a plot shows what `distributed` knows."""

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
from bokeh.model import Model
from distributed import Client, Future, LocalCluster, Scheduler, wait

import dask_diag_lab
from dask_diag_lab.session import Diagnostics
from dask_diag_lab.store import LiveSession
from dask_diag_lab.views.registry import get_plot
from dask_diag_lab.views.view import Caption, View
from tests.kernel.dashboards import answer_of
from tests.kernel.serving import wait_until

T = TypeVar("T")
U = TypeVar("U")
Table = dict[str, list[Any]]  # numbers and text
AnyFuture = Future[Any]  # of a result that nobody looks at
LIMIT_S = 45.0
PAUSE_S = 0.05
N_ANSWERS = 100
"""Answers of `distributed` that are kept: a plot may be a few heartbeats behind."""

# Workers in this process that talk over TCP, as those on several machines do. Each takes the
# memory of the whole process for its own, and would pause.
OVER_TCP: Mapping[str, Any] = {
    "protocol": "tcp",
    "host": "127.0.0.1",
    "memory_limit": "64 GiB",
}


class Cluster:
    """One cluster, its client and its diagnostics.

    Attributes
    ----------
    client : Client
    diagnostics : Diagnostics
    held : list of Future
        What the cluster has to keep.
    """

    def __init__(self, client: Client, diagnostics: Diagnostics) -> None:
        self.client = client
        self.diagnostics = diagnostics
        self.held: list[AnyFuture] = []

    def table(self, plot: str, **arguments: str) -> Table:
        """Return the columns that ``GET /plots/<name>.json`` answers."""
        query = f"?{urlencode(arguments)}" if arguments else ""
        try:
            reply = answer_of(self.diagnostics, f"/plots/{plot}.json{query}")
        except HTTPError as error:
            with error:
                raise AssertionError(f"{plot}: {error}: {error.read(500)!r}") from None
        columns: Table = reply["columns"]
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

    def events(self, kind: str) -> list[dict[str, Any]]:
        """Return the rows of one kind in Events."""
        return [row for row in self.rows("events") if row["kind"] == kind]

    def computed(self, *, outcome: str = "") -> list[dict[str, Any]]:
        """Return the rows of computing in the task stream, perhaps only those of one outcome."""
        rows = self.rows("task-stream")
        return [r for r in rows if r["kind"] == "compute" and outcome in ("", r["outcome"])]

    def ask(self, function: Callable[[Scheduler], T]) -> T:
        """Return ``function(scheduler)``, run where the scheduler is."""

        def on_scheduler(dask_scheduler: Scheduler) -> T:
            return function(dask_scheduler)

        answer: T = self.client.run_on_scheduler(on_scheduler)
        return answer

    @property
    def addresses(self) -> list[str]:
        """Addresses of the workers, in the order of their names."""

        def by_name(scheduler: Scheduler) -> list[str]:
            workers = sorted(scheduler.workers.values(), key=lambda ws: str(ws.name))
            return [ws.address for ws in workers]

        return self.ask(by_name)

    def drawn(self, plot: str, read: Callable[[View, Model], T], **arguments: str) -> T:
        """Draw a plot, also what is made off the loop; return ``read(view, picture)`` then."""

        def make(live: LiveSession) -> tuple[View, Model]:
            view = get_plot(plot)(live, arguments=arguments)
            return view, view.build()

        def draw(live: LiveSession) -> bool:
            view.update()
            return live.jobs.n_open == 0

        def submit(function: Callable[[LiveSession], U]) -> U:
            return self.diagnostics.submit(function, is_fresh=True).result(LIMIT_S)

        self.table(plot, **arguments)  # what only this plot needs is asked for from now on
        view, picture = submit(make)
        try:
            wait_until(lambda: submit(draw), f"{plot} is not drawn yet", LIMIT_S)
            return submit(lambda _: read(view, picture))
        finally:
            submit(lambda _: view.close())

    def caption(self, plot: str, **arguments: str) -> Caption:
        """Return what stands around a plot once it is drawn."""
        return self.drawn(plot, lambda view, _: view.caption, **arguments)

    def agree(
        self,
        plot: Callable[[], T],
        distributed: Callable[[Scheduler], T],
        is_ready: Callable[[T], object] = bool,
        is_same: Callable[[T, T], bool] = lambda ours, theirs: ours == theirs,
    ) -> T:
        """Wait until a plot shows what `distributed` knows, or knew a moment ago, and return that.

        Heartbeats change numbers between two questions, so `distributed` is asked all the time
        while the plot is, and the plot again until they meet.

        Parameters
        ----------
        plot : callable
            Returns what the plot shows.
        distributed : callable
            Takes the scheduler, returns what `distributed` knows.
        is_ready : callable
            Whether that is what the test is about yet.
        is_same : callable
            Compares both; equality unless a tolerance is given.
        """
        deadline = time.monotonic() + LIMIT_S
        answers: deque[T] = deque(maxlen=N_ANSWERS)
        with ThreadPoolExecutor(1) as thread:
            while True:
                answers.append(self.ask(distributed))
                asked = thread.submit(plot)
                while not asked.done():
                    time.sleep(PAUSE_S)
                    answers.append(self.ask(distributed))
                ours = asked.result()
                ready = [theirs for theirs in answers if is_ready(theirs)]
                if any(is_same(ours, theirs) for theirs in ready):
                    return ours
                if time.monotonic() > deadline:
                    assert ready, f"`distributed` never came there: {answers[-1]}"
                    raise AssertionError(f"plot: {ours}\n`distributed`: {ready[-1]}")

    def until(self, read: Callable[[], T], condition: Callable[[T], object]) -> T:
        """Return what ``read`` returns once it meets the condition."""
        deadline = time.monotonic() + LIMIT_S
        while not condition(found := read()):
            assert time.monotonic() < deadline, f"never came; last: {found}"
            time.sleep(PAUSE_S)
        return found

    def becomes(self, read: Callable[[], object], value: object) -> None:
        """Wait until ``read`` returns this value."""
        self.until(read, lambda found: found == value)

    def measure_bandwidth(self, source: str, target: str) -> None:
        """Move data from one worker to another until the scheduler knows how fast that was.

        `distributed` forgets what was measured while a heartbeat was under way.
        """

        def measure() -> bool:
            made = self.client.submit(np.ones, 2**20, workers=[source], pure=False)
            wait(self.client.submit(np.sum, made, workers=[target], pure=False))
            return self.ask(lambda scheduler: (target, source) in scheduler.bandwidth_workers)

        self.until(measure, bool)


@contextmanager
def cluster(
    config: Mapping[str, Any] | None = None,  # values of any type
    *,
    processes: bool = False,
    **options: Any,  # arguments of `LocalCluster`
) -> Iterator[Cluster]:
    """Run a cluster with diagnostics; take both down after."""
    with dask.config.set(dict(config or {})):
        made = LocalCluster(processes=processes, dashboard_address=":0", **options)
        with made, Client(made) as client, dask_diag_lab.attach(client) as diagnostics:
            found = Cluster(client, diagnostics)
            found.becomes(
                lambda: diagnostics.submit(lambda live: live.feed_state.state).result(LIMIT_S),
                "live",
            )
            yield found
            found.held.clear()


def near(share: float) -> Callable[[Mapping[Any, float], Mapping[Any, float]], bool]:
    """Return a comparison of numbers by name that lets each differ by a share of the second's."""

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


def bytes_in_memory(scheduler: Scheduler) -> dict[str, float]:
    """Return the bytes of all results of each prefix."""
    tasks = [ts for ts in scheduler.tasks.values() if ts.state == "memory"]
    return sums(
        [{"prefix": ts.prefix.name, "nbytes": ts.nbytes} for ts in tasks], "prefix", "nbytes"
    )
