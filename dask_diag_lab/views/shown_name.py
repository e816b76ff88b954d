"""Names of tasks, groups and prefixes as one visible line: they may be any text at all.

Pure; knows neither Bokeh nor the store.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from dask_diag_lab.views import format as fmt

BLANK: Final = "(blank)"

_SIGNS: Final = {code: chr(0x2400 + code) for code in range(32)} | {
    ord("\n"): "␤",
    ord("\r"): "␍",
    ord("\t"): "␉",
    0x7F: "␡",
    0x85: "␤",
    0x2028: "␤",
    0x2029: "␤",
    **dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)), "\ufffd"),
}
"""The Unicode pictures of control characters, which would break a label or vanish in it.

The last turn the direction of what follows, be it a count: they have no picture."""

_UNSEEN: Final = frozenset({"Zs", "Cf", "Cc"})
"""Unicode categories of characters that show nothing where no others are beside them."""

_MATHS: Final = re.compile(r"(\$)(?=\$)|(\\)(?=[(\[])")
"""Where Bokeh would begin to read TeX in a label of an axis."""


def shown_name(name: str, width: int | None = None) -> str:
    """Return a name with line breaks and control characters as signs, `BLANK` for nothing to see.

    Prefixes are as Dask cuts them out of keys (``dask.utils.key_split``): a key may have one that
    its author never wrote.

    Parameters
    ----------
    name : str
    width : int, optional
        Characters that fit; the middle of a longer name gives way to an ellipsis.
    """
    text = name.translate(_SIGNS)
    if all(unicodedata.category(character) in _UNSEEN for character in text):
        return BLANK
    if width is not None:
        text = fmt.elide(text, width)
    return _MATHS.sub("\\g<0>\u2060", text)
