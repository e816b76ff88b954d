"""Blocks of a task stream that belong together, and the ways from one to the next."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from dask_diag_lab.analysis.budget import CATEGORIES, stretches_of
from dask_diag_lab.analysis.case import case_of
from dask_diag_lab.analysis.estimates import critical_path
from dask_diag_lab.analysis.facts import facts_of
from dask_diag_lab.schema import Kind, Outcome
from dask_diag_lab.store.arrays import Floats
from dask_diag_lab.store.queries import PolledQueries, can_ask
from dask_diag_lab.store.sums import Window
from dask_diag_lab.views import format as fmt

if TYPE_CHECKING:
    from dask_diag_lab.store import LiveSession

MAX_KIN: Final = 32
"""On each side; to find one in a log of a million tasks takes a millisecond or two."""
SLACK_S: Final = 0.05
"""By so much the clocks of workers may differ."""
MAX_STEPS: Final = 1_000
"""More outlines hide the picture."""
SHOWN: Final = {
    "blocks": "nothing",
    "critical-path": "critical path",
    **{name: category.label for name, category in CATEGORIES.items()},
}
"""What can be outlined in a stretch of time or a run, and what people call it."""


Block = tuple[float, float, float]
"""Slot, start and stop."""


class Links(NamedTuple):
    """What is outlined and joined.

    Attributes
    ----------
    blocks : ndarray of float64, shape (n, 3)
        Slot, start and stop of each block.
    ways : ndarray of float64, shape (m, 4)
        Slot and moment where each way begins, slot and moment where it ends.
    note : str
        What there is to say of them.
    """

    blocks: Floats
    ways: Floats
    note: str = ""


NO_LINKS: Final = Links(np.empty((0, 3)), np.empty((0, 4)))


class Lineage:
    """What one task needed and what needs it: its scheduler is asked, which may have forgotten it.

    Of few enough tasks it is known all the same, if somebody looked at the task stream then.
    """

    def __init__(self, live: LiveSession) -> None:
        self._live = live
        self._asked = PolledQueries(live)
        self._read: object = None
        self._links = NO_LINKS

    def of(self, key: str, block: Block | None = None) -> Links:
        """Return what is known by now of a task, and of the block that it was.

        Without one, of the last time that it was computed; its block is then outlined as well.
        """
        query = self._asked.fresh("task", every_s=0, key=key)
        if self._read != (read := (key, block, query.version)):
            self._read = read
            answer: Mapping[str, Any] = query.answer or {}
            known = self._live.history.graph.kin_of(key)
            own = self._block({"key": key}) if block is None else [block]
            begin, end = (own[-1][1], own[-1][2]) if own else (inf, -inf)
            names = ("dependencies", "dependents")
            both = {
                n: {o["key"]: o for of in (answer, known) for o in of.get(n, ())} for n in names
            }
            kin = {n: list(of.values())[:MAX_KIN] for n, of in both.items()}
            before = [its for one in kin["dependencies"] for its in self._block(one, until=begin)]
            after = [its for one in kin["dependents"] for its in self._block(one, since=end)]
            ways = [(its[0], its[2], slot, start) for its in before for slot, start, _ in own]
            ways += [(slot, stop, its[0], its[1]) for its in after for slot, _, stop in own]
            counts = answer.get("counts", {})
            n = sum(max(counts.get(name, 0), len(both[name])) for name in names)
            note = ""
            if not (answer or known) and (query.n_answers or not can_ask(self._live)):
                note = "nobody knows any more what the chosen task needed"
            elif n > len(ways):
                note = f"{len(ways)} of {fmt.count(n)} dependencies and dependents outlined"
            outlined = before + after + (own if block is None else [])
            blocks = np.array(outlined, dtype=np.float64).reshape(-1, 3)
            self._links = Links(blocks, np.array(ways, dtype=np.float64).reshape(-1, 4), note)
        return self._links

    def _block(self, task: dict[str, str], until: float = inf, since: float = -inf) -> list[Block]:
        """Return slot, start and stop of the last time that a task was computed, if it was.

        Of one that was computed several times: the last time until its data was needed, or the
        first time since there was data.
        """
        rows = self._live.history.actions.of_key(str(task["key"]))
        is_it = (rows["kind"] == Kind.COMPUTE) & (rows["outcome"] == Outcome.OK)
        near = is_it & (rows["stop"] <= until + SLACK_S) & (rows["start"] >= since - SLACK_S)
        found = np.flatnonzero(near if near.any() else is_it)
        found = found[:1] if since > -inf else found[-1:]
        slot, start, stop = (rows[name][found].tolist() for name in ("slot", "start", "stop"))
        return list(zip(slot, start, stop, strict=True))


def path_job(live: LiveSession, window: Window, run: int) -> Callable[[], Links]:
    """Return what finds, in any thread, the critical path of a window or a run."""
    history = live.history
    read = case_of(history, window, live.time, run)
    read_slots = history.actions.of_window(window, ("task", "kind", "slot", "start"))

    def make() -> Links:
        path = critical_path(read())
        steps = sorted(path.steps, key=lambda step: step.start - step.stop)[:MAX_STEPS]
        steps.sort(key=lambda step: step.start)
        rows = read_slots()
        is_it = (rows["kind"] == Kind.COMPUTE) & np.isin(rows["task"], [one.task for one in steps])
        columns = (rows[name][is_it].tolist() for name in ("task", "start", "slot"))
        slot_of = {(task, start): slot for task, start, slot in zip(*columns, strict=True)}
        found = [(slot_of.get((one.task, one.start), -1), one.start, one.stop) for one in steps]
        blocks = np.array(found, dtype=np.float64).reshape(-1, 3)
        ways = np.column_stack((blocks[:-1, [0, 2]], blocks[1:, [0, 1]]))
        return Links(blocks, ways, str(path).split(". ")[0])

    return make


def category_job(live: LiveSession, window: Window, run: int, name: str) -> Callable[[], Links]:
    """Return what finds, in any thread, the moments of a category of the budget."""
    read = facts_of(live.history, window, live.time, run)

    def make() -> Links:
        found = stretches_of(read(), name)
        longest = np.argsort(found["start"] - found["stop"], kind="stable")[:MAX_STEPS]
        blocks = np.column_stack([found[name][longest] for name in ("slot", "start", "stop")])
        n = len(found["slot"])
        which = f"the {fmt.count(MAX_STEPS)} longest of " if n > MAX_STEPS else ""
        label, meaning = CATEGORIES[name]
        return Links(blocks, NO_LINKS.ways, f"{label}: {which}{fmt.count(n)} outlined, {meaning}")

    return make
