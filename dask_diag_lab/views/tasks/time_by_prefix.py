"""Where the time of all threads went: by prefix, and by what was done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from dask_diag_lab.records import STATES
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.bar_figure import SECONDS
from dask_diag_lab.views.base import Table
from dask_diag_lab.views.palette import data_colors, prefix_color
from dask_diag_lab.views.shown_name import shown_name
from dask_diag_lab.views.tasks.named_bars import Amounts, Ints, NamedBars

WAITING = "Waiting for the scheduler's answer."
NO_TIME = "No task has ended yet. Times appear as soon as one has."

_ENDED = [STATES.index(state) for state in ("released", "memory", "forgotten")]
_ACTIONS = {"disk-read": "disk", "disk-write": "disk"}


class DurationBars(NamedBars):
    """Bars over the table ``durations``, summed up by one of its columns."""

    needs = frozenset({"durations"})
    scale = SECONDS

    by: ClassVar[str] = "prefix"
    across: ClassVar[str] = "action"

    def seen(self) -> object:
        """Return the versions of what is read."""
        durations = self.store.extras["durations"]
        return durations.version, self.store.palette.version

    def empty(self) -> str:
        """Return why there is nothing to draw."""
        durations = self.store.extras["durations"]
        if not durations.is_known:
            return WAITING
        return "" if self._wanted().any() else NO_TIME

    def _wanted(self) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        """Return which rows of the table count."""
        wanted: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]
        wanted = self.store.extras["durations"]["seconds"] > 0
        return wanted

    def sum_up(self) -> None:
        """Sum the table up by `by`, and keep the parts of each sum by `across`."""
        durations = self.store.extras["durations"]
        rows = np.flatnonzero(self._wanted())
        names = durations[self.by][rows].tolist()
        parts = durations[self.across][rows].tolist()
        seconds = durations["seconds"][rows].tolist()
        sums: dict[str, dict[str, float]] = {}
        for name, part, took in zip(names, parts, seconds, strict=True):
            of_name = sums.setdefault(name, {})
            of_name[part] = of_name.get(part, 0.0) + took
        self._names = list(sums)
        self._parts = list(sums.values())
        self._seconds = np.array([sum(part.values()) for part in self._parts], dtype=np.float64)
        self._total = float(self._seconds.sum())

    def _share(self, seconds: float) -> str:
        return fmt.percent(seconds / self._total) if self._total else ""

    def words_of_others(self, indices: Ints) -> tuple[str, Sequence[str]]:
        """Return what is said about all the others."""
        seconds = float(self._seconds[indices].sum())
        text = f"{fmt.duration(seconds)} · {self._share(seconds)}"
        return text, (f"{text} of all",)

    def _largest(self, index: int) -> str:
        parts = sorted(self._parts[index].items(), key=lambda item: -item[1])
        shown = [f"{shown_name(name, 40)} {fmt.duration(took)}" for name, took in parts[:5]]
        more = [f"{fmt.count(len(parts) - 5)} more"] if len(parts) > 5 else []
        return ", ".join([*shown, *more])


class ComputeTimePerKey(DurationBars):
    """Seconds that threads computed tasks of each prefix."""

    def _wanted(self) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        durations = self.store.extras["durations"]
        wanted: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]
        wanted = (durations["action"] == "compute") & (durations["seconds"] > 0)
        return wanted

    def amounts(self) -> Amounts:
        """Return what to draw now; see `NamedBars.amounts`."""
        self.sum_up()
        prefixes = self.store.prefixes
        self._mean = dict(zip(prefixes.names, prefixes.duration.tolist(), strict=True))
        ended = prefixes.states[:, _ENDED].sum(axis=1).tolist()
        self._ended = dict(zip(prefixes.names, ended, strict=True))
        total = fmt.duration(self._total)
        return Amounts(
            names=self._names,
            sizes=self._seconds,
            title=f"Compute time per key: {total} of thread time",
            short_title=f"Compute time: {total}",
        )

    def color(self, index: int) -> str:
        """Return the colour of the prefix."""
        return prefix_color(self.store.palette.index(self._names[index]), self.look)

    def words(self, index: int) -> tuple[str, Sequence[str]]:
        """Return what is said about one prefix."""
        seconds, name = float(self._seconds[index]), self._names[index]
        text = f"{fmt.duration(seconds)} · {self._share(seconds)}"
        mean = self._mean.get(name, float("nan"))
        ended = self._ended.get(name, 0)
        return text, (
            f"{fmt.duration(seconds)} of thread time: {self._share(seconds)} of all computing",
            f"{fmt.duration(mean)} a task on average" if np.isfinite(mean) else "",
            f"{fmt.plural(ended, 'task')} done" if ended else "",
        )

    def table(self) -> Table:
        """Return one row a prefix, longest first."""
        self.sum_up()
        order = np.argsort(-self._seconds, kind="stable").tolist()
        columns = {
            "prefix": [self._names[index] for index in order],
            "seconds": [float(self._seconds[index]) for index in order],
        }
        return Table(columns, {"seconds": "s"})


class AggregateTimePerAction(DurationBars):
    """Seconds that threads spent on each kind of action: computing, transfers, disk."""

    by = "action"
    across = "prefix"
    noun = "action"
    nouns = "actions"

    def amounts(self) -> Amounts:
        """Return what to draw now; see `NamedBars.amounts`."""
        self.sum_up()
        total = fmt.duration(self._total)
        return Amounts(
            names=self._names,
            sizes=self._seconds,
            title=f"Aggregate time per action: {total} in all",
            short_title=f"Time per action: {total}",
        )

    def color(self, index: int) -> str:
        """Return the colour that the action has in the task stream."""
        colors = data_colors(self.look)
        known = {
            "transfer": colors.transfer,
            "disk": colors.disk,
            "deserialize": colors.deserialize,
            "compute": colors.load_normal,
        }
        name = self._names[index]
        return known.get(_ACTIONS.get(name, name), colors.gone)

    def words(self, index: int) -> tuple[str, Sequence[str]]:
        """Return what is said about one action."""
        seconds = float(self._seconds[index])
        text = f"{fmt.duration(seconds)} · {self._share(seconds)}"
        return text, (f"{text} of all", f"most for {self._largest(index)}")

    def table(self) -> Table:
        """Return one row for each action and prefix, as the scheduler counts them."""
        durations = self.store.extras["durations"]
        columns = {name: durations[name].tolist() for name in ("action", "prefix", "seconds")}
        return Table(columns, {"seconds": "s"})
