"""The profile: where the threads of the workers spent their time, function by function.

Puts together what is asked (`sampling`), drawn (`flames`, `timeline`) and said (`words`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final

from bokeh.models.layouts import Column
from bokeh.models.ui import UIElement

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.base import Notice, Table, View
from dask_diag_lab.views.data_table import SortableTable
from dask_diag_lab.views.figure import set_properties
from dask_diag_lab.views.latest import Latest
from dask_diag_lab.views.look import LIGHT, Look
from dask_diag_lab.views.profile import rows, words
from dask_diag_lab.views.profile.flames import Flames
from dask_diag_lab.views.profile.picture import Picture, Wish, paint
from dask_diag_lab.views.profile.reading import Reader, Reading
from dask_diag_lab.views.profile.sampling import TASKS, Sampling, task_prefix
from dask_diag_lab.views.profile.timeline import HEIGHT_PX, Bins, Timeline
from dask_diag_lab.views.profile.toolbar import Acts, Toolbar
from dask_diag_lab.views.worker_names import worker_in_words

if TYPE_CHECKING:
    from dask_diag_lab.store import Store

LEAST_FLAMES_PX: Final = 130
"""Lower than this the flame graph gets the place of the timeline as well."""


class Profile(View):
    """One page's profile of tasks.

    Attributes
    ----------
    sampling : Sampling
        What is asked of the cluster.
    focus : tuple of str, or None
        `Frames.path` of the frame that fills the width; None while none was chosen.
    flames, timeline, toolbar
        The parts of the picture; None until `build`.
    """

    choice_title: ClassVar[str] = "Task"

    def __init__(
        self, store: Store, look: Look = LIGHT, arguments: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(store, look, arguments)
        self.sampling = Sampling(store, self._source())
        self.focus: tuple[str, ...] | None = None
        self.flames: Flames | None = None
        self.timeline: Timeline | None = None
        self.toolbar: Toolbar | None = None
        self.listing: SortableTable | None = None
        self._from_task, self._search = self.arguments.get("from_task", ""), ""
        self._is_listed = False
        self._reader = Reader(self.sampling, store.workings)
        self._pictures: Latest[Picture] = Latest(store.workings)
        self._bins: Latest[Bins] = Latest(store.workings)
        self._shown: Picture | None = None
        self._drawn: tuple[object, ...] = ()
        self._obey()

    def build(self) -> UIElement:
        """Return controls, timeline and flame graph, with the table in the background."""
        acts = Acts(
            choose=self._choose,
            search=self._search_for,
            refresh=self.sampling.refresh,
            tabulate=self._tabulate,
            clear_period=lambda: self._select(0.0, 0.0),
            clear_worker=lambda: self._restrict(""),
            open_task=self._open_task,
            reset=lambda: self.command("fit"),
        )
        options, value = self._options()
        self.toolbar = Toolbar(self.look, self.choice_title, options, value, acts)
        self.timeline = Timeline(self.look, self._select)
        self.flames = Flames(self.look, self._zoom)
        self.listing = SortableTable(self.look, rows.COLUMNS)
        self.listing.model.visible = False
        pictures: list[UIElement] = [self.timeline.figure, self.flames.figure]
        parts = [self.toolbar.model, *pictures, self.listing.model]
        self.update()
        return Column(children=parts, sizing_mode="stretch_both", spacing=0, min_width=0)

    def update(self) -> None:
        """Ask for what is old, and draw what has come."""
        self.sampling.follow()
        self._draw()

    def table(self) -> Table:
        """Return all functions with their own and their total time."""
        reading = self._reading()
        return reading.table if reading is not None else rows.table((), 0, 0.0)

    def restyle(self) -> None:
        """Apply the look; the colours of boxes and bars are sent anew."""
        if self.toolbar and self.flames and self.timeline and self.listing:
            for part in (self.toolbar, self.flames, self.timeline, self.listing):
                part.restyle(self.look)
            self._draw()

    def command(self, verb: str) -> None:
        """Reset the zoom with ``fit``; forget period and search as well with ``clear``."""
        if verb == "fit":
            self._zoom_to(None)
        elif verb == "clear":
            self._search = ""
            if self.toolbar is not None:
                set_properties(self.toolbar.search, value="")
            self._select(0.0, 0.0)

    def show(self, arguments: Mapping[str, str]) -> None:
        """Show another task or worker, or the way to another task of the function that is shown."""
        before, subject = self.arguments, self.sampling.subject
        super().show(arguments)
        changed = {name for name, _ in before.items() ^ self.arguments.items()}
        if changed != {"from_task"} or self.sampling.prefix != task_prefix(self.arguments):
            self._obey()
        self._from_task = self.arguments.get("from_task", "")
        if self.sampling.subject != subject:
            self._zoom_to(None)
        self._draw()

    # What is chosen.

    def _source(self) -> str:
        return TASKS

    def _obey(self) -> None:
        """Take over what the arguments choose."""
        self.sampling.prefix = task_prefix(self.arguments)
        self.sampling.worker = self.arguments.get("worker", "")

    def _options(self) -> tuple[list[tuple[str, str]], str]:
        """Return what the list offers, in an order that does not change, and what is chosen."""
        names = set(self.store.prefixes.names) | {self.sampling.prefix}
        answer = self.sampling.activity.answer
        names |= set(answer["prefixes"]) if answer else set()
        named = [(name, fmt.elide(name, 80)) for name in sorted(names - {""})]
        return [("", "All tasks"), *named], self.sampling.prefix

    def _choose(self, value: str) -> None:
        if value != self.sampling.prefix:
            self.sampling.prefix = value
            self._from_task = ""
            self._zoom_to(None)

    def _open_task(self) -> None:
        """Open the task from which this profile was asked for."""
        self.open("task", key=self._from_task)

    def _restrict(self, worker: str) -> None:
        self.sampling.worker = worker
        self._draw()

    def _select(self, start: float, stop: float) -> None:
        self.sampling.start, self.sampling.stop = start, stop
        self._draw()

    def _search_for(self, text: str) -> None:
        self._search = text.strip().lower()
        self._draw()

    def _tabulate(self, is_listed: bool) -> None:
        self._is_listed = is_listed
        self._draw()

    def _zoom(self, x: float, y: float) -> None:
        scene = self._shown.scene if self._shown is not None else None
        node = scene.node_at(x, y) if scene is not None else -1
        if scene is not None and node >= 0 and not scene.frames.is_unclear[node]:
            self._zoom_to(scene.frames.path(node))

    def _zoom_to(self, path: tuple[str, ...] | None) -> None:
        self.focus = path
        if self.flames is not None:
            self.flames.to_top()
        self._draw()

    # What is drawn.

    def _reading(self) -> Reading | None:
        return self._reader.read(1 if self.sampling.worker else len(self.store.workers))

    def _current_bins(self) -> Bins | None:
        inquiry = self.sampling.activity
        answer = inquiry.answer
        if answer is None or not len(answer["times"]):
            return None
        return self._bins.of(inquiry, inquiry.n_answers, lambda: Bins(answer))

    def _current_picture(self, reading: Reading | None, flames: Flames) -> Picture | None:
        if reading is None:
            return None
        wish = Wish(
            reading=reading,
            focus=self.focus,
            search=self._search,
            width_px=flames.width_px,
            is_low=flames.size.is_small,
            look=self.look,
            is_listed=self._is_listed,
        )
        return self._pictures.of(self.sampling.profile, wish, lambda: paint(wish))

    def _draw(self) -> None:
        flames, timeline = self.flames, self.timeline
        key = self._key(flames) if flames is not None else ()
        if flames is None or timeline is None or key == self._drawn:
            return
        self._drawn = key
        try:
            self._draw_anew(flames, timeline)
        except Exception:
            self._drawn = ()  # else the next update would find nothing to do, and nothing wrong
            raise

    def _draw_anew(self, flames: Flames, timeline: Timeline) -> None:
        self._shown = picture = self._current_picture(self._reading(), flames)
        bins = self._current_bins()
        if picture is None or picture.listing is None:
            scene = picture.scene if picture is not None else None
            flames.show(picture, words.title(self.sampling, scene))
        elif self.listing is not None:
            self.listing.set(picture.listing)
        if bins is not None:
            timeline.show(bins, self.look, self.store.palette.index, self.sampling.prefix)
        timeline.mark(self.sampling.start, self.sampling.stop)
        timeline.say(words.activity(self.sampling, bins, picture))
        self._arrange(flames, timeline)
        self._say(picture, bins)

    def _key(self, flames: Flames) -> tuple[object, ...]:
        """Return all that the picture depends on."""
        sampling, store = self.sampling, self.store
        return (
            *(sampling.profile, sampling.activity, store.inquiries.version, self.look),
            *(flames.size, self.focus, self._search, self._is_listed, sampling.start),
            *(sampling.stop, len(store.prefixes), len(store.workers), bool(store.actions.count)),
            *(self._reader.version, self._pictures.version, self._bins.version),
            *(int(sampling.late_s), self._from_task),
            *(bool(store.running.count), store.seen_workers.version),
        )

    def _arrange(self, flames: Flames, timeline: Timeline) -> None:
        """Show the flame graph or the table, and the timeline where there is room for it."""
        if self.listing is not None:
            set_properties(self.listing.model, visible=self._is_listed)
        set_properties(flames.figure, visible=not self._is_listed)
        is_shown = bool(timeline.figure.visible)
        height = flames.size.height + (HEIGHT_PX if is_shown else 0)
        # Told apart by some pixels more, so that it does not come and go by itself.
        least = LEAST_FLAMES_PX + HEIGHT_PX + (0 if is_shown else 16)
        has_room = self._is_listed or height >= least
        set_properties(timeline.figure, visible=timeline.is_telling and has_room)

    def _say(self, picture: Picture | None, bins: Bins | None) -> None:
        sampling = self.sampling
        seconds = bins.stop - float(bins.start[0]) if bins is not None else float("nan")
        if sampling.has_period:
            seconds = sampling.stop - sampling.start
        n_workers = 1 if sampling.worker else len(self.store.workers)
        is_known = sampling.prefix in {"", *self.store.prefixes.names}
        has_worked, is_running = bool(self.store.actions.count), bool(self.store.running.count)
        name = partial(worker_in_words, self.store)
        extent = words.Extent(n_workers, seconds, has_worked, is_known, is_running, name)
        self.notice = Notice(
            empty=words.empty(sampling, extent, picture),
            note=words.note(sampling, extent, picture),
        )
        if self.toolbar is not None:
            scene = picture.scene if picture is not None else None
            is_narrow = self.flames is not None and self.flames.size.is_narrow
            self.toolbar.fit(is_narrow=is_narrow)
            self.toolbar.offer(*self._options())
            period = f"{fmt.clock(sampling.start)} – {fmt.clock(sampling.stop)}"
            self.toolbar.say(
                matches=words.matches(picture, is_narrow=is_narrow),
                is_zoomed=scene is not None and scene.is_zoomed,
                period=period if sampling.has_period else "",
                worker=self._worker_words(),
                task=self._from_task,
            )

    def _worker_words(self) -> str:
        worker = self.sampling.worker
        return worker_in_words(self.store, worker) if worker else ""

    def close(self) -> None:
        """Forget the parts; the page is gone."""
        self.flames = self.timeline = self.toolbar = self.listing = None
