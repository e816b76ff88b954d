"""What the catalogue says of one plot, and how its view is found.

Imports neither Bokeh nor any view until a plot is loaded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dask_diag_lab.views.base import View


@dataclass(frozen=True, slots=True)
class Plot:
    """One plot of the catalogue.

    Attributes
    ----------
    name : str
        Its id in routes and layouts: the stock dashboard's name wherever there is one.
    title : str
        What people see.
    group : str
        One of `GROUPS`.
    description : str
        One sentence: what it shows.
    help : str
        How to read it, what is healthy, what to do when it is not: a sentence or two, then lines
        like ``- black: the task failed``, which pages and panes show as a key.
    stock_title : str
        Key of this plot in the stock dashboard's ``individual-plots.json``.
    keywords : sequence of str
        Words to find it by that are not in title and description.
    view : str
        ``"module:Class"``, the module relative to this package.
    only_with : sequence of str
        Beginnings of worker metrics; until one is reported the plot is not listed. Empty: always.
    """

    name: str
    title: str
    group: str
    description: str
    help: str
    stock_title: str
    keywords: Sequence[str]
    view: str
    only_with: Sequence[str] = field(default=(), kw_only=True)

    def load(self) -> type[View]:
        """Import the plot's module and return its view class."""
        module, _, name = self.view.partition(":")
        loaded: type[View] = getattr(import_module(f"{__package__}.{module}"), name)
        return loaded
