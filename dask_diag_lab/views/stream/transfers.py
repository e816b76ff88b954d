"""Transfers between workers, from the logs that the workers keep: a timeline.

Works without the workers' own HTTP servers; asked again every 2 s while somebody looks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
from bokeh.models import Rect

from dask_diag_lab.jobs import Latest
from dask_diag_lab.store.arrays import Columns
from dask_diag_lab.store.queries import REFRESH_S, PolledQueries, refresh_s
from dask_diag_lab.store.sums import ALL, Window
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.data import plain_column
from dask_diag_lab.views.figure import (
    Source,
    add_glyph,
    base_hover,
)
from dask_diag_lab.views.look import data_colors
from dask_diag_lab.views.names import (
    in_order,
    known_names,
    name_label,
    no_workers,
    worker_options,
)
from dask_diag_lab.views.registry import register_plot
from dask_diag_lab.views.stream.frame import WorkerRows
from dask_diag_lab.views.time_axis import Timeline, TimeWindow, WindowView, stepped_span
from dask_diag_lab.views.view import PERIOD, Caption, Control, LegendItem, Table

if TYPE_CHECKING:
    from bokeh.models.ui import UIElement

    from dask_diag_lab.store.queries import Query

MAX_DRAWN: Final = 3000
"""Newest transfers that are drawn."""
MIN_ROW_PX: Final = 16
LIVE_S: Final = 60.0

_HALF: Final = 0.38
"""Of a row: received is drawn above its middle, sent below."""
_FASTEST: Final = 90
"""Percentile of the rates in view that has the strongest colour: one outlier pales no other."""
_PALEST: Final = 0.35
_TEXTS: Final = ("head", "when", "largest")
_LINES: Final = tuple(f"@{name}" for name in _TEXTS)
_WAITING: Final = "Waiting for the answer of the workers."
_NONE: Final = (
    "No transfers yet. Workers send results to each other when a task needs data that another "
    "worker holds."
)
_COLUMNS: Final = (
    *("stop", "worker", "direction", "peer", "nbytes", "compressed", "ratio", "seconds", "rate"),
    *("keys", "key"),
)
_UNITS: Final = {"stop": "s", "nbytes": "B", "compressed": "B", "seconds": "s", "rate": "B/s"}


def read_log(answer: Any) -> Columns:  # plain data, or None before the first answer
    """Return the transfers in an answer as columns, in the order in which they ended.

    A transfer between two workers is in the logs of both: as received by one, sent by the other.
    Times are seconds since the epoch by the scheduler's clock, sizes bytes, rates bytes a second;
    NaN where one is not known.
    """
    rows = answer["rows"] if answer else []
    texts = ("worker", "peer", "direction", "key")
    log: Columns = {n: np.array([str(row[n]) for row in rows], dtype=object) for n in texts}
    for name in ("keys", "nbytes", "compressed", "start", "stop", "rate"):
        log[name] = np.array([row[name] for row in rows], dtype=float)
    log["is_incoming"] = log["direction"] == "in"
    log["seconds"] = log["stop"] - log["start"]
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = np.where(log["seconds"] > 0, log["nbytes"] / log["seconds"], np.nan)
        log["rate"] = np.where(log["rate"] > 0, log["rate"], rate)
        log["ratio"] = np.where(log["nbytes"] > 0, log["compressed"] / log["nbytes"], np.nan)
    log["direction"] = np.where(log["is_incoming"], "received", "sent").astype(object)
    return log


@dataclass(frozen=True, slots=True, eq=False)
class TransferFrame:
    """What is drawn of a log, made off the loop: of 1000 workers there are 40 000 transfers.

    Attributes
    ----------
    log : dict of str to ndarray
        As `read_log` returns it.
    workers : list of WorkerRows
        The rows, from the top.
    drawn : dict of str to ndarray
        Columns of `log` of the transfers that are drawn, oldest first, and the ``row`` of each.
    texts : mapping of str to list of str
        Lines of the hover.
    """

    log: Columns
    workers: list[WorkerRows]
    drawn: Columns
    texts: Mapping[str, list[str]]

    @property
    def n_drawn(self) -> int:
        return len(self.drawn["row"])

    @property
    def ends(self) -> tuple[float, float]:
        """Start of the first and stop of the last transfer that is drawn; there is one."""
        return float(self.drawn["start"].min()), float(self.drawn["stop"].max())

    @classmethod
    def of(
        cls,
        answer: Any,  # plain data
        worker: str,
        known: Mapping[str, str],
        period: Window = ALL,
    ) -> TransferFrame:
        """Return the newest transfers of a period of all workers, or with the peers of one.

        ``known`` are `known_names`.
        """
        log = _inside(read_log(answer), period)
        names = {a: name_label(known.get(a, a)) for a in {*log["worker"], *log["peer"]}}
        whose = log["peer" if worker else "worker"].tolist()
        addresses = in_order({*whose}, known)
        row_of = {address: row for row, address in enumerate(addresses)}
        log["row"] = np.array([row_of[address] for address in whose], dtype=np.int64)
        drawn = {name: column[-MAX_DRAWN:] for name, column in log.items()}
        rows = zip(*(column.tolist() for column in drawn.values()), strict=True)
        lines = [_lines(dict(zip(drawn, one, strict=True)), names) for one in rows]
        return cls(
            log,
            [WorkerRows(names[at], at, n, 1, np.nan) for n, at in enumerate(addresses)],
            drawn,
            {name: [line[at] for line in lines] for at, name in enumerate(_TEXTS)},
        )


def _inside(log: Columns, period: Window) -> Columns:
    """Return the transfers that are in a period at least partly."""
    is_in = (log["stop"] > period.start) & (log["start"] < period.stop)
    return {name: column[is_in | (period == ALL)] for name, column in log.items()}


def _lines(of: Mapping[str, Any], names: Mapping[str, str]) -> tuple[str, ...]:  # of any types
    """Return the lines that hovering tells of a transfer."""
    verb = "received from" if of["is_incoming"] else "sent to"
    took, rate = fmt.duration(of["seconds"]), fmt.si(of["rate"], "B/s")
    several = f"{fmt.count(of['keys'])} keys, the largest " if of["keys"] > 1 else ""
    return (
        f"{names[of['worker']]} {verb} {names[of['peer']]}",
        f"{fmt.binary(of['nbytes'])} in {took} = {rate} · started {fmt.clock(of['start'])}",
        several + fmt.elide(of["key"], 80),
    )


@register_plot
class Transfers(WindowView):
    """The transfers of one worker by peer, or of all workers."""

    name = "transfers"
    accepts: ClassVar[Sequence[str]] = ("worker",)
    needs: ClassVar[frozenset[str]] = frozenset({"shuffles"})

    def set_up(self) -> None:
        """Make what it keeps; see `View.set_up`."""
        self.window = TimeWindow(end=LIVE_S)
        self._place()
        self._asked = PolledQueries(self.live)
        self._frames: Latest[TransferFrame] = Latest(self.live.jobs)
        self._nothing = TransferFrame.of(None, "", {})
        self._shown: object = None

    @property
    def worker(self) -> str:
        """Address of the worker that is shown; '' for all."""
        return self.arguments.get("worker", "")

    def build(self) -> UIElement:
        """Return the timeline; see `View.build`."""
        self.timeline = Timeline(self.look, self.window, MIN_ROW_PX)
        self.rects = Source("x", "width", "y", "color", "alpha", *_TEXTS)
        # An outline keeps transfers of a millisecond visible in a picture of minutes. Bokeh's bars
        # would draw it at the frame's edge of those that are out of view.
        bar = Rect(x="x", y="y", width="width", height=_HALF, line_width=1)
        bar.update(fill_color="color", line_color="color", fill_alpha="alpha", line_alpha="alpha")
        figure = self.timeline.figure
        renderer = add_glyph(figure, self.rects.model, bar)
        figure.add_tools(base_hover(self.look, *_LINES, renderers=[renderer]))
        self.restyle()
        return figure

    def restyle(self) -> None:
        """Apply `look`; see `View.restyle`."""
        self.timeline.restyle(self.look)
        self.update()

    def command(self, verb: str) -> None:
        """Obey ``live`` (the last minute, as it comes) and ``fit`` (all that is drawn)."""
        frame = self._frames.known((self.worker, self.period))
        if verb == "live":
            self.window.release()
        elif verb == "fit" and frame is not None and frame.n_drawn:
            self.window.fit(*frame.ends)
        self.update()

    def set_control(self, name: str, value: str) -> None:
        """Choose a worker, '' for all; see `View.set_control`."""
        if name == "worker" and value != self.worker:
            period = {name: self.arguments[name] for name in PERIOD if name in self.arguments}
            self.show(period | ({"worker": value} if value else {}))
            self.update()

    def show(self, arguments: Mapping[str, str]) -> None:
        """Show another worker, or another stretch of time; see `View.show`."""
        super().show(arguments)
        self._place()

    def _place(self) -> None:
        """Hold the stretch of time that was asked for, if one was."""
        if np.isfinite(self.period).all():
            self.window.hold(*self.period)
        else:
            self.window.release()

    def update(self) -> None:
        """Ask when the last answer is old, and draw what changed; see `View.update`."""
        worker, workers, window = self.worker, self.history.workers, self.window
        every_s = refresh_s(REFRESH_S, 1 if worker else len(workers))
        query = self._asked.fresh("transfers", every_s=every_s, worker=worker)
        answer, known = query.answer, known_names(self.history)
        key = query.n_answers, tuple(workers.address), self.history.slots.version
        period = self.period
        made = self._frames.get_or_start(
            (worker, period), key, lambda: TransferFrame.of(answer, worker, known, period)
        )
        frame = made or self._nothing
        if frame.n_drawn:
            window.zero = window.zero or frame.ends[0]
            span = stepped_span(frame.ends[1] - window.zero)
            window.follow_last(min(span, LIVE_S), frame.ends[1])
        basis = (frame, self.look, window.zero)
        if basis != self._shown:
            self._draw(frame)
            self._shown = basis
        self.timeline.place(window.zero)
        self.timeline.show_axes(is_shown=bool(frame.n_drawn))
        self._update_caption(query, frame)

    def _draw(self, frame: TransferFrame) -> None:
        drawn, colors, zero = frame.drawn, data_colors(self.look), self.window.zero
        is_incoming, rates = drawn["is_incoming"], np.nan_to_num(drawn["rate"])
        fastest = max(float(np.percentile(rates, _FASTEST)), 1.0) if frame.n_drawn else 1.0
        self.timeline.name_rows(frame.workers)
        self.rects.set(
            {
                "x": (drawn["start"] + drawn["stop"]) / 2 - zero,
                "width": np.maximum(drawn["seconds"], 1e-3),  # nothing is drawn of what has none
                "y": drawn["row"] + np.where(is_incoming, -_HALF, _HALF) / 2 * 1.08,
                "color": [colors.incoming if i else colors.outgoing for i in is_incoming],
                "alpha": np.clip(rates / fastest, _PALEST, 1.0),
                **frame.texts,
            }
        )

    def _update_caption(self, query: Query, frame: TransferFrame) -> None:
        options = [("", "All"), *worker_options(self.history, self.worker)]
        controls = [Control("worker", "select", "Worker", self.worker, options)]
        failed = query.error if query.state == "failed" else ""
        if not len(frame.log["stop"]):
            waits = frame is self._nothing or not query.n_answers
            none = failed or (_WAITING if waits else f"{_NONE} {self._shuffled()}".rstrip())
            empty = none if len(self.history.workers) or self.worker else no_workers(self.history)
            self.caption = Caption(controls=controls, empty=empty)
            return
        log, colors = frame.log, data_colors(self.look)
        received, sent = (
            fmt.binary(float(log["nbytes"][which].sum()))
            for which in (log["is_incoming"], ~log["is_incoming"])
        )
        n_log, n_missing = len(log["stop"]), len(query.answer.get("missing", ()))
        parts = {
            f"not up to date: {failed}": failed,
            f"{fmt.plural(n_missing, 'worker')} did not answer": n_missing,
            f"the newest {MAX_DRAWN} of {fmt.count(n_log)} drawn": frame.n_drawn == MAX_DRAWN,
            self._shuffled(): True,
            self.period_text: True,
        }
        self.caption = Caption(
            controls=controls,
            headline=f"{received} received · {sent} sent · {fmt.count(n_log)} in the logs",
            legend=(
                LegendItem("received, above", colors.incoming),
                LegendItem("sent, below", colors.outgoing),
                LegendItem("slower", colors.outgoing, alpha=_PALEST),
            ),
            note=" · ".join(text for text, is_so in parts.items() if text and is_so),
            behind_s=self.window.behind_s(frame.ends[1]),
        )

    def _shuffled(self) -> str:
        """Return what P2P shuffles moved: workers keep no log of that."""
        shuffles = self.history.extras["shuffles"]
        is_of = (shuffles["worker"] == self.worker) | (not self.worker)
        moved = float(np.nansum(shuffles["comm_read"][is_of]))
        shuffled = f"P2P shuffles, which no log has, moved {fmt.binary(moved)}: see Shuffle."
        return shuffled if moved else ""

    def table_job(self) -> Callable[[], Table]:
        """Return what makes a row for each entry of the logs, newest first; see `View.table_job`.

        None stands where something is not known.
        """
        answer, period = self.live.queries.ask("transfers", worker=self.worker).answer, self.period

        def make() -> Table:
            log = _inside(read_log(answer), period)
            return Table({name: plain_column(log[name][::-1]) for name in _COLUMNS}, _UNITS)

        return make

    def table(self) -> Table:
        """Return all entries; see `table_job`."""
        return self.table_job()()
