"""Colours of prefixes and of meanings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Final

import numpy as np
import numpy.typing as npt
import pytest
from distributed.utils import color_of

from dask_diag_lab.views.look import DARK, LIGHT, PALETTES, Look
from dask_diag_lab.views.palette import (
    VIRIDIS_DARK,
    VIRIDIS_LIGHT,
    data_colors,
    mixed,
    prefix_color,
    prefix_palette,
)
from dask_diag_lab.views.stream.frame import PREFIX_CODES

Matrix = npt.NDArray[np.float64]
LOOKS: Final = [replace(look, palette=name) for look in (LIGHT, DARK) for name in PALETTES]
MEANINGS: Final = (
    ("memory_ok", "memory_near", "memory_over"),
    ("load_normal", "load_saturated", "load_idle"),
    ("incoming", "outgoing"),
)

# Linear RGB to the cones of OKLab, and these to its axes.
CONES: Final = np.array(
    (
        (0.4122214708, 0.5363325363, 0.0514459929),
        (0.2119034982, 0.6806995451, 0.1073969566),
        (0.0883024619, 0.2817188376, 0.6299787005),
    )
)
AXES: Final = np.array(
    (
        (0.2104542553, 0.7936177850, -0.0040720468),
        (1.9779984951, -2.4285922050, 0.4505937099),
        (0.0259040371, 0.7827717662, -0.8086757660),
    )
)
# Machado, Oliveira and Fernandes 2009, severity 1: what is left of linear RGB.
BLINDNESS: Final = np.array(
    (
        ((0.152286, 1.0525, -0.2048), (0.114503, 0.7862, 0.0992), (-0.0038, -0.0481, 1.0519)),
        ((0.367322, 0.8606, -0.2279), (0.280085, 0.6725, 0.0474), (-0.0118, 0.0429, 0.9688)),
        ((1.255528, -0.0767, -0.1787), (-0.0784, 0.9308, 0.1476), (0.0047, 0.6913, 0.3039)),
    )
)


def linear(color: str) -> Matrix:
    srgb = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    low, high = sorted(float(linear(each) @ (0.2126, 0.7152, 0.0722)) for each in (one, other))
    return (high + 0.05) / (low + 0.05)


def least_distance(colors: Sequence[str], vision: Matrix) -> float:
    """Return the smallest distance of two of these colours in OKLab, as they are seen."""
    labs = [AXES @ np.cbrt(CONES @ np.maximum(vision @ linear(each), 0)) for each in colors]
    return min(float(np.linalg.norm(a - b)) for a, b in combinations(labs, 2))


@pytest.mark.parametrize("look", LOOKS, ids=str)
def test_no_two_prefixes_share_a_colour_until_the_palette_is_used_up(look: Look) -> None:
    n = len(prefix_palette(look))
    colors = [prefix_color(index, look) for index in range(n)]
    assert len(set(colors)) == n
    assert prefix_color(n, look) == colors[0]
    assert PREFIX_CODES % n == 0


@pytest.mark.parametrize("palette", [VIRIDIS_LIGHT, VIRIDIS_DARK], ids=["light", "dark"])
def test_the_first_colours_are_distinct(palette: Sequence[str]) -> None:
    for n, least in ((3, 0.28), (6, 0.09), (8, 0.06), (12, 0.035)):
        assert least_distance(palette[:n], np.eye(3)) > least


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


@pytest.mark.parametrize("look", [LIGHT, DARK], ids=str)
@pytest.mark.parametrize("names", MEANINGS)
def test_safe_palette_tells_meanings_apart_with_colour_blindness(
    look: Look, names: Sequence[str]
) -> None:
    colors = data_colors(replace(look, palette="okabe-ito"))
    seen = [getattr(colors, name) for name in names]
    assert min(least_distance(seen, vision) for vision in BLINDNESS) > 0.1


def test_mixing_all_of_another_colour_gives_that_colour() -> None:
    assert mixed("#102030", "#ffffff", 1.0) == "#ffffff"
    assert mixed("#102030", "#ffffff", 0.0) == "#102030"


def test_a_look_has_defaults_for_what_is_no_colour() -> None:
    given = {"name": "dark", "background": "#101010", "grid": "papaya", "palette": "no such"}
    look = Look.of({**given, "font_size": "huge"})
    assert (look.background, look.grid, look.palette) == ("#101010", DARK.grid, "viridis")
    assert look.font_size == DARK.font_size
