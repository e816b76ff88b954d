"""What findings and estimates of a window are made of, taken out of a history."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np

from dask_diag_lab.analysis.budget import Budget, Facts, budget_of, covered_share
from dask_diag_lab.analysis.facts import facts_of
from dask_diag_lab.schema import STATES, Kind, Outcome
from dask_diag_lab.store import History
from dask_diag_lab.store.arrays import Bools, Columns, Floats, Ints, Objects, narrow
from dask_diag_lab.store.events import DEPARTURES
from dask_diag_lab.store.series import Series
from dask_diag_lab.store.sums import Window

SERIES: Final = ("cpu", "nthreads", "managed", "unmanaged", "memory", "gil_contention")
MOST_KEYS: Final = 50_000
"""Tasks whose keys are compared: a key takes a microsecond."""
UNFINISHED: Final = [STATES.index(s) for s in ("no-worker", "waiting", "queued", "processing")]
LOSS_S: Final = 60.0
"""What is computed again so long after a worker left may have been lost with it."""
LATE_S: Final = 2.0
"""A window that ends so shortly before now is of now."""
_OF_TASKS: Final = (
    *("worker", "prefix", "task", "graph", "nbytes"),
    *("ready", "start", "stop", "reported"),
)


class OfPrefix(NamedTuple):
    """How long the tasks of a prefix took that ended well; ``rows`` of `Case.tasks`."""

    prefix: int
    rows: Ints
    seconds: Floats

    @property
    def median_s(self) -> float:
        middle = len(self.seconds) // 2
        return float(np.partition(self.seconds, middle)[middle])


@dataclass(frozen=True)
class Case:
    """All that rules look at; times are seconds since the epoch.

    Attributes
    ----------
    facts : Facts
    names : mapping of int to str
        Prefixes by string id.
    addresses, worker_names : sequence of str
        Of the workers, in the order of ``facts.workers``.
    needs : mapping of str to set of str
        Which prefixes the tasks of a prefix may wait for.
    series : mapping of str to Series
        Those of `SERIES`, inside the window.
    events : sequence of (float, str, mapping)
        Those in the window.
    first_loss : float
        When the first worker left in the window or up to `LOSS_S` before; infinite for none.
    activities : mapping of tuple to float
        What the fine metrics gained in the window, by context, label, activity and unit.
    memory_limit : float
        The least that a worker has; infinite where there is no limit.
    thresholds : mapping of str to (float or None)
        `schema.tables.THRESHOLDS`.
    n_stuck : int
        Tasks that no worker may run, where the window is of now.
    is_run : bool
        Whether it is of a piece of the user's code that had no other cluster compute as well, and
        whose tasks all ended or go on.
    is_nested : bool
        Whether tasks submitted tasks.
    is_over : bool
        Whether nothing of what came in the window is left to do.
    before : dict of str to ndarray
        ``prefix`` and ``task`` of tasks that ended well before the window.
    carried : ndarray of float64
        Bytes that each task of a graph carries along, by the number of the graph.
    arrived : ndarray of float64
        When each graph came, by its number; NaN where it is not known.
    keys : callable
        Returns the keys of tasks by their ordinals.
    """

    facts: Facts
    names: Mapping[int, str]
    addresses: Sequence[str]
    worker_names: Sequence[str]
    needs: Mapping[str, set[str]]
    series: Mapping[str, Series]
    events: Sequence[tuple[float, str, Mapping[str, Any]]]  # as `EventLog.rows`
    first_loss: float
    activities: Mapping[tuple[Any, ...], float]
    memory_limit: float
    thresholds: Mapping[str, float | None]
    n_stuck: int
    is_run: bool
    is_nested: bool
    is_over: bool
    before: Callable[[], Columns]
    carried: Floats
    arrived: Floats
    keys: Callable[[Ints], Objects]

    @cached_property
    def actions(self) -> Columns:
        """Those of ``facts`` that are not of another run."""
        actions = self.facts.actions
        is_own = ~actions["is_other"]
        return actions if is_own.all() else {n: column[is_own] for n, column in actions.items()}

    @cached_property
    def budget(self) -> Budget:
        """The budget of the window."""
        return budget_of(self.facts)

    @cached_property
    def is_there(self) -> Bools:
        """Whether each of ``facts.workers`` was there in some of the window."""
        window, workers = self.facts.window, self.facts.workers
        return (workers["joined"] < window.stop) & (workers["left"] > window.start)

    @cached_property
    def without_workers_s(self) -> float:
        """How long tasks waited and no worker was there."""
        if self.wall_s <= 0:
            return 0.0
        workers, tasks, window = self.facts.workers, self.tasks, self.facts.window
        begin = np.append(workers["joined"], np.fmin(tasks["ready"], tasks["start"]))
        end = np.append(workers["left"], tasks["start"])
        begin, end = np.clip(begin, *window), np.clip(np.fmax(end, begin), *window)
        n, edges = len(workers["joined"]), np.array(window)
        share = covered_share(begin, end, edges) - covered_share(begin[:n], end[:n], edges)
        return float(share[0]) * self.wall_s

    @property
    def wall_s(self) -> float:
        """How long the window is."""
        return self.facts.window.stop - self.facts.window.start

    @cached_property
    def threads(self) -> float:
        """Threads there were on average."""
        return max(self.budget.offered_s / max(self.wall_s, 1e-9), 1e-9)

    def seconds(self, *categories: str) -> float:
        """Return thread seconds of the budget."""
        return sum(self.budget.seconds.get(name, 0.0) for name in categories)

    def wall(self, *categories: str) -> float:
        """Return the same in seconds of the run: all threads together lose so long."""
        return self.seconds(*categories) / self.threads

    def share(self, *categories: str) -> float:
        """Return the same as a share of what was offered."""
        return self.seconds(*categories) / max(self.budget.offered_s, 1e-9)

    def most(self, category: str) -> tuple[str, float]:
        """Return the prefix with most seconds of a category, if it is known, and these."""
        of = {p: s for p, s in self.budget.by_prefix.get(category, {}).items() if p} or {0: 0.0}
        prefix = max(of, key=of.__getitem__)
        return self.names.get(prefix, ""), of[prefix]

    def idle_in(self, start: float, stop: float) -> float:
        """Return the thread seconds in a part of the window in which tasks waited for others."""
        part = budget_of(self.facts._replace(window=Window(start, stop)))
        return part.seconds.get("dependencies", 0.0) + part.seconds.get("unbalanced", 0.0)

    def taken(self, is_it: Bools) -> float:
        """Return what some of the actions took inside the window."""
        actions, window = self.actions, self.facts.window
        stop = np.minimum(actions["stop"][is_it], window.stop)
        return float(np.maximum(stop - np.maximum(actions["start"][is_it], window.start), 0).sum())

    @cached_property
    def tasks(self) -> Columns:
        """Compute actions that ended well in the window, by start, and their ``seconds``.

        They were ``done``, by the clock that says so first, after they could run: the clock of a
        worker is off at times, by more than short tasks take. None is before one that was done
        when it could run.
        """
        actions, window = self.actions, self.facts.window
        is_it = (actions["kind"] == Kind.COMPUTE) & (actions["outcome"] == Outcome.OK)
        is_it &= (actions["stop"] > window.start) & (actions["stop"] <= window.stop)
        tasks = {name: actions[name][is_it] for name in _OF_TASKS}
        ready, start, stop = tasks["ready"], tasks["start"], tasks["stop"]
        done = np.fmax(np.fmin(tasks["reported"], stop), np.nextafter(ready, np.inf))
        order = np.lexsort((done, np.fmin(np.fmax(start, ready), done)))
        tasks |= {"seconds": stop - start, "done": done}
        return {name: column[order] for name, column in tasks.items()}

    @cached_property
    def prefixes(self) -> list[OfPrefix]:
        """The durations of each prefix, most seconds first."""
        prefix, seconds = self.tasks["prefix"], self.tasks["seconds"]
        order = np.argsort(narrow(prefix), kind="stable")
        first = np.flatnonzero(np.diff(prefix[order], prepend=-1))
        parts = np.split(order, first[1:]) if len(order) else []
        found = [OfPrefix(int(prefix[rows[0]]), rows, seconds[rows]) for rows in parts]
        return sorted(found, key=lambda one: -float(one.seconds.sum()))

    @cached_property
    def by_stop(self) -> tuple[Ints, Ints]:
        """Rows of `tasks` by worker, and by their end; and where those of each worker begin."""
        worker = narrow(self.tasks["worker"])
        order = np.argsort(self.tasks["stop"], kind="stable")
        order = order[np.argsort(worker[order], kind="stable")]
        each = np.bincount(worker, minlength=len(self.addresses))
        return order, np.append(0, np.cumsum(each))

    @cached_property
    def n_unfinished(self) -> tuple[Floats, Ints]:
        """Moments, and how many tasks could run or ran from each on."""
        tasks = self.tasks
        ready = np.fmin(tasks["ready"], tasks["start"])
        ends = np.fmax(tasks["reported"], tasks["stop"])
        moments = np.concatenate([ready, ends])
        order = np.argsort(moments, kind="stable")
        change = np.repeat([1, -1], len(ready))[order]
        return moments[order], np.cumsum(change)

    @cached_property
    def is_again(self) -> Bools:
        """Whether each of `tasks` had been computed before; False of too many to compare keys."""
        tasks, before = self.tasks, self.before()
        is_again = np.zeros(len(tasks["task"]), dtype=np.bool_)
        if len(is_again) <= MOST_KEYS:
            is_like = np.isin(before["prefix"], np.unique(tasks["prefix"]))
            seen = set(self.keys(before["task"][is_like][-MOST_KEYS:]).tolist()) - {""}
            for row, key in enumerate(self.keys(tasks["task"]).tolist()):
                is_again[row] = key in seen
                if key:  # known
                    seen.add(key)
        return is_again

    @cached_property
    def is_after_loss(self) -> Bools:
        """Whether each of `tasks` began after a worker had left."""
        return self.tasks["start"] >= self.first_loss


def case_of(history: History, window: Window, now: float, run: int = 0) -> Callable[[], Case]:
    """Return what reads a case, in any thread; see `facts_of` for the arguments, and `Case`."""
    read, slots, log = facts_of(history, window, now, run), history.slots, history.actions
    record = history.runs.of_number(run)
    is_now = window.stop >= now - LATE_S and not (record and record.is_over)
    states = history.prefixes.states[:, UNFINISHED].sum(axis=0) if is_now else np.zeros(4)
    workers = history.workers
    in_process = Counter(filter(None, workers.process))  # each has its part of the limit of one
    limits = np.array(workers.memory_limit, dtype=np.float64)
    limits *= [in_process.get(process, 1) for process in workers.process]
    keys = log.keys_of()
    names = ("kind", "outcome", "prefix", "task", "stop")
    earlier = log.of_window(Window(stop=window.start), names)
    has_few = log.count <= 4 * MOST_KEYS

    def before() -> Columns:
        rows = earlier() if has_few and window.start > -np.inf else {}
        if not rows:
            return {"prefix": np.empty(0, np.int64), "task": np.empty(0, np.int64)}
        is_it = (rows["kind"] == Kind.COMPUTE) & (rows["outcome"] == Outcome.OK)
        is_it &= rows["stop"] <= window.start
        return {name: rows[name][is_it] for name in ("prefix", "task")}

    series = {name: history.series.get(name) for name in SERIES}
    since = window.start - LOSS_S
    left = [at for at, kind, _ in history.events.rows if kind in DEPARTURES and at >= since]
    scheduler = history.scheduler
    addresses = history.strings.take(np.unique(slots.worker).tolist())
    called = [slots.names.get(address, address) for address in addresses]
    rest: dict[str, Any] = {  # the rest of the fields of a case
        # All of these are interned.
        "names": {history.strings.intern(name): name for name in history.prefix_index.names},
        "addresses": addresses,
        "worker_names": [f"worker {name}" if name.isdecimal() else name for name in called],
        "needs": _needs(history),
        "events": [one for one in history.events.rows if window.start <= one[0] <= window.stop],
        "first_loss": min(left, default=np.inf),
        "activities": history.activities.gained(window),
        "carried": history.runs.carried,
        "arrived": history.runs.arrived,
        "memory_limit": float(limits.min(initial=np.inf, where=limits > 0)),
        "thresholds": {} if scheduler is None else scheduler.thresholds,
        # Without workers, those that could run as well.
        "n_stuck": int(states[0] if len(workers) else states[[0, 2, 3]].sum()) if is_now else 0,
        "is_run": record is not None
        and len(record.code.clients) < 2
        and record.state != "cancelled",  # it is not known until when its tasks waited
        "is_nested": any(
            one.is_nested and one.start < window.stop and one.last > window.start
            for one in ([record] if record else history.runs)
        ),
        "is_over": record.is_over
        if record
        else not (states.any() or (is_now and history.running.count)),
    }

    def make() -> Case:
        facts = read()
        inside = {name: _part(one, facts.window) for name, one in series.items()}
        return Case(facts, series=inside, before=before, keys=keys, **rest)

    return make


def _needs(history: History) -> dict[str, set[str]]:
    """Return the prefixes that each one depends on; a group's own chains are not recorded."""
    tables = history.groups, history.ended_groups
    prefix_of = {n: p for table in tables for n, p in zip(table.name, table.prefix, strict=True)}
    needs: dict[str, set[str]] = {}
    for table in tables:
        for prefix, groups in zip(table.prefix, table.dependencies, strict=True):
            known = (prefix_of[group] for group in groups if group in prefix_of)
            needs.setdefault(prefix, set()).update(known)
    return needs


def _part(series: Series, window: Window) -> Series:
    first, stop = np.searchsorted(series.times, window)
    names = ("times", "mean", "low", "high", "total", "n")
    return Series(**{name: getattr(series, name)[first:stop] for name in names})
