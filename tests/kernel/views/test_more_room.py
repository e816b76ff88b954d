"""A pane with more room never shows less, and a picture stays as it is at one size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from bokeh.document import Document
from bokeh.models import Plot

from dask_diag_lab.records import ExtraChange
from dask_diag_lab.store.events import KINDS
from dask_diag_lab.views.base import View
from dask_diag_lab.views.tasks.events import Events
from dask_diag_lab.views.workers.bandwidth_workers import BandwidthWorkers
from dask_diag_lab.views.workers.cpu import Cpu
from dask_diag_lab.views.workers.data_transfer import DataTransfer
from dask_diag_lab.views.workers.transfers import Transfers
from dask_diag_lab.views.workers.worker_bars import WorkerBars
from dask_diag_lab.views.workers.workers_memory import WorkersMemory
from tests.kernel.store.batches import T0
from tests.kernel.views.conftest import Feed
from tests.kernel.views.situations import MIB, store_of, worker
from tests.kernel.views.test_transfers import asked, transfer

WIDTHS = (280, 340, 420, 560, 900)
HEIGHTS = (160, 220, 280, 400, 700)

Counts = dict[str, int]


def labels(figure: Plot) -> Counts:
    """Return how many labels each axis has."""
    axes = {"across": figure.xaxis[0], "down": figure.yaxis[0]}
    return {
        name: sum(bool(label) for label in axis.major_label_overrides.values()) * axis.visible
        for name, axis in axes.items()
    }


def found_at(
    view: View, figure: Plot, counts: Callable[[], Counts]
) -> dict[tuple[int, int], Counts]:
    """Return what is shown at each size, which has to stay when nothing happens."""
    found = {}
    for width in WIDTHS:
        for height in HEIGHTS:
            figure.set_from_json("outer_width", width)  # as a browser reports it
            figure.set_from_json("outer_height", height)
            view.update()
            found[width, height] = counts()
            view.update()
            assert counts() == found[width, height]
    return found


def losses(
    found: dict[tuple[int, int], Counts],
) -> list[tuple[tuple[int, int], tuple[int, int], str]]:
    """Return the pairs of neighbouring sizes of which the larger one shows less of something."""
    lost = []
    for (width, height), counts in found.items():
        across, down = WIDTHS.index(width) + 1, HEIGHTS.index(height) + 1
        larger = [(w, height) for w in WIDTHS[across : across + 1]]
        larger += [(width, h) for h in HEIGHTS[down : down + 1]]
        lost += [
            ((width, height), size, name)
            for size in larger
            for name, number in counts.items()
            if found[size][name] < number
        ]
    return lost


def built(view: View) -> View:
    Document().add_root(view.build())
    view.update()
    return view


@pytest.mark.parametrize("plot", [Cpu, WorkersMemory, DataTransfer])
@pytest.mark.parametrize("number", [3, 20, 200])
def test_bars_of_workers(plot: type[WorkerBars], number: int) -> None:
    rows = [
        worker(n, cpu=13.0 * n % 400, managed=n * MIB, incoming_bytes=1000 * n)
        for n in range(number)
    ]
    view = plot(store_of(workers=rows))
    built(view)

    def counts() -> Counts:
        data = view.bars.model.data
        numbers = sum(bool(said) for said in data["value"])
        return {"bars": len(data["y"]), "numbers": numbers, **labels(view.figure)}

    assert losses(found_at(view, view.figure, counts)) == []


def test_events() -> None:
    feed = Feed().workers("tcp://w0:1")
    events = [(T0 + n, kind, {"count": 3}) for n, kind in enumerate([*KINDS] * 3)]
    feed.send(60.0, events=events)
    view = Events(feed.store)
    built(view)

    def counts() -> Counts:
        return {"marks": len(view.marks.model.data["x"]), **labels(view.figure)}

    found = found_at(view, view.figure, counts)
    assert losses({size: {n: c[n] for n in ("marks", "down")} for size, c in found.items()}) == []


def test_lanes_of_transfers() -> None:
    view = Transfers(
        asked(*[transfer(n % 50, (n + 1) % 50, float(n)) for n in range(200)], n=50)[0]
    )
    built(view)
    figure = view.lanes.figure
    found = found_at(view, figure, lambda: {"down": labels(figure)["down"]})
    assert losses(found) == []


@pytest.mark.parametrize("name", ["{}", "node-{}-of-the-lab", "{0}{0}-{0}{0}"])
def test_map_of_bandwidth(name: str) -> None:
    words = ("ant", "bee", "cow", "dog", "elk", "fox", "gnu", "hen", "ibis", "jay", "kea", "lynx")
    rows = [worker(n, name=name.format(word)) for n, word in enumerate(words)]
    ends = [(str(a["address"]), str(b["address"])) for a in rows for b in rows if a is not b]
    columns: dict[str, list[Any]] = {  # numbers and text
        "source": [source for source, _ in ends],
        "destination": [destination for _, destination in ends],
        "rate": [1e8] * len(ends),
    }
    view = BandwidthWorkers(
        store_of(workers=rows, extras={"bandwidth-workers": ExtraChange(columns)})
    )
    built(view)
    figure = view.map.figure
    assert losses(found_at(view, figure, lambda: labels(figure))) == []
