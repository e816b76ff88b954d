"""The only list of plots: routes, the JSON index, the sidebar and the documents derive from it.

Imports neither Bokeh nor any view until a plot is loaded.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from dask_diag_lab.views.catalogue import incidents, profile, scheduler, tasks, traffic, workers
from dask_diag_lab.views.home_made import HomeMadePlots
from dask_diag_lab.views.home_made_plot import YOURS, HomeMadePlot
from dask_diag_lab.views.plot import Plot

if TYPE_CHECKING:
    from dask_diag_lab.views.base import View

__all__ = ["GROUPS", "HOME_MADE", "PLOTS", "Plot", "all_plots", "get_plot", "register_plot"]

GROUPS: Final = ("Tasks", "Workers", "Profile", "Scheduler", YOURS)
"""Groups of plots, in the order in which they are shown."""

PLOTS: Final[tuple[Plot, ...]] = (
    *tasks.PLOTS,
    *incidents.PLOTS,
    *workers.PLOTS,
    *traffic.PLOTS,
    *profile.PLOTS,
    *scheduler.PLOTS,
)

HOME_MADE: Final = HomeMadePlots({plot.name for plot in PLOTS})
"""The plots of users and of other packages.

They belong to the process and not to a cluster: a plot that a notebook registers is there for the
clusters that it has and for those that it makes later.
"""


def all_plots() -> tuple[Plot, ...]:
    """Return all plots there are: those of this package, of other packages and of users."""
    HOME_MADE.discover()
    return (*PLOTS, *HOME_MADE.plots())


def register_plot(
    name: str,
    view: type[View] | str,
    *,
    title: str,
    group: str = YOURS,
    description: str,
    help: str = "",  # noqa: A002  # what it is called everywhere else
    keywords: Sequence[str] = (),
) -> None:
    """Add a plot of your own, at once in every dashboard of this process and in JupyterLab.

    A plot of the same name that was registered before is replaced, so the cell that does this can
    be run again; panes that show it draw the new one when they are opened again.

    Parameters
    ----------
    name : str
        Lower-case letters, digits and hyphens.
    view : type or str
        A subclass of `dask_diag_lab.View` or, shorter, `dask_diag_lab.FigureView`; or where it
        is, ``"package.module:Class"``, which is imported when the plot is first drawn.
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
        Words to find it by that are not in title and description.

    Raises
    ------
    ValueError
        The name is no name or that of a plot of this package, or words are missing.
    TypeError
        The view is not a class of that kind, or lacks methods.
    """
    plot = HomeMadePlot.registered(
        name, view, title=title, group=group, description=description, help=help, keywords=keywords
    )
    HOME_MADE.add(plot)


def get_plot(name: str) -> Plot:
    """Return the plot with this name.

    Raises
    ------
    KeyError
        If there is none; the message has the nearest name, and all there are.
    """
    plots = all_plots()
    for plot in plots:
        if plot.name == name:
            return plot
    names = [plot.name for plot in plots]
    near = get_close_matches(name, names, n=1)
    meant = f"did you mean {near[0]!r}? There are" if near else "there are"
    msg = f"there is no plot {name!r}; {meant} {', '.join(names)}"
    raise KeyError(msg)
