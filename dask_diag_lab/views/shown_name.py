"""Names of tasks, groups and prefixes as one visible line: they may be any text at all.

Pure; knows neither Bokeh nor the store.
"""

from __future__ import annotations

from typing import Final

from dask_diag_lab.views import format as fmt

BLANK: Final = "(blank)"


def shown_name(name: str, width: int | None = None) -> str:
    """Return a name with a sign for each character that cannot be seen, `BLANK` for no others.

    Line breaks would break a label, and others turn the direction of what follows. Prefixes are as
    Dask cuts them out of keys (``dask.utils.key_split``): a key may have one that its author never
    wrote.

    Parameters
    ----------
    name : str
    width : int, optional
        Characters that fit; the middle of a longer name gives way to an ellipsis.
    """
    seen = (c if c.isprintable() else "\ufffd" for c in name)
    text = name if name.isprintable() else "".join(seen)
    if not text.strip(" \ufffd"):
        return BLANK
    return text if width is None else fmt.elide(text, width)
