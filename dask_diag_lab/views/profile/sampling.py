"""What a profile asks the cluster and when it asks again, and the profile read from the answers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from dask_diag_lab.jobs import Latest
from dask_diag_lab.schema import OTHER_PREFIXES
from dask_diag_lab.views.asked import refresh_s
from dask_diag_lab.views.profile.tree import Frames, Tree, functions_table, merge, remainder

if TYPE_CHECKING:
    from dask_diag_lab.store import Store
    from dask_diag_lab.store.queries import Query
    from dask_diag_lab.views.view import Table

REFRESH_S: Final = 5.0
"""An answer costs every worker some milliseconds, so the next one is not asked for sooner."""
MAX_PARTS: Final = 12
"""Prefixes that are asked for one by one, those with most samples; more would cost too much."""
MAX_REQUESTS: Final = 400
"""Prefixes times workers that are asked for one by one."""

TASKS: Final = "tasks"
WORKER_LOOPS: Final = "worker-loops"
SCHEDULER_LOOP: Final = "scheduler-loop"

Answer = Mapping[str, Any]  # plain data, as `QUESTIONS` describes it


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """A profile and how it was measured.

    Attributes
    ----------
    frames : Frames
    table : Table
        One row a function.
    interval_s : float
        Seconds that one sample stands for.
    missing : collection of str
        Workers that did not answer.
    pruned : int
        Rare frames that were left out before they came here.
    answered_at : float
        Scheduler's clock when the last of the answers came.
    """

    frames: Frames
    table: Table
    interval_s: float
    missing: Collection[str]
    pruned: int
    answered_at: float

    @classmethod
    def of(
        cls, parts: Sequence[Answer], answered_at: float, whole: Answer | None = None
    ) -> Profile:
        """Return the profile of some prefixes, and of what ``whole`` has besides; takes long."""
        trees: list[Tree] = [answer["tree"] for answer in parts]
        answers = list(parts)
        if whole is not None:
            trees.append(remainder(whole["tree"], trees))
            answers.append(whole)
        frames = Frames(merge(trees))
        interval_s = float(answers[0]["interval_s"])
        return cls(
            frames=frames,
            table=functions_table(frames, interval_s),
            interval_s=interval_s,
            missing={name for answer in answers for name in answer["missing"]},
            pruned=sum(answer.get("pruned", 0) for answer in answers),
            answered_at=answered_at,
        )


class Sampling:
    """The questions of one page.

    The profile of all tasks leaves open which of several task functions ran (see `Frames`). Those
    prefixes that have most of the samples are asked for one by one, which tells.

    Parameters
    ----------
    store : Store

    Attributes
    ----------
    source : str
        ``tasks``, ``worker-loops`` or ``scheduler-loop``.
    prefix, worker : str
        What is asked for; '' for all.
    start, stop : float
        Period on the scheduler's clock; 0 for open.
    """

    def __init__(self, store: Store) -> None:
        self.source = TASKS
        self.prefix = self.worker = ""
        self.start = self.stop = 0.0
        self._parts: tuple[str, ...] = ()
        self._has_rest = False
        self._store = store
        self._whole: Latest[Profile] = Latest(store.jobs)
        self._by_parts: Latest[Profile] = Latest(store.jobs)
        self._asked: tuple[object, float, object] = ((), 0.0, None)

    @property
    def version(self) -> tuple[int, int]:
        """Differs when a profile has been read."""
        return self._whole.version, self._by_parts.version

    @property
    def has_period(self) -> bool:
        return self.stop > self.start

    @property
    def query(self) -> Query:
        """The profile of what is chosen; asked for if it never was."""
        return self._query_of(self.prefix)

    @property
    def activity(self) -> Query:
        """Samples over time of all tasks."""
        return self._store.queries.ask("activity", source=self.source, worker=self.worker)

    def _query_of(self, prefix: str) -> Query:
        chosen = {"source": self.source, "worker": self.worker, "prefix": prefix}
        period = {"start": self.start, "stop": self.stop}
        return self._store.queries.ask("profile", **chosen, **period)

    @property
    def _queries(self) -> list[Query]:
        """What is asked again: the parts, and the whole where they are not all of it."""
        parts = [self._query_of(name) for name in self._parts]
        return [*parts, self.query] if self._has_rest or not parts else parts

    @property
    def refresh_s(self) -> float:
        """Age at which the answers are asked for again: more where many workers give them."""
        n_requests = len(self._store.workers) * (1 + len(self._queries))
        return refresh_s(REFRESH_S, 0 if self.worker else n_requests)

    def refresh(self) -> None:
        """Ask for newer answers."""
        for query in (self.activity, *self._queries):
            self._store.queries.ask_again(query)

    def follow(self) -> None:
        """Ask again what is old, if it may have changed; a period that is over never does."""
        asked = (self.activity, *([] if self.has_period else self._queries))
        before, asked_at, known = self._asked
        now = self._store.time
        # Tasks' profiles change only while tasks run; None always differs.
        is_still = self.source == TASKS and not self._store.running.count
        work = self._store.actions.count if is_still else None
        if before != asked:
            self._asked = asked, now, None
        elif now - asked_at >= self.refresh_s and (work is None or work != known):
            self._asked = asked, now, work
            for query in asked:
                self._store.queries.ask_again(query)

    def read(self) -> Profile | None:
        """Return the profile of now, read off the loop; None before the first has been read."""
        query = self.query
        answer, at = query.answer, query.answered_at
        if answer is None:
            return None
        whole = self._whole.of(query, query.n_answers, lambda: Profile.of([answer], at))
        if whole is None:
            return None
        self._parts, self._has_rest = self._choose_parts(whole)
        return self._read_parts() or whole

    def _choose_parts(self, whole: Profile) -> tuple[tuple[str, ...], bool]:
        """Return the prefixes to ask for one by one, and whether there are others.

        None where that tells nothing, or where workers are too many.
        """
        if self.source != TASKS or self.prefix or not whole.frames.is_unclear.any():
            return (), False
        answer = self.activity.answer
        rows = answer["prefixes"] if answer else {}
        samples = {name: sum(row) for name, row in rows.items() if any(row)}
        has_others = samples.pop(OTHER_PREFIXES, 0) > 0
        names = sorted(samples, key=lambda name: (-samples[name], name))
        n_workers = 1 if self.worker else len(self._store.workers)
        shown = names[: min(MAX_PARTS, MAX_REQUESTS // max(n_workers, 1))]
        if len(names) + has_others <= 1:
            return (), False
        return tuple(sorted(shown)), has_others or len(shown) < len(names)

    def _read_parts(self) -> Profile | None:
        if not self._parts:
            return None
        queries = tuple(self._queries)
        answers = [query.answer for query in queries]
        if any(answer is None for answer in answers):
            return None
        # All at once: the picture is not to move with each answer that comes.
        if any(query.state == "asked" for query in queries):
            known = self._by_parts.known(queries)
            if known is not None:
                return known
        versions = tuple(query.n_answers for query in queries)
        whole = answers.pop() if self._has_rest else None
        at = max(query.answered_at for query in queries)
        return self._by_parts.of(queries, versions, lambda: Profile.of(answers, at, whole))
