"""What holds for every plot of the catalogue."""

from __future__ import annotations

from typing import Any

import pytest
from bokeh.models import Axis
from bokeh.models import Plot as BokehPlot

from dask_diag_lab.store import LiveSession
from dask_diag_lab.views.look import DARK, LIGHT, PALETTES, Look
from dask_diag_lab.views.registry import Plot, built_in_plots
from tests.kernel.store.batches import group_row, prefix_row
from tests.kernel.views.drawn import Drawn
from tests.kernel.views.situations import FINE, GIB, change, graph, session_of, worker

NAN = float("nan")
METRICS = {
    "event_loop_interval": 0.02,
    "host_net_io.read_bps": 3e6,
    "host_net_io.write_bps": 1e6,
    "host_disk_io.read_bps": 3e6,
    "host_disk_io.write_bps": 1e6,
    "gpu_utilization": 40,
    "gpu_memory_used": GIB,
    "gpu-memory-total": 16 * GIB,
    "rmm.rmm-used": GIB,
    "rmm.rmm-total": 4 * GIB,
    "num_fds": 3,
}


def busy() -> LiveSession:
    """Return a session with two workers and some tasks."""
    rows = [worker(i, managed=GIB, cpu=50.0, processing=i, metrics=METRICS) for i in range(2)]
    return session_of(
        workers=rows,
        prefixes=[prefix_row("inc", 1.0, 100, memory=3, processing=1)],
        groups=[group_row("inc-1", "inc", memory=3, processing=1)],
        graph=graph(["inc-1", "inc-2"], [(0, 1)]),
        extras={
            **change("fine", FINE),
            **change("system", [(1000.0, 10.0, 1e8, 1e3, 2e3, 40.0, NAN, 0.02)]),
            **change("counters", [("transitions", "count", 5.0)]),
            **change("clients", [("Client-a", True, 3)]),
            **change("stealing", [(1000.0, "confirmed", "k", 1, "a", "b")]),
            **change("shuffles", [("one", "tcp://10.0.0.0:4000", *[9.0] * 7, NAN, 1000.0)]),
        },
    )


every_plot = pytest.mark.parametrize("plot", built_in_plots(), ids=lambda plot: plot.name)


@every_plot
def test_an_empty_plot_says_why_and_in_words(plot: Plot) -> None:
    drawn = Drawn(plot(LiveSession()))
    caption = drawn.view.caption
    assert caption.empty or caption.note
    assert "`" not in caption.empty
    assert not (caption.empty and any(map(shown_axes, drawn.document.roots)))
    drawn.view.table()  # raises where columns are not of equal length
    drawn.view.close()


def shown_axes(part: Any) -> list[Axis]:  # any layout or plot
    """Return the axes that are seen: with ticks, of plots in layouts that are visible."""
    if not part.visible:
        return []
    if isinstance(part, BokehPlot):
        beside = (*part.left, *part.right, *part.above, *part.below)
        axes = [each for each in beside if isinstance(each, Axis) and each.visible]
        return [axis for axis in axes if getattr(axis.ticker, "ticks", True)]
    return [axis for child in getattr(part, "children", ()) for axis in shown_axes(child)]


@every_plot
def test_nothing_is_sent_while_nothing_changes_and_no_rows_for_another_look(plot: Plot) -> None:
    drawn = Drawn(plot(busy()))
    drawn.sent()
    assert drawn.sent() == []
    drawn.view.look = DARK
    drawn.view.restyle()
    assert set(drawn.sent()).isdisjoint({"data", "value"})
    drawn.view.close()


@every_plot
def test_every_palette_can_be_taken_over_and_back(plot: Plot) -> None:
    view = Drawn(plot(busy())).view
    before = [*view.table().columns]
    for look in [*(Look(name=DARK.name, palette=name) for name in PALETTES), LIGHT]:
        view.look = look
        view.restyle()
    assert [*view.table().columns] == before
    view.close()
