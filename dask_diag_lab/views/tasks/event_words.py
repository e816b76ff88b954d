"""What happened, in words, and in which row of the timeline it is shown.

Pure; knows neither Bokeh nor the store.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.palette import data_colors
from dask_diag_lab.views.shown_name import shown_name
from dask_diag_lab.views.worker_names import readable_name

if TYPE_CHECKING:
    from dask_diag_lab.views.look import Look

Detail = Mapping[str, Any]  # as in `store.events`: whatever `distributed` logged
Names = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the timeline: its words, the kinds of events in it, their marker.

    ``ends`` are those of the kinds that only tell that another one is over.
    """

    title: str
    kinds: tuple[str, ...]
    marker: str
    ends: tuple[str, ...] = ()


ROWS: Final = (
    Row("Workers came", ("worker-added",), "triangle"),
    Row("Retiring", ("worker-closing",), "hex"),
    Row("Workers left", ("worker-removed",), "inverted_triangle"),
    Row("Workers died", ("worker-killed",), "square_x"),
    Row("Paused", ("worker-paused", "worker-resumed"), "square", ("worker-resumed",)),
    Row("Spill", ("spill-began", "spill-ended"), "square_dot", ("spill-ended",)),
    Row("Errors", ("task-erred",), "circle_x"),
    Row("Stealing", ("steal-burst",), "diamond"),
    Row("Graphs", ("update-graph",), "circle"),
    Row("Clients", ("client-added", "client-removed"), "circle_dot", ("client-removed",)),
    Row(
        "Cluster",
        (
            *("recording-began", "not-recorded", "restart", "workers-retired"),
            *("scheduler-lost", "scheduler-back", "events-dropped"),
        ),
        "star",
    ),
)
"""From the top. Kinds that are not named here go to the last row."""

ROW_OF: Final = {kind: index for index, row in enumerate(ROWS) for kind in row.kinds}
ENDS: Final = frozenset(kind for row in ROWS for kind in row.ends)


def row_colors(look: Look) -> tuple[tuple[str, str, str], ...]:
    """Return fill and outline of the marks of each row, and the colour of its lines."""
    colors = data_colors(look)
    plain = (
        *(colors.load_saturated, colors.gone, colors.gone),
        *(colors.memory_over, colors.memory_near),
        *(colors.spilled, colors.erred, colors.load_normal, look.accent, look.muted),
        look.foreground,
    )
    lines = {ROW_OF["task-erred"]: colors.erred_mark if look.is_dark else colors.transfer}
    lines[ROW_OF["worker-killed"]] = look.foreground
    # A line has no outline, and black would not be seen.
    spans = {ROW_OF["task-erred"]: colors.erred_mark} if look.is_dark else {}
    return tuple(
        (fill, lines.get(row, fill), spans.get(row, fill)) for row, fill in enumerate(plain)
    )


def number_of(detail: Detail) -> int:
    """Return how many things an event stands for: bursts are one event with a number."""
    number = detail.get("count", detail.get("graphs", 1))
    return max(int(number), 1) if isinstance(number, int | float) else 1


def worker_name(detail: Detail, names: Names) -> str:
    """Return what people call the worker of an event."""
    address = str(detail.get("worker", ""))
    return shown_name(readable_name(names.get(address, address)) or "unknown", 60)


def words(kind: str, detail: Detail, names: Names) -> str:
    """Return an event as a sentence without its time.

    Parameters
    ----------
    kind : str
    detail : mapping
    names : mapping of str to str
        Names of workers by address.
    """
    write = _WORDS.get(kind)
    if write is None:
        return shown_name(kind.replace("-", " "), 120)
    return write(detail, names)


def gap_words(n_ended: int, n_undated: int) -> list[str]:
    """Return what is not shown of the time before the recording.

    Parameters
    ----------
    n_ended : int
        Tasks that ended before.
    n_undated : int
        Workers of which it is not known when they came.
    """
    gaps = []
    if n_ended:
        tasks = fmt.plural(n_ended, "task")
        gaps.append(f"before ★ {tasks} ended: what failed or spilled by then is not known")
    if n_undated:
        they = "it" if n_undated == 1 else "they"
        gaps.append(f"of {fmt.plural(n_undated, 'worker')} nobody knows when {they} came")
    return gaps


def _came(detail: Detail, names: Names) -> str:
    del names
    known = detail.get("name")  # may be the number 0
    called = str(detail.get("worker", "") if known in (None, "") else known)
    name = shown_name(readable_name(called), 60)
    return f"worker {name} came with {fmt.plural(int(detail.get('nthreads', 0)), 'thread')}"


def _gone(verb: str) -> Callable[[Detail, Names], str]:
    def write(detail: Detail, names: Names) -> str:
        lost = int(detail.get("lost_tasks") or 0)
        tasks = f"; {fmt.plural(lost, 'task')} ran on it" if lost else ""
        cause = shown_name(str(detail.get("cause") or ""), 160) if detail.get("cause") else ""
        return f"worker {worker_name(detail, names)} {verb}{f': {cause}' if cause else ''}{tasks}"

    return write


def _worker(verb: str) -> Callable[[Detail, Names], str]:
    return lambda detail, names: f"worker {worker_name(detail, names)} {verb}"


def _spilled(detail: Detail, names: Names) -> str:
    size = f": {fmt.binary(float(detail['nbytes']))}" if detail.get("nbytes") else ""
    return f"worker {worker_name(detail, names)} began to spill to disk{size}"


def _erred(detail: Detail, names: Names) -> str:
    tasks = fmt.plural(number_of(detail), "task")
    prefix = shown_name(str(detail.get("prefix", "")), 80)
    return f"{tasks} of {prefix} failed, last on worker {worker_name(detail, names)}"


def _stolen(detail: Detail, _names: Names) -> str:
    return f"{fmt.plural(number_of(detail), 'task')} moved to another worker"


def _graphs(detail: Detail, _names: Names) -> str:
    graphs = fmt.plural(int(detail.get("graphs") or 1), "graph")
    tasks = fmt.plural(int(detail.get("tasks") or 0), "new task")
    return f"{graphs} of {tasks} submitted by {shown_name(str(detail.get('client', '')), 60)}"


def _client(verb: str) -> Callable[[Detail, Names], str]:
    return lambda detail, _names: f"{shown_name(str(detail.get('client', '')), 80)} {verb}"


def _back(detail: Detail, _names: Names) -> str:
    return f"the scheduler answers again after {fmt.duration(float(detail.get('lost_s') or 0))}"


def _lost(detail: Detail, _names: Names) -> str:
    reason = shown_name(str(detail.get("reason") or ""), 200) if detail.get("reason") else ""
    return f"the scheduler does not answer{f': {reason}' if reason else ''}"


def _began(detail: Detail, _names: Names) -> str:
    recalled = int(detail.get("recalled") or 0)
    if not recalled:
        return "recording began"
    return f"recording began; the scheduler recalled {fmt.plural(recalled, 'event')} before it"


_WORDS: Final[Mapping[str, Callable[[Detail, Names], str]]] = {
    "worker-added": _came,
    "worker-removed": _gone("left"),
    "worker-killed": _gone("died"),
    "worker-paused": _worker("paused: its memory is over the pause threshold"),
    "worker-resumed": _worker("goes on"),
    "worker-closing": _worker("closes when its data has been moved"),
    "workers-retired": lambda detail, _names: f"{fmt.plural(number_of(detail), 'worker')} retired",
    "spill-began": _spilled,
    "spill-ended": _worker("has no data on disk any more"),
    "task-erred": _erred,
    "steal-burst": _stolen,
    "restart": lambda _detail, _names: "the cluster was restarted",
    "update-graph": _graphs,
    "client-added": _client("connected"),
    "client-removed": _client("left"),
    "recording-began": _began,
    "not-recorded": lambda _detail, _names: "nobody recorded what was done for a while",
    "scheduler-lost": _lost,
    "scheduler-back": _back,
    "events-dropped": lambda detail, _names: (
        f"{fmt.plural(number_of(detail), 'event')} lost on the scheduler"
    ),
}
