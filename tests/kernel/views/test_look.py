"""Colours of prefixes and of meanings."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
import pytest
from distributed.utils import color_of

from dask_diag_lab.views.look import (
    DARK,
    LIGHT,
    PALETTES,
    VIRIDIS_DARK,
    VIRIDIS_LIGHT,
    Look,
    data_colors,
    prefix_color,
    prefix_palette,
)
from dask_diag_lab.views.stream.frame import PREFIX_CODES

LOOKS: Final = [replace(look, palette=name) for look in (LIGHT, DARK) for name in PALETTES]
MEANINGS: Final = (
    ("memory_ok", "memory_near", "memory_over"),
    ("load_normal", "load_saturated", "load_idle"),
    ("incoming", "outgoing"),
)


def luminance(color: str) -> float:
    srgb = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    return float(linear @ (0.2126, 0.7152, 0.0722))


def contrast(one: str, other: str) -> float:
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("look", LOOKS, ids=str)
def test_no_two_prefixes_share_a_colour_until_the_palette_is_used_up(look: Look) -> None:
    n = len(prefix_palette(look))
    colors = [prefix_color(index, look) for index in range(n)]
    assert len(set(colors)) == n
    assert prefix_color(n, look) == colors[0]
    assert PREFIX_CODES % n == 0


def test_the_light_palette_is_the_stock_dashboards_in_another_order() -> None:
    names = [f"task-{i}" for i in range(500)]
    assert {color_of(name).lower() for name in names} == set(VIRIDIS_LIGHT)


@pytest.mark.parametrize("look", LOOKS, ids=str)
def test_colours_are_visible_on_their_canvas(look: Look) -> None:
    colors = data_colors(look)
    bars = [getattr(colors, name) for names in MEANINGS for name in names]
    assert min(contrast(color, look.background) for color in bars) >= 3
    assert min(contrast(color, DARK.background) for color in VIRIDIS_DARK) >= 3
    erred = contrast(colors.erred, look.background), contrast(colors.erred_mark, colors.erred)
    assert max(erred) >= 10
    assert contrast(colors.killed_mark, colors.killed) >= 3


def test_a_look_has_defaults_for_what_is_no_colour() -> None:
    given = {"name": "dark", "background": "#101010", "grid": "papaya", "palette": "no such"}
    look = Look.of({**given, "font_size": "huge"})
    assert (look.background, look.grid, look.palette) == ("#101010", DARK.grid, "viridis")
    assert look.font_size == DARK.font_size
