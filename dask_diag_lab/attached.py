"""Which diagnostics of this process are open, and whose history is kept.

Decides what takes the place of what; must not know what diagnostics do.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from distributed import Client

    from dask_diag_lab.session import Diagnostics
    from dask_diag_lab.target import Target


class Attached:
    """The open diagnostics of this process, by scheduler id, and the closed ones that are kept.

    This state belongs to the process and not to a caller: attaching has to be idempotent for
    any number of clients that do not know of each other.

    Parameters
    ----------
    make : callable
        Returns new diagnostics of a target, which are to be started.
    """

    def __init__(self, make: Callable[[Target], Diagnostics]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._open: dict[str, Diagnostics] = {}
        self._kept: Diagnostics | None = None  # a history may be 150 MB: never more than one

    def attach(self, target: Target, client: Client) -> Diagnostics:
        """Return the diagnostics of `target`, started now if there were none."""
        with self._lock:
            found = self._open.get(target.scheduler_id)
            if found is None or found.is_closed:
                found = self._open[target.scheduler_id] = self._make(target)
                found.clients.add(client)
                found.start()
            else:
                found.clients.add(client)
            return found

    def find(self, client: Client) -> Diagnostics | None:
        """Return the open diagnostics that were attached for `client`, None for none."""
        with self._lock:
            return next((one for one in self._open.values() if client in one.clients), None)

    def forget(self, diagnostics: Diagnostics) -> None:
        """Remove `diagnostics`; harmless when it is not here."""
        with self._lock:
            self._forget(diagnostics)

    def _forget(self, diagnostics: Diagnostics) -> None:
        if self._open.get(diagnostics.scheduler_id) is diagnostics:
            del self._open[diagnostics.scheduler_id]
        if self._kept is diagnostics:
            self._kept = None

    def part(
        self, diagnostics: Diagnostics, *, is_worth_keeping: bool
    ) -> Literal["stay", "keep", "end"]:
        """Decide what becomes of `diagnostics` whose clients have been closed.

        Returns
        -------
        str
            'stay': they were attached for another client meanwhile. 'keep': theirs is the history
            that is kept from now on; the one from before has been ended. 'end': it is not worth
            keeping, or diagnostics that began later have taken their place already.
        """
        with self._lock:
            if diagnostics.clients.has_open:
                return "stay"
            self._forget(diagnostics)
            if not is_worth_keeping or self._is_replaced(diagnostics):
                return "end"
            before, self._kept = self._kept, diagnostics
        if before is not None:
            before.close(timeout_s=0)
        return "keep"

    def _is_replaced(self, diagnostics: Diagnostics) -> bool:
        """Return whether newer ones show a cluster; one that never answered shows nothing."""
        others = self._open.values()
        return any(one.begun_at > diagnostics.begun_at and one.has_data for one in others)

    def end_history(self) -> None:
        """End the diagnostics whose history is kept: new ones have something to show."""
        with self._lock:
            kept = self._kept
        if kept is not None:
            kept.close(timeout_s=0)

    def rename(self, diagnostics: Diagnostics, scheduler_id: str) -> None:
        """File `diagnostics` under the scheduler that took the place of theirs, if none are."""
        with self._lock:
            other, before = self._open.get(scheduler_id), diagnostics.scheduler_id
            if self._open.get(before) is diagnostics and (other is None or other.is_closed):
                del self._open[before]
                self._open[scheduler_id] = diagnostics
                diagnostics.scheduler_id = scheduler_id

    def follow_process(self) -> None:
        """End with this process, and be nothing in those that are forked from it."""
        atexit.register(self.close_all)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.after_fork)

    def close_all(self) -> None:
        """At interpreter exit: leave no record behind."""
        for diagnostics in self._all():
            diagnostics.close(timeout_s=2)

    def after_fork(self) -> None:
        """In a forked child: nothing of ours runs there, and nothing may be removed by it."""
        abandoned = self._all()
        self._lock = threading.Lock()  # one that was held at the fork stays held
        self._open, self._kept = {}, None
        for diagnostics in abandoned:
            diagnostics.abandon_after_fork()

    def _all(self) -> list[Diagnostics]:
        kept = [] if self._kept is None else [self._kept]
        return [*self._open.values(), *kept]
