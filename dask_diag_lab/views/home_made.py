"""Plots of users and of other packages: registered by hand, or found by their entry point.

Any thread may register one at any time; whoever serves plots is told. Imports neither Bokeh nor
any view of ours.
"""

from __future__ import annotations

import inspect
import logging
import re
import threading
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Final

from dask_diag_lab.views.base import View
from dask_diag_lab.views.plot import Plot

logger = logging.getLogger(__name__)

ENTRY_POINTS: Final = "dask_diag_lab.plots"
"""The group of entry points: the name is the plot's, the object its `View` class."""

YOURS: Final = "Yours"
MAX_WORDS: Final = 200

_NAME = re.compile(r"[a-z][a-z0-9-]{0,63}")
_PLACE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class HomeMadePlot(Plot):
    """A plot that does not come with this package.

    Attributes
    ----------
    source : type, str or EntryPoint
        The view class, ``"module:Class"``, or the entry point that is it.
    """

    source: type[View] | str | EntryPoint

    def load(self) -> type[View]:
        """Return the view class, imported now where it has to be.

        Raises
        ------
        TypeError
            What was found is no view, or lacks methods.
        """
        source: object = self.source
        if isinstance(source, str):
            module, _, name = source.partition(":")
            source = getattr(import_module(module), name)
        elif isinstance(source, EntryPoint):
            source = source.load()
        return check_view(source)


def check_view(view: object) -> type[View]:
    """Return `view` if it is a class that a plot can be drawn with.

    Raises
    ------
    TypeError
        It is not, in words.
    """
    if not (isinstance(view, type) and issubclass(view, View)):
        raise TypeError(f"the view of a plot is a subclass of dask_diag_lab.View, not {view!r}")
    if inspect.isabstract(view):
        missing = ", ".join(sorted(view.__abstractmethods__))
        raise TypeError(f"{view.__name__} lacks the methods of a view: {missing}")
    return view


def check_words(**words: object) -> None:
    """Raise ValueError for words that are missing or do not fit on a line."""
    for name, text in words.items():
        if not isinstance(text, str) or not text.strip():
            raise ValueError(f"{name} is what people see of the plot: give it as text")
        if len(text) > MAX_WORDS or "\n" in text:
            raise ValueError(f"{name} is one line of at most {MAX_WORDS} characters")


class HomeMadePlots:
    """The plots that do not come with this package, by name.

    Parameters
    ----------
    taken : collection of str
        Names of the plots that do.
    find_entry_points : callable
        Returns those of `ENTRY_POINTS`.
    """

    def __init__(
        self,
        taken: Collection[str],
        find_entry_points: Callable[[], Iterable[EntryPoint]] = lambda: entry_points(
            group=ENTRY_POINTS
        ),
    ) -> None:
        self._taken = frozenset(taken)
        self._find_entry_points = find_entry_points
        self._lock = threading.Lock()
        self._discovering = threading.RLock()
        self._is_discovered = False
        self._plots: dict[str, HomeMadePlot] = {}
        self._listeners: list[Callable[[], None]] = []

    def plots(self) -> tuple[HomeMadePlot, ...]:
        """Return those known by now, in the order in which they came."""
        with self._lock:
            return tuple(self._plots.values())

    def add(self, plot: HomeMadePlot) -> None:
        """Register `plot`, in the place of one of its name, and tell the listeners.

        Raises
        ------
        ValueError
            The name is no name or belongs to a plot of this package.
        """
        self._check_name(plot.name)
        with self._lock:
            self._plots[plot.name] = plot
        self._tell()

    def remove(self, name: str) -> None:
        """Forget a plot; harmless when there is none of that name."""
        with self._lock:
            is_known = self._plots.pop(name, None) is not None
        if is_known:
            self._tell()

    def listen(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Have `callback` called after each change, in any thread; return what ends that."""
        with self._lock:
            self._listeners.append(callback)

        def end() -> None:
            with self._lock:
                if callback in self._listeners:
                    self._listeners.remove(callback)

        return end

    def discover(self) -> None:
        """Load the entry points, once; those that fail become plots that say so."""
        with self._discovering:
            if self._is_discovered:
                return
            self._is_discovered = True
            found = [self._plot_of(point) for point in self._find_entry_points()]
        new = [plot for plot in found if plot is not None]
        with self._lock:
            for plot in new:
                self._plots.setdefault(plot.name, plot)  # what was registered by hand wins
        if new:
            self._tell()

    def _plot_of(self, point: EntryPoint) -> HomeMadePlot | None:
        """Return the plot of an entry point; its words are attributes of the view class."""
        try:
            self._check_name(point.name)
        except ValueError as error:
            logger.warning("Entry point %s of %s: %s", point.name, _package_of(point), error)
            return None
        view: object = None
        try:
            view = check_view(point.load())
            said = f"A plot of {_package_of(point)}."
        except Exception as error:  # code of others: its plot says so
            logger.warning("Plot %s of %s failed", point.name, _package_of(point), exc_info=error)
            said = f"A plot of {_package_of(point)} that could not be loaded."

        def word(name: str, default: str) -> str:
            return str(getattr(view, name, default))[:MAX_WORDS]

        keywords = getattr(view, "keywords", ())
        return HomeMadePlot(
            name=point.name,
            title=word("title", point.name.replace("-", " ").capitalize()),
            group=word("group", YOURS),
            description=word("description", said),
            help=str(getattr(view, "help", "")),
            stock_title="",
            keywords=tuple(map(str, keywords)) if not isinstance(keywords, str) else (keywords,),
            view=point.value,
            source=point,
        )

    def _check_name(self, name: object) -> None:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise ValueError(
                f"{name!r} cannot be the name of a plot: use lower-case letters, digits and"
                ' hyphens, such as "my-plot"'
            )
        if name in self._taken:
            raise ValueError(
                f"{name!r} is a plot of dask_diag_lab itself: choose another name, such as"
                f' "my-{name}"'
            )

    def _tell(self) -> None:
        with self._lock:
            listeners = list(self._listeners)
        for listener in listeners:
            listener()


def _package_of(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else point.module


def check_source(view: object) -> type[View] | str:
    """Return what `register_plot` was given as a view, if it can be one.

    Raises
    ------
    TypeError, ValueError
        It cannot, in words.
    """
    if not isinstance(view, str):
        return check_view(view)
    if not _PLACE.fullmatch(view):
        raise ValueError(f'{view!r} is no place of a class: write "package.module:Class"')
    return view
