"""The controls above a profile; those that undo a choice show only where one was made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from bokeh.models.layouts import Row

from dask_diag_lab.views import controls
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.figure import set_properties
from dask_diag_lab.views.look import Look

SEARCH: Final = "Search functions"
RESET: Final = "Reset zoom"
CHOICE_PX: Final = 140

MAX_OPTIONS: Final = 500
"""Tasks to choose from; a page with more of them is slow."""


@dataclass(frozen=True, slots=True)
class Acts:
    """What the controls do; each takes what its control takes."""

    choose: Callable[[str], None]
    search: Callable[[str], None]
    refresh: Callable[[], None]
    tabulate: Callable[[bool], None]
    clear_period: Callable[[], None]
    clear_worker: Callable[[], None]
    open_task: Callable[[], None]
    reset: Callable[[], None]


class Toolbar:
    """The controls of one page.

    Parameters
    ----------
    look : Look
    title : str
        What the list chooses.
    options : sequence of (value, words)
    value : str
    acts : Acts
    """

    def __init__(
        self, look: Look, title: str, options: Sequence[tuple[str, str]], value: str, acts: Acts
    ) -> None:
        self._title = title
        self._is_narrow = False
        self.choice = controls.select(look, title, options, value, acts.choose, width=CHOICE_PX)
        self.search = controls.text_input(look, SEARCH, acts.search, width=130)
        self.matches = controls.words(look)
        self.reset = controls.button(look, RESET, acts.reset)
        self.period = controls.button(look, "", acts.clear_period)
        self.worker = controls.button(look, "", acts.clear_worker)
        self.task = controls.button(look, "", acts.open_task)
        self.tabulate = controls.toggle(look, "Table", acts.tabulate)
        self.refresh = controls.button(look, "Refresh", acts.refresh)
        self.model: Row = controls.bar(
            *(self.choice, self.task, self.search, self.matches, self.reset),
            *(self.period, self.worker, self.tabulate, self.refresh),
        )

    def offer(self, options: Sequence[tuple[str, str]], value: str) -> None:
        """Set what there is to choose from, and what is chosen."""
        set_properties(self.choice, options=list(options[:MAX_OPTIONS]))
        set_properties(self.choice, value=value)

    def say(
        self, *, matches: str, is_zoomed: bool, period: str, worker: str, task: str = ""
    ) -> None:
        """Show what has been narrowed down, each with a way back; '' where nothing has.

        ``task`` is the key of the one whose page is a click away; '' for none.
        """
        set_properties(self.matches, text=matches, visible=bool(matches))
        set_properties(self.reset, visible=is_zoomed)
        set_properties(self.period, label=f"{period} ✕", visible=bool(period))
        set_properties(self.worker, label=f"{fmt.elide(worker, 40)} ✕", visible=bool(worker))
        of = "" if self._is_narrow else f" of {fmt.elide(task, 32)}"
        set_properties(self.task, label=f"Task page{of}", visible=bool(task))
        # It asks again by itself: the place is worth more.
        is_crowded = self._is_narrow and bool(matches or is_zoomed or period or worker or task)
        set_properties(self.refresh, visible=not is_crowded)

    def fit(self, *, is_narrow: bool) -> None:
        """Take less room in a narrow pane."""
        self._is_narrow = is_narrow
        set_properties(self.choice, title="" if is_narrow else self._title)
        width = 96 if is_narrow else controls.select_width(self._title, CHOICE_PX)
        set_properties(self.choice, width=width)
        set_properties(self.search, width=64 if is_narrow else 130)
        set_properties(self.search, placeholder="Search" if is_narrow else SEARCH)
        set_properties(self.reset, label="Reset" if is_narrow else RESET)

    def restyle(self, look: Look) -> None:
        """Apply the look."""
        controls.restyle_controls([self.model], look)
