"""The task stream: what every thread of every worker did, with running tasks, in its own window.

Decides when what is asked of the history and drawn; how it looks is `figure`'s.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Final

import numpy as np
from bokeh.events import DoubleTap, Event, PointEvent, Tap
from bokeh.models.ui import UIElement

from dask_diag_lab.jobs import Latest
from dask_diag_lab.schema import Kind
from dask_diag_lab.schema.tables import GRAPH
from dask_diag_lab.store.arrays import Bools, Columns, Floats
from dask_diag_lab.store.runs import RunRecord
from dask_diag_lab.store.sums import ALL, Sums, Window
from dask_diag_lab.views.data import REST
from dask_diag_lab.views.known_runs import known_run, run_label
from dask_diag_lab.views.look import data_colors
from dask_diag_lab.views.registry import register_plot
from dask_diag_lab.views.stream import caption as text
from dask_diag_lab.views.stream.figure import StreamFigure
from dask_diag_lab.views.stream.frame import (
    Detail,
    Frame,
    Pointed,
    Rows,
    block_at,
    frame_job,
    history_job,
    running_blocks,
    shown_slots,
)
from dask_diag_lab.views.stream.links import NO_LINKS, SHOWN, Lineage, Links, category_job, path_job
from dask_diag_lab.views.tasks.task_counts import LEAST_S, erred_item, is_straggler
from dask_diag_lab.views.time_axis import MARGIN, TimeWindow, WindowView
from dask_diag_lab.views.view import Caption, Control, LegendItem, Table, View

DEBOUNCE_S: Final = 0.08
"""While the reader pans within the data there is, finer data is fetched after a rest of so long."""
RUNNING_S: Final = 1.0
"""Running tasks grow at this pace; when there are `MANY`, changes of them wait as long."""
MANY: Final = 30
REACH: Final = 1 / 300
"""Of the window's width: a block this close to the pointer counts as hit."""
MAX_RUN: Final = 30


@register_plot
class TaskStream(WindowView):
    """One page's task stream.

    Attributes
    ----------
    window : TimeWindow
    figure : StreamFigure or None
        None until `build`.
    chosen : Pointed or None
        What was clicked.
    detail : Detail
    """

    name = "task-stream"
    # Of the table: so many tasks, the first after `start` or, without one, the last.
    accepts: ClassVar[Sequence[str]] = ("count",)
    choices: ClassVar[Mapping[str, Sequence[str]]] = {"show": tuple(SHOWN)}
    freezes_itself: ClassVar[bool] = True
    formats: ClassVar[Sequence[str]] = (*View.formats, "trace.json")
    table_waits: ClassVar[bool] = False
    needs: ClassVar[frozenset[str]] = frozenset({"activities"})
    wishes: ClassVar[frozenset[str]] = frozenset({GRAPH})  # for the lineage of what is forgotten
    detail: ClassVar[Detail] = Detail()

    def set_up(self) -> None:
        """Make what it keeps; see `View.set_up`."""
        self.window = TimeWindow()
        self.figure: StreamFigure | None = None
        self.chosen: Pointed | None = None
        self._frame: Frame | None = None
        self._is_awaiting = False
        self._frames: Latest[Frame] = Latest(self.live.jobs)
        self._time: Latest[dict[str, float]] = Latest(self.live.jobs, rest=REST)
        self._sums: Latest[Sums] = Latest(self.live.jobs, rest=REST)
        self._stragglers: set[str] = set()
        self._lineage = Lineage(self.live)
        self._chosen_key = ""
        self._outlined: Latest[Links] = Latest(self.live.jobs, rest=REST)
        self._shown = "blocks"
        self._links = NO_LINKS
        none = np.zeros(self.history.slots.count, dtype=np.bool_)
        self._rows_of: tuple[object, Rows] = (None, Rows(self.history, none))
        self._running: tuple[object, float, Columns] = (None, -np.inf, {})
        self._take_arguments()

    def build(self) -> UIElement:
        """Return the figure; blocks follow with `update`, once they are gathered."""
        self.figure = StreamFigure(self.history, self.look, self.window, self.detail.max_keys)
        self.figure.figure.on_event(Tap, self._tapped)
        self.figure.figure.on_event(DoubleTap, self._tapped)
        self.update()
        return self.figure.figure

    def update(self) -> None:
        """Follow live data if so asked, draw what was gathered, ask for what is to be next."""
        figure = self.figure
        if figure is None:
            return
        burst = self.history.busy.burst_start(self._running_starts)
        self.window.follow_burst(burst, self._live)
        figure.show_transfer_share(self._transfer_share, text.transfer_note(self._transfer_share))
        frame = self._newest_frame(figure)
        if frame is not None and not frame.zero and self.window.zero:
            frame = self._frame = None  # gathered before there was data: it knows no time
        is_new = frame is not self._frame
        if frame is not None and is_new:
            self._frame = frame
            figure.show(frame)
        figure.place(self.window.zero if frame is None else frame.zero)
        links = NO_LINKS if frame is None else self._newest_links(frame)
        if frame is not None:
            figure.show_links(links, frame.rows.row_of)
        self._links = links
        if is_new or not self.window.is_frozen:
            self._show_running(figure)
        self._update_caption(figure)
        gone = frame.rows.gone if frame is not None else []
        paused = text.pauses(self.live, frame) if frame is not None else []
        figure.show_marks(gone, paused, text.marked_events(self.history))
        if self.live.chosen_key != self._chosen_key:  # another plot has chosen
            self.chosen, self._chosen_key = None, self.live.chosen_key
        figure.show_chosen(self.chosen)
        figure.show_axes(is_shown=bool(self.history.actions.count or self.history.running.count))
        self.caption = replace(
            self.caption,
            behind_s=self.window.behind_s(self._live),
            is_frozen=self.window.is_frozen,
        )

    @property
    def is_behind(self) -> bool:
        """Whether the end of a gesture is awaited; see `View.is_behind`."""
        return self._is_awaiting

    def restyle(self) -> None:
        """Apply the look; blocks are coloured by code, so none is sent again."""
        if self.figure is not None:
            self.figure.restyle(self.look)
            self._update_caption(self.figure)

    def command(self, verb: str) -> None:
        """Move the window: live, freeze, fit, clear, zoom-in, zoom-out, pan-left, pan-right."""
        window, live = self.window, self._live
        if verb == "live":
            window.release()
        elif verb == "freeze":
            window.freeze(live)
        elif verb == "clear":
            window.cleared_at = self.live.time if not np.isnan(live) else -np.inf
            window.release()
            self.chosen = None
            self.live.choose("")
        elif verb == "fit" and not np.isnan(live):
            window.fit(self._first, live)
        elif verb in {"zoom-in", "zoom-out"}:
            window.zoom(0.5 if verb == "zoom-in" else 2.0)
        elif verb in {"pan-left", "pan-right"}:
            window.pan(-0.25 if verb == "pan-left" else 0.25)
        else:
            return
        if self.figure is not None:
            self.figure.time.moved_at = -np.inf  # nothing to wait for
        self.update()

    def show(self, arguments: Mapping[str, str]) -> None:
        """Show a stretch of time; see `View.show`."""
        super().show(arguments)
        self._take_arguments()

    def close(self) -> None:
        """Let go of the picture."""
        self.figure = self._frame = None

    # What there is to see.

    @property
    def _running_starts(self) -> Floats:
        return self.history.running.places(self.live.time)[1]

    @property
    def _live(self) -> float:
        """Up to when there is data: now while tasks run or wait for a pause, else the last end."""
        live, last = self.live, float(self.history.actions.last_stop)
        is_live = live.history.running.count or (live.history.events.paused and not np.isnan(last))
        return float(np.fmax(last, live.time)) if is_live else last

    @property
    def _first(self) -> float:
        """Since when there is data; or NaN."""
        running = self._running_starts.min(initial=np.inf)
        return float(np.fmin(self.history.actions.first_start, running))

    def _newest_frame(self, figure: StreamFigure) -> Frame | None:
        """Return what was gathered last; have the next one gathered off the loop."""
        window, frame = self.window, self._frame
        rows = self._rows()
        asked = slice(0, rows.count) if self.detail.has_all_rows else rows.near(*figure.rows)
        # The reader pans within the data there is.
        has_data = frame is not None and frame.covers(window)
        self._is_awaiting = has_data and time.monotonic() - figure.time.moved_at < DEBOUNCE_S
        if frame is not None:
            ends = frame.start, frame.end, frame.zero, frame.asked
            is_there = ends == (window.start, window.end, window.zero, asked)
            if self._is_awaiting or (window.is_frozen and is_there):
                return frame
        key, make = frame_job(self.history, window, rows, asked, self.detail, self._until)
        return self._frames.get_or_start(self, key, make)

    @property
    def _transfer_share(self) -> float:
        return text.transfer_share(self.history.extras["activities"])

    # What is drawn beside blocks.

    def _show_running(self, figure: StreamFigure) -> None:
        """Draw what runs up to now, not more often than can be seen."""
        frame, running = self._frame, self.history.running
        if frame is None or frame.rows is not self._rows():
            return  # in the rows of now, which are drawn a moment later
        known, drawn_at, _ = self._running
        key = (running.version, frame.zero, frame.rows, frame.asked)
        is_old = time.monotonic() - drawn_at >= RUNNING_S and running.count > 0
        if not is_old and (key == known or running.count >= MANY):
            return
        tasks = running_blocks(self.live)
        tasks["slot"] = frame.rows.row_of[tasks["slot"]]
        is_shown = (tasks["slot"] >= frame.asked.start) & (tasks["slot"] < frame.asked.stop)
        is_shown &= tasks["start"] <= self._until
        tasks = {name: column[is_shown] for name, column in tasks.items()}
        self._running = key, time.monotonic(), tasks
        is_late = self._is_straggler(tasks)
        self._stragglers = set(tasks["key"][is_late].tolist())
        figure.show_running(tasks, frame.zero, self.live.time, is_late)

    def _is_straggler(self, tasks: Columns) -> Bools:
        """Return which running tasks take far longer than their like did."""
        elapsed_s, actions = self.live.time - tasks["start"], self.history.actions
        sums = None
        if elapsed_s.max(initial=0) > LEAST_S:
            sums = self._sums.get_or_start(ALL, actions.version, actions.sums())
        return is_straggler(tasks["prefix"], elapsed_s, sums.durations() if sums else {})

    def _rows(self) -> Rows:
        """Return the rows of the window: the same object while they are the same."""
        window, slots = self.window, self.history.slots
        is_shown = shown_slots(slots, window.start, window.end, is_live=window.is_following)
        key = (slots.version, is_shown.tobytes())
        if key != self._rows_of[0]:
            self._rows_of = key, Rows(self.history, is_shown)
        return self._rows_of[1]

    def _update_caption(self, figure: StreamFigure) -> None:
        """Bring the caption in line with what is drawn."""
        live, window, frame = self.live, self.window, self._frame
        caption, is_window_empty = Caption(), False
        if frame is not None:
            runs = bool(np.any(self._running_starts < frame.end) and live.time > frame.start)
            is_window_empty = not frame.inside.any() and not runs
            share = self._transfer_share
            failed = replace(erred_item(self.look), label="failed")
            names, fills = live.history.prefix_index.names, figure.fills
            legend = text.legend(frame, names, fills, failed, has_tails=share > 0)
            near = data_colors(self.look).memory_near
            if text.pauses(live, frame):
                legend.insert(0, LegendItem("worker paused", near, "hatch"))
            if self._stragglers:
                legend.insert(0, LegendItem("straggler", near, "outline"))
            headline = self._headline(frame)
            note = text.picture_note(live, frame, text.transfer_note(share), headline)
            caption = Caption(
                headline=headline,
                note=" · ".join(filter(None, (self._links.note, note))),
                legend=legend,
            )
        is_cleared = window.is_following and window.cleared_at > -np.inf
        empty = text.empty(live, is_window_empty=is_window_empty, is_cleared=is_cleared)
        self.caption = replace(caption, empty=empty, controls=self._controls)

    @property
    def _controls(self) -> Sequence[Control]:
        outlined = Control("show", "select", "Outline", self._shown, tuple(SHOWN.items()))
        return () if self.period == ALL else (outlined,)

    def set_control(self, name: str, value: str) -> None:
        """Outline what was chosen; see `View.set_control`."""
        if name == "show" and value in SHOWN:
            self._shown, self.chosen = value, None
            self.live.choose("")
            if self.figure is not None:
                self._update_caption(self.figure)

    def _headline(self, frame: Frame) -> str:
        until = float(min(frame.end, self._live, self._until))
        # A window that follows, or did, begins a little before its zero.
        is_margin = 0 <= frame.zero - frame.start <= 2 * MARGIN * (frame.end - frame.start)
        begin = frame.zero if is_margin else frame.start
        share = self._share_of_time(frame, Window(begin, until))
        moment = self.live.time if self.window.is_following else begin
        n_asked, n_all = (frame.rows.n_there(moment, part) for part in (frame.asked, slice(None)))
        its = self._run_alone  # else a pill says which run is shown
        name = run_label(self.history, its, MAX_RUN) if its else ""
        parts = name, text.headline(share, n_asked, n_all), self._first_finding
        return " · ".join(filter(None, parts))

    @property
    def _run_alone(self) -> RunRecord | None:
        """The run that is alone in a window as long as that of the one it is compared with."""
        is_alone = self.run and "stop" in self.arguments
        return self.history.runs.of_number(self.run) if is_alone else None

    @property
    def _until(self) -> float:
        """Nothing is shown of what was done after this."""
        return np.inf if self._run_alone is None else self._run_alone.stop

    @property
    def _first_finding(self) -> str:
        """What made the run that is shown, or the last one, slow; '' while it goes on."""
        runs = self.history.runs
        last = list(runs)[-1:] if self.window.is_following else []
        shown = runs.of_number(self.run) or next(iter(last), None)
        return known_run(self.live, shown).first_finding if shown and shown.is_over else ""

    def _share_of_time(self, frame: Frame, window: Window) -> list[float]:
        """Return the shares that computing, transfers, disk and nothing had of thread time.

        None while they are worked out for the first time, and without any thread time.
        """
        history, now, rows = self.history, self.live.time, frame.rows.slots[frame.asked]
        subject = None if self.window.is_following else (window, frame.asked)
        if self._is_awaiting:
            seconds = self._time.known(subject)
        else:
            make = history.actions.thread_time(window, history.running.places(now), now, rows)
            version = (history.actions.version, *window, frame.asked)
            seconds = self._time.get_or_start(subject, version, make)
        offered_s = frame.rows.thread_s(*window, frame.asked)
        if seconds is None or offered_s <= 0:
            return []
        moving = seconds["transfer"] + seconds["deserialize"]
        parts = [seconds["computing"], moving, seconds["disk"]]
        share = [min(part / offered_s, 1.0) for part in parts]
        return [*share, max(1.0 - sum(share), 0.0)]

    # What a click opens; it moves nothing.

    def _tapped(self, event: Event) -> None:
        figure, frame = self.figure, self._frame
        if not isinstance(event, PointEvent) or event.x is None or event.y is None:
            return
        if figure is None or frame is None:
            return
        x, position = float(event.x), float(event.y)
        if x < figure.times[0]:  # on the names of the rows
            worker = frame.rows.worker_at(position)
            if worker is not None:
                self.open("worker", worker=worker.address)
            return
        moment, reach_s = frame.zero + x, REACH * self.window.width
        found = [block_at(of, moment, position, reach_s) for of in (frame.blocks, self._running[2])]
        target = found[0] or found[1]
        before, self.chosen = self.chosen, target
        figure.show_chosen(target)
        is_task = target is not None and target.kind == Kind.COMPUTE
        self._chosen_key = self._key_of(target) if target is not None and is_task else ""
        self.live.choose(self._chosen_key)
        if target is not None:
            is_again = before is not None and target.is_same(before)
            self._open_target(target, is_again or event.event_name == DoubleTap.event_name)

    def _newest_links(self, frame: Frame) -> Links:
        """Return what belongs to the chosen block, else what is to be outlined."""
        target, key = self.chosen, self.live.chosen_key
        if target is not None and key:
            slot = int(frame.rows.slots[target.row]) if target.row < frame.rows.count else -1
            return self._lineage.of(key, (slot, target.start, target.stop))
        if target is not None or key:
            return self._lineage.of(key) if key else NO_LINKS
        shown = self._shown
        if shown == "blocks" or self.period == ALL:
            return NO_LINKS
        made_of = self.period, self.history.actions.version if self.follows_run else 0

        def begin() -> Callable[[], Links]:
            if shown == "critical-path":
                return path_job(self.live, self.period, self.run)
            return category_job(self.live, self.period, self.run, shown)

        subject = shown, self.run or self.period
        return self._outlined.get_or_begin(subject, made_of, begin) or NO_LINKS

    def _key_of(self, target: Pointed) -> str:
        return target.key or self.history.actions.key(target.task)

    def _open_target(self, target: Pointed, is_again: bool) -> None:
        key = self._key_of(target)
        if key in self._stragglers:
            self.open("task", key=key, show="call-stack")
        elif is_again and key:
            self.open("task", key=key)
        else:
            # The profile may cover this picture: it has the way to the task as well.
            task = {"from_task": key} if key else {}
            self.open("profile", prefix=self.history.strings[target.prefix], **task)

    # The table.

    def _take_arguments(self) -> None:
        """Hold the stretch of time that was asked for, if one was."""
        start, stop = self.period
        count = self.number_argument("count")
        is_asked = count and not np.isfinite([start, stop]).all()
        tasks = slice(count) if np.isfinite(start) else slice(-count, None)
        self._bounds = start, stop, tasks if is_asked else None
        if "show" in self.arguments:
            self._shown, self.chosen = self.arguments["show"], None
            self.live.choose("")
        begin = start if np.isfinite(start) else self._first
        end = stop if np.isfinite(stop) else self._live
        if self._run_alone is not None:
            self.window.hold(self.time_argument("start", begin), self.time_argument("stop", end))
            self.window.zero = begin
        elif self.follows_run:
            self.window.release()
        elif begin < end and np.isfinite([start, stop]).any():
            self.window.hold(begin, end)
            self.window.zero = begin if self.run else self.window.zero or begin

    @property
    def table_arguments(self) -> Mapping[str, str]:
        """What the table of the picture is asked with; see `View.table_arguments`."""
        if self.window.is_following:
            return self.arguments
        run = {"run": str(self.run)} if self._run_alone else {}
        return {**run, "start": f"{self.window.start:.6f}", "stop": f"{self.window.end:.6f}"}

    def table_job(self) -> Callable[[], Table]:
        """Return what makes a table of every action of the window, or of all while it follows."""
        begin, end, tasks = self._bounds
        if not self.window.is_following:
            begin, end = self.window.start, min(self.window.end, self._until)
        make, lost = history_job(self.live, begin, end, tasks), text.lost(self.live)

        def table() -> Table:
            made, left_out = make()
            return replace(made, note=" · ".join(filter(None, (left_out, *lost))))

        return table

    def table(self) -> Table:
        """Return every action of the window; see `table_job`."""
        return self.table_job()()
