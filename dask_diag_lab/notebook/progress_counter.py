"""Counts, on the scheduler, how far the tasks that some keys need have come.

Sent by value: standard library and `distributed` only, never anything else of this package. Must
never hold the scheduler up: tasks are visited in slices, a transition is looked at in O(1).
"""

# ruff: noqa: ARG002 - the hooks have the engine's signatures
from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING, Any, Final

from distributed.diagnostics.plugin import SchedulerPlugin

if TYPE_CHECKING:
    from distributed.scheduler import Scheduler, TaskState

logger = logging.getLogger(__name__)

PENDING: Final = 0
DONE: Final = 1
FAILED: Final = 2
SKIPPED: Final = 3
"""Will not run: something it needs failed, or nobody wants it any more."""
N_CLASSES: Final = 4

LEASE_S: Final = 60.0
SLICE_S: Final = 0.005
REST_S: Final = 0.01
APPEARS_S: Final = 0.05
"""Pause between two looks for keys that the scheduler has not heard of yet."""
MAX_GROUPS: Final = 200
OTHER: Final = "(other)"
MAX_TEXT: Final = 500


class Counter(SchedulerPlugin):
    """Follows the tasks behind some keys, and leaves when nobody asked for a while.

    Parameters
    ----------
    name : str
        Of the plugin and of the handler that answers with `report`; nobody else's.
    keys : iterable of Key
    group_by : 'prefix', 'spans', None or callable
        None: all in one. A callable takes a key.
    is_complete : bool
        Count tasks that were done at the beginning too.
    """

    def __init__(
        self,
        name: str,
        keys: Iterable[Any],  # any hashable
        group_by: str | Callable[[Any], Hashable] | None,
        *,
        is_complete: bool = True,
        lease_s: float = LEASE_S,
    ) -> None:
        self.name = name
        self._keys = list(keys)
        self._group_by = group_by
        self._is_complete = is_complete
        self._lease_s = lease_s
        self._codes: dict[Any, int] = {}  # group * N_CLASSES + class, by key
        self._groups: dict[Hashable, int] = {}
        self._labels: list[str] = []
        self._counts: list[int] = []
        self._missing = 0
        self._is_counted = False
        self._failure: tuple[str, str] = ("", "")
        self._error = ""

    async def start(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        scheduler.handlers[self.name] = self.report
        self._handler = scheduler.handlers[self.name]
        self._loop = asyncio.get_running_loop()
        self._asked_at = time.monotonic()
        self._timer = self._loop.call_later(self._lease_s, self._check_lease)
        self._visiting = self._loop.create_task(self._visit())

    async def close(self) -> None:
        self._leave()

    # Hooks

    def transition(  # type: ignore[override]  # positional-only, as the engine calls it
        self,
        key: Any,  # any hashable
        start: str,
        finish: str,
        /,
        **message: Any,  # whatever the worker told
    ) -> None:
        code = self._codes.get(key)
        if code is None:
            return
        try:
            before = code % N_CLASSES
            after = self._class_after(key, before, finish)
            if after != before:
                self._move(key, code, code - before + after)
            if finish == "forgotten":
                del self._codes[key]
        except Exception as error:  # noqa: BLE001 - diagnostics must not hurt the computation
            self._fail(error)

    def restart(self, scheduler: Scheduler) -> None:
        """What was not done by now will not be."""
        for key, code in self._codes.items():
            if code % N_CLASSES == PENDING:
                self._move(key, code, code - PENDING + SKIPPED)
        self._codes = {}

    # Handler

    def report(self, is_last: bool = False) -> dict[str, Any]:  # plain data
        """Return the counts so far; with ``is_last`` nothing of this stays on the scheduler."""
        self._asked_at = time.monotonic()
        if is_last:
            self._leave()
        n = N_CLASSES
        return {
            "is_counted": self._is_counted,
            "missing": self._missing,
            "groups": tuple(
                (label, *self._counts[i * n : i * n + n]) for i, label in enumerate(self._labels)
            ),
            "failure": self._failure,
            "error": self._error,
        }

    # Visiting

    async def _visit(self) -> None:
        try:
            await self._wait_for_keys()
            await self._visit_tasks()
            self._is_counted = True
        except Exception as error:  # noqa: BLE001 - `group_by` is the user's
            self._fail(error)

    async def _wait_for_keys(self) -> None:
        """Wait until all keys are known: their graph may still be on its way."""
        tasks = self._scheduler.tasks
        missing = self._keys
        while missing := [key for key in missing if key not in tasks]:
            self._missing = len(missing)
            await asyncio.sleep(APPEARS_S)
        self._missing = 0

    async def _visit_tasks(self) -> None:
        tasks = self._scheduler.tasks
        stack = [(ts, PENDING) for key in self._keys if (ts := tasks.get(key)) is not None]
        seen: set[Any] = set()
        until = time.perf_counter() + SLICE_S
        while stack:
            ts, dependent = stack.pop()
            if ts.key in seen:
                continue
            seen.add(ts.key)
            if not len(seen) % 64 and time.perf_counter() > until:
                await asyncio.sleep(REST_S)
                until = time.perf_counter() + SLICE_S
            found = self._class_now(ts, dependent)
            if found == DONE and not self._is_complete:
                continue
            self._add(ts, found)
            stack += [(other, found) for other in ts.dependencies if other.key not in seen]

    def _add(self, ts: TaskState, found: int) -> None:
        identity, label = self._group_of(ts)
        group = self._groups.get(identity)
        if group is None:
            if len(self._labels) >= MAX_GROUPS:
                identity = label = OTHER
            group = self._groups.setdefault(identity, len(self._labels))
            if group == len(self._labels):
                self._labels.append(label[:MAX_TEXT])
                self._counts += [0] * N_CLASSES
        code = group * N_CLASSES + found
        self._counts[code] += 1
        if ts.state != "forgotten":
            self._codes[ts.key] = code
        if found == FAILED:
            self._note_failure(ts)

    def _group_of(self, ts: TaskState) -> tuple[Hashable, str]:
        """Return what a task is counted with, and how that is called."""
        if self._group_by is None:
            return "", ""
        if self._group_by == "prefix":
            prefix = ts.group.prefix.name
            return prefix, prefix
        if callable(self._group_by):
            group = self._group_by(ts.key)
            return group, str(group)
        span_id = ts.group.span_id
        spans: Any = self._scheduler.extensions["spans"]  # the engine's extensions have no types
        return span_id, ", ".join(spans.spans[span_id].name)

    def _class_now(self, ts: TaskState, dependent: int) -> int:
        """Return where a task is, and for one that was released by what depends on it."""
        if ts.state == "memory":
            return DONE
        if ts.state == "erred":
            return self._class_of_erred(ts)
        if ts.state == "released":
            return DONE if dependent == DONE else SKIPPED
        return SKIPPED if ts.state == "forgotten" else PENDING

    def _class_after(self, key: Any, before: int, finish: str) -> int:  # any hashable
        if finish == "memory":
            return DONE
        if finish == "erred":
            ts = self._scheduler.tasks[key]
            found = self._class_of_erred(ts)
            if found == FAILED:
                self._note_failure(ts)
            return found
        if finish in {"released", "forgotten"}:
            # A task that is to run again goes on to `waiting` at once.
            return SKIPPED if before == PENDING else before
        return PENDING

    def _class_of_erred(self, ts: TaskState) -> int:
        return FAILED if ts.exception_blame in {None, ts} else SKIPPED

    def _note_failure(self, ts: TaskState) -> None:
        if not self._failure[0]:
            text = ts.exception_text or "an error"
            self._failure = (str(ts.key)[:MAX_TEXT], text[:MAX_TEXT])

    def _move(self, key: Any, old: int, new: int) -> None:  # any hashable
        self._counts[old] -= 1
        self._counts[new] += 1
        self._codes[key] = new

    # End

    def _check_lease(self) -> None:
        left_s = self._asked_at + self._lease_s - time.monotonic()
        if left_s <= 0:
            self._leave()
        else:
            self._timer = self._loop.call_later(left_s, self._check_lease)

    def _fail(self, error: Exception) -> None:
        """Count no more, and say why to whoever asks."""
        self._error = f"{type(error).__name__}: {error}"[:MAX_TEXT]
        self._codes = {}
        logger.warning("Progress cannot be counted any more; computations go on", exc_info=error)

    def _leave(self) -> None:
        """Leave no trace on the scheduler; harmless when done before."""
        self._timer.cancel()
        self._visiting.cancel()
        if self._scheduler.handlers.get(self.name) is self._handler:
            del self._scheduler.handlers[self.name]
        if self._scheduler.plugins.get(self.name) is self:
            self._scheduler.remove_plugin(self.name)
