"""Tooltips: what Bokeh puts values into, and how they keep within a small window."""

from __future__ import annotations

import re

from dask_diag_lab.views.figure import tooltip_html
from dask_diag_lab.views.look import LIGHT


def test_nothing_but_the_lines_looks_like_a_column_to_bokeh() -> None:
    html = tooltip_html(LIGHT, "@name", "@share{0.0} of @whole")
    assert re.findall(r"[@$]\{?\w+", html) == ["@name", "@share", "@whole"]


def test_nothing_shines_through_a_tooltip() -> None:
    assert ":host{opacity:1!important}" in tooltip_html(LIGHT, "@name")


def test_tooltip_is_no_wider_than_half_of_the_window_and_lies_below_in_a_narrow_one() -> None:
    style = tooltip_html(LIGHT, "@name").partition("</style>")[0]
    usual, _, narrow = style.partition(r"@\6d edia (max-width:480px)")
    assert "max-width:min(420px,calc(50vw - 26px))" in usual
    assert "bottom:4px!important" in narrow
    assert style.count("{") == style.count("}")
