"""The plots of users and of other packages: registered by hand, or found by their entry point.

Any thread may register one at any time; whoever serves plots is told. Imports neither Bokeh nor
any view of ours.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable, Collection, Iterable
from importlib.metadata import EntryPoint, entry_points
from typing import Final

from dask_diag_lab.views.home_made_plot import HomeMadePlot, package_of

logger = logging.getLogger(__name__)

ENTRY_POINTS: Final = "dask_diag_lab.plots"
"""The group of entry points: the name is the plot's, the object its `View` class."""

_NAME = re.compile(r"[a-z][a-z0-9-]{0,63}")


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
        try:
            self._check_name(point.name)
        except ValueError as error:
            logger.warning("Entry point %s of %s: %s", point.name, package_of(point), error)
            return None
        return HomeMadePlot.found(point)

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
