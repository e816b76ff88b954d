"""What every plot is: a Bokeh model built once and brought up to date from the store."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from dask_diag_lab.views.look import LIGHT, Look

if TYPE_CHECKING:
    from bokeh.models.ui import UIElement

    from dask_diag_lab.store import Store


@dataclass(frozen=True, slots=True)
class Notice:
    """What a plot says in words beside its picture; the page around it shows them.

    Attributes
    ----------
    empty : str
        Why there is nothing to draw and what to do; '' when there is something.
    note : str
        One line about what was merged, dropped, sampled or late; '' when all is drawn.
    behind_s : float
        Seconds by which live data is ahead of a picture the user has frozen or moved; 0 when
        the picture follows.
    is_frozen : bool
        True while the user has frozen the picture; only of a view that freezes itself.
    """

    empty: str = ""
    note: str = ""
    behind_s: float = 0.0
    is_frozen: bool = False


@dataclass(frozen=True, slots=True)
class Opening:
    """A plot that a click in a picture asks for.

    Attributes
    ----------
    plot : str
        Its name.
    arguments : mapping of str to str
        What it is to show, as in `View.arguments`.
    """

    plot: str
    arguments: Mapping[str, str]


def check_lengths(columns: Mapping[str, Sized]) -> None:
    """Raise ValueError, with names and lengths for people, if columns are not of equal length."""
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"“{name}” has {length}" for name, length in lengths.items())
        raise ValueError(f"columns have to be of equal length: {told}")


@dataclass(frozen=True, slots=True)
class Table:
    """A plot's data as named columns of equal length, for ``.json``, ``.csv`` and screen readers.

    ``units`` gives the unit of each column that has one. Raises ValueError as `check_lengths`.
    """

    columns: Mapping[str, Sequence[Any]]
    units: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_lengths(self.columns)


class ArgumentError(ValueError):
    """A plot was asked to show what there is not; the text is for the user."""


class View(ABC):
    """One plot of one page: built once, updated as often as the store changes.

    All methods run on the server's loop, under the Bokeh document's lock. A view never waits,
    never does I/O and never looks at anything but the store.

    Attributes
    ----------
    freezes_itself : bool
        Whether the view obeys ``freeze`` and ``live`` and tells `Notice.is_frozen`. A view that
        does not is frozen by its page, which ceases to call `update`.
    table_waits : bool
        Whether `table` lacks something while what the view had made off the loop is not there.
    needs : frozenset of str
        Names of `records.EXTRAS`, and ``"graph"``, that are sent while the view is looked at.
    arguments : mapping of str to str
        What to show of many: ``{"worker": address}``, ``{"prefix": name}``; empty: no choice.
    choices : mapping of str to sequence of str
        The values of those arguments that have only a few; another is an `ArgumentError`.
    opening : Opening or None
        The plot that a click asked for; the page takes it and sets it back to None.
    """

    freezes_itself: ClassVar[bool] = False
    table_waits: ClassVar[bool] = True
    needs: ClassVar[frozenset[str]] = frozenset()
    choices: ClassVar[Mapping[str, Sequence[str]]] = {}

    def __init__(
        self, store: Store, look: Look = LIGHT, arguments: Mapping[str, str] | None = None
    ) -> None:
        self.store = store
        self.look = look
        self.arguments = self._checked(arguments or {})
        self.notice = Notice()
        self.opening: Opening | None = None

    @abstractmethod
    def build(self) -> UIElement:
        """Return the picture's root model, ``sizing_mode="stretch_both"``; called once."""

    @abstractmethod
    def update(self) -> None:
        """Bring picture and `notice` up to the store; send nothing where nothing changed."""

    @abstractmethod
    def table(self) -> Table:
        """Return what the picture shows as columns; works without `build`."""

    @abstractmethod
    def restyle(self) -> None:
        """Apply `look`, which has just been replaced, to all models and data colours."""

    def command(self, verb: str) -> None:
        """Do what a key or button of the page asks: ``fit``, ``live``, ``freeze`` and the like.

        A view ignores the verbs that mean nothing to it.
        """

    def show(self, arguments: Mapping[str, str]) -> None:
        """Show something else: the page was asked to, by a link or by a click elsewhere."""
        self.arguments = self._checked(arguments)

    def _checked(self, arguments: Mapping[str, str]) -> dict[str, str]:
        for name, values in self.choices.items():
            if name in arguments and arguments[name] not in values:
                known = ", ".join(f"“{value}”" for value in values)
                given = arguments[name][:40]
                raise ArgumentError(f"“{name}” is one of {known}, not “{given}”.")
        return dict(arguments)

    @property
    def is_behind(self) -> bool:
        """Whether `update` has more to draw of what the store has; it is called again soon then."""
        return False

    def open(self, plot: str, **arguments: str) -> None:
        """Ask the page to open another plot."""
        self.opening = Opening(plot, arguments)

    def close(self) -> None:
        """Let go of what `build` took; the page is gone."""
