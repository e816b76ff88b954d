"""What every plot is: a Bokeh model built once and brought up to date from a history."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence, Sized
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from math import inf, isfinite
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from dask_diag_lab.schema.tables import EXTRA_NAMES
from dask_diag_lab.store.sums import ALL, Window
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.look import LIGHT, Look

if TYPE_CHECKING:
    from bokeh.models.ui import UIElement

    from dask_diag_lab.store import LiveSession
    from dask_diag_lab.views.profile.tree import Frames


LegendShape = Literal["fill", "hatch", "outline", "line", "dash", "circle", "square", "diamond"]


@dataclass(frozen=True, slots=True)
class LegendItem:
    """One entry of a legend, which the page draws beside the picture.

    Attributes
    ----------
    label : str
    color : str
        CSS colour, ``#rrggbb``.
    shape : str
        What is drawn in that colour: a filled box, a hatched one, an outline, a line, a dashed
        line, or a mark of a graph.
    alpha : float
        0 to 1.
    """

    label: str
    color: str
    shape: LegendShape = "fill"
    alpha: float = 1.0


@dataclass(frozen=True, slots=True)
class Control:
    """Something the reader can set; the page draws it, `View.set_control` obeys it.

    Attributes
    ----------
    name : str
        Given to `View.set_control`.
    kind : str
        ``select`` is a list to choose one of, ``text`` a field.
    label : str
        What is set, or the words of the button.
    value : str
        What is set now.
    options : sequence of (value, label)
        What there is to choose.
    placeholder : str
        Of a text field.
    """

    name: str
    kind: Literal["select", "button", "text"]
    label: str
    value: str = ""
    options: Sequence[tuple[str, str]] = ()
    placeholder: str = ""


@dataclass(frozen=True, slots=True)
class Caption:
    """What stands around a picture. The page lays it out, and shortens what has no room.

    Attributes
    ----------
    headline : str
        One line with what matters now, most important first.
    legend : sequence of LegendItem
    controls : sequence of Control
    facts : sequence of (label, value)
        Figures of the whole, such as the totals above a table.
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
    headline: str = ""
    legend: Sequence[LegendItem] = ()
    controls: Sequence[Control] = ()
    facts: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True)
class PlotLink:
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
        listed = ", ".join(f"“{name}” has {length}" for name, length in lengths.items())
        raise ValueError(f"columns have to be of equal length: {listed}")


@dataclass(frozen=True, slots=True)
class Table:
    """A plot's data as named columns of equal length, for ``.json``, ``.csv`` and screen readers.

    ``units`` gives the unit of each column that has one. ``note`` tells what is not in the rows;
    None where `Caption.note` does. ``stacks`` has, of a profile, its frames and the seconds of a
    sample, for files that keep them. ``total`` counts all rows where only some are in the columns.
    Raises ValueError as `check_lengths`.
    """

    columns: Mapping[str, Sequence[Any]]
    units: Mapping[str, str] = field(default_factory=dict)
    note: str | None = None
    stacks: tuple[Frames, float] | None = None
    total: int = 0

    def __post_init__(self) -> None:
        check_lengths(self.columns)


class ArgumentError(ValueError):
    """A plot was asked to show what there is not; the text is for the user."""


class TimeError(ArgumentError, KeyError):
    """A text is no time; `distributed` raises a `KeyError` then."""

    __str__ = Exception.__str__


def parse_count(name: str, text: str) -> int:
    """Return the whole number that an argument is; raises an `ArgumentError` with its name."""
    if not text.isdecimal() or len(text) > 18:  # what 64 bits have room for
        raise ArgumentError(f"“{name}” is a whole number, not “{text[:40]}”.")
    return int(text)


def parse_time(text: str, now: float) -> float:
    """Return the time that a text means, in seconds since the epoch as `now`.

    Raises
    ------
    TimeError
        It means none; the message has what can be given.
    """
    from dask.utils import parse_timedelta  # drawing needs no Dask, a seventh of all imports

    for read in (
        float,
        lambda text: now - parse_timedelta(text.removeprefix("-")),
        # In a URL, + is a space.
        lambda text: datetime.fromisoformat(re.sub(r"(T\S+) (\S+)$", r"\1+\2", text)).timestamp(),
    ):
        with suppress(ValueError, LookupError, OverflowError):
            if isfinite(moment := read(text)):
                return moment
    raise TimeError(
        f"“{text[:40]}” is no time: give seconds since the epoch, -30s or 30s for so long"
        " before now, or ISO 8601, such as 2026-11-24T14:05:30Z."
    )


PERIOD: Final = ("start", "stop")
"""Arguments of a view that is about a stretch of time: times, see `View.time_argument`."""


def arguments_of(window: Window) -> dict[str, str]:
    """Return the arguments of `PERIOD` that a window is asked with: what it has is all in it."""
    start, stop = window
    return {"start": f"{start - 1e-6:.6f}", "stop": f"{stop + 1e-6:.6f}"}


RUN: Final = ("run",)
"""In the place of both the number of a run, as in runs.json."""


def text_of(period: Window) -> str:
    """Return a stretch of time in words; '' for all time."""
    start, stop = period
    if isfinite(start) and isfinite(stop):
        return f"{fmt.duration(stop - start)} from {fmt.clock(start)}"
    ends = [("from", start), ("until", stop)]
    return " ".join(f"{word} {fmt.clock(at)}" for word, at in ends if isfinite(at))


class View(ABC):
    """One plot of one page: built once, updated as often as something changes.

    A subclass declares the plot by class attributes and is made known by `register_plot`. All
    methods run on the server's loop, under the Bokeh document's lock. A view never waits, never
    does I/O and never looks at anything but what it is given.

    ``live`` and ``history`` are what it is given: what is known of a cluster, and beside it what is
    only of now, such as questions to it and its clock.

    Attributes
    ----------
    name : str
        Id of the plot in routes and layouts: lower-case letters, digits and hyphens. The stock
        dashboard's name wherever there is one.
    title : str
        What people see.
    group : str
        Heading in the sidebar.
    description : str
        What the plot shows, in one sentence.
    help : str
        How to read it: what is healthy, and what to do when it is not. Lines like
        ``- black: the task failed`` are shown as a key.
    keywords : sequence of str
        Words to find the plot by that are not in title and description.
    only_with : sequence of str
        Beginnings of worker metrics; until one is reported the plot is not listed, or with
        `unavailable`. Empty: always.
    unavailable : str
        Why it can have no data here; it is listed last then. '' where it can have some.
    reads : sequence of str
        Tables of the history that the picture is made of, such as ``"workers"`` or the name of one
        of `schema.tables.EXTRAS`, and ``"queries"`` for the answers to all questions: `update`
        draws when the ``version`` of one has changed. Empty: when anything has.
    needs : frozenset of str
        Names of `schema.tables.EXTRAS`, and ``"graph"``, that are sent while the view is looked at;
        those among `reads` unless it is given.
    wishes : frozenset of str
        The same, of what the first picture does not wait for.
    choices : mapping of str to sequence of str
        The values of those arguments that have only a few; another is an `ArgumentError`.
    freezes_itself : bool
        Whether the view obeys ``freeze`` and ``live`` and tells `Caption.is_frozen`. A view that
        does not is frozen by its page, which ceases to call `update`.
    formats : sequence of str
        Endings of the files that there are of what it shows, see `server.export.FORMATS`.
    table_waits : bool
        Whether `table` lacks something while what the view had made off the loop is not there.
    arguments : mapping of str to str
        What to show of many: ``{"worker": address}``, ``{"prefix": name}``; empty: no choice.
    accepts : sequence of str
        The arguments there are beside those of `choices`; another is an `ArgumentError`.
    has_period : bool
        Whether the plot is about a stretch of time: it accepts those of `PERIOD`, and `RUN`, too.
    period : Window
        The stretch that they give; `ALL` where they give none. That of a run grows while it goes
        on.
    run : int
        Number of the run that it is of; 0 where none is given.
    chosen_period : Window or None
        The stretch that the reader has chosen in the picture; None while it follows the data.
    plot_link : PlotLink or None
        The plot that a click asked for; the page takes it and sets it back to None.
    """

    name: ClassVar[str] = ""
    title: ClassVar[str] = ""
    group: ClassVar[str] = "Yours"
    description: ClassVar[str] = ""
    help: ClassVar[str] = ""
    keywords: ClassVar[Sequence[str]] = ()
    only_with: ClassVar[Sequence[str]] = ()
    unavailable: ClassVar[str] = ""
    reads: ClassVar[Sequence[str]] = ()
    needs: ClassVar[frozenset[str]] = frozenset()
    wishes: ClassVar[frozenset[str]] = frozenset()
    accepts: ClassVar[Sequence[str]] = ()
    choices: ClassVar[Mapping[str, Sequence[str]]] = {}
    has_period: ClassVar[bool] = False
    freezes_itself: ClassVar[bool] = False
    formats: ClassVar[Sequence[str]] = ("csv", "json")
    table_waits: ClassVar[bool] = True

    _drawn: object = None

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "reads" in vars(cls) and "needs" not in vars(cls):
            cls.needs = frozenset(cls.reads) & EXTRA_NAMES
        if cls.has_period:
            cls.accepts = (*PERIOD, *RUN, *cls.accepts)

    def __init__(
        self, live: LiveSession, look: Look = LIGHT, arguments: Mapping[str, str] | None = None
    ) -> None:
        self.live = live
        self.history = live.history
        self.look = look
        self.period, self.run = ALL, 0
        self._set_arguments(arguments or {})
        self.caption = Caption()
        self.plot_link: PlotLink | None = None
        self.set_up()

    def set_up(self) -> None:
        """Make what the view keeps beside history, look and arguments; called once, when they are.

        A subclass of a kind of plot, such as `BarPlot`, calls ``super().set_up()`` as well.
        """

    @abstractmethod
    def build(self) -> UIElement:
        """Return the picture's root model, ``sizing_mode="stretch_both"``; called once."""

    def update(self) -> None:
        """Bring picture and `caption` up to date; send nothing where nothing changed."""
        now = self._basis()
        if now != self._drawn:
            self._drawn = None  # until it is: what fails is tried, and reported, again
            self.draw()
            self._drawn = self._basis()

    def draw(self) -> None:
        """Bring picture and `caption` up to date; called by `update` when something differs."""

    @abstractmethod
    def table(self) -> Table:
        """Return what the picture shows as columns; works without `build`."""

    def table_job(self) -> Callable[[], Table]:
        """Return what makes `table` of the data of now, to be called once, in any thread.

        A view whose table may be long makes it there; by default it is made at once.
        """
        table = self.table()
        return lambda: table

    @property
    def table_arguments(self) -> Mapping[str, str]:
        """The arguments with which a view made anew has the table of what is drawn now."""
        return self.arguments

    def restyle(self) -> None:
        """Apply `look`, which has just been replaced, to all models and data colours."""
        self.update()

    def state(self) -> object:
        """Return what the picture depends on beside `reads`, `look` and `arguments`."""
        return None

    def command(self, verb: str) -> None:
        """Do what a key or button of the page asks: ``fit``, ``live``, ``freeze`` and the like.

        A view ignores the verbs that mean nothing to it.
        """

    def set_control(self, name: str, value: str) -> None:
        """Set one of `Caption.controls`, as the reader did; unknown ones are ignored."""

    def show(self, arguments: Mapping[str, str]) -> None:
        """Show something else: the page was asked to, by a link or by a click elsewhere."""
        self._set_arguments(arguments)

    def _set_arguments(self, arguments: Mapping[str, str]) -> None:
        self.arguments = self.check_arguments(arguments)
        if self.has_period:
            self.run = self.number_argument("run")
            start, stop = self.time_argument("start", -inf), self.time_argument("stop", inf)
            self.period = self._run_period if self.run else Window(start, max(start, stop))

    @property
    def _run_period(self) -> Window:
        record = self.history.runs.of_number(self.run)
        if record is None:
            numbers = [one.number for one in self.history.runs]
            kept = f"{numbers[0]} to {numbers[-1]} are kept" if numbers else "there is none yet"
            raise ArgumentError(f"There is no run {self.run}: {kept}.")
        return Window(record.start, record.stop)

    @property
    def follows_run(self) -> bool:
        """Whether it is of a run that goes on."""
        return bool(self.run) and not isfinite(self.period.stop)

    def follow_run(self) -> None:
        """Show the whole of a run that has ended, or goes on after all."""
        if self.run and self._run_period != self.period:
            self.show(self.arguments)

    @property
    def period_text(self) -> str:
        """The period in words; '' for all time."""
        return text_of(self.period)

    @property
    def chosen_period(self) -> Window | None:
        """See the class; for views with an axis of time or another way to choose a period."""
        return None

    def _basis(self) -> object:
        """Return all that the picture depends on."""
        history = self.history
        versions: object = self.live.version
        if self.reads:
            tables = {**vars(history), **history.extras, "queries": self.live.queries}
            versions = [tables[name].version for name in self.reads]
        return versions, history.scheduler, self.look, self.arguments, self.period, self.state()

    @classmethod
    def check_arguments(cls, arguments: Mapping[str, str]) -> dict[str, str]:
        """Return arguments that this plot can be given.

        Raises
        ------
        ArgumentError
            One that is in neither `accepts` nor `choices`, or a value that is no choice; the
            message has those that there are.
        """
        known = {*cls.accepts, *cls.choices}
        if unknown := sorted(arguments.keys() - known):
            given = ", ".join(f"“{name[:40]}”" for name in unknown)
            there_are = ", ".join(f"“{name}”" for name in sorted(known)) or "none"
            raise ArgumentError(f"This plot has no argument {given}; those it has: {there_are}.")
        for name, values in cls.choices.items():
            if name in arguments and arguments[name] not in values:
                there_are = ", ".join(f"“{value}”" for value in values)
                given = arguments[name][:40]
                raise ArgumentError(f"“{name}” is one of {there_are}, not “{given}”.")
        return dict(arguments)

    def time_argument(self, name: str, otherwise: float) -> float:
        """Return an argument that is a time, in seconds since the epoch by the scheduler's clock.

        Raises
        ------
        ArgumentError
            It is none; the message has what can be given.
        """
        given = self.arguments.get(name)
        return parse_time(given, self.live.time) if given else otherwise

    def number_argument(self, name: str) -> int:
        """Return an argument that is a whole number; 0 where it is not given.

        Raises
        ------
        ArgumentError
            It is none.
        """
        return parse_count(name, self.arguments.get(name) or "0")

    @property
    def is_behind(self) -> bool:
        """Whether `update` has more to draw of what is known; it is called again soon then."""
        return False

    def open(self, plot: str, **arguments: str) -> None:
        """Ask the page to open another plot."""
        self.plot_link = PlotLink(plot, arguments)

    def close(self) -> None:
        """Let go of what `build` took; the page is gone."""
