"""What a profile says in words: title, note, and why it is empty and what to do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.profile.sampling import REFRESH_S, TASKS

if TYPE_CHECKING:
    from dask_diag_lab.views.profile.boxes import Scene
    from dask_diag_lab.views.profile.picture import Picture
    from dask_diag_lab.views.profile.reading import Reading
    from dask_diag_lab.views.profile.sampling import Sampling
    from dask_diag_lab.views.profile.timeline import Bins

MAX_NAMED: Final = 3
"""Workers without an answer that are named."""

LOOP_SAMPLING: Final = (
    "Dask looks at event loops about once a second only: short work is missed, waiting left out"
)

ACTIVITY: Final = "Activity over time"

LATE_S: Final = 2.0
"""So long nobody is told that a newer answer is under way: words that come and go with each would
move the picture."""


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
    is_known : bool
        Whether the scheduler has tasks of the chosen name, or none is chosen.
    is_running : bool
        Whether tasks run now.
    name : callable
        Returns what a worker is called, by its address.
    """

    n_workers: int
    seconds: float
    has_worked: bool
    is_known: bool = True
    is_running: bool = False
    name: Callable[[str], str] = str


def title(sampling: Sampling, scene: Scene | None) -> str:
    """Return one line above the picture."""
    what = {"worker-loops": "Workers' event loops", "scheduler-loop": "Scheduler's event loop"}
    subject = what.get(sampling.source) or sampling.prefix or "All tasks"
    if scene is None:
        return subject
    frames = scene.frames
    busy = fmt.duration(frames.samples * scene.interval_s)
    whose = "of threads' time" if sampling.source == TASKS else "of work"
    text = f"{subject}: {busy} {whose} in {fmt.plural(frames.samples, 'sample')}"
    if scene.is_zoomed and scene.focus:
        name = fmt.elide(frames.place(scene.focus).name, 60)
        share = fmt.percent(frames.total[scene.focus] / frames.samples)
        text = f"{name}: {share} of {subject if sampling.prefix else subject.lower()}"
    return text


def activity(sampling: Sampling, bins: Bins | None, picture: Picture | None) -> str:
    """Return what stands above the samples over time: what they are, or why there are none.

    Nothing is said of them where they are never told, or where the whole profile is empty.
    """
    inquiry = sampling.activity
    if bins is not None and bins.has_samples:
        return ACTIVITY
    if sampling.source != TASKS or picture is None or picture.scene is None:
        return ""
    if inquiry.state == "failed":
        return f"{ACTIVITY}: {inquiry.error}"
    if inquiry.answer is None:
        return f"{ACTIVITY}: waiting for the cluster's answer"
    return f"{ACTIVITY}: no samples yet, they come while tasks run"


def note(sampling: Sampling, extent: Extent, picture: Picture | None) -> str:
    """Return how it was measured, what was left out, who did not answer, and how old it is."""
    if picture is None:
        return ""
    reading, scene = picture.reading, picture.scene
    parts = _age(sampling, reading)
    if scene is not None:
        over = f" over {fmt.duration(extent.seconds)}" if extent.seconds > 0 else ""
        whom = fmt.plural(max(extent.n_workers - len(reading.missing), 1), "worker")
        of = f" from {whom}" if sampling.source != "scheduler-loop" else ""
        parts.append(f"{_interval(reading.interval_s)} per sample{over}{of}")
        if sampling.source != TASKS:
            parts.append(LOOP_SAMPLING)
        parts += _begun(picture, scene) + _merged(picture, scene)
        parts += _doubts(picture)
    if sampling.refresh_s > REFRESH_S and not sampling.has_period:
        parts.append(f"renewed every {sampling.refresh_s:.0f} s, as it takes many answers")
    if reading.missing and (scene is not None or sampling.source == TASKS):
        parts.append(_missing(reading.missing, extent.name))
    if sampling.profile.state == "failed":
        parts.append(f"Not renewed: {sampling.profile.error}")
    return " · ".join(parts)


def _age(sampling: Sampling, reading: Reading) -> list[str]:
    """Return of when an old picture is; that comes first, for it is of all the rest."""
    as_of = f"as of {fmt.clock(reading.answered_at)}"
    if sampling.late_s >= LATE_S:
        return [f"{as_of}, asked again {fmt.duration(sampling.late_s)} ago, no answer yet"]
    if sampling.is_outdated(reading.answered_at):
        return [f"{as_of}, reading …"]
    return [as_of] if sampling.profile.state == "failed" else []


def _begun(picture: Picture, scene: Scene) -> list[str]:
    """Return what a picture that does not begin with all samples leaves out."""
    frames = scene.frames
    left_out = frames.samples - int(frames.total[scene.focus])
    if scene.is_zoomed or not left_out or picture.listing is not None:
        return []
    share = fmt.percent(left_out / frames.samples)
    return [f"{share} of it elsewhere: click “all”"]


def _merged(picture: Picture, scene: Scene) -> list[str]:
    """Return what there is no room for."""
    if picture.listing is None:
        merged, least = scene.icicle.hidden, fmt.percent(scene.icicle.least)
        return [f"{fmt.plural(merged, 'frame')} below {least} merged"] if merged else []
    if not picture.unlisted:
        return []
    return [f"{fmt.plural(picture.unlisted, 'function')} with less time not listed"]


def matches(picture: Picture | None, *, is_narrow: bool) -> str:
    """Return what a search has found: functions, and their share with each sample counted once."""
    found = picture.found if picture is not None else None
    if picture is None or found is None:
        return ""
    if not found.functions:
        return "No match"
    samples = picture.reading.frames.samples
    least, most = (fmt.percent(n / samples) for n in (found.certain, found.possible))
    share = most if least == most else f"{least} to {most}"
    return share if is_narrow else f"{fmt.plural(found.functions, 'function')}, {share} of the time"


def _doubts(picture: Picture) -> list[str]:
    """Return what was not recorded or left out before it came here."""
    parts: list[str] = []
    if picture.is_uncertain:
        which = "striped" if picture.listing is None else "“in …”"
        parts.append(f"{which}: one of several functions, Dask does not record which")
    if picture.reading.pruned:
        parts.append(f"{fmt.plural(picture.reading.pruned, 'rare frame')} left out")
    return parts


def empty(sampling: Sampling, extent: Extent, picture: Picture | None) -> str:
    """Return why there is no picture and what to do; '' where there is one."""
    if picture is None:
        return _awaited(sampling)
    return "" if picture.scene is not None else _no_samples(sampling, extent)


def _awaited(sampling: Sampling) -> str:
    inquiry = sampling.profile
    if inquiry.answer is not None:
        return "The cluster has answered; the picture is being made."
    if inquiry.state == "failed":
        again = " Press Refresh to ask again." if sampling.can_ask else ""
        return f"No profile: {inquiry.error}{again}"
    return "Waiting for the cluster's answer."


def _no_samples(sampling: Sampling, extent: Extent) -> str:
    if sampling.source != TASKS:
        return (
            "No samples of event loops. Dask does not sample them on Python 3.11, nor where"
            " distributed.worker.profile.enabled is False. The profile of tasks works there too,"
            " unless it is switched off."
        )
    if sampling.has_period:
        return "No samples in this period. Choose another one above, or clear it."
    if not extent.is_known:
        return (
            f"No samples of {fmt.elide(sampling.prefix, 80)}: the scheduler knows no task of that"
            " name. Choose another one above."
        )
    if sampling.prefix:
        return (
            f"No samples of {fmt.elide(sampling.prefix, 80)}. Tasks shorter than 10 ms may never be"
            " sampled; choose all tasks, or run more of them."
        )
    if extent.is_running:
        return (
            "No samples yet of the tasks that run; the first ones come within some seconds. Where"
            " none come, profiling is switched off: distributed.worker.profile.enabled."
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


def _missing(missing: Mapping[str, str], name: Callable[[str], str]) -> str:
    named = list(missing)[:MAX_NAMED]
    said = ", ".join(f"{fmt.elide(name(at), 40)} ({fmt.elide(missing[at], 60)})" for at in named)
    more = f" and {len(missing) - len(named)} more" if len(missing) > len(named) else ""
    return f"Nothing from {said}{more}"
