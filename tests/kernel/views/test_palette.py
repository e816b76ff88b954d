"""Colours of prefixes and of meanings."""

from __future__ import annotations

from itertools import pairwise

import pytest
from distributed.utils import color_of

from dask_diag_lab.records import STATES
from dask_diag_lab.views.look import DARK, LIGHT, Look
from dask_diag_lab.views.palette import (
    VIRIDIS_DARK,
    VIRIDIS_LIGHT,
    data_colors,
    mixed,
    prefix_color,
    prefix_palette,
)
from dask_diag_lab.views.task_stream_rects import PREFIX_CODES


def _luminance(color: str) -> float:
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return float(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])


def _contrast(one: str, other: str) -> float:
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _distance(one: str, other: str) -> float:
    pairs = [(int(one[i : i + 2], 16), int(other[i : i + 2], 16)) for i in (1, 3, 5)]
    return float(sum((a - b) ** 2 for a, b in pairs) ** 0.5)


LOOKS = [LIGHT, DARK, Look(palette="okabe-ito"), Look(name="dark", palette="okabe-ito")]


@pytest.mark.parametrize("look", LOOKS)
def test_no_two_prefixes_share_a_colour_until_the_palette_is_used_up(look: Look) -> None:
    n = len(prefix_palette(look))
    colors = [prefix_color(index, look) for index in range(n)]
    assert len(set(colors)) == n
    assert prefix_color(n, look) == colors[0]


def test_neighbours_in_the_palette_are_far_apart() -> None:
    for palette in (VIRIDIS_LIGHT, VIRIDIS_DARK):
        steps = [_distance(a, b) for a, b in pairwise(palette)]
        assert min(steps) > 60


def test_the_light_palette_is_the_stock_dashboards_in_another_order() -> None:
    names = [f"task-{i}" for i in range(500)]
    assert {color_of(name).lower() for name in names} == set(VIRIDIS_LIGHT)


def test_dark_colours_are_visible_on_a_dark_canvas() -> None:
    assert min(_contrast(color, DARK.background) for color in VIRIDIS_DARK) >= 3


@pytest.mark.parametrize("look", [LIGHT, DARK])
def test_failed_tasks_are_visible_by_fill_or_mark_on_their_canvas(look: Look) -> None:
    colors = data_colors(look)
    assert (
        max(_contrast(colors.erred, look.background), _contrast(colors.erred_mark, colors.erred))
        >= 10
    )
    assert _contrast(colors.killed_mark, colors.killed) >= 3


@pytest.mark.parametrize("look", [LIGHT, DARK])
def test_every_state_has_a_colour(look: Look) -> None:
    assert data_colors(look).states.keys() == set(STATES)


def test_colour_codes_repeat_with_every_palette() -> None:
    assert all(PREFIX_CODES % len(prefix_palette(look)) == 0 for look in LOOKS)


def test_mixing_all_of_another_colour_gives_that_colour() -> None:
    assert mixed("#102030", "#ffffff", 1.0) == "#ffffff"
    assert mixed("#102030", "#ffffff", 0.0) == "#102030"


def test_a_look_takes_the_colours_that_browsers_write_and_defaults_for_others() -> None:
    given = {"name": "dark", "background": "rgb(17, 17, 17)", "grid": "#444", "muted": "papaya"}
    look = Look.of({**given, "palette": "no such"})
    assert (look.background, look.grid) == ("#111111", "#444444")
    assert (look.muted, look.palette) == (DARK.muted, "viridis")
