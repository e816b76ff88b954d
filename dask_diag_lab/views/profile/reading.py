"""The profile that is shown: of one answer, or put together of one answer for each task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from dask_diag_lab.views.profile.frames import Frames, settled
from dask_diag_lab.views.profile.sampling import TASKS

if TYPE_CHECKING:
    from dask_diag_lab.store.inquiries import Inquiry
    from dask_diag_lab.views.profile.sampling import Sampling

MAX_PARTS: Final = 12
"""Tasks that are asked for one by one; with more of them the cost would be too high."""
MAX_REQUESTS: Final = 400
"""Tasks times workers that are asked for one by one."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A profile and how it was measured.

    Attributes
    ----------
    frames : Frames
    interval_s : float
        Seconds that one sample stands for.
    missing : mapping of str to str
        Workers that did not answer, and why.
    pruned : int
        Rare frames that were left out before they came here.
    """

    frames: Frames
    interval_s: float
    missing: Mapping[str, str]
    pruned: int = 0

    @property
    def is_uncertain(self) -> bool:
        """Whether of some samples it is not known in which of several functions they were."""
        return bool(self.frames.is_unclear.any())


class Reader:
    """Reads what a page shows; the same answers again cost nothing.

    The profile of all tasks leaves open which of several task functions ran (see `Frames`). Where
    the tasks are few, each is asked for by itself, which tells.
    """

    def __init__(self, sampling: Sampling) -> None:
        self._sampling = sampling
        self._whole: tuple[object, Reading] | None = None
        self._parts: tuple[tuple[Inquiry, ...], tuple[object, ...], Reading] | None = None

    def read(self, n_workers: int) -> Reading | None:
        """Return the profile of now; None before the first answer."""
        sampling = self._sampling
        answer = sampling.profile.answer
        if answer is None:
            return None
        if self._whole is None or self._whole[0] is not answer:
            self._whole = answer, _reading((answer,), Frames(answer["tree"]))
        whole = self._whole[1]
        sampling.parts = self._names(whole, n_workers)
        return self._of_parts(tuple(sampling.part_profiles)) or whole

    def _names(self, whole: Reading, n_workers: int) -> tuple[str, ...]:
        """Return the tasks to ask for one by one; none where that tells nothing or costs much."""
        sampling, activity = self._sampling, self._sampling.activity.answer
        is_open = sampling.source == TASKS and not sampling.prefix
        if not is_open or activity is None or not whole.is_uncertain:
            return ()
        names = tuple(sorted(name for name, row in activity["prefixes"].items() if sum(row)))
        is_cheap = len(names) <= MAX_PARTS and len(names) * n_workers <= MAX_REQUESTS
        return names if len(names) > 1 and is_cheap else ()

    def _of_parts(self, parts: tuple[Inquiry, ...]) -> Reading | None:
        answers = tuple(part.answer for part in parts)
        if not parts or any(answer is None for answer in answers):
            return None
        if self._parts is not None and self._parts[0] == parts:
            is_same = all(a is b for a, b in zip(answers, self._parts[1], strict=True))
            # All at once: the picture is not to move with each answer that comes.
            if is_same or any(part.state == "asked" for part in parts):
                return self._parts[2]
        frames = Frames(settled([answer["tree"] for answer in answers]))
        reading = _reading(answers, frames)
        self._parts = parts, answers, reading
        return reading


def _reading(answers: Sequence[Mapping[str, Any]], frames: Frames) -> Reading:
    missing = {name: why for answer in answers for name, why in answer["missing"].items()}
    pruned = sum(a.get("pruned", 0) for a in answers)
    return Reading(frames, float(answers[0]["interval_s"]), missing, pruned)
