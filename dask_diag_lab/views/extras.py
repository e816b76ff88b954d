"""What plots of one extra table of the history have in common: its table, and why it is empty."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Final

from dask_diag_lab.views.stack import StackPlot
from dask_diag_lab.views.view import Table, View

if TYPE_CHECKING:
    from dask_diag_lab.store.extras import ExtraTable

WAITING: Final = "Waiting for the scheduler's answer."


def extra_table(extra: ExtraTable) -> Table:
    """Return every row of an extra table."""
    units = {column.name: column.unit for column in extra.table.columns if column.unit}
    return Table({name: extra[name].tolist() for name in extra.columns}, units)


class ExtraPlot(View):
    """A plot, or a part of one, of the extra table that `reads` names first.

    Attributes
    ----------
    settings : sequence of str
        Attributes that the reader sets by controls of their names.
    """

    empty: ClassVar[str] = ""
    settings: ClassVar[Sequence[str]] = ()

    @property
    def extra(self) -> ExtraTable:
        """The table."""
        return self.history.extras[self.reads[0]]

    def why_empty(self) -> str:
        """Return why there are no rows: `empty` where the scheduler has sent the table."""
        return self.empty if self.extra.is_known else WAITING

    def state(self) -> object:
        """Return what the reader has set; see `View.state`."""
        return super().state(), [getattr(self, name) for name in self.settings]

    def set_control(self, name: str, value: str) -> None:
        """Set one of `settings`; see `View.set_control`."""
        if name in self.settings:
            setattr(self, name, value)
        else:
            super().set_control(name, value)


class ExtraStack(StackPlot):
    """Several parts of the one extra table that it `needs`; all rows of that are its table."""

    def table(self) -> Table:
        """Return every row."""
        (name,) = self.needs
        return extra_table(self.history.extras[name])
