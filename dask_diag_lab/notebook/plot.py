"""A live plot as the result of a cell: names the plot, and Lab draws it as it draws a pane.

Must not carry a token or an address: notebooks are saved and shared.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any, Final
from weakref import ref

from dask_diag_lab.notebook import WAIT_S, at_cell_ends, is_headless
from dask_diag_lab.session import known_of
from dask_diag_lab.views.registry import Plot, all_plots, get_plot

if TYPE_CHECKING:
    from distributed import Client

    from dask_diag_lab.session import Diagnostics

MIME: Final = "application/vnd.dask-diag-lab.plot+json"
SMALLEST_PX: Final = 80
LARGEST_PX: Final = 4000
WHY: Final = "no picture: no JupyterLab with this extension drew it"


@dataclass(frozen=True, repr=False)
class LivePlot:
    """A plot that Jupyter draws; made by `plot`.

    Attributes
    ----------
    plot : Plot
    dashboard_id : str
    height : int
        Pixels.
    arguments : mapping of str to str
        What to show of many.
    """

    plot: Plot
    dashboard_id: str
    height: int
    arguments: Mapping[str, str]
    _diagnostics: ref[Diagnostics]  # not kept alive: a notebook keeps its results

    def __repr__(self) -> str:
        return f"<Live plot “{self.plot.title}” of dashboard {self.dashboard_id}>"

    def _repr_mimebundle_(
        self,
        include: Iterable[str] | None = None,  # noqa: ARG002  # IPython's protocol; both optional
        exclude: Iterable[str] | None = None,  # noqa: ARG002
    ) -> dict[str, object]:
        fallback = (
            f"<p><b>{escape(self.plot.title)}</b> is a live plot. JupyterLab and Notebook 7 draw"
            " it here when dask_diag_lab is installed where they run. Elsewhere open the address"
            " that <code>dask_diag_lab.attach().url</code> gives in a browser on this computer."
            "</p>"
        )
        return {MIME: self._shown, "text/html": fallback, "text/plain": repr(self)}

    def _ipython_display_(self) -> None:
        """Show it where nothing may draw it: a line says what it would show."""
        from IPython.display import display

        if not is_headless():
            raise NotImplementedError  # IPython shows `_repr_mimebundle_` then
        shown = display(self._line(time.time(), "no data yet"), raw=True, display_id=True)
        at_cell_ends(partial(self._save_line, shown))

    def _save_line(self, output: Any, _cell: str) -> bool:  # IPython's handle has no types
        """Replace the line by that of now; return whether there may be another."""
        from dask_diag_lab.server.export import headline

        if (diagnostics := self._diagnostics()) is None:
            return False
        question = partial(headline, name=self.plot.name, arguments=self.arguments)
        asked = diagnostics.draw(question, of_history=True)
        try:
            output.update(self._line(*asked.result(WAIT_S)), raw=True)
        except (RuntimeError, TimeoutError):  # the last line stays, with its time
            return False
        return not diagnostics.is_closed

    def _line(self, time_s: float, headline: str) -> dict[str, object]:
        """Return what is saved; without HTML, so that Lab shows the line until it can draw."""
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(time_s))
        return {MIME: self._shown, "text/plain": f"{self.plot.title} · {headline} · {when} · {WHY}"}

    @property
    def _shown(self) -> dict[str, object]:
        arguments = {"arguments": dict(self.arguments)} if self.arguments else {}
        names = {"dashboard": self.dashboard_id, "plot": self.plot.name}
        return {**names, "height": self.height, **arguments}


class Catalogue(tuple[Plot, ...]):
    """The plots there are, shown as a name and a description a line."""

    __slots__ = ()

    def __repr__(self) -> str:
        width = max((len(plot.name) for plot in self), default=0)
        return "\n".join(f"{plot.name:<{width}}  {plot.description}" for plot in self)


def plot(
    name: str, client: Client | None = None, *, height: int = 400, **arguments: str | float
) -> LivePlot:
    """Show a live plot of the cluster in this cell.

    Parameters
    ----------
    name : str
        Such as ``"task-stream"``; `plots` lists them.
    client : distributed.Client, optional
        Default: the current client; without one, the last, whose cluster has closed.
    height : int
        Pixels, 80 to 4000.
    **arguments : str or number
        What to show of many, for plots that show one: ``plot("worker", worker=address)``,
        ``plot("task", key="inc-1")``, ``plot("profile", prefix="inc")``, ``plot("budget", run=3)``.

    Raises
    ------
    ValueError
        There is no plot of that name, the height is out of bounds, the arguments are no texts or
        too long, or there is no client.
    RuntimeError
        The client is not connected, or Bokeh is missing in this environment.
    """
    from dask_diag_lab.server import missing_bokeh

    if reason := missing_bokeh():
        raise RuntimeError(reason)
    from dask_diag_lab.server.control import read_arguments

    try:
        found = get_plot(name)
    except KeyError as error:
        raise ValueError(str(error.args[0])) from None
    if not SMALLEST_PX <= height <= LARGEST_PX:
        raise ValueError(f"height is {height}; it may be {SMALLEST_PX} to {LARGEST_PX} pixels")
    texts = {
        name: f"{one}" if isinstance(one, float | int) else one for name, one in arguments.items()
    }
    given = read_arguments(texts)
    diagnostics = known_of(client)
    return LivePlot(found, diagnostics.id, int(height), given, ref(diagnostics))


def plots() -> Catalogue:
    """Return the plots there are: name, title, group and description of each."""
    return Catalogue(all_plots())
