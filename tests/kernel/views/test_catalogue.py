"""What holds for every plot of the catalogue."""

from __future__ import annotations

import pytest
from bokeh.document import Document
from bokeh.document.events import DocumentChangedEvent
from bokeh.models import Plot as BokehPlot

from dask_diag_lab.store import Store
from dask_diag_lab.views.look import DARK, LIGHT, PALETTES, Look
from dask_diag_lab.views.registry import Plot, built_in_plots
from dask_diag_lab.views.view import View
from tests.kernel.views.situations import GIB, graph, group, prefix, store_of, worker

METRICS = {
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


def busy() -> Store:
    """Return a store with two workers and some tasks."""
    rows = [worker(i, managed=GIB, cpu=50.0, processing=i, metrics=METRICS) for i in range(2)]
    return store_of(
        workers=rows,
        prefixes=[prefix("inc", 1.0, 100, memory=3, processing=1)],
        groups=[group("inc-1", "inc", memory=3, processing=1)],
        graph=graph(["inc-1", "inc-2"], [(0, 1)]),
    )


class Drawn:
    """A plot in a document that notes what it would send."""

    def __init__(self, plot: Plot, store: Store) -> None:
        self.view: View = plot(store)
        self._document = Document()
        self._document.add_root(self.view.build())
        self.view.update()
        self.events: list[DocumentChangedEvent] = []
        self._document.on_change(self.events.append)

    def resize(self) -> None:
        """Report another size of each figure, as a browser does."""
        for figure in self._document.select({"type": BokehPlot}):
            figure.set_from_json("outer_width", 333)
            figure.set_from_json("outer_height", 222)
        self.events.clear()


FITTED_IN_THE_KERNEL = {"progress", "events", "stealing"}
"""Plots that are still laid out by the size of their figure."""

every_plot = pytest.mark.parametrize("plot", built_in_plots(), ids=lambda plot: plot.name)


@every_plot
def test_an_empty_plot_says_why_and_in_words(plot: Plot) -> None:
    view = Drawn(plot, Store()).view
    assert view.caption.empty or view.caption.note
    assert "`" not in view.caption.empty
    view.table()  # raises where columns are not of equal length
    view.close()


@every_plot
def test_nothing_is_sent_while_nothing_changes_whatever_the_size(plot: Plot) -> None:
    drawn = Drawn(plot, busy())
    drawn.view.update()
    drawn.events.clear()
    drawn.view.update()
    assert drawn.events == []
    drawn.resize()
    drawn.view.update()
    assert drawn.events == [] or plot.name in FITTED_IN_THE_KERNEL
    drawn.view.close()


@every_plot
def test_every_look_can_be_taken_over_and_back(plot: Plot) -> None:
    drawn = Drawn(plot, busy())
    before = [*drawn.view.table().columns]
    for look in [*(Look(name=DARK.name, palette=name) for name in PALETTES), DARK, LIGHT]:
        drawn.view.look = look
        drawn.view.restyle()
    assert [*drawn.view.table().columns] == before
    drawn.view.close()
