"""Transfers between workers, from the logs that the workers keep: a timeline and a table.

Works without the workers' own HTTP servers; asked again every 2 s while somebody looks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
import numpy.typing as npt
from bokeh.models import HBar
from bokeh.models.layouts import Column as Stack

from dask_diag_lab.jobs import Latest
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.asked import REFRESH_S, Asked, refresh_s
from dask_diag_lab.views.data import Column
from dask_diag_lab.views.figure import (
    Source,
    add_glyph,
    quiet_hover,
    set_properties,
    tooltip_html,
)
from dask_diag_lab.views.look import LIGHT, Look
from dask_diag_lab.views.palette import data_colors
from dask_diag_lab.views.registry import register_plot
from dask_diag_lab.views.stream.rows import WorkerRows
from dask_diag_lab.views.stream.timeline import Timeline
from dask_diag_lab.views.stream.window import TimeWindow
from dask_diag_lab.views.tables import SortableTable
from dask_diag_lab.views.view import Caption, Control, LegendItem, Table, View
from dask_diag_lab.views.worker_names import NamedWorkers, name_in_words, no_workers, worker_name

if TYPE_CHECKING:
    from bokeh.models.ui import UIElement

    from dask_diag_lab.store import Store
    from dask_diag_lab.store.queries import Query

MAX_WORKERS: Final = 100
"""Rows: those of the busiest."""
MAX_DRAWN: Final = 3000
"""Newest transfers that are drawn."""
MAX_ROWS: Final = 1000
"""Newest transfers in the table on the screen."""
MIN_ROW_PX: Final = 16
LIVE_S: Final = 60.0

_HALF: Final = 0.38
"""Of a row: received is drawn above its middle, sent below."""
_FASTEST: Final = 90
"""Percentile of the rates in view that has the strongest colour: one outlier pales no other."""
_LINES: Final = ("@head", "@size", "@when", "@keys")
_WAITING: Final = "Waiting for the answer of the workers."
_NONE: Final = (
    "No transfers yet. Workers send results to each other when a task needs data that another "
    "worker holds."
)
_COLUMNS: Final = (
    Column("stop", "Ended", "time", width=70),
    Column("worker", "Worker", "key", width=110),
    Column("direction", "Direction", width=76),
    Column("peer", "Other worker", "key", width=110),
    Column("nbytes", "Size", "bytes", width=84),
    Column("compressed", "On the wire", "bytes", width=92),
    Column("ratio", "of size", "percent", width=70),
    Column("seconds", "Duration", "seconds", width=96),
    Column("rate", "Rate", "rate", width=92),
    Column("keys", "Keys", "number", width=56),
    Column("key", "Largest key", "key", width=180),
)
_UNITS: Final = {"stop": "s", "nbytes": "B", "compressed": "B", "seconds": "s", "rate": "B/s"}

Columns = dict[str, npt.NDArray[Any]]  # dtypes differ from column to column


def read_log(answer: Any) -> Columns:  # plain data, or None before the first answer
    """Return the transfers in an answer as columns, in the order in which they ended.

    A transfer between two workers is in the logs of both: as received by one, sent by the other.
    Times are seconds since the epoch by the scheduler's clock, sizes bytes, rates bytes a second;
    NaN where one is not known.
    """
    given = answer.get("rows", ()) if isinstance(answer, Mapping) else ()
    rows: Sequence[Mapping[str, Any]] = sorted(given, key=lambda row: row["stop"])
    log: Columns = {
        name: np.array([np.nan if row[name] is None else row[name] for row in rows], float)
        for name in ("start", "stop", "nbytes", "compressed", "rate", "keys")
    }
    for name in ("worker", "peer", "key", "direction"):
        log[name] = np.array([str(row[name]) for row in rows], dtype=object)
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
    n_hidden : int
        Workers without a row.
    row, drawn : ndarray of int64
        The transfers that are drawn, oldest first, and the row of each.
    texts : mapping of str to list of str
        Lines of the hover.
    table : dict of str to ndarray
        Columns of the table on the screen, newest first.
    """

    log: Columns
    workers: list[WorkerRows]
    n_hidden: int
    row: npt.NDArray[np.int64]
    drawn: npt.NDArray[np.int64]
    texts: Mapping[str, list[str]]
    table: Columns

    @property
    def ends(self) -> tuple[float, float]:
        """Start of the first and stop of the last transfer that is drawn; there is one."""
        log, drawn = self.log, self.drawn
        return float(log["start"][drawn].min()), float(log["stop"][drawn].max())

    @classmethod
    def of(cls, answer: Any, worker: str, named: NamedWorkers) -> TransferFrame:  # plain data
        """Return the newest transfers of the busiest workers, or of the peers of one."""
        log = read_log(answer)
        whose = log["peer"] if worker else log["worker"]
        addresses, index = np.unique(whose, return_inverse=True)
        moved = np.bincount(index, weights=log["nbytes"], minlength=len(addresses))
        busiest = addresses[np.argsort(-moved, kind="stable")[:MAX_WORKERS]]
        place = {address: n for n, address in enumerate(named.there)}
        shown = sorted(busiest, key=lambda address: (place.get(address, len(place)), address))
        row_of = {address: row for row, address in enumerate(shown)}
        row = np.array([row_of.get(address, -1) for address in whose], dtype=np.int64)
        drawn = np.flatnonzero(row >= 0)[-MAX_DRAWN:]
        all_names = named.names({*log["worker"], *log["peer"]}).items()
        names = {address: name_in_words(name) for address, name in all_names}
        table = {name: column[::-1][:MAX_ROWS] for name, column in log.items()}
        for name in ("worker", "peer"):
            table[name] = np.array([names[at] for at in table[name]], dtype=object)
        return cls(
            log,
            [WorkerRows(names[at], at, n, 1, np.nan) for n, at in enumerate(shown)],
            len(addresses) - len(shown),
            row[drawn],
            drawn,
            _texts({name: column[drawn] for name, column in log.items()}, names),
            table,
        )


def _texts(log: Columns, names: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the lines that hovering tells of some transfers."""
    texts: dict[str, list[str]] = {"head": [], "size": [], "when": [], "keys": []}
    for row in zip(*log.values(), strict=True):
        of = dict(zip(log, row, strict=True))
        verb = "received from" if of["is_incoming"] else "sent to"
        texts["head"].append(f"{names[of['worker']]} {verb} {names[of['peer']]}")
        wire = f", {fmt.binary(of['compressed'])} on the wire ({fmt.percent(of['ratio'])})"
        is_known = np.isfinite(of["ratio"])
        texts["size"].append(fmt.binary(of["nbytes"]) + (wire if is_known else ""))
        took, rate = fmt.duration(of["seconds"]), fmt.si(of["rate"], "B/s")
        texts["when"].append(f"in {took} = {rate} · started {fmt.clock(of['start'])}")
        several = f"{fmt.plural(int(of['keys']), 'key')}, the largest " if of["keys"] > 1 else ""
        texts["keys"].append(several + fmt.elide(of["key"], 80))
    return texts


@register_plot
class Transfers(View):
    """The transfers of one worker by peer, or of all workers."""

    name = "transfers"
    title = "Transfers"
    group = "Workers"
    description = "Each transfer between workers: when, how much, how fast."
    help = (
        "Each transfer in the logs of the workers, which remember the last ones. Rows are "
        "workers, or the peers of the worker chosen above.\n"
        "- above the middle of a row: data received\n"
        "- below it: data sent\n"
        "- width: the time it took\n"
        "- pale: a slow one\n"
        "- 0 s below: the first transfer in the logs when the plot was opened\n"
        "- drag: pan\n"
        "- wheel: scroll the rows\n"
        "- Ctrl-wheel: zoom\n"
        "- Alt-drag or Ctrl-drag: zoom to a stretch of time\n"
        "- the table: each with its size, what was on the wire after compression, keys and "
        "rate\n"
        "- healthy: short, strong marks\n"
        "- long pale marks: a slow connection, or a worker too busy to send\n"
        "- many short ones: tasks need many small results; use larger pieces"
    )
    keywords = (
        *("communication", "network", "logs", "peers", "compression"),
        *("bandwidth", "data transfer"),
    )
    accepts: ClassVar[Mapping[str, str]] = {"worker": "Address of a worker: its transfers alone."}
    needs: ClassVar[frozenset[str]] = frozenset({"shuffles"})

    def __init__(
        self, store: Store, look: Look = LIGHT, arguments: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(store, look, arguments)
        self.timeline: Timeline | None = None
        self._asked = Asked(store)
        self._frames: Latest[TransferFrame] = Latest(store.jobs)
        self._shown: object = None
        self._named: tuple[object, NamedWorkers] = (None, NamedWorkers({}, {}))

    @property
    def worker(self) -> str:
        """Address of the worker that is shown; '' for all."""
        return self.arguments.get("worker", "")

    def build(self) -> UIElement:
        """Return the timeline and the table; see `View.build`."""
        self.timeline = Timeline(self.look, TimeWindow(end=LIVE_S), MIN_ROW_PX)
        self.rects = Source(
            *("left", "right", "y", "color", "alpha", "head", "size", "when", "keys")
        )
        # An outline keeps transfers of a millisecond visible in a picture of minutes.
        bar = HBar(y="y", left="left", right="right", height=_HALF, line_width=1)
        bar.update(fill_color="color", line_color="color", fill_alpha="alpha", line_alpha="alpha")
        figure = self.timeline.figure
        self._hover = quiet_hover(
            self.look, *_LINES, renderers=[add_glyph(figure, self.rects.model, bar)]
        )
        figure.add_tools(self._hover)
        self.rows = SortableTable(self.look, _COLUMNS)
        self._model = Stack(
            children=[figure, self.rows.model], sizing_mode="stretch_both", spacing=0, margin=0
        )
        self.restyle()
        return self._model

    def restyle(self) -> None:
        """Apply `look`; see `View.restyle`."""
        if self.timeline is not None:
            set_properties(self._model, styles={"background-color": self.look.background})
            set_properties(self._hover, tooltips=tooltip_html(self.look, *_LINES))
            self.timeline.restyle(self.look)
            self.rows.restyle(self.look)
            self.update()

    def command(self, verb: str) -> None:
        """Obey ``live`` (the last minute, as it comes) and ``fit`` (all that is drawn)."""
        frame = self._frames.known(self.worker)
        if self.timeline is not None and verb == "live":
            self.timeline.window.release()
        elif self.timeline is not None and verb == "fit" and frame is not None and len(frame.drawn):
            self.timeline.window.fit(*frame.ends)
        self.update()

    def set_control(self, name: str, value: str) -> None:
        """Choose a worker, '' for all; see `View.set_control`."""
        if name == "worker" and value != self.worker:
            self.show({"worker": value} if value else {})
            self.update()

    def show(self, arguments: Mapping[str, str]) -> None:
        """Show another worker; see `View.show`."""
        super().show(arguments)
        if self.timeline is not None:
            self.timeline.window.release()

    def update(self) -> None:
        """Ask when the last answer is old, and draw what changed; see `View.update`."""
        if self.timeline is None:
            return
        query = None
        if len(self.store.workers) or self.worker:
            query = self._asked.fresh("transfers", every_s=self._every_s, worker=self.worker)
        frame = None if query is None else self._newest_frame(query)
        nothing = TransferFrame.of(None, self.worker, self._names()) if frame is None else frame
        basis = (frame, self.look, self.timeline.window.zero)
        if basis != self._shown:
            self._draw(nothing, self.timeline)
            self._shown = (frame, self.look, self.timeline.window.zero)
        self._place(nothing, self.timeline)
        self._tell(query, frame, self.timeline)

    @property
    def _every_s(self) -> float:
        return refresh_s(REFRESH_S, 1 if self.worker else len(self.store.workers))

    def _newest_frame(self, query: Query) -> TransferFrame | None:
        if not query.answered_at:
            return None
        answer, worker, named = query.answer, self.worker, self._names()
        key = (query.n_answers, named)
        return self._frames.of(worker, key, lambda: TransferFrame.of(answer, worker, named))

    def _names(self) -> NamedWorkers:
        """Return the names of all workers, the same until there are others."""
        seen = (tuple(self.store.workers.address), self.store.seen_workers.version)
        if self._named[0] != seen:
            self._named = (seen, NamedWorkers.of(self.store))
        return self._named[1]

    def _draw(self, frame: TransferFrame, timeline: Timeline) -> None:
        log, drawn, colors = frame.log, frame.drawn, data_colors(self.look)
        window = timeline.window
        if not window.zero and len(drawn):
            window.zero = frame.ends[0]
        is_incoming, rates = log["is_incoming"][drawn], np.nan_to_num(log["rate"][drawn])
        fastest = max(float(np.percentile(rates, _FASTEST)), 1.0) if len(drawn) else 1.0
        timeline.name_rows(frame.workers)
        self.rects.set(
            {
                "left": log["start"][drawn] - window.zero,
                "right": log["stop"][drawn] - window.zero,
                "y": frame.row + np.where(is_incoming, -_HALF, _HALF) / 2 * 1.08,
                "color": [colors.incoming if i else colors.outgoing for i in is_incoming],
                "alpha": np.clip(rates / fastest, 0.35, 1.0),
                **frame.texts,
            }
        )
        self.rows.set({**frame.table, "ratio": np.asarray(frame.table["ratio"]) * 100})

    def _place(self, frame: TransferFrame, timeline: Timeline) -> None:
        window = timeline.window
        if len(frame.drawn):
            window.follow_last(LIVE_S, frame.ends[1])
        timeline.place(window.zero, "the first transfer")
        timeline.show_axes(is_shown=bool(len(frame.drawn)))

    def _tell(self, query: Query | None, frame: TransferFrame | None, timeline: Timeline) -> None:
        colors = data_colors(self.look)
        legend = (
            LegendItem("received, above", colors.incoming),
            LegendItem("sent, below", colors.outgoing),
            LegendItem("slower", colors.outgoing, alpha=0.35),
        )
        caption = Caption(
            controls=[Control("worker", "select", "Worker", self.worker, self._options())]
        )
        if query is None:
            caption = replace(caption, empty=no_workers(self.store))
        elif frame is None or not len(frame.log["stop"]):
            empty = query.error if query.state == "failed" else _WAITING
            if frame is not None and query.state != "failed":
                empty = f"{_NONE} {self._shuffled()}".rstrip()
            caption = replace(caption, empty=empty)
        else:
            log = frame.log
            received, sent = (
                fmt.binary(float(log["nbytes"][which].sum()))
                for which in (log["is_incoming"], ~log["is_incoming"])
            )
            n = len(log["stop"])
            entries = f"{fmt.count(n)} {'entry' if n == 1 else 'entries'}"
            caption = replace(
                caption,
                headline=f"{received} received · {sent} sent · {entries} in the logs",
                legend=legend,
                note=" · ".join(filter(None, (self._note(query, frame), self._shuffled()))),
                behind_s=timeline.window.behind_s(frame.ends[1]),
            )
        self.caption = caption

    def _options(self) -> list[tuple[str, str]]:
        known = dict(self._names().there)
        if self.worker and self.worker not in known:
            known[self.worker] = worker_name(self.store, self.worker)
        names = ((address, fmt.elide(name_in_words(name), 60)) for address, name in known.items())
        return [("", "All"), *names]

    def _note(self, query: Query, frame: TransferFrame) -> str:
        answer: Any = query.answer  # plain data
        n_log, n_drawn = len(frame.log["stop"]), len(frame.drawn)
        n_missing = len(answer.get("missing", ()))
        n_older = sum(answer.get("totals", {}).values()) - n_log
        newest = f"the newest {fmt.count(n_drawn)} of {fmt.count(n_log)} drawn"
        every = f"renewed every {self._every_s:.0f} s at this cluster size"
        parts = {
            f"not up to date: {query.error}": query.state == "failed",
            f"{fmt.plural(n_missing, 'worker')} did not answer": n_missing,
            f"{fmt.plural(frame.n_hidden, 'less busy row')} hidden": frame.n_hidden,
            newest: n_drawn == MAX_DRAWN < n_log,
            f"{fmt.count(n_older)} older ones in the logs not sent": n_older > 0,
            every: self._every_s > REFRESH_S,
        }
        return " · ".join(text for text, is_so in parts.items() if is_so)

    def _shuffled(self) -> str:
        """Return what P2P shuffles moved: workers keep no log of that."""
        shuffles = self.store.extras["shuffles"]
        read = np.asarray(shuffles["comm_read"], dtype=np.float64)
        if self.worker:
            read = read[np.asarray(shuffles["worker"], dtype=object) == self.worker]
        moved = float(np.nansum(read)) if len(read) else 0.0
        return (
            f"P2P shuffles, which no log has, moved {fmt.binary(moved)}: see Shuffle."
            if moved
            else ""
        )

    def table_job(self) -> Callable[[], Table]:
        """Return what makes a row for each entry of the logs, newest first; see `View.table_job`.

        None stands where something is not known.
        """
        answer = self.store.queries.ask("transfers", worker=self.worker).answer

        def make() -> Table:
            log = read_log(answer)
            columns: dict[str, Sequence[Any]] = {}  # numbers, text and None
            for name in (column.name for column in _COLUMNS):
                columns[name] = [None if c != c else c for c in log[name][::-1].tolist()]  # noqa: PLR0124 - NaN
            return Table(columns, _UNITS)

        return make

    def table(self) -> Table:
        """Return all entries; see `table_job`."""
        return self.table_job()()

    def close(self) -> None:
        """Let go of the picture."""
        self.timeline = None
