"""Tooltips: what Bokeh puts values into, and how they keep within a small window."""

from __future__ import annotations

import re

from dask_diag_lab.views.figure import tooltip_html
from dask_diag_lab.views.look import LIGHT


def test_nothing_but_the_lines_looks_like_a_column_to_bokeh() -> None:
    html = tooltip_html(LIGHT, "@name", "@share{0.0} of @whole")
    assert re.findall(r"[@$]\{?\w+", html) == ["@name", "@share", "@whole"]
