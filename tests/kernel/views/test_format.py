"""Numbers as words: units and digits."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from dask_diag_lab.views import format as fmt

CASES = json.loads(
    (Path(__file__).parents[2] / "contract" / "fixtures" / "format.json").read_text("utf-8")
)


@pytest.mark.parametrize(
    ("unit", "value", "text"),
    [(unit, value, text) for unit, cases in CASES.items() for value, text in cases],
)
def test_values_are_written_as_the_browser_writes_them(unit: str, value: float, text: str) -> None:
    assert fmt.write(unit, value) == text


@pytest.mark.parametrize("unit", ["bytes", "rate", "seconds", "percent", "number", "count"])
def test_what_is_not_finite_is_written_as_unknown(unit: str) -> None:
    assert fmt.write(unit, math.nan) == fmt.write(unit, math.inf) == "unknown"


@pytest.mark.parametrize(
    ("share", "words"),
    [(0.997, "99 %"), (1 - 1e-8, "99 %"), (1 - 1e-12, "100 %"), (1.004, "100 %"), (12.3, "1230 %")],
)
def test_what_is_not_all_is_never_a_hundred_percent(share: float, words: str) -> None:
    assert fmt.percent(share) == words


def test_large_counts_are_grouped() -> None:
    assert fmt.count(9999) == "9999"
    assert fmt.count(1_000_000) == "1\u202f000\u202f000"
    assert fmt.plural(1, "worker") == "1 worker"
    assert fmt.plural(0, "worker") == "0 workers"


@pytest.mark.parametrize("width", range(12))
def test_elided_text_keeps_both_ends_and_never_exceeds_its_width(width: int) -> None:
    short = fmt.elide("abcdefghijklmnop", width)
    assert len(short) == width
    if width >= 4:
        assert short.startswith("a")
        assert short.endswith("p")
        assert "…" in short
    assert fmt.elide("abc", 3) == "abc"


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ((0.95, 0.05), ["95 %", "5 %"]),
        ((0.625, 0.125, 0.0, 0.25), ["63 %", "12 %", "0 %", "25 %"]),
        ((1 / 3, 1 / 3, 1 / 3), ["34 %", "33 %", "33 %"]),
        ((0.9996, 0.0004), ["100 %", "0 %"]),
    ],
)
def test_parts_of_a_whole_add_up(parts: tuple[float, ...], words: list[str]) -> None:
    assert fmt.shares(parts) == words
