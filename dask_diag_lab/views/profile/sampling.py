"""What a profile asks the cluster, the profile read from the answers, and its frames as sent.

Also what is said of it: headline and note, and why it is empty and what to do.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dask_diag_lab.jobs import Latest
from dask_diag_lab.store.queries import PolledQueries, refresh_s
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.look import Look, data_colors, faint_color, mixed, prefix_palette
from dask_diag_lab.views.profile.tree import File, Frames

if TYPE_CHECKING:
    from dask_diag_lab.store import LiveSession
    from dask_diag_lab.store.queries import Query

REFRESH_S: Final = 5.0
"""An answer costs every worker some milliseconds, so the next one is not asked for sooner."""

TASKS: Final = "tasks"
WORKER_LOOPS: Final = "worker-loops"
SCHEDULER_LOOP: Final = "scheduler-loop"

Answer = Mapping[str, Any]  # plain data, as `transport.answers` describes it


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """A profile and how it was measured.

    Attributes
    ----------
    frames : Frames
    interval_s : float
        Seconds that one sample stands for.
    missing : collection of str
        Workers that did not answer, or beyond the bound of one profile.
    answered_at : float
        Scheduler's clock when the answer came.
    """

    frames: Frames
    interval_s: float
    missing: Collection[str]
    answered_at: float

    @classmethod
    def of(cls, answer: Answer, answered_at: float) -> Profile:
        """Return the profile that an answer has; takes long."""
        return cls(
            frames=Frames(answer["tree"]),
            interval_s=float(answer["interval_s"]),
            missing=set(answer["missing"]),
            answered_at=answered_at,
        )


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


class Sampling:
    """The questions of one page.

    Parameters
    ----------
    live : LiveSession

    Attributes
    ----------
    source : str
        ``tasks``, ``worker-loops`` or ``scheduler-loop``.
    prefix, worker : str
        What is asked for; '' for all.
    start, stop : float
        Period on the scheduler's clock; 0 for open.
    """

    def __init__(self, live: LiveSession) -> None:
        self.source = TASKS
        self.prefix = self.worker = ""
        self.start = self.stop = 0.0
        self._live = live
        self._profile: Latest[Profile] = Latest(live.jobs)
        self._asked = PolledQueries(live)

    @property
    def version(self) -> int:
        """Differs when a profile has been read."""
        return self._profile.version

    @property
    def has_period(self) -> bool:
        return self.stop > self.start

    @property
    def query(self) -> Query:
        """The profile of what is chosen, asked for where it is old; a period's is never."""
        chosen = {"source": self.source, "worker": self.worker, "prefix": self.prefix}
        period = {"start": self.start, "stop": self.stop}
        return self._fresh("profile", may_change=not self.has_period, **chosen, **period)

    @property
    def activity(self) -> Query:
        """Samples over time of all tasks."""
        return self._fresh("activity", may_change=True, source=self.source, worker=self.worker)

    def _fresh(self, kind: str, *, may_change: bool, **arguments: str | float) -> Query:
        """Ask again what may have changed: of tasks, since the last answer, only while one ran."""
        live, query = self._live, self._live.queries.ask(kind, **arguments)
        if self.source == TASKS and not live.history.running.count:
            ended = np.nan_to_num(live.history.actions.last_stop)
            may_change &= bool(query.answered_at <= ended + REFRESH_S)
        # More seldom where many workers give the answer.
        every_s = refresh_s(REFRESH_S, 0 if self.worker else 2 * len(live.history.workers))
        every_s *= may_change or query.is_useless
        return self._asked.fresh(kind, every_s=every_s, **arguments)

    def read(self) -> Profile | None:
        """Return the profile of now, read off the loop; None before the first has been read."""
        query = self.query
        answer, at = query.answer, query.answered_at
        if answer is None:
            return None
        return self._profile.get_or_start(query, query.n_answers, lambda: Profile.of(answer, at))

    def headline(self, profile: Profile | None, zoomed: int) -> str:
        """Return how much time was sampled in all, or the share of the frame that was zoomed to."""
        subject = _LOOPS.get(self.source) or self.prefix or "All tasks"
        if profile is None or not profile.frames.samples:
            return subject
        frames = profile.frames
        if zoomed:
            share = fmt.percent(frames.total[zoomed] / frames.samples)
            of = subject if self.prefix else subject.lower()
            return f"{frames.location(zoomed).name}: {share} of {of}"
        busy = fmt.duration(frames.samples * profile.interval_s)
        whose = "of threads' time" if self.source == TASKS else "of work"
        return f"{subject}: {busy} {whose} in {fmt.plural(frames.samples, 'sample')}"

    def note(self, profile: Profile | None, seconds: float, n_left_out: int) -> str:
        """Return how it was measured, what was left out, who is not in it, and how old it is."""
        if profile is None or not profile.frames.samples:
            return ""
        # The interval is a setting and not a measurement: 10 ms, not 10.0 ms.
        interval, n_missing = profile.interval_s, len(profile.missing)
        every = f"{interval:g} s" if interval >= 1 else f"{interval * 1000:g} ms"
        over = f" over {fmt.duration(seconds)}" if seconds > 0 else ""
        failed = self.query.error if self.query.state == "failed" else ""
        parts = {
            f"as of {fmt.clock(profile.answered_at)}, not renewed: {failed}": failed,
            f"{every} per sample{over}": True,
            LOOP_SAMPLING: self.source != TASKS,
            UNCLEAR: profile.frames.is_unclear.any(),
            f"{fmt.plural(n_left_out, 'rare frame')} left out": n_left_out,
            f"{fmt.plural(n_missing, 'worker')} not in it": n_missing,
        }
        return " · ".join(text for text, is_so in parts.items() if is_so)

    def empty(self, profile: Profile | None) -> str:
        """Return why there is no picture and what to do; '' where there is one."""
        if profile is None:
            if self.query.state == "failed":
                return f"No profile: {self.query.error}"
            return "Waiting for the cluster's answer."
        if profile.frames.samples:
            return ""
        if self.source != TASKS:
            return NO_LOOP_SAMPLES
        if self.has_period:
            return "No samples in this period. Choose another one above, or clear it."
        if self.prefix:
            return (
                f"No samples of {fmt.elide(self.prefix, 80)}. Tasks shorter than 10 ms may never be"
                " sampled; choose all tasks, or run more of them."
            )
        return NO_SAMPLES


# --- frames as they are sent

MAX_FRAMES: Final = 4000
"""Frames sent to the page, the heaviest ones; what is left out is counted in the note."""
MAX_TEXT: Final = 200
SAME_SHARE, SAME_S = 0.1, 0.1
"""Two profiles differ in a function by more than this share of the longer one, and seconds."""

FRAME_COLUMNS: Final = (
    *("parent", "total", "own", "name", "place", "line", "color", "is_own", "is_unclear", "match"),
)


class SentFrames:
    """The frames of a profile as they are sent to the page; making them takes long.

    Attributes
    ----------
    profile : Profile
    rows : ndarray of int64
        The frame of each row.
    columns : dict
        `FRAME_COLUMNS`; ``parent`` is a row.
    """

    def __init__(self, profile: Profile, before: Profile | None, look: Look, search: str) -> None:
        frames = profile.frames
        kept = frames.heaviest(MAX_FRAMES)
        self.profile = profile
        self.rows = kept
        places = [frames.location(frame) for frame in kept.tolist()]
        files = [place.file for place in places]
        matches = frames.matches(search)[kept] if search else np.ones(len(kept), dtype=np.bool_)
        self.columns: dict[str, Any] = {  # text and numbers
            "parent": np.searchsorted(kept, frames.parent[kept]),
            "total": frames.total[kept],
            "own": frames.own[kept],
            "name": [fmt.elide(place.name, MAX_TEXT) for place in places],
            "place": [fmt.elide(place.place, MAX_TEXT) for place in places],
            "line": [fmt.elide(place.line, MAX_TEXT) for place in places],
            "color": [
                _file_color(look, file) if file.name else faint_color(look) for file in files
            ],
            "is_own": np.array([file.is_own for file in files], dtype=np.uint8),
            "is_unclear": frames.is_unclear[kept].astype(np.uint8),
            "match": matches.astype(np.uint8),
        }
        if before is not None:
            self._compare(profile, before, look)

    def _compare(self, profile: Profile, before: Profile, look: Look) -> None:
        """Colour frames by how much longer, or shorter, they were than in another profile."""
        frames, rows = profile.frames, self.rows
        took_s, took_before_s = (one.frames.samples * one.interval_s for one in (profile, before))
        steps_s = frames.total * profile.interval_s
        steps_s = (steps_s - frames.counted_in(before.frames) * before.interval_s)[rows]
        # Of the same work in two runs one has a few samples more than the other.
        same_s = max(SAME_SHARE * max(took_s, took_before_s), SAME_S)
        largest_s, faint = float(np.abs(steps_s).max(initial=0.0)), faint_color(look)
        colors = data_colors(look)
        self.columns["color"] = [
            faint
            if abs(step) < same_s
            else mixed(
                faint, colors.transfer if step > 0 else colors.load_normal, abs(step) / largest_s
            )
            for step in steps_s.tolist()
        ]
        self.columns["line"] = [
            " · ".join(filter(None, (line, f"{fmt.signed(step)} than before")))
            for line, step in zip(self.columns["line"], steps_s.tolist(), strict=True)
        ]

    def row_of(self, path: Sequence[str] | None) -> int:
        """Return the row of the frame with this path, -1 for none."""
        if path is None:
            return -1
        found = np.flatnonzero(self.rows == self.profile.frames.find(path))
        return int(found[0]) if len(found) else 0


def _file_color(look: Look, file: File) -> str:
    """Return the colour of a file or library; the user's files and libraries share none."""
    colors = prefix_palette(look)[0 if file.is_own else 1 :: 2]
    return colors[file.number % len(colors)]
