"""The profile that is shown: of one answer, or put together of one for each of the tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from dask_diag_lab.records import OTHER_PREFIXES
from dask_diag_lab.views.latest import Latest
from dask_diag_lab.views.profile.frames import Frames, Tree, settled
from dask_diag_lab.views.profile.ledger import Entry, by_function
from dask_diag_lab.views.profile.remainder import remainder
from dask_diag_lab.views.profile.rows import table
from dask_diag_lab.views.profile.sampling import TASKS

if TYPE_CHECKING:
    from dask_diag_lab.store.inquiries import Inquiry
    from dask_diag_lab.store.workings import Workings
    from dask_diag_lab.views.base import Table
    from dask_diag_lab.views.profile.sampling import Sampling

MAX_PARTS: Final = 12
"""Tasks that are asked for one by one, those with most samples; more would cost too much."""
MAX_REQUESTS: Final = 400
"""Tasks times workers that are asked for one by one."""

Answer = Mapping[str, Any]  # plain data, as `records.QUESTIONS` describes it


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """A profile and how it was measured.

    Attributes
    ----------
    frames : Frames
    entries : sequence of Entry
        All functions.
    table : Table
        The same as rows.
    interval_s : float
        Seconds that one sample stands for.
    missing : mapping of str to str
        Workers that did not answer, and why.
    pruned : int
        Rare frames that were left out before they came here.
    answered_at : float
        Scheduler's clock when the last of the answers came.
    """

    frames: Frames
    entries: Sequence[Entry]
    table: Table
    interval_s: float
    missing: Mapping[str, str]
    pruned: int
    answered_at: float

    @property
    def is_uncertain(self) -> bool:
        """Whether of some samples it is not known in which of several functions they were."""
        return bool(self.frames.is_unclear.any())


class Reader:
    """Reads what a page shows; the same answers again cost nothing.

    The profile of all tasks leaves open which of several task functions ran (see `Frames`). Those
    tasks that have most of the samples are asked for one by one, which tells.
    """

    def __init__(self, sampling: Sampling, workings: Workings) -> None:
        self._sampling = sampling
        self._whole: Latest[Reading] = Latest(workings)
        self._parts: Latest[Reading] = Latest(workings)
        self._sampled: tuple[object, tuple[tuple[str, ...], bool]] | None = None

    @property
    def version(self) -> int:
        """Moves when something has been read."""
        return self._whole.version + self._parts.version

    def read(self, n_workers: int) -> Reading | None:
        """Return the profile of now; None before the first answer has been read."""
        inquiry = self._sampling.profile
        answer = inquiry.answer
        if answer is None:
            return None
        at = inquiry.answered_at
        whole = self._whole.of(inquiry, inquiry.n_answers, lambda: _read([answer], at))
        if whole is None:
            return None
        sampling = self._sampling
        sampling.parts, sampling.has_rest = self._names(whole, n_workers)
        return self._of_parts(tuple(sampling.part_profiles)) or whole

    def _names(self, whole: Reading, n_workers: int) -> tuple[tuple[str, ...], bool]:
        """Return the tasks to ask for one by one, and whether there are others.

        None where that tells nothing, or where workers are too many.
        """
        sampling = self._sampling
        is_open = sampling.source == TASKS and not sampling.prefix
        if not is_open or not whole.is_uncertain:
            return (), False
        names, has_others = self._with_samples(sampling.activity)
        if len(names) + has_others <= 1:
            return (), False
        most = min(MAX_PARTS, MAX_REQUESTS // max(n_workers, 1))
        if len(names) <= most:
            return tuple(sorted(names)), has_others
        # Those that were asked for stay while others only just have more samples.
        known = [name for name in names[: 2 * most] if name in sampling.parts][:most]
        new = [name for name in names if name not in known][: most - len(known)]
        return tuple(sorted([*known, *new])), True

    def _with_samples(self, activity: Inquiry) -> tuple[tuple[str, ...], bool]:
        """Return the tasks that were sampled, most samples first; whether some are not named."""
        key = (activity, activity.n_answers)
        if self._sampled is None or self._sampled[0] != key:
            rows = activity.answer["prefixes"] if activity.answer else {}
            samples = {name: sum(row) for name, row in rows.items() if any(row)}
            has_others = samples.pop(OTHER_PREFIXES, 0) > 0
            names = sorted(samples, key=lambda name: (-samples[name], name))
            self._sampled = key, (tuple(names), has_others)
        return self._sampled[1]

    def _of_parts(self, parts: tuple[Inquiry, ...]) -> Reading | None:
        rest = (self._sampling.profile,) if self._sampling.has_rest else ()
        inquiries = parts + rest
        answers = [inquiry.answer for inquiry in inquiries]
        if not parts or any(answer is None for answer in answers):
            return None
        # All at once: the picture is not to move with each answer that comes.
        if any(inquiry.state == "asked" for inquiry in inquiries):
            known = self._parts.known(inquiries)
            if known is not None:
                return known
        versions = tuple(inquiry.n_answers for inquiry in inquiries)
        whole = answers.pop() if rest else None
        at = max(inquiry.answered_at for inquiry in inquiries)
        return self._parts.of(inquiries, versions, lambda: _read(answers, at, whole))


def _read(parts: Sequence[Answer], answered_at: float, whole: Answer | None = None) -> Reading:
    """Return the profile of some tasks, and of what ``whole`` has besides."""
    trees: list[Tree] = [answer["tree"] for answer in parts]
    answers = list(parts)
    if whole is not None:
        trees.append(remainder(whole["tree"], trees))
        answers.append(whole)
    frames = Frames(trees[0] if len(trees) == 1 else settled(trees))
    entries, interval_s = by_function(frames), float(answers[0]["interval_s"])
    missing = {name: why for answer in answers for name, why in answer["missing"].items()}
    pruned = sum(answer.get("pruned", 0) for answer in answers)
    rows = table(entries, frames.samples, interval_s)
    return Reading(frames, entries, rows, interval_s, missing, pruned, answered_at)
