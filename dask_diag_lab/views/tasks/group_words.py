"""What is written into the boxes of groups, and said about them in the hover.

Pure; knows neither Bokeh nor the store.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from dask_diag_lab.records import STATES
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.shown_name import shown_name
from dask_diag_lab.views.tasks import progress_bars as bars
from dask_diag_lab.views.tasks.group_box import Box
from dask_diag_lab.views.tasks.group_names import fitting_names
from dask_diag_lab.views.tasks.group_nodes import Metrics, Structure
from dask_diag_lab.views.text_room import text_px


def words_of(
    structure: Structure, metrics: Metrics, box: Box, rooms_px: Sequence[float]
) -> dict[str, list[str]]:
    """Return ``label``, ``count`` and ``more``, as far as they fit, and the lines of the hover.

    Parameters
    ----------
    structure, metrics : Structure, Metrics
    box : Box
    rooms_px : sequence of float
        Width of a line in each box.
    """
    states, nodes = metrics.states, range(len(structure.names))
    erred = bars.counts(states, "erred").tolist()
    totals = zip(bars.done(states).tolist(), states.sum(axis=1).tolist(), strict=True)
    counted = [f"{fmt.count(done)} / {fmt.count(total)}" for done, total in totals]
    failed = [f"{fmt.count(n)} erred" if n else "" for n in erred]
    memory = [_memory_words(metrics, node) for node in nodes]
    times = [fmt.duration(seconds) for seconds in metrics.seconds.tolist()]

    def line(number: int, figures: Iterable[tuple[str, str]]) -> list[str]:
        is_there = box.n_lines > number and box.name_lines == 1
        if not is_there:
            return ["" for _ in nodes]
        rooms = zip(figures, rooms_px, strict=True)
        return [_fitting_figures(two, room_px, box.font_px) for two, room_px in rooms]

    return {
        "label": _labels(structure, box, rooms_px) if box.n_lines else ["" for _ in nodes],
        "count": line(1, zip(failed, counted, strict=True)),
        "more": line(2, zip(memory, times, strict=True)),
        "name": [shown_name(name) for name in structure.names],
        "done": [f"{text} tasks done" for text in counted],
        "states": [_state_words(row) for row in states.tolist()],
        "memory": [f"{text} in memory" if text else "" for text in memory],
        "time": [_time_words(metrics, node) for node in nodes],
        "erred": [f"{fmt.plural(n, 'task')} erred" if n else "" for n in erred],
        "prefix": _origins(structure),
    }


def _fitting_figures(two: tuple[str, str], room_px: float, font_px: float) -> str:
    """Return both figures, or the first one that fits: a part of one would tell something else."""
    tries = (" · ".join(filter(None, two)), *two)
    return next((said for said in tries if text_px(said, font_px) <= room_px), "")


def wanted_px(structure: Structure, font_px: float) -> float:
    """Return the width of a line that all names fit into, shortened as they may be."""
    short = _short_names(structure, [0.0] * len(structure.names), font_px)
    return max((text_px(name, font_px) for name in short), default=0.0)


def _labels(structure: Structure, box: Box, rooms_px: Sequence[float]) -> list[str]:
    """Return the names as they fit."""
    short = _short_names(structure, rooms_px, box.font_px)
    return fitting_names(short, rooms_px, box.font_px, box.name_lines)


def _short_names(structure: Structure, rooms_px: Sequence[float], font_px: float) -> list[str]:
    """Return the names, without what follows the prefix where that tells enough."""
    number = Counter(structure.prefix)
    shown = []
    for name, prefix, room_px in zip(structure.names, structure.prefix, rooms_px, strict=True):
        is_whole = text_px(name, font_px) <= room_px
        shown.append(name if is_whole or number[prefix] > 1 else prefix)
    return shown


def _memory_words(metrics: Metrics, node: int) -> str:
    held = int(metrics.held[node])
    return fmt.binary(held) if held else ""


def _time_words(metrics: Metrics, node: int) -> str:
    seconds = float(metrics.seconds[node])
    if not seconds:
        return ""
    said = f"{fmt.duration(seconds)} of thread time"
    span = float(metrics.end[node] - metrics.begin[node])
    return f"{said} within {fmt.duration(span)}" if math.isfinite(span) and span > 0 else said


def _origins(structure: Structure) -> list[str]:
    """Return the last line of each hover: the prefix of a group, the groups of a prefix."""
    if structure.is_collapsed:
        return [f"{fmt.plural(n, 'group')} of this prefix" for n in structure.members.tolist()]
    return [f"prefix {shown_name(name)}" for name in structure.prefix]


def _state_words(counts: Sequence[int]) -> str:
    words = {"memory": "in memory", "no-worker": "without worker"}
    pairs = zip(STATES, counts, strict=True)
    return ", ".join(f"{fmt.count(n)} {words.get(state, state)}" for state, n in pairs if n)
