"""Colours of prefixes and of meanings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

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


def _luminance(color: str) -> float:
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return float(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])


def _contrast(one: str, other: str) -> float:
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


LOOKS = [LIGHT, DARK, Look(palette="okabe-ito"), Look(name="dark", palette="okabe-ito")]


@pytest.mark.parametrize("look", LOOKS)
def test_no_two_prefixes_share_a_colour_until_the_palette_is_used_up(look: Look) -> None:
    n = len(prefix_palette(look))
    colors = [prefix_color(index, look) for index in range(n)]
    assert len(set(colors)) == n
    assert prefix_color(n, look) == colors[0]


# The smallest distance of two of the first so many colours.
LEAST = {2: 90, 3: 90, 4: 45, 5: 37, 6: 30, 7: 23, 8: 22, 9: 14, 10: 14, 11: 11, 12: 11}


@pytest.mark.parametrize("palette", [VIRIDIS_LIGHT, VIRIDIS_DARK], ids=["light", "dark"])
@pytest.mark.parametrize(("n", "least"), LEAST.items())
def test_the_first_colours_are_told_apart(palette: Sequence[str], n: int, least: float) -> None:
    lab = [_cielab(color) for color in palette[:n]]
    assert min(math.dist(one, other) for one, other in combinations(lab, 2)) > least


def _cielab(color: str) -> list[float]:
    """Return CIE 1976 L*, a*, b* under D65: two colours 2.3 apart are just told apart."""
    linear = [_linear(int(color[i : i + 2], 16) / 255) for i in (1, 3, 5)]
    to_xyz = (
        (0.4124564, 0.3575761, 0.1804375),
        (0.2126729, 0.7151522, 0.0721750),
        (0.0193339, 0.1191920, 0.9503041),
    )
    white = [sum(row) for row in to_xyz]
    xyz = [sum(a * b for a, b in zip(row, linear, strict=True)) for row in to_xyz]
    x, y, z = (_cie_root(of / by) for of, by in zip(xyz, white, strict=True))
    return [116 * y - 16, 500 * (x - y), 200 * (y - z)]


def _cie_root(share: float) -> float:
    edge = 6 / 29
    return float(share ** (1 / 3)) if share > edge**3 else share / (3 * edge**2) + 4 / 29


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


def test_colour_codes_repeat_with_every_palette() -> None:
    assert all(PREFIX_CODES % len(prefix_palette(look)) == 0 for look in LOOKS)


def test_mixing_all_of_another_colour_gives_that_colour() -> None:
    assert mixed("#102030", "#ffffff", 1.0) == "#ffffff"
    assert mixed("#102030", "#ffffff", 0.0) == "#102030"


def test_a_look_has_defaults_for_what_is_no_colour() -> None:
    given = {"name": "dark", "background": "#101010", "grid": "papaya", "palette": "no such"}
    look = Look.of(given)
    assert (look.background, look.grid, look.palette) == ("#101010", DARK.grid, "viridis")


# Machado, Oliveira and Fernandes 2009, severity 1: what is left of linear RGB.
BLINDNESS = (
    (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
)
MEANINGS = (
    ("memory_ok", "memory_near", "memory_over"),
    ("load_normal", "load_saturated", "load_idle"),
    ("incoming", "outgoing"),
)


def _oklab(color: str, sight: Sequence[Sequence[float]]) -> list[float]:
    linear = [_linear(int(color[i : i + 2], 16) / 255) for i in (1, 3, 5)]
    seen = [max(sum(a * b for a, b in zip(row, linear, strict=True)), 0.0) for row in sight]
    to_cones = (
        (0.4122214708, 0.5363325363, 0.0514459929),
        (0.2119034982, 0.6806995451, 0.1073969566),
        (0.0883024619, 0.2817188376, 0.6299787005),
    )
    cones = [sum(a * b for a, b in zip(row, seen, strict=True)) ** (1 / 3) for row in to_cones]
    to_lab = (
        (0.2104542553, 0.7936177850, -0.0040720468),
        (1.9779984951, -2.4285922050, 0.4505937099),
        (0.0259040371, 0.7827717662, -0.8086757660),
    )
    return [sum(a * b for a, b in zip(row, cones, strict=True)) for row in to_lab]


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4


@pytest.mark.parametrize("look", [LIGHT, DARK], ids=lambda look: str(look.name))
@pytest.mark.parametrize("names", MEANINGS, ids=lambda names: str(names[0]))
def test_safe_palette_tells_meanings_apart_with_colour_blindness(
    look: Look, names: tuple[str, ...]
) -> None:
    colors = data_colors(replace(look, palette="okabe-ito"))
    for one, other in combinations([getattr(colors, name) for name in names], 2):
        for sight in BLINDNESS:
            assert math.dist(_oklab(one, sight), _oklab(other, sight)) > 0.1


@pytest.mark.parametrize("palette", PALETTES)
@pytest.mark.parametrize("look", [LIGHT, DARK], ids=lambda look: str(look.name))
def test_bars_of_workers_are_visible_on_their_canvas(look: Look, palette: str) -> None:
    colors = data_colors(replace(look, palette=palette))
    for name in (name for names in MEANINGS for name in names):
        assert _contrast(getattr(colors, name), look.background) >= 3, name
