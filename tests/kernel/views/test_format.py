"""Numbers as words: units, digits and round ticks."""

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
    ("nbytes", "words"),
    [
        (0, "0 B"),
        (1, "1 B"),
        (999, "999 B"),
        (1000, "0.977 KiB"),
        (1024, "1.00 KiB"),
        (1536, "1.50 KiB"),
        (1023 * 1024, "0.999 MiB"),
        (16 * 2**30, "16.0 GiB"),
        (-(3 * 2**20), "-3.00 MiB"),
        (2**70, "1024 EiB"),
        (math.nan, "unknown"),
    ],
)
def test_memory_is_in_binary_units_with_three_digits(nbytes: float, words: str) -> None:
    assert fmt.binary(nbytes) == words


@pytest.mark.parametrize(
    ("value", "words"),
    [(0, "0 B/s"), (999.4, "999 B/s"), (1000, "1.00 kB/s"), (12_340_000, "12.3 MB/s")],
)
def test_rates_are_in_si_units(value: float, words: str) -> None:
    assert fmt.si(value, "B/s") == words


@pytest.mark.parametrize(
    ("unit", "value", "text"),
    [(unit, value, text) for unit, cases in CASES.items() for value, text in cases],
)
def test_values_are_written_as_the_browser_writes_them(unit: str, value: float, text: str) -> None:
    assert fmt.write(unit, value) == text


@pytest.mark.parametrize(
    ("nbytes", "words"), [(1 << 10, "1 KiB"), (100 << 10, "100 KiB"), (1536, "1.5 KiB"), (0, "0 B")]
)
def test_round_sizes_have_no_zeros_behind_the_point(nbytes: float, words: str) -> None:
    assert fmt.whole_binary(nbytes) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (2e-6, "2.00 µs"),
        (0.0123, "12.3 ms"),
        (0.99951, "1.00 s"),
        (9.996, "10.0 s"),
        (59.99, "1 min"),
        (61, "1 min 1 s"),
        (3600, "1 h"),
        (3 * 3600 + 25 * 60 + 45, "3 h 25 min"),
        (90000, "1 d 1 h"),
        (-2, "-2.00 s"),
        (math.inf, "unknown"),
    ],
)
def test_durations_take_the_unit_that_suits_them(seconds: float, words: str) -> None:
    assert fmt.duration(seconds) == words


@pytest.mark.parametrize(
    ("share", "words"),
    [(0, "0 %"), (0.0001, "<0.1 %"), (0.012, "1.2 %"), (0.5, "50 %"), (12.345, "1234 %")],
)
def test_shares_are_in_percent(share: float, words: str) -> None:
    assert fmt.percent(share) == words


@pytest.mark.parametrize("share", [0.994, 0.997, 999_999 / 1_000_000, 99_999_999 / 100_000_000])
def test_what_is_not_all_is_never_a_hundred_percent(share: float) -> None:
    assert fmt.percent(share) == "99 %"


@pytest.mark.parametrize(
    ("share", "words"),
    [(1, "100 %"), (1 - 1e-12, "100 %"), (1.004, "100 %"), (1.01, "101 %")],
)
def test_all_of_it_is_a_hundred_percent(share: float, words: str) -> None:
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


def test_byte_ticks_are_binary_and_cover_the_axis() -> None:
    ticks = fmt.binary_ticks(16 * 2**30)
    assert list(fmt.tick_labels(ticks, "bytes").values()) == [
        "0",
        "4 GiB",
        "8 GiB",
        "12 GiB",
        "16 GiB",
    ]


@pytest.mark.parametrize("end", [1e-4, 0.3, 1, 4.9, 5, 59, 61, 1000, 4000, 90_000, 4e7])
@pytest.mark.parametrize("wanted", [2, 5])
def test_time_ticks_start_at_zero_are_few_and_differ(end: float, wanted: int) -> None:
    ticks = fmt.duration_ticks(end, wanted)
    labels = list(fmt.tick_labels(ticks, "seconds").values())
    assert ticks[0] == 0
    assert ticks[-1] <= end * 1.0001
    assert 2 <= len(ticks) <= wanted + 1
    assert len(set(labels)) == len(labels)


@pytest.mark.parametrize("wanted", [1, 2, 3])
@pytest.mark.parametrize("end", [0.3, 4.4, 147, 250, 299, 6.9e3, 5e4])
def test_zero_is_never_alone_on_an_axis(end: float, wanted: int) -> None:
    for ticks in (fmt.duration_ticks, fmt.number_ticks, fmt.binary_ticks):
        found = ticks(end, wanted)
        assert len(found) > 1 or (ticks is fmt.binary_ticks and end < 1)
        assert found[-1] <= end * 1.0001
    assert fmt.number_ticks(0.5, wanted, whole=True) == [0]


def test_ticks_of_counts_are_whole() -> None:
    assert fmt.number_ticks(1, whole=True) == [0, 1]
    assert fmt.number_ticks(2, whole=True) == [0, 1, 2]
    assert fmt.number_ticks(0) == [0]
    assert fmt.binary_ticks(0) == [0]


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ((0.997, 0.003), ["99.7 %", "0.3 %"]),
        ((0.95, 0.05), ["95 %", "5 %"]),
        ((0.625, 0.125, 0.0, 0.25), ["63 %", "12 %", "0 %", "25 %"]),
        ((1 / 3, 1 / 3, 1 / 3), ["34 %", "33 %", "33 %"]),
        ((0.9996, 0.0004), ["100 %", "0 %"]),
        ((0.9995, 0.0005), ["100 %", "0 %"]),
        ((0.0, 0.0, 0.0, 1.0), ["0 %", "0 %", "0 %", "100 %"]),
        ((0.004, 0.996), ["0.4 %", "99.6 %"]),
    ],
)
def test_parts_of_a_whole_add_up_and_never_stand_beside_all_of_it(
    parts: tuple[float, ...], words: list[str]
) -> None:
    assert fmt.shares(parts) == words
    assert sum(float(word.removesuffix(" %")) for word in words) == pytest.approx(100)
