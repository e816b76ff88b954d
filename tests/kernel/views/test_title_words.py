"""Titles in narrow panes: words give way before figures, and nothing runs out of its room."""

from __future__ import annotations

import numpy as np
import pytest
from bokeh.models.annotations import Title

from dask_diag_lab.views.look import LIGHT
from dask_diag_lab.views.time_series import TimeLine, TimeSeries
from dask_diag_lab.views.title_words import fitting_title, title_px

MEMORY = "Memory over time: 1.23 GiB process memory, 234 MiB spilled"
LONG = f"{MEMORY} · mean of a worker, band from lowest to highest"


@pytest.mark.parametrize(
    ("room_px", "said"),
    [
        (900, LONG),
        (500, MEMORY),
        (300, "1.23 GiB process memory, 234 MiB spilled"),
        (230, "1.23 GiB, 234 MiB spilled"),
        (150, "1.23 GiB, 234 MiB"),
        (70, "1.23 GiB"),
    ],
)
def test_heading_goes_before_the_words_and_these_before_the_figures(
    room_px: float, said: str
) -> None:
    assert fitting_title((LONG, MEMORY), room_px, 12.0) == said


@pytest.mark.parametrize(
    ("title", "room_px", "said"),
    [
        ("Tasks that workers gave away and took (striped)", 200, "Tasks that workers gave…"),
        ("42 moves in all", 70, "42 moves"),
        ("Compute most: larger tasks would help", 160, "Compute most: larger…"),
        ("", 100, ""),
    ],
)
def test_a_title_without_figures_loses_its_last_words(
    title: str, room_px: float, said: str
) -> None:
    assert fitting_title((title,), room_px, 12.0) == said


@pytest.mark.parametrize(
    ("title", "room_px", "said"),
    [
        ("Memory: 1.20 GiB", 90, "1.20 GiB"),
        ("Memory: 1.20 GiB", 50, "…"),
        ("Memory: 1.20 GiB", 5, ""),
        ("CPU: 1234567", 40, "…"),
        ("Working: 3 of 10 workers, 4 idle", 60, "…"),
    ],
)
def test_no_figure_is_cut(title: str, room_px: float, said: str) -> None:
    assert fitting_title((title,), room_px, 12.0) == said


@pytest.mark.parametrize(("room_px", "said"), [(90, "Occupancy"), (60, "Occup…"), (8, "")])
def test_a_word_is_cut_at_its_end(room_px: float, said: str) -> None:
    assert fitting_title(("Occupancy",), room_px, 12.0) == said


@pytest.mark.parametrize("room_px", range(0, 500, 7))
def test_what_is_shown_fits(room_px: int) -> None:
    for font in (9.0, 12.0, 18.0):
        said = fitting_title((LONG, MEMORY), float(room_px), font)
        assert title_px(said, font) <= room_px


@pytest.mark.parametrize("width", [160, 200, 320, 400])
def test_title_of_a_narrow_time_series_has_its_figures_whole(width: int) -> None:
    picture = TimeSeries(LIGHT, [TimeLine("memory", "process memory", "#3b78e7")], unit="bytes")
    times, values = np.arange(9.0), np.full(9, 1.23 * 2**30)
    picture.model.set_from_json("outer_width", width)
    picture.model.set_from_json("outer_height", 200)
    picture.say(LONG, MEMORY)
    picture.set("memory", times, values)
    title = picture.model.title
    assert isinstance(title, Title)
    assert "1.23 GiB" in str(title.text)
