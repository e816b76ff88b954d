"""What the tasks of each prefix hold and took: sums, shares, colours, nothing hidden."""

from __future__ import annotations

import pytest

from dask_diag_lab.schema import Kind
from dask_diag_lab.store import LiveSession
from dask_diag_lab.views.look import LIGHT, Look
from dask_diag_lab.views.palette import data_colors, prefix_color
from dask_diag_lab.views.tasks.by_prefix import (
    AggregateTimePerAction,
    ComputeTimePerKey,
    MemoryByKey,
)
from tests.kernel.store.batches import BatchMaker, prefix_row
from tests.kernel.views.drawn import Drawn
from tests.kernel.views.situations import MIB, session_of

ROWS = (
    ("load", "compute", 30.0),
    ("load", "disk-write", 2.0),
    ("sum", "compute", 10.0),
    ("sum", "transfer", 6.0),
    ("idle", "compute", 0.0),
)


def timed(*rows: tuple[str, str, float]) -> LiveSession:
    """Return a session with an action for each of these: prefix, kind and seconds."""
    live, maker = LiveSession(), BatchMaker()
    for prefix, action, seconds in rows:
        kind = Kind[action.upper().replace("-", "_")]
        maker.action(0, seconds, prefix=prefix, kind=kind)
    live.apply(maker.batch())
    return live


def test_memory_is_that_of_the_results_held_largest_first() -> None:
    rows = [
        prefix_row("a", memory=2, released=3, nbytes=MIB),
        prefix_row("b", memory=1, nbytes=3 * MIB),
        prefix_row("gone", released=5),
    ]
    shown = Drawn(MemoryByKey(session_of(prefixes=rows)))
    assert (shown.data["prefix"], shown.data["nbytes"]) == (["b", "a"], [3 * MIB, MIB])
    assert shown.view.caption.headline == "Memory by key: 4.00 MiB · 3 results in memory"
    table = shown.view.table()
    assert table.columns == {"prefix": ["b", "a"], "nbytes": [3 * MIB, MIB], "count": [1, 2]}
    assert table.units == {"nbytes": "B"}


def test_compute_time_leaves_out_what_was_not_computing() -> None:
    shown = Drawn(ComputeTimePerKey(timed(*ROWS)))
    assert (shown.data["prefix"], shown.data["seconds"]) == (["load", "sum"], [30, 10])
    assert shown.view.caption.headline == "Compute time per key: 40.0 s"
    assert shown.view.table().columns["prefix"] == ["load", "sum"]


def test_mean_and_median_are_of_the_tasks_that_were_recorded() -> None:
    live, maker = LiveSession(), BatchMaker()
    for at in range(31):
        maker.action(at, at + (0.1 if at else 3.1), prefix="load")
    rows = [prefix_row("load", 3.0, memory=31)]  # what the scheduler expects of the next one
    live.apply(maker.batch(prefixes=rows))
    table = ComputeTimePerKey(live).table()
    assert table.columns["count"] == [31]
    assert table.columns["mean_s"] == [pytest.approx(6.1 / 31)]
    assert table.columns["median_s"] == [pytest.approx(0.1, rel=0.05)]


def test_actions_are_summed_over_prefixes() -> None:
    shown = Drawn(AggregateTimePerAction(timed(*ROWS)))
    assert shown.data["action"] == ["compute", "transfer", "disk-write"]
    assert shown.data["seconds"] == [40, 6, 2]
    assert shown.data["most_for"][0] == "load 30.0 s, sum 10.0 s"
    assert shown.view.caption.headline == "Aggregate time per action: 48.0 s"
    assert shown.view.table().columns["seconds"] == [30, 10, 6, 2]


@pytest.mark.parametrize("look", [LIGHT, Look(palette="okabe-ito")])
def test_colours_are_those_of_the_task_stream(look: Look) -> None:
    live = timed(*ROWS)
    actions = Drawn(AggregateTimePerAction(live, look))
    colors = data_colors(look)
    assert actions.data["color"][1:] == [colors.transfer, colors.disk]
    expected = [prefix_color(live.history.palette.index(name), look) for name in ("load", "sum")]
    assert Drawn(ComputeTimePerKey(live, look)).data["color"] == expected
