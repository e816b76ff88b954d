"""Bars of what heartbeats tell of the whole process, and what to know where workers share one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.figure import smaller
from dask_diag_lab.views.pane_size import pane_size
from dask_diag_lab.views.text_room import font_px, text_px
from dask_diag_lab.views.workers.worker_bars import WorkerBars

if TYPE_CHECKING:
    from dask_diag_lab.store.workers import WorkerTable

_NOTE_SIDES_PX: Final = 16
"""JupyterLab has one line of small text for a note, and cuts what is longer."""


def sharing_words(workers: WorkerTable) -> str:
    """Return how many workers share a process; '' for none."""
    processes = workers.processes
    if not processes.n_shared:
        return ""
    is_one = processes.n_shared == 1
    where = "one process" if is_one else f"{fmt.count(processes.n_shared)} processes"
    return f"{fmt.plural(processes.n_sharing, 'worker')} share {where}"


def shared_words(workers: WorkerTable) -> str:
    """Return how many workers share a process, and what their numbers mean; '' for none.

    Short, or in a small pane nothing but these words would be left.
    """
    sharing = sharing_words(workers)
    if not sharing:
        return ""
    return f"{sharing}, counted once in totals: CPU and memory are those of the process"


class ProcessBars(WorkerBars):
    """Bars of CPU or of memory."""

    def redraw(self) -> None:
        """Draw the bars, and say which of them are of one process; see `WorkerBars.redraw`."""
        super().redraw()
        if not self.notice.empty:
            self.add_note(shared_words(self.store.workers))

    def add_note(self, *words: str) -> None:
        """Say something more below the picture: the first of some words that fit, or the last."""
        font = font_px(smaller(self.look.font_size))
        room_px = pane_size(self.figure).width - _NOTE_SIDES_PX
        notes = [" · ".join(filter(None, (self.notice.note, said))) for said in words]
        fitting = (note for note in notes if text_px(note, font) <= room_px)
        self.notice = replace(self.notice, note=next(fitting, notes[-1]))
