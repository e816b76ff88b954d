"""The last runs, one under the other, each with its budget."""

from __future__ import annotations

import numpy as np

from dask_diag_lab.analysis.budget import CATEGORIES
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.bars import BarPlot, Part
from dask_diag_lab.views.data import Column, Rows
from dask_diag_lab.views.known_runs import known_run, run_label
from dask_diag_lab.views.registry import register_plot
from dask_diag_lab.views.scheduler.budget import STYLES


@register_plot
class RunsPlot(BarPlot):
    """A bar for each run, newest first: as long as it took, in the parts of its budget."""

    name = "runs"
    reads = ("runs", "actions")
    needs = frozenset({"activities"})
    empty = "Nothing has been computed yet. What each cell has the cluster do is a run here."

    columns = (
        Column("label", "Run", shown=False),
        Column("number", "Number", shown=False),
        Column("state", "State"),
        Column("began", "Began", "time", adds=False),
        Column("seconds", "Took", "seconds"),
        Column("tasks", "Tasks", "count"),
        Column("idle", "Idle", "percent", adds=False),
        Column("remark", "First finding"),
    )
    parts = tuple(
        Part(name, CATEGORIES[name].label, of.color, hatch=of.hatch) for name, of in STYLES.items()
    )
    label = "label"
    key = "number"
    value = ("seconds",)
    merges = "none"
    noun = "run"

    def state(self) -> object:
        """Return whether more is known of a run; see `View.state`."""
        known = [known_run(self.live, record) for record in self.history.runs]
        return super().state(), [id(one.budget) for one in known]

    def rows(self) -> Rows:
        """Return a row for each run."""
        records = list(self.history.runs)[::-1]
        known = [known_run(self.live, record) for record in records]
        now = self.live.time
        stops = [min(record.stop, max(now, record.start)) for record in records]
        began = np.array([record.start for record in records])
        parts = {
            part: np.array([one.wall_of(part) for one in known], dtype=np.float64)
            for part in STYLES
        }
        return {
            "label": [run_label(self.history, record) for record in records],
            "number": [str(record.number) for record in records],
            "state": [record.state for record in records],
            "began": began,
            "seconds": np.array(stops) - began,
            "tasks": np.array([record.n_done for record in records], dtype=np.float64),
            "idle": np.array([100 * one.idle_share for one in known]),
            "remark": [one.first_finding for one in known],
            **parts,
        }

    def headline(self) -> str:
        """Return how many there are, and how the last one is; see `DataPlot.headline`."""
        *_, last = self.history.runs
        return f"{fmt.plural(len(self.history.runs), 'run')}, the last is {last.state}"

    def note(self) -> str:
        """Return what a bar is made of; see `DataPlot.note`."""
        return "Newest first; what the threads did while each went on, as in Where the Time Goes"

    def open_row(self, key: str) -> None:
        """Open the findings of a run."""
        self.open("findings", run=key)
