"""The profiles: where the threads of the workers, or event loops, spent their time, by function.

Above them samples over time, where a drag selects the period.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

import numpy as np
from bokeh.events import Event, SelectionGeometry
from bokeh.models import BasicTicker, BoxSelectTool, Quad, Range1d
from bokeh.models.annotations import BoxAnnotation
from bokeh.models.layouts import Column as Stack
from bokeh.models.ui import UIElement
from bokeh.plotting import figure

from dask_diag_lab.jobs import Latest
from dask_diag_lab.store.sums import Window
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.figure import (
    Source,
    add_glyph,
    base_figure,
    base_hover,
    restyle_figure,
    set_properties,
)
from dask_diag_lab.views.known_runs import other_run, run_label
from dask_diag_lab.views.look import (
    Look,
    faint_color,
    prefix_color,
)
from dask_diag_lab.views.models import FlameChart
from dask_diag_lab.views.names import worker_label
from dask_diag_lab.views.profile.sampling import (
    FRAME_COLUMNS,
    NO_LOOP_SAMPLES,
    SCHEDULER_LOOP,
    WORKER_LOOPS,
    Profile,
    Sampling,
    SentFrames,
)
from dask_diag_lab.views.profile.tree import Frames, functions_table
from dask_diag_lab.views.registry import register_plot
from dask_diag_lab.views.time_axis import make_time_axis
from dask_diag_lab.views.view import ArgumentError, Caption, Control, Table, View

if TYPE_CHECKING:
    from dask_diag_lab.store import LiveSession

HEIGHT_PX: Final = 62
MAX_BINS: Final = 150
"""Bars side by side; neighbours are added up until there are no more."""
_HOVER: Final = ("@when", "@rate samples/s")
MAX_OPTIONS: Final = 500
"""Prefixes to choose from; a page with more of them is slow."""
NO_TREE: Final = {"count": 0, "identifier": "root", "children": {}}
COLORS: Final = "red took longer, blue shorter, than in {}"
NO_PROFILE: Final = "{} has no profile to compare this one with"


class Bins:
    """Samples over time, added up into few enough bars.

    Parameters
    ----------
    answer : mapping
        ``{times, counts, prefixes}`` of the question "activity", with at least one time.
    prefix : str
        Whose samples; '' for all.

    Attributes
    ----------
    start : ndarray of float64
        Seconds on the scheduler's clock.
    width_s : float
    counts : ndarray of float64
    """

    def __init__(self, answer: Mapping[str, Any], prefix: str) -> None:  # plain data
        times = np.asarray(answer["times"], dtype=np.float64)
        first, last = float(times[0]), float(times[-1])
        step = max(float(np.diff(times).min()), 1e-3) if len(times) > 1 else 1.0
        # Whole steps, so that a bar has as many as the next one.
        merged = np.ceil((last - first + step) / step / MAX_BINS)
        self.width_s = float(max(step * merged, (last - first) / MAX_BINS))
        at = ((times - first) / self.width_s + 1e-6).astype(np.int64)
        n = int(at[-1]) + 1
        self.start = first + self.width_s * np.arange(n, dtype=np.float64)
        none = [0] * len(times)
        counts = answer["prefixes"].get(prefix, none) if prefix else answer["counts"]
        self.counts = np.bincount(at, weights=counts, minlength=n)

    @property
    def stop(self) -> float:
        """End of the last bar."""
        return float(self.start[-1]) + self.width_s


class ProfileTimeline:
    """The bars of one page.

    Parameters
    ----------
    look : Look
    on_select : callable
        Takes start and stop in seconds of the scheduler's clock.
    """

    def __init__(self, look: Look, on_select: Callable[[float, float], None]) -> None:
        self._on_select = on_select
        self._zero = 0.0
        self.source = Source("left", "right", "top", "when", "rate")
        self.figure: figure = base_figure(
            look,
            sizing_mode="stretch_width",
            height=HEIGHT_PX,
            x_range=Range1d(start=0, end=1),
            y_range=Range1d(start=0, end=1),
        )
        self.figure.grid.visible = False
        make_time_axis(self.figure)
        self.figure.yaxis[0].ticker = BasicTicker(desired_num_ticks=2, num_minor_ticks=0)
        self.period = BoxAnnotation(
            visible=False, left=0, right=0, fill_alpha=0.18, line_alpha=0.9, level="overlay"
        )
        self.figure.add_layout(self.period)
        self.bars = Quad(left="left", right="right", top="top", bottom=0, line_color=None)
        bars = add_glyph(self.figure, self.source.model, self.bars)
        hover = base_hover(look, *_HOVER, renderers=[bars])
        drag = BoxSelectTool(dimensions="width", renderers=[])
        self.figure.add_tools(hover, drag)
        self.figure.toolbar.active_drag = drag
        self.figure.on_event(SelectionGeometry, self._selected)
        self.restyle(look)

    def show(self, bins: Bins, color: str) -> None:
        """Draw the bars."""
        self._zero = self._zero or float(bins.start[0])
        at = np.flatnonzero(bins.counts)
        left, rate = bins.start[at] - self._zero, bins.counts[at] / bins.width_s
        self.source.set(
            {
                "left": left,
                "right": left + bins.width_s,
                "top": rate,
                "when": [fmt.clock(start) for start in bins.start[at].tolist()],
                "rate": np.round(rate, 1),
            }
        )
        set_properties(self.bars, fill_color=color)
        begin, end = bins.start[0] - self._zero, bins.stop - self._zero
        set_properties(self.figure.x_range, start=begin, end=end)
        set_properties(self.figure.y_range, end=1.05 * float(rate.max(initial=0.0) or 1.0))

    def mark(self, start: float, stop: float) -> None:
        """Mark the period that was chosen; none where both are 0."""
        is_chosen = stop > start
        left, right = (start - self._zero, stop - self._zero) if is_chosen else (0, 0)
        set_properties(self.period, visible=is_chosen, left=left, right=right)

    def restyle(self, look: Look) -> None:
        """Apply the look; bars get their colour with `show`."""
        restyle_figure(self.figure, look)
        set_properties(self.period, fill_color=look.accent, line_color=look.accent)

    def _selected(self, event: Event) -> None:
        if not isinstance(event, SelectionGeometry) or not event.final:
            return
        geometry: Mapping[str, Any] = dict(event.geometry or {})  # its keys differ by kind
        if geometry.get("type") == "rect":
            low, high = sorted((float(geometry["x0"]), float(geometry["x1"])))
            if high > low:
                self._on_select(low + self._zero, high + self._zero)


class Before(NamedTuple):
    """What a profile is compared with: what colours mean, or why there are none; and the other."""

    note: str
    profile: Profile | None = None

    @classmethod
    def elsewhere(cls, live: LiveSession, dashboard_id: str, number: int) -> Before:
        """Return that of all tasks of a run of another dashboard, as it has it; blocks."""
        try:
            name, other, record = other_run(live, dashboard_id, number)
        except ArgumentError as error:
            return cls(str(error))
        label = f"{run_label(other.history, record, 30)} · {name}"
        sampling = Sampling(other)
        sampling.start, sampling.stop = record.start, record.stop if record.is_over else 0.0
        query = sampling.query
        if query.answer is None:
            return cls(NO_PROFILE.format(label))
        return cls(COLORS.format(label), Profile.of(query.answer, query.answered_at))


@register_plot
class ProfileOfTasks(View):
    """One page's profile of tasks.

    Attributes
    ----------
    sampling : Sampling
        What is asked of the cluster.
    chart : FlameChart
    timeline : ProfileTimeline
        The parts of the picture; there after `build`.
    """

    name = "profile"
    has_period = True
    # `key` is a prefix as well; `before` is the number of a run to compare with, `before_of` the id
    # of the dashboard that this one is of, by default of the same.
    accepts: ClassVar[Sequence[str]] = (
        *("count", "prefix", "key", "worker", "from_task", "before", "before_of"),
    )
    reads: ClassVar[Sequence[str]] = ("queries",)
    formats: ClassVar[Sequence[str]] = (*View.formats, "speedscope.json")
    source_title: ClassVar[str] = "Task"

    def set_up(self) -> None:
        """Make what it keeps; see `View.set_up`."""
        self.sampling = Sampling(self.live)
        self._path: tuple[str, ...] | None = None
        self._from_task = self._search = ""
        self._earlier: Sampling | None = None
        self._other: Latest[Before] = Latest(self.live.jobs)
        self._bins: Latest[Bins] = Latest(self.live.jobs)
        self._sent: Latest[SentFrames] = Latest(self.live.jobs)
        self._shown: SentFrames | None = None
        self._choose_from_arguments()

    def build(self) -> UIElement:
        """Return timeline and flame graph."""
        self.frames = Source(*FRAME_COLUMNS)
        self.chart = FlameChart(source=self.frames.model, sizing_mode="stretch_both")
        self.chart.on_change("focus", self._focused)
        self.timeline = ProfileTimeline(self.look, self._select)
        self.restyle()
        return Stack(
            children=[self.timeline.figure, self.chart],
            sizing_mode="stretch_both",
            spacing=0,
            min_width=0,
        )

    def state(self) -> object:
        """Return what was read and what the reader has set; see `View.state`."""
        sampling = self.sampling
        asked = sampling.query.version, sampling.activity.version
        chosen = (self._path, self._search, self._from_task, *self._subject)
        earlier = self._other.version if self._earlier is None else self._earlier.version
        versions = sampling.version, self._sent.version, self._bins.version, earlier
        return asked, versions, chosen, sampling.start, sampling.stop, len(self.history.prefixes)

    def table(self) -> Table:
        """Return functions with their own and their total time."""
        return self.table_job()()

    def table_job(self) -> Callable[[], Table]:
        """Return what makes the table; see `View.table_job`."""
        profile, count = self.sampling.read(), self._count
        frames = Frames(NO_TREE) if profile is None else profile.frames
        interval_s = 0.0 if profile is None else profile.interval_s
        return lambda: functions_table(frames, interval_s, count)

    @property
    def chosen_period(self) -> Window | None:
        """What samples are of, where the reader has chosen that; see `View.chosen_period`."""
        sampling = self.sampling
        return Window(sampling.start, sampling.stop) if sampling.has_period else None

    @property
    def table_arguments(self) -> Mapping[str, str]:
        """What is chosen by now; see `View.table_arguments`."""
        chosen = {name: getattr(self.sampling, name, "") for name in self.accepts}
        return {name: str(value) for name, value in chosen.items() if value}

    def restyle(self) -> None:
        """Apply the look; the colours of frames and bars are sent anew."""
        look = self.look
        set_properties(self.chart, faint=faint_color(look), **look.style)
        self.timeline.restyle(look)
        self.update()

    def command(self, verb: str) -> None:
        """``fit`` resets the zoom, ``live`` the period; ``clear`` both and the search."""
        if verb in ("fit", "clear"):
            self._path = None
        if verb == "clear":
            self._search = ""
        if verb in ("live", "clear"):
            self.sampling.start = self.sampling.stop = 0.0
        self.update()

    def set_control(self, name: str, value: str) -> None:
        """Obey the controls above the picture; see `View.set_control`."""
        sampling = self.sampling
        if name == "subject":
            self._choose(value)
        elif name == "search":
            self._search = value.strip().lower()
        elif name == "reset":
            self._path = None
        elif name == "period":
            sampling.start = sampling.stop = 0.0
        elif name == "worker":
            sampling.worker = ""
        elif name == "task":
            self.open("task", key=self._from_task)
        self.update()

    def show(self, arguments: Mapping[str, str]) -> None:
        """Show another task or worker, or the way to another task of the function that is shown."""
        subject = self._subject
        super().show(arguments)
        self._choose_from_arguments()
        if self._subject != subject:
            self._path = None
        self.update()

    # What is chosen.

    @property
    def _subject(self) -> tuple[str, str, str]:
        return self.sampling.source, self.sampling.prefix, self.sampling.worker

    def _choose_from_arguments(self) -> None:
        given, self._count = self.arguments, self.number_argument("count")
        ends = (moment if isfinite(moment) else 0.0 for moment in self.period)
        self.sampling.start, self.sampling.stop = ends
        self.sampling.prefix = given.get("prefix") or given.get("key", "")
        self.sampling.worker = given.get("worker", "")
        self._from_task = given.get("from_task", "")
        self._earlier = None
        number = self.number_argument("before")
        if number and not given.get("before_of"):
            record = self.history.runs.of_number(number)
            if record is None:
                raise ArgumentError(f"There is no run {number}, or it is kept no more.")
            earlier = self._earlier = Sampling(self.live)
            earlier.start, earlier.stop = record.start, record.stop
            earlier.prefix, earlier.worker = self.sampling.prefix, self.sampling.worker

    def _subjects(self) -> tuple[list[tuple[str, str]], str]:
        """Return what there is to choose, in an order that does not change, and what is chosen."""
        names = set(self.history.prefixes.names) | {self.sampling.prefix}
        answer = self.sampling.activity.answer
        names |= set(answer["prefixes"]) if answer else set()
        named = [(name, fmt.elide(name, 80)) for name in sorted(names - {""})]
        return [("", "All tasks"), *named[:MAX_OPTIONS]], self.sampling.prefix

    def _choose(self, value: str) -> None:
        if value != self.sampling.prefix:
            self.sampling.prefix = value
            if self._earlier is not None:
                self._earlier.prefix = value
            self._from_task = ""
            self._path = None

    def _select(self, start: float, stop: float) -> None:
        self.sampling.start, self.sampling.stop = start, stop
        self.update()

    def _focused(self, _attribute: str, _old: int, row: int) -> None:
        """Remember which frame the reader zoomed to, also for the next answer."""
        shown = self._shown
        if shown is not None and 0 <= row < len(shown.rows):
            self._path = shown.profile.frames.path(int(shown.rows[row]))
            self.update()

    # What is drawn.

    def draw(self) -> None:
        """Draw what has come; see `View.draw`."""
        profile, activity = self.sampling.read(), self.sampling.activity
        answer, prefix, bins = activity.answer, self.sampling.prefix, None
        if answer is not None and len(answer["times"]):
            subject = activity, prefix
            bins = self._bins.get_or_start(
                subject, activity.n_answers, lambda: Bins(answer, prefix)
            )
        self._show_profile(profile)
        if bins is not None:
            of_prefix = prefix_color(self.history.prefix_index.index(prefix), self.look)
            self.timeline.show(bins, of_prefix if prefix else faint_color(self.look))
        self.timeline.mark(self.sampling.start, self.sampling.stop)
        set_properties(self.timeline.figure, visible=bins is not None and bool(bins.counts.any()))
        self.caption = self._caption_of(profile, bins)

    def _show_profile(self, profile: Profile | None) -> None:
        """Send the frames; those of a large profile are prepared off the loop."""
        if profile is None or not profile.frames.samples:
            self._shown = None
            self.frames.set({name: [] for name in FRAME_COLUMNS})
            return
        look, search = self.look, self._search
        before = self._before.profile if self._before else None
        chosen = (profile, before, look, search)
        sent = self._sent.get_or_start(
            self._subject, chosen, lambda: SentFrames(profile, before, look, search)
        )
        if sent is not None:
            self._shown = sent
            self.frames.set(sent.columns)
            set_properties(
                self.chart,
                samples=sent.profile.frames.samples,
                interval_s=sent.profile.interval_s,
                focus=sent.row_of(self._path),
            )

    @property
    def _before(self) -> Before | None:
        """What it is compared with; of another dashboard only that of all tasks is there."""
        number, sampling = self.number_argument("before"), self.sampling
        if self._earlier is not None:
            record = self.history.runs.of_number(number)
            label = "an earlier run" if record is None else run_label(self.history, record, 30)
            return Before(COLORS.format(label), self._earlier.read())
        dashboard_id = self.arguments.get("before_of")
        if not dashboard_id or sampling.prefix or sampling.worker:
            return None
        its = dashboard_id, number
        return self._other.get_or_start(its, 0, lambda: Before.elsewhere(self.live, *its))

    def _caption_of(self, profile: Profile | None, bins: Bins | None) -> Caption:
        sampling, zoomed, n_left_out = self.sampling, 0, 0
        if self._shown is not None:
            frames = self._shown.profile.frames
            zoomed, n_left_out = frames.find(self._path or ()), len(frames) - len(self._shown.rows)
        seconds = float("nan")
        if bins is not None:
            start, stop = max(sampling.start, float(bins.start[0])), sampling.stop or bins.stop
            seconds = min(stop, bins.stop) - start
        note = sampling.note(profile, seconds, n_left_out)
        return Caption(
            headline=sampling.headline(profile, zoomed),
            controls=self._controls(zoomed),
            empty=sampling.empty(profile),
            note=" · ".join(filter(None, (self._before.note if self._before else "", note))),
        )

    def _controls(self, zoomed: int) -> list[Control]:
        """Return the controls; those that undo a choice only where one was made."""
        sampling = self.sampling
        options, value = self._subjects()
        period = f"{fmt.clock(sampling.start)} – {fmt.clock(sampling.stop)} ✕"
        worker = f"{worker_label(self.history, sampling.worker)} ✕"
        controls = (
            (Control("subject", "select", self.source_title, value, options), True),
            (Control("task", "button", f"Task page of {self._from_task}"), self._from_task),
            (Control("search", "text", "Search", self._search, (), "Search functions"), True),
            (Control("reset", "button", "Reset zoom"), zoomed),
            (Control("period", "button", period), sampling.has_period),
            (Control("worker", "button", worker), sampling.worker),
        )
        return [control for control, is_shown in controls if is_shown]


@register_plot
class ProfileOfEventLoops(ProfileOfTasks):
    """One page's profile of the event loops of the workers or of the scheduler."""

    name = "profile-server"
    # As `distributed.core.Server` decides it.
    unavailable = NO_LOOP_SAMPLES if sys.version_info[:2] == (3, 11) else ""

    accepts: ClassVar[Sequence[str]] = ("count", "source", "worker")
    source_title: ClassVar[str] = "Event loops of"
    SOURCES: ClassVar[Sequence[tuple[str, str]]] = (
        (WORKER_LOOPS, "Workers"),
        (SCHEDULER_LOOP, "Scheduler"),
    )

    def _choose_from_arguments(self) -> None:
        super()._choose_from_arguments()
        wanted = self.arguments.get("source", "")
        self.sampling.source = wanted if wanted in dict(self.SOURCES) else WORKER_LOOPS
        is_of_workers = self.sampling.source == WORKER_LOOPS
        self.sampling.worker = self.arguments.get("worker", "") if is_of_workers else ""

    def _subjects(self) -> tuple[list[tuple[str, str]], str]:
        return list(self.SOURCES), self.sampling.source

    def _choose(self, value: str) -> None:
        if value != self.sampling.source:
            self.show({**self.arguments, "source": value})
