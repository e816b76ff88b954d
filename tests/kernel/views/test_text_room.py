"""How much of a text fits into pixels."""

from __future__ import annotations

import pytest

from dask_diag_lab.views.text_room import fitting_name, fitting_text, font_px, text_px


@pytest.mark.parametrize(
    "text", ["a short name", "WITH_CAPITALS", "读取数据", "iiiiiiiiiiiiiiiiiiiiii"]
)
@pytest.mark.parametrize("room_px", [20.0, 45.0, 90.0, 400.0])
def test_what_is_said_to_fit_does(text: str, room_px: float) -> None:
    shown = fitting_text(text, room_px, 12.0)
    assert text_px(shown, 12.0) <= room_px
    assert shown == text or "…" in shown


def test_wide_characters_take_more_room() -> None:
    assert text_px("读取", 12.0) > text_px("WW", 12.0) > text_px("ab", 12.0) > text_px("il", 12.0)


def test_a_name_goes_on_in_the_next_line_and_the_last_one_is_elided() -> None:
    first, second = fitting_name("sum-aggregate-of-a-tree", 60.0, 11.0, 2).split("\n")
    assert "sum-aggregate".startswith(first)
    assert "…" in second
    assert max(text_px(first, 11.0), text_px(second, 11.0)) <= 60.0


def test_a_short_name_takes_one_line() -> None:
    assert fitting_name("inc", 60.0, 11.0, 3) == "inc"


def test_sizes_in_other_units_count_as_the_usual_one() -> None:
    assert (font_px("14px"), font_px("1rem")) == (14.0, 12.0)
