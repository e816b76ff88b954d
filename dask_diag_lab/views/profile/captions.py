"""Headline and note of a profile, and why it is empty and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.profile.sampling import REFRESH_S, SCHEDULER_LOOP, TASKS, WORKER_LOOPS
from dask_diag_lab.views.worker_names import worker_in_words

if TYPE_CHECKING:
    from dask_diag_lab.store import Store
    from dask_diag_lab.views.profile.sampling import Profile, Sampling

MAX_NAMED: Final = 3
"""Workers without an answer that are named."""
LATE_S: Final = 2.0
"""For so long an answer that is under way is not mentioned: the note would flicker."""

LOOP_SAMPLING: Final = (
    "Dask looks at event loops about once a second only: short work is missed, waiting left out"
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
    matches = frames.matches(search)
    if not (matches & (frames.total > 0)).any():
        return "No match"
    certain = frames.samples_in(matches & ~frames.is_unclear)
    least, most = (fmt.percent(n / frames.samples) for n in (certain, frames.samples_in(matches)))
    return f"{least} of the time" if least == most else f"{least} to {most} of the time"


def note(
    sampling: Sampling, profile: Profile | None, seconds: float, *, n_left_out: int, store: Store
) -> str:
    """Return how it was measured, what was left out, who did not answer, and how old it is."""
    if profile is None:
        return ""
    parts = []
    as_of = f"as of {fmt.clock(profile.answered_at)}"
    if sampling.late_s >= LATE_S:
        parts.append(f"{as_of}, asked again {fmt.duration(sampling.late_s)} ago, no answer yet")
    elif sampling.query.state == "failed":
        parts.append(as_of)
    if profile.frames.samples:
        parts += _measured(sampling, profile, seconds, n_left_out)
    if sampling.refresh_s > REFRESH_S and not sampling.has_period:
        parts.append(f"renewed every {sampling.refresh_s:.0f} s, as it takes many answers")
    if profile.missing and (profile.frames.samples or sampling.source == TASKS):
        named = [
            f"{worker_in_words(store, worker)} ({fmt.elide(reason, 60)})"
            for worker, reason in list(profile.missing.items())[:MAX_NAMED]
        ]
        n_more = len(profile.missing) - len(named)
        more = f" and {n_more} more" if n_more else ""
        parts.append(f"Nothing from {', '.join(named)}{more}")
    if sampling.query.state == "failed":
        parts.append(f"Not renewed: {sampling.query.error}")
    return " · ".join(parts)


def _measured(sampling: Sampling, profile: Profile, seconds: float, n_left_out: int) -> list[str]:
    # The interval is a setting and not a measurement: 10 ms, not 10.0 ms.
    interval = profile.interval_s
    every = f"{interval:g} s" if interval >= 1 else f"{interval * 1000:g} ms"
    over = f" over {fmt.duration(seconds)}" if seconds > 0 else ""
    n_workers = max(sampling.n_workers - len(profile.missing), 1)
    whom = fmt.plural(n_workers, "worker")
    of = "" if sampling.source == SCHEDULER_LOOP else f" from {whom}"
    parts = [f"{every} per sample{over}{of}"]
    if sampling.source != TASKS:
        parts.append(LOOP_SAMPLING)
    if profile.is_uncertain:
        parts.append("striped: one of several functions, Dask does not record which")
    if profile.pruned + n_left_out:
        parts.append(f"{fmt.plural(profile.pruned + n_left_out, 'rare frame')} left out")
    return parts


def empty(sampling: Sampling, store: Store, profile: Profile | None, *, is_known: bool) -> str:
    """Return why there is no picture and what to do; '' where there is one."""
    query = sampling.query
    if profile is not None:
        return "" if profile.frames.samples else _no_samples(sampling, store, is_known=is_known)
    if query.answer is not None:
        return "The cluster has answered; the picture is being made."
    if query.state == "failed":
        again = " Press Refresh to ask again." if sampling.can_ask else ""
        return f"No profile: {query.error}{again}"
    return "Waiting for the cluster's answer."


def _no_samples(sampling: Sampling, store: Store, *, is_known: bool) -> str:
    name = fmt.elide(sampling.prefix, 80)
    if sampling.source != TASKS:
        return (
            "No samples of event loops. Dask does not sample them on Python 3.11, nor where"
            " distributed.worker.profile.enabled is False. The profile of tasks works there too,"
            " unless it is switched off."
        )
    if sampling.has_period:
        return "No samples in this period. Choose another one above, or clear it."
    if not is_known:
        return (
            f"No samples of {name}: the scheduler knows no task of that name. Choose another one"
            " above."
        )
    if sampling.prefix:
        return (
            f"No samples of {name}. Tasks shorter than 10 ms may never be sampled; choose all"
            " tasks, or run more of them."
        )
    if store.running.count:
        return (
            "No samples yet of the tasks that run; the first ones come within some seconds. Where"
            " none come, profiling is switched off: distributed.worker.profile.enabled."
        )
    if store.actions.count:
        return (
            "Tasks have run but no samples were kept. Profiling may be switched off: set"
            " distributed.worker.profile.enabled to True before the workers start."
        )
    return "No samples yet. Run something; the workers sample their threads while tasks run."
