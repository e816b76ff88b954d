"""The page on the stock dashboard's defects names tests that are there."""

from __future__ import annotations

import re
from pathlib import Path

KERNEL = Path(__file__).parents[1]
PAGE = KERNEL.parents[1] / "docs" / "differences.md"


def rows() -> dict[str, list[tuple[str, str]]]:
    """Return file and test of each defect."""
    found = {}
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if match := re.match(r"\| (D\d+) \|", line):
            found[match[1]] = re.findall(r"`([\w/]+\.py)::(test_\w+)`", line)
    return found


def test_every_known_defect_has_a_row_with_a_test() -> None:
    found = rows()
    assert list(found) == [f"D{number}" for number in range(1, 21)]
    assert all(found.values())


def test_the_tests_that_are_named_are_there() -> None:
    missing = [
        f"{file}::{test}"
        for tests in rows().values()
        for file, test in tests
        if not re.search(
            rf"^(async )?def {test}\(", (KERNEL / file).read_text(encoding="utf-8"), re.MULTILINE
        )
    ]
    assert not missing
