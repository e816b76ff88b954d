"""What of a title fits beside a chart: words give way before figures.

Pure; knows neither Bokeh nor the store.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from dask_diag_lab.views.text_room import text_px

_BOLD: Final = 1.1
"""How much wider bold text is, about: so much in DejaVu Sans, where it is widest."""
_BETWEEN: Final = re.compile(r"(, | · )")
_FIGURE: Final = re.compile(r"([^\w]*\d\S*(?: (?:%|[^\W\d]\S*))?+) (\D+)")
"""A number with its unit, which it never loses, and the words that tell what it is of."""


def title_px(title: str, font_px: float) -> float:
    """Return about how many pixels wide a title is, which is bold."""
    return text_px(title, font_px) * _BOLD


def fitting_title(titles: Sequence[str], room_px: float, font_px: float) -> str:
    """Return the first of some titles that fits, or what fits of the last one.

    Of a title with figures the heading goes first, then what the figures are of, then the last
    figures. Of one without the last words go. No figure is cut: ``"…"`` is left instead, or ``""``.

    Parameters
    ----------
    titles : sequence of str
        The same in ever fewer words: ``"CPU over time: 12 % CPU"``.
    room_px : float
    font_px : float
    """

    def fits(title: str) -> bool:
        return title_px(title, font_px) <= room_px

    tries = [*titles, *_ever_shorter(titles[-1])]
    if (title := next(filter(fits, tries), None)) is not None:
        return title
    return next(filter(fits, _cut(tries[-1])), "")


def _cut(title: str) -> Iterator[str]:
    """Return ever less of the beginning of a title, and an ellipsis.

    A part of a figure, or one without its unit, would tell something else: neither is returned.
    """
    words = title.split(" ")
    for n in range(len(words) - 1, 0, -1):
        if not _has_figure(" ".join(words[n - 1 : n + 1])):
            yield f"{' '.join(words[:n])}…"
    if not _has_figure(words[0]):
        for n in range(len(words[0]) - 1, 0, -1):
            yield f"{words[0][:n]}…"
    yield "…"


def _has_figure(text: str) -> bool:
    return any(map(str.isdigit, text))


def _ever_shorter(title: str) -> Iterator[str]:
    """Return what is said of the figures in a title, in ever fewer words; nothing of no figures."""
    _, _, after = title.partition(": ")
    said = after or title
    if not _has_figure(said):
        return
    if after:
        yield after
    parts = _BETWEEN.split(said)
    for n in range(len(parts), 0, -2):
        yield from _with_fewer_words(parts[:n])


def _with_fewer_words(parts: Sequence[str]) -> Iterator[str]:
    """Return parts and what is between them, whole, then without words: of the longest first."""
    left = list(parts)
    yield "".join(left)
    found = {at: match for at, part in enumerate(parts) if (match := _FIGURE.fullmatch(part))}
    for at in sorted(found, key=lambda at: -len(found[at][2])):
        left[at] = found[at][1]
        yield "".join(left)
