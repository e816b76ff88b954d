"""What the reports of pytest, jest and Playwright say: how many tests went which way, and why."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_LINES_OF_ONE = 8
"""Of the reason of one failure: what was expected, what was there, and where."""


@dataclass(frozen=True, slots=True)
class Count:
    """How many tests of a suite went which way.

    Attributes
    ----------
    reasons : tuple of str
        Of each failed test its name and the first lines of what it said.
    """

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    reasons: tuple[str, ...] = ()

    def __add__(self, other: Count) -> Count:
        return Count(
            self.passed + other.passed,
            self.failed + other.failed,
            self.skipped + other.skipped,
            self.reasons + other.reasons,
        )


def _reason(name: str, text: str) -> str:
    lines = [line.rstrip() for line in _COLOURS.sub("", text).splitlines() if line.strip()]
    return "\n    ".join([name, *lines[:_LINES_OF_ONE]])


def read_junit(report: Path) -> Count:
    """Read pytest's ``--junitxml``."""
    total = Count()
    for suite in ET.parse(report).iter("testsuite"):  # noqa: S314 -- written by our own pytest
        number = {
            name: int(suite.attrib[name]) for name in ("tests", "failures", "errors", "skipped")
        }
        failed = number["failures"] + number["errors"]
        passed = number["tests"] - failed - number["skipped"]
        reasons = tuple(
            _reason(f"{case.get('classname')}.{case.get('name')}", bad.get("message", ""))
            for case in suite.iter("testcase")
            for bad in (*case.iter("failure"), *case.iter("error"))
        )
        total += Count(passed, failed, number["skipped"], reasons)
    return total


def read_jest(report: Path) -> Count:
    """Read jest's ``--json``; a test file that does not compile is a failure."""
    found = json.loads(report.read_text())
    failed = found["numFailedTests"] + found["numRuntimeErrorTestSuites"]
    reasons = []
    for file in found["testResults"]:
        bad = [one for one in file["assertionResults"] if one["status"] == "failed"]
        reasons += [_reason(one["fullName"], "\n".join(one["failureMessages"])) for one in bad]
        if file["status"] == "failed" and not bad:
            reasons.append(_reason(Path(file["name"]).name, file["message"]))
    skipped = found["numPendingTests"] + found["numTodoTests"]
    return Count(found["numPassedTests"], failed, skipped, tuple(reasons))


def read_playwright(report: Path) -> Count:
    """Read Playwright's JSON report; a flaky test is a failure."""
    found = json.loads(report.read_text())
    stats = found["stats"]
    reasons = [_reason("before any test", error["message"]) for error in found.get("errors", [])]
    reasons += [reason for one in found["suites"] for reason in _reasons_of(one)]
    return Count(
        stats["expected"], stats["unexpected"] + stats["flaky"], stats["skipped"], tuple(reasons)
    )


def _reasons_of(suite: dict[str, Any]) -> Iterator[str]:
    for inner in suite.get("suites", []):
        yield from _reasons_of(inner)
    for spec in suite.get("specs", []):
        place = f"{spec['file']}:{spec['line']} {spec['title']}"
        for test in spec["tests"]:
            if test["status"] in ("unexpected", "flaky"):
                result = test["results"][0]  # a flaky one has passed later
                said = "\n".join(error.get("message", "") for error in result["errors"])
                yield _reason(f"{place} ({result['status']})", said)
