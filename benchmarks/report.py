"""One measured figure beside its rival and its budget, and how a list of them is printed."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import psutil


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the report.

    Attributes
    ----------
    what : str
        What was measured.
    unit : str
        Unit of both values.
    ours : float
    stock : float or None
        The same on the stock dashboard in this run; None where it has no counterpart.
    budget : float or None
        The design's limit for ``ours``.
    note : str
        What a reader must know to judge the figure.
    """

    what: str
    unit: str
    ours: float
    stock: float | None = None
    budget: float | None = None
    note: str = ""

    @property
    def verdict(self) -> str:
        if self.budget is None:
            return ""
        return "within" if self.ours <= self.budget else "over"


def number(value: float | None) -> str:
    """Return ``value`` with three significant digits, a dash for None."""
    if value is None:
        return "–"
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def machine() -> str:
    """Return the machine and the versions that a figure depends on."""
    memory = psutil.virtual_memory().total / 2**30
    parts = [f"{psutil.cpu_count()} cores, {memory:.0f} GiB, Python {platform.python_version()}"]
    parts += [f"{name} {version(name)}" for name in ("distributed", "bokeh", "numpy", "tornado")]
    return ", ".join(parts)


def table(title: str, figures: Sequence[Figure]) -> str:
    """Return the figures as a Markdown table."""
    lines = [
        f"### {title}",
        "",
        "| what | unit | stock | here | ratio | budget | |",
        "|---|---|---|---|---|---|---|",
    ]
    for f in figures:
        ratio = f"{f.ours / f.stock:.2g}" if f.stock else "–"
        what = f"{f.what} ({f.note})" if f.note else f.what
        cells = [what, f.unit, number(f.stock), number(f.ours), ratio, number(f.budget), f.verdict]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([*lines, ""])


def header(command: str) -> str:
    """Return the date, command and machine lines that stand above the tables."""
    today = datetime.now(tz=UTC).date().isoformat()
    return f"Measured {today} with `{command}`.\n\nMachine: {machine()}.\n"


def write_between(file: Path, mark: str, text: str) -> None:
    """Put ``text`` between the two marks of this name in a document."""
    begin, end = f"<!-- {mark} -->", f"<!-- end of {mark} -->"
    before, _, rest = file.read_text(encoding="utf-8").partition(begin)
    file.write_text(f"{before}{begin}\n{text}\n{end}{rest.partition(end)[2]}", encoding="utf-8")
