"""What a run has to keep to, in words: ``idle<30%``, ``no findings above 10%``."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from dask_diag_lab.analysis.budget import BUSY, CATEGORIES
from dask_diag_lab.analysis.findings import Finding
from dask_diag_lab.views import format as fmt

COMPARISONS: Final[Mapping[str, Callable[[float, float], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_LIMIT: Final = re.compile(r"([a-z -]+?) *([<>]=?) *(\d+(?:\.\d+)?) *(%|s)")
_NAMES: Final = {its.label.lower(): name for name, its in CATEGORIES.items()}
_FINDINGS: Final = re.compile(r"no findings(?: above (\d+(?:\.\d+)?) *(%|s))?")


class CheckError(AssertionError):
    """A run did not keep to what was asked of it; the text has the figures."""


def failure_of(
    check: str,
    findings: Sequence[Finding],
    budget: Mapping[str, float],
    offered_s: float,
    duration_s: float,
) -> str:
    """Return why a run does not pass a check, '' where it does.

    Raises
    ------
    ValueError
        It cannot be understood; the message has what can be.
    """
    asked = check.strip().lower()
    if found := _FINDINGS.fullmatch(asked):
        least = _in_seconds(found[1] or "0", found[2] or "s", duration_s)
        over = [one for one in findings if not one.saved_s <= least]  # of NaN nothing is known
        return "; ".join(f"{one.text} ({fmt.write('seconds', one.saved_s)})" for one in over)
    parts = _LIMIT.fullmatch(asked)
    idle_s = offered_s - sum(budget.get(name, 0.0) for name in BUSY)
    seconds = dict.fromkeys(CATEGORIES, 0.0) | dict(budget)
    seconds |= {"idle": idle_s, "duration": duration_s}
    name = "" if parts is None else _NAMES.get(parts[1], parts[1])
    if parts is None or name not in seconds or (name == "duration" and parts[4] == "%"):
        raise ValueError(
            f"“{check[:60]}” is no check: write “no findings”, “no findings above 10%”, or what is"
            f" to be below or above a share or seconds, such as “idle<30%” or “duration<60s”, of"
            f" {', '.join(seconds)}."
        )
    comparison, limit, unit = parts.groups()[1:]
    allowed_s = _in_seconds(limit, unit, offered_s)
    if COMPARISONS[comparison](seconds[name], allowed_s):
        return ""
    share = f", {fmt.percent(seconds[name] / offered_s)}" if offered_s and unit == "%" else ""
    return f"{name} is {fmt.duration(seconds[name])}{share}, not {comparison}{limit}{unit}"


def _in_seconds(limit: str, unit: str, whole_s: float) -> float:
    return float(limit) * (whole_s / 100 if unit == "%" else 1.0)
