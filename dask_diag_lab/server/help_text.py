"""How to read a plot, as HTML: paragraphs and lines that begin with "- "; everything is escaped.

The pane of JupyterLab shows the same text the same way, see ``src/widgets/helptext.ts``.
"""

from __future__ import annotations

import re
from html import escape
from itertools import groupby
from typing import Final

_BETWEEN: Final = re.compile(r"\n\s*\n|\n(?=\s*- )")
_ITEM: Final = re.compile(r"- +")
_ABOUT: Final = re.compile(r"([^:]{1,60}): +(.+)")
"""What a line is about ends at its first colon."""


def help_html(text: str) -> str:
    """Return the paragraphs and lists of a help text."""
    blocks = (" ".join(block.split()) for block in _BETWEEN.split(text))
    made = ""
    for is_list, group in groupby(filter(None, blocks), lambda block: bool(_ITEM.match(block))):
        if is_list:
            made += f"<ul>{''.join(_item(_ITEM.sub('', block, count=1)) for block in group)}</ul>"
        else:
            made += "".join(f"<p>{escape(block)}</p>" for block in group)
    return made


def _item(words: str) -> str:
    match = _ABOUT.fullmatch(words)
    if match is None:
        return f"<li>{escape(words)}</li>"
    return f"<li><b>{escape(match[1])}</b>: {escape(match[2])}</li>"
