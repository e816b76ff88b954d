"""What a profile says in words: title, note, and why it is empty and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.profile.sampling import TASKS

if TYPE_CHECKING:
    from dask_diag_lab.views.profile.boxes import Scene
    from dask_diag_lab.views.profile.reading import Reading
    from dask_diag_lab.views.profile.sampling import Sampling

MAX_NAMED: Final = 3
"""Workers without an answer that are named."""

LOOP_SAMPLING: Final = "Dask samples event loops about once a second only, so short work is missed"


@dataclass(frozen=True, slots=True)
class Extent:
    """What a profile was measured over.

    Attributes
    ----------
    n_workers : int
        Workers that were asked.
    seconds : float
        From the first to the last sample; NaN while unknown.
    has_worked : bool
        Whether any task has ended since there is a record.
    """

    n_workers: int
    seconds: float
    has_worked: bool


def title(sampling: Sampling, scene: Scene | None) -> str:
    """Return one line above the picture."""
    what = {"worker-loops": "Workers' event loops", "scheduler-loop": "Scheduler's event loop"}
    subject = what.get(sampling.source) or sampling.prefix or "All tasks"
    if scene is None:
        return subject
    frames = scene.frames
    text = (
        f"{subject}: {fmt.duration(frames.samples * scene.interval_s)} of threads' time"
        f" in {fmt.plural(frames.samples, 'sample')}"
    )
    if scene.focus:
        name = fmt.elide(frames.place(scene.focus).name, 60)
        share = fmt.percent(frames.total[scene.focus] / frames.samples)
        text = f"{name}: {share} of {subject if sampling.prefix else subject.lower()}"
    return text


def note(
    sampling: Sampling,
    extent: Extent,
    reading: Reading | None,
    scene: Scene | None,
    unlisted: int | None = None,
) -> str:
    """Return how it was measured, what was merged, and who did not answer.

    ``unlisted`` is how many functions a table leaves out; None of a picture.
    """
    parts: list[str] = []
    if reading is not None and scene is not None:
        over = f" over {fmt.duration(extent.seconds)}" if extent.seconds > 0 else ""
        whom = fmt.plural(max(extent.n_workers - len(reading.missing), 1), "worker")
        of = f" from {whom}" if sampling.source != "scheduler-loop" else ""
        parts.append(f"{_interval(reading.interval_s)} per sample{over}{of}")
        if sampling.source != TASKS:
            parts.append(LOOP_SAMPLING)
        if unlisted:
            parts.append(f"{fmt.plural(unlisted, 'function')} with less time not listed")
        if scene.icicle.hidden and unlisted is None:
            merged = fmt.plural(scene.icicle.hidden, "frame")
            parts.append(f"{merged} below {fmt.percent(scene.icicle.least)} merged")
        parts += _doubts(reading)
    if reading is not None and reading.missing and (scene is not None or sampling.source == TASKS):
        parts.append(_missing(reading.missing))
    if sampling.profile.state == "asked" and reading is not None:
        parts.append(f"as of {fmt.clock(sampling.profile.answered_at)}, asking again")
    if sampling.profile.state == "failed" and reading is not None:
        parts.append(f"Not renewed: {sampling.profile.error}")
    return " · ".join(parts)


def _doubts(reading: Reading) -> list[str]:
    """Return what was not recorded or left out before it came here."""
    parts: list[str] = []
    if reading.frames.is_unclear.any():
        parts.append("striped: in one of several functions, Dask does not record which")
    if reading.pruned:
        parts.append(f"{fmt.plural(reading.pruned, 'rare frame')} left out")
    return parts


def empty(sampling: Sampling, extent: Extent, scene: Scene | None) -> str:
    """Return why there is no picture and what to do; '' where there is one."""
    inquiry = sampling.profile
    if scene is not None:
        return ""
    if inquiry.answer is None:
        if inquiry.state == "failed":
            return f"No profile: {inquiry.error} Press Refresh to ask again."
        return "Waiting for the cluster's answer."
    if sampling.source != TASKS:
        return (
            "No samples of event loops. Dask does not sample them on Python 3.11, nor where"
            " distributed.worker.profile.enabled is False. The profile of tasks works there too,"
            " unless it is switched off."
        )
    if sampling.has_period:
        return "No samples in this period. Choose another one above, or clear it."
    if sampling.prefix:
        return (
            f"No samples of {fmt.elide(sampling.prefix, 80)}. Tasks shorter than 10 ms may never be"
            " sampled; choose all tasks, or run more of them."
        )
    if extent.has_worked:
        return (
            "Tasks have run but no samples were kept. Profiling may be switched off: set"
            " distributed.worker.profile.enabled to True before the workers start."
        )
    return "No samples yet. Run something; the workers sample their threads while tasks run."


def _interval(seconds: float) -> str:
    """Return ``10 ms`` for what is a setting and not a measurement."""
    return f"{seconds:g} s" if seconds >= 1 else f"{seconds * 1000:g} ms"


def _missing(missing: Mapping[str, str]) -> str:
    names = list(missing)[:MAX_NAMED]
    said = ", ".join(f"{fmt.elide(name, 40)} ({fmt.elide(missing[name], 60)})" for name in names)
    more = f" and {len(missing) - len(names)} more" if len(missing) > len(names) else ""
    return f"Nothing from {said}{more}"
