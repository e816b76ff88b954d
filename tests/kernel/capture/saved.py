"""Reads a saved page as a browser does."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Mapping
from typing import Any

_PACKED = re.compile(r'<script type="text/plain" id="saved">([^<]*)</script>')
_TAB = re.compile(r'<button[^>]* role="tab"[^>]*>([^<]*)</button>')
_PLOT = re.compile(r'<article class="plot" data-plot="([^"]*)"')


def tabs(page: str) -> list[str]:
    """Return the names of the tabs."""
    return _TAB.findall(page)


def plots(page: str) -> dict[str, dict[str, Any]]:
    """Return the Bokeh documents of a page by the plot's name; of one name the last."""
    found = _PACKED.search(page)
    assert found is not None
    carried = json.loads(gzip.decompress(base64.b64decode(found[1])))
    assert carried["scripts"]
    return dict(zip(_PLOT.findall(page), carried["documents"], strict=True))


def control(document: Mapping[str, Any], name: str) -> str:
    """Return one of the texts around a plot."""
    return str(document["roots"][1]["attributes"].get(name, ""))


def fact(page: str, name: str) -> str:
    """Return what the summary of a report says of what ran; '' where it does not."""
    found = re.search(rf"<th[^>]*>{name}</th><td>([^<]*)</td>", page)
    return "" if found is None else found[1]
