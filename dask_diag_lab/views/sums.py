"""A plot of sums of what was done, in all time or in a stretch of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from dask_diag_lab.jobs import Latest
from dask_diag_lab.store.sums import ALL, BY, Sums
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.view import View

REST: Final = 20.0
"""Times as long as it took to add up, it is not added up anew."""


class SumsView(View):
    """A plot, or a part of one, of the sums of the action log over `View.period`.

    Attributes
    ----------
    by : sequence of str
        What there is a sum of; see `store.sums.sums_of`.
    """

    by: ClassVar[Sequence[str]] = BY
    has_period: ClassVar[bool] = True

    def set_up(self) -> None:
        """Make what it keeps; see `View.set_up`."""
        super().set_up()
        self._latest: Latest[Sums] = Latest(self.live.jobs, rest=REST)

    @property
    def sums(self) -> Sums | None:
        """The newest sums that there are; None before the first."""
        actions = self.history.actions
        return self._latest.of(self.period, actions.version, actions.sums(self.period, self.by))

    @property
    def since_text(self) -> str:
        """Which time the sums are of."""
        if self.period != ALL:
            return self.period_text
        begins = self.history.busy.start  # also of what the log gave up
        return f"since {fmt.clock(float(begins[0]))}" if len(begins) else ""

    def state(self) -> object:
        """Return whether there are new sums; see `View.state`."""
        return super().state(), self._latest.version

    @property
    def is_behind(self) -> bool:
        """Whether newer ones are to come; see `View.is_behind`."""
        return super().is_behind or self._latest.is_late
