"""Which rows of a bar plot are in view: how workers are put together, and how far it is scrolled.

Pure; knows neither Bokeh nor the store.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy.typing as npt

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.workers.worker_hosts import Hosts
from dask_diag_lab.views.workers.worker_rows import Rows, by_host, each, grouped, ranked

Form = Literal["workers", "groups", "hosts"]
FORMS: Final[tuple[Form, ...]] = ("workers", "groups", "hosts")

FORM_WORDS: Final = ("each worker", "groups", "hosts")

_VERBS: Final[Mapping[str, Form]] = {
    "by-worker": "workers",
    "by-group": "groups",
    "by-host": "hosts",
}
_FEW: Final = 0.8
"""Share of the rows that fit below which bars take their own order again: not back and forth."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What is in view.

    Attributes
    ----------
    rows : Rows
        Those in view.
    first : int
        How many rows are above them.
    total : int
        How many rows there are.
    form : {'workers', 'groups', 'hosts'}
    is_sorted : bool
        Whether the largest are first; else workers have their own order.
    is_reversed : bool
        Whether the smallest are first where rows are sorted.
    """

    rows: Rows
    first: int
    total: int
    form: Form
    is_sorted: bool
    is_reversed: bool = False

    @property
    def is_cut(self) -> bool:
        return len(self.rows) < self.total


class RowChoice:
    """The choice of a plot's reader, and the mode that is decided anew with each update.

    Attributes
    ----------
    form : {'workers', 'groups', 'hosts'}
        What the reader wants; groups are made only of more workers than fit.
    first : int
        Rows scrolled out of view at the top.
    is_reversed : bool
        Whether the smallest come first where rows are sorted.
    """

    def __init__(self) -> None:
        self.form: Form = "workers"
        self.is_reversed = False
        self.first = 0
        self._are_many = False
        self._fit = 1

    def obey(self, verb: str) -> None:
        """Obey ``by-worker``, ``by-group``, ``by-host`` (twice: back), ``reverse``, ``fit``."""
        if verb == "fit":
            self.first = 0
        elif verb == "reverse":
            self.is_reversed, self.first = not self.is_reversed, 0
        elif verb in _VERBS:
            self.choose(FORMS.index("workers" if _VERBS[verb] == self.form else _VERBS[verb]))

    def choose(self, form: int) -> None:
        """Put workers together in another way, by its place in `FORMS`, seen from the top."""
        self.form, self.first = FORMS[form], 0

    def scroll(self, delta: float) -> None:
        """Move by a quarter of the view: up for a positive ``delta``, as wheels tell it."""
        step = max(self._fit // 4, 1)
        self.first = max(self.first + (-step if delta > 0 else step), 0)

    def rows(self, order_by: npt.NDArray[Any], hosts: Hosts, fit: int) -> Choice:
        """Return what is in view when ``fit`` rows can be read.

        Parameters
        ----------
        order_by : ndarray
            What rows are sorted by, one value a worker.
        hosts : Hosts
        fit : int
        """
        n, self._fit = len(order_by), fit
        order_by = -order_by if self.is_reversed else order_by
        self._are_many = n > (fit * _FEW if self._are_many else fit)
        if self.form == "hosts":
            found = by_host(order_by, hosts.of_worker)
        elif not self._are_many:
            found = each(n)
        elif self.form == "groups":
            found = grouped(order_by, fit)
        else:
            found = ranked(order_by)
        form = "workers" if self.form == "groups" and not self._are_many else self.form
        self.first = max(min(self.first, len(found) - fit), 0)
        is_sorted = self._are_many or form == "hosts"
        shown = found.window(self.first, fit)
        return Choice(shown, self.first, len(found), form, is_sorted, self.is_reversed)


def choice_words(choice: Choice, n: int, noun: str, sorted_by: str, rule: str) -> str:
    """Return in words how ``n`` workers (``noun``) are put together; '' when it is plain to see."""
    if choice.form == "groups":
        size = fmt.count(choice.rows.sizes[0])
        return f"{fmt.count(n)} {noun}s sorted by {sorted_by}; each bar is the mean of {size}" + (
            f", {rule}" if rule else ""
        )
    if not choice.is_sorted:
        return ""
    noun = "host" if choice.form == "hosts" else noun
    words = f"{'lowest' if choice.is_reversed else 'highest'} {sorted_by} first"
    if choice.form == "hosts":
        words += "; each bar is the mean of a host's workers" + (f", {rule}" if rule else "")
    if choice.is_cut:
        begin, end = choice.first + 1, choice.first + len(choice.rows)
        which = fmt.count(end) if begin == 1 else f"{fmt.count(begin)}–{fmt.count(end)}"
        return f"{which} of {fmt.plural(choice.total, noun)}, {words}; scroll for more"
    return f"{fmt.plural(choice.total, noun)}, {words}"


def group_words(choice: Choice, row: int, noun: str, host: str) -> str:
    """Return what the workers (``noun``) of one row have in common; ``host`` for a host's."""
    number = len(choice.rows.members(row))
    if choice.form == "hosts":
        return f"Host {host}: {fmt.plural(number, noun)}"
    first = int(choice.rows.starts[row]) + 1
    return f"{noun.capitalize()}s {first}–{first + number - 1} of {len(choice.rows.order)}"
