"""Headline and note of a profile, and why it is empty and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.profile.sampling import SCHEDULER_LOOP, TASKS, WORKER_LOOPS

if TYPE_CHECKING:
    from dask_diag_lab.views.profile.sampling import Profile, Sampling

LOOP_SAMPLING: Final = (
    "Dask looks at event loops about once a second only: short work is missed, waiting left out"
)
UNCLEAR: Final = "striped: one of several functions, Dask does not record which"
NO_LOOP_SAMPLES: Final = (
    "No samples of event loops. Dask does not sample them on Python 3.11, nor where"
    " distributed.worker.profile.enabled is False."
)
NO_SAMPLES: Final = (
    "No samples yet. Run something; the workers sample their threads while tasks run, unless"
    " distributed.worker.profile.enabled is False."
)
_LOOPS: Final = {WORKER_LOOPS: "Workers' event loops", SCHEDULER_LOOP: "Scheduler's event loop"}


def headline(sampling: Sampling, profile: Profile | None, zoomed: int) -> str:
    """Return how much time was sampled in all, or the share of the frame that was zoomed to."""
    subject = _LOOPS.get(sampling.source) or sampling.prefix or "All tasks"
    if profile is None or not profile.frames.samples:
        return subject
    frames = profile.frames
    if zoomed:
        share = fmt.percent(frames.total[zoomed] / frames.samples)
        of = subject if sampling.prefix else subject.lower()
        return f"{frames.location(zoomed).name}: {share} of {of}"
    busy = fmt.duration(frames.samples * profile.interval_s)
    whose = "of threads' time" if sampling.source == TASKS else "of work"
    return f"{subject}: {busy} {whose} in {fmt.plural(frames.samples, 'sample')}"


def found(profile: Profile | None, search: str) -> str:
    """Return the share of the time that a search has found, each sample once; '' for no search."""
    if profile is None or not search or not profile.frames.samples:
        return ""
    frames = profile.frames
    n_found = frames.samples_in(frames.matches(search))
    return f"{fmt.percent(n_found / frames.samples)} of the time" if n_found else "No match"


def note(sampling: Sampling, profile: Profile | None, seconds: float, n_left_out: int) -> str:
    """Return how it was measured, what was left out, who did not answer, and how old it is."""
    if profile is None or not profile.frames.samples:
        return ""
    # The interval is a setting and not a measurement: 10 ms, not 10.0 ms.
    interval, n_missing = profile.interval_s, len(profile.missing)
    every = f"{interval:g} s" if interval >= 1 else f"{interval * 1000:g} ms"
    over = f" over {fmt.duration(seconds)}" if seconds > 0 else ""
    n_left_out += profile.pruned
    failed = sampling.query.error if sampling.query.state == "failed" else ""
    parts = {
        f"as of {fmt.clock(profile.answered_at)}, not renewed: {failed}": failed,
        f"{every} per sample{over}": True,
        LOOP_SAMPLING: sampling.source != TASKS,
        UNCLEAR: profile.frames.is_unclear.any(),
        f"{fmt.plural(n_left_out, 'rare frame')} left out": n_left_out,
        f"{fmt.plural(n_missing, 'worker')} did not answer": n_missing,
    }
    return " · ".join(text for text, is_so in parts.items() if is_so)


def empty(sampling: Sampling, profile: Profile | None, *, can_ask: bool) -> str:
    """Return why there is no picture and what to do; '' where there is one."""
    if profile is None:
        if sampling.query.state == "failed":
            refresh = " Press Refresh to ask again." if can_ask else ""
            return f"No profile: {sampling.query.error}{refresh}"
        return "Waiting for the cluster's answer."
    if profile.frames.samples:
        return ""
    if sampling.source != TASKS:
        return NO_LOOP_SAMPLES
    if sampling.has_period:
        return "No samples in this period. Choose another one above, or clear it."
    if sampling.prefix:
        return (
            f"No samples of {fmt.elide(sampling.prefix, 80)}. Tasks shorter than 10 ms may never be"
            " sampled; choose all tasks, or run more of them."
        )
    return NO_SAMPLES
