"""Work off the loop that waits until a test lets it go on."""

from __future__ import annotations

from typing import Any

from dask_diag_lab.jobs import Job
from dask_diag_lab.store import LiveSession


class Elsewhere:
    """Where the work of a session is begun, and not done before `finish`.

    Attributes
    ----------
    open : list of Job
    """

    def __init__(self, live: LiveSession) -> None:
        self._live = live
        self.open: list[Job[Any]] = []  # results of any type
        live.jobs.on_start = self.open.append

    def finish(self) -> None:
        """Do all that was begun."""
        done, self.open[:] = list(self.open), []
        for job in done:
            job.do()
            self._live.job_done(job)
