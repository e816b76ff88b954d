"""Where the data of a task came from and went: the blocks of its dependencies and dependents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from dask_diag_lab.schema import Kind, Outcome
from dask_diag_lab.store.arrays import Bools, Floats, Ints
from dask_diag_lab.store.queries import Asked
from dask_diag_lab.views import format as fmt

if TYPE_CHECKING:
    from dask_diag_lab.store import LiveSession

MAX_KIN: Final = 32
"""On each side; to find one in a log of a million tasks takes a millisecond or two."""


class Kin(NamedTuple):
    """When and where dependencies and dependents of a task were computed."""

    slot: Ints
    start: Floats
    stop: Floats
    is_before: Bools  # a dependency


NO_KIN: Final = Kin(np.empty(0, np.int64), np.empty(0), np.empty(0), np.empty(0, np.bool_))


class Lineage:
    """The kin of one task, which its scheduler is asked for.

    Attributes
    ----------
    kin : Kin
        Those that are known by now.
    note : str
        What is missing; '' where nothing is.
    """

    def __init__(self, live: LiveSession) -> None:
        self._live = live
        self._asked = Asked(live)
        self._read: object = None
        self.kin, self.note = NO_KIN, ""

    def follow(self, key: str) -> None:
        """Find out about a task; about none with ''."""
        if not key:
            self._read, self.kin, self.note = None, NO_KIN, ""
            return
        query = self._asked.fresh("task", every_s=0, key=key)
        if self._read == (read := (key, query.version)):
            return
        self._read = read
        answer = query.answer or {}
        sides = [list(answer.get(name, ())) for name in ("dependencies", "dependents")]
        counts = answer.get("counts", {})
        n_known = sum(counts.get(name, 0) for name in ("dependencies", "dependents"))
        keys = [
            (str(one["key"]), at == 0) for at, side in enumerate(sides) for one in side[:MAX_KIN]
        ]
        self.note = ""
        if n_known > len(keys):
            self.note = f"{len(keys)} of {fmt.count(n_known)} dependencies and dependents outlined"
        elif query.n_answers and not answer:
            self.note = "the scheduler has forgotten what the chosen task needed"
        self.kin = self._computed(keys)

    def _computed(self, keys: list[tuple[str, bool]]) -> Kin:
        found: list[tuple[float, ...]] = []
        for key, is_before in keys:
            rows = self._live.history.actions.of_key(key)
            is_it = (rows["kind"] == Kind.COMPUTE) & (rows["outcome"] == Outcome.OK)
            if is_it.any():
                row = int(np.flatnonzero(is_it)[-1])  # the last time
                times = (float(rows[name][row]) for name in ("slot", "start", "stop"))
                found.append((*times, is_before))
        columns = np.array(found).reshape(-1, 4).T
        return Kin(columns[0].astype(np.int64), columns[1], columns[2], columns[3] > 0)
