"""One dashboard as the Jupyter server knows it: where it is, how it is, what it shows.

Must not do I/O; it is told what was found out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dask_diag_lab.proxy.addresses import Address
from dask_diag_lab.proxy.wire import (
    DashboardEntry,
    Kind,
    PlotEntry,
    RuntimeRecord,
    SchedulerEntry,
    State,
    SummaryEntry,
)


@dataclass(frozen=True, slots=True)
class Condition:
    """How a dashboard is, with the reason in words for the user where there is one.

    ``closed_at`` is when its cluster closed, in seconds since the epoch; None before.
    """

    state: State
    reason: str | None = None
    summary: SummaryEntry | None = None
    closed_at: float | None = None


@dataclass(slots=True)
class Dashboard:
    """A dashboard and its address.

    Attributes
    ----------
    record : RuntimeRecord or None
        The announcement, for kind "diagnostics".
    plots_of : object
        What the plots were fetched for, None before: ``identity`` and the number that the
        dashboard gives its list. They are fetched again when that is another one.
    """

    id: str
    name: str
    kind: Kind
    address: Address
    scheduler: SchedulerEntry
    condition: Condition
    kernel_id: str | None = None
    record: RuntimeRecord | None = None
    plots: Sequence[PlotEntry] = ()
    plots_of: object = field(default=None, repr=False)

    @classmethod
    def of_record(cls, record: RuntimeRecord) -> Dashboard:
        """Make the dashboard that a record announces; nothing has been asked of it yet."""
        return cls(
            id=record.id,
            name=record.name,
            kind="diagnostics",
            address=record.address,
            scheduler=record.scheduler,
            condition=Condition("unreachable", f"Waiting for the first answer of {record.name}."),
            kernel_id=record.kernel_id,
            record=record,
        )

    @property
    def identity(self) -> object:
        """What changes when another program serves under the same id."""
        record = self.record
        return (self.address, record.versions, record.started) if record else self.address

    @property
    def credentials(self) -> list[tuple[str, str]]:
        """The header that opens the dashboard; it must never leave for anywhere else."""
        return [("Authorization", f"token {self.record.token}")] if self.record else []

    @property
    def entry(self) -> DashboardEntry:
        """The dashboard as the browser may see it."""
        entry: DashboardEntry = {
            "id": self.id,
            "name": self.name,
            "kind": self.kind,
            "kernel_id": self.kernel_id,
            "scheduler": self.scheduler,
            "state": self.condition.state,
            "reason": self.condition.reason,
            "plots": list(self.plots),
            "summary": self.condition.summary,
        }
        if self.condition.closed_at is not None:
            entry["closed_at"] = self.condition.closed_at
        return entry
