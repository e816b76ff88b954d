"""Which plots make up which page: data only. The names are the stock dashboard's.

A plot that the catalogue lacks is left out, and a page of which nothing is left is not there.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Cell:
    """A place on a page.

    Attributes
    ----------
    plots : sequence of str
        Names; several are tabs, of which one is shown.
    label : str
        What several have in common, for people who do not see them.
    area : str
        Its place in the page's own grid, else ``wide`` (the whole breadth), ``tall`` (that, and
        twice the height) or '' (half the breadth).
    """

    plots: Sequence[str]
    label: str = ""
    area: str = ""


@dataclass(frozen=True, slots=True)
class PagePlan:
    """A page.

    Attributes
    ----------
    name : str
        Its path.
    title : str
    cells : sequence of Cell
        In the order in which they stand below each other in a narrow window.
    grid : str
        ``status``, which has a grid of its own, or ``cells``.
    """

    name: str
    title: str
    cells: Sequence[Cell]
    grid: str = "cells"


def _wide(*plots: str) -> tuple[Cell, ...]:
    return tuple(Cell((plot,), area="wide") for plot in plots)


def _halves(*plots: str) -> tuple[Cell, ...]:
    return tuple(Cell((plot,)) for plot in plots)


PLANS: Final[tuple[PagePlan, ...]] = (
    PagePlan(
        "status",
        "Status",
        (
            Cell(("cluster-memory",), area="cluster-memory"),
            Cell(("workers-memory",), area="workers-memory"),
            Cell(
                ("nprocessing", "cpu", "occupancy", "workers-transfer-bytes"),
                label="Load of the workers",
                area="load",
            ),
            Cell(("task-stream",), area="task-stream"),
            Cell(("progress",), area="progress"),
        ),
        grid="status",
    ),
    PagePlan("tasks", "Tasks", (Cell(("task-stream",), area="tall"), *_wide("progress"))),
    PagePlan(
        "workers",
        "Workers",
        (
            *_wide("workers"),
            *_halves("workers-memory", "cpu", "nprocessing", "occupancy"),
            *_halves("workers-transfer-bytes", "workers-network", "workers-disk"),
            *_halves("workers-cpu-timeseries", "workers-memory-timeseries"),
            *_halves("workers-network-timeseries", "workers-disk-timeseries"),
        ),
    ),
    PagePlan(
        "system",
        "System",
        (
            *_wide("scheduler-system"),
            *_halves("contention", "bandwidth-types"),
            *_wide("bandwidth-workers"),
        ),
    ),
    PagePlan("profile", "Profile", _wide("profile")),
    PagePlan("graph", "Graph", _wide("graph")),
    PagePlan("groups", "Groups", (Cell(("groups",), area="tall"), *_wide("group-progress"))),
    PagePlan("profile-server", "Profile of the event loops", _wide("profile-server")),
    PagePlan("stealing", "Work stealing", _wide("stealing", "occupancy")),
    PagePlan("events", "Events", _wide("events")),
    PagePlan("exceptions", "Exceptions", _wide("exceptions")),
    PagePlan("counters", "Counters", (*_wide("fine-performance-metrics"), *_wide("counters"))),
    PagePlan(
        "shuffle",
        "Shuffle",
        (
            *_wide("shuffle"),
            *_halves("workers-memory", "contention"),
            *_halves("workers-network-timeseries", "workers-disk-timeseries"),
        ),
    ),
    PagePlan("hardware", "Hardware", _wide("hardware")),
    PagePlan("gpu", "GPU", (*_halves("gpu-utilization", "gpu-memory"), *_wide("rmm-memory"))),
)

NEEDED: Final = {"shuffle": "shuffle", "stealing": "stealing", "counters": "counters"}
"""Pages that are about one plot and not there without it."""

INFO: Final = "info"
"""The one page without plots, see `info_page`."""

IN_BAR: Final = ("status", "tasks", "workers", "system", "profile", "graph", "groups", INFO)
"""The pages that the bar of every page names; the others are behind its last entry."""

MOVED: Final = {
    "": "status",
    "info/main/workers.html": INFO,
    "info/main/logs.html": INFO,
    "info/main/exceptions.html": "exceptions",
}
"""Other paths of the stock dashboard, and the page that they lead to."""

MOVED_WITH_ARGUMENT: Final = (
    ("info/worker/", "worker", "worker", ""),
    ("info/logs/", "worker", "worker", "logs"),
    ("info/call-stacks/", "worker", "worker", "call-stacks"),
    ("info/task/", "task", "key", ""),
    ("info/call-stack/", "task", "key", "call-stack"),
)
"""Paths that end with a worker or a task and ``.html``: beginning, plot, name of its argument, and
the section of its page."""


def plans_for(plots: Container[str]) -> dict[str, PagePlan]:
    """Return the pages that can be made of `plots`, by name, with only those."""
    plans = {}
    for plan in PLANS:
        cells = [
            Cell([name for name in cell.plots if name in plots], cell.label, cell.area)
            for cell in plan.cells
        ]
        cells = [cell for cell in cells if cell.plots]
        if cells and NEEDED.get(plan.name, cells[0].plots[0]) in plots:
            plans[plan.name] = PagePlan(plan.name, plan.title, cells, plan.grid)
    return plans
