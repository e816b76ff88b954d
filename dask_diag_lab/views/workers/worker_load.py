"""Who is idle and who is saturated, as the scheduler judges: levels, words, colours, legend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.axis_end import AxisEnd
from dask_diag_lab.views.look import LIGHT, Look
from dask_diag_lab.views.palette import DataColors
from dask_diag_lab.views.small_legend import Entry
from dask_diag_lab.views.worker_names import name_in_words
from dask_diag_lab.views.workers.bar_measure import Words
from dask_diag_lab.views.workers.worker_bars import WorkerBars

if TYPE_CHECKING:
    from dask_diag_lab.store import Store
    from dask_diag_lab.store.workers import WorkerTable

NORMAL: Final = 0
SATURATED: Final = 1
IDLE: Final = 2

_WORDS: Final = ("", "saturated", "idle")
_SIGNS: Final = ("", "▴", "▿")


def load_levels(workers: WorkerTable) -> npt.NDArray[np.uint8]:
    """Return normal, saturated or idle for each worker; idle wins, as on the stock dashboard."""
    levels = np.full(len(workers.processing), NORMAL, dtype=np.uint8)
    levels[workers.is_saturated] = SATURATED
    levels[workers.is_idle] = IDLE
    return levels


def load_word(workers: WorkerTable, worker: int) -> tuple[str, str]:
    """Return word and sign of one worker's load; both '' when it is normal."""
    level = IDLE if workers.is_idle[worker] else SATURATED if workers.is_saturated[worker] else 0
    return _WORDS[level], _SIGNS[level]


def load_counts(workers: WorkerTable) -> str:
    """Return how many workers there are, and how many of them are saturated and idle."""
    levels = load_levels(workers)
    words = [fmt.plural(len(levels), "worker")]
    for level in (SATURATED, IDLE):
        number = int((levels == level).sum())
        if number:
            words.append(f"{fmt.count(number)} {_WORDS[level]}")
    return ", ".join(words)


class LoadBars(WorkerBars):
    """Bars in the colour of the worker's load."""

    rule: ClassVar[str] = "in the colour of most of them"

    def __init__(
        self, store: Store, look: Look = LIGHT, arguments: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(store, look, arguments)
        self.axis_end = AxisEnd(1)

    def level_colors(self, colors: DataColors) -> Sequence[str]:
        """Return the colours of normal, saturated and idle."""
        return (colors.load_normal, colors.load_saturated, colors.load_idle)

    def legend_entries(self, colors: DataColors) -> Sequence[Entry]:
        """Return normal, saturated and idle."""
        names = ("normal", "saturated", "idle")
        return [Entry(*pair) for pair in zip(names, self.level_colors(colors), strict=True)]

    def load_words(self, worker: int, amount: str, exact: str, more: str) -> Words:
        """Return what is said about one worker, with its load in words.

        ``amount`` stands beside the bar, ``exact`` and ``more`` in the hover.
        """
        workers = self.store.workers
        word, sign = load_word(workers, worker)
        hover = (
            name_in_words(workers.name[worker]),
            exact + (f", {word}" if word else ""),
            more,
            str(workers.address[worker]),
        )
        return Words(amount + (f" · {word}" if word else ""), sign, hover)

    def load_table(self, *names: str) -> dict[str, Sequence[object]]:
        """Return address, name, columns of the store by ``names``, and load, for each worker."""
        workers = self.store.workers
        columns: dict[str, Sequence[object]] = {
            "worker": list(workers.address),
            "name": list(workers.name),
        }
        columns |= {name: list(getattr(workers, name).tolist()) for name in names}
        levels = load_levels(workers).tolist()
        return columns | {"load": [_WORDS[level] or "normal" for level in levels]}

    def group_words(self, members: npt.NDArray[np.int64]) -> str:
        """Return how many workers of a group are saturated and idle."""
        levels = load_levels(self.store.workers)[members]
        found = [(int((levels == level).sum()), _WORDS[level]) for level in (SATURATED, IDLE)]
        return ", ".join(f"{fmt.count(number)} {word}" for number, word in found if number)
