"""What the tasks of each prefix hold and took: sums, shares, colours, nothing hidden."""

from __future__ import annotations

import pytest

from dask_diag_lab.schema import Kind
from dask_diag_lab.store import LiveSession
from dask_diag_lab.views.look import LIGHT, Look, data_colors, prefix_color
from dask_diag_lab.views.tasks.by_prefix import (
    AggregateTimePerAction,
    ComputeTimePerKey,
)
from tests.kernel.store.batches import BatchMaker
from tests.kernel.views.drawn import Drawn

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


def test_actions_are_summed_over_prefixes() -> None:
    shown = Drawn(AggregateTimePerAction(timed(*ROWS)))
    assert shown.data["action"] == ["compute", "transfer", "disk-write"]
    assert shown.data["seconds"] == [40, 6, 2]
    assert shown.view.caption.headline == "Aggregate time per action: 48.0 s"
    assert shown.view.table().columns["seconds"] == [30, 10, 6, 2]


@pytest.mark.parametrize("look", [LIGHT, Look(palette="okabe-ito")])
def test_colours_are_those_of_the_task_stream(look: Look) -> None:
    live = timed(*ROWS)
    actions = Drawn(AggregateTimePerAction(live, look))
    colors = data_colors(look)
    assert actions.data["color"][1:] == [colors.transfer, colors.disk]
    expected = [
        prefix_color(live.history.prefix_index.index(name), look) for name in ("load", "sum")
    ]
    assert Drawn(ComputeTimePerKey(live, look)).data["color"] == expected
