"""All plots there are: of this package, of other packages and of users.

Routes, the JSON index, the sidebar and the documents derive from it. A plot is its `View` class,
made known by `register_plot`; those of this package are, too, when `PlotRegistry.load` imports
their modules.
"""

from __future__ import annotations

import inspect
import logging
import pkgutil
import re
import threading
import tomllib
from collections.abc import Iterable
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Final, TypeVar

from dask_diag_lab import views
from dask_diag_lab.views.view import View

logger = logging.getLogger(__name__)

Plot = type[View]
"""A plot of the catalogue; its words are attributes of the class."""
P = TypeVar("P", bound=type[View])

GROUPS: Final = ("Why is it slow", "Tasks", "Workers", "Profile", "Scheduler", "Yours")
"""Groups of plots, in the order in which they are shown; others follow."""

ENTRY_POINTS: Final = "dask_diag_lab.plots"
"""The group of entry points: the name is the plot's, the object its `View` class."""

CATALOGUE: Final[dict[str, dict[str, Any]]] = tomllib.loads(
    Path(__file__).with_name("catalogue.toml").read_text(encoding="utf-8")
)
"""The words of each built-in plot, in the order in which they are shown: listing needs no Bokeh."""

MAX_CHARACTERS: Final = 200
"""Of title, group and description."""

_LISTED: Final = ("name", "title", "group", "description", "help", "keywords", "only_with")
_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,63}")


class PlotRegistry:
    """Plots by name. Any thread may register one at any time."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._loading = threading.RLock()
        self._is_loaded = False
        self._plots: dict[str, Plot] = {}

    def add(self, plot: Plot) -> None:
        """Register a plot, in the place of one of its name.

        Raises
        ------
        ValueError, TypeError
            It cannot be one; see `register_plot`.
        """
        check_plot(plot)
        with self._lock:
            known = self._plots.get(plot.name)
            if known is not None and is_built_in(known) and not is_built_in(plot):
                raise ValueError(
                    f"{plot.name!r} is a plot of dask_diag_lab itself: choose another name, such"
                    f' as "my-{plot.name}"'
                )
            self._plots[plot.name] = plot

    def remove(self, name: str) -> None:
        """Forget a plot; harmless when there is none of that name."""
        with self._lock:
            self._plots.pop(name, None)

    def plots(self) -> tuple[Plot, ...]:
        """Return those known by now, in the order in which they are shown."""
        with self._lock:
            plots = list(self._plots.values())
        return tuple(sorted(plots, key=_rank))

    def load(self) -> None:
        """Import the plots of this package and of others, once: takes Bokeh, and so a while."""
        with self._loading:
            if self._is_loaded:
                return
            self._is_loaded = True  # the modules register plots, and so come by here
            try:
                for module in pkgutil.walk_packages(views.__path__, f"{views.__name__}."):
                    import_module(module.name)
                self.discover(entry_points(group=ENTRY_POINTS))
            except BaseException:
                self._is_loaded = False
                raise

    def discover(self, points: Iterable[EntryPoint]) -> None:
        """Register the plots of entry points; of one that cannot be loaded the log has why."""
        for point in points:
            try:
                plot: Plot = point.load()
                check_plot(plot)
            except Exception as error:  # code of others
                logger.warning("Plot %s of %s failed", point.name, point.module, exc_info=error)
                continue
            if plot.name not in self._plots:  # what was registered by hand wins
                self.add(plot)


REGISTRY: Final = PlotRegistry()
"""The plots of this process: one that a notebook registers is there for all its clusters."""


def register_plot(plot: P) -> P:
    """Make a plot known, at once in every dashboard of this process and in JupyterLab.

    A plot of the same name that was registered before is replaced, so the cell that does this can
    be run again; panes that show it draw the new one when they are opened again.

    Parameters
    ----------
    plot : type
        A subclass of `View` or, shorter, of `BarPlot`, `TablePlot`, `SeriesPlot` or `FigureView`,
        with the attributes ``name``, ``title`` and ``description`` at least.

    Returns
    -------
    type
        The same class, so that this can be used as a decorator.

    Raises
    ------
    ValueError
        The name is no name or that of a plot of this package, or other attributes are missing.
    TypeError
        It is not a class of that kind, or lacks methods.
    """
    if is_built_in(plot):
        for attribute, words in CATALOGUE.get(plot.name, {}).items():
            setattr(plot, attribute, words)
    check_plot(plot)
    if not is_built_in(plot):
        REGISTRY.load()  # whose names are taken
    REGISTRY.add(plot)
    return plot


def all_plots() -> tuple[Plot, ...]:
    """Return all plots there are; loads them when that was not done yet."""
    REGISTRY.load()
    return REGISTRY.plots()


def built_in_plots() -> tuple[Plot, ...]:
    """Return the plots of this package alone."""
    return tuple(plot for plot in all_plots() if is_built_in(plot))


def entry(plot: Plot) -> dict[str, Any]:  # JSON
    """Return what is listed of a plot."""
    return {name: getattr(plot, name) for name in _LISTED} | {"keywords": list(plot.keywords)}


def catalogue() -> list[dict[str, Any]]:  # JSON
    """Return what is listed of the built-in plots, without loading them."""
    return [
        {name: words.get(name, ()) for name in _LISTED} | {"name": key}
        for key, words in CATALOGUE.items()
    ]


def get_plot(name: str) -> Plot:
    """Return the plot with this name.

    Raises
    ------
    KeyError
        If there is none; the message has the nearest name, and all there are.
    """
    plots = {plot.name: plot for plot in all_plots()}
    if name in plots:
        return plots[name]
    near = get_close_matches(name, plots, n=1)
    meant = f"did you mean {near[0]!r}? There are" if near else "there are"
    msg = f"there is no plot {name!r}; {meant} {', '.join(plots)}"
    raise KeyError(msg)


def is_built_in(plot: Plot) -> bool:
    """Return whether a plot comes with this package."""
    return getattr(plot, "__module__", "").startswith(f"{views.__name__}.")


def check_plot(plot: object) -> None:
    """Raise ValueError or TypeError, with a message for its author, for what cannot be a plot."""
    if not (isinstance(plot, type) and issubclass(plot, View)):
        raise TypeError(f"a plot is a subclass of dask_diag_lab.View, not {plot!r}")
    if inspect.isabstract(plot):
        missing = ", ".join(sorted(plot.__abstractmethods__))
        raise TypeError(f"{plot.__name__} lacks the methods of a view: {missing}")
    if not _NAME.fullmatch(str(plot.name)):
        raise ValueError(
            f"{plot.name!r} cannot be the name of a plot: use lower-case letters, digits and"
            ' hyphens, such as "my-plot"'
        )
    for attribute in ("title", "group", "description"):
        text = getattr(plot, attribute)
        if not isinstance(text, str) or not text.strip():
            raise ValueError(f"{attribute} is what people see of the plot: give it as text")
        if len(text) > MAX_CHARACTERS or "\n" in text:
            raise ValueError(f"{attribute} is one line of at most {MAX_CHARACTERS} characters")


def _rank(plot: Plot) -> tuple[int, int]:
    group = GROUPS.index(plot.group) if plot.group in GROUPS else len(GROUPS)
    return group, [*CATALOGUE, plot.name].index(plot.name)
