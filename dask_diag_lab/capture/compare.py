"""``compare``: two runs side by side, of now or from files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Final

from dask_diag_lab.analysis.budget import CATEGORIES
from dask_diag_lab.analysis.comparison import (
    PrefixDifference,
    different_settings,
    prefix_differences,
    waterfall,
)
from dask_diag_lab.capture.run import Run, html_table
from dask_diag_lab.views import format as fmt

MOST_PREFIXES: Final = 10


class Comparison:
    """What differs between two runs; made by `compare`.

    Attributes
    ----------
    before, after : Run
    settings : list of Setting
        Workers, threads and versions that differ: look at these first.
    difference_s : float
        By how many seconds the second took longer.
    budget : dict of str to float
        What made the difference, by category of the budget: seconds that add up to it.
    prefixes : list of PrefixDifference
        Tasks, seconds and bytes of each prefix in both, largest difference first.
    """

    def __init__(self, before: Run, after: Run) -> None:
        self.before, self.after = before, after
        a, b = before.case(), after.case()
        self.settings = different_settings(before.settings, after.settings)
        self.difference_s = b.wall_s - a.wall_s
        self.budget = waterfall(a, b)
        self.prefixes: list[PrefixDifference] = prefix_differences(a, b)

    def __str__(self) -> str:
        lines = [self._headline, *(f"  {s.name}: {s.before} → {s.after}" for s in self.settings)]
        lines += [
            f"{fmt.signed(step):>12}  {CATEGORIES[name].label}" for name, step in self._steps()
        ]
        lines += ["", *("  ".join(cells) for cells in self._rows())]
        return "\n".join(lines).rstrip()

    def _repr_html_(self) -> str:
        parts: list[list[tuple[str, ...]]] = [
            [(s.name, s.before, s.after) for s in self.settings],
            [(fmt.signed(step), CATEGORIES[name].label) for name, step in self._steps()],
            list(self._rows()),
        ]
        return f"<strong>{escape(self._headline)}</strong>{''.join(map(html_table, parts))}"

    @property
    def _headline(self) -> str:
        took = [fmt.duration(one.stop - one.start) for one in (self.before, self.after)]
        return (
            f"{self.before.name} {took[0]} → {self.after.name} {took[1]}:"
            f" {fmt.signed(self.difference_s)}"
        )

    def _steps(self) -> list[tuple[str, float]]:
        return sorted(self.budget.items(), key=lambda step: -abs(step[1]))

    def _rows(self) -> Iterator[tuple[str, ...]]:
        for one in self.prefixes[:MOST_PREFIXES]:
            a, b = one.before, one.after
            yield (
                f"{one.status:<8}",
                f"{fmt.signed(b.seconds - a.seconds):>12}",
                one.prefix,
                f"{fmt.count(a.n_tasks)} → {fmt.count(b.n_tasks)} tasks",
                f"{fmt.duration(a.seconds)} → {fmt.duration(b.seconds)}",
                f"{fmt.binary(a.nbytes)} → {fmt.binary(b.nbytes)}",
            )


def compare(
    before: Run | str | os.PathLike[str], after: Run | str | os.PathLike[str]
) -> Comparison:
    """Compare two runs: what they were made with, where the time went, and which tasks differ.

    Parameters
    ----------
    before, after : Run or path
        Runs of `run` and `runs`, or recordings, of which the run that was saved counts, else the
        last one.

    Returns
    -------
    Comparison
        Print it, or show it in a cell.

    Raises
    ------
    ValueError
        A file is no recording, or there is no run in it.
    OSError
        A file cannot be read.
    RuntimeError
        The block of a run has not ended.
    TypeError
        It is neither.
    """
    return Comparison(*map(_run_of, (before, after)))


def _run_of(given: object) -> Run:
    if isinstance(given, Run):
        return given
    if not isinstance(given, str | os.PathLike):
        what = f"{given!r} is neither a run nor the path of a recording"
        raise TypeError(f"{what}: give one of `dask_diag_lab.runs()`, or such as “etl.daskrun”.")
    return Run.of_file(Path(given))
