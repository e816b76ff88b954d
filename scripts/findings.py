"""Writes docs/findings.md: every cause that is looked for; run by ``make pictures``."""

from __future__ import annotations

import re
from pathlib import Path

from dask_diag_lab.analysis.findings import LEAST_S, LEAST_SHARE, MOST_SHOWN, RULES, Rule
from dask_diag_lab.views.registry import CATALOGUE

PAGE = Path(__file__).resolve().parents[1] / "docs" / "findings.md"
INTRO = f"""# Findings: why it is slow

*Findings*, `print(run)` and the first pages of a performance report name at most {MOST_SHOWN}
causes, the one that costs most first. Each has to pass three gates: a ratio, a number of samples,
and what it costs, {LEAST_S} s and {100 * LEAST_SHARE:.0f} % of the run, by an estimate that is
named below. Of causes that cost the same seconds only the largest is named, and nothing is said
where more than 5 % of the time was not recorded. What was not measured is not stated; *likely* is
what something else may look like, too. This page is written from the table of rules,
`dask_diag_lab/analysis/rules.toml`. How often they are right:
[benchmarks](benchmarks.md#insight).
"""
_FIELD = re.compile(r"\{(\w+)(?::(\+?)([\w ]+))?\}")


def wording(text: str) -> str:
    """Return a wording with its fields as words."""
    return _FIELD.sub(lambda field: f"*{field[1]}*{f' {field[3]}s' if field[2] else ''}", text)


def section(rule: Rule) -> list[str]:
    """Return the lines about one rule."""
    estimate = rule.estimate or "none: what it costs cannot be worked out"
    return [
        f"## {rule.title}",
        "",
        f"{rule.says} `{rule.cause}`, {rule.confidence}",
        "",
        f"- said as: {wording(rule.verdict)}",
        f"- what to change: {wording(rule.advice)}",
        f"- when: {rule.when}: at least {rule.ratio:g}; {rule.samples}: at least {rule.least_n}",
        f"- saves: {estimate}",
        f"- shown by: {CATALOGUE[rule.plot]['title']}",
        *([] if rule.is_lasting else ["- not before the work is over"]),
        "",
    ]


def page() -> str:
    """Return the whole page."""
    return "\n".join([INTRO, *(line for rule in RULES for line in section(rule))])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
