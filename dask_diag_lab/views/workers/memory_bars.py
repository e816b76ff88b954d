"""Bars of memory in parts, and their legend: its squares have the colour that most bars have.

Knows what the parts look like; `memory_colors` judges which colour a bar has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dask_diag_lab.views.palette import (
    MANAGED_ALPHA,
    UNMANAGED_OLD_ALPHA,
    UNMANAGED_RECENT_ALPHA,
    DataColors,
    data_colors,
)
from dask_diag_lab.views.small_legend import Entry
from dask_diag_lab.views.workers.bar_measure import Part
from dask_diag_lab.views.workers.process_bars import ProcessBars

PARTS = (
    Part("managed", MANAGED_ALPHA),
    Part("unmanaged, old", UNMANAGED_OLD_ALPHA),
    Part("unmanaged, recent", UNMANAGED_RECENT_ALPHA),
    Part("spilled to disk", color="spilled"),
)
"""The stack from the left. The first three add up to the resident set size of the process."""


class MemoryBars(ProcessBars):
    """Bars of the memory of processes, where a colour is a level and a shade of it is a part."""

    parts = PARTS

    _legend_color = ""

    def redraw(self) -> None:
        """Draw the bars, and the legend like most of them; see `WorkerBars.redraw`."""
        super().redraw()
        shown = [str(color) for color in self.bars.model.data["color"]]
        self._legend_color = next((color for color, _ in Counter(shown).most_common(1)), "")
        self.picture.legend.restyle(self.legend_entries(data_colors(self.look)))

    def level_colors(self, colors: DataColors) -> Sequence[str]:
        """Return the colour of each `MemoryLevel`."""
        return (colors.memory_ok, colors.memory_near, colors.memory_over)

    def legend_entries(self, colors: DataColors) -> Sequence[Entry]:
        """Return an entry for each part."""
        plain = self._legend_color or colors.memory_ok
        return [
            Entry(part.name, colors.spilled if part.color else plain, alpha=part.alpha)
            for part in PARTS
        ]
