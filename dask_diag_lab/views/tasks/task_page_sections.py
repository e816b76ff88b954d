"""The parts of the page of a task, one of which is shown at a time."""

from __future__ import annotations

from typing import Final

from dask_diag_lab.views.data_table import TableColumn
from dask_diag_lab.views.detail_page import Section

NEIGHBOURS: Final = Section(
    "dependencies",
    "Dependencies",
    (
        TableColumn("relation", "Relation", width=110),
        TableColumn("key", "Task", "key", 300),
        TableColumn("state", "State", width=90),
    ),
)
WORKERS: Final = Section(
    "workers",
    "Workers",
    (TableColumn("role", "Role", width=130), TableColumn("worker", "Worker", width=300)),
)
TIMES: Final = Section(
    "times",
    "Times",
    (
        TableColumn("action", "Action", width=110),
        TableColumn("start", "Start", "time", 90),
        TableColumn("seconds", "Duration", "seconds", 100),
        TableColumn("worker", "Worker", width=160),
        TableColumn("thread", "Thread", "number", 70),
    ),
)
STORY: Final = Section(
    "story",
    "Story",
    (
        TableColumn("time", "Time", "time", 80),
        TableColumn("start", "From", width=90),
        TableColumn("finish", "To", width=90),
        TableColumn("stimulus", "Because of", width=300),
    ),
)
ERROR: Final = Section("error", "Error")
STACK: Final = Section("call-stack", "Call stack now")
SECTIONS: Final = (NEIGHBOURS, WORKERS, TIMES, STORY, ERROR, STACK)
