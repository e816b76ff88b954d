"""One plot that does not come with this package: its words and its view, checked.

Imports neither Bokeh nor any view of ours.
"""

from __future__ import annotations

import inspect
import logging
import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import EntryPoint
from typing import Final, Self

from dask_diag_lab.views.base import View
from dask_diag_lab.views.plot import Plot

logger = logging.getLogger(__name__)

YOURS: Final = "Yours"
"""Heading in the sidebar of those that name no other."""
MAX_WORDS: Final = 200

_PLACE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class HomeMadePlot(Plot):
    """A plot that does not come with this package.

    Attributes
    ----------
    source : type, str or EntryPoint
        The view class, ``"module:Class"``, or the entry point that is it.
    """

    source: type[View] | str | EntryPoint

    @classmethod
    def registered(
        cls,
        name: str,
        view: type[View] | str,
        *,
        title: str,
        group: str,
        description: str,
        help: str,  # noqa: A002  # as `register_plot` calls it
        keywords: Iterable[str],
    ) -> Self:
        """Return the plot that `register_plot` was asked for.

        Raises
        ------
        TypeError, ValueError
            It cannot be one, in words.
        """
        _check_words(title=title, group=group, description=description)
        source = _check_source(view)
        return cls(
            name=name,
            title=title,
            group=group,
            description=description,
            help=str(help),
            stock_title="",
            keywords=_texts(keywords),
            view=source if isinstance(source, str) else f"{source.__module__}:{source.__name__}",
            source=source,
        )

    @classmethod
    def found(cls, point: EntryPoint) -> Self:
        """Return the plot of an entry point; its words are attributes of the view class.

        One that cannot be loaded is logged, and says so when it is opened.
        """
        view: object = None
        try:
            view = _check_view(point.load())
            said = f"A plot of {package_of(point)}."
        except Exception as error:  # code of others: its plot says so
            logger.warning("Plot %s of %s failed", point.name, package_of(point), exc_info=error)
            said = f"A plot of {package_of(point)} that could not be loaded."

        def word(name: str, default: str) -> str:
            return str(getattr(view, name, default))[:MAX_WORDS]

        return cls(
            name=point.name,
            title=word("title", point.name.replace("-", " ").capitalize()),
            group=word("group", YOURS),
            description=word("description", said),
            help=str(getattr(view, "help", "")),
            stock_title="",
            keywords=_texts(getattr(view, "keywords", ())),
            view=point.value,
            source=point,
        )

    def load(self) -> type[View]:
        """Return the view class, imported now where it has to be.

        Raises
        ------
        TypeError
            What was found is no view, or lacks methods.
        """
        source: object = self.source
        if isinstance(source, str):
            module, _, name = source.partition(":")
            source = getattr(import_module(module), name)
        elif isinstance(source, EntryPoint):
            source = source.load()
        return _check_view(source)


def package_of(point: EntryPoint) -> str:
    """Return the name of the package that has an entry point."""
    return point.dist.name if point.dist is not None else point.module


def _texts(keywords: Iterable[str]) -> tuple[str, ...]:
    return (keywords,) if isinstance(keywords, str) else tuple(map(str, keywords))


def _check_view(view: object) -> type[View]:
    """Return `view` if it is a class that a plot can be drawn with."""
    if not (isinstance(view, type) and issubclass(view, View)):
        raise TypeError(f"the view of a plot is a subclass of dask_diag_lab.View, not {view!r}")
    if inspect.isabstract(view):
        missing = ", ".join(sorted(view.__abstractmethods__))
        raise TypeError(f"{view.__name__} lacks the methods of a view: {missing}")
    return view


def _check_source(view: object) -> type[View] | str:
    """Return what `register_plot` was given as a view, if it can be one."""
    if not isinstance(view, str):
        return _check_view(view)
    if not _PLACE.fullmatch(view):
        raise ValueError(f'{view!r} is no place of a class: write "package.module:Class"')
    return view


def _check_words(**words: object) -> None:
    """Raise ValueError for words that are missing or do not fit on a line."""
    for name, text in words.items():
        if not isinstance(text, str) or not text.strip():
            raise ValueError(f"{name} is what people see of the plot: give it as text")
        if len(text) > MAX_WORDS or "\n" in text:
            raise ValueError(f"{name} is one line of at most {MAX_WORDS} characters")
