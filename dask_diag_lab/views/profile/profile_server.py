"""The profile of event loops: what the processes of the cluster did besides running tasks."""

from __future__ import annotations

from typing import ClassVar, Final

from dask_diag_lab.views.profile.profile import Profile

SOURCES: Final = (
    ("worker-loops", "Workers"),
    ("scheduler-loop", "Scheduler"),
)


class ProfileServer(Profile):
    """One page's profile of the event loops of the workers or of the scheduler."""

    choice_title: ClassVar[str] = "Event loops of"

    def _source(self) -> str:
        wanted = self.arguments.get("source", "")
        return wanted if wanted in dict(SOURCES) else SOURCES[0][0]

    def _obey(self) -> None:
        self.sampling.source = self._source()
        is_of_workers = self.sampling.source == SOURCES[0][0]
        self.sampling.worker = self.arguments.get("worker", "") if is_of_workers else ""

    def _options(self) -> tuple[list[tuple[str, str]], str]:
        return list(SOURCES), self.sampling.source

    def _choose(self, value: str) -> None:
        if value != self.sampling.source:
            self.show({**self.arguments, "source": value})
